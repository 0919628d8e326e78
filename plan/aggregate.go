package plan

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Aggregate groups the rows of its input, and gives the keys of each group and the values of aggregates over
// it. Rows that are equal in all keys are a group (NULL equals NULL here). The groups come in the order of
// their first rows. Without keys all rows are one group, and there is one where there are none.
type Aggregate struct {
	Input Node
	Keys  []expr.Expr
	Aggs  []expr.Aggregate
	// First, when set, is the order of which some first groups alone are wanted: others may be left out.
	TopN *Sort
	// Having, when set, is what has to be TRUE of a group: others are left out.
	Having expr.Expr
	// Found, when set, is told how many groups there are, before First and Having leave out some.
	Found func(groups int)
}

// Inputs, With, Fields and String implement [Node].
func (a *Aggregate) Inputs() []Node { return []Node{a.Input} }
func (a *Aggregate) With(inputs ...Node) Node {
	return &Aggregate{Input: inputs[0], Keys: a.Keys, Aggs: a.Aggs}
}
func (a *Aggregate) Fields() []table.Field {
	list := xslices.Map(a.Keys, func(k expr.Expr) table.Field { return table.Field{Name: k.String(), Type: k.Type()} })
	for _, g := range a.Aggs {
		list = append(list, table.Field{Name: g.String(), Type: g.Type()})
	}
	return list
}

func (a *Aggregate) String() string {
	text := listed(a.Aggs, expr.Aggregate.String)
	if len(a.Keys) > 0 {
		text = strings.TrimSpace(text + " GROUP BY " + listed(a.Keys, expr.Expr.String))
	}
	return "Aggregate(" + text + ")"
}

// OfColumns reports an aggregation that a backend does with the selection: of all rows,
// and by what it has of columns.
func (a *Aggregate) OfColumns() bool {
	return len(a.Keys) == 0 && len(a.Aggs) > 0 && !slices.ContainsFunc(a.Aggs, func(g expr.Aggregate) bool { return !g.OfColumn() })
}

// InputColumns lists the columns of the input that the keys and the aggregates read, ascending.
func (a *Aggregate) InputColumns() []int {
	cols := []int{}
	for _, k := range a.Keys {
		cols = append(cols, expr.Columns(k)...)
	}
	for _, g := range a.Aggs {
		cols = append(cols, g.Reads()...)
	}
	slices.Sort(cols)
	return slices.Compact(cols)
}

// OfSums reports an aggregation of all rows that can be had from columns, from sums of these
// and from sums of their products.
func (a *Aggregate) OfSums() bool {
	return len(a.Keys) == 0 && len(a.Aggs) > 0 && !slices.ContainsFunc(a.Aggs, func(g expr.Aggregate) bool { return !g.OfColumn() && !OfSum(g) })
}

// OfSum reports SUM, AVG or COUNT of an integer or DECIMAL that + - * make from columns.
func OfSum(g expr.Aggregate) bool {
	if g.Kind != expr.Sum && g.Kind != expr.Avg && g.Kind != expr.Count || g.X == nil || g.Distinct || g.Filter != nil {
		return false
	}
	ok := len(expr.Columns(g.X)) > 0
	expr.Walk(g.X, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Column, *expr.Neg, *expr.Cast:
		case *expr.Const:
			ok = ok && !e.V.Null
		case *expr.Arith:
			ok = ok && (e.Op == expr.Add || e.Op == expr.Sub || e.Op == expr.Mul)
		default:
			ok = false
		}
		ok = ok && e.Type().IsExact()
	})
	return ok
}

// Moved is the aggregation over other columns: see [expr.Moved].
func (a *Aggregate) Moved(at func(column int) int) *Aggregate {
	out := &Aggregate{}
	for _, k := range a.Keys {
		out.Keys = append(out.Keys, expr.Moved(k, at))
	}
	for _, g := range a.Aggs {
		out.Aggs = append(out.Aggs, g.Moved(at))
	}
	return out
}
