package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// ExistsOnly is a query of which EXISTS asks whether it has a row. As in PostgreSQL its select items, ORDER BY and DISTINCT are not
// computed where they do not matter. An error in them is then not raised. The columns keep their types.
func ExistsOnly(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Limit:
		if n.Offset == 0 {
			return n.With(ExistsOnly(n.Input))
		}
	case *plan.Sort:
		return ExistsOnly(n.Input)
	case *plan.Distinct:
		return ExistsOnly(n.Input)
	case *plan.Values:
		out := *n
		out.Rows = nil
		for _, row := range n.Rows {
			row = slices.Clone(row)
			for i, e := range row {
				row[i] = nullIfRaises(e)
			}
			out.Rows = append(out.Rows, row)
		}
		return &out
	case *plan.Project:
		return existsOnlyProject(n)
	}
	return n
}

func existsOnlyProject(p *plan.Project) plan.Node {
	out := &plan.Project{Input: p.Input, Items: slices.Clone(p.Items)}
	for i, item := range p.Items {
		if expr.HasWindow(item.E) {
			return p
		}
		out.Items[i].E = nullIfRaises(item.E)
	}
	switch in := p.Input.(type) {
	case *plan.Sort:
		out.Input = in.Input
	case *plan.Aggregate:
		if len(in.Aggs) > 0 || len(in.Keys) == 0 {
			return p
		}
	case *plan.GroupingSets:
		return p
	case *plan.Filter: // HAVING
		switch in.Input.(type) {
		case *plan.Aggregate, *plan.GroupingSets:
			return p
		}
	}
	return out
}

// nullIfRaises is NULL in the place of an expression that may raise an error, or has a subquery.
func nullIfRaises(e expr.Expr) expr.Expr {
	if !plan.CanRaise(e) && !expr.HasSubquery(e) {
		return e
	}
	return &expr.Const{V: table.Null(e.Type()), P: e.Pos()}
}
