package cmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/glctx"
)

func TestExplainRunsNothing(t *testing.T) {
	o := stencildb("explain", "--backend", "cpu", "SELECT SUM(delay), MEDIAN(distance) FROM flights WHERE delay < 60 OR distance > 1000")
	if o.status != 0 || o.errOut != "" {
		t.Fatalf("status %d: %s", o.status, o.errOut)
	}
	for _, want := range []string{"Backend cpu", "Scan(flights)", "Or", "delay < 60", "distance > 1000", "Aggregate(SUM(delay))", "128 bits"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("the explanation lacks %q:\n%s", want, o.out)
		}
	}
	if strings.Contains(o.out, "Execution time") {
		t.Errorf("EXPLAIN without ANALYZE has a time:\n%s", o.out)
	}
}

func TestExplainAnalyzeHasNumbers(t *testing.T) {
	for _, args := range [][]string{
		{"explain", "--backend", "cpu", "--analyze", "SELECT COUNT(*) FROM flights"},
		{"explain", "--backend", "cpu", "EXPLAIN ANALYZE SELECT COUNT(*) FROM flights"},
	} {
		if o := stencildb(args...); o.status != 0 || !strings.Contains(o.out, "Execution time: ") {
			t.Errorf("%v: status %d, %s%s", args, o.status, o.out, o.errOut)
		}
	}
}

func TestExplainNamesThePapersRoutines(t *testing.T) {
	o := stencildb("explain", "--backend", "classic", "--glsl", "SELECT MEDIAN(delay) FROM flights WHERE delay > 0 AND 2 * delay < distance")
	if o.status != 0 || o.errOut != "" {
		t.Fatalf("status %d: %s", o.status, o.errOut)
	}
	for _, want := range []string{"Backend classic", "CopyToDepth(delay)", "Compare(", "#version"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("the explanation lacks %q:\n%s", want, o.out)
		}
	}
}

func TestInfo(t *testing.T) {
	o := stencildb("info")
	if o.status != 0 || o.errOut != "" || !strings.Contains(o.out, "Devices") {
		t.Errorf("info: status %d\n%s%s", o.status, o.out, o.errOut)
	}
	o = stencildb("info", "--format", "json")
	var info glctx.Info
	if err := json.Unmarshal([]byte(o.out), &info); err != nil || o.status != 0 || info.CPU.Cores < 1 {
		t.Errorf("info --format json: status %d, %v\n%s", o.status, err, o.out)
	}
}

// The tour fails by itself when the answers of two backends differ.
func TestTour(t *testing.T) {
	o := stencildb("tour")
	if o.status != 0 || o.errOut != "" {
		t.Fatalf("status %d: %s\n%s", o.status, o.errOut, o.out)
	}
	for _, s := range stops {
		if !strings.Contains(o.out, "\n"+s.routine+" (routine") || !strings.Contains(o.out, s.sql) {
			t.Errorf("the tour lacks %s:\n%s", s.routine, o.out)
		}
	}
	if want := "All 7 answers are the same on classic, fused, compute, cpu."; !strings.Contains(o.out, want) {
		t.Errorf("the tour does not end with %q:\n%s", want, o.out)
	}
}

func TestGeneratedDataComesBack(t *testing.T) {
	for _, name := range []string{"t.csv", "t.parquet", "t.arrow"} {
		path := filepath.Join(t.TempDir(), name)
		stencildb("gen", "tcpip", "--rows", "1000", "--seed", "7", "-o", path).wantOutput(t, "")
		stencildb("query", "--backend", "cpu", "--format", "csv", "--load", "t="+path, "SELECT COUNT(*), COUNT(data_count) FROM t").
			wantOutput(t, "count,count\n1000,1000\n")
	}
	a, b := sum(t, "3"), sum(t, "3")
	if a != b {
		t.Errorf("the same seed gives %s and %s", a, b)
	}
	if c := sum(t, "4"); c == a {
		t.Errorf("seeds 3 and 4 both give %s", c)
	}
}

// A database of several tables becomes a folder, which is loaded as one.
func TestGeneratedDatabaseComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "ssb")
	stencildb("gen", "ssb", "--scale", "0.01", "-o", dir).wantOutput(t, "")
	stencildb("query", "--backend", "cpu", "--format", "csv", "--load", dir, "SHOW TABLES").
		wantOutput(t, "table_name\ncustomer\ndate\nlineorder\npart\nsupplier\n")
	stencildb("query", "--backend", "cpu", "--format", "csv", "--load", dir, "SELECT COUNT(*), MIN(lo_quantity), MAX(lo_quantity) FROM lineorder").
		wantOutput(t, "count,min,max\n60000,1,50\n")
	empty := t.TempDir()
	stencildb("query", "--load", empty, "SELECT 1").wantFailure(t, 1, "no file of an extension")
	stencildb("gen", "ssb", "--rows", "10", "-o", dir).wantFailure(t, 2, "--scale")
	stencildb("gen", "sbb", "-o", dir).wantFailure(t, 2, "ssb")
	stencildb("gen", "ssb", "--scale", "0", "-o", dir).wantFailure(t, 2, "0.001 to 1000")
	stencildb("gen", "tcpip", "--scale", "2", "-o", filepath.Join(dir, "t.csv")).wantFailure(t, 2, "--rows")
	stencildb("gen", "ssb", "--scale", "0.01", "-o", filepath.Join(dir, "date.parquet")).wantFailure(t, 1, "-o")
}

func TestGeneratingWhatCannotBe(t *testing.T) {
	dir := t.TempDir()
	stencildb("gen", "uniform", "--rows", "10", "-o", filepath.Join(dir, "none", "t.csv")).wantFailure(t, 1, "no folder")
	folder := filepath.Join(dir, "t.csv")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	stencildb("gen", "uniform", "--rows", "10", "-o", folder).wantFailure(t, 1, "is a directory")
	path := filepath.Join(dir, "u.parquet")
	stencildb("gen", "uniform", "--rows", "9000000000000000000", "-o", path).wantFailure(t, 1, "in memory", "at most")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stencildbWith(ctx, "", "gen", "uniform", "-o", path).wantFailure(t, 130, "interrupted")
	if _, err := os.Stat(path); err == nil {
		t.Error("an interrupted run left a file")
	}
}

func TestExplainTakesOneStatement(t *testing.T) {
	stencildb("explain", " ;").wantFailure(t, 1, "no statement")
	stencildb("explain", "SELECT COUNT(*) FROM flights; SELECT 1").wantFailure(t, 1, "2 statements", "one at a time")
}

// sum generates a small table and returns a sum over it.
func sum(t *testing.T, seed string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.parquet")
	stencildb("gen", "tcpip", "--rows", "100", "--seed", seed, "-o", path).wantOutput(t, "")
	return stencildb("query", "--backend", "cpu", "--format", "csv", "--load", "t="+path, "SELECT SUM(data_count) FROM t").out
}
