package bench

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/bench/render"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/glctx"
)

// The queries with drawn parameters are statements, and so many different ones as the rules give.
func TestDrawsOfTheSuites(t *testing.T) {
	few := map[string]int{"tpch q18": 4, "tpch q13": 15, "tpch q11": 24, "tpch q21": 24, "tpch q05": 24, "tpch q10": 23, "tpch q04": 57, "tpch q15": 57, "tpch q14": 59,
		"tpch q01": 60, "tpch q09": 91, "tpch q06": 79, "tpch q03": 154, "tpch q12": 209, "ssb q3.1": 24, "ssb q2.1": 124, "ssb q1.1": 6*9*3 - 1, "ssb q4.1": 249}
	for _, name := range []string{"ssb", "tpch"} {
		s := suite(t, name)
		if !s.Fresh || !s.Draws() {
			t.Errorf("%s is not measured with new parameters", name)
		}
		f := &workload.TableProfile{Rows: 60_000}
		for _, op := range s.Operations {
			first := op.Query(f).SQL
			list := op.Draws(f, meter.MostRounds)
			want, ok := few[name+" "+op.Name]
			if !ok {
				want = meter.MostRounds
			}
			if len(list) != want {
				t.Errorf("%s %s: %d draws, want %d", name, op.Name, len(list), want)
			}
			for _, text := range append(list, first) {
				if strings.ContainsAny(text, "{}") {
					t.Fatalf("%s %s: a parameter without a value in %s", name, op.Name, text)
				}
			}
		}
	}
}

