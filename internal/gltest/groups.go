package gltest

import (
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// GroupTable makes a table of chunks with the columns a and b, keys from 0 to before sizes. Either is NULL in one
// row of eight. x has 30 bits and y 16, with NULLs likewise. Most rows of a hot one have the same keys.
func GroupTable(rows, chunks int, sizes [2]int, nulls, hot bool) *table.Table {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(sizes[0])))
	bigint := table.Type{Kind: table.BigInt}
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: bigint}, {Name: "b", Type: bigint}, {Name: "x", Type: bigint}, {Name: "y", Type: bigint}}, (rows+chunks-1)/chunks)
	for i := range rows {
		warm := hot && rng.IntN(10) > 0
		for col := range 4 {
			v := table.Int(rng.Int64N(1<<[]int{0, 0, 30, 16}[col]) - 1<<15)
			if col < 2 {
				if v = table.Int(rng.Int64N(int64(sizes[col]))); i < sizes[col] {
					v = table.Int(int64(i)) // every code is there
				}
				if warm {
					v = table.Int(int64(sizes[col]) / 2)
				}
			}
			if nulls && rng.IntN(8) == 0 {
				v = table.Null(bigint)
			}
			b.Column(col).Value(v)
		}
		if err := b.EndRow(); err != nil {
			panic(err)
		}
	}
	return b.Table()
}

// GroupQuery asks for everything that is kept of groups by some columns.
func GroupQuery(t *testing.T, tab *table.Table, where expr.Expr, keys ...int) (*physical.Query, *plan.Aggregate) {
	bigint := table.Type{Kind: table.BigInt}
	column := func(i int) expr.Expr { return &expr.Column{Index: i, Name: tab.Fields[i].Name, T: bigint} }
	n := &plan.Aggregate{}
	for _, k := range keys {
		n.Keys = append(n.Keys, column(k))
	}
	x := &expr.Arith{Op: expr.Mul, L: column(2), R: column(3), T: bigint}
	three := &expr.Arith{Op: expr.Mul, L: x, R: column(3), T: bigint} // of more than 64 bits in all
	for _, kind := range []expr.AggKind{expr.Count, expr.Sum, expr.Avg, expr.Min, expr.Max} {
		n.Aggs = append(n.Aggs, expr.Aggregate{Kind: kind, Col: 2, Name: "x", Arg: bigint})
	}
	n.Aggs = append(n.Aggs, expr.Aggregate{Kind: expr.CountAll, Col: -1}, expr.Aggregate{Kind: expr.Sum, Col: -1, X: x, Name: "x * y", Arg: bigint},
		expr.Aggregate{Kind: expr.Sum, Col: -1, X: three, Name: "x * y * y", Arg: bigint})
	return QueryOf(t, tab, where, n), n
}

// QueryOf is the query of the groups of the rows of a table that meet a condition.
func QueryOf(t *testing.T, tab *table.Table, where expr.Expr, n *plan.Aggregate) *physical.Query {
	t.Helper()
	q, err := physical.NewQuery(tab, &plan.Fragment{Table: "t", Where: where, Groups: n})
	if err != nil {
		t.Fatal(err)
	}
	return q
}
