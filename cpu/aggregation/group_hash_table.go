package aggregation

import (
	"context"
	"iter"
	"math"
	"math/bits"
	"sync"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// GroupRows is some groups, with keys and then aggregates. It is a chunk with a column for each of these, or rows of
// values where some values have no codes.
type GroupRows struct {
	Chunk  *table.Chunk
	Values [][]table.Value
}

// InValues makes rows of values of groups.
func InValues(groups iter.Seq2[GroupRows, error]) iter.Seq2[[][]table.Value, error] {
	return func(yield func([][]table.Value, error) bool) {
		for g, err := range groups {
			rows := g.Values
			if g.Chunk != nil {
				rows = valuesOf(g.Chunk)
			}
			if !yield(rows, err) {
				return
			}
		}
	}
}

// valuesOf is the rows of a chunk.
func valuesOf(c *table.Chunk) [][]table.Value {
	rows, cells := make([][]table.Value, c.Rows), make([]table.Value, c.Rows*len(c.Segments))
	for i := range rows {
		row := cells[i*len(c.Segments):][:len(c.Segments):len(c.Segments)]
		for k, s := range c.Segments {
			row[k] = s.Value(i)
		}
		rows[i] = row
	}
	return rows
}

// asChunk is groups as a chunk, one row each in the order of ids, without groups of which HAVING is not TRUE. It is nil where
// some value has no code, or a row raises an error.
func (f groupsFound) asChunk(ctx context.Context, ids []uint64) *table.Chunk {
	w := f[0]
	c := &table.Chunk{Rows: len(ids)}
	for i := range w.node.Keys {
		s := f.keySegment(i, ids)
		if s == nil || ctx.Err() != nil {
			return nil
		}
		c.Segments = append(c.Segments, s)
	}
	for k := range w.node.Aggs {
		s := f.aggregateSegment(k, ids)
		if s == nil || ctx.Err() != nil {
			return nil
		}
		c.Segments = append(c.Segments, s)
	}
	if w.node.Having == nil {
		return c
	}
	return having(OverGroups(w.node.Having), c)
}

// OverGroups is an expression over the rows of groups as one over the columns of their chunk.
func OverGroups(e expr.Expr) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		if ref, ok := e.(*expr.AggRef); ok {
			return &expr.Column{Index: ref.Index, Name: ref.String(), T: ref.T, P: ref.P}
		}
		return nil
	})
}

// having leaves the rows of a chunk for which a condition is TRUE; nil where one raises an error.
func having(e expr.Expr, c *table.Chunk) *table.Chunk {
	kept, failed := table.NewBitmap(c.Rows), false
	var mu sync.Mutex
	table.InParts(c.Rows, func(from, to int) {
		x, err := new(vector.Evaluator).Vector(e, c, table.Block{First: from, N: to - from})
		if err != nil {
			mu.Lock()
			failed = true
			mu.Unlock()
			return
		}
		for i, v := range x.Ints {
			if v != 0 && !x.IsNull(i) {
				kept.Set(from + i)
			}
		}
	})
	if failed {
		return nil
	}
	var rows []uint32
	for i := range c.Rows {
		if kept.Get(i) {
			rows = append(rows, uint32(i))
		}
	}
	out := &table.Chunk{Rows: len(rows)}
	for _, s := range c.Segments {
		out.Segments = append(out.Segments, s.Of(rows))
	}
	return out
}

// keySegment is the values of a key.
func (f groupsFound) keySegment(i int, ids []uint64) *table.Segment {
	w := f[0]
	k := w.keys.list[i]
	if !w.keys.deterministic() || k.signed {
		return f.firstValues(k.e, ids)
	}
	shift := xslices.Sum(w.keys.list[:i], func(before *key) int { return before.bits })
	s := &table.Segment{Type: k.e.Type(), Base: k.lo, Max: k.null}
	if k.nulls {
		s.Max--
	}
	if s.Type.Kind == table.Varchar && len(w.table.Chunks) > 0 {
		s.Dict = w.table.Chunks[0].Segments[k.e.(*expr.Column).Index].Dict
	}
	if s.Type.Kind == table.Interval { // the chunks share them
		for _, c := range w.table.Chunks {
			if spans := c.Segments[k.e.(*expr.Column).Index].Spans; spans != nil {
				s.Spans = spans
			}
		}
	}
	codes := make([]uint64, len(ids))
	table.InParts(len(ids), func(from, to int) {
		for n, id := range ids[from:to] {
			codes[from+n] = f[id>>32].ids.Words[uint32(id)] >> shift & (1<<k.bits - 1)
		}
	})
	if !k.nulls {
		return coded(s, codes, nil)
	}
	valid := table.NewBitmap(len(ids))
	for n, code := range codes {
		if code != k.null {
			valid.Set(n)
		} else {
			codes[n] = 0
		}
	}
	return coded(s, codes, valid)
}

