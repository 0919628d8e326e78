package cost

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// line is a curve of fixed seconds and so many a row.
func line(bits int, fixed, row float64) Curve {
	return NewCurve(bits, []Point{{1000, fixed}, {1_000_000, fixed + row*999_000}})
}

// device and host are backends of round figures. A pass takes 20 µs and 10 ps a row on the device,
// whose columns arrive at 1 GB/s. The host takes 1 ns a row.
func device() Backend {
	b := Backend{Overhead: 10e-6, Again: 0.5, Upload: Transfer{T0: 1e-3, Band: 1e9}, Costs: map[Class]Curves{}}
	for _, c := range []Class{Compare, Range, Conjunct, Members, Semilinear, Program, Sum, SumOf, Kth, KthOf, Extreme, ExtremeOf, Extremes, ExtremesOf} {
		b.Costs[c] = Curves{line(8, 20e-6, 10e-12), line(40, 20e-6, 50e-12)}
	}
	return b
}

func host() Backend {
	b := device()
	b.Overhead, b.Upload, b.Swept = 1e-6, Transfer{}, true
	for c := range b.Costs {
		b.Costs[c] = Curves{line(8, 1e-6, 1e-9), line(64, 1e-6, 2e-9)}
	}
	return b
}

// work is that of a query over a table t, in chunks of so many rows. The table has one column i of 16
// bits and one x of DOUBLE.
func work(t testing.TB, text string, rows ...int) *Work {
	t.Helper()
	tab := &table.Table{Name: "t", Fields: []table.Field{{Name: "i", Type: table.Type{Kind: table.BigInt}}, {Name: "x", Type: table.Type{Kind: table.Double}}}}
	for _, n := range rows {
		tab.Chunks = append(tab.Chunks, &table.Chunk{Rows: n, Segments: []*table.Segment{
			{Type: tab.Fields[0].Type, Base: table.OrdinalInt(0), Max: 65535, Bits: 16, Codes: table.Codes{U16: make([]uint16, n)}},
			{Type: tab.Fields[1].Type, Base: table.OrdinalFloat64(0), Max: table.OrdinalFloat64(1) - table.OrdinalFloat64(0), Bits: 62, Codes: table.Codes{U64: make([]uint64, n)}},
		}})
	}
	p, err := sql.Plan(tab, text)
	if err != nil {
		t.Fatal(err)
	}
	return Of(p)
}

func classes(list []Item) []Class {
	var out []Class
	for _, x := range list {
		out = append(out, x.Class)
	}
	return out
}

func TestWorkOfAQuery(t *testing.T) {
	for _, c := range []struct {
		text   string
		leaves []Class
		aggs   []Class
	}{
		{"SELECT COUNT(*), COUNT(i), selectivity() FROM t", nil, nil},
		{"SELECT COUNT(*) FROM t WHERE i < 5 AND (i BETWEEN 7 AND 90 OR x > 0.5)", []Class{Compare, Range, Compare}, nil},
		{"SELECT COUNT(*) FROM t WHERE i IN (1, 4, 9, 16, 25, 36)", []Class{Members}, nil},
		{"SELECT COUNT(*) FROM t WHERE i * x > 3", []Class{Program}, nil},
		{"SELECT SUM(i), AVG(i), MIN(i), MAX(i), MIN(x), MIN(x) FROM t", nil, []Class{Sum, Extremes, Extreme}},
		{"SELECT SUM(x), MEDIAN(i), kth_largest(i, 3), MAX(x) FROM t WHERE i < 5", []Class{Compare}, []Class{FloatSumOf, KthOf, KthOf, ExtremeOf}},
		{"SELECT SUM(i) FROM t WHERE i < 0", nil, nil},
		{"SELECT SUM(i) FROM t WHERE i >= 0", nil, []Class{Sum}},
		{"SELECT i % 7, COUNT(*), SUM(i) FROM t WHERE x > 0.5 GROUP BY i % 7", []Class{Compare}, []Class{Groups}},
		{"SELECT i, SUM(x) FROM t GROUP BY i", nil, nil}, // cpu's, from the rows
		{"SELECT x FROM t WHERE i < 5 ORDER BY i, x DESC", []Class{Compare}, []Class{Sort}},
		{"SELECT x FROM t ORDER BY x + 1", nil, []Class{Sort}},
		{"SELECT x FROM t ORDER BY i % 7, CASE WHEN i > 3 THEN x END", nil, nil}, // cpu's
		{"SELECT x, COUNT(*) FROM t GROUP BY x", nil, []Class{ManyGroups}},
	} {
		w := work(t, c.text, 10)
		if got := w.Chunks[0]; !slices.Equal(classes(got.Leaves), c.leaves) || !slices.Equal(classes(got.Aggs), c.aggs) {
			t.Errorf("%s: leaves %v, aggregates %v", c.text, classes(got.Leaves), classes(got.Aggs))
		}
	}
}

