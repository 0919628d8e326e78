package cpu

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"pgregory.net/rapid"
)

// edges are values around every boundary of each type that a column can have.
var edges = []struct {
	t      table.Type
	ints   []int64
	floats []float64
	strs   []string
}{
	{t: table.Type{Kind: table.Boolean}, ints: []int64{0, 1}},
	{t: table.Type{Kind: table.SmallInt}, ints: []int64{math.MinInt16, -1, 0, 1, 127, 128, 255, 256, math.MaxInt16}},
	{t: table.Type{Kind: table.Integer}, ints: []int64{math.MinInt32, -1, 0, 1, 1<<24 - 1, 1 << 24, 1<<24 + 1, math.MaxInt32}},
	{t: table.Type{Kind: table.BigInt}, ints: []int64{math.MinInt64, -1 << 48, -1, 0, 1, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}},
	{t: table.Type{Kind: table.BigInt}, ints: []int64{1000, 1001, 1007, 1255, 1256}},
	{t: table.Type{Kind: table.Decimal, Precision: 18, Scale: 4}, ints: []int64{-999_999_999_999_999_999, -1, 0, 1, 33_333, 999_999_999_999_999_999}},
	{t: table.Type{Kind: table.Date}, ints: []int64{-719_162, 0, 1, 20_000}},
	{t: table.Type{Kind: table.Timestamp}, ints: []int64{-1, 0, 1, 1_700_000_000_000_000}},
	{t: table.Type{Kind: table.Real}, floats: []float64{0, math.Copysign(0, -1), 1, -1.5, math.SmallestNonzeroFloat32, 1 << 24, 3e7}},
	{t: table.Type{Kind: table.Real}, floats: []float64{math.MaxFloat32, -math.MaxFloat32, 1}},
	{t: table.Type{Kind: table.Real}, floats: []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1}},
	{t: table.Type{Kind: table.Double}, floats: []float64{0, math.Copysign(0, -1), 1, -1e16, 1e16, 0x1p-53, math.SmallestNonzeroFloat64}},
	{t: table.Type{Kind: table.Double}, floats: []float64{math.MaxFloat64, -math.MaxFloat64, 1e-300}},
	{t: table.Type{Kind: table.Double}, floats: []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1}},
	{t: table.Type{Kind: table.Varchar}, strs: []string{"", "a", "ab", "b", "B", "é", "zz"}},
}

// edgeTable fills a table of one column for each of edges, and a column of row
// numbers, from seed. Each chunk uses another part of each column's values, so
// that chunks differ in minimum, width and dictionary.
func edgeTable(t interface{ Fatal(...any) }, seed uint64, rows, chunkRows int, nulls float64) *table.Table {
	var fields []table.Field
	for _, e := range edges {
		fields = append(fields, table.Field{Name: e.t.String(), Type: e.t})
	}
	id := len(fields)
	fields = append(fields, table.Field{Name: "id", Type: table.Type{Kind: table.BigInt}})
	b := table.NewBuilder("t", fields, chunkRows)
	rng := rand.New(rand.NewPCG(seed, 0))
	var first, some [32]int
	for row := range rows {
		for i, e := range edges {
			n := max(len(e.ints), len(e.floats), len(e.strs))
			if row%chunkRows == 0 {
				first[i], some[i] = rng.IntN(n), 1+rng.IntN(n)
			}
			switch k := (first[i] + rng.IntN(some[i])) % n; {
			case rng.Float64() < nulls:
				b.Column(i).Null()
			case e.ints != nil:
				b.Column(i).Int(e.ints[k])
			case e.floats != nil:
				b.Column(i).Float(e.floats[k])
			default:
				b.Column(i).String(e.strs[k])
			}
		}
		b.Column(id).Int(int64(row))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	return tab
}

// planByRow lowers a WHERE without package lower's help. It evaluates the expression for every row,
// and selects the rows by their number in the last column. Rows that raise an error are selected
// likewise.
func planByRow(t *table.Table, q *plan.Fragment) *physical.Query {
	out := &physical.Query{Table: t, Where: q.Where, Aggs: q.Aggs}
	id := len(t.Fields) - 1
	for _, c := range t.Chunks {
		rows, bad := &predicate.Members{Col: id}, &predicate.Members{Col: id}
		cp := physical.ChunkPlan{Pred: leafPred(rows)}
		for row := range c.Rows {
			at := predicate.Span{Lo: uint64(row), Hi: uint64(row)}
			if q.Where == nil {
				rows.Spans = append(rows.Spans, at)
				continue
			}
			v, err := expr.Eval(q.Where, &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }})
			if err != nil {
				bad.Spans = append(bad.Spans, at)
				cp.Checks = []predicate.Check{{Pred: leafPred(bad), Err: err}}
			} else if !v.Null && v.I != 0 {
				rows.Spans = append(rows.Spans, at)
			}
		}
		out.Chunks = append(out.Chunks, cp)
	}
	return out
}

