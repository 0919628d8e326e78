package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Rows that are written in a format are read back as they were.
func TestRowsComeBackFromTheirFile(t *testing.T) {
	load := "t=" + file(t, "t.csv", typedCSV)
	want := cpuCSV(load, "SELECT i, d, day, at, s, yes FROM t")
	if want.status != 0 || strings.Count(want.out, "\n") != 5 {
		t.Fatalf("%+v", want)
	}
	for _, format := range []string{"csv", "arrow", "parquet"} {
		path := filepath.Join(t.TempDir(), "rows."+format)
		stencildb("query", "--backend", "cpu", "--format", format, "-o", path, "--load", load, "SELECT * FROM t").wantOutput(t, "")
		cpuCSV("t="+path, "SELECT i, d, day, at, s, yes FROM t").wantOutput(t, want.out)
	}
	for _, format := range []string{"csv", "json", "arrow", "parquet", "txt"} { // the extension says how, where --format does not
		path, said := filepath.Join(t.TempDir(), "rows."+format), filepath.Join(t.TempDir(), "rows")
		args := []string{"query", "--backend", "cpu", "--load", load, "SELECT i, s FROM t", "-o"}
		stencildb(append(args, path)...).wantOutput(t, "")
		switch format {
		case "txt":
			format = "table"
		case "json":
			format = "jsonlines"
		}
		stencildb(append(args, said, "--format", format)...).wantOutput(t, "")
		if got, want := withoutTimes(t, path), withoutTimes(t, said); got != want {
			t.Errorf("%s has %.100q, with --format %s it has %.100q", path, got, format, want)
		}
	}
	for _, name := range []string{"r.csv.gz", "r.CSV.zst", "r.tsv", "r.tsv.gz", "r.arrows", "r.arrow.gz", "r.json", "r.ndjson.gz"} {
		path := filepath.Join(t.TempDir(), name)
		stencildb("query", "--backend", "cpu", "-o", path, "--load", load, "SELECT * FROM t").wantOutput(t, "")
		cpuCSV("t="+path, "SELECT i, d, day, at, s, yes FROM t").wantOutput(t, want.out)
	}
	for name, why := range map[string]string{"r.xyz": "names no format", "r.gz": "names no format", "r.parquet.gz": "leave out .gz"} {
		path := filepath.Join(t.TempDir(), name)
		stencildb("query", "-o", path, "SELECT 1 AS a").wantFailure(t, 2, why)
		if _, err := os.Stat(path); err == nil {
			t.Errorf("there is a file %s", name)
		}
	}
	path := filepath.Join(t.TempDir(), "r.xyz")
	stencildb("query", "-o", path, "--format", "csv", "SELECT 1 AS a").wantOutput(t, "")
	if got := withoutTimes(t, path); got != "a\n1\n" {
		t.Errorf("r.xyz has %q", got)
	}
	stream := stencildb("query", "--backend", "cpu", "--format", "arrow", "--load", load, "SELECT * FROM t")
	cpuCSV("t="+file(t, "stream.arrow", stream.out), "SELECT i, d, day, at, s, yes FROM t").wantOutput(t, want.out)
}

// withoutTimes is a file's text but for times.
func withoutTimes(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`[0-9.]+ ms|ms":[0-9.]+`).ReplaceAllString(string(text), "")
}

func TestALateErrorEndsTheLine(t *testing.T) {
	load := "t=" + file(t, "t.csv", "a\n1\n0\n2\n")
	args := []string{"query", "--backend", "cpu", "--keep-going", "--format", "json", "--load", load}
	o := stencildb(append(args, "SELECT 6 / a FROM t; SELECT a FROM t LIMIT 1")...)
	got := lines(t, o.out)
	if o.status != 1 || len(got) != 2 || len(got[0].Rows) != 1 || !strings.Contains(got[0].Error, "division by zero") || got[0].Backend != nil ||
		len(got[1].Rows) != 1 || got[1].Error != "" {
		t.Errorf("status %d: %s", o.status, o.out)
	}
	path := filepath.Join(t.TempDir(), "out.csv")
	stencildb("query", "--backend", "cpu", "--format", "csv", "-o", path, "--load", load, "SELECT 6 / a FROM t").wantFailure(t, 1, "division by zero")
	if _, err := os.Stat(path); err == nil {
		t.Error("a file of half an answer")
	}
}

// The widths of a table are those of its first 1,000 rows.
func TestWidthsOfALongTable(t *testing.T) {
	rows := strings.Repeat("1\n", 1000) + "1000000\n"
	o := stencildb("query", "--backend", "cpu", "--load", "t="+file(t, "t.csv", "a\n"+rows), "SELECT a FROM t")
	got := strings.Split(o.out, "\n")
	if len(got) < 1006 || got[0] != "┌───┐" || got[3] != "│ 1 │" || got[1003] != "│ 1000000 │" || got[1004] != "└───┘" || !strings.HasPrefix(got[1005], "1,001 rows, cpu, ") {
		t.Errorf("%q ... %q", got[:4], got[max(0, len(got)-5):])
	}
}
