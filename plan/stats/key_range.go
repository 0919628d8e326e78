package stats

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// KeyRange is how many values the range of a node's column has, from the smallest to the largest one in its table. Of texts it is the different ones.
// It is not ok for what is computed, for floating point, and for columns that have not been read.
func (e *Estimates) KeyRange(n plan.Node, x expr.Expr) (span float64, ok bool) {
	n, col := e.base(n, x)
	s, isScan := n.(*plan.Scan)
	if !isScan {
		return 0, false
	}
	t := e.Table(s)
	if t == nil || t.Fields[col].Type.IsFloat() || t.Fields[col].Type.Kind == table.Interval {
		return 0, false
	}
	if t.Fields[col].Type.Kind == table.Varchar {
		return DistinctValues(t, col), t.Has([]int{col})
	}
	base, top := ^uint64(0), uint64(0)
	for _, c := range t.Chunks {
		g := c.Segments[col]
		if g == nil {
			return 0, false
		}
		if g.NonNull() > 0 {
			base, top = min(base, g.Base), max(top, g.Base+g.Max)
		}
	}
	if top < base {
		return 0, false
	}
	return float64(top-base) + 1, true
}

// UniqueKey reports that no two rows of a node seem to have the same values of some expressions. These are all keys of a group, or one is a column
// of a table that has as many values as rows.
func (e *Estimates) UniqueKey(n plan.Node, keys []expr.Expr) bool {
	if len(keys) == 0 {
		return false
	}
	for {
		switch in := n.(type) {
		case *plan.Filter:
			n = in.Input
		case *plan.Sort:
			n = in.Input
		case *plan.Limit:
			n = in.Input
		case *plan.Join:
			if !in.Kind.LeftOnly() {
				return false
			}
			n = in.Left
		case *plan.Derived:
			n = in.Of.Tree
		case *plan.Project:
			var inside []expr.Expr
			for _, k := range keys {
				if c, ok := k.(*expr.Column); ok {
					inside = append(inside, in.Items[c.Index].E)
				}
			}
			n, keys = in.Input, inside
		case *plan.Aggregate:
			has := map[int]bool{}
			for _, k := range keys {
				if i, ok := columnOf(k); ok {
					has[i] = true
				}
			}
			for i := range in.Keys {
				if !has[i] {
					return false
				}
			}
			return true
		case *plan.Scan:
			for _, k := range keys {
				if c, ok := k.(*expr.Column); ok && e.unique(origin{in, c.Index}) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
}

// base is the node from which a column of a node comes, through those that give columns of their inputs, and its place there.
func (e *Estimates) base(n plan.Node, x expr.Expr) (plan.Node, int) {
	col, ok := columnOf(x)
	for ok {
		switch in := n.(type) {
		case *plan.Filter, *plan.Sort, *plan.Limit, *plan.Distinct:
			n = in.Inputs()[0]
		case *plan.Window:
			if col >= columnCount(in.Input) {
				return nil, 0
			}
			n = in.Input
		case *plan.Derived:
			n = in.Of.Tree
		case *plan.Join:
			if width := columnCount(in.Left); col >= width {
				n, col = in.Right, col-width
			} else {
				n = in.Left
			}
		case *plan.Project:
			n = in.Input
			col, ok = columnOf(in.Items[col].E)
		case *plan.Aggregate:
			if col >= len(in.Keys) {
				return nil, 0
			}
			n = in.Input
			col, ok = columnOf(in.Keys[col])
		default:
			return n, col
		}
	}
	return nil, 0
}

// columnOf is the place of the input's column that an expression is.
func columnOf(x expr.Expr) (col int, ok bool) {
	switch x := x.(type) {
	case *expr.Column:
		return x.Index, true
	case *expr.AggRef:
		return x.Index, true
	}
	return 0, false
}

// KeySide is an expression over a node's columns as a side of a join's key.
func (e *Estimates) KeySide(n plan.Node, x expr.Expr) KeySide { return e.keySide(n, x) }

// Selectivity is the part of a node's rows for which a condition on its columns is TRUE.
func (e *Estimates) Selectivity(n plan.Node, where expr.Expr) float64 { return e.selectivity(n, where) }
