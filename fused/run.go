package fused

import (
	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// selection is the selected records of all chunks of a table; it implements
// [plan.Selection].
type selection struct {
	run    pass.Runner
	device predicates.Device
	table  *table.Table
	q      *plan.Query
	serves []int // the aggregates that the passes serve
	parts  []*part
	// checking says that the passes look for errors, which must count no record.
	checking bool
	often    bool // several passes go over the selection
}

// part is the selection of one chunk.
type part struct {
	*selection
	index     int // of the chunk
	chunk     *table.Chunk
	shape     textures.Shape
	pred      *plan.Pred
	reduction *reduction
	known     map[int]uint64 // by column, -1 for none: selected records that are not NULL there
	bitmap    *textures.Temp // of the selected records, once drawn
	marked    map[int]bool   // by column: its resident depth texture's stencil holds the selection
}

// none stands for a column where there is none.
const none = -1

// Select prepares the selection of a query; nothing runs yet. Queries for another
// backend are a [plan.Declined].
func Select(run pass.Runner, device predicates.Device, q *plan.Query) (plan.Selection, error) {
	if err := aggregates.Supported(q); err != nil {
		return nil, err
	}
	s := &selection{run: run, device: device, q: q, table: q.Table, often: often(q)}
	shared := map[textures.Temp]*textures.Temp{}
	for i, c := range q.Chunks {
		chunk := q.Table.Chunks[i]
		shape := textures.LineShape(chunk.Rows)
		s.parts = append(s.parts, &part{selection: s, index: i, chunk: chunk, shape: shape, pred: c.Pred,
			reduction: newReduction(shape, shared), known: map[int]uint64{}, marked: map[int]bool{}})
	}
	return s, nil
}

// draw hands a pass over the chunk's records to the runner.
func (p *part) draw(q *pass.Pass) (pass.Count, error) {
	q.Part, q.Chunk, q.Window = pass.Part{Check: p.checking, Aggs: p.serves}, p.index, textures.Window{Rows: p.chunk.Rows}
	return p.run.Run(q)
}

// often reports whether more than one pass will go over the selection: for several
// aggregates, or one that has to know first how many records there are.
func often(q *plan.Query) bool {
	if len(q.Aggs) != 1 {
		return len(q.Aggs) > 1
	}
	switch q.Aggs[0].Kind {
	case expr.CountAll, expr.Selectivity, expr.Count, expr.Sum, expr.Avg:
		return false
	}
	return true
}

// where returns the selection as what a program takes: a bitmap, which is drawn now
// if it has not been, or the condition itself where it is evaluated once only.
func (p *part) where() (*textures.Temp, *plan.Pred, error) {
	if p.pred.Op == plan.True || p.pred.Op == plan.False || !p.often {
		return nil, p.pred, nil
	}
	all := &plan.Pred{Op: plan.True}
	if p.bitmap != nil {
		return p.bitmap, all, nil
	}
	w := newProgram(p.chunk, nil, p.pred)
	if err := w.fits(p.device, 8); err != nil {
		return nil, nil, err
	}
	texels := p.reduction.texels
	b := &textures.Temp{Width: max(1, texels.Width/8), Height: texels.Height, Words: 1}
	_, err := p.draw(&pass.Pass{Op: Bitmap{p.pred.String()}, Color: b, Program: w.drawing(), Textures: w.refs, Uniforms: append([]shaders.Uniform{
		pair("extent", texels.Width, texels.Height), shaders.Uint("apart", uint32(b.Width))}, w.uniforms...)})
	if err == nil {
		p.bitmap = b
	}
	return b, all, err
}

// Check implements plan.Selection.
func (s *selection) Check() error {
	s.checking = true
	defer func() { s.checking = false }()
	for i, c := range s.q.Chunks {
		p := s.parts[i]
		for j, k := range c.Checks {
			wait, err := p.startCounting(Count{k.Pred.String(), true}, nil, k.Pred)
			if err != nil {
				return err
			}
			n, err := wait()
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

// Count implements plan.Selection.
func (s *selection) Count() (uint64, error) { return s.CountNotNull(none) }

// CountNotNull implements plan.Selection; the chunks' passes are queued before
// the first count is waited for.
func (s *selection) CountNotNull(col int) (uint64, error) {
	waits := make([]func() (uint64, error), len(s.parts))
	for i, p := range s.parts {
		var err error
		if waits[i], err = p.countNotNull(col); err != nil {
			return 0, err
		}
	}
	var n uint64
	for _, wait := range waits {
		k, err := wait()
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

// countNotNull starts the count of the selected records that are not NULL in a
// column; col may be none.
func (p *part) countNotNull(col int) (func() (uint64, error), error) {
	var notNull *plan.Pred
	if col != none {
		switch seg := p.chunk.Segments[col]; {
		case seg.NonNull() == 0:
			return known(0), nil
		case seg.Nulls == 0:
			col = none
		default:
			notNull = &plan.Pred{Op: plan.Simple, Leaf: &plan.NullTest{Col: col, Not: true, Text: expr.Ident(p.table.Fields[col].Name) + " IS NOT NULL"}}
		}
	}
	if n, ok := p.known[col]; ok {
		return known(n), nil
	}
	bitmap, pred, err := p.where()
	if err != nil {
		return nil, err
	}
	text := p.pred.String()
	if notNull != nil {
		pred, text = plan.Join(plan.And, pred, notNull), plan.Join(plan.And, p.pred, notNull).String()
	}
	wait, err := p.startCounting(Count{Where: text}, bitmap, pred)
	if err != nil {
		return nil, err
	}
	return func() (uint64, error) {
		n, err := wait()
		if err == nil {
			p.known[col] = n
		}
		return n, err
	}, nil
}

func known(n uint64) func() (uint64, error) { return pass.Known(n).Wait }

// startCounting starts the count of the records, of a bitmap if there is one, that
// satisfy a predicate; it ends before the next reduction of the chunk begins.
func (p *part) startCounting(what Count, bitmap *textures.Temp, pred *plan.Pred) (func() (uint64, error), error) {
	if bitmap == nil {
		if n, ok := p.obvious(pred); ok {
			return known(n), nil
		}
		if wait, ok, err := p.countByDepth(what, pred); ok || err != nil {
			return wait, err
		}
	}
	m := counting()
	m.op = what
	if err := p.reduce(newProgram(p.chunk, bitmap, pred), &m, none); err != nil {
		return nil, err
	}
	return func() (uint64, error) {
		n, err := p.counts()
		return n[0], err
	}, nil
}

// obvious returns the number of records that satisfy a predicate where no pass is
// needed to know it.
func (p *part) obvious(pred *plan.Pred) (n uint64, ok bool) {
	switch pred.Op {
	case plan.False:
		return 0, true
	case plan.True:
		return uint64(p.chunk.Rows), true
	}
	l, ok := pred.Leaf.(*plan.NullTest)
	if !ok {
		return 0, false
	}
	seg := p.chunk.Segments[l.Col]
	if l.Not {
		return uint64(seg.NonNull()), true
	}
	return uint64(seg.Nulls), true
}

// Sum implements plan.Selection.
func (s *selection) Sum(col int) (sum plan.Sum, err error) {
	s.serves = s.q.Summed(col)
	defer func() { s.serves = nil }()
	var live []*part
	for _, p := range s.parts {
		if p.pred.Op == plan.False || p.chunk.Segments[col].NonNull() == 0 {
			continue
		}
		live = append(live, p)
		seg := p.chunk.Segments[col]
		m := summing(textures.Parts(seg) == 2, seg.Bits)
		m.op = Sum{p.of(col)}
		if err := p.measure(&m, col); err != nil {
			return sum, err
		}
	}
	for _, p := range live {
		codes, n, err := p.total()
		if err != nil {
			return sum, err
		}
		sum.AddCodes(p.chunk.Segments[col], codes, n)
	}
	return sum, nil
}

// of names a column over the selection.
func (p *part) of(col int) Of {
	o := Of{Attribute: pass.Attribute{Name: expr.Ident(p.table.Fields[col].Name), Col: col}}
	if p.pred.Op != plan.True {
		o.Where = p.pred.String()
	}
	return o
}

// measure queues the reduction of the selected records by a column's codes.
func (p *part) measure(m *measure, col int) error {
	bitmap, pred, err := p.where()
	if err != nil {
		return err
	}
	w := newProgram(p.chunk, bitmap, pred, col)
	return p.reduce(w, m, w.attribute(col))
}
