package planner

import (
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
)

// subplan gives the rows of a subplan to a node that reads it.
func (p *planner) subplan(n plan.Node, of *plan.Subplan, need []int) *stream {
	if r := p.working[of]; r != nil {
		width := plan.Width(of.Tree)
		return source(&pipeline.WorkingTable{Of: r}, r.First.Out(), width, numbers(width)).done(n)
	}
	return p.subplanRows(of, need).done(n)
}

// subplanRows are those of a subplan's tree: in the pipeline that reads them, where that is the only one; else of a relation.
func (p *planner) subplanRows(of *plan.Subplan, need []int) *stream {
	if p.reads[of] <= 1 {
		return p.rows(of.Tree, need)
	}
	if p.made[of] == nil {
		p.made[of] = p.relation(of.Tree, p.needed[of])
	}
	left := p.made[of]
	return source(&pipeline.Relation{Of: []*pipeline.Pipeline{left}}, left.Out(), plan.Width(of.Tree), p.needed[of])
}

// concat gives the rows of several inputs, each of which is a relation.
func (p *planner) concat(n *plan.Concat, need []int) *stream {
	of, rows := &pipeline.Relation{}, 0.
	for _, in := range n.Of {
		left := p.relation(in, need)
		of.Of, rows = append(of.Of, left), rows+left.Out()
	}
	return source(of, rows, plan.Width(n), need).done(n)
}

func (p *planner) recursion(n *plan.Recursion) *stream {
	all := numbers(plan.Width(n))
	of := &pipeline.Recursion{All: n.All, Limit: n.Limit, Where: n.Where}
	of.First = p.relation(n.First, all)
	p.working[n.Last] = of
	of.Step = p.relation(n.Step, all)
	return source(of, p.Rows(n), len(all), all).done(n)
}
