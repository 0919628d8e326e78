package relational

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cpu/window"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// windowFields are the columns of tables for tests of windows.
var windowFields = []table.Field{
	{Name: "few", Type: table.Type{Kind: table.Integer}},
	{Name: "some", Type: table.Type{Kind: table.BigInt}},
	{Name: "far", Type: table.Type{Kind: table.BigInt}}, // from chunk to chunk
	{Name: "wide", Type: table.Type{Kind: table.BigInt}},
	{Name: "price", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
	{Name: "word", Type: table.Type{Kind: table.Varchar}},
	{Name: "yes", Type: table.Type{Kind: table.Boolean}},
	{Name: "x", Type: table.Type{Kind: table.Double}},
}

// windowTable has one row in so many NULL in each column; 0 for none.
func windowTable(rows, chunk, nulls int, rng *rand.Rand) *table.Table {
	b := table.NewBuilder("t", windowFields, chunk)
	for i := range rows {
		for k := range windowFields {
			c := b.Column(k)
			if nulls > 0 && rng.IntN(nulls) == 0 {
				c.Null()
				continue
			}
			switch windowFields[k].Name {
			case "few":
				c.Int(rng.Int64N(4) - 1)
			case "some":
				c.Int(rng.Int64N(500) - 100)
			case "far":
				c.Int(rng.Int64N(50) + 1000*int64(i/max(1, chunk)))
			case "wide":
				c.Int(rng.Int64N(1<<45) - 1<<40)
			case "price":
				c.Int(rng.Int64N(1 << 31))
			case "word":
				c.String(fmt.Sprint("w", rng.IntN(30)+i/max(1, chunk)))
			case "yes":
				c.Int(rng.Int64N(2))
			case "x":
				c.Float(float64(rng.IntN(9)) / 4)
			}
		}
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

// column is a column of [windowFields].
func windowCol(name string) *expr.Column {
	for i, f := range windowFields {
		if f.Name == name {
			return &expr.Column{Index: i, Name: name, T: f.Type}
		}
	}
	panic(name)
}

func integerConst(n int64) *expr.Const { return &expr.Const{V: table.Int(n), P: -1} }

// drawWindow draws a function.
func drawWindow(t *rapid.T) *expr.Window {
	some := func(n int) bool { return rapid.IntRange(0, 9).Draw(t, "chance") < n }
	col := func(names ...string) *expr.Column { return windowCol(rapid.SampledFrom(names).Draw(t, "column")) }
	any := func() *expr.Column { return col("few", "some", "far", "wide", "price", "word", "yes", "x") }
	f := &expr.Window{Frame: expr.DefaultFrame}
	for some(4) && len(f.Partition) < 2 {
		f.Partition = append(f.Partition, col("few", "far", "word", "yes", "wide"))
	}
	for some(6) && len(f.Order) < 3 {
		f.Order = append(f.Order, expr.SortKey{E: any(), Desc: some(5), NullsFirst: some(5)})
	}
	if some(6) {
		f.Frame.Mode = rapid.SampledFrom([]expr.FrameMode{expr.FrameRows, expr.FrameGroups, expr.FrameRange}).Draw(t, "mode")
		bound := func(what string, from, to int) expr.Bound {
			b := expr.Bound{Kind: expr.BoundKind(rapid.IntRange(from, to).Draw(t, what))}
			if f.Frame.Mode == expr.FrameRange && (b.Kind == expr.Preceding || b.Kind == expr.Following) {
				b.Kind = expr.CurrentRow
			}
			if b.Kind == expr.Preceding || b.Kind == expr.Following {
				b.Offset = integerConst(rapid.SampledFrom([]int64{0, 1, 2, 7, 300, 1 << 40}).Draw(t, "offset"))
			}
			return b
		}
		f.Frame.Start = bound("start", 0, 3)
		f.Frame.End = bound("end", max(1, int(f.Frame.Start.Kind)), 4)
	}
	switch f.Kind = expr.WindowKind(rapid.IntRange(0, int(expr.OfAggregate)+3).Draw(t, "function")); f.Kind {
	case expr.RowNumber, expr.Rank, expr.DenseRank:
		f.T = table.Type{Kind: table.BigInt}
	case expr.PercentRank, expr.CumeDist:
		f.T = table.Type{Kind: table.Double}
	case expr.Ntile:
		f.T, f.Args = table.Type{Kind: table.Integer}, []expr.Expr{integerConst(rapid.SampledFrom([]int64{1, 2, 3, 100, 1 << 40}).Draw(t, "n"))}
	case expr.Lag, expr.Lead:
		x := any()
		f.T, f.Args = x.T, []expr.Expr{x}
		if some(5) {
			f.Args = append(f.Args, integerConst(rapid.SampledFrom([]int64{0, 1, 2, -3, 400, 1 << 40, -1 << 40}).Draw(t, "n")))
		}
	case expr.FirstValue, expr.LastValue:
		x := any()
		f.T, f.Args = x.T, []expr.Expr{x}
	case expr.NthValue:
		x := any()
		f.T, f.Args = x.T, []expr.Expr{x, integerConst(rapid.SampledFrom([]int64{1, 2, 5, 1 << 40}).Draw(t, "n"))}
	default:
		f.Kind = expr.OfAggregate
		of := func(kind expr.AggKind, x *expr.Column) {
			f.Agg = expr.Aggregate{Kind: kind, Col: -1, P: -1}
			if x != nil {
				f.Agg.Col, f.Agg.Name, f.Agg.Arg = x.Index, x.Name, x.T
			}
			f.T = f.Agg.Type()
		}
		switch rapid.IntRange(0, 5).Draw(t, "aggregate") {
		case 0:
			of(expr.CountAll, nil)
		case 1:
			of(expr.Count, any())
		case 2:
			of(expr.Sum, col("few", "some", "far", "wide", "price"))
		case 3:
			of(expr.Avg, col("few", "some", "far", "wide", "price"))
		case 4:
			of(rapid.SampledFrom([]expr.AggKind{expr.Min, expr.Max, expr.AnyValue}).Draw(t, "extreme"), col("few", "some", "far", "wide", "price", "word", "x"))
		default:
			of(rapid.SampledFrom([]expr.AggKind{expr.BoolAnd, expr.BoolOr}).Draw(t, "extreme"), col("yes"))
		}
		if some(3) {
			f.Agg.Filter = windowCol("yes")
		}
	}
	return f
}

// Window functions give what cpu gives of them, on every kind of device, in tables of chunks with code spaces of their own.
func TestWindowIsThatOfCPU(t *testing.T) {
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		all := compute.Variants(gl.Caps())
		compared, declined := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			rows := rapid.SampledFrom([]int{0, 1, 2, 31, 300, 1000, 9000}).Draw(t, "rows")
			rng := rand.New(rand.NewPCG(uint64(rapid.IntRange(0, 1000).Draw(t, "seed")), 1))
			tab := windowTable(rows, rapid.SampledFrom([]int{0, 250, 4000}).Draw(t, "chunk"), rapid.SampledFrom([]int{0, 1, 2, 5}).Draw(t, "nulls"), rng)
			n := &plan.Window{Input: &plan.Scan{Table: "t", Columns: windowFields}}
			device := rapid.SampledFrom([]string{"own", "own", "other kind", "short windows"}).Draw(t, "device")
			for range rapid.IntRange(1, 3).Draw(t, "functions") {
				f := drawWindow(t)
				if len(n.Funcs) > 0 && rapid.Bool().Draw(t, "the same window") {
					f.Partition, f.Order = n.Funcs[0].Partition, n.Funcs[0].Order
				}
				n.Funcs = append(n.Funcs, f)
			}
			if sameAsCPU(t, g, all[device], tab, n) {
				compared++
			} else {
				declined++
			}
		})
		t.Logf("%d compared, %d declined", compared, declined)
	})
}

