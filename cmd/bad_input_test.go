package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/testdata"
)

// Each bad input gives status 1, one error line that says what is wrong, and no
// answer.
func TestBadFiles(t *testing.T) {
	var numeric strings.Builder
	numeric.WriteString("a,b\n")
	for i := range 1000 {
		if i == 900 {
			numeric.WriteString("900,oops\n")
			continue
		}
		fmt.Fprintf(&numeric, "%d,%d\n", i, 2*i)
	}
	corrupt := bytes.Clone(testdata.Flights200k)
	for i := len(corrupt) / 3; i < len(corrupt)/3+4000; i++ {
		corrupt[i] ^= 0x5a
	}
	for _, c := range []struct {
		name, file, content string
		want                []string
	}{
		{"empty", "t.csv", "", []string{"empty"}},
		{"ragged", "t.csv", "a,b\n1,2\n1,2,3\n", []string{"line 3"}},
		{"short row", "t.csv", "a,b\n1,2\n1\n", []string{"line 3"}},
		{"text among numbers", "t.csv", numeric.String(), []string{"line 902", "b"}},
		{"not UTF-8", "t.csv", "a,b\n1,x\n2,\xff\n", []string{"UTF-8", "line 3"}},
		{"unfinished quote", "t.csv", "a,b\n1,\"x\n2,y\n", []string{"quote"}},
		{"truncated Parquet", "t.parquet", string(testdata.Flights200k[:len(testdata.Flights200k)/2]), []string{"t.parquet"}},
		{"short Parquet", "t.parquet", "PAR1", []string{"t.parquet"}},
		{"corrupt Parquet", "t.parquet", string(corrupt), []string{"t.parquet"}},
		{"no Parquet", "t.parquet", "a,b\n1,2\n", []string{"t.parquet"}},
		{"no Arrow", "t.arrow", "a,b\n1,2\n", []string{"t.arrow"}},
		{"no gzip", "t.csv.gz", "a,b\n1,2\n", []string{"gzip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := file(t, c.file, c.content)
			for _, q := range []string{"SELECT COUNT(*), SUM(delay) FROM t", "SELECT * FROM t LIMIT 1"} {
				stencildb("query", "--backend", "cpu", "--strict", "--load", "t="+path, q).wantFailure(t, 1, append(c.want, "t.")...)
			}
		})
	}
}

func TestPathsThatAreNoFiles(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.csv")
	stencildb("query", "--load", "t="+missing, "SELECT COUNT(*) FROM t").wantFailure(t, 1, "no such file", "missing.csv")
	stencildb("query", "--load", "t=-", "SELECT COUNT(*) FROM t").wantFailure(t, 1, "-: no such file; standard input is /dev/stdin")
	stencildb("query", "--load", "t="+dir, "SELECT COUNT(*) FROM t").wantFailure(t, 1, "is a directory")
	stencildb("query", "-f", filepath.Join(dir, "q.sql")).wantFailure(t, 1, "no such file", "q.sql")
	stencildb("query", "-f", dir).wantFailure(t, 1, "is a directory")
	stencildb("query", "-f", "/dev/zero").wantFailure(t, 1, "/dev/zero is a device")
	stencildb("query", "--load", "t=/dev/zero", "SELECT COUNT(*) FROM t").wantFailure(t, 1, "/dev/zero is a device")
	stencildb("bench", "compare", "/dev/zero", dir).wantFailure(t, 1, "/dev/zero is a device")
	stencildb("query", "-f", file(t, "long.sql", strings.Repeat(" ", maxText+1))).wantFailure(t, 1, "long.sql: more than the 64 MiB")
}

// A pipe that nobody writes to, as a script or as a table, ends at once with Ctrl-C.
func TestPipesWithoutAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"query", "-f", path}, {"query", "--load", "t=" + path, "SELECT COUNT(*) FROM t"}, {"bench", "compare", path, path}} {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan outcome)
		go func() { done <- stencildbWith(ctx, "", args...) }()
		cancel()
		(<-done).wantFailure(t, 130, "interrupted")
	}
}

func TestHeaderAloneIsAnEmptyTable(t *testing.T) {
	load := "t=" + file(t, "t.csv", "a,b\n")
	stencildb("query", "--backend", "cpu", "--format", "csv", "--load", load, "SELECT COUNT(*), COUNT(a), MIN(a), SUM(b), MEDIAN(a) FROM t WHERE b > 1").
		wantOutput(t, "count,count,min,sum,median\n0,0,,,\n")
}

func TestBadSQL(t *testing.T) {
	long := strings.Repeat("1+", 100_000) + "1"
	for _, c := range []struct {
		name, sql string
		want      []string
	}{
		{"unknown table", "SELECT COUNT(*) FROM flihgts", []string{"flihgts", "flights"}},
		{"syntax", "SELECT COUNT(*) FRM flights", []string{"syntax error", "line 1, column"}},
		{"division by zero in a row", "SELECT COUNT(*) FROM flights WHERE distance / (delay - delay) > 1", []string{"division by zero"}},
		{"not a query", "ALTER ROLE x SUPERUSER", []string{"ALTER ROLE"}},
		{"endless expression", "SELECT COUNT(*) FROM flights WHERE delay = " + long, []string{"too long"}},
		{"NUL byte", "SELECT COUNT(*) FROM flights\x00", []string{"NUL"}},
		{"invalid UTF-8", "SELECT COUNT(*) AS \"\xff\" FROM flights", []string{"UTF-8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stencildb("query", "--backend", "cpu", c.sql).wantFailure(t, 1, c.want...)
			stencildb("explain", "--backend", "cpu", "--analyze", c.sql).wantFailure(t, 1, c.want...)
		})
	}
}

