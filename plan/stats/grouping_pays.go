package stats

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
)

// GroupingPays reports whether it is likely to be faster to group rows by some keys before they are joined to others. What is
// cheap to estimate comes first: all rows of the table by the keys that are columns, of which a group has no fewer.
func (e *Estimates) GroupingPays(rows plan.Node, keys []expr.Expr, of *plan.Aggregate) bool {
	promising := func(n plan.Node, keys []expr.Expr) bool {
		all := e.Rows(n)
		return all >= eagerRows && e.groupCount(n, keys) <= min(physical.MaxSlots, all/eagerShare)
	}
	table := rows
	for f, ok := table.(*plan.Filter); ok; f, ok = table.(*plan.Filter) {
		table = f.Input
	}
	columns := slices.DeleteFunc(slices.Clone(keys), func(k expr.Expr) bool { _, ok := k.(*expr.Column); return !ok })
	left := eagerLeft
	if len(of.Keys) == 0 {
		left = eagerAlone
	}
	return promising(table, columns) && promising(table, keys) && promising(rows, keys) && e.Rows(of.Input) >= e.Rows(rows)*left
}

// When it pays to group rows before they are joined: there are many rows, a group has many of them, and the join keeps enough. Measured on
// cpu and on compute.
const (
	eagerRows  = 10_000 // at least
	eagerShare = 16     // rows a group
	eagerLeft  = 0.5    // joined rows a row at least
	eagerAlone = 1.5    // likewise, where the joined rows are one group: they are added up as fast as rows are grouped
)
