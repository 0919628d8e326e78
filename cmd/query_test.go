package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cpu runs query on the backend cpu, with csv output.
func cpuCSV(load string, args ...string) outcome {
	return stencildb(append([]string{"query", "--backend", "cpu", "--format", "csv", "--load", load}, args...)...)
}

func TestCSVOutputKeepsNullAndEmptyApart(t *testing.T) {
	load := "t=" + file(t, "t.csv", typedCSV)
	cpuCSV(load, `SELECT COUNT(*), COUNT(i) AS "the, ""i""", MIN(s) AS s, MAX(s) FROM t`).
		wantOutput(t, "count,\"the, \"\"i\"\"\",s,max\n4,3,\"\",\"two, \"\"quoted\"\"\"\n")
	cpuCSV(load, "SELECT MIN(day), MAX(i), MIN(s), MAX(at) FROM t WHERE i IS NULL").
		wantOutput(t, "min,max,min,max\n,,,\n")
	cpuCSV(load, "SELECT MIN(day), MAX(at), COUNT(yes) > 1 FROM t").
		wantOutput(t, "min,max,?column?\n1969-12-31,2001-02-03 04:05:06,true\n")
}

// A file needs no flag; the answer is alone on standard output, and what the file was taken
// for on standard error.
func TestQueryOfAFile(t *testing.T) {
	path := file(t, "t.csv", "1;10.50\n2;NA\n3;0.25\n")
	o := stencildb("query", "--backend", "cpu", "--format", "csv", "SELECT SUM(column2), COUNT(*) FROM '"+path+"'")
	want := "note: " + path + ": the delimiter is ';'; there is no header, so the columns are named column1 and on; " +
		`NULL, null, NA, N/A and \N are NULL in column2; ?delim=, header= and null= behind the path say it otherwise` + "\n"
	if o.status != 0 || o.out != "sum,count\n10.75,3\n" || o.errOut != want {
		t.Errorf("%+v, want the note %s", o, want)
	}
	stencildb("query", "SELECT 1 FROM '"+path+"x'").wantFailure(t, 1, "there is no file and no table", "t.csvx", "line 1, column 15")
}

// line is one JSON result, with values as they stand in the text.
type line struct {
	SQL     string
	Columns []struct{ Name, Type string }
	Rows    [][]json.RawMessage
	Backend *string
	Passes  *int
	MS      *float64 `json:"ms"`
	LoadMS  *float64 `json:"load_ms"`
	Error   string
}

func lines(t *testing.T, out string) []line {
	t.Helper()
	var list []line
	for text := range strings.Lines(out) {
		var l line
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		list = append(list, l)
	}
	return list
}

func TestJSONOutputIsOneLineAStatement(t *testing.T) {
	load := "t=" + file(t, "t.csv", typedCSV)
	o := stencildb("query", "--backend", "cpu", "--format", "json", "--load", load,
		"SELECT COUNT(*), MAX(i), MIN(i), SUM(i) FROM t; SELECT MAX(d), MIN(d) AS least, MIN(day), MAX(at), MIN(s), COUNT(yes) = 2, MIN(i) FROM t WHERE i > 0 OR d = 'NaN';; SELECT MAX(i) FROM t")
	if o.status != 0 || o.errOut != "" {
		t.Fatalf("status %d: %s", o.status, o.errOut)
	}
	got := lines(t, o.out)
	if len(got) != 3 {
		t.Fatalf("%d lines for 3 statements:\n%s", len(got), o.out)
	}
	if want := "SELECT COUNT(*), MAX(i), MIN(i), SUM(i) FROM t"; got[0].SQL != want {
		t.Errorf("sql is %q, want %q", got[0].SQL, want)
	}
	var cells []string
	var columns []string
	for i, l := range got[:2] {
		if len(l.Rows) != 1 || l.Backend == nil || *l.Backend != "cpu" || l.Passes == nil || l.MS == nil || l.LoadMS == nil {
			t.Fatalf("line %d lacks a field: %s", i, o.out)
		}
		for j, c := range l.Columns {
			columns = append(columns, c.Name+" "+c.Type)
			cells = append(cells, string(l.Rows[0][j]))
		}
	}
	if diff := cmp.Diff([]string{
		"4", `"9007199254740993"`, "-2", `"9007199254740992"`,
		`"NaN"`, `"-Infinity"`, `"1969-12-31"`, `"2001-02-03 04:05:06"`, `""`, "true", "-2",
	}, cells); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"count bigint", "max bigint", "min bigint", "sum numeric(38,0)",
		"max double precision", "least double precision", "min date", "max timestamp without time zone",
		"min character varying", "?column? boolean", "min bigint",
	}, columns); diff != "" {
		t.Error(diff)
	}
	if *got[0].LoadMS <= 0 || *got[1].LoadMS <= 0 || *got[2].LoadMS != 0 {
		t.Errorf("load_ms is %v, %v and %v: reading belongs to the statements that need columns first", *got[0].LoadMS, *got[1].LoadMS, *got[2].LoadMS)
	}
}

