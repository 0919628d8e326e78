package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
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
			list := draws(op.Name, first, mostRounds, func(r *rand.Rand) string { return op.draw(f, r) })
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
		for _, text := range draws(op.Name, op.query(nil).SQL, 12, func(r *rand.Rand) string { return op.draw(nil, r) }) {
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
	text, err := render(func(w io.Writer) error { return errors.Join(r.WriteText(w), r.WriteGo(w)) })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"operation  system", "new / repeated", "cold, the first execution in a process", "repeated, time over that of cpu", "system   parameters", "/parameters=new/system=compute-", "/parameters=repeated/system=cpu-"} {
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