// sameAsCPU compares windows with those of cpu; it reports false where they are declined.
func sameAsCPU(t rapid.TB, g *pass.GL, d compute.Profile, tab *table.Table, n *plan.Window) bool {
	t.Helper()
	got, err := Window(g, d, tab, n)
	g.End()
	if plan.IsDeclined(err) {
		return false
	}
	if err != nil {
		t.Fatalf("%s: %v", n, err)
	}
	want, err := window.Compute(context.Background(), tab, n)
	if err != nil {
		t.Fatalf("%s: cpu: %v", n, err)
	}
	for i, c := range want.Chunks {
		for k, s := range c.Segments {
			have := got.Chunks[i].Segments[k]
			for r := range c.Rows {
				if a, b := have.Value(r), s.Value(r); a.String() != b.String() || a.Null != b.Null {
					t.Fatalf("%s: row %d of chunk %d, column %d is %v, want %v", n, r, i, k, a, b)
				}
				if !have.IsNull(r) && have.Codes.At(r) > have.Max || have.IsNull(r) && have.Codes.At(r) != 0 {
					t.Fatalf("%s: code %d of at most %d", n, have.Codes.At(r), have.Max)
				}
			}
		}
	}
	return true
}

// A word of the first function goes with the keys. Other functions over the same rows read theirs, or the same one.
func TestWordsThatGoWithTheKeys(t *testing.T) {
	gltest.Run(t, 0, func(gl *glctx.Context, g *pass.GL) {
		d := compute.Variants(gl.Caps())["short windows"]
		tab := windowTable(d.Primitives.Reach+500, 4000, 0, rand.New(rand.NewPCG(3, 4)))
		sum := func(name string, filter expr.Expr) *expr.Window {
			a := expr.Aggregate{Kind: expr.Sum, Col: windowCol(name).Index, Name: name, Arg: windowCol(name).T, Filter: filter}
			return &expr.Window{Kind: expr.OfAggregate, Agg: a, T: a.Type(), Partition: []expr.Expr{windowCol("word")}, Order: []expr.SortKey{{E: windowCol("far")}}, Frame: expr.DefaultFrame}
		}
		for _, list := range [][]*expr.Window{
			{sum("few", nil), sum("some", nil), sum("few", windowCol("yes")), sum("few", nil)},
			{sum("few", windowCol("yes")), sum("wide", nil), sum("few", nil)},
			{sum("wide", nil), sum("wide", windowCol("yes")), sum("some", nil)},
		} {
			if !sameAsCPU(t, g, d, tab, &plan.Window{Input: &plan.Scan{Table: "t", Columns: windowFields}, Funcs: list}) {
				t.Errorf("%s is declined", list)
			}
		}
	})
}