func Column(t *table.Table, i int) *expr.Column {
	return &expr.Column{Index: i, Name: t.Fields[i].Name, T: t.Fields[i].Type}
}

// everyAggregate lists the aggregates that make sense for each column.
func everyAggregate(t *table.Table, k int64, f float64) []expr.Aggregate {
	aggs := []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, {Kind: expr.Selectivity, Col: -1}}
	for i, fd := range t.Fields {
		add := func(a expr.Aggregate) {
			a.Col, a.Name, a.Arg = i, fd.Name, fd.Type
			aggs = append(aggs, a)
		}
		for _, kind := range []expr.AggKind{expr.Count, expr.Min, expr.Max} {
			add(expr.Aggregate{Kind: kind})
		}
		if fd.Type.IsNumeric() {
			add(expr.Aggregate{Kind: expr.Sum})
			add(expr.Aggregate{Kind: expr.Avg})
		}
		add(expr.Aggregate{Kind: expr.Percentile, F: f})
		add(expr.Aggregate{Kind: expr.Percentile, F: f, Desc: true})
		add(expr.Aggregate{Kind: expr.Percentile, Null: true})
		add(expr.Aggregate{Kind: expr.KthLargest, K: k})
		add(expr.Aggregate{Kind: expr.KthSmallest, K: k})
		add(expr.Aggregate{Kind: expr.KthSmallest, Null: true})
	}
	return aggs
}

// sameValue says whether two results are one: same type, and the same to the bit.
func sameValue(a, b table.Value) bool {
	if a.Type != b.Type || a.Null != b.Null {
		return false
	}
	if a.Null {
		return true
	}
	return (math.Float64bits(a.F) == math.Float64bits(b.F) || a.F != a.F && b.F != b.F) && a.S == b.S && a.Unscaled().Cmp(b.Unscaled()) == 0
}

// checkAgainstScalar runs each aggregate alone through both forms, then those
// that have a value together.
func checkAgainstScalar(t interface {
	Errorf(string, ...any)
}, tab *table.Table, where expr.Expr, aggs []expr.Aggregate) {
	ctx := context.Background()
	var good []expr.Aggregate
	for _, a := range aggs {
		if compareForms(ctx, t, tab, &plan.Fragment{Where: where, Aggs: []expr.Aggregate{a}}) {
			good = append(good, a)
		}
	}
	compareForms(ctx, t, tab, &plan.Fragment{Where: where, Aggs: good})
}

// execute answers q with every set of kernels, which must agree.
func execute(ctx context.Context, t interface{ Errorf(string, ...any) }, workers int, q *physical.Query) ([]table.Value, error) {
	got, err := New(workers).Execute(ctx, q)
	plain, plainErr := New(workers, WithoutSIMD).Execute(ctx, q)
	switch {
	case (err == nil) != (plainErr == nil):
		t.Errorf("error %v, without SIMD %v", err, plainErr)
	case err == nil && !slices.EqualFunc(got, plain, sameValue):
		t.Errorf("%v, without SIMD %v", got, plain)
	}
	return got, err
}

// compareForms reports whether the query has a value.
func compareForms(ctx context.Context, t interface {
	Errorf(string, ...any)
}, tab *table.Table, q *plan.Fragment) bool {
	want, wantErr := Scalar(ctx, tab, q)
	got, err := execute(ctx, t, 3, planByRow(tab, q))
	if (err != nil) != (wantErr != nil) {
		t.Errorf("%v WHERE %v: error %v, the oracle's is %v", q.Aggs, q.Where, err, wantErr)
		return false
	}
	if err != nil {
		return false
	}
	for i, a := range q.Aggs {
		if !sameValue(got[i], want[i]) {
			t.Errorf("%v WHERE %v: %v (%v), the oracle says %v (%v)", a, q.Where,
				got[i], got[i].Type, want[i], want[i].Type)
		}
	}
	return true
}

