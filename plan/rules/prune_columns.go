package rules

import (
	"slices"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// PruneColumns is a query that gives only some of its columns, and at least one. It gives all of them where leaving out
// select items is not enough, or the rule is off.
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

// CheapColumn is a column to read where only the number of rows matters. It is not a text, which takes longer to read, unless all columns
// are.
func CheapColumn(fields []table.Field) int {
	return max(0, slices.IndexFunc(fields, func(f table.Field) bool { return f.Type.Kind != table.Varchar }))
}