func TestColumnsAreTransferredOnce(t *testing.T) {
	d := device()
	w := work(t, "SELECT SUM(i), MEDIAN(i) FROM t WHERE i < 5 AND i > 2 OR i = 100", 1_000_000)
	var all, none, there Prediction
	d.Lack(&all, w, func(Column) bool { return false })
	if want := 1e-3 + 2e6/1e9; len(all.Missing) != 1 || math.Abs(all.Transfer-want) > 1e-9 || all.Bytes != 2e6 {
		t.Errorf("%d columns in %v s, want one in %v", len(all.Missing), all.Transfer, want)
	}
	if d.Lack(&none, w, func(Column) bool { return true }); none.Transfer != 0 || none.Missing != nil {
		t.Errorf("%v s for what is there", none.Transfer)
	}
	h := host()
	if h.Lack(&there, w, func(Column) bool { return false }); there.Transfer != 0 || there.Missing != nil {
		t.Errorf("the host transfers %v in %v s", there.Missing, there.Transfer)
	}
}

// The figures of one query, by hand.
func TestRun(t *testing.T) {
	d, h := device(), host()
	w := work(t, "SELECT SUM(i) FROM t WHERE i < 5", 1_000_000)
	perRow := 10e-12 + (50e-12-10e-12)*(16-8)/(40-8)
	want := 10e-6 + 20e-6 + 0.5*20e-6 + 2*999_000*perRow
	if got := d.Run(w); math.Abs(got-want) > 1e-9 {
		t.Errorf("the device takes %v, want %v", got, want)
	}
	// Two bytes lie between one and eight.
	perRow = 1e-9 + 1e-9/7
	if got, want := h.Run(w), 1e-6+1.5e-6+2*999_000*perRow; math.Abs(got-want) > 1e-9 {
		t.Errorf("the host takes %v, want %v", got, want)
	}
	if got := d.Run(work(t, "SELECT SUM(x) FROM t", 10)); !math.IsInf(got, 1) {
		t.Errorf("a float sum without costs takes %v", got)
	}
}

// What a wide column costs with a selection follows from what it costs without.
func TestWidthOfASelectedAggregate(t *testing.T) {
	d := device()
	d.Costs[SumOf] = Curves{line(8, 20e-6, 30e-12)}
	narrow, _ := d.item(Item{Class: SumOf, Bits: 8, Scale: 1}, 1_000_000)
	wide, _ := d.item(Item{Class: SumOf, Bits: 40, Scale: 1}, 1_000_000)
	if math.Abs(wide.growth/narrow.growth-5) > 1e-9 {
		t.Errorf("%v and %v", narrow, wide)
	}
}

// More rows never take less, and nothing is predicted to read faster than memory.
func TestPredictionsGrowWithTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := device()
		b.Swept = rapid.Bool().Draw(t, "swept")
		var points []Point
		for i, n := 0, 1; i < rapid.IntRange(1, 5).Draw(t, "points"); i++ {
			n += rapid.IntRange(1, 1_000_000).Draw(t, "rows")
			points = append(points, Point{n, rapid.Float64Range(0, 1).Draw(t, "seconds")})
		}
		b.Costs[Compare] = Curves{NewCurve(8, points), NewCurve(40, points)}
		b.Memory = rapid.Float64Range(0, 1e9).Draw(t, "memory")
		x := Item{Class: Compare, Bits: rapid.IntRange(1, 64).Draw(t, "bits"), Bytes: 4, Scale: 1}
		n := rapid.IntRange(1, 10_000_000).Draw(t, "n")
		more := n + rapid.IntRange(0, 10_000_000).Draw(t, "more")
		p, ok := b.item(x, n)
		q, ok2 := b.item(x, more)
		if !ok || !ok2 || q.fixed+q.growth < p.fixed+p.growth || p.growth < 0 {
			t.Fatalf("%d rows take %v, %d take %v", n, p, more, q)
		}
		if b.Memory > 0 && q.growth < b.bytes(x, more)/b.Memory*(1-1e-9) {
			t.Fatalf("%v for %v bytes", q, b.bytes(x, more))
		}
	})
}