func TestAggregatesAgreeWithScalar(t *testing.T) {
	for _, rows := range []int{0, 1, 2, 7, 64, 200} {
		for _, chunkRows := range []int{1, 7, 63, 64, 65, 1000} {
			for _, nulls := range []float64{0, 0.3, 1} {
				tab := edgeTable(t, uint64(rows*chunkRows), rows, chunkRows, nulls)
				checkAgainstScalar(t, tab, nil, everyAggregate(tab, int64(1+rows/3), 0.5))
			}
		}
	}
}

func TestSelectedAggregatesAgreeWithScalar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 150).Draw(t, "rows")
		chunkRows := rapid.SampledFrom([]int{1, 7, 63, 64, 65, 1000}).Draw(t, "chunk rows")
		tab := edgeTable(t, rapid.Uint64().Draw(t, "seed"), rows, chunkRows, rapid.SampledFrom([]float64{0, 0.1, 0.9}).Draw(t, "nulls"))
		where := anyWhere(t, tab, 2)
		aggs := everyAggregate(tab, rapid.Int64Range(0, 20).Draw(t, "k"), rapid.SampledFrom([]float64{0, 0.1, 0.25, 0.5, 0.999, 1}).Draw(t, "f"))
		checkAgainstScalar(t, tab, where, aggs)
	})
}

func anyWhere(t *rapid.T, tab *table.Table, depth int) expr.Expr {
	if depth > 0 && rapid.Bool().Draw(t, "inner") {
		kids := []expr.Expr{anyWhere(t, tab, depth-1), anyWhere(t, tab, depth-1)}
		switch rapid.IntRange(0, 2).Draw(t, "junction") {
		case 0:
			return &expr.And{Kids: kids}
		case 1:
			return &expr.Or{Kids: kids}
		}
		return &expr.Not{X: kids[0]}
	}
	i := rapid.IntRange(0, len(edges)-1).Draw(t, "col")
	col, e := Column(tab, i), edges[i]
	v := table.Value{Type: e.t}
	k := rapid.IntRange(0, max(len(e.ints), len(e.floats), len(e.strs))-1).Draw(t, "const")
	switch {
	case e.ints != nil:
		v.I = e.ints[k]
	case e.floats != nil:
		v.F = e.floats[k]
	default:
		v.S = e.strs[k]
	}
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return &expr.IsNull{X: col, Not: rapid.Bool().Draw(t, "not")}
	case 1: // an error in some rows
		big := &expr.Column{Index: 3, Name: "bigint", T: edges[3].t}
		return &expr.Compare{Op: expr.LT, L: &expr.Arith{Op: expr.Div, L: &expr.Const{V: table.Int(7)}, R: big, T: edges[3].t}, R: &expr.Const{V: table.Int(1)}}
	}
	return &expr.Compare{Op: expr.CmpOp(rapid.IntRange(0, 5).Draw(t, "op")), L: col, R: &expr.Const{V: v}}
}

