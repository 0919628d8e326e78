package fused

import (
	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// selection is the selected records of all chunks of a table; it implements
// [partial.Selection].
type selection struct {
	aggregates.Chunks[*part]
	device predicates.Limits
	often  bool // several passes go over the selection
	partials
	bitmaps textures.Stack
}

// part is the selection of one chunk.
type part struct {
	pass.Drawer
	*selection
	chunk     *table.Chunk
	shape     textures.Shape
	pred      *predicate.Pred
	reduction *reduction
	counted   map[int]pass.Count // by column, -1 for none: selected records that are not NULL there
	extremes  map[int]span       // by column: of the selected records, once found
	bitmap    *textures.Temp     // of the selected records, once drawn
	marked    map[int]bool       // by column: its resident depth texture's stencil holds the selection
}

// none stands for a column where there is none.
const none = -1

// Select prepares the selection of a query; nothing runs yet. Queries for another
// backend are a [plan.Declined].
func Select(run pass.Runner, device predicates.Limits, q *physical.Query) (partial.Selection, error) {
	if err := aggregates.Supported(q); err != nil {
		return nil, err
	}
	s := &selection{Chunks: aggregates.Chunks[*part]{Query: q}, device: device, often: often(q), partials: partials{read: map[*textures.Temp][]uint32{}}}
	rows := max(1, q.Table.Rows())
	for i, c := range q.Chunks {
		chunk := q.Table.Chunks[i]
		shape := textures.LineShape(chunk.Rows)
		s.List = append(s.List, &part{Drawer: pass.Drawer{Runner: run, Chunk: i, Rows: chunk.Rows}, selection: s, chunk: chunk, shape: shape,
			pred: c.Pred, reduction: s.partials.reduction(shape, rows, device.Software), counted: map[int]pass.Count{}, extremes: map[int]span{}, marked: map[int]bool{}})
	}
	return s, nil
}

// draw draws a pass with a program; a fragment goes over so many texels of four records.
func (p *part) draw(w *program, texels int, q *pass.Pass) pass.Count {
	if err := w.fits(p.device, texels); err != nil {
		return p.Fail(err)
	}
	q.Textures, q.Uniforms = w.refs, append(q.Uniforms, w.uniforms...)
	return p.Draw(q)
}

// often reports whether more than one pass will go over the selection. That is so for several aggregates, or
// for one that needs the number of records first.
func often(q *physical.Query) bool {
	if len(q.Aggs) != 1 {
		return len(q.Aggs) > 1
	}
	switch q.Aggs[0].Kind {
	case expr.CountAll, expr.Selectivity, expr.Count, expr.Sum, expr.Avg:
		return false
	}
	return true
}

// where returns the selection as what a program takes: a bitmap, or the condition itself where it is evaluated once only.
// All chunks' bitmaps are drawn when the first is asked for.
func (p *part) where() (*textures.Temp, *predicate.Pred) {
	if !p.selects() || !p.often {
		return nil, p.pred
	}
	if p.bitmap == nil {
		for _, q := range p.List {
			if q.selects() {
				texels := q.reduction.texels
				q.bitmap = p.bitmaps.Add(textures.Temp{Width: max(1, texels.Width/8), Height: texels.Height, Words: 1})
			}
		}
		for _, q := range p.List {
			if q.selects() {
				q.drawBitmap()
			}
		}
	}
	return p.bitmap, &predicate.Pred{Op: predicate.True}
}

// selects reports whether some records of the chunk may be selected, and others not.
func (p *part) selects() bool { return p.pred.Op != predicate.True && p.pred.Op != predicate.False }

// drawBitmap draws the selection as a bitmap.
func (p *part) drawBitmap() {
	w, texels := newProgram(p.chunk, nil, p.pred), p.reduction.texels
	p.draw(w, 8, &pass.Pass{Op: Bitmap{p.pred.String()}, Color: p.bitmap, Program: w.drawing(), Uniforms: []shaders.Uniform{
		pair("extent", texels.Width, texels.Height), shaders.Uint("apart", uint32(p.bitmap.Width)), shaders.Uint("above", uint32(p.bitmap.Line))}})
}

// CountAll implements [aggregates.Chunk]: a check.
func (p *part) CountAll(pred *predicate.Pred) pass.Count {
	return p.count(Count{pred.String(), true}, nil, pred)
}

// Count implements [aggregates.Chunk].
func (p *part) Count() pass.Count {
	if p.counted[none] == nil {
		bitmap, pred := p.where()
		p.counted[none] = p.count(Count{Where: p.pred.String()}, bitmap, pred)
	}
	return p.counted[none]
}

// CountNotNull implements [aggregates.Chunk].
func (p *part) CountNotNull(col int) pass.Count {
	switch seg := p.chunk.Segments[col]; {
	case seg.NonNull() == 0:
		return pass.Known(0)
	case seg.Nulls == 0:
		return p.Count()
	}
	if p.counted[col] == nil {
		notNull := &predicate.Pred{Op: predicate.Simple, Leaf: &predicate.NullTest{Col: col, Not: true, Text: expr.Ident(p.Table.Fields[col].Name) + " IS NOT NULL"}}
		bitmap, pred := p.where()
		p.counted[col] = p.count(Count{Where: predicate.Combine(predicate.And, p.pred, notNull).String()}, bitmap, predicate.Combine(predicate.And, pred, notNull))
	}
	return p.counted[col]
}

// count starts the count of the records, of a bitmap if there is one, that satisfy a predicate. The next
// reduction of the chunk waits for it.
func (p *part) count(what Count, bitmap *textures.Temp, pred *predicate.Pred) pass.Count {
	if bitmap == nil {
		if n, ok := p.obvious(pred); ok {
			return pass.Known(n)
		}
		if c := p.countByDepth(what, pred); c != nil {
			return c
		}
	}
	p.reduce(p.reduction, newProgram(p.chunk, bitmap, pred), counting(what), none)
	var n [4]uint64
	err, read := error(nil), false
	return pass.Later(func() (uint64, error) {
		if !read {
			n, err = p.counts()
			read = true
		}
		return n[0], err
	})
}

// obvious returns the number of records that satisfy a predicate where no pass is
// needed to know it.
func (p *part) obvious(pred *predicate.Pred) (n uint64, ok bool) {
	switch pred.Op {
	case predicate.False:
		return 0, true
	case predicate.True:
		return uint64(p.chunk.Rows), true
	}
	l, ok := pred.Leaf.(*predicate.NullTest)
	if !ok {
		return 0, false
	}
	seg := p.chunk.Segments[l.Col]
	if l.Not {
		return uint64(seg.NonNull()), true
	}
	return uint64(seg.Nulls), true
}

// Sum implements partial.Selection.
func (s *selection) Sum(col int) (sum partial.Sum, err error) {
	s.Serve(s.AggregatesOfSum(col))
	defer s.Serve(nil)
	var live []*part
	for _, p := range s.List {
		if seg := p.chunk.Segments[col]; p.pred.Op != predicate.False && seg.NonNull() > 0 {
			live = append(live, p)
			p.measure(summing(Sum{p.of(col)}, textures.Parts(seg) == 2, seg.Bits), col)
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
	o := Of{Attribute: pass.Attribute{Name: expr.Ident(p.Table.Fields[col].Name), Col: col}}
	if p.pred.Op != predicate.True {
		o.Where = p.pred.String()
	}
	return o
}

// measure queues the reduction of the selected records by a column's codes.
func (p *part) measure(m measure, col int) { p.measureIn(p.reduction, m, col) }

func (p *part) measureIn(r *reduction, m measure, col int) {
	bitmap, pred := p.where()
	w := newProgram(p.chunk, bitmap, pred, col)
	p.reduce(r, w, m, w.attribute(col))
}