// Every query that can be planned has a prediction.
func TestEveryQueryHasAPrediction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := plantest.Table(t, plantest.Default())
		q := plantest.Query(t, tab, plantest.Default())
		p, err := physical.NewQuery(tab, q)
		if err != nil {
			return
		}
		w := Of(p)
		d := device()
		d.Costs[FloatSum], d.Costs[FloatSumOf] = d.Costs[Sum], d.Costs[SumOf]
		if got := d.Run(w); !(got >= d.Overhead) || math.IsInf(got, 0) {
			t.Fatalf("%v for %+v", got, w)
		}
		seen := map[Column]bool{}
		for _, c := range w.Columns {
			if seen[c] || c.Chunk.Segments[c.Col] == nil {
				t.Fatalf("column %d is listed twice, or is none", c.Col)
			}
			seen[c] = true
		}
	})
}

// A further chunk costs a part of the overhead again; the host sweeps over them all.
func TestChunks(t *testing.T) {
	d, h := device(), host()
	const text = "SELECT COUNT(*) FROM t WHERE i < 5"
	one, four := work(t, text, 40_000), work(t, text, 10_000, 10_000, 10_000, 10_000)
	if a, b := d.Run(one), d.Run(four); b-a < 3*0.5*20e-6*0.9 || b-a > 3*0.5*20e-6*1.1 {
		t.Errorf("one chunk %v, four %v", a, b)
	}
	if a, b := h.Run(one), h.Run(four); math.Abs(b-a-3*0.5e-6) > 1e-7 {
		t.Errorf("one chunk %v, four %v", a, b)
	}
}

func TestFits(t *testing.T) {
	if got := FitTransfer([2]float64{4000, 4_000_000}, [2]float64{0.001 + 4000/1e9, 0.001 + 4_000_000/1e9}); math.Abs(got.T0-0.001) > 1e-9 || math.Abs(got.Band-1e9) > 1 {
		t.Errorf("%+v", got)
	}
	if got := FitTransfer([2]float64{1, 2}, [2]float64{3, 1}); got.T0 < 0 || got.Band <= 0 {
		t.Errorf("a clock that jumps gives %+v", got)
	}
	b := device()
	b.FitAgain(b.Overhead+20e-6+15*5e-6, 16)
	if math.Abs(b.Again-0.25) > 1e-9 {
		t.Errorf("again %v", b.Again)
	}
	b.FitMemory()
	if want := 5.0 / 50e-12; b.Memory < 0.9*1/10e-12 || b.Memory > 1.1*want {
		t.Errorf("memory %v", b.Memory)
	}
}

func TestTheCheapestIsFirst(t *testing.T) {
	list := []Prediction{
		{Backend: "a", Run: 5}, {Backend: "none", Run: math.Inf(1)},
		{Backend: "b", Run: 1, Share: 9}, {Backend: "c", Run: 4}, {Backend: "d", Run: 2, Share: 1},
	}
	Cheapest(list)
	var got []string
	for _, p := range list {
		got = append(got, p.Backend)
	}
	if !slices.Equal(got, []string{"d", "c", "a", "b", "none"}) {
		t.Errorf("%v", got)
	}
}

// On a device without costs nobody asks for more than a table's size. A small table stays on the host.
// A large one goes to the device, once its columns are there.
func TestDecisions(t *testing.T) {
	d, h := device(), host()
	const text = "SELECT COUNT(*) FROM t WHERE i < 5"
	for _, c := range []struct {
		rows     int
		resident bool
		device   bool
	}{{10, true, false}, {10_000, true, false}, {1_000_000, true, true}, {1_000_000, false, false}} {
		w := work(t, text, c.rows)
		var p Prediction
		d.Lack(&p, w, func(Column) bool { return c.resident })
		if got := d.Run(w)+p.Transfer < h.Run(w); got != c.device {
			t.Errorf("%+v: device %v in %v s, host in %v s", c, got, d.Run(w)+p.Transfer, h.Run(w))
		}
	}
}

// A condition of many predicates is compiled longer, one of few has its program.
func TestCompiling(t *testing.T) {
	d := device()
	d.Compile = 1e-3
	text := func(n int) string {
		s := "SELECT COUNT(*) FROM t WHERE i * x > 0"
		for i := range n - 1 {
			s += fmt.Sprintf(" OR i * x > %d", i+1)
		}
		return s
	}
	for n, want := range map[int]float64{1: 0, ordinary: 0, 116: 0.1} {
		if got := d.Compiling(work(t, text(n), 10)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d predicates are compiled in %v s, want %v", n, got, want)
		}
	}
}

