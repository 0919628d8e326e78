package planner

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
	"github.com/stencildb/stencildb/table"
)

// outerJoin joins two inputs by an outer, a semi or an anti join. The side whose rows all stay probes; of two such sides the larger one.
func (p *planner) outerJoin(n *plan.Join, need []int) *stream {
	kind := map[plan.JoinKind]pipeline.ProbeKind{plan.LeftOuter: pipeline.Left, plan.RightOuter: pipeline.Left, plan.FullOuter: pipeline.Full,
		plan.Semi: pipeline.Semi, plan.Anti: pipeline.Anti}[n.Kind]
	leftWidth, rightWidth := len(n.Left.Fields()), len(n.Right.Fields())
	width, needs := leftWidth+rightWidth, inputNeeds(n, need)
	keys, residual := keysOf(n.On, leftWidth)
	swap := n.Kind == plan.RightOuter || n.Kind == plan.FullOuter && p.Rows(n.Right) > p.Rows(n.Left)
	left := func() *stream { return p.rows(n.Left, needs[0]).beside(0, width) }
	right := func() *stream { return p.rows(n.Right, needs[1]).beside(leftWidth, width) }
	j := joining{kind: kind, keys: keys, residual: residual, need: need, rows: p.Rows(n)}
	built, first := n.Right, leftWidth
	if swap {
		j.probe, j.build = right(), left()
		built, first = n.Left, 0
		for i, k := range j.keys {
			j.keys[i] = joinKey{k.build, k.probe}
		}
	} else {
		j.probe, j.build = left(), right()
	}
	var local []expr.Expr
	for _, k := range j.keys {
		local = append(local, expr.Moved(k.build, func(c int) int { return c - first }))
	}
	j.span, j.unique = p.keyFacts(built, local)
	if kind == pipeline.Full {
		return p.fullJoin(n, j, need)
	}
	p.join(j)
	if n.Kind.LeftOnly() {
		j.probe.at = j.probe.at[:leftWidth]
	}
	return j.probe.done(n)
}

// keysOf splits the condition of a join of two inputs: equalities of their columns, and the rest.
func keysOf(on expr.Expr, width int) (keys []joinKey, rest []expr.Expr) {
	for _, c := range plan.Conjuncts(on) {
		l, r, ok := plan.EquiJoinKey(c)
		if ok && plan.SideOf(l, width) == plan.OnRight {
			l, r = r, l
		}
		if ok && plan.SideOf(l, width) == plan.OnLeft && plan.SideOf(r, width) == plan.OnRight {
			keys = append(keys, joinKey{l, r})
		} else {
			rest = append(rest, c)
		}
	}
	return keys, rest
}

// fullJoin is a full outer join. It gives the pairs and the rows of one side that match none, then the rows of the build that nothing matched.
func (p *planner) fullJoin(n *plan.Join, j joining, need []int) *stream {
	all := j.rows
	j.rows = min(all, max(j.probe.last(), p.Rows(n.WithKind(plan.LeftOuter))))
	s := j.probe
	built, places := p.join(j)
	s.done(n)
	pairs := p.finish(s, &pipeline.Rows{Columns: s.places(need), Count: -1}, j.rows)
	alone := source(&pipeline.Unmatched{Build: built, After: pairs}, max(0, all-j.rows), len(places), nil)
	columns, nulls := []int{}, &pipeline.Compute{}
	fields := n.Fields()
	for _, c := range need {
		if place := places[c]; place >= 0 {
			columns = append(columns, place)
			continue
		}
		columns = append(columns, len(alone.layout)+len(nulls.Items))
		nulls.Items = append(nulls.Items, plan.Item{Name: fields[c].Name, E: &expr.Const{V: table.Null(fields[c].Type), P: -1}})
	}
	if len(nulls.Items) > 0 {
		alone.step(nulls, alone.last())
	}
	rest := p.finish(alone, &pipeline.Rows{Columns: columns, Count: -1}, alone.last())
	return source(&pipeline.Relation{Of: []*pipeline.Pipeline{pairs, rest}}, all, len(fields), need)
}
