package rules

import (
	"slices"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// PruneColumns is a query that gives some of its columns only; one at least, and all where that takes more than leaving
// out select items, or the rule is off.
func PruneColumns(n plan.Node, columns []int, off Off) plan.Node {
	if off.has(prune) {
		return n
	}
	if len(columns) == 0 {
		columns = []int{CheapColumn(n.Fields())}
	}
	switch n := n.(type) {
	case *plan.Project:
		if len(columns) >= len(n.Items) {
			return n
		}
		p := &plan.Project{Input: n.Input}
		for _, c := range columns {
			p.Items = append(p.Items, n.Items[c])
		}
		return p
	case *plan.Limit:
		if p, ok := n.Input.(*plan.Project); ok {
			return n.With(PruneColumns(p, columns, off))
		}
	}
	return n
}

// CheapColumn is a column where only the number of rows is asked for: one that is no text, which would take longer to read, unless all are.
func CheapColumn(fields []table.Field) int {
	return max(0, slices.IndexFunc(fields, func(f table.Field) bool { return f.Type.Kind != table.Varchar }))
}
