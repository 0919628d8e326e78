package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// outer is an outer join whose condition has subqueries: those in rest, none in on. A condition on the side that is filled
// with NULLs chooses the rows of that side. For any other condition the rows of a side that is kept get numbers. The inner
// join on the whole condition gives the pairs. The outer join then joins by these numbers.
func (u *unnester) outer(kind plan.JoinKind, left, right plan.Node, on, rest []expr.Expr) plan.Node {
	l, r := plan.Width(left), plan.Width(right)
	if kind == plan.RightOuter { // a left join of the sides the other way round
		return plan.AsTable(flipItemsBack(u.outer(plan.LeftOuter, right, left, flipSides(on, l, r), flipSides(rest, l, r)), r))
	}
	if kind == plan.LeftOuter && !lateral(right) {
		right, rest = u.filterNullSide(right, rest, l)
		if len(rest) == 0 {
			return u.pairs(kind, left, right, on)
		}
	}
	left = withRowNumbers(left)
	if kind == plan.FullOuter {
		right = withRowNumbers(right)
	}
	shift := func(list []expr.Expr) (out []expr.Expr) {
		for _, e := range list {
			out = append(out, remapColumns(e, func(c int) int {
				if c >= l {
					c++
				}
				return c
			}))
		}
		return out
	}
	pairs := &plan.Project{Input: u.filter(u.pairs(plan.Inner, left, right, shift(on)), plan.Conjunction(shift(rest)))}
	number := func(c int) expr.Expr {
		return &expr.Column{Index: c, Name: numberName, T: table.Type{Kind: table.BigInt}, P: -1}
	}
	same := func(x, y int) expr.Expr { return &expr.Compare{Op: expr.EQ, L: number(x), R: number(y), P: -1} }
	items := plan.ItemsOf(pairs.Input)
	p := &plan.Project{}
	if kind == plan.FullOuter { // the numbers of both sides
		pairs.Items = []plan.Item{items[l], items[l+1+r]}
		p.Input = &plan.Join{Kind: plan.FullOuter, Left: plan.AsTable(&plan.Join{Kind: plan.LeftOuter, Left: left, Right: plan.AsTable(pairs), On: same(l, l+1)}), Right: right, On: same(l+2, l+3+r)}
		items = plan.ItemsOf(p.Input)
		p.Items = slices.Concat(items[:l], items[l+3:l+3+r])
	} else {
		pairs.Items = items[l : l+1+r]
		p.Input = &plan.Join{Kind: plan.LeftOuter, Left: left, Right: plan.AsTable(pairs), On: same(l, l+1)}
		items = plan.ItemsOf(p.Input)
		p.Items = slices.Concat(items[:l], items[l+2:l+2+r])
	}
	return plan.AsTable(p)
}

// flipSides are conditions of a join of l and r columns over the sides the other way round.
func flipSides(list []expr.Expr, l, r int) (out []expr.Expr) {
	for _, e := range list {
		out = append(out, remapColumns(e, func(c int) int {
			if c < l {
				return c + r
			}
			return c - l
		}))
	}
	return out
}

// flipItemsBack has the first r columns of a node's rows behind the others.
func flipItemsBack(n plan.Node, r int) *plan.Project {
	items := plan.ItemsOf(n)
	return &plan.Project{Input: n, Items: slices.Concat(items[r:], items[:r])}
}

// filterNullSide filters the right side by the conditions that read only it, which are over the columns from l on. It also returns
// the other conditions.
func (u *unnester) filterNullSide(right plan.Node, list []expr.Expr, l int) (plan.Node, []expr.Expr) {
	var own, rest []expr.Expr
	for _, e := range list {
		alone := true
		moved := remapColumns(e, func(c int) int {
			alone = alone && c >= l
			return c - l
		})
		if alone {
			own = append(own, moved)
		} else {
			rest = append(rest, e)
		}
	}
	if len(own) == 0 {
		return right, rest
	}
	r := plan.Width(right)
	p := &plan.Project{Input: u.filter(plan.AsTable(right), plan.Conjunction(own))}
	p.Items = plan.ItemsOf(p.Input)[:r]
	return plan.AsTable(p), rest
}

// numberName is what the numbers of rows are called.
const numberName = "number"

// withRowNumbers are the rows of a node with a number of their own in a column more.
func withRowNumbers(n plan.Node) plan.Node {
	w := &plan.Window{Input: &plan.Project{Input: plan.AsTable(n), Items: plan.ItemsOf(n)}}
	w.Funcs = []*expr.Window{{Kind: expr.RowNumber, Frame: expr.DefaultFrame, T: table.Type{Kind: table.BigInt}, P: -1}}
	return &plan.Derived{Of: &plan.Subplan{Tree: w}}
}

// remapColumns is e over other columns, also in what its subqueries read of them: at says which column takes the place of each.
func remapColumns(e expr.Expr, at func(column int) int) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Column:
			return expr.Moved(e, at)
		case *expr.Subquery:
			out := *e
			out.Test = remapColumns(e.Test, at)
			out.Of = &plan.Subplan{Tree: mapOuter(plan.SubqueryTree(e), 1, func(o *expr.Outer) expr.Expr {
				return &expr.Outer{X: remapColumns(o.X, at), Level: 1}
			})}
			return &out
		}
		return nil
	})
}
