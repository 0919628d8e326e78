package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SQL, files and folders without the name of a command.
func TestStencildbItself(t *testing.T) {
	dir := t.TempDir()
	db, script := filepath.Join(dir, "tables"), file(t, "q.sql", "SELECT 42 AS n")
	trips, more := file(t, "trips.csv", "n\n40\n2\n"), file(t, "more.csv", "n\n1\n")
	const csv, sum = "--format=csv", "SELECT SUM(n) AS n FROM trips"
	stencildb(csv, "--db", db, "CREATE TABLE own (n int)").wantOutput(t, "")
	for _, c := range []struct {
		args  []string
		stdin string
	}{
		{[]string{"SELECT 40 + 2 AS n"}, ""},
		{[]string{"-c", "SELECT 40 + 2 AS n"}, ""},
		{[]string{"-f", script}, ""},
		{nil, "SELECT 42 AS n"},
		{[]string{"--load", "t=" + trips, "SELECT SUM(n) AS n FROM t"}, ""},
		{[]string{trips, sum}, ""},
		{[]string{trips, "-c", sum}, ""},
		{[]string{trips}, sum},
		{[]string{"far=" + trips + "?header=true"}, "SELECT SUM(n) AS n FROM far"},
		{[]string{trips, more, "SELECT SUM(trips.n) - 42 + 42 * SUM(more.n) / 2 AS n FROM trips, more"}, ""},
		{[]string{filepath.Dir(trips)}, sum},
		{[]string{"--db", db, "INSERT INTO own VALUES (42); SELECT n FROM own"}, ""},
		{[]string{db, "SELECT n FROM own"}, ""},
		{[]string{"SELECT n FROM own", "--db", db}, ""},
		{[]string{"query", sum, "--load", trips}, ""},
	} {
		o := stencildbWith(context.Background(), c.stdin, append(c.args, csv)...)
		o.wantOutput(t, "n\n42\n")
	}
	stencildb(csv, "--db", db, "checkpoint").wantOutput(t, "")
	stencildb("-o", filepath.Join(dir, "o.csv"), "SELECT 42 AS n").wantOutput(t, "")
	if got, err := os.ReadFile(filepath.Join(dir, "o.csv")); err != nil || string(got) != "n\n42\n" {
		t.Errorf("%q, %v", got, err)
	}
	stencildb("qeury", "SELECT 1").wantFailure(t, 2, "no file, and not the last argument")
	stencildb("qeury").wantFailure(t, 2, `unknown command "qeury": did you mean query?`)
	stencildb("zzzzzz").wantFailure(t, 2, "unknown command", "stencildb --help")
	stencildb(filepath.Join(dir, "missing.csv")).wantFailure(t, 1, "there is no file", "missing.csv")
	stencildb(script).wantFailure(t, 2, "stencildb -f "+script)
	stencildb(db, "--db", db, "SELECT 1").wantFailure(t, 2, "there is one folder of tables")
	stencildb("SELECT 1", "-c", "SELECT 2").wantFailure(t, 2, "not both")
	stencildb("-c", "SELECT 1", "-f", script).wantFailure(t, 2, "not both")
	stencildb("SELECT 1 FROM nowhere").wantFailure(t, 1, `table "nowhere" does not exist`)
}

// An error in SQL of several lines is followed by its line, with a mark below its place; in one line it is one line.
func TestErrorsShowTheirLine(t *testing.T) {
	const text = "SELECT 1;\n\nSELECT 2,\n\t'生命', dealy FROM flights\n"
	const want = "error: column \"dealy\" does not exist; did you mean delay? (line 4, column 8)\nLINE 4:  '生命', dealy FROM flights\n                 ^\n"
	for _, o := range []outcome{
		stencildb("query", "--format", "json", "-f", file(t, "q.sql", text)),
		stencildb("query", "--format", "json", text),
		stencildb("--format", "json", "--keep-going", text),
		stencildbWith(context.Background(), text, "query", "--format", "json"),
		stencildb("explain", strings.TrimPrefix(text, "SELECT 1;")),
	} {
		if o.status != 1 || o.errOut != want {
			t.Errorf("status %d, %q", o.status, o.errOut)
		}
	}
	long := "SELECT 1,\n" + strings.Repeat("1 + ", 40) + "x" + strings.Repeat(" + 1", 40)
	o := stencildb("query", long)
	if lines := strings.Split(o.errOut, "\n"); len(lines) != 4 || lines[1] != "LINE 2: …"+strings.Repeat("1 + ", 15)+"x"+strings.Repeat(" + 1", 14)+" + …" || lines[2] != strings.Repeat(" ", 9+60)+"^" {
		t.Errorf("%q", o.errOut)
	}
	stencildb("query", "SELECT dealy FROM flights\n").wantFailure(t, 1, "dealy")
}
