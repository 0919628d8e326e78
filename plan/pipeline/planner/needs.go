package planner

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
)

// inputNeeds are the fields that a node needs of each of its inputs so that some of its own are there.
func inputNeeds(n plan.Node, need []int) [][]int {
	switch n := n.(type) {
	case *plan.Filter:
		return [][]int{union(need, references(n.Where))}
	case *plan.Project:
		list := xslices.Map(need, func(i int) expr.Expr { return n.Items[i].E })
		return [][]int{references(list...)}
	case *plan.Repeat:
		return [][]int{union(need, []int{plan.Width(n.Input) - 1})}
	case *plan.SeriesOfEach:
		last := plan.Width(n.Input)
		in := []int{last - 3, last - 2, last - 1}
		for _, f := range need {
			if f > 0 {
				in = append(in, f-1)
			}
		}
		return [][]int{union(in)}
	case *plan.Join:
		width := plan.Width(n.Left)
		left, right := []int{}, []int{}
		for _, c := range union(need, references(n.On)) {
			if c < width {
				left = append(left, c)
			} else {
				right = append(right, c-width)
			}
		}
		return [][]int{left, right}
	case *plan.Aggregate:
		return [][]int{references(slices.Concat(n.Keys, aggregateArguments(neededAggregates(n.Aggs, len(n.Keys), need)))...)}
	case *plan.GroupingSets:
		return [][]int{references(slices.Concat(n.Keys, aggregateArguments(neededAggregates(n.Aggs, len(n.Keys)+1, need)))...)}
	case *plan.CountDistinct: // its columns are those of the table below the aggregation
		a := n.Input.(*plan.Aggregate)
		return [][]int{inInput(need, plan.Width(a))}
	case *plan.Sort:
		return [][]int{union(need, references(sortArguments(n.Keys)...))}
	case *plan.Window:
		list := inInput(need, plan.Width(n.Input))
		for _, f := range n.Funcs {
			list = union(list, references(f.Operands()...))
		}
		return [][]int{list}
	case *plan.Values:
		return [][]int{references(slices.Concat(n.Rows...)...)}
	case *plan.Distinct:
		return [][]int{numbers(plan.Width(n))}
	case *plan.Recursion:
		all := numbers(plan.Width(n))
		return [][]int{all, all}
	}
	var list [][]int // of others the same fields
	for range n.Inputs() {
		list = append(list, need)
	}
	return list
}

// inInput are those of some fields that are the input's, which stand before those that a node adds.
func inInput(need []int, width int) []int {
	return slices.DeleteFunc(slices.Clone(need), func(f int) bool { return f >= width })
}

// neededAggregates are those whose values are needed; they stand behind some fields.
func neededAggregates(list []expr.Aggregate, first int, need []int) (out []expr.Aggregate) {
	for i, a := range list {
		if slices.Contains(need, first+i) {
			out = append(out, a)
		}
	}
	return out
}

// aggregateArguments are the expressions of aggregates.
func aggregateArguments(list []expr.Aggregate) (all []expr.Expr) {
	for _, a := range list {
		a.Map(func(e expr.Expr) expr.Expr {
			all = append(all, e)
			return e
		})
	}
	return all
}

// sortArguments are the expressions of sort keys.
func sortArguments(keys []expr.SortKey) []expr.Expr {
	return xslices.Map(keys, func(k expr.SortKey) expr.Expr { return k.E })
}

// need notes the fields that are needed of the subplans of a tree, and of those inside, for some fields of the tree.
func (p *planner) need(n plan.Node, need []int) {
	for _, e := range plan.Exprs(n) {
		expr.Walk(e, func(e expr.Expr) {
			if q, ok := e.(*expr.Subquery); ok {
				p.needOf(q.Of.(*plan.Subplan), []int{0})
			}
		})
	}
	switch n := n.(type) {
	case *plan.Derived:
		p.needOf(n.Of, need)
	case *plan.Scan:
		if n.Of != nil {
			p.needOf(n.Of, need)
		}
	case *plan.CountDistinct:
		if a, ok := n.Input.(*plan.Aggregate); ok {
			in := inputNeeds(a, inInput(need, plan.Width(a)))[0]
			for _, c := range n.Columns {
				in = union(in, []int{c.Index})
			}
			p.need(a.Input, in)
			return
		}
	}
	for i, in := range n.Inputs() {
		p.need(in, inputNeeds(n, need)[i])
	}
}

// needOf notes fields of a subplan.
func (p *planner) needOf(s *plan.Subplan, fields []int) {
	have, seen := p.needed[s]
	more := union(have, fields)
	if seen && len(more) == len(have) {
		return
	}
	p.needed[s] = more
	if p.reads[s] > 0 { // else it is the rows that came last in a recursion
		p.need(s.Tree, more)
	}
}

// count counts the readers of the subplans of a tree, and of those inside. The rows that came last in a recursion are none of these.
func (p *planner) count(n plan.Node) {
	last := map[*plan.Subplan]bool{}
	valued := map[*plan.Subplan]bool{}
	var tree func(plan.Node)
	read := func(s *plan.Subplan) {
		if last[s] {
			return
		}
		if p.reads[s]++; p.reads[s] == 1 {
			tree(s.Tree)
		}
	}
	tree = func(n plan.Node) {
		plan.Walk(n, func(n plan.Node, _ int) {
			if r, ok := n.(*plan.Recursion); ok {
				last[r.Last] = true
			}
		})
		plan.Walk(n, func(n plan.Node, _ int) {
			for _, e := range plan.Exprs(n) {
				expr.Walk(e, func(e expr.Expr) {
					if q, ok := e.(*expr.Subquery); ok {
						if s := q.Of.(*plan.Subplan); !valued[s] {
							valued[s] = true
							read(s)
						}
					}
				})
			}
			switch n := n.(type) {
			case *plan.Derived:
				read(n.Of)
			case *plan.Scan:
				if n.Of != nil {
					read(n.Of)
				}
			}
		})
	}
	tree(n)
}
