package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// combined binds UNION, INTERSECT and EXCEPT.
func (b *binder) combined() plan.Node {
	op := map[pg.SetOperation]plan.SetOp{pg.SetOperation_SETOP_UNION: plan.Union, pg.SetOperation_SETOP_INTERSECT: plan.Intersect, pg.SetOperation_SETOP_EXCEPT: plan.Except}[b.sel.Op]
	left, right := b.nested(b.sel.Larg, b.outer), b.nested(b.sel.Rarg, b.outer)
	switch {
	case op == plan.Except:
		right.inSide = "EXCEPT"
		if b.sel.All {
			left.inSide = "EXCEPT"
		}
	case op == plan.Intersect && b.sel.All:
		left.inSide, right.inSide = "INTERSECT", "INTERSECT"
	}
	sides := b.matched(left.query(), right.query(), op.String(), b.keyword(strings.ToLower(op.String())))
	return plan.NewSetOperation(op, b.sel.All, sides[0], sides[1])
}

// matched are two queries with columns of the same types.
func (b *binder) matched(l, r plan.Node, op string, loc int) []plan.Node {
	sides := []plan.Node{l, r}
	if plan.Width(l) != plan.Width(r) {
		panic(b.errorf(loc, "each %s query must have the same number of columns: they have %d and %d", op, plan.Width(l), plan.Width(r)))
	}
	items := [2][]plan.Item{}
	changed := [2]bool{}
	over := [2]plan.Node{}
	for k, n := range sides {
		p, ok := n.(*plan.Project)
		if !ok {
			p = selected(n)
		}
		items[k], over[k] = slices.Clone(p.Items), p.Input
	}
	for i, f := range l.Fields() {
		var list []expr.Expr
		for k := range sides {
			e := items[k][i].E
			if c, ok := e.(*expr.Const); ok && c.Of != nil {
				e = c.Of
			}
			list = append(list, e)
		}
		list = oneType(unified(op, list, b.pos(loc)))
		for k := range sides {
			changed[k] = changed[k] || list[k].Type() != sides[k].Fields()[i].Type
			items[k][i] = plan.Item{Name: f.Name, E: list[k]}
		}
	}
	for k := range sides {
		if changed[k] {
			sides[k] = &plan.Project{Input: over[k], Items: items[k]}
		}
	}
	return sides
}