func TestUnnamedColumnsAreNamedAsInPostgreSQL(t *testing.T) {
	stencildb("query", "--backend", "cpu", "--format", "csv", "SELECT COUNT(*), SUM(delay)+0, AVG(delay) IS NULL, MIN(delay) FROM flights WHERE delay > 30000").
		wantOutput(t, "count,?column?,?column?,min\n0,,true,\n")
}

func TestTableOutputIsForPeople(t *testing.T) {
	load := "t=" + file(t, "t.csv", "a,b\n1,x\n22,\"y\x1b[2J\nz\"\n")
	o := stencildb("query", "--backend", "cpu", "--load", load, "SELECT COUNT(*), MAX(b), SUM(a) AS total FROM t")
	if o.status != 0 || o.errOut != "" {
		t.Fatalf("status %d: %s", o.status, o.errOut)
	}
	table, footer, _ := strings.Cut(strings.TrimRight(o.out, "\n"), "\n1 row, ")
	want := `┌───────┬───────────────┬───────┐
│ count │ max           │ total │
├───────┼───────────────┼───────┤
│     2 │ y\x1b[2J\nz   │    23 │
└───────┴───────────────┴───────┘`
	if strings.ReplaceAll(table, " ", "") != strings.ReplaceAll(strings.ReplaceAll(want, "───────────────", "─────────────"), " ", "") {
		t.Errorf("table is\n%s\nwant\n%s", table, want)
	}
	if !strings.HasPrefix(footer, "cpu, ") || !strings.Contains(footer, " ms (loading ") {
		t.Errorf("footer is %q", footer)
	}
}

func TestStatementsRunInOrderUntilOneFails(t *testing.T) {
	script := "SELECT COUNT(*) FROM flights; SELECT nothing FROM nowhere; SELECT MAX(delay) FROM flights"
	args := []string{"query", "--backend", "cpu", "--format", "json"}
	stopped := stencildb(append(args, script)...)
	if got := lines(t, stopped.out); stopped.status != 1 || len(got) != 1 || got[0].Error != "" {
		t.Errorf("status %d, output %s: want 1 and the answer of the first statement", stopped.status, stopped.out)
	}
	stopped.out = ""
	stopped.wantFailure(t, 1, "nowhere")

	going := stencildb(append(args, "--keep-going", script)...)
	got := lines(t, going.out)
	if going.status != 1 || len(got) != 3 {
		t.Fatalf("status %d, output %s: want 1 and three lines", going.status, going.out)
	}
	if got[1].SQL != "SELECT nothing FROM nowhere" || !strings.Contains(got[1].Error, "nowhere") || got[1].Columns != nil {
		t.Errorf("the failed statement gave %+v", got[1])
	}
	going.out = ""
	going.wantFailure(t, 1, "nowhere")
}

// An error without a place in the text has its statement, too.
func TestAnAbortedTransactionNamesItsStatements(t *testing.T) {
	o := stencildb("query", "--format", "json", "--keep-going", "BEGIN; SELECT nothing; SELECT 1; ROLLBACK; SELECT 2")
	got := lines(t, o.out)
	if len(got) != 5 || got[2].SQL != "SELECT 1" || !strings.Contains(got[2].Error, "aborted") || got[4].Error != "" {
		t.Errorf("output %s", o.out)
	}
}

// A pipe gets the answers, and what cannot be written is said with the name that was given.
func TestAnswersToAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	for _, args := range [][]string{
		{"query", "-o", pipe, "--format", "csv", "SELECT 1 AS a"},
		{"query", "COPY (SELECT 1 AS a) TO '" + pipe + "' WITH (FORMAT csv, HEADER)"},
	} {
		go func() {
			text, err := os.ReadFile(pipe)
			read <- fmt.Sprintf("%s%v", text, err)
		}()
		o := stencildb(args...)
		if got := <-read; o.status != 0 || got != "a\n1\n<nil>" {
			t.Errorf("%v: status %d, %s, the pipe got %q", args, o.status, o.errOut, got)
		}
	}
	stencildb("query", "-o", "/dev/full", "SELECT 1").wantFailure(t, 1, "error: /dev/full: no space left on device")
}

