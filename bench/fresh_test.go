package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/glctx"
)

// fresh is a contender of the fresh protocol: its prepared statement takes repeated, a text of which nothing was asked
// before takes new, and it notes what it runs.
func (c *fakeClock) fresh(name string, order *[]string, repeated, new time.Duration, answer func(text string) (Answer, error)) Contender {
	ask := func(text string, took time.Duration) (Outcome, error) {
		*order = append(*order, name+":"+text)
		c.t = c.t.Add(took)
		a, err := answer(text)
		return Outcome{Answer: a}, err
	}
	return Contender{System: name,
		Run:   func(context.Context) (Outcome, error) { return ask("=", repeated) },
		Fresh: func(_ context.Context, text string) (Outcome, error) { return ask(text, new) },
	}
}

// Each round has the next draw, on all systems, after the statement that is repeated; the first text is not counted.
func TestFreshRounds(t *testing.T) {
	const ms = time.Millisecond
	c, order := &fakeClock{}, []string(nil)
	seven := func(string) (Answer, error) { return oneText("7"), nil }
	a, b := c.fresh("a", &order, 2*ms, 10*ms, seven), c.fresh("b", &order, 4*ms, 5*ms, seven)
	made := 0
	a.Programs = func() int { made++; return made / 4 * 3 } // asked before and after each draw
	a.First = func(context.Context, string) (Outcome, error) {
		order = append(order, "a:first")
		return Outcome{Answer: oneText("7"), Wall: 90 * ms}, nil
	}
	trial := Trial{Case: Case{"op", 1}, SQL: "x0", Draws: []string{"x1", "x2"}, ShapeOf: func(string) Shape { return Shape{} }, Contenders: []Contender{a, b}}
	results, skipped := measure(t, &Meter{Rounds: 9, ColdRuns: 1, now: c.now, cpu: c.cpu}, trial)
	if got, want := strings.Join(order, " "), "a:= a:= a:x0 b:x0 b:= b:x0 a:= a:x1 b:= b:x1 b:= b:x2 a:= a:x2 a:first"; got != want {
		t.Errorf("ran\n%s, want\n%s", got, want)
	}
	if len(skipped) > 0 || len(results) != 2 {
		t.Fatalf("%v, %v", results, skipped)
	}
	for i, want := range []struct {
		new, repeated, cold float64
		compiled            []int
	}{{10, 2, 90, []int{0, 3}}, {5, 4, 5, nil}} {
		x := results[i]
		if len(x.MS) != 2 || x.MedianMS != want.new || x.RepeatedMS != want.repeated || x.ColdMS != want.cold || !slices.Equal(x.Compiled, want.compiled) {
			t.Errorf("%+v, want %+v", x, want)
		}
	}
	r := &Report{Reference: "b", Results: results}
	r.setRatios()
	if x := r.Results[0]; x.Ratio.Median != 2 || x.RepeatedRatio.Median != 0.5 {
		t.Errorf("ratios %+v and %+v, want 2 and 0.5", x.Ratio, x.RepeatedRatio)
	}
}

