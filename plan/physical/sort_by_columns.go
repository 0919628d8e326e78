package physical

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// SortByColumns is a sort with columns in the place of keys that are strictly monotone in one column of integers. No row of the table may
// raise an error in such a key. The key orders as the column's codes do, ascending or descending, and has ties where the column has. NULLs
// stay where they were.
func SortByColumns(s *plan.Sort, t *table.Table) *plan.Sort {
	if s == nil {
		return nil
	}
	out := *s
	out.Keys = slices.Clone(s.Keys)
	for i, k := range out.Keys {
		if c, dir := strictlyMonotoneColumn(k.E); c != nil && c != k.E && !raisesAtEnds(t, c, k.E) {
			out.Keys[i].E, out.Keys[i].Desc = c, k.Desc != (dir < 0)
		}
	}
	return &out
}

// strictlyMonotoneColumn is the column in which an expression rises (1) or falls (-1) strictly; nil for none. Integers alone: others are rounded.
func strictlyMonotoneColumn(e expr.Expr) (c *expr.Column, dir int) {
	if !e.Type().IsInteger() {
		return nil, 0
	}
	switch e := e.(type) {
	case *expr.Column:
		return e, 1
	case *expr.Neg:
		c, dir = strictlyMonotoneColumn(e.X)
		return c, -dir
	case *expr.Cast: // to another width: what does not fit raises an error
		return strictlyMonotoneColumn(e.X)
	case *expr.Arith:
		x, constant := e.L, e.R
		if len(expr.Columns(x)) == 0 {
			x, constant = constant, x
		}
		v, err := expr.Eval(constant, &expr.Env{})
		if len(expr.Columns(constant)) > 0 || err != nil || v.Null || !constant.Type().IsInteger() {
			return nil, 0
		}
		c, dir = strictlyMonotoneColumn(x)
		switch {
		case e.Op == expr.Add:
			return c, dir
		case e.Op == expr.Sub && x == e.L:
			return c, dir
		case e.Op == expr.Sub || e.Op == expr.Mul && v.I < 0:
			return c, -dir
		case e.Op == expr.Mul && v.I > 0:
			return c, dir
		}
	}
	return nil, 0
}

// raisesAtEnds reports that a strictly monotone expression of a column may raise an error in a row of the table. If it raises one anywhere,
// it does at the smallest or the largest value.
func raisesAtEnds(t *table.Table, c *expr.Column, e expr.Expr) bool {
	for _, chunk := range t.Chunks {
		s := chunk.Segments[c.Index]
		if s == nil {
			return true
		}
		if s.NonNull() == 0 {
			continue
		}
		for _, code := range []uint64{0, s.Max} {
			if _, err := expr.Eval(e, &expr.Env{Column: func(int) table.Value { return s.Decode(code) }}); err != nil {
				return true
			}
		}
	}
	return false
}
