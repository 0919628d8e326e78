package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/bench/render"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// words is a CSV of some columns and n rows.
func words(n int) ingest.Source {
	text := "id,word,half,day,real\n"
	for i := range n {
		text += fmt.Sprintf("%d,w%d,%d.5,2024-01-%02d,%de-1\n", i, i%3, i, 1+i%28, i)
	}
	return ingest.Source{Path: "words.csv", Data: []byte(text)}
}

func statements(t *testing.T, script string, files ...NamedFile) Suite {
	t.Helper()
	s, err := Statements(t.Context(), script, Catalog{Files: files, Generator: "tcpip", Seed: 1}, false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A user's statements run over the tables that they name, with the same answers on all systems.
func TestStatements(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it's.csv")
	if err := os.WriteFile(path, []byte("x\n3\n4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := statements(t, `SELECT word, COUNT(*), SUM(half) FROM words GROUP BY word ORDER BY word DESC;
		SELECT id, word FROM words WHERE id < 4; SELECT SUM(read_csv.x) FROM read_csv(`+expr.Quote(path)+`, header => true);
		SELECT COUNT(*) FROM words; SELECT MAX(data_count) FROM tcpip; SELECT id FROM words WHERE id > 1000; SELECT * FROM words`,
		NamedFile{"words", words(50)}, NamedFile{"unused", ingest.Source{Path: "gone.csv"}})
	r, err := s.Run(t.Context(), Config{Rows: []int{2, 20}, Backends: []string{"cpu", "classic", "auto"}, Peers: peer.BuiltIn(), Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Suite != report.OwnStatements || r.Data.Name != "words, read_csv("+expr.Quote(path)+", header => 'true'), tcpip" || r.Reference != "cpu" || r.Data.Attributes != nil {
		t.Errorf("%+v, reference %s", r.Data, r.Reference)
	}
	for _, c := range []struct {
		operation    string
		rows, answer int
		first        string
	}{
		{"q1", 20, 3, "w2, 6, 60.0"}, {"q1", 2, 2, "w1, 1, 1.5"}, {"q2", 20, 4, "0, w0"}, {"q3", 2, 1, "7"}, {"q4", 20, 1, "20"}, {"q6", 20, 0, ""},
		{"q7", 2, 2, "0, w0, 0.5, 2024-01-01, 0"},
	} {
		for _, system := range []string{"cpu", "classic", "auto"} {
			x := r.Find(c.operation, c.rows, system)
			if x == nil || x.RowsOfAnswer() != c.answer || strings.Join(x.Answer, ", ") != c.first || x.Ratio == nil {
				t.Errorf("%s over %d rows on %s: %+v, want %s", c.operation, c.rows, system, x, c.first)
			}
		}
	}
	for _, x := range r.Results {
		if loads := x.Operation == report.LoadCase; (x.System == "classic" || x.System == "auto") != (len(x.Cold) == report.ColdRuns) || loads && (!slices.Contains([]string{"cpu", "duckdb"}, x.System) || x.Rows != 2 || x.SQL != "load "+path) {
			t.Errorf("%+v", x)
		}
	}
	if r.Find(report.LoadCase, 2, "cpu") == nil {
		t.Error("the file is not loaded")
	}
	checkOwnFiles(t, r)
	if r.Find("q3", 20, "cpu") != nil || r.Find("q5", 20, "classic") == nil {
		t.Error("want the file's two rows alone, and the generator's twenty")
	}
	for _, skip := range r.Skipped {
		if skip.System != "sqlite" || !strings.Contains(skip.Reason, "is not loaded") && skip.Reason != "it reads no files" {
			t.Errorf("skipped %+v", skip)
		}
	}
	checkSchema(t, r)
	text, err := report.Bytes(render.Of(r).WriteText)
	if err != nil || !strings.Contains(string(text), "\n  q2    SELECT id, word FROM words WHERE id < 4  ") || !strings.Contains(string(text), "2 rows, time over that of cpu") {
		t.Errorf("%v\n%s", err, text)
	}
}

// The loading of the first rows is that of a file of the same format that holds them alone.
func TestFirstRowsAreLoaded(t *testing.T) {
	for _, name := range []string{"t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow", "t.txt"} {
		t.Setenv("TMPDIR", t.TempDir())
		path := filepath.Join(t.TempDir(), name)
		b := table.NewBuilder("t", []table.Field{{Name: "it's", Type: table.Type{Kind: table.BigInt}}, {Name: "s", Type: table.Type{Kind: table.Varchar}}}, 3)
		for i := range 7 {
			b.Column(0).Int(int64(i))
			b.Column(1).String(fmt.Sprintf("%d, \"%d\"\n", i, i))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		if name == "t.txt" {
			if err := os.WriteFile(path, []byte("it's,s\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n7,g\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := ingest.WriteFile(t.Context(), path, b.Table()); err != nil {
			t.Fatal(err)
		}
		s := statements(t, `SELECT SUM("it's") FROM t`, NamedFile{"t", ingest.Source{Path: path}})
		r, err := s.Run(t.Context(), Config{Rows: []int{2, 5, 7}, Backends: []string{"cpu"}, Rounds: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{2, 5, 7} {
			x := r.Find(report.LoadCase, rows, "cpu")
			if there := name != "t.txt" || rows == 7; (x != nil) != there || x != nil && (x.Answer[0] != fmt.Sprint(rows) || x.SQL != "load "+path) {
				t.Errorf("%s, %d rows: %+v, skipped %+v", name, rows, x, r.Skipped)
			}
		}
		if left, err := filepath.Glob(filepath.Join(os.TempDir(), "stencildb-load-*")); err != nil || left != nil {
			t.Errorf("%v is left, %v", left, err)
		}
	}
}

// checkOwnFiles writes the figures and the page, and looks into them.
func checkOwnFiles(t *testing.T, all *report.Report) {
	dir, few := t.TempDir(), *all
	few.Results = slices.DeleteFunc(slices.Clone(all.Results), func(x report.Result) bool {
		return !slices.Contains([]string{"q2", "q3", report.LoadCase}, x.Operation)
	})
	r := &few
	if err := render.Of(r).WriteFigures(dir); err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"report.html"}
	for _, figure := range []string{report.OwnStatements, "q2"} { // q3 is over one table
		want = append(want, figure+".csv", figure+".png", figure+".svg")
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"measured</h1>", `<h2 id="q2">q2: SELECT id, word FROM words WHERE id &lt; 4</h2>`, "with the upload of the columns", "<td>load</td>", "from a file to a table"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Count(string(page), "<svg") != 2 || strings.Contains(string(page), "2004") {
		t.Errorf("%d figures, or the paper's words", strings.Count(string(page), "<svg"))
	}
	points, err := os.ReadFile(filepath.Join(dir, "q2.csv"))
	if lines := strings.Split(string(points), "\n"); err != nil || len(lines) != 2+2*len(r.Systems()) || !strings.HasPrefix(lines[1], "0,q2,2,2,cpu,1,") {
		t.Errorf("%v: %s", err, points)
	}
}

// A peer that answers otherwise is left out of the case, and the error says both answers. A peer that cannot say a
// statement, and a backend that declines one, are left out with the reason.
func TestStatementsThatDiffer(t *testing.T) {
	run := func(script string, c Config) (*report.Report, error) {
		c.Backends, c.Rounds = append(c.Backends, "cpu"), 1
		return statements(t, script, NamedFile{"words", words(9)}).Run(t.Context(), c)
	}
	peer.Registry["wrong"] = peer.Peer{Open: constant("41")}
	defer delete(peer.Registry, "wrong")
	r, err := run("SELECT COUNT(*) FROM words; SELECT MAX(id) + 33 FROM words", Config{Peers: []string{"wrong"}})
	var differ *meter.DifferError
	if !errors.As(err, &differ) || err.Error() != "q1 over 9 rows: wrong gives 41, cpu gives 9: SELECT COUNT(*) FROM words; where the two mean different things by it, write it otherwise, or leave wrong out with --peers" {
		t.Errorf("%v", err)
	}
	if r == nil || r.Interrupted || len(r.Results) != 3 || r.Find("q2", 9, "wrong") == nil || len(r.Skipped) != 1 || r.Skipped[0] != (report.Skip{Case: report.Case{Operation: "q1", Rows: 9}, System: "wrong", Reason: "another answer: it gives 41, cpu gives 9"}) {
		t.Errorf("the report is %+v", r)
	}
	peer.Registry["mute"] = peer.Peer{Open: func(context.Context, []*table.Table) (meter.System, error) {
		return meter.System{Prepare: func(context.Context, meter.Query) (meter.Contender, error) {
			return meter.Contender{}, fmt.Errorf("%w: no words", meter.ErrCannot)
		}}, nil
	}}
	defer delete(peer.Registry, "mute")
	r, err = run("SELECT SUM(real) FROM words", Config{Peers: []string{"mute"}, Backends: []string{"classic"}})
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, skip := range r.Skipped {
		reasons[skip.System] = skip.Reason
	}
	if !strings.Contains(reasons["mute"], "no words") || reasons["classic"] == "" || !slices.Equal(r.Systems(), []string{"cpu"}) {
		t.Errorf("%v, results of %v", reasons, r.Systems())
	}
	if _, err := run("SELECT 1 / id FROM words", Config{}); err == nil || !strings.Contains(err.Error(), "q1 over 9 rows: cpu: division by zero") {
		t.Errorf("%v", err)
	}
}

func TestStatementsThatAreWrong(t *testing.T) {
	for script, want := range map[string]string{
		"": "there is no statement",
		"SELECT id FROM words; SELECT id FORM words w":   `syntax error`,
		"SELECT id FROM words; SELECT x FROM words":      `column "x" does not exist; the columns are id, word, half, day, real (line 1, column 30)`,
		"SELECT id FROM words;\nDESCRIBE words":          "what is measured is a SELECT, and this is none: leave it out (line 2, column 1)",
		"EXPLAIN SELECT id FROM words":                   "what is measured is a SELECT",
		"SUMMARIZE words":                                "what is measured is a SELECT",
		"SHOW TABLES":                                    "what is measured is a SELECT",
		"SET backend = cpu":                              "what is measured is a SELECT",
		"SELECT 1":                                       "the statement reads no table: there is nothing to measure (line 1, column 1)",
		"SELECT id FROM word":                            `table "word" does not exist; did you mean words? (line 1, column 16)`,
		"SELECT id FROM 'gone.csv'":                      `there is no file and no table "gone.csv"`,
		"SELECT id FROM read_csv('words.csv')":           `there is no file "words.csv"`,
		"SELECT id FROM none":                            "table none has no rows to measure on",
		"SELECT id FROM words WHERE id = $1":             "the statement has 1 parameter",
		"SELECT id FROM words ORDER BY id; SELECT\x00id": "NUL byte",
	} {
		_, err := Statements(t.Context(), script, Catalog{Files: []NamedFile{{"words", words(3)}, {"none", words(0)}}}, false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", script, err, want)
		}
	}
}
