package plan

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
)

// MapExprs is a node of what f gives for each of its expressions.
func MapExprs(n Node, f func(expr.Expr) expr.Expr) Node {
	list := func(in []expr.Expr) []expr.Expr { return xslices.Map(in, f) }
	aggs := func(in []expr.Aggregate) []expr.Aggregate {
		return xslices.Map(in, func(a expr.Aggregate) expr.Aggregate { return a.Map(f) })
	}
	switch n := n.(type) {
	case *Filter:
		return &Filter{n.Input, f(n.Where)}
	case *Join:
		out := *n
		if n.On != nil {
			out.On = f(n.On)
		}
		return &out
	case *Project:
		items := slices.Clone(n.Items)
		for i := range items {
			items[i].E = f(items[i].E)
		}
		return &Project{n.Input, items}
	case *Aggregate:
		out := *n
		out.Keys, out.Aggs = list(n.Keys), aggs(n.Aggs)
		return &out
	case *GroupingSets:
		out := *n
		out.Keys, out.Aggs = list(n.Keys), aggs(n.Aggs)
		return &out
	case *Sort:
		out := *n
		out.Keys = slices.Clone(n.Keys)
		for i := range out.Keys {
			out.Keys[i].E = f(out.Keys[i].E)
		}
		return &out
	case *Values:
		out := *n
		out.Rows = nil
		for _, row := range n.Rows {
			out.Rows = append(out.Rows, list(row))
		}
		return &out
	case *Series:
		out := *n
		out.Start, out.Stop, out.Step, out.Where = f(n.Start), f(n.Stop), f(n.Step), list(n.Where)
		return &out
	}
	return n
}

// Exprs lists the expressions of a node.
func Exprs(n Node) (all []expr.Expr) {
	switch n := n.(type) { // of most nodes there is nothing to copy
	case *Filter:
		return []expr.Expr{n.Where}
	case *Join:
		if n.On == nil {
			return nil
		}
		return []expr.Expr{n.On}
	case *Scan, *Fragment, *Derived:
		return nil
	}
	MapExprs(n, func(e expr.Expr) expr.Expr {
		all = append(all, e)
		return e
	})
	return all
}
