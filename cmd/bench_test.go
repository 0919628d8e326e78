package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/bench"
	"github.com/stencildb/stencildb/bench/peer"
)

// small is a run of bench that takes a moment.
func small(more ...string) []string {
	return append([]string{"bench", "--rows", "1,2^6", "--backends", "cpu,auto", "--peers", "none", "--rounds", "3"}, more...)
}

func TestBenchFormats(t *testing.T) {
	for format, want := range map[string][]string{
		"text": {"Suite    operations\nData     uniform, seed 1: ", "64 rows, median ms", "median_where", "stencildb bench --backends cpu,auto"},
		"json": {`"schema": 1`, `"system": "auto"`},
		"go":   {"goos: ", "BenchmarkOperations/op=count/rows=64/system=cpu-"},
	} {
		o := stencildb(small("--format", format)...)
		if o.status != 0 || !strings.Contains(o.errOut, "64 rows: loading into cpu\n") {
			t.Fatalf("%s: status %d: %s", format, o.status, o.errOut)
		}
		for _, w := range want {
			if !strings.Contains(o.out, w) {
				t.Errorf("%s lacks %q:\n%s", format, w, o.out)
			}
		}
	}
}

func TestBenchWritesReportsThatCompareReads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if o := stencildb("bench", "--out", dir, "--suite", "auto", "--table", "tcpip", "--rows", "10", "--backends", "cpu,auto", "--rounds", "2"); o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.errOut)
	}
	for _, name := range []string{"auto.json", "auto.txt", "auto.bench"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(dir, "auto.json")
	o := stencildb("bench", "compare", path, path)
	if o.status != 0 || o.errOut != "" || !strings.Contains(o.out, "20 cases: 0 slower, 0 faster") {
		t.Errorf("status %d: %s%s", o.status, o.out, o.errOut)
	}
}

func TestBenchDrawsAFigure(t *testing.T) {
	dir := t.TempDir()
	o := stencildb("bench", "--figure", "4", "--rows", "500", "--peers", "none", "--rounds", "2", "--out", dir)
	if o.status != 0 || !strings.Contains(o.out, "Suite    paper\nData     tcpip, seed 1: data_count, ") || !strings.Contains(o.out, "Range: the paper's GPU is 5.5 times as fast as its CPU") {
		t.Fatalf("status %d: %s%s", o.status, o.out, o.errOut)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 7 {
		t.Errorf("%v, want the report in three formats and as a page, and figure 4 in three", files)
	}
	part, whole := t.TempDir(), t.TempDir()
	stencildb("bench", "--figure", "3,4", "--rows", "100,900", "--peers", "none", "--backends", "cpu", "--rounds", "2", "--out", part)
	o = stencildb("bench", "merge", filepath.Join(dir, "paper.json"), filepath.Join(part, "paper.json"), "--out", whole)
	r, err := readReport(t.Context(), filepath.Join(whole, "paper.json"))
	if o.status != 0 || err != nil || r.Find("range", 500, "classic") == nil || r.Find("predicate", 900, "cpu") == nil || !strings.Contains(o.out, "900 rows, median ms") {
		t.Errorf("status %d, %v: %s%s, want both parts", o.status, err, o.out, o.errOut)
	}
	stencildb("bench", "merge").wantFailure(t, 2, "no parts")
}

// Ctrl-C leaves what was measured.
func TestBenchInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	seen := &watcher{word: "case 3 of 20", found: cancel}
	var out bytes.Buffer
	status := Execute(ctx, []string{"bench", "--figure", "5", "--rows", "300", "--backends", "cpu", "--peers", "none", "--rounds", "2", "--out", dir}, strings.NewReader(""), &out, seen)
	if status != 130 || !strings.Contains(seen.text.String(), "error: interrupted\n") || !strings.Contains(out.String(), "The run was interrupted") {
		t.Fatalf("status %d: %s%s", status, &out, &seen.text)
	}
	r, err := readReport(context.Background(), filepath.Join(dir, "paper.json"))
	if err != nil || !r.Interrupted || len(r.Results) != 4 {
		t.Errorf("%v, %+v, want two cases on two systems", err, r)
	}
}

