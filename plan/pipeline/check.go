package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Check says what is wrong with a plan of a logical tree; nil for nothing.
//
//   - A pipeline stands behind those that it reads: the source is a table, constants, or what an earlier sink left.
//   - Every build is made before it is probed, with as many keys of the same types. What a sink leaves is read by a later pipeline.
//   - Every column and every subquery that an expression names is there, with its type.
//   - Every node of the tree and of its subplans is done by one pipeline.
func (p *Plan) Check(root plan.Node) error {
	c := &checker{scalars: map[expr.Query]bool{}, read: map[*Pipeline]bool{}}
	for i, of := range p.Pipelines {
		if of.Number != i+1 {
			return fmt.Errorf("pipeline %d has the number %d", i+1, of.Number)
		}
		if err := c.pipeline(p, of); err != nil {
			return fmt.Errorf("pipeline %d: %w", of.Number, err)
		}
		if s, ok := of.Sink.(*Scalar); ok {
			c.scalars[s.Of] = false
		}
	}
	if err := c.answer(p, root); err != nil {
		return err
	}
	for _, of := range p.Pipelines {
		if s, ok := of.Sink.(*Scalar); ok && !c.scalars[s.Of] || !ok && !c.read[of] {
			return fmt.Errorf("pipeline %d: nothing reads what it leaves", of.Number)
		}
	}
	return p.checkNodes(root)
}

// checker is what is known of the pipelines before one.
type checker struct {
	scalars map[expr.Query]bool // that there are, and whether an expression names them
	read    map[*Pipeline]bool
}

