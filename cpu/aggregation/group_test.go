package aggregation

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// integers is a table of n rows of integers a, b, ..., in chunks.
func integers(t *testing.T, n, chunk int, of ...func(row int64) int64) *table.Table {
	t.Helper()
	var fields []table.Field
	for i := range of {
		fields = append(fields, table.Field{Name: string(rune('a' + i)), Type: table.Type{Kind: table.BigInt}})
	}
	b := table.NewBuilder("t", fields, chunk)
	for row := range int64(n) {
		for i, f := range of {
			b.Column(i).Value(table.Int(f(row)))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// whole is all rows of a table, a block a chunk.
func whole(tab *table.Table) iter.Seq2[table.Block, error] {
	return func(yield func(table.Block, error) bool) {
		for i, c := range tab.Chunks {
			if !yield(table.Block{Chunk: i, N: c.Rows}, nil) {
				return
			}
		}
	}
}

// column is a column of a table.
func column(t *table.Table, i int) *expr.Column {
	return &expr.Column{Index: i, Name: t.Fields[i].Name, T: t.Fields[i].Type}
}

// grouped runs an aggregation over all rows of a table.
func grouped(tab *table.Table, keys []expr.Expr, aggs ...expr.Aggregate) (out [][]table.Value, err error) {
	for rows, err := range InValues(Group(context.Background(), tab, &plan.Aggregate{Keys: keys, Aggs: aggs}, whole(tab))) {
		if err != nil {
			return out, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// Many groups with different values from a wide range are too many for a bit each.
func TestDistinctValuesOfManyGroups(t *testing.T) {
	const groups, each = 300, 7
	tab := integers(t, 3*groups*each, 1000, func(r int64) int64 { return r % groups }, func(r int64) int64 { return r % (groups * each) * 104_729 % (1 << 20) },
		func(r int64) int64 { return 1 << 20 * (r % 2) })
	distinct := func(kind expr.AggKind) expr.Aggregate {
		return expr.Aggregate{Kind: kind, Col: 1, Name: "b", Arg: tab.Fields[1].Type, Distinct: true}
	}
	if n := uint64(groups) << 20; n <= mostBits {
		t.Fatalf("%d bits are not too many", n)
	}
	rows, err := grouped(tab, []expr.Expr{column(tab, 0)}, distinct(expr.Count), distinct(expr.Sum))
	if err != nil || len(rows) != groups {
		t.Fatalf("%d groups: %v", len(rows), err)
	}
	for g, row := range rows {
		sum := int64(0)
		for i := range int64(each) {
			sum += (int64(g) + i*groups) * 104_729 % (1 << 20)
		}
		if row[0].I != int64(g) || row[1].I != each || row[2].I != sum {
			t.Fatalf("%v, want %d, %d values and their sum %d", row, g, each, sum)
		}
	}
}

// The different values of some rows are as many as those that a map finds, whether they are all that is asked for or not.
func TestDistinctValuesOfSomeRows(t *testing.T) {
	for _, spread := range []int64{1, 5, 1 << 13, 1 << 30, 1 << 50} {
		tab := integers(t, 30_000, 7000, func(r int64) int64 { return r * r % 9001 * spread }, func(r int64) int64 { return r % 7 })
		want := map[int64]bool{}
		for r := range int64(30_000) {
			if r%7 < 3 {
				want[r*r%9001*spread] = true
			}
		}
		few := &expr.Compare{Op: expr.LT, L: column(tab, 1), R: &expr.Const{V: table.Int(3)}}
		q, err := physical.NewQuery(tab, &plan.Fragment{Where: few})
		if err != nil {
			t.Fatal(err)
		}
		count := expr.Aggregate{Kind: expr.Count, Col: 0, Name: "a", Arg: tab.Fields[0].Type, Distinct: true}
		for _, aggs := range [][]expr.Aggregate{{count}, {count, {Kind: expr.CountAll, Col: -1}}} {
			n := &plan.Aggregate{Aggs: aggs}
			for rows, err := range InValues(Group(context.Background(), tab, n, cpu.New(2).Rows(context.Background(), q))) {
				if err != nil || len(rows) != 1 || rows[0][0].I != int64(len(want)) {
					t.Errorf("spread %d, %d aggregates: %v, %v, want %d", spread, len(aggs), rows, err, len(want))
				}
			}
		}
	}
}

// Of many groups none is lost or twice, and they come in the order of their first rows.
func TestManyGroupsAreInTheOrderOfTheirFirstRows(t *testing.T) {
	const n = 200_000
	tab := integers(t, n, 30_000, func(r int64) int64 { return r * 7919 % 65_537 << 20 }, func(r int64) int64 { return r })
	rows, err := grouped(tab, []expr.Expr{column(tab, 0), column(tab, 0)}, expr.Aggregate{Kind: expr.Min, Col: 1, Name: "b", Arg: tab.Fields[1].Type}, expr.Aggregate{Kind: expr.CountAll, Col: -1})
	if err != nil || len(rows) != 65_537 {
		t.Fatalf("%d groups: %v", len(rows), err)
	}
	for i, row := range rows {
		count := int64(n / 65_537)
		if int64(i) < n%65_537 {
			count++
		}
		if row[2].I != int64(i) || row[0].I != int64(i)*7919%65_537<<20 || row[3].I != count {
			t.Fatalf("group %d is %v", i, row)
		}
	}
}

// The error is that of the first row, whichever worker comes first to one.
func TestTheFirstRowsErrorCounts(t *testing.T) {
	tab := integers(t, 300_000, 70_000, func(r int64) int64 { return r })
	divided := func(by int64, pos int) expr.Aggregate {
		minus := &expr.Arith{Op: expr.Sub, L: column(tab, 0), R: &expr.Const{V: table.Int(by)}, T: table.Type{Kind: table.BigInt}}
		x := &expr.Arith{Op: expr.Div, L: &expr.Const{V: table.Int(1)}, R: minus, T: table.Type{Kind: table.BigInt}, P: pos}
		return expr.Aggregate{Kind: expr.Max, Col: -1, X: x, Name: x.String(), Arg: x.T}
	}
	for _, c := range [][3]int64{{290_000, 100_001, 2}, {100_001, 290_000, 1}, {5, 5, 1}, {70_000, 69_999, 2}} {
		_, err := grouped(tab, nil, divided(c[0], 1), divided(c[1], 2))
		if e, ok := err.(*expr.Error); !ok || int64(e.Pos) != c[2] {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// Sums of products of doubles are exact, the largest and the smallest doubles among them, and the
// same in any order of merging.
func TestProductsAreExact(t *testing.T) {
	double := rapid.OneOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), rapid.Float64Range(-10, 10),
		rapid.SampledFrom([]float64{0, math.MaxFloat64, -math.SmallestNonzeroFloat64, 0x1p-537, 0x1.fffffffffffffp-480, 1e200, -1e-200}))
	rapid.Check(t, func(t *rapid.T) {
		want := new(big.Rat)
		parts := make([]exactSum, 3)
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			a, b := double.Draw(t, "a"), double.Draw(t, "b")
			parts[rapid.IntRange(0, 2).Draw(t, "part")].product(a, b)
			want.Add(want, new(big.Rat).Mul(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b)))
		}
		parts[2].merge(&parts[0])
		parts[2].merge(&parts[1])
		if got := parts[2].rat(); got.Cmp(want) != 0 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// An evaluator has for every row what expr.Eval has, however it computes an expression.
func TestVectorsOfConditions(t *testing.T) {
	tab := integers(t, 1000, 300, func(r int64) int64 { return r*r%17 - 5 }, func(r int64) int64 { return r * 1_000_003 % 977 })
	a, b := column(tab, 0), column(tab, 1)
	k := func(i int64) *expr.Const { return &expr.Const{V: table.Int(i)} }
	less := &expr.Compare{Op: expr.LT, L: a, R: b}
	quotient := &expr.Arith{Op: expr.Div, L: b, R: a, T: table.Type{Kind: table.BigInt}}
	nonzero := &expr.Compare{Op: expr.NE, L: a, R: k(0)}
	guarded := &expr.And{Kids: []expr.Expr{nonzero, &expr.Compare{Op: expr.GT, L: quotient, R: k(3)}}}
	decimal := func(i int64, scale int) *expr.Const {
		return &expr.Const{V: table.Value{Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: scale}, I: i}}
	}
	for _, e := range []expr.Expr{
		&expr.Between{X: &expr.Cast{X: b, To: decimal(0, 0).V.Type}, Lo: decimal(20050, 2), Hi: decimal(4005, 1)},
		less, guarded, &expr.Or{Kids: []expr.Expr{&expr.Not{X: nonzero}, guarded}}, &expr.Between{X: b, Lo: a, Hi: k(400), Not: true},
		&expr.IsNull{X: less}, &expr.IsTruth{X: guarded, Want: expr.IsFalse}, expr.NewCall(expr.Case, []expr.Expr{nonzero, quotient, k(-1)}, 0),
		expr.NewCall(expr.Case, []expr.Expr{less, b}, 0), expr.NewCall(expr.Coalesce, []expr.Expr{expr.NewCall(expr.Case, []expr.Expr{less, a}, 0), b}, 0),
		&expr.Compare{Op: expr.GT, L: quotient, R: k(0)}, // division by zero
	} {
		for i, c := range tab.Chunks {
			v, err := (&vector.Evaluator{}).Vector(e, c, table.Block{Chunk: i, N: c.Rows})
			for row := range c.Rows {
				want, wantErr := expr.Eval(e, &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }})
				if wantErr != nil {
					if err == nil || v.Len() != row || err.Error() != wantErr.Error() {
						t.Fatalf("%v: %d rows and %v, want %d and %v", e, v.Len(), err, row, wantErr)
					}
					break
				}
				if got := fmt.Sprint(v.IsNull(row), v.Ints[row]); v.IsNull(row) != want.Null || !want.Null && v.Ints[row] != want.I {
					t.Fatalf("%v in row %d: %s, want %v", e, row, got, want)
				}
			}
		}
	}
}
