package planner

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
)

// aggregate ends a pipeline in the aggregates of all rows, or of groups. Those that are not needed are left out. Of all rows, the different
// values of some columns of the input are counted, too, behind the others.
func (p *planner) aggregate(n *plan.Aggregate, distinct []*expr.Column, need []int) *stream {
	width := len(n.Keys) + len(n.Aggs)
	in := inputNeeds(n, inInput(need, width))[0]
	for _, c := range distinct {
		in = union(in, []int{c.Index})
	}
	s := p.rows(n.Input, in)
	columns := numbers(len(n.Keys))
	aggs := p.aggregates(s, neededAggregates(n.Aggs, len(n.Keys), need))
	for _, f := range need {
		if f >= len(n.Keys) && f < width {
			columns = append(columns, f)
		}
	}
	for i, c := range distinct {
		columns = append(columns, width+i)
		aggs = append(aggs, p.aggregates(s, []expr.Aggregate{{Kind: expr.Count, Col: c.Index, Name: c.Name, Table: c.Table, Arg: c.T, Distinct: true, P: -1}})...)
	}
	var out *stream
	if len(n.Keys) == 0 {
		out = p.breaker(s, &pipeline.Aggregate{Aggs: aggs}, 1, width+len(distinct), columns)
	} else {
		out = p.breaker(s, &pipeline.Groups{Keys: p.exprs(s, n.Keys), Aggs: aggs}, p.Rows(n), width, columns)
	}
	if n.Having != nil {
		out.step(&pipeline.Filter{Where: p.expr(out, n.Having)}, out.last())
	}
	return out
}

func (p *planner) groupingSets(n *plan.GroupingSets, need []int) *stream {
	s := p.rows(n.Input, inputNeeds(n, need)[0])
	first := len(n.Keys) + 1
	sink := &pipeline.Groups{Keys: p.exprs(s, n.Keys), Aggs: p.aggregates(s, neededAggregates(n.Aggs, first, need)), Sets: n.Sets}
	columns := numbers(first)
	for _, f := range need {
		if f >= first {
			columns = append(columns, f)
		}
	}
	return p.breaker(s, sink, p.Rows(n), first+len(n.Aggs), columns).done(n)
}

// sort orders rows. Those behind its limit, and those that a LIMIT above leaves out, are left out here.
func (p *planner) sort(n *plan.Sort, need []int) *stream {
	s := p.rows(n.Input, inputNeeds(n, need)[0])
	sink := &pipeline.Sort{Columns: s.places(need), Count: n.Limit, Unique: n.Unique}
	if l := p.limits[n]; l != nil {
		if sink.Count >= 0 {
			sink.Count = max(0, sink.Count-l.Offset)
		}
		if sink.Offset = l.Offset; l.Count >= 0 && (sink.Count < 0 || l.Count < sink.Count) {
			sink.Count = l.Count
		}
	}
	for _, k := range n.Keys {
		k.E = p.expr(s, k.E)
		sink.Keys = append(sink.Keys, k)
	}
	rows := max(0, p.Rows(n)-float64(sink.Offset))
	if sink.Count >= 0 {
		rows = min(rows, float64(sink.Count))
	}
	return p.breaker(s, sink, rows, len(s.at), need).done(n)
}

// limit is done by the sort below, if there are but select lists between; else it is rows of its own.
func (p *planner) limit(n *plan.Limit, need []int) *stream {
	in := n.Input
	for {
		list, ok := in.(*plan.Project)
		if !ok {
			break
		}
		in = list.Input
	}
	if sort, ok := in.(*plan.Sort); ok && p.limits[sort] == nil {
		p.limits[sort] = n
		return p.rows(n.Input, need).done(n)
	}
	s := p.rows(n.Input, need)
	return p.breaker(s, &pipeline.Rows{Columns: s.places(need), Offset: n.Offset, Count: n.Count}, p.Rows(n), len(s.at), need).done(n)
}

func (p *planner) distinct(n *plan.Distinct) *stream {
	all := numbers(plan.Width(n))
	s := p.rows(n.Input, all)
	return p.breaker(s, &pipeline.Distinct{Columns: s.places(all)}, p.Rows(n), len(all), all).done(n)
}

func (p *planner) window(n *plan.Window, need []int) *stream {
	width := plan.Width(n.Input)
	s := p.rows(n.Input, inputNeeds(n, need)[0])
	columns := inInput(need, width)
	sink := &pipeline.Window{Columns: s.places(columns)}
	for i, f := range n.Funcs {
		sink.Funcs = append(sink.Funcs, f.Map(func(e expr.Expr) expr.Expr { return p.expr(s, e) }))
		columns = append(columns, width+i)
	}
	return p.breaker(s, sink, s.last(), width+len(n.Funcs), columns).done(n)
}
