package aggregates

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// Group is the selected records of all chunks of a table; it implements
// [plan.Selection].
type Group struct {
	q     *plan.Query
	table *table.Table
	run   pass.Runner
	parts []*part
	// reached keeps the counts of histograms, by column.
	reached map[int]plan.Reached
}

// part is the selection of one chunk.
type part struct {
	eval *predicates.Evaluator
	pred *plan.Pred
	keep bool // the stencil buffer must hold the selection
	sel  *predicates.Selection
	gen  int // counts evaluations of the WHERE
	// notNull keeps, by column, the number of selected records where it is not NULL.
	notNull map[int]uint64
}

// NewGroup sets up the selection of each chunk; nothing runs yet. keep says that
// more than the number of selected records will be asked for.
func NewGroup(run pass.Runner, device predicates.Device, q *plan.Query, keep bool) *Group {
	g := &Group{q: q, table: q.Table, run: run, reached: map[int]plan.Reached{}}
	format := predicates.Format(q.Table, depthColumns(q))
	slots := predicates.NewSlots()
	n := len(q.Chunks)
	for i, c := range q.Chunks {
		slot := 0
		if i > 0 {
			slot = i % run.Slots(g.parts[0].eval.Target(), n)
		}
		e := predicates.New(run, device, q.Table, i, format, slot, slots)
		g.parts = append(g.parts, &part{eval: e, pred: c.Pred, keep: keep, notNull: map[int]uint64{}})
	}
	return g
}

// depthColumns lists the columns that may go to the depth buffer.
func depthColumns(q *plan.Query) []int {
	var cols []int
	for _, a := range q.Aggs {
		if a.Col >= 0 {
			cols = append(cols, a.Col)
		}
	}
	var walk func(*plan.Pred)
	walk = func(p *plan.Pred) {
		for _, k := range p.Kids {
			walk(k)
		}
		if _, program := p.Leaf.(*plan.Program); p.Leaf != nil && !program {
			cols = append(cols, p.Leaf.Columns()...)
		}
	}
	for _, c := range q.Chunks {
		walk(c.Pred)
		for _, k := range c.Checks {
			walk(k.Pred)
		}
	}
	return cols
}

// selection evaluates the chunk's WHERE, or again when another chunk has taken
// the depth-stencil buffer since.
func (p *part) selection() (*predicates.Selection, error) {
	if p.eval.Claim() && p.sel != nil {
		return p.sel, nil
	}
	s, err := p.eval.Select(p.pred, p.keep)
	p.sel, p.gen = s, p.gen+1
	return s, err
}

// Count returns the number of selected records (the paper's COUNT).
func (g *Group) Count() (uint64, error) {
	var n uint64
	for _, p := range g.parts {
		s, err := p.selection()
		if err != nil {
			return 0, err
		}
		k, err := s.Count()
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

// CountNotNull returns the number of selected records where a column is not NULL; each
// chunk is counted once.
func (g *Group) CountNotNull(col int) (uint64, error) {
	var total uint64
	for _, p := range g.parts {
		n, err := p.countNotNull(col)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func (p *part) countNotNull(col int) (uint64, error) {
	if n, ok := p.notNull[col]; ok {
		return n, nil
	}
	n, err := p.notNulls(col)
	if err == nil {
		p.notNull[col] = n
	}
	return n, err
}

func (p *part) notNulls(col int) (uint64, error) {
	seg := p.eval.Segment(col)
	s, err := p.selection()
	if err != nil {
		return 0, err
	}
	switch {
	case seg.NonNull() == 0 || s.None():
		return 0, nil
	case seg.Nulls == 0:
		return s.Count()
	case s.All():
		return uint64(seg.NonNull()), nil
	}
	c, err := p.eval.CountNotNull(s.Test(), col)
	if err != nil {
		return 0, err
	}
	return c.Wait()
}

// Check runs what must not select any record and returns the error of the first that
// does.
func (g *Group) Check() error {
	for i, c := range g.q.Chunks {
		e := g.parts[i].eval
		e.Claim()
		if err := e.Hazards(c.Pred); err != nil {
			return err
		}
		for j, k := range c.Checks {
			if err := e.Hazards(k.Pred); err != nil {
				return err
			}
			s, err := e.Select(k.Pred, false)
			if err != nil {
				return err
			}
			n, err := s.Count()
			if err != nil {
				return err
			}
			if n > 0 {
				return g.q.Failed(i, j)
			}
		}
	}
	return nil
}

// needsStencil reports whether anything but the number of selected records is
// asked for.
func needsStencil(q *plan.Query) bool {
	for _, a := range q.Aggs {
		switch a.Kind {
		case expr.CountAll, expr.Selectivity:
		case expr.Count:
			for _, c := range q.Table.Chunks {
				if c.Segments[a.Col].Nulls > 0 {
					return true
				}
			}
		default:
			return true
		}
	}
	return false
}
