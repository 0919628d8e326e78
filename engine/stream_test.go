package engine

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
)

// streamed opens a DB whose devices visit windows of so many rows.
func streamed(t *testing.T, backend string, window int, o Options) *DB {
	t.Helper()
	o.Backend = backend
	db := open(t, o)
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	Inspect(db).Stream(window)
	return db
}

var askedInWindows = []string{
	"SELECT MEDIAN(i), kth_largest(i, 5), kth_smallest(x, 3), percentile_disc(0.9) WITHIN GROUP (ORDER BY i DESC) FROM t WHERE x > 10",
	"SELECT COUNT(*), MEDIAN(i), MIN(i), MAX(x) FROM t WHERE i > 5000",
	"SELECT COUNT(*), SUM(i), AVG(i), selectivity(), MEDIAN(i) FROM t",
	"SELECT MEDIAN(x) FROM t WHERE i = 17",
}

// Answers that are found in windows, one after the other, are those of cpu.
func TestStreamingGivesTheAnswersOfCPU(t *testing.T) {
	tab := chunked(t, 3300)
	c, err := tab.Chunks[0].Assign(0, []int{5, 130, 999}, table.SegmentOf(tab.Fields[0].Type, table.Int(17), table.Int(1<<40), table.Null(tab.Fields[0].Type)), 0)
	if err == nil {
		c, err = c.Delete([]int{0, 63, 64, 200, 998})
	}
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]*table.Chunk{c}, tab.Chunks[1:]...)
	tab = tab.With(changed...)
	cpu := open(t, Options{Backend: "cpu"})
	if err := cpu.Add(tab); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		backend, device string
		window          int
		asked           []string
	}{
		{"compute", "", 640, slices.Concat(askedTogether[:2], askedTogether[3:7], askedTogether[12:15], askedInWindows)},
		{"compute", "0,1", 1024, slices.Concat(askedTogether[:1], askedTogether[6:7], askedTogether[14:15])},
		{"classic", "", 1024, slices.Concat(askedTogether[:1], askedTogether[11:14])},
		{"fused", "", 1024, slices.Concat(askedTogether[:1], askedTogether[11:13])},
	} {
		db := streamed(t, c.backend, c.window, Options{Device: c.device})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		for _, text := range c.asked {
			before := devicesOf(db).InWindows.Len()
			r, err := Collect(db.Query(context.Background(), text))
			if got, want := inWords(r, err), inWords(Collect(cpu.Query(context.Background(), text))); got != want {
				t.Errorf("%s %s: %s: %s, cpu has %s", c.backend, c.device, text, got, want)
			}
			for _, s := range devicesOf(db).InWindows.Values()[before:] {
				if s == nil && err == nil {
					t.Errorf("%s %s: %s: is not streamed", c.backend, c.device, text)
				}
			}
		}
		x, err := db.Explain(context.Background(), askedInWindows[1], ExplainOptions{Analyze: true})
		if err != nil || !strings.Contains(fmt.Sprint(x.Lines()), "Stream(windows") {
			t.Errorf("%s %s: %q, %v", c.backend, c.device, x.Lines(), err)
		}
	}
}