// firstValues is the values of an expression in the first rows of groups, which are in order.
func (f groupsFound) firstValues(e expr.Expr, ids []uint64) *table.Segment {
	if t := e.Type(); t.Kind == table.Varchar || t.Kind == table.Interval {
		return nil
	}
	codes, valid := make([]uint64, len(ids)), table.NewBitmap(len(ids))
	fits, t := true, f[0].table
	var mu sync.Mutex
	table.InParts(len(ids), func(from, to int) {
		var eval vector.Evaluator
		for from < to {
			chunk := f[ids[from]>>32].first[uint32(ids[from])] >> 32
			var rows []uint32
			for _, id := range ids[from:to] {
				at := f[id>>32].first[uint32(id)]
				if at>>32 != chunk {
					break
				}
				rows = append(rows, uint32(at))
			}
			x, err := eval.Vector(e, t.Chunks[chunk], table.Block{Chunk: int(chunk), Rows: rows})
			if err != nil || x.Highs != nil {
				mu.Lock()
				fits = false
				mu.Unlock()
				return
			}
			for i := range rows {
				if x.IsNull(i) {
					continue
				}
				valid.Set(from + i)
				codes[from+i] = ordinalAt(e.Type(), &x, i)
			}
			from += len(rows)
		}
	})
	if !fits {
		return nil
	}
	return rebased(e.Type(), codes, valid)
}

// ordinalAt is the signed ordinal of a value of a type other than text.
func ordinalAt(t table.Type, x *expr.Vector, i int) uint64 {
	if x.Floats != nil {
		return table.SignedOrdinal(table.Value{Type: t, F: x.Floats[i]})
	}
	return table.Ordinal(table.Value{Type: t, I: x.Ints[i]})
}

// aggregateSegment is the values of an aggregate.
func (f groupsFound) aggregateSegment(k int, ids []uint64) *table.Segment {
	a, at := f[0].node.Aggs[k], f[0].places[k]
	t := a.Type()
	if t.Kind == table.Varchar || t.Kind == table.Interval {
		return nil
	}
	codes, valid, fits := make([]uint64, len(ids)), table.NewBitmap(len(ids)), true
	var mu sync.Mutex
	table.InParts(len(ids), func(from, to int) {
		all := true
		for i := from; i < to && all; i++ {
			w, g := f[ids[i]>>32], uint32(ids[i])
			var ok, null bool
			codes[i], null, ok = ordinalOf(w.states[at.input][at.state], a, g, w.table)
			if all = ok; !null {
				valid.Set(i)
			}
		}
		if !all {
			mu.Lock()
			fits = false
			mu.Unlock()
		}
	})
	if !fits {
		return nil
	}
	return rebased(t, codes, valid)
}

// ordinalOf is the signed ordinal of a group's aggregate; it is not ok where there is none.
func ordinalOf(s State, a expr.Aggregate, g uint32, t *table.Table) (o uint64, null, ok bool) {
	switch s := s.(type) {
	case *counts:
		if a.Kind != expr.Selectivity {
			return table.OrdinalInt(int64(s.n[g])), false, true
		}
	case *intSums:
		if a.Kind != expr.Sum {
			break
		}
		total := s.total(g)
		v, fits := total.Int64()
		return table.OrdinalInt(v), s.n[g] == 0, fits
	}
	v, err := s.Value(a, g, t)
	if err != nil || v.Big != nil || !v.Null && v.Type != a.Type() {
		return 0, false, false
	}
	if v.Null {
		return 0, true, true
	}
	return table.SignedOrdinal(v), false, true
}

// rebased is a segment of signed ordinals, of those that are valid.
func rebased(t table.Type, ordinals []uint64, valid table.Bitmap) *table.Segment {
	least, most := uint64(math.MaxUint64), uint64(0)
	s := &table.Segment{Type: t}
	for i, signed := range ordinals {
		if !valid.Get(i) {
			continue
		}
		o := t.Unsigned(signed)
		if least, most = min(least, o), max(most, o); o != signed {
			if s.NegativeZeros == nil {
				s.NegativeZeros = table.NewBitmap(len(ordinals))
			}
			ordinals[i] = o
			s.NegativeZeros.Set(i)
		}
	}
	if least <= most {
		s.Base, s.Max = least, most-least
	}
	for i := range ordinals {
		if ordinals[i] -= s.Base; !valid.Get(i) {
			ordinals[i] = 0
		}
	}
	return coded(s, ordinals, valid)
}

// coded gives a segment its codes; those that are not valid are NULL.
func coded(s *table.Segment, codes []uint64, valid table.Bitmap) *table.Segment {
	s.Bits, s.Codes = bits.Len64(s.Max), table.Codes{U64: codes}
	if valid != nil {
		s.Nulls = len(codes) - valid.Count()
		if s.Nulls > 0 {
			s.Valid = valid
		}
	}
	return s
}

// rows are the groups, in the order of their first rows: all of them, or at least those that an order has first.
func (f groupsFound) rows(ctx context.Context, by *plan.Sort) iter.Seq2[GroupRows, error] {
	return func(yield func(GroupRows, error) bool) {
		ids, err := f.inOrder(ctx, by)
		if err != nil {
			yield(GroupRows{}, err)
			return
		}
		if c := f.asChunk(ctx, ids); c != nil {
			yield(GroupRows{Chunk: c}, nil)
			return
		}
		for rows, err := range f.rowsOfValues(ctx, ids) {
			if !yield(GroupRows{Values: rows}, err) {
				return
			}
		}
	}
}
