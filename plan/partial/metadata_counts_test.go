package partial_test

import (
	"slices"
	"testing"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Known counts as Finish does, deleted records and NULLs included, and leaves alone what a record has to be looked at for.
func TestMetadataCounts(t *testing.T) {
	big := table.Type{Kind: table.BigInt}
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: big}}, 4)
	for i := range 8 {
		if i%3 == 1 {
			b.Column(0).Null()
		} else {
			b.Column(0).Int(int64(i))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.Table()
	struck, err := whole.Chunks[0].Delete([]int{0})
	if err != nil {
		t.Fatal(err)
	}
	aggs := []expr.Aggregate{{Kind: expr.CountAll, Col: -1}, {Kind: expr.Count, Col: 0, Arg: big}, {Kind: expr.Selectivity, Col: -1}}
	for _, x := range []struct {
		name  string
		tab   *table.Table
		where expr.Expr
		aggs  []expr.Aggregate
		known bool
	}{
		{"all", whole, nil, aggs, true},
		{"none", whole, &expr.IsNull{X: &expr.Const{V: table.Int(1)}}, aggs, true},
		{"a condition", whole, plantest.Compare(&expr.Column{Name: "a", T: plantest.BigInt}, expr.LT, plantest.Num(5)), aggs, false},
		{"deleted records", &table.Table{Name: "t", Fields: whole.Fields, Chunks: []*table.Chunk{struck, whole.Chunks[1]}}, nil, aggs, false},
		{"no aggregate", whole, nil, nil, false},
		{"no chunk", &table.Table{Name: "t", Fields: whole.Fields}, nil, aggs, true},
		{"a sum of no chunk", &table.Table{Name: "t", Fields: whole.Fields}, nil, []expr.Aggregate{{Kind: expr.Sum, Col: 0, Arg: big}}, false},
		{"a filter", whole, nil, []expr.Aggregate{{Kind: expr.CountAll, Col: -1, Filter: plantest.Compare(&expr.Column{Name: "a", T: plantest.BigInt}, expr.LT, plantest.Num(5))}}, false},
		{"an expression", whole, nil, []expr.Aggregate{{Kind: expr.Count, Col: -1, Arg: big, X: &expr.Column{Index: 0, Name: "a", T: big}}}, false},
		{"a check", whole, dividedBy(whole), aggs[:1], false},
		{"a sum", whole, nil, append(aggs, expr.Aggregate{Kind: expr.Sum, Col: 0, Arg: big}), false},
		{"different values", whole, nil, []expr.Aggregate{{Kind: expr.Count, Col: 0, Arg: big, Distinct: true}}, false},
	} {
		q, err := new(physical.PredicateCache).Query(x.tab, &plan.Fragment{Table: "t", Where: x.where, Aggs: x.aggs})
		if err != nil {
			t.Fatal(err)
		}
		got, known := partial.MetadataCounts(q)
		if known != x.known {
			t.Errorf("%s: known %v", x.name, known)
		}
		if !known {
			continue
		}
		want, err := cpu.New(0).Execute(t.Context(), q)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, cpu %v, %v", x.name, got, want, err)
		}
	}
}

// dividedBy is a condition that every record satisfies, or raises an error in.
func dividedBy(t *table.Table) expr.Expr {
	a := &expr.Column{Index: 0, Name: "a", T: t.Fields[0].Type}
	return &expr.Or{Kids: []expr.Expr{&expr.Compare{Op: expr.LT, L: &expr.Arith{Op: expr.Div, L: &expr.Const{V: table.Int(1)}, R: a}, R: &expr.Const{V: table.Int(9)}},
		&expr.IsNull{X: &expr.Const{V: table.Int(1)}, Not: true}}}
}