// Order statistics of codes of more than 32 bits are those of cpu, whether or not the chunks' codes are apart by whole upper words.
// Where they are, the lower words do not count for the upper digits.
func TestOrderStatisticsOfWideCodesInWindows(t *testing.T) {
	cpu := open(t, Options{Backend: "cpu"})
	db := streamed(t, "compute", 640, Options{})
	big := table.Type{Kind: table.BigInt}
	for seed, apart := range []func(chunk int) int64{
		func(int) int64 { return 0 },
		func(chunk int) int64 { return int64(chunk*7%5) << 33 },
		func(chunk int) int64 { return int64(chunk*7%5)*1_234_567_891_011 + 3_000_000_000 },
	} {
		rng := rand.New(rand.NewPCG(uint64(seed), 6))
		b := table.NewBuilder(fmt.Sprint("t", seed), []table.Field{{Name: "w", Type: big}}, 1000)
		for row := range 5000 {
			v := table.Value{Type: big, I: apart(row/1000) + int64(rng.Uint64()>>20), Null: row%7 == 3}
			if row%1000 == 0 {
				v.I = apart(row / 1000) // the chunk's least, from which its codes count
			}
			b.Column(0).Value(v)
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		for _, db := range []*DB{cpu, db} {
			if err := db.Add(b.Table()); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{"SELECT MEDIAN(w), kth_largest(w, %d) FROM t%d", "SELECT kth_smallest(w, %d) FROM t%d WHERE w > 4000000000"} {
			for range 5 {
				text := fmt.Sprintf(text, 1+rng.IntN(4000), seed)
				got, want := inWords(Collect(db.Query(context.Background(), text))), inWords(Collect(cpu.Query(context.Background(), text)))
				if got != want {
					t.Errorf("%s: %s, cpu has %s", text, got, want)
				}
			}
		}
	}
}

// counting is a runner that looks at the store's memory after each pass, and counts passes of further sweeps.
type counting struct {
	pass.Runner
	g       *devicepool.GPU
	most    *int64
	further *int
}

func (c counting) Run(p *pass.Pass) (pass.Count, error) {
	n, err := c.Runner.Run(p)
	*c.most = max(*c.most, c.g.Store.Used())
	switch p.Op.(type) {
	case compute.Histogram, pass.KthLargest:
		*c.further++
	}
	return n, err
}

// A table that takes twenty times the device's budget gets the answers that it has in host memory. One attribute alone takes more
// than the budget. The budget is never exceeded, and objects are made once, not once a window.
func TestTableOfTwentyBudgets(t *testing.T) {
	const rows, budget = 15<<17 + 1, 1 << 20
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "w", Type: table.Type{Kind: table.BigInt}},
		{Name: "n", Type: table.Type{Kind: table.Integer}}}, rows)
	for row := range rows {
		b.Column(0).Value(table.Int(int64(row * 7919 % 500009)))
		b.Column(1).Value(table.Int(int64(uint64(row) * 0x9e3779b97f4a7c15)))
		b.Column(2).Value(table.Value{Type: table.Type{Kind: table.Integer}, I: int64(row % 37), Null: row%10 == 0})
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	cpu := open(t, Options{Backend: "cpu"})
	if err := cpu.Add(tab); err != nil {
		t.Fatal(err)
	}
	for backend, asked := range map[string][]string{
		"compute": {"SELECT COUNT(*), SUM(a), MIN(w), MAX(w), COUNT(n), MEDIAN(w) FROM t WHERE a < 400000", "SELECT n, COUNT(*), SUM(a) FROM t GROUP BY n ORDER BY n"},
		"fused":   {"SELECT COUNT(*), SUM(a), MIN(w) FROM t WHERE n < 30"},
		"classic": {"SELECT COUNT(*), MEDIAN(a) FROM t WHERE n < 30"},
	} {
		db := open(t, Options{Backend: backend, GPUMemory: budget})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		for _, text := range asked {
			got, want := inWords(Collect(db.Query(context.Background(), text))), inWords(Collect(cpu.Query(context.Background(), text)))
			if got != want {
				t.Errorf("%s: %s: %s, cpu has %s", backend, text, got, want)
			}
		}
		s, err := db.plan(context.Background(), asked[0])
		if err != nil {
			t.Fatal(err)
		}
		v, g := devicesOf(db).ByName[backend].(*backends.Passes), devicesOf(db).GPUs[0]
		most, further, live, made := int64(0), 0, map[string]int(nil), 0
		for range 2 {
			live, made = g.Context.Live(), g.Context.Created()
			if _, err := v.ExecuteOn(context.Background(), s.plan, &querystats.Collector{}, func(g *devicepool.GPU) pass.Runner { return counting{g.GL, g, &most, &further} }); err != nil {
				t.Fatal(err)
			}
		}
		of := v.Stream(s.plan)
		if of == nil || of.Need < 5*budget || backend == "compute" && of.Need < 20*budget || most > budget || most == 0 {
			t.Fatalf("%s: %+v, at most %d bytes resident", backend, of, most)
		}
		if further > 0 {
			t.Errorf("%s: %d passes that look for a median where a sample has said where it is", backend, further)
		}
		if made = g.Context.Created() - made; made > 4*len(of.Parts[0].Visits) { // of four sweeps, each of two columns and more
			t.Errorf("%s: %d objects made in %d visits", backend, made, len(of.Parts[0].Visits))
		}
		if now := g.Context.Live(); !maps.Equal(now, live) {
			t.Errorf("%s: objects %v, before %v", backend, now, live)
		}
	}
}