// A system that gives another answer to a draw, or cannot answer it, is left out of the case, with the draw.
func TestFreshAnswersAreCompared(t *testing.T) {
	for _, c := range []struct {
		apart  bool
		answer func(text string) (Answer, error)
		reason string
		differ bool
	}{
		{true, func(text string) (Answer, error) { return oneText(text), nil }, "", false},
		{true, func(text string) (Answer, error) { return oneText(strings.ReplaceAll(text, "x2", "8")), nil }, "another answer: it gives 8, right gives x2: x2", true},
		{false, func(text string) (Answer, error) { return oneText(strings.ReplaceAll(text, "x1", "8")), nil }, "", true},
		{true, func(text string) (Answer, error) {
			if text == "x2" {
				return nil, fmt.Errorf("%w: too large", ErrCannot)
			}
			return oneText(text), nil
		}, "cannot run this: too large", false},
	} {
		clock, order := &fakeClock{}, []string(nil)
		right := clock.fresh("right", &order, 1e6, 1e6, func(text string) (Answer, error) { return oneText(text), nil })
		other := clock.fresh("other", &order, 1e6, 1e6, c.answer)
		other.Loose = true // so that it is not the one that is right
		for _, x := range []*Contender{&right, &other} {
			x.Run = func(context.Context) (Outcome, error) { return Outcome{Answer: oneText("x0"), Wall: 1e6}, nil }
		}
		trial := Trial{Case: Case{"op", 1}, SQL: "x0", Draws: []string{"x1", "x2", "x3"}, ShapeOf: func(string) Shape { return Shape{} }, Contenders: []Contender{other, right}}
		results, skipped, err := (&Meter{Rounds: 3, Apart: c.apart, now: clock.now, cpu: clock.cpu}).Measure(t.Context(), []Trial{trial})
		var differ *DifferError
		if errors.As(err, &differ) != c.differ || c.differ && differ.System != "other" {
			t.Errorf("%v, want a difference %v", err, c.differ)
		}
		if !c.apart {
			continue
		}
		left := []Skip(nil)
		if c.reason != "" {
			left = []Skip{{Case{"op", 1}, "other", c.reason}}
		}
		if d := cmp.Diff(left, skipped); d != "" || len(results) != 2-len(left) {
			t.Errorf("%d results, %s", len(results), d)
		}
		if x := results[len(results)-1]; x.System != "right" || len(x.MS) != 3 || len(x.Repeated) != 3 {
			t.Errorf("%+v, want right in all rounds", x)
		}
	}
}

// No two draws are alike, nor like the first text; where there are few they are all.
func TestDraws(t *testing.T) {
	five := func(r *rand.Rand) string { return strconv.Itoa(r.IntN(5)) }
	list := draws("op", "3", 100, five)
	if !slices.Equal(slices.Sorted(slices.Values(list)), []string{"0", "1", "2", "4"}) {
		t.Errorf("%q", list)
	}
	if again := draws("op", "3", 2, five); !slices.Equal(again, list[:2]) {
		t.Errorf("%q, want the first two of %q", again, list)
	}
}

