package expr

import (
	"slices"

	"github.com/stencildb/stencildb/table"
)

// Gathered is the values at some places.
func (x *Vector) Gathered(at []uint64) (out Vector) {
	switch {
	case x.Floats != nil:
		out.Floats = gathered(x.Floats, at)
	case x.Texts != nil:
		out.Texts = gathered(x.Texts, at)
	default:
		out.Ints = gathered(x.Ints, at)
		if x.Spans != nil {
			out.Spans = gathered(x.Spans, at)
		}
	}
	if x.Valid != nil {
		for i, k := range at {
			if x.IsNull(int(k)) {
				out.SetNull(i)
			}
		}
	}
	return out
}

func gathered[T any](of []T, at []uint64) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = of[k]
	}
	return out
}

// codes are values of the one column that an expression reads.
type codes struct{ Vector }

// CodesOf is the values of n codes of a segment from one on, in their order, and with null NULL behind them: rows of an expression
// that reads its column alone.
func CodesOf(s *table.Segment, first uint64, n int, null bool) Source {
	all := n
	if null {
		all++
	}
	x := Room(s.Type, all)
	switch base := s.Base + first; {
	case x.Floats != nil:
		for i := range n {
			x.Floats[i] = s.Type.FloatFromOrdinal(base + uint64(i))
		}
	case x.Texts != nil:
		if s.Dict != nil {
			copy(x.Texts, s.Dict[first:first+uint64(n)])
		}
	default:
		from := table.FromOrdinal(s.Type, base).I
		for i := range n {
			x.Ints[i] = from + int64(i)
		}
		if s.Spans != nil {
			x.Spans = make([]table.Span, all)
			for i, us := range x.Ints[:n] {
				x.Spans[i] = s.Spans[us]
			}
		}
	}
	if null {
		x.SetNull(n)
	}
	return codes{x}
}

// Column, Some and Once implement [Source].
func (c codes) Column(int) Vector {
	x := c.Vector
	x.Floats, x.Texts, x.Ints = slices.Clone(x.Floats), slices.Clone(x.Texts), slices.Clone(x.Ints)
	return x
}

func (c codes) Some(places []uint32) Source {
	at := make([]uint64, len(places))
	for i, p := range places {
		at[i] = uint64(p)
	}
	return codes{c.Gathered(at)}
}

func (c codes) Once(Expr, func(Source) (Vector, bool)) (x Vector, ok bool) { return x, false }

// Len implements [Source].
func (c codes) Len() int { return c.Vector.Len() }

// BlockRows are rows of a chunk, as [Source].
type BlockRows struct {
	Chunk *table.Chunk
	Block table.Block
}

// Len, Some, Column and Once implement [Source].
func (r BlockRows) Len() int { return r.Block.Len() }

func (r BlockRows) Some(places []uint32) Source { return r.At(places) }

// At is Some.
func (r BlockRows) At(places []uint32) BlockRows {
	some := make([]uint32, len(places))
	for i, p := range places {
		some[i] = uint32(r.Block.Row(int(p)))
	}
	return BlockRows{r.Chunk, table.Block{Chunk: r.Block.Chunk, Rows: some}}
}

func (r BlockRows) Column(i int) Vector { return r.ColumnIn(new([]int64), i) }

// ColumnIn is Column, integers in room that it may make larger.
func (r BlockRows) ColumnIn(room *[]int64, i int) (x Vector) {
	s, n := r.Chunk.Segments[i], r.Len()
	x.Valid, _ = s.Validity(r.Block)
	switch {
	case s.Type.Kind == table.Varchar:
		x.Texts = make([]string, n)
		codes := table.Gather(s.Codes, r.Block, uint64(0))
		for k := range x.Texts {
			if !x.IsNull(k) {
				x.Texts[k] = s.Dict[codes[k]]
			}
		}
	case s.Type.IsFloat():
		x.Floats = s.Doubles(r.Block)
	default:
		base := table.IntFromOrdinal(s.Base)
		if s.Type.Kind == table.Boolean {
			base = int64(s.Base)
		}
		x.Ints = slices.Grow((*room)[:0], n)[:n]
		table.GatherInto(x.Ints, s.Codes, r.Block, base)
		if s.Spans != nil {
			x.Spans = make([]table.Span, n)
			for k, us := range x.Ints {
				x.Spans[k] = s.Spans[us]
			}
		}
		*room = x.Ints
	}
	return x
}

func (r BlockRows) Once(Expr, func(Source) (Vector, bool)) (x Vector, ok bool) { return x, false }