// Each condition of a draw of the Star Schema Benchmark selects about as much as the one with the constants of its
// specification. Customers stand for suppliers, whose places are drawn as theirs are; dates are those of orders.
func TestDrawsKeepSelectivity(t *testing.T) {
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := generate.Databases()[0].Tables(1)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{"c": "customer", "s": "customer", "p": "part", "d": "date", "lo": "lineorder"}
	for _, g := range all {
		tab, err := g.Generate(t.Context(), min(g.DefaultRows, 200_000), 1, 0)
		if err == nil {
			err = db.Add(tab)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	count := func(table, condition string) float64 {
		r, err := engine.Collect(db.Query(t.Context(), "SELECT COUNT(*) FROM "+table+" WHERE "+condition))
		if err != nil {
			t.Fatal(err)
		}
		return float64(r.Rows[0][0].I)
	}
	known := map[string]float64{}
	shares := func(text string) map[string]float64 {
		_, where, _ := strings.Cut(text, " WHERE ")
		where, _, _ = strings.Cut(where, " GROUP BY ")
		of := map[string][]string{}
		pieces := strings.Split(where, " AND ")
		for i, piece := range pieces {
			if strings.ContainsAny(piece[:1], "0123456789'") { // the end of a BETWEEN
				continue
			}
			if i+1 < len(pieces) && strings.Contains(piece, "BETWEEN") {
				piece += " AND " + pieces[i+1]
			}
			if strings.HasSuffix(piece, "key") { // a join
				continue
			}
			prefix, _, _ := strings.Cut(strings.TrimLeft(piece, "("), "_")
			of[prefix] = append(of[prefix], piece)
		}
		out := map[string]float64{}
		for prefix, list := range of {
			condition := strings.Join(list, " AND ")
			switch prefix {
			case "s":
				condition = strings.ReplaceAll(condition, "s_", "c_")
			case "d":
				condition = "d_datekey <= 19980802 AND " + condition
			}
			if _, ok := known[condition]; !ok {
				known[condition] = count(tables[prefix], condition)
			}
			out[prefix] = known[condition]
		}
		return out
	}
	for _, op := range suite(t, "ssb").Operations {
		want := shares(op.Query(nil).SQL)
		if len(want) < 2 {
			t.Fatalf("%s has conditions on %v", op.Name, want)
		}
		for _, text := range op.Draws(nil, 12) {
			got := shares(text)
			for prefix, n := range want {
				if got[prefix] < 0.7*n || got[prefix] > 1.3*n {
					t.Errorf("%s: %v of %s where the specification's constants select %v: %s", op.Name, got[prefix], tables[prefix], n, text)
				}
			}
		}
	}
}

// A report by the fresh protocol has the three times of each system, in all its forms.
func TestFreshReport(t *testing.T) {
	machine, err := report.ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	s := suite(t, "ssb")
	s.Operations = s.Operations[:2]
	r, err := s.Run(t.Context(), Config{Rows: []int{6000}, Backends: []string{"cpu", "compute"}, Peers: []string{}, Rounds: 3, Machine: machine, Command: "stencildb bench"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Protocol != report.FreshProtocol || len(r.Results) != 4 || len(r.Skipped) > 0 {
		t.Fatalf("%+v", r)
	}
	for _, x := range r.Results {
		if len(x.MS) != 3 || len(x.Repeated) != 3 || len(x.Cold) != 1 || x.RepeatedRatio == nil {
			t.Errorf("%+v", x)
		}
	}
	checkSchema(t, r)
	dir := t.TempDir()
	if err := render.Of(r).WriteFigures(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ssb.svg", "ssb.png", "ssb.csv", "report.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if panels := render.Of(r).Panels(render.Of(r).Figures()[0]); len(panels) != 3 || panels[1].Title != "repeated: the prepared statement again" || len(render.Of(r).SystemsIn(panels[1])) != 2 {
		t.Errorf("panels %+v", panels)
	}
	page, err := report.Bytes(render.Of(r).WriteHTML)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The suite ssb, measured with new parameters", "<th>operation</th><th>system</th><th>new</th><th>n</th><th>repeated</th><th>cold</th>", "repeated: the prepared statement again, in the same rounds"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	text, err := report.Bytes(func(w io.Writer) error { return errors.Join(render.Of(r).WriteText(w), render.Of(r).WriteGo(w)) })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"operation  system", "new / repeated", "cold: the first execution in a process", "repeated, time over that of cpu", "system   parameters", "/parameters=new/system=compute-", "/parameters=repeated/system=cpu-"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	s.Fresh = false
	again, err := s.Run(t.Context(), Config{Rows: []int{6000}, Backends: []string{"cpu"}, Peers: []string{}, Rounds: 1, Machine: machine})
	if err != nil {
		t.Fatal(err)
	}
	if x := again.Results[0]; again.Protocol != "" || x.Repeated != nil {
		t.Errorf("%+v, want a repeated statement alone", x)
	}
	if c := report.Compare(r, again); !slices.Contains(c.Differ, "protocol: fresh, repeated") {
		t.Errorf("%q", c.Differ)
	}
}

// The schema and package evaluation name all suites.
func TestSchemaNamesTheSuites(t *testing.T) {
	text, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct{ Suite struct{ Enum []string } }
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	names := []string{report.OwnStatements}
	for _, s := range Suites() {
		names = append(names, s.Name)
		p, err := evaluation.Find(s.Name)
		if err != nil || len(p.Figures) != len(s.Figures) || p.Graphics != s.Graphics || p.Experiments != s.Experiments() {
			t.Errorf("%s is evaluated as %+v, %v", s.Name, p, err)
		}
	}
	if got := schema.Properties.Suite.Enum; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(names))) {
		t.Errorf("the schema has %q, the program %q", got, names)
	}
}

// Statements of a user's by the fresh protocol: each draw is answered alike by all, and columns that only some draws read are there.
func TestFreshStatements(t *testing.T) {
	s, err := Statements(t.Context(), `SELECT COUNT(*), MAX({c:id|half}) FROM words WHERE id < {n:1..60}; SELECT word FROM words ORDER BY id LIMIT {n}`,
		Catalog{Files: []NamedFile{{"words", words(50)}}}, true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), Config{Backends: []string{"cpu", "auto"}, Peers: peer.BuiltIn(), Rounds: 6})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"q1", "q2"} {
		for _, system := range []string{"cpu", "auto"} {
			if x := r.Find(op, 50, system); x == nil || len(x.MS) != 6 || len(x.Repeated) != 6 || strings.ContainsAny(x.SQL, "{}") {
				t.Errorf("%s on %s: %+v", op, system, x)
			}
		}
	}
	texts := append([]string{s.Operations[0].Query(nil).SQL}, s.Operations[0].Draws(nil, meter.MostRounds)...)
	if sorted := slices.Compact(slices.Sorted(slices.Values(texts))); len(sorted) != len(texts) || len(texts) < 90 {
		t.Errorf("%d texts, %d different ones, of 120", len(texts), len(sorted))
	}
	checkSchema(t, r)
}

// Errors of parameters, and of the statements around them, have their place in what was written.
func TestParametersThatAreWrong(t *testing.T) {
	for script, want := range map[string]string{
		"SELECT id FROM words WHERE id > {n:1..9};\nSELECT id FROM words": "the statement has no parameter to draw, so that it would only be repeated: write one, such as {x:1..100}, or leave --fresh out (line 2, column 1)",
		"SELECT id FROM words WHERE id > {n:1-9}":                         "the parameter n: want a range of integers (1..100), of decimal numbers (0.01..0.09) or of dates (1993-01-01..1997-12-31), or a list (a|b|c) (line 1, column 33)",
		"SELECT id FROM words WHERE id > {n:9..1}":                        "the parameter n: 1 is not above 9 (line 1, column 33)",
		"SELECT id FROM words WHERE id > {n:1..x}":                        "the parameter n: want a range",
		"SELECT id FROM words WHERE id > {n:1e3..2e3}":                    "the parameter n: want a range",
		"SELECT id FROM words WHERE day > {d:2024-01-01..2024-13-01}":     "the parameter d: 2024-13-01 is no date as 2024-01-01 is (line 1, column 34)",
		"SELECT id FROM words WHERE day > {d:2024-01-02..2024-01-01}":     "2024-01-01 is not after 2024-01-02",
		"SELECT id FROM words WHERE id > {n:1||2}":                        `"" is no value`,
		"SELECT id FROM words WHERE id > {n:1|2; SELECT 1}":               "is no value",
		"SELECT id FROM words WHERE id > {n:1..9} AND id < {n:1..8}":      "the parameter n is drawn from 1..8, and from 1..9 before: take one rule, or {n} for the same value (line 1, column 51)",
		"SELECT id FROM words WHERE id > {n:1000..9000} AND idd = 1":      `column "idd" does not exist`,
		"SELECT id\nFROM words WHERE id > {m}":                            `syntax error at or near "{" (line 2, column 23)`,
		"SELECT {c:id|nosuch} FROM words":                                 `column "nosuch" does not exist; the columns are id, word, half, day, real (line 1, column 8)`,
	} {
		_, err := Statements(t.Context(), script, Catalog{Files: []NamedFile{{"words", words(3)}}}, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", script, err, want)
		}
	}
	if _, err := Statements(t.Context(), "SELECT id FROM words WHERE id > {n:1000..9000} AND idd = 1", Catalog{Files: []NamedFile{{"words", words(3)}}}, true); err == nil || !strings.Contains(err.Error(), "(line 1, column 52)") {
		t.Errorf("%v, want column 52 of what was written", err)
	}
	if _, err := Statements(t.Context(), "SELECT id FROM words WHERE word = '{n:1..2}' OR id = {n:1..2}", Catalog{Files: []NamedFile{{"words", words(3)}}}, false); err == nil || !strings.Contains(err.Error(), "the parameter n is drawn with --fresh only (line 1, column 54)") {
		t.Errorf("%v", err)
	}
	if _, err := Statements(t.Context(), "SELECT id FROM words WHERE word = '{n:1..2}'", Catalog{Files: []NamedFile{{"words", words(3)}}}, false); err != nil {
		t.Errorf("%v, want a literal without --fresh", err)
	}
}

// What cpu does for a backend that was named stands in its cells.
func TestOperatorsOnTheCPU(t *testing.T) {
	s := statements(t, "SELECT word, COUNT(*) FROM words GROUP BY word; SELECT COUNT(*) FROM words WHERE id < 4; SELECT id, ROW_NUMBER() OVER (ORDER BY half) FROM words", NamedFile{"words", words(50)})
	r, err := s.Run(t.Context(), Config{Backends: []string{"cpu", "classic", "compute", "auto"}, Peers: []string{}, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		operation, system string
		on                []string
	}{
		{"q1", "classic", []string{"Aggregate"}}, {"q1", "compute", nil}, {"q1", "cpu", nil}, {"q1", "auto", nil},
		{"q2", "classic", nil}, {"q3", "classic", []string{"Window"}},
	} {
		if x := r.Find(c.operation, 50, c.system); x == nil || !slices.Equal(x.OnCPU, c.on) {
			t.Errorf("%s on %s: %+v, want %q", c.operation, c.system, x, c.on)
		}
	}
	text, err := report.Bytes(render.Of(r).WriteText)
	if err != nil || strings.Count(string(text), " n1 (cpu groups)") != 1 || strings.Count(string(text), " n1 (cpu windows)") != 1 || strings.Count(string(text), "(cpu ") != 2 {
		t.Errorf("%v\n%s", err, text)
	}
	checkSchema(t, r)
}
