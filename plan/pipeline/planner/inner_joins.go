package planner

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
	"github.com/stencildb/stencildb/table"
)

// maxInputs is how many inputs are ordered together.
const maxInputs = 60

// innerGroup is inner joins that stand above one another, as inputs and conditions over the columns of all, side by side.
type innerGroup struct {
	joins  []plan.Node
	inputs []plan.Node
	first  []int // of the columns of each input, and the end
	graph  joinGraph
	keys   []*groupKey      // of each equality of the graph
	others []groupCondition // conditions that are no keys
	need   []int            // the columns that are needed above
	reads  [][]int          // the columns that are needed of each input
}

// groupKey is what is equal in an equality of the graph: columns, or the sides of a condition.
type groupKey struct {
	sides   []expr.Expr
	columns bool      // all are columns of one type, so that one stands for another
	e       expr.Expr // else the condition
}

// groupCondition is a condition that is no key.
type groupCondition struct {
	e    expr.Expr
	of   inputs
	late bool // it is tested of the joined rows: it reads one input or none, or may raise an error
}

// innerJoins joins the inputs of inner joins that stand above one another, in the order that is expected to be the cheapest.
func (p *planner) innerJoins(n *plan.Join, need []int) *stream {
	g := &innerGroup{need: need}
	var conditions []expr.Expr
	g.collect(n, &conditions)
	g.first = append(g.first, plan.Width(n))
	for _, in := range g.inputs {
		g.graph.rows = append(g.graph.rows, p.Rows(in))
	}
	classes := map[int]*groupKey{} // by a column, those that are equal to it
	for _, e := range conditions {
		p.condition(g, n, e, classes)
	}
	p.classes(g, classes)
	reads := slices.Clone(need)
	for _, e := range conditions {
		reads = union(reads, references(e))
	}
	for i := range g.inputs {
		var list []int
		for _, c := range reads {
			if c >= g.first[i] && c < g.first[i+1] {
				list = append(list, c-g.first[i])
			}
		}
		g.reads = append(g.reads, list)
	}
	s := p.joinTree(g, g.graph.order())
	for _, c := range g.others {
		if c.late {
			s.step(&pipeline.Filter{Where: p.expr(s, c.e)}, s.last()*p.Selectivity(n, c.e))
		}
	}
	return s
}

// collect notes the inputs of joins, and their conditions.
func (g *innerGroup) collect(n plan.Node, conditions *[]expr.Expr) {
	first := 0
	if k := len(g.inputs); k > 0 {
		first = g.first[k-1] + len(g.inputs[k-1].Fields())
	}
	j, ok := n.(*plan.Join)
	if !ok || j.Kind != plan.Inner || len(g.inputs) > 0 && len(g.inputs)+inputCount(n) > maxInputs {
		g.inputs, g.first = append(g.inputs, n), append(g.first, first)
		return
	}
	g.joins = append(g.joins, j)
	g.collect(j.Left, conditions)
	g.collect(j.Right, conditions)
	for _, e := range plan.Conjuncts(j.On) {
		*conditions = append(*conditions, expr.Moved(e, func(c int) int { return c + first }))
	}
}

// inputCount is how many inputs inner joins have that stand above one another.
func inputCount(n plan.Node) int {
	if j, ok := n.(*plan.Join); ok && j.Kind == plan.Inner {
		return inputCount(j.Left) + inputCount(j.Right)
	}
	return 1
}

// inputsOf are the inputs that an expression reads.
func (g *innerGroup) inputsOf(e expr.Expr) (s inputs) {
	for _, c := range references(e) {
		s |= 1 << g.inputOf(c)
	}
	return s
}

// inputOf is the input that has a column.
func (g *innerGroup) inputOf(c int) int {
	i, found := slices.BinarySearch(g.first, c)
	for found && i+1 < len(g.first) && g.first[i+1] == c { // one without columns
		i++
	}
	if !found {
		i--
	}
	return i
}

// local is an expression over one input's own columns.
func (g *innerGroup) local(e expr.Expr, input int) expr.Expr {
	return expr.Moved(e, func(c int) int { return c - g.first[input] })
}

// condition puts a condition to the equalities, or to the others. Columns of one type that are equal become a class.
func (p *planner) condition(g *innerGroup, n *plan.Join, e expr.Expr, classes map[int]*groupKey) {
	of := g.inputsOf(e)
	l, r, ok := plan.EquiJoinKey(e)
	left, right := inputs(0), inputs(0)
	if ok {
		left, right = g.inputsOf(l), g.inputsOf(r)
	}
	a, isColumn := l.(*expr.Column)
	b, areColumns := r.(*expr.Column)
	switch {
	case !ok || left == 0 || right == 0 || left&right != 0:
		c := groupCondition{e, of, of.count() < 2 || plan.RaisesWhileJoining(e)}
		g.others = append(g.others, c)
		if !c.late {
			g.graph.restrictions = append(g.graph.restrictions, restriction{of, p.Selectivity(n, e)})
		}
	case isColumn && areColumns && a.T == b.T && !a.T.IsFloat() && a.T.Kind != table.Interval:
		merge(classes, a, b)
	default:
		g.keys = append(g.keys, &groupKey{sides: []expr.Expr{l, r}, e: e})
	}
}