func TestAggregatesOverManyBlocks(t *testing.T) {
	// Past a block, over chunks that do not end with one, and with words that are
	// full, sparse and empty.
	const rows = vector.BlockRows + 77
	fields := []table.Field{
		{Name: "x", Type: table.Type{Kind: table.BigInt}},
		{Name: "f", Type: table.Type{Kind: table.Double}},
		{Name: "wide", Type: table.Type{Kind: table.BigInt}},
		{Name: "id", Type: table.Type{Kind: table.BigInt}},
	}
	b := table.NewBuilder("t", fields, vector.BlockRows+5)
	rng := rand.New(rand.NewPCG(1, 1))
	for row := range rows {
		x := rng.Int64N(1 << 19)
		if row%10007 == 0 {
			b.Column(0).Null()
		} else {
			b.Column(0).Int(x)
		}
		b.Column(1).Float(rng.NormFloat64() * math.Exp(20*rng.NormFloat64()))
		b.Column(2).Int(int64(rng.Uint64()))
		b.Column(3).Int(int64(row))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	id := Column(tab, 3)
	lit := func(i int64) expr.Expr { return &expr.Const{V: table.Int(i)} }
	mod := func(m int64) expr.Expr { return &expr.Arith{Op: expr.Mod, L: id, R: lit(m), T: id.T} }
	wheres := []expr.Expr{
		nil,
		&expr.Compare{Op: expr.LT, L: id, R: lit(-1)},
		&expr.Compare{Op: expr.EQ, L: mod(97), R: lit(0)},
		&expr.Compare{Op: expr.NE, L: mod(5), R: lit(0)},
		&expr.Between{X: id, Lo: lit(64), Hi: lit(70_000)},
	}
	for _, where := range wheres {
		var aggs []expr.Aggregate
		for i, f := range fields[:3] {
			for _, a := range []expr.Aggregate{{Kind: expr.Count}, {Kind: expr.Sum}, {Kind: expr.Avg}, {Kind: expr.Min}, {Kind: expr.Max}, {Kind: expr.Percentile, F: 0.5}} {
				a.Col, a.Name, a.Arg = i, f.Name, f.Type
				aggs = append(aggs, a)
			}
		}
		compareForms(context.Background(), t, tab, &plan.Fragment{Where: where, Aggs: aggs})
	}
}

func TestTheFirstCheckOfTheFirstChunkIsTheError(t *testing.T) {
	tab := edgeTable(t, 1, 200, 64, 0)
	id := len(tab.Fields) - 1
	first, second := errors.New("first"), errors.New("second")
	row := func(i uint64) *predicate.Pred { return leafPred(&predicate.Compare{Col: id, Op: expr.EQ, Code: i}) }
	none := &predicate.Pred{Op: predicate.False}
	q := &physical.Query{Table: tab, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}}
	for range tab.Chunks {
		q.Chunks = append(q.Chunks, physical.ChunkPlan{Pred: &predicate.Pred{Op: predicate.True}})
	}
	check := func(want error, what string) {
		t.Helper()
		if _, err := New(4).Execute(context.Background(), q); err != want {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	q.Chunks[0].Checks = []predicate.Check{{Pred: none, Err: first}}
	check(nil, "no row fails")
	q.Chunks[3].Checks = []predicate.Check{{Pred: row(0), Err: second}}
	check(second, "a row of the last chunk fails")
	q.Chunks[1].Checks = []predicate.Check{{Pred: row(63), Err: first}, {Pred: row(0), Err: second}}
	check(first, "two chunks fail, and two checks of the first of them")
}

func TestBadPlansAndTheEndOfTheContext(t *testing.T) {
	tab := edgeTable(t, 1, 10, 5, 0)
	count := []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}
	all := physical.ChunkPlan{Pred: &predicate.Pred{Op: predicate.True}}
	far := physical.ChunkPlan{Pred: leafPred(&predicate.Compare{Col: 99})}
	unusable := edgeTable(t, 1, 0, 5, 0)
	unusable.Fields[0].Unsupported = "a nested type"
	cases := []struct {
		name string
		q    *physical.Query
	}{
		{"a chunk without a plan", &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{all}, Aggs: count}},
		{"a predicate over no column", &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{all, far}, Aggs: count}},
		{"an aggregate over no column", &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{all, all}, Aggs: []expr.Aggregate{{Kind: expr.Min, Col: 99}}}},
		{"an aggregate over a column that cannot be used", &physical.Query{Table: unusable, Aggs: []expr.Aggregate{{Kind: expr.Min}}}},
	}
	for _, c := range cases {
		if _, err := New(0).Execute(context.Background(), c.q); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q := &physical.Query{Table: tab, Chunks: []physical.ChunkPlan{all, all}, Aggs: count}
	if _, err := New(0).Execute(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Scalar(ctx, tab, &plan.Fragment{Aggs: count}); !errors.Is(err, context.Canceled) {
		t.Errorf("the oracle, cancelled: %v", err)
	}
}

func TestWorkersDoNotShow(t *testing.T) {
	tab := edgeTable(t, 5, 500, 65, 0.1)
	q := planByRow(tab, &plan.Fragment{Aggs: slices.DeleteFunc(everyAggregate(tab, 3, 0.5), func(a expr.Aggregate) bool {
		return a.Kind == expr.Sum && a.Arg.IsFloat() // may overflow
	})})
	want, err := New(1).Execute(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	for workers := 2; workers < 9; workers++ {
		got, err := New(workers).Execute(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, sameValue) {
			t.Errorf("%d workers: %v, one: %v", workers, got, want)
		}
	}
}