func TestSyntaxErrorStopsAtItsStatement(t *testing.T) {
	o := stencildb("query", "--backend", "cpu", "--format", "json", "SELECT COUNT(*) FROM flights;\nSELEC 1")
	if len(lines(t, o.out)) != 1 {
		t.Errorf("output %q: want the first statement's answer", o.out)
	}
	if want := "error: syntax error at or near \"SELEC\"; did you mean SELECT? (line 2, column 1)\nLINE 2: SELEC 1\n        ^\n"; o.status != 1 || o.errOut != want {
		t.Errorf("status %d, %q, want %q", o.status, o.errOut, want)
	}
}

// What is a command of the shell is no SQL, and is told to be one.
func TestCommandsOfTheShellInAScript(t *testing.T) {
	if o := stencildb("query", "--backend", "cpu", "SELECT 1;\n.tables\n"); o.status != 1 || !strings.Contains(o.errOut, "(line 2, column 1); .tables is a command of the shell") {
		t.Errorf("status %d, %q", o.status, o.errOut)
	}
	if o := stencildb("query", "--backend", "cpu", "SELECT 1;\n.nothing\n"); strings.Contains(o.errOut, "shell") {
		t.Errorf("%q", o.errOut)
	}
}

func TestCSVHoldsOneResultSet(t *testing.T) {
	stencildb("query", "--backend", "cpu", "--format", "csv", "SELECT COUNT(*) FROM flights; SELECT COUNT(*) FROM flights").
		wantFailure(t, 1, "one result set")
	dir := filepath.Join(t.TempDir(), "db")
	for _, script := range []string{"CREATE TABLE x (i int); SELECT 1 AS a; INSERT INTO x VALUES (1) RETURNING i", "CREATE TABLE x (i int); SELECT 1 AS a; SHOW backend"} {
		if o := stencildb("query", "--db", dir, "--format", "csv", script); o.status != 1 || o.out != "" || !strings.Contains(o.errOut, "nothing was run") {
			t.Errorf("%s: %+v", script, o)
		}
	}
	stencildb("query", "--db", dir, "--format", "csv", "CREATE TABLE x (i int); SELECT 1 AS a").wantOutput(t, "a\n1\n")
	if o := stencildb("query", "--format", "csv", "PREPARE p AS SELECT 1 AS a; EXECUTE p; EXECUTE p"); o.status != 1 || o.out != "a\n1\n" || !strings.Contains(o.errOut, "one result set") {
		t.Errorf("%+v", o)
	}
}

func TestEmptyScriptIsNothingToDo(t *testing.T) {
	const nothing = " ; -- nothing\n;"
	path := file(t, "empty.sql", nothing)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{nothing}, "the argument"},
		{[]string{""}, "the argument"},
		{[]string{"-f", path}, path},
		{[]string{"--keep-going", "-f", "-"}, "standard input"},
	} {
		o := stencildbWith(context.Background(), nothing, append([]string{"query", "--format", "csv"}, c.args...)...)
		if want := (outcome{0, "", "note: no statement in " + c.want + "\n"}); o != want {
			t.Errorf("%q: %+v, want %+v", c.args, o, want)
		}
	}
}

func TestSQLFromFileAndStandardInput(t *testing.T) {
	want := "count\n200000\n"
	args := []string{"query", "--backend", "cpu", "--format", "csv", "-f"}
	stencildb(append(args, file(t, "q.sql", "SELECT COUNT(*)\n  FROM flights;\n"))...).wantOutput(t, want)
	stencildbWith(context.Background(), "select count(*) from FLIGHTS", append(args, "-")...).wantOutput(t, want)
	stencildbWith(context.Background(), "\ufeffselect count(*)\r\nfrom flights;\r\n", append(args, "-")...).wantOutput(t, want)
}

func TestExplainStatementGivesRowsOfText(t *testing.T) {
	for _, q := range []string{"EXPLAIN SELECT MAX(delay) FROM flights WHERE delay < 60", "explain analyze SELECT MAX(delay) FROM flights WHERE delay < 60"} {
		o := stencildb("query", "--backend", "cpu", "--format", "json", q)
		got := lines(t, o.out)
		if o.status != 0 || len(got) != 1 || len(got[0].Rows) < 3 || got[0].Columns[0].Name != "QUERY PLAN" || got[0].SQL != q {
			t.Errorf("%s: status %d, output %s", q, o.status, o.out)
		}
	}
}