// Of two devices the one that has all rows of a table finds its order statistics by itself. It also does where it visits them window
// after window.
func TestOneOfTwoDevicesStreams(t *testing.T) {
	tab := chunked(t, 900)
	alone := open(t, Options{Backend: "cpu"})
	if err := alone.Add(tab); err != nil {
		t.Fatal(err)
	}
	const text = "SELECT COUNT(*), kth_largest(i, 5), kth_smallest(i, 40), MEDIAN(i) FROM t WHERE x < 70"
	want := answerText(alone, text)
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := streamed(t, backend, 128, Options{Device: "0,1"})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		if got := answerText(db, text); got != want {
			t.Errorf("%s: %s, cpu has %s", backend, got, want)
		}
		if x, err := db.Explain(context.Background(), text, ExplainOptions{}); err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"), "Stream(windows 8 of 128 rows") {
			t.Errorf("%s: no windows, %v: %v", backend, err, x.Lines())
		}
	}
}

// Steps of several visits are added up, also where a pass counts in some of them alone.
func TestStepsOfVisitsAreAddedUp(t *testing.T) {
	of := func(samples ...uint64) Step {
		s := Step{Pass: "Count(a >= 5)", MS: new(float64(2))}
		for _, n := range samples {
			s.Samples = &n
		}
		return s
	}
	list := backends.Added([]Step{of(), of(3), {Pass: "Merge", MS: new(float64(1))}, of(4), of()})
	if len(list) != 2 || *list[0].MS != 8 || *list[0].Samples != 7 || list[1].Samples != nil {
		t.Errorf("%+v", list)
	}
}

// A window of which no row can be selected, or that has fewer rows than k, takes its part of a k-th value. EXPLAIN says how.
func TestKthValueOfFewWindows(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "w", Type: table.Type{Kind: table.BigInt}}}, 150_000)
	for row := range 400_000 {
		b.Column(0).Value(table.Int(int64(row)))
		b.Column(1).Value(table.Int(int64(uint64(row) * 0x9e3779b97f4a7c15)))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	cpu := open(t, Options{Backend: "cpu"})
	if err := cpu.Add(tab); err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := open(t, Options{Backend: backend, GPUMemory: 1 << 20})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"SELECT kth_smallest(w, 2), MEDIAN(w) FROM t WHERE a BETWEEN 200000 AND 202000", "SELECT kth_largest(w, 300000) FROM t WHERE a > 5"} {
			got, want := inWords(Collect(db.Query(context.Background(), text))), inWords(Collect(cpu.Query(context.Background(), text)))
			if got != want {
				t.Errorf("%s: %s: %s, cpu has %s", backend, text, got, want)
			}
			if x, err := db.Explain(context.Background(), text, ExplainOptions{}); err != nil || !strings.Contains(fmt.Sprint(x.Lines()), "Stream(windows") {
				t.Errorf("%s: EXPLAIN %s: no windows, %v", backend, text, err)
			}
		}
	}
}
