package expr

import (
	"github.com/stencildb/stencildb/table"
)

// Gathered is the values at some places, in an arena.
func (x *Vector) Gathered(a *Arena, at []int64) (out Vector) {
	out.arena = a
	switch {
	case x.Floats != nil:
		out.Floats = a.floatsOf(len(at))
		gather(out.Floats, x.Floats, at)
	case x.Texts != nil:
		out.Texts = a.textsOf(len(at))
		gather(out.Texts, x.Texts, at)
	default:
		out.Ints = a.Ints(len(at))
		gather(out.Ints, x.Ints, at)
		if x.Spans != nil {
			out.Spans = make([]table.Span, len(at))
			gather(out.Spans, x.Spans, at)
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

func gather[T any](to, of []T, at []int64) {
	to = to[:len(at)]
	for i, k := range at {
		to[i] = of[k]
	}
}

// codes are values of the one column that an expression reads.
type codes struct {
	Vector
	arena *Arena
}

// CodesOf is the values of n codes of a segment from one on, in their order, and with null NULL behind them. They are rows of an expression
// that reads its column alone. A nil arena makes vectors that stay.
func CodesOf(s *table.Segment, first uint64, n int, null bool, arena *Arena) Source {
	all := n
	if null {
		all++
	}
	x := arena.cleared(s.Type, all)
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
	return codes{x, arena}
}

// Column, Some and Once implement [Source].
func (c codes) Column(int) Vector {
	x := c.Vector
	x.arena = c.arena
	switch {
	case x.Floats != nil:
		x.Floats = c.arena.floatsOf(len(c.Floats))
		copy(x.Floats, c.Floats)
	case x.Texts != nil:
		x.Texts = c.arena.textsOf(len(c.Texts))
		copy(x.Texts, c.Texts)
	default:
		x.Ints = c.arena.Ints(len(c.Ints))
		copy(x.Ints, c.Ints)
	}
	return x
}

func (c codes) Some(places []uint32) Source {
	at := make([]int64, len(places))
	for i, p := range places {
		at[i] = int64(p)
	}
	return codes{c.Gathered(c.arena, at), c.arena}
}

// Memory implements [Source].
func (c codes) Memory() *Arena { return c.arena }

func (c codes) Once(Expr, func(Source) (Vector, bool)) (x Vector, ok bool) { return x, false }

// Len implements [Source].
func (c codes) Len() int { return c.Vector.Len() }

// BlockRows are rows of a chunk, as [Source].
type BlockRows struct {
	Chunk *table.Chunk
	Block table.Block
	Arena *Arena // nil for vectors that stay
}

// Len, Some, Column and Once implement [Source].
func (r BlockRows) Len() int { return r.Block.Len() }

// Memory implements [Source].
func (r BlockRows) Memory() *Arena { return r.Arena }

func (r BlockRows) Some(places []uint32) Source { return r.At(places) }

// At is Some.
func (r BlockRows) At(places []uint32) BlockRows {
	some := r.Arena.placesOf(len(places))
	for i, p := range places {
		some[i] = uint32(r.Block.Row(int(p)))
	}
	return BlockRows{r.Chunk, table.Block{Chunk: r.Block.Chunk, Rows: some}, r.Arena}
}

func (r BlockRows) Column(i int) Vector {
	s, n := r.Chunk.Segments[i], r.Len()
	x := r.Arena.room(s.Type, n)
	x.Valid, _ = s.Validity(r.Block)
	switch {
	case x.Texts != nil:
		s.TextsInto(x.Texts, r.Block)
	case x.Floats != nil:
		s.DoublesInto(x.Floats, r.Block)
	default:
		base := table.IntFromOrdinal(s.Base)
		if s.Type.Kind == table.Boolean {
			base = int64(s.Base)
		}
		table.GatherInto(x.Ints, s.Codes, r.Block, base)
		if s.Spans != nil {
			x.Spans = make([]table.Span, n)
			for k, us := range x.Ints {
				x.Spans[k] = s.Spans[us]
			}
		}
	}
	return x
}

func (r BlockRows) Once(Expr, func(Source) (Vector, bool)) (x Vector, ok bool) { return x, false }

// Source is rows of which expressions are computed.
type Source interface {
	Len() int
	// Memory is where their vectors are computed, nil where each is new.
	Memory() *Arena
	// Column is the values of a column, which nobody else writes to.
	Column(i int) Vector
	// Some are the rows at some places.
	Some(places []uint32) Source
	// Once is an expression that reads one column of few codes; compute evaluates it once for each code. ok is false for other
	// expressions, and for too few rows.
	Once(e Expr, compute func(codes Source) (Vector, bool)) (x Vector, ok bool)
}