func (c *checker) pipeline(p *Plan, of *Pipeline) error {
	if of.Source == nil || of.Sink == nil {
		return fmt.Errorf("it has no source or no sink")
	}
	if len(of.Rows) != len(of.Steps)+2 {
		return fmt.Errorf("%d estimates of %d steps", len(of.Rows), len(of.Steps))
	}
	for _, rows := range of.Rows {
		if math.IsNaN(rows) || rows < 0 {
			return fmt.Errorf("%v rows are expected", rows)
		}
	}
	for _, r := range of.Reads() {
		if r.Number <= 0 || r.Number >= of.Number || p.Pipelines[r.Number-1] != r {
			return fmt.Errorf("it reads a pipeline that does not stand before it")
		}
		c.read[r] = true
	}
	if err := c.source(of); err != nil {
		return fmt.Errorf("%s: %w", of.Source, err)
	}
	layout := of.Source.Fields()
	for _, s := range of.Steps {
		err := c.exprs(s.Exprs(), layout)
		if probe, ok := s.(*Probe); ok && err == nil {
			err = c.probe(probe, layout)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		layout = s.Fields(layout)
	}
	if err := c.sink(of.Sink, layout); err != nil {
		return fmt.Errorf("%s: %w", of.Sink, err)
	}
	return nil
}

// source checks that a source reads relations of columns alike.
func (c *checker) source(of *Pipeline) error {
	if err := c.exprs(of.Source.Exprs(), nil); err != nil {
		return err
	}
	var relations []*Pipeline
	switch s := of.Source.(type) {
	case *Relation:
		if relations = s.Of; len(relations) == 0 {
			return fmt.Errorf("it reads no pipeline")
		}
	case *WorkingTable:
		relations = s.Reads()
	case *Recursion:
		relations = s.Reads()
		if err := c.exprs(s.Where, s.Fields()); err != nil {
			return err
		}
	case *Series:
		if err := c.exprs(s.Where, s.Fields()); err != nil {
			return err
		}
	case *BuildScan:
		if _, ok := s.Build.Sink.(*Build); !ok {
			return fmt.Errorf("%s is no build", s.Build.name())
		}
		if !slices.ContainsFunc(s.After.Steps, func(step Step) bool {
			probe, ok := step.(*Probe)
			return ok && probe.Kind.Notes() && probe.Build == s.Build
		}) {
			return fmt.Errorf("%s does not note what matches", s.After.name())
		}
		return nil
	case *Scan:
		return columns(s.Columns, s.Of, s.Prunes, c)
	case *Batches:
		return columns(s.Columns, s.Of, s.Prunes, c)
	case *Lookup:
		if len(s.By) != len(s.Values) {
			return fmt.Errorf("%d columns of an index, and %d values", len(s.By), len(s.Values))
		}
		if err := places(s.By, s.Of); err != nil {
			return err
		}
		return columns(s.Columns, s.Of, nil, c)
	}
	for _, r := range relations {
		if !leavesRelation(r) {
			return fmt.Errorf("%s leaves no relation", r.name())
		}
		fields, want := r.Fields(), of.Source.Fields()
		if !slices.EqualFunc(fields, want, func(a, b table.Field) bool { return ComparableTypes(a.Type, b.Type) }) {
			return fmt.Errorf("%s leaves other columns", r.name())
		}
	}
	return nil
}

// columns checks the places of columns of a table, and conditions over them.
func columns(list []int, of []table.Field, where []expr.Expr, c *checker) error {
	if err := places(list, of); err != nil {
		return err
	}
	return c.exprs(where, of)
}

// leavesRelation reports a sink whose rows a source may read.
func leavesRelation(p *Pipeline) bool {
	switch p.Sink.(type) {
	case *Build, *Scalar, *Change:
		return false
	}
	return true
}

func (c *checker) probe(s *Probe, layout []table.Field) error {
	b, ok := s.Build.Sink.(*Build)
	switch {
	case !ok:
		return fmt.Errorf("%s is no build", s.Build.name())
	case len(b.Keys) != len(s.Keys):
		return fmt.Errorf("%d keys, and the build has %d", len(s.Keys), len(b.Keys))
	case b.Kind == Bitmap && (len(b.Columns) > 0 || s.Residual != nil):
		return fmt.Errorf("more than membership is asked of a bitmap")
	case (b.Kind == List) != (len(b.Keys) == 0):
		return fmt.Errorf("a %s has %d keys", b.Kind, len(b.Keys))
	}
	for i, k := range s.Keys {
		if k.Type().Kind != b.Keys[i].Type().Kind && !ComparableTypes(k.Type(), b.Keys[i].Type()) {
			return fmt.Errorf("key %d is a %s, and a %s in the build", i+1, k.Type(), b.Keys[i].Type())
		}
	}
	if s.Residual == nil {
		return nil
	}
	return c.exprs([]expr.Expr{s.Residual}, slices.Concat(layout, s.Build.Fields()))
}

func (c *checker) sink(s Sink, layout []table.Field) error {
	if err := c.exprs(s.Exprs(), layout); err != nil {
		return err
	}
	var list []int
	switch s := s.(type) {
	case *Rows:
		list = s.Columns
	case *Build:
		list = s.Columns
	case *Sort:
		list = s.Columns
		if s.Unique > len(s.Keys) {
			return fmt.Errorf("%d unique keys of %d", s.Unique, len(s.Keys))
		}
	case *Distinct:
		list = s.Columns
	case *Window:
		list = s.Columns
	case *Scalar:
		list = []int{s.Column}
	case *Change:
		list = s.Columns
	case *Groups:
		for _, set := range s.Sets {
			for _, k := range set {
				if k < 0 || k >= len(s.Keys) {
					return fmt.Errorf("there is no key %d", k)
				}
			}
		}
	}
	return places(list, layout)
}

// places checks that fields have some places.
func places(list []int, fields []table.Field) error {
	for _, i := range list {
		if i < 0 || i >= len(fields) {
			return fmt.Errorf("there is no column %d of %d", i, len(fields))
		}
	}
	return nil
}

// exprs checks that what expressions name is there.
func (c *checker) exprs(list []expr.Expr, layout []table.Field) (err error) {
	for _, e := range list {
		expr.Walk(e, func(x expr.Expr) {
			switch x := x.(type) {
			case *expr.Column:
				if x.Index < 0 || x.Index >= len(layout) {
					err = fmt.Errorf("%s is column %d of %d", x, x.Index, len(layout))
				} else if !ComparableTypes(x.T, layout[x.Index].Type) {
					err = fmt.Errorf("%s is a %s, and column %d a %s", x, x.T, x.Index, layout[x.Index].Type)
				}
			case *expr.Subquery:
				if _, there := c.scalars[x.Of]; !there || x.Kind != expr.Value {
					err = fmt.Errorf("%s is no value of an earlier pipeline", x)
				}
				c.scalars[x.Of] = true
			case *expr.AggRef, *expr.Outer, *expr.SubColumn, *expr.Window:
				err = fmt.Errorf("%s is no column", x)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ComparableTypes reports types of columns that take each other's values: integers may be of other widths, as in an [expr.Compare].
func ComparableTypes(a, b table.Type) bool {
	return a.IsInteger() && b.IsInteger() || a.Kind == b.Kind && a.Scale == b.Scale
}

// answer checks that the answer is what the tree gives.
func (c *checker) answer(p *Plan, root plan.Node) error {
	a := p.Answer
	if a.Of == nil || !slices.Contains(p.Pipelines, a.Of) {
		return fmt.Errorf("no pipeline leaves the answer")
	}
	c.read[a.Of] = true
	if _, changes := a.Of.Sink.(*Change); changes {
		return nil
	}
	if !leavesRelation(a.Of) {
		return fmt.Errorf("%s leaves no rows of an answer", a.Of.name())
	}
	fields := a.Of.Fields()
	if err := places(a.Columns, fields); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	if arrays, ok := root.(*plan.Arrays); ok {
		root = arrays.Input
	}
	if !slices.EqualFunc(at(fields, a.Columns), root.Fields(), func(a, b table.Field) bool { return ComparableTypes(a.Type, b.Type) }) {
		return fmt.Errorf("the answer has other columns than the statement")
	}
	return nil
}

// checkNodes checks that each node of a tree is done once. A subquery whose value nothing reads is left out as a whole.
func (p *Plan) checkNodes(root plan.Node) error {
	left, done := map[plan.Node]int{}, map[*plan.Subplan]bool{}
	of := map[plan.Node]*plan.Subplan{} // nil for those of the statement itself
	seen := map[*plan.Subplan]bool{}
	var add func(*plan.Subplan, plan.Node)
	add = func(in *plan.Subplan, n plan.Node) {
		plan.Walk(n, func(n plan.Node, _ int) {
			left[n]++
			of[n] = in
			if r, ok := n.(*plan.Recursion); ok { // the tree of Last is no rows
				seen[r.Last] = true
			}
		})
		plan.EachSubplan(n, func(s *plan.Subplan) {
			if !seen[s] {
				seen[s] = true
				add(s, s.Tree)
			}
		})
	}
	add(nil, root)
	for _, pipeline := range p.Pipelines {
		for _, n := range pipeline.Nodes {
			if left[n]--; left[n] < 0 {
				return fmt.Errorf("pipeline %d: %s is done twice, or is no node of the statement", pipeline.Number, n)
			}
			done[of[n]] = true
		}
	}
	for n, times := range left {
		if times > 0 && (of[n] == nil || done[of[n]]) {
			return fmt.Errorf("no pipeline does %s", n)
		}
	}
	return nil
}