func TestCaseBar(t *testing.T) {
	for p, want := range map[bench.Progress]string{
		{Rows: 10, Doing: "making the table"}: "", {Rows: 10, Doing: "case 1 of 3", Cases: 3}: "",
		{Rows: 10, Doing: "sum", Case: 1, Cases: 3}: "[                              ] ",
		{Rows: 10, Doing: "sum", Case: 3, Cases: 3}: "[####################          ] ",
	} {
		if got := caseBar(p); got != want {
			t.Errorf("%+v has the bar %q, want %q", p, got, want)
		}
	}
}

// watcher calls found when a word has been written to it.
type watcher struct {
	word  string
	found func()
	text  bytes.Buffer
}

func (w *watcher) Write(b []byte) (int, error) {
	n, err := w.text.Write(b)
	if strings.Contains(w.text.String(), w.word) {
		w.found()
	}
	return n, err
}

func TestBenchOnATableOfTheUsers(t *testing.T) {
	path := file(t, "t.csv", "s,a\nx,1.5\ny,3\nz,5\n")
	for rows, want := range map[string]string{"3": "3 rows, median ms", "2": "2 rows, median ms"} {
		o := stencildb("bench", "--load", "t="+path, "--table", "t", "--rows", rows, "--backends", "cpu", "--peers", "none", "--rounds", "1")
		if o.status != 0 || !strings.Contains(o.out, want) || !strings.Contains(o.out, "this takes 4 attributes") {
			t.Errorf("status %d: %s%s", o.status, o.out, o.errOut)
		}
	}
}

// Statements of the user's run over tables of --load, files, generators and the flights.
func TestBenchStatements(t *testing.T) {
	path := file(t, "t.csv", "s,a\nx,1\ny,3\nx,5\n")
	script := file(t, "q.sql", "SELECT s, SUM(a) FROM t GROUP BY s ORDER BY s;\nSELECT a FROM '"+path+"'")
	dir := t.TempDir()
	o := stencildb("bench", "--load", "t="+path, "-f", script, "--backends", "cpu,fused", "--peers", "none", "--rounds", "1", "--out", dir)
	if o.status != 0 || !strings.Contains(o.errOut, "3 rows: case 1 of 4, q1\n") {
		t.Fatalf("status %d: %s%s", o.status, o.out, o.errOut)
	}
	for _, want := range []string{"Suite    statements\nData     t, " + path + "\n", "  q1     SELECT s, SUM(a) FROM t GROUP BY s ORDER BY s ", "time over that of cpu"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q:\n%s", want, o.out)
		}
	}
	r, err := readReport(t.Context(), filepath.Join(dir, "statements.json"))
	if err != nil || len(r.Results) != 6 || !strings.HasPrefix(r.Command, "stencildb bench --backends cpu,fused --file ") {
		t.Errorf("%v, %+v", err, r)
	}
	o = stencildb("bench", "--table", "tcpip", "--rows", "10,20", "--backends", "cpu", "--peers", "none", "--rounds", "1", "--format", "go",
		"SELECT MAX(data_count) FROM tcpip; SELECT MAX(delay) FROM flights")
	if o.status != 0 || strings.Count(o.out, "BenchmarkStatements/op=q") != 4 || !strings.Contains(o.out, "/op=q2/rows=20/system=cpu-") {
		t.Errorf("status %d: %s%s", o.status, o.out, o.errOut)
	}
}

// With --fresh statements have drawn parameters, which --fresh=false takes from the suites that have them.
func TestBenchFresh(t *testing.T) {
	dir := t.TempDir()
	o := stencildb("bench", "--fresh", "SELECT COUNT(*) FROM flights WHERE delay > {x:1..100}", "--backends", "cpu", "--peers", "none", "--rounds", "2", "--out", dir)
	if o.status != 0 || !strings.Contains(o.out, " --fresh=true ") || !strings.Contains(o.out, "new / repeated") {
		t.Fatalf("status %d: %s%s", o.status, o.out, o.errOut)
	}
	r, err := readReport(t.Context(), filepath.Join(dir, "statements.json"))
	if err != nil || r.Protocol != "fresh" || len(r.Results) != 1 || len(r.Results[0].Repeated) != 2 || len(r.Results[0].Cold) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
	o = stencildb("bench", "--suite", "ssb", "--fresh=false", "--rows", "6000", "--backends", "cpu", "--peers", "none", "--rounds", "1", "--format", "go")
	if o.status != 0 || strings.Contains(o.out, "parameters=") || strings.Count(o.out, "BenchmarkSsb/") != 13 {
		t.Errorf("status %d: %s%s", o.status, o.out, o.errOut)
	}
}