// merge makes one class of those of two columns.
func merge(classes map[int]*groupKey, a, b *expr.Column) {
	if old := classes[a.Index]; old != nil && old == classes[b.Index] {
		return
	}
	merged := &groupKey{columns: true}
	for _, c := range []*expr.Column{a, b} {
		if old := classes[c.Index]; old != nil {
			merged.sides = append(merged.sides, old.sides...)
		} else {
			merged.sides = append(merged.sides, c)
		}
	}
	for _, side := range merged.sides {
		classes[side.(*expr.Column).Index] = merged
	}
}

// classes adds the classes of equal columns to the keys, and all keys to the graph as equalities.
func (p *planner) classes(g *innerGroup, classes map[int]*groupKey) {
	var columns []int
	for c := range classes {
		columns = append(columns, c)
	}
	slices.Sort(columns)
	for _, c := range columns {
		if !slices.Contains(g.keys, classes[c]) {
			g.keys = append(g.keys, classes[c])
		}
	}
	for _, k := range g.keys {
		q := &equality{}
		for _, e := range k.sides {
			side := equalSide{of: g.inputsOf(e)}
			side.Values, side.Rows = 1, 1
			for i, in := range g.inputs {
				if side.of>>i&1 == 0 {
					continue
				}
				side.Rows *= max(1, g.graph.rows[i])
				if side.of.count() == 1 {
					side.KeySide, side.unique = p.KeySide(in, g.local(e, i)), p.UniqueKey(in, []expr.Expr{widened(g.local(e, i))})
					continue
				}
				for _, c := range references(e) {
					if g.inputOf(c) == i {
						side.Values *= max(1, p.KeySide(in, g.local(&expr.Column{Index: c}, i)).Values)
					}
				}
			}
			if side.of.count() > 1 {
				side.Values = min(side.Values, side.Rows)
			}
			q.sides = append(q.sides, side)
		}
		g.graph.equalities = append(g.graph.equalities, q)
	}
}

// joinTree begins the pipeline that gives the rows of a tree of joins: that of the side which probes.
func (p *planner) joinTree(g *innerGroup, t *joinTree) *stream {
	width := g.first[len(g.first)-1]
	if t.probe == nil {
		return p.rows(g.inputs[t.input], g.reads[t.input]).atOffset(g.first[t.input], width)
	}
	j := joining{kind: pipeline.Inner, probe: p.joinTree(g, t.probe), build: p.joinTree(g, t.build), rows: t.rows, need: slices.Clone(g.need)}
	var built []expr.Expr
	outside := (inputs(1)<<len(g.inputs) - 1) &^ t.of
	for i, q := range g.graph.equalities {
		key := g.keys[i]
		probe, build := q.within(t.probe.of), q.within(t.build.of)
		all := g.inputsOf(key.e)
		switch {
		case probe >= 0 && build >= 0:
			k := joinKey{key.sides[probe], key.sides[build]}
			j.keys, built = append(j.keys, k), append(built, k.build)
		case !key.columns && t.of.has(all) && !t.probe.of.has(all) && !t.build.of.has(all): // a side reads inputs of both
			j.residual = append(j.residual, key.e)
		}
		if key.columns { // a join above reads one of those that are equal
			if side := q.within(t.of); side >= 0 && q.within(outside) >= 0 {
				j.need = union(j.need, references(key.sides[side]))
			}
		} else if !t.of.has(all) {
			j.need = union(j.need, references(key.e))
		}
	}
	for _, c := range g.others {
		if c.late || !t.of.has(c.of) {
			j.need = union(j.need, references(c.e))
		} else if !t.probe.of.has(c.of) && !t.build.of.has(c.of) {
			j.residual = append(j.residual, c.e)
		}
	}
	g.alias(j.probe, t.of, &j)
	if s := g.inputsOf(plan.Conjunction(built)); len(built) > 0 && s.count() == 1 {
		for i, in := range g.inputs {
			if s>>i&1 == 1 {
				local := xslices.Map(built, func(k expr.Expr) expr.Expr { return g.local(k, i) })
				j.span, j.unique = p.keyFacts(in, local)
				j.unique = j.unique && t.build.rows <= moreRows*max(1, g.graph.rows[i])
			}
		}
	}
	p.join(j)
	last := len(g.joins) - 1
	s := j.probe.done(g.joins[last])
	g.joins = g.joins[:last]
	return s
}

// alias finds columns of the build in the rows that probe it: those that the join's keys make equal.
func (g *innerGroup) alias(s *stream, of inputs, j *joining) {
	for _, k := range g.keys {
		if !k.columns {
			continue
		}
		there := -1
		for _, side := range k.sides {
			if c := side.(*expr.Column).Index; there < 0 && s.at[c] >= 0 {
				there = s.at[c]
			}
		}
		for _, side := range k.sides {
			c := side.(*expr.Column).Index
			if there >= 0 && s.at[c] < 0 && of.has(g.inputsOf(side)) && j.build.at[c] >= 0 {
				s.at[c] = there
			}
		}
	}
}
