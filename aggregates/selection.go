package aggregates

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
)

// Selection is the selected records of all chunks of a table; it implements
// [partial.Selection].
type Selection struct{ Chunks[*part] }

// part is the selection of one chunk.
type part struct {
	*predicates.Evaluator
	pred *predicate.Pred
	keep bool // the stencil buffer must hold the selection
	sel  *predicates.Selection
	candidates
	notNull map[int]pass.Count // by column, of the selected records where it is not NULL
}

// NewSelection sets up the selection of each chunk; nothing runs yet. keep says that
// more than the number of selected records will be asked for.
func NewSelection(run pass.Runner, device predicates.Limits, q *physical.Query, keep bool) *Selection {
	s := &Selection{Chunks[*part]{Query: q}}
	format := predicates.Format(q.Table, depthColumns(q))
	slots := predicates.NewSlots()
	n := len(q.Chunks)
	for i, c := range q.Chunks {
		slot := 0
		if i > 0 {
			slot = i % run.Slots(s.List[0].Target(), n)
		}
		e := predicates.New(run, device, q.Table, i, format, slot, slots)
		s.List = append(s.List, &part{Evaluator: e, pred: c.Pred, keep: keep, notNull: map[int]pass.Count{}})
	}
	return s
}

// depthColumns lists the columns that may go to the depth buffer.
func depthColumns(q *physical.Query) []int {
	var cols []int
	for _, a := range q.Aggs {
		if a.Col >= 0 {
			cols = append(cols, a.Col)
		}
	}
	var walk func(*predicate.Pred)
	walk = func(p *predicate.Pred) {
		for _, k := range p.Kids {
			walk(k)
		}
		if _, program := p.Leaf.(*predicate.Computed); p.Leaf != nil && !program {
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
	if !p.Claim() || p.sel == nil {
		p.sel, p.candidates = p.Select(p.pred, p.keep), candidates{}
	}
	return p.sel
}

// CountAll implements [Chunk].
func (p *part) CountAll(pred *predicate.Pred) pass.Count { return p.Select(pred, false) }

// Count implements [Chunk].
func (p *part) Count() pass.Count { return p.selection() }

// CountNotNull implements [Chunk]. Each column is counted once.
func (p *part) CountNotNull(col int) pass.Count {
	if p.notNull[col] == nil {
		p.notNull[col] = p.countNotNull(col)
	}
	return p.notNull[col]
}

func (p *part) countNotNull(col int) pass.Count {
	seg := p.Segment(col)
	s := p.selection()
	switch err := p.Err(); {
	case err != nil:
		return pass.Failed(err)
	case seg.NonNull() == 0 || s.None():
		return pass.Known(0)
	case seg.Nulls == 0:
		return s
	case s.All():
		return pass.Known(seg.NonNull())
	}
	return p.Evaluator.CountNotNull(s.Test(), col)
}

// Sum implements [partial.Selection].
func (s *Selection) Sum(col int) (partial.Sum, error) {
	s.Serve(s.AggregatesOfSum(col))
	defer s.Serve(nil)
	return s.Accumulator(col)
}

// needsStencil reports whether anything but the number of selected records is
// asked for.
func needsStencil(q *physical.Query) bool {
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
