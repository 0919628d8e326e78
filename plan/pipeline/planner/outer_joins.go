package planner

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
	"github.com/stencildb/stencildb/table"
)

// flipFactor is how many times larger the other side is where the side is built whose rows are kept.
const flipFactor = 4

// outerJoin joins two inputs by an outer, a semi or an anti join. The side whose rows are kept probes, and of two such sides the larger one.
// Where it is much smaller, and the other one no bitmap, it is built: the other side probes, and notes which rows have matched.
func (p *planner) outerJoin(n *plan.Join, need []int) *stream {
	width, needs := plan.Width(n.Left), inputNeeds(n, need)
	keys, residual := keysOf(n.On, width)
	sides := [2]joinSide{{n.Left, needs[0], 0}, {n.Right, needs[1], width}}
	left, right := p.Rows(n.Left), p.Rows(n.Right)
	j := joining{residual: residual, need: need, rows: p.Rows(n), width: width + plan.Width(n.Right)}
	build := 1 // the side that is built
	switch n.Kind {
	case plan.LeftOuter:
		if j.kind = pipeline.Left; len(keys) > 0 && left*flipFactor <= right {
			j.kind, build = pipeline.Right, 0
		}
	case plan.RightOuter:
		if j.kind, build = pipeline.Left, 0; len(keys) > 0 && right*flipFactor <= left {
			j.kind, build = pipeline.Right, 1
		}
	case plan.FullOuter:
		if j.kind = pipeline.Full; right > left {
			build = 0
		}
	default:
		if j.kind = map[plan.JoinKind]pipeline.ProbeKind{plan.Semi: pipeline.Semi, plan.Anti: pipeline.Anti}[n.Kind]; len(keys) > 0 && left*flipFactor <= right {
			j.keys = keys
			j.facts(p, sides[1])
			if len(residual) > 0 || pipeline.KindOf(right, 0, len(keys), j.span, j.exact(), j.unique, true) != pipeline.Bitmap {
				j.kind, build = pipeline.Note, 0
			}
		}
	}
	if j.keys = keys; build == 0 {
		j.keys = nil
		for _, k := range keys {
			j.keys = append(j.keys, joinKey{k.build, k.probe})
		}
	}
	j.probe, j.build = p.side(sides[1-build], j.width), p.side(sides[build], j.width)
	j.facts(p, sides[build])
	if j.kind.Notes() {
		return p.notingJoin(n, j, need)
	}
	p.join(j)
	j.probe.at = j.probe.at[:plan.Width(n)]
	return j.probe.done(n)
}

// joinSide is an input of a join, with what is needed of it and the place of its first column.
type joinSide struct {
	plan.Node
	need  []int
	first int
}

// side begins the pipeline of an input, with places for the columns of both.
func (p *planner) side(s joinSide, width int) *stream {
	return p.rows(s.Node, s.need).atOffset(s.first, width)
}

// facts notes what is known of the keys of the side that is built.
func (j *joining) facts(p *planner, built joinSide) {
	local := xslices.Map(j.keys, func(k joinKey) expr.Expr { return expr.Moved(k.build, func(c int) int { return c - built.first }) })
	j.span, j.unique = p.keyFacts(built.Node, local)
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

// notingJoin is a join after which rows of the build are read by whether they have matched. They are those of a semi or an anti join, or those
// that an outer join keeps, behind the pairs.
func (p *planner) notingJoin(n *plan.Join, j joining, need []int) *stream {
	all, fields := j.rows, n.Fields()
	switch j.kind {
	case pipeline.Note:
		j.rows = 0
	case pipeline.Right:
		j.rows = min(all, p.Rows(n.WithKind(plan.Inner)))
	default:
		j.rows = min(all, max(j.probe.last(), p.Rows(n.WithKind(plan.LeftOuter))))
	}
	s := j.probe
	built, places := p.join(j)
	s.done(n)
	if j.kind == pipeline.Note {
		after := p.finish(s, &pipeline.Rows{Columns: []int{}, Count: -1}, 0)
		out := source(&pipeline.BuildScan{Build: built, After: after, Matched: n.Kind == plan.Semi}, all, len(fields), nil)
		out.at = places[:len(fields)]
		return out
	}
	pairs := p.finish(s, &pipeline.Rows{Columns: s.places(need), Count: -1}, j.rows)
	alone := source(&pipeline.BuildScan{Build: built, After: pairs}, max(0, all-j.rows), len(places), nil)
	columns, nulls := []int{}, &pipeline.Compute{}
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
