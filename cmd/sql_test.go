package cmd

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// SQL comes from a file as well as from the command line, whose arguments are limited.
func TestSQLFromAFile(t *testing.T) {
	const sql = "SELECT COUNT(*) FROM flights WHERE delay > 30"
	long := file(t, "long.sql", "\ufeff"+sql+strings.Repeat(" ", 150<<10))
	want := stencildb("explain", "--backend", "cpu", sql).out
	stencildb("explain", "--backend", "cpu", "-f", long).wantOutput(t, want)
	stencildbWith(context.Background(), sql, "explain", "--backend", "cpu", "--file", "-").wantOutput(t, want)

	dir := t.TempDir()
	nowhere := file(t, "nowhere.sql", "SELECT COUNT(*) FROM nowhere")
	for _, command := range [][]string{{"query"}, {"explain"}, {"trace", "-o", filepath.Join(dir, "t.html")}, {"demo", "--headless", "--out", dir}} {
		with := func(args ...string) outcome { return stencildb(append(command, args...)...) }
		with("-f", nowhere).wantFailure(t, 1, "nowhere")
		with("-f", nowhere, sql).wantFailure(t, 2, "not both")
		with("-f", "").wantFailure(t, 2, "name a file")
		with("-f", filepath.Join(dir, "missing.sql")).wantFailure(t, 1, "no such file", "missing.sql")
		if o := with("--help"); !strings.Contains(o.out, "-f, --file FILE") {
			t.Errorf("the help of %s lacks -f:\n%s", command[0], o.out)
		}
	}
	stencildb("trace", "-o", filepath.Join(dir, "t.html")).wantFailure(t, 2, "no SQL")
	stencildb("explain").wantFailure(t, 2, "no SQL")
}
