package aggregates

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// Selection is the selected records of all chunks of a table; it implements
// [plan.Selection].
type Selection struct {
	q     *plan.Query
	table *table.Table
	parts []*part
}

// part is the selection of one chunk.
type part struct {
	eval *predicates.Evaluator
	pred *plan.Pred
	keep bool // the stencil buffer must hold the selection
	sel  *predicates.Selection
	candidates
	// notNull keeps, by column, the number of selected records where it is not NULL.
	notNull map[int]uint64
}

// NewSelection sets up the selection of each chunk; nothing runs yet. keep says that
// more than the number of selected records will be asked for.
func NewSelection(run pass.Runner, device predicates.Device, q *plan.Query, keep bool) *Selection {
	s := &Selection{q: q, table: q.Table}
	format := predicates.Format(q.Table, depthColumns(q))
	slots := predicates.NewSlots()
	n := len(q.Chunks)
	for i, c := range q.Chunks {
		slot := 0
		if i > 0 {
			slot = i % run.Slots(s.parts[0].eval.Target(), n)
		}
		e := predicates.New(run, device, q.Table, i, format, slot, slots)
		s.parts = append(s.parts, &part{eval: e, pred: c.Pred, keep: keep, notNull: map[int]uint64{}})
	}
	return s
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
func (p *part) selection() *predicates.Selection {
	if !p.eval.Claim() || p.sel == nil {
		p.sel, p.candidates = p.eval.Select(p.pred, p.keep), candidates{}
	}
	return p.sel
}

// serve says which aggregates the passes that follow serve.
func (s *Selection) serve(aggs []int) {
	for _, p := range s.parts {
		p.eval.For(pass.Part{Aggs: aggs})
	}
}

// each starts a count of each chunk and waits when all are in flight.
func (s *Selection) each(one func(chunk int, p *part) pass.Count) ([]uint64, error) {
	flight := make([]pass.Count, len(s.parts))
	for i, p := range s.parts {
		flight[i] = one(i, p)
		if err := p.eval.Err(); err != nil { // the other chunks draw nothing in vain
			return nil, err
		}
	}
	n := make([]uint64, len(flight))
	for i, c := range flight {
		var err error
		if n[i], err = c.Wait(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Count returns the number of selected records (the paper's COUNT).
func (s *Selection) Count() (uint64, error) {
	list, err := s.each(func(_ int, p *part) pass.Count { return p.selection() })
	return total(list), err
}

func total(list []uint64) (n uint64) {
	for _, k := range list {
		n += k
	}
	return n
}

// CountNotNull returns the number of selected records where a column is not NULL.
func (s *Selection) CountNotNull(col int) (uint64, error) {
	list, err := s.notNulls(col)
	return total(list), err
}

// notNulls is CountNotNull by chunk; each chunk is counted once.
func (s *Selection) notNulls(col int) ([]uint64, error) {
	list, err := s.each(func(_ int, p *part) pass.Count { return p.countNotNull(col) })
	if err == nil {
		for i, p := range s.parts {
			p.notNull[col] = list[i]
		}
	}
	return list, err
}

// countNotNull starts the count of a chunk.
func (p *part) countNotNull(col int) pass.Count {
	if n, ok := p.notNull[col]; ok {
		return pass.Known(n)
	}
	seg := p.eval.Segment(col)
	s := p.selection()
	switch err := p.eval.Err(); {
	case err != nil:
		return pass.Failed(err)
	case seg.NonNull() == 0 || s.None():
		return pass.Known(0)
	case seg.Nulls == 0:
		return s
	case s.All():
		return pass.Known(seg.NonNull())
	}
	return p.eval.CountNotNull(s.Test(), col)
}

// Sum implements [plan.Selection].
func (s *Selection) Sum(col int) (plan.Sum, error) {
	s.serve(s.q.Summed(col))
	defer s.serve(nil)
	return s.Accumulator(col)
}

// Check implements [plan.Selection].
func (s *Selection) Check() error {
	for i, c := range s.q.Chunks {
		e := s.parts[i].eval
		e.Claim()
		e.For(pass.Part{Check: true})
		defer e.For(pass.Part{})
		for j, k := range c.Checks {
			n, err := e.Select(k.Pred, false).Wait()
			if err != nil {
				return err
			}
			if n > 0 {
				return s.q.Failed(i, j)
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