// The queries with drawn parameters are statements, and so many different ones as the rules give.
func TestDrawsOfTheSuites(t *testing.T) {
	few := map[string]int{"tpch q18": 4, "tpch q13": 15, "tpch q11": 24, "tpch q21": 24, "tpch q05": 24, "tpch q10": 23, "tpch q04": 57, "tpch q15": 57, "tpch q14": 59,
		"tpch q01": 60, "tpch q09": 91, "tpch q06": 79, "tpch q03": 154, "tpch q12": 209, "ssb q3.1": 24, "ssb q2.1": 124, "ssb q1.1": 6*9*3 - 1, "ssb q4.1": 249}
	for _, name := range []string{"ssb", "tpch"} {
		s := suite(t, name)
		if !s.Fresh || !s.Draws() {
			t.Errorf("%s is not measured with new parameters", name)
		}
		f := &facts{rows: 60_000}
		for _, op := range s.Operations {
			first := op.query(f).SQL
			list := op.draws(f, mostRounds)
			want, ok := few[name+" "+op.Name]
			if !ok {
				want = mostRounds
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
		want := shares(op.query(nil).SQL)
		if len(want) < 2 {
			t.Fatalf("%s has conditions on %v", op.Name, want)
		}
		for _, text := range op.draws(nil, 12) {
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
	machine, err := ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	s := suite(t, "ssb")
	s.Operations = s.Operations[:2]
	r, err := s.Run(t.Context(), Config{Rows: []int{6000}, Backends: []string{"cpu", "compute"}, Peers: []string{}, Rounds: 3, Machine: machine, Command: "stencildb bench"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Protocol != fresh || len(r.Results) != 4 || len(r.Skipped) > 0 {
		t.Fatalf("%+v", r)
	}
	for _, x := range r.Results {
		if len(x.MS) != 3 || len(x.Repeated) != 3 || len(x.Cold) != 1 || x.RepeatedRatio == nil {
			t.Errorf("%+v", x)
		}
	}
	checkSchema(t, r)
	dir := t.TempDir()
	if err := r.WriteFigures(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ssb.svg", "ssb.png", "ssb.csv", "report.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if panels := r.panels(r.figures()[0]); len(panels) != 3 || panels[1].Title != "repeated: the prepared statement again" || len(r.series(panels[1])) != 2 {
		t.Errorf("panels %+v", panels)
	}
	page, err := render(r.WriteHTML)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The suite ssb, measured with new parameters", "<th>operation</th><th>system</th><th>new</th><th>n</th><th>repeated</th><th>cold</th>", "repeated: the prepared statement again, in the same rounds"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	text, err := render(func(w io.Writer) error { return errors.Join(r.WriteText(w), r.WriteGo(w)) })
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
	if c := Compare(r, again); !slices.Contains(c.Differ, "protocol: fresh, repeated") {
		t.Errorf("%q", c.Differ)
	}
}

// The schema names all suites.
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
	names := []string{own}
	for _, s := range Suites() {
		names = append(names, s.Name)
	}
	if got := schema.Properties.Suite.Enum; !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(names))) {
		t.Errorf("the schema has %q, the program %q", got, names)
	}
}

// Parameters of a script are drawn within their rules, the same name with the same value, in quotes as they are.
func TestParametersOfAScript(t *testing.T) {
	const script = `SELECT {n:-3..-1}, '{n}', {x:0.5..1.25}, {d:2024-02-28..2024-03-01}, '{d}', "{c:a|b c}", {c} -- {n:9..10}
		/* {k:1..2} */, '{"j": 1}', {z}, $q$ {n:-3..-1} ' $q$, {big:0..9223372036854775807}`
	tab, err := readDrawable(script)
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^SELECT \((-[123])\), '(-[123])', ((?:0\.[5-9]|1\.[012])\d), DATE '(2024-0[23]-\d\d)', '(2024-0[23]-\d\d)', "(a|b c)", (a|b c) -- \{n:9\.\.10\}
		/\* \{k:1\.\.2\} \*/, '\{"j": 1\}', \{z\}, \$q\$ (-[123]) ' \$q\$, \d+$`)
	r, seen := rand.New(rand.NewPCG(1, 1)), map[string]bool{}
	for range 300 {
		text := tab.fill(r).text
		m := want.FindStringSubmatch(text)
		if m == nil || m[1] != m[2] || m[1] != m[8] || m[4] != m[5] || m[6] != m[7] {
			t.Fatalf("%q: %q", text, m)
		}
		seen[m[1]], seen[m[4]], seen[m[6]], seen[m[3]] = true, true, true, true
	}
	for _, v := range []string{"-3", "-1", "2024-02-28", "2024-02-29", "2024-03-01", "a", "b c", "0.50", "1.25"} {
		if !seen[v] {
			t.Errorf("%s was never drawn", v)
		}
	}
}

// Statements of a user's by the fresh protocol: each draw is answered alike by all, and columns that only some draws read are there.
func TestFreshStatements(t *testing.T) {
	s, err := Statements(t.Context(), `SELECT COUNT(*), MAX({c:id|half}) FROM words WHERE id < {n:1..60}; SELECT word FROM words ORDER BY id LIMIT {n}`,
		Catalog{Files: []NamedFile{{"words", words(50)}}}, true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), Config{Backends: []string{"cpu", "auto"}, Peers: Peers(), Rounds: 6})
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
	texts := append([]string{s.Operations[0].query(nil).SQL}, s.Operations[0].draws(nil, mostRounds)...)
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
		cell              string
	}{
		{"q1", "classic", []string{"Aggregate"}, " (cpu groups)"}, {"q1", "compute", nil, ""}, {"q1", "cpu", nil, ""}, {"q1", "auto", nil, ""},
		{"q2", "classic", nil, ""}, {"q3", "classic", []string{"Window"}, " (cpu windows)"},
	} {
		if x := r.Find(c.operation, 50, c.system); x == nil || !slices.Equal(x.OnCPU, c.on) || x.helped() != c.cell {
			t.Errorf("%s on %s: %+v, want %q", c.operation, c.system, x, c.on)
		}
	}
	text, err := render(r.WriteText)
	if err != nil || strings.Count(string(text), " n1 (cpu groups)") != 1 {
		t.Errorf("%v\n%s", err, text)
	}
	checkSchema(t, r)
}