func TestUsageErrorsExitWithTwo(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nosuch"}, "nosuch"},
		{[]string{"query", "SELECT 1", "SELECT 2"}, "arg"},
		{[]string{"query", "SELECT", "COUNT(*)", "FROM", "flights"}, "in quotes"},
		{[]string{"query", "-f", "x.sql", "SELECT 1"}, "not both"},
		{[]string{"query", "-f", ""}, "name a file"},
		{[]string{"query", "--format", "xml", "SELECT 1"}, "table, markdown, csv, tsv, json"},
		{[]string{"query", "--backend", "gpu", "SELECT 1"}, "auto, classic, fused, compute, cpu, both"},
		{[]string{"query", "--nosuch", "SELECT 1"}, "nosuch"},
		{[]string{"query", "--gpu-memory", "lots", "SELECT 1"}, "512MiB"},
		{[]string{"query", "--host-memory", "-1", "SELECT 1"}, "512MiB"},
		{[]string{"query", "--load", "t=", "SELECT 1"}, "NAME=PATH"},
		{[]string{"query", "--load", "t=x.csv?colour=red", "SELECT 1"}, "colour"},
		{[]string{"query", "--load", "t=x.csv", "--load", "t=y.csv", "SELECT 1"}, "two tables named t"},
		{[]string{"explain", "SELECT", "1"}, "in quotes"},
		{[]string{"info", "extra"}, "extra"},
		{[]string{"info", "--format", "csv"}, "text, json"},
		{[]string{"tour", "extra"}, "extra"},
		{[]string{"gen"}, "uniform, tcpip, census, lineorder, wisconsin"},
		{[]string{"completion", "csh"}, "bash, fish, powershell, zsh"},
		{[]string{"gen", "uniform"}, "-o FILE"},
		{[]string{"gen", "nosuch", "--rows", "1", "-o", "x.csv"}, "uniform"},
		{[]string{"gen", "uniform", "--rows", "-1", "-o", "x.csv"}, "rows"},
		{[]string{"gen", "uniform", "--rows", "1", "-o", "x.txt"}, ".parquet"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			stencildb(c.args...).wantFailure(t, 2, c.want)
		})
	}
}

func TestInterruptedRunExitsWith130(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stencildbWith(ctx, "", "query", "--backend", "cpu", "--keep-going", "SELECT COUNT(*) FROM flights").wantFailure(t, 130, "interrupted")
}

// A terminal on which nothing is typed keeps a read waiting.
func TestInterruptedReadOfStandardInput(t *testing.T) {
	stdin, typing := io.Pipe()
	defer typing.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errOut strings.Builder
	status := Execute(ctx, []string{"query", "-f", "-"}, stdin, &out, &errOut)
	outcome{status, out.String(), errOut.String()}.wantFailure(t, 130, "interrupted")
}

// closedPipe is a standard output whose reader has gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

func TestReaderThatWentAwayIsNoFailure(t *testing.T) {
	for _, format := range []string{"table", "csv", "json"} {
		args := []string{"query", "--backend", "cpu", "--format", format, "SELECT COUNT(*) FROM flights"}
		var errOut strings.Builder
		if status := Execute(context.Background(), args, strings.NewReader(""), closedPipe{}, &errOut); status != 0 || errOut.Len() > 0 {
			t.Errorf("%s to a closed pipe: status %d, %q", format, status, errOut.String())
		}
		var out io.Writer = fullDisk{}
		if status := Execute(context.Background(), args, strings.NewReader(""), out, &errOut); status != 1 || !strings.Contains(errOut.String(), "no space left") {
			t.Errorf("%s to a full disk: status %d, %q", format, status, errOut.String())
		}
	}
	var errOut strings.Builder
	if status := Execute(context.Background(), []string{"completion", "bash"}, strings.NewReader(""), fullDisk{}, &errOut); status != 1 {
		t.Errorf("completion to a full disk: status %d, %q", status, errOut.String())
	}
}

func TestVersionAndHelp(t *testing.T) {
	stencildb("--version").wantOutput(t, "stencildb "+Version+"\n")
	for _, name := range []string{"", "query", "explain", "gen", "info", "tour", "completion"} {
		args := []string{name, "--help"}
		if name == "" {
			args = args[1:]
		}
		if o := stencildb(args...); o.status != 0 || o.errOut != "" || !strings.Contains(o.out, "stencildb "+name) {
			t.Errorf("%s --help: status %d\n%s%s", name, o.status, o.out, o.errOut)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if o := stencildb("completion", shell); o.status != 0 || !strings.Contains(o.out, "stencildb") {
			t.Errorf("completion %s: status %d, %s", shell, o.status, o.errOut)
		}
	}
}