// What is wrong in statements of the user's is said before any work, with its place.
func TestBenchBadStatements(t *testing.T) {
	path := file(t, "t.csv", "a\n1\n")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"SELECT a FORM t", "--load", "t=" + path}, 1, "syntax error at or near"},
		{[]string{"SELECT COUNT(*) FROM flights; SELECT x FROM flights"}, 1, "(line 1, column 38)"},
		{[]string{"--fresh", "SELECT COUNT(*) FROM flights WHERE delay > {x:1..y}"}, 1, "the parameter x: want a range of integers (1..100)"},
		{[]string{"--fresh", "SELECT COUNT(*) FROM flights WHERE delay > 1"}, 1, "write one, such as {x:1..100}, or leave --fresh out (line 1, column 1)"},
		{[]string{"SELECT COUNT(*) FROM flights WHERE delay > {x:1..9}"}, 1, "the parameter x is drawn with --fresh only (line 1, column 44)"},
		{[]string{"SELECT a FROM u", "--load", "t=" + path}, 1, "did you mean t?"},
		{[]string{"SELECT a FROM t"}, 1, "the tables are flights"},
		{[]string{"SHOW TABLES"}, 1, "is a SELECT"},
		{[]string{" "}, 1, "there is no statement"},
		{[]string{""}, 1, "there is no statement"},
		{[]string{"SELECT a FROM t", "--load", "t=" + path + ".gone"}, 1, "no such file"},
		{[]string{"SELECT a FROM t", "--load", "t=" + path, "--rows", "2"}, 2, "table t has 1 row"},
		{[]string{"SELECT a FROM t", "--load", "t=" + path, "--table", "t"}, 2, "beside SQL it takes a generator"},
		{[]string{"SELECT delay FROM flights", "--suite", "auto"}, 2, "--suite is for suites, which have statements of their own"},
		{[]string{"SELECT delay FROM flights", "--figure", "3"}, 2, "--figure is for suites, which have statements of their own"},
		{[]string{"SELECT", "delay FROM flights"}, 2, "put it in quotes"},
		{[]string{"SELECT delay FROM flights", "-f", path}, 2, "not both"},
		{[]string{"-f", path + ".gone"}, 1, "no such file"},
	} {
		stencildb(append([]string{"bench", "--backends", "cpu", "--peers", "none"}, c.args...)...).wantFailure(t, c.status, c.want)
	}
}