func TestTableLargerThanTheHostBudget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := os.WriteFile(path, testdata.Flights200k, 0o600); err != nil {
		t.Fatal(err)
	}
	stencildb("query", "--backend", "cpu", "--host-memory", "1MiB", "--load", "t="+path, "SELECT delay, lag(delay, distance) OVER (ORDER BY delay) FROM t").
		wantFailure(t, 1, "memory", "--host-memory")
	stencildb("query", "--backend", "cpu", "--format", "csv", "--host-memory", "1MiB", "--load", "t="+path, "SELECT COUNT(*) FROM t WHERE delay = delay").wantOutput(t, "count\n200000\n")
}

func TestTableLargerThanTheDeviceBudget(t *testing.T) {
	stencildb("query", "--backend", "classic", "--gpu-memory", "4K", "SELECT COUNT(*) FROM flights WHERE delay < 3").
		wantFailure(t, 1, "memory")
}

// A device that is not there is a wrong argument, not wrong data.
func TestDeviceThatIsNotThere(t *testing.T) {
	commands := [][]string{
		{"info"}, {"info", "--calibrate"}, {"tour"},
		{"query", "--backend", "classic", "SELECT COUNT(*) FROM flights"},
		{"query", "SELECT COUNT(*) FROM flights"},
		{"query", "--keep-going", "SELECT COUNT(*) FROM flights; SELECT COUNT(*) FROM flights"},
		{"explain", "--backend", "classic", "SELECT COUNT(*) FROM flights"},
	}
	for _, command := range commands {
		for _, device := range []string{"99", "gpu"} {
			stencildb(append(command, "--device", device)...).wantFailure(t, 2, "error: --device: no device", device)
		}
	}
	t.Setenv("STENCILDB_DEVICE", "98")
	for _, command := range commands {
		stencildb(command...).wantFailure(t, 2, "error: STENCILDB_DEVICE: no device 98")
	}
}

func TestErrorsOfDataStayOnOneLine(t *testing.T) {
	load := "t=" + file(t, "t.csv", "a\n1\n\"two\n\x1b[2Jlines\"\n")
	o := stencildbWith(context.Background(), "", "query", "--backend", "cpu", "--strict", "--load", load, "SELECT SUM(a) FROM t")
	o.wantFailure(t, 1, "line")
	if strings.Contains(o.errOut, "\x1b") {
		t.Errorf("an escape sequence of the data reached the terminal: %q", o.errOut)
	}
}

func TestNumbersOfFlags(t *testing.T) {
	for args, want := range map[string]string{
		"trace --max-passes 99999999999999999999": "--max-passes 99999999999999999999: the number is out of range",
		"demo --max-passes many":                  "--max-passes many: give a whole number",
		"gen uniform --seed -1":                   "--seed -1: give a whole number that is not negative",
		"bench compare --threshold=x a b":         "--threshold x: give a number",
		"explain --glsl=maybe":                    "--glsl maybe: give true or false",
		"query --gpu-memory x":                    "such as 512MiB",
	} {
		stencildb(strings.Fields(args)...).wantFailure(t, 2, want)
	}
}

// The commands that show passes agree that cpu, which has none, is a wrong argument.
func TestPassesOfCPU(t *testing.T) {
	stencildb("trace", "--backend", "cpu", "-o", filepath.Join(t.TempDir(), "t.html"), "SELECT COUNT(*) FROM flights").wantFailure(t, 2, "--backend cpu")
	stencildb("demo", "--backend", "cpu").wantFailure(t, 2, "--backend cpu")
}

func TestWhatABackendLacksIsSaidWithItsName(t *testing.T) {
	stencildb("query", "--backend", "classic", "SELECT SUM(time) FROM flights").wantFailure(t, 1, "error: backend classic: ", "use --backend cpu")
}

// What was found out about a file is said in one line beside the answer, and only once.
func TestNotesAboutFiles(t *testing.T) {
	path := file(t, "t.txt", "day\n2020-01-01\n2020-13-01\n2020-01-02\n")
	o := stencildb("query", "--backend", "cpu", "--format", "json", "--load", "t="+path, "SELECT COUNT(*) FROM t; SELECT COUNT(day) FROM t")
	if want := "note: " + path + ": the extension names no format: read as csv\nnote: " + path + `: line 3, column 1 (day): "2020-13-01" is no date`; !strings.HasPrefix(o.errOut, want) || strings.Count(o.errOut, "\n") != 2 || o.status != 0 {
		t.Errorf("%q, want %q", o.errOut, want)
	}
}

// An error has no names of packages before it, and what it quotes is as it was typed.
func TestErrorsAreWithoutPackages(t *testing.T) {
	stencildb("query", "--backend", "cpu", "SELECT CAST('x: cost: 5' AS int)").wantFailure(t, 1, `error: invalid input syntax for type integer: "x: cost: 5" (`)
	stencildb("query", "--backend", "cpu", "SELECT * FROM 'no: engine: x.csv'").wantFailure(t, 1, `error: there is no file and no table "no: engine: x.csv"`)
	inner := fmt.Errorf("storage: engine: %s is not sound", "a: trace: b")
	if got, want := message(failure{fmt.Errorf("engine: table t: %w", inner)}), "table t: a: trace: b is not sound"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
