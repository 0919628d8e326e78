package planner

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// Statistics are what is known of the tables of a statement.
type Statistics struct {
	*stats.Estimates
	Indexes func(*plan.Scan) []Index // of its table; nil for none
	Batches func(*plan.Scan) bool    // whether its table is read from its file in batches; nil: never
}

// Index is an index of a table, or a key.
type Index struct {
	Name    string
	Columns []int
	Unique  bool // a key
}

// New plans a tree after the rules, without fragments. Where the statement changes a table, change takes the rows; else it is nil. It fails for a
// node that no rule leaves.
func New(root plan.Node, of Statistics, change *pipeline.Change) (_ *pipeline.Plan, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	p := &planner{Statistics: of, needed: map[*plan.Subplan][]int{}, reads: map[*plan.Subplan]int{}, scalars: map[*plan.Subplan]bool{},
		made: map[*plan.Subplan]*pipeline.Pipeline{}, working: map[*plan.Subplan]*pipeline.Recursion{}, limits: map[*plan.Sort]*plan.Limit{}, builds: map[string]*pipeline.Pipeline{}}
	tree := root
	var arrays []int
	if a, ok := root.(*plan.Arrays); ok {
		tree, arrays = a.Input, a.Sizes
	}
	all := numbers(plan.Width(tree))
	p.count(tree)
	p.need(tree, all)
	s := p.rows(tree, all)
	if tree != root {
		s.Nodes = append(s.Nodes, root)
	}
	if change != nil {
		change.Columns = s.places(all)
		p.finish(s, change, s.last())
		p.plan.Answer = pipeline.Answer{Of: s.Pipeline}
		return &p.plan, nil
	}
	left, columns := p.left(s, all)
	p.plan.Answer = pipeline.Answer{Of: left, Columns: columns, Fields: root.Fields(), Arrays: arrays}
	return &p.plan, nil
}

// failure is the error of a tree that cannot be planned, on its way up.
type failure struct{ error }

// fail ends the planning.
func fail(format string, args ...any) {
	panic(failure{fmt.Errorf("planner: "+format, args...)})
}

// planner is a statement that is planned.
type planner struct {
	Statistics
	plan    pipeline.Plan
	needed  map[*plan.Subplan][]int // columns of each, ascending
	reads   map[*plan.Subplan]int   // the nodes that read each; all subqueries of one value together are one
	scalars map[*plan.Subplan]bool  // those whose value has been planned
	made    map[*plan.Subplan]*pipeline.Pipeline
	working map[*plan.Subplan]*pipeline.Recursion // of the rows that came last
	limits  map[*plan.Sort]*plan.Limit            // the LIMIT above a sort, which the sort does
	builds  map[string]*pipeline.Pipeline         // by what they are, those that several probes may share
}

// stream is a pipeline without a sink, whose rows are those of a node.
type stream struct {
	*pipeline.Pipeline
	at     []int // of each field of the node its place in the layout; negative for those that are not needed
	layout []table.Field
}

// last is how many rows come behind the last step.
func (s *stream) last() float64 { return s.Rows[len(s.Rows)-1] }

// step adds a step that leaves some rows.
func (s *stream) step(step pipeline.Step, rows float64) {
	s.Steps, s.Rows, s.layout = append(s.Steps, step), append(s.Rows, rows), step.Fields(s.layout)
}

// done notes a node that the pipeline does.
func (s *stream) done(n plan.Node) *stream {
	s.Nodes = append(s.Nodes, n)
	return s
}

// places are those of some of the node's fields in the layout.
func (s *stream) places(fields []int) []int {
	list := []int{}
	for _, f := range fields {
		if s.at[f] < 0 {
			fail("column %d is needed of %s, which leaves it out", f, s.Source)
		}
		list = append(list, s.at[f])
	}
	return list
}

// source begins a stream, of a node with so many fields; some of them, in this order, are its layout.
func source(of pipeline.Source, rows float64, fields int, columns []int) *stream {
	s := &stream{Pipeline: &pipeline.Pipeline{Source: of, Rows: []float64{rows}}, at: nowhere(fields), layout: of.Fields()}
	for i, c := range columns {
		s.at[c] = i
	}
	return s
}