// What is wrong in the flags is said before any work.
func TestBenchBadFlags(t *testing.T) {
	path := file(t, "t.csv", "a\n1\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--suite", "papers"}, "operations, auto, targets, paper"},
		{[]string{"--figure", "1"}, "the suite paper has no figure 1: there are 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"},
		{[]string{"--figure", "12"}, "no figure 12: there are 2, 3"},
		{[]string{"--figure", "2,x"}, "no figure x: there are 2, 3"},
		{[]string{"--figure", "3", "--suite", "auto"}, "the suite auto has no figures to choose among: paper"},
		{[]string{"--figure", "4-2", "--suite", "pary"}, "the suite pary has no figure 4-2: there are table1, 5, 6, 7, 8"},
		{[]string{"--figure", "2", "--suite", "wisconsin"}, "the suite wisconsin has no figure 2: there are 7, 8, 9, 10, 11, 12, 13, 14, table1, table2"},
		{[]string{"--suite", "wisconsin", "--rows", "2^40"}, "rows at most"},
		{[]string{"--suite", "wisconsin", "--rows", "1k", "--gpu-memory", "64KiB"}, "holds 204 rows at most"},
		{[]string{"--suite", "hsu", "--figure", "4-9"}, "the suite hsu has no figure 4-9: there are 4-1, 4-2, 4-3, 4-4, 4-5, 4-6, 4-7, 4-8, table4-4"},
		{[]string{"--suite", "hsu", "--rows", "2^40"}, "rows at most"},
		{[]string{"--suite", "hsu", "--rows", "1k", "--gpu-memory", "16KiB"}, "holds 256 rows at most"},
		{[]string{"--suite", "pary", "--backends", "cpu"}, "the suite pary has data and systems of its own"},
		{[]string{"--suite", "ssb", "--from", "1k"}, "--from: the suite ssb has the sizes of --rows; pary, wisconsin, hsu take it"},
		{[]string{"--suite", "pary", "--rows", "1k", "--from", "3k"}, "--from 3000: the largest table has 1,000 rows"},
		{[]string{"--suite", "pary", "--table", "tcpip"}, "it takes --rows, --from, --figure, --seed and --rounds"},
		{[]string{"--suite", "pary", "--rows", "2^40"}, "rows at most"},
		{[]string{"--suite", "pary", "--rows", "10", "--gpu-memory", "64"}, "holds 4 rows at most"},
		{[]string{"--figure", "3", "--rows", "0"}, `--rows "0"`},
		{[]string{"--figure", "3", "--rows", "1G", "--gpu-memory", "64MiB"}, "holds"},
		{[]string{"--figure", "3", "--rows", "2M", "--gpu-memory", "64MiB"}, "64.0 MiB, holds 986,895 rows at most"},
		{[]string{"--suite", "paper", "--backends", "auto"}, "no auto"},
		{[]string{"--rows", "many"}, `--rows "many"`},
		{[]string{"--rows", "0"}, `--rows "0"`},
		{[]string{"--rows", "1k,1000"}, "given twice"},
		{[]string{"--rows", "2^40"}, "this machine's memory holds"},
		{[]string{"--backends", "gpu"}, "no backend"},
		{[]string{"--backends", "cpu,cpu"}, "given twice"},
		{[]string{"--peers", "oracle"}, "duckdb, sqlite"},
		{[]string{"--table", "nowhere"}, "uniform, tcpip, census, lineorder, wisconsin"},
		{[]string{"--load", "t=" + path}, "name one of the tables"},
		{[]string{"--load", "t=" + path, "--table", "u"}, "name one of the tables"},
		{[]string{"--load", "t=" + path, "--table", "t", "--rows", "5"}, "table t has 1 row"},
		{[]string{"--table", "flights", "--rows", "1k,200001"}, "table flights has 200,000 rows"},
		{[]string{"--rounds", "-1"}, "--rounds -1"},
		{[]string{"--format", "csv"}, "text, json, go"},
		{[]string{"--suite", "auto", "--fresh"}, "the suite auto repeats its statements"},
		{[]string{"compere"}, "compere"},
		{[]string{"compare", "a.json"}, "two reports"},
		{[]string{"compare", "--threshold", "-1", path, path}, "--threshold"},
	} {
		stencildb(append([]string{"bench"}, c.args...)...).wantFailure(t, 2, c.want)
	}
	for _, name := range peer.Known() {
		if peer.Check(name) != nil {
			stencildb("bench", "--peers", name).wantFailure(t, 2, "not built in", "-tags egl,"+name)
		}
	}
}

// A device of several that is not there is refused before any work.
func TestBenchOnMissingDevices(t *testing.T) {
	stencildb("bench", "--suite", "pary", "--rows", "10", "--device", "0,99").wantFailure(t, 2, "no device 99")
}

func TestBenchBadFiles(t *testing.T) {
	path := file(t, "t.csv", "a\n1\n")
	stencildb("bench", "--out", filepath.Join(path, "x"), "--rows", "1").wantFailure(t, 1, "not a directory")
	stencildb("bench", "--load", "t="+path+".gone", "--table", "t").wantFailure(t, 1, "no such file")
	stencildb("bench", "--figure", "3", "--out", filepath.Join(path, "x")).wantFailure(t, 1, "not a directory")
	if _, err := os.Stat(largeFlights.Path); err != nil {
		stencildb("bench", "--table", "flights-3m").wantFailure(t, 1, "make data")
	}
	stencildb("bench", "compare", path, path).wantFailure(t, 1, "t.csv", "not the JSON of a benchmark")
	stencildb("bench", "compare", path+".gone", path).wantFailure(t, 1, "no such file")
}

func TestBenchCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"--suite ":        "operations\nauto\ntargets\npaper\n",
		"--backends cpu,": "cpu,classic\n",
		"--peers ":        "none\n",
		"--table ":        "uniform\ntcpip\ncensus\nlineorder\nwisconsin\nflights\nflights-3m\n",
		"--format ":       "text\njson\ngo\n",
	} {
		flag, value, _ := strings.Cut(args, " ")
		o := stencildb("__complete", "bench", flag, value)
		if o.status != 0 || !strings.Contains(o.out, want) {
			t.Errorf("%s: status %d, %q, want %q", args, o.status, o.out, want)
		}
	}
}