// TestJoinsThatTheH200Takes goes by the built-in costs of hardware. Counting the pairs of large tables is for compute,
// and small joins are for cpu. Where all pairs are listed in host memory, most of the gain is gone.
func TestJoinsThatTheH200Takes(t *testing.T) {
	p, err := Default(false, 16)
	if err != nil {
		t.Fatal(err)
	}
	host, device := p.Backends["cpu"], p.Backends["compute"]
	column := func(rows int, most uint64) *physical.Query {
		typ := table.Type{Kind: table.Integer}
		s := &table.Segment{Type: typ, Max: most, Bits: bits.Len64(most), Codes: table.Codes{U32: make([]uint32, rows)}}
		return &physical.Query{Table: &table.Table{Name: "t", Fields: []table.Field{{Name: "k", Type: typ}}, Chunks: []*table.Chunk{{Rows: rows, Segments: []*table.Segment{s}}}},
			Chunks: []physical.ChunkPlan{{Pred: &predicate.Pred{Op: predicate.True}}}}
	}
	gain := func(rows int, most, wanted uint64) float64 {
		w := OfPairs(&physical.JoinQuery{Keys: []physical.JoinKey{{&expr.Column{}, &expr.Column{}}}, Sides: [2]*physical.Query{column(rows, most), column(rows, most)}, Limit: wanted})
		if len(w.Columns) != 2 || !w.Columns[0].Values {
			t.Errorf("columns %+v", w.Columns)
		}
		return host.Run(w) / device.Run(w)
	}
	for _, c := range []struct {
		name   string
		rows   int
		max    uint64
		wanted uint64
		lo, hi float64 // of cpu's time beside compute's
	}{
		{"small", 10_000, 1<<31 - 1, 0, 0, 0.5},
		{"large", 16_000_000, 1<<31 - 1, 0, 20, 100},
		{"large and dense", 16_000_000, 1<<24 - 1, 0, 15, 100},
		{"listed", 16_000_000, 1<<31 - 1, 1 << 31, 1, 10},
	} {
		if got := gain(c.rows, c.max, c.wanted); got < c.lo || got > c.hi {
			t.Errorf("%s: cpu takes %.2f times what compute does", c.name, got)
		}
	}
	if small := p.Backends["fused"]; !math.IsInf(small.Run(OfPairs(&physical.JoinQuery{Keys: []physical.JoinKey{{&expr.Column{}, &expr.Column{}}}, Sides: [2]*physical.Query{column(9, 9), column(9, 9)}})), 1) {
		t.Error("fused joins")
	}
	sparse, dense := OfPairs(&physical.JoinQuery{Keys: []physical.JoinKey{{&expr.Column{}, &expr.Column{}}}, Sides: [2]*physical.Query{column(1<<20, 1<<30), column(9, 9)}}), OfPairs(&physical.JoinQuery{Keys: []physical.JoinKey{{&expr.Column{}, &expr.Column{}}}, Sides: [2]*physical.Query{column(1<<20, 1<<22), column(9, 9)}})
	if s, d := sparse.Chunks[0].Aggs[0].Scale, dense.Chunks[0].Aggs[0].Scale; s != 1 || d != denseJoin {
		t.Errorf("scales %v, %v", s, d)
	}
}

// LIKE over many texts reads their bytes beside the codes, and takes longer the longer they are.
func TestLikeOverManyTextsReadsTheirBytes(t *testing.T) {
	scale := func(length int) float64 {
		b := table.NewBuilder("t", []table.Field{{Name: "s", Type: table.Type{Kind: table.Varchar}}}, 0)
		const rows = 40_000
		for i := range rows {
			b.Column(0).String(fmt.Sprintf("%0*d", length, i))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		like := &expr.Like{X: &expr.Column{Name: "s", T: table.Type{Kind: table.Varchar}}, Pattern: "%1%2%"}
		q, err := physical.NewQuery(b.Table(), &plan.Fragment{Where: like})
		if err != nil {
			t.Fatal(err)
		}
		w := Of(q)
		i := slices.IndexFunc(w.Columns, func(c Column) bool { return c.Texts })
		if i < 0 || w.Columns[i].Bytes < rows*int64(length) || w.Columns[i].Bytes > rows*int64(length+8) {
			t.Fatalf("texts of %d bytes are not among what is read: %v", length, w.Columns)
		}
		return w.Chunks[0].Leaves[0].Scale
	}
	if short, long := scale(8), scale(80); long <= short {
		t.Errorf("texts of 80 bytes take %g, of 8 bytes %g", long, short)
	}
}