// finish ends a stream, which becomes a pipeline of the plan.
func (p *planner) finish(s *stream, sink pipeline.Sink, rows float64) *pipeline.Pipeline {
	s.Sink, s.Rows = sink, append(s.Rows, rows)
	p.plan.Pipelines = append(p.plan.Pipelines, s.Pipeline)
	s.Number = len(p.plan.Pipelines)
	return s.Pipeline
}

// breaker ends a stream, and begins another one with what it leaves: of a node with so many fields, of which these are left.
func (p *planner) breaker(s *stream, sink pipeline.Sink, rows float64, fields int, columns []int) *stream {
	of := p.finish(s, sink, rows)
	return source(&pipeline.Relation{Of: []*pipeline.Pipeline{of}}, rows, fields, columns)
}

// left is the relation that has some fields of a stream's node, and their places in it. It is there already, or is rows of its own.
func (p *planner) left(s *stream, fields []int) (of *pipeline.Pipeline, columns []int) {
	if r, ok := s.Source.(*pipeline.Relation); ok && len(s.Steps) == 0 && len(r.Of) == 1 {
		of = r.Of[0]
		of.Nodes = append(of.Nodes, s.Nodes...)
		return of, s.places(fields)
	}
	p.finish(s, &pipeline.Rows{Columns: s.places(fields), Count: -1}, s.last())
	return s.Pipeline, numbers(len(fields))
}

// relation is a pipeline that leaves some fields of a node, in this order.
func (p *planner) relation(n plan.Node, fields []int) *pipeline.Pipeline {
	s := p.rows(n, fields)
	of, columns := p.left(s, fields)
	if of == s.Pipeline || slices.Equal(columns, numbers(len(of.Fields()))) {
		return of
	}
	again := source(&pipeline.Relation{Of: []*pipeline.Pipeline{of}}, of.Out(), len(columns), nil)
	return p.finish(again, &pipeline.Rows{Columns: columns, Count: -1}, of.Out())
}

// rows begins the pipeline that gives the rows of a node, with the fields that are needed.
func (p *planner) rows(n plan.Node, need []int) *stream {
	switch n := n.(type) {
	case *plan.Scan:
		if n.Of != nil {
			return p.subplan(n, n.Of, need)
		}
		return p.scan(n, nil, need).done(n)
	case *plan.Derived:
		return p.subplan(n, n.Of, need)
	case *plan.Values:
		return p.values(n)
	case *plan.Series:
		of := &pipeline.Series{Field: n.Field, Start: p.constant(n.Start), Stop: p.constant(n.Stop), Step: p.constant(n.Step), Limit: n.Limit, Where: n.Where}
		return source(of, p.Rows(n), 1, []int{0}).done(n)
	case *plan.Filter:
		return p.filter(n, need)
	case *plan.Project:
		return p.project(n, need)
	case *plan.Repeat:
		return p.repeat(n, need)
	case *plan.SeriesOfEach:
		return p.seriesOfEach(n, need)
	case *plan.Join:
		if n.Kind == plan.Inner {
			return p.innerJoins(n, need)
		}
		return p.outerJoin(n, need)
	case *plan.Aggregate:
		return p.aggregate(n, nil, need).done(n)
	case *plan.CountDistinct:
		if a, ok := n.Input.(*plan.Aggregate); ok && len(a.Keys) == 0 {
			return p.aggregate(a, n.Columns, need).done(a).done(n)
		}
	case *plan.GroupingSets:
		return p.groupingSets(n, need)
	case *plan.Sort:
		return p.sort(n, need)
	case *plan.Limit:
		return p.limit(n, need)
	case *plan.Distinct:
		return p.distinct(n)
	case *plan.Window:
		return p.window(n, need)
	case *plan.Concat:
		return p.concat(n, need)
	case *plan.Recursion:
		return p.recursion(n)
	}
	fail("no pipeline does %s", n)
	return nil
}

// numbers are those from 0 to below n.
func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// nowhere are places of n columns that have none.
func nowhere(n int) []int { return slices.Repeat([]int{-1}, n) }

// union are the numbers of lists, ascending, each once.
func union(lists ...[]int) []int {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// references lists the fields that expressions read of their node's input, ascending, each once.
func references(list ...expr.Expr) (all []int) {
	for _, e := range list {
		expr.Walk(e, func(e expr.Expr) {
			switch e := e.(type) {
			case *expr.Column:
				all = append(all, e.Index)
			case *expr.AggRef:
				all = append(all, e.Index)
			}
		})
	}
	return union(all)
}
