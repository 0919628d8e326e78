package cmd

import (
	"context"
	"io"
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
}

// Without SQL and -f it is read from standard input, where that is no terminal.
func TestSQLOfStandardInput(t *testing.T) {
	page := filepath.Join(t.TempDir(), "t.html")
	for _, command := range [][]string{{"query"}, {"explain"}, {"trace", "-o", page}} {
		o := stencildbWith(context.Background(), "SELECT MAX(delay) FROM flights", append(command, "--backend", "classic")...)
		if o.status != 0 || command[0] != "trace" && !strings.Contains(o.out, "max") {
			t.Errorf("%s: %+v", command, o)
		}
		_, tty := openTerminal(t)
		var errOut strings.Builder
		status := Execute(context.Background(), command, tty, io.Discard, &errOut)
		if status != exitUsage || !strings.HasPrefix(errOut.String(), "error: no SQL: give it as an argument, with -f FILE, or on standard input") {
			t.Errorf("%s on a terminal: status %d, %s", command, status, errOut.String())
		}
	}
	if o := stencildb("query"); o.status != 0 || o.errOut != "note: no statement in standard input\n" {
		t.Errorf("%+v", o)
	}
	stencildb("explain").wantFailure(t, 1, "there is no statement")
}
