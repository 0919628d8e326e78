package engine

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/stencildb/stencildb/table"
)

// uniformBits is the width of the paper's data_count.
const uniformBits = 19

// half is the middle of the uniform columns' range.
const half = 1 << (uniformBits - 1)

// synthetic makes a table of uniform values for measurements: n of 7 bits, a to d and
// fresh0 to fresh4 of 19 bits, w of 40 bits, r REAL and x DOUBLE in 0..1.
// Each chunk has so many rows.
func synthetic(name string, rows, chunks int) *table.Table {
	integer, bigint := table.Type{Kind: table.Integer}, table.Type{Kind: table.BigInt}
	t := &table.Table{Name: name}
	var makers []func(*rand.Rand) *table.Segment
	add := func(name string, typ table.Type, segment func(*rand.Rand) *table.Segment) {
		t.Fields = append(t.Fields, table.Field{Name: name, Type: typ})
		makers = append(makers, segment)
	}
	integers := func(width int) func(*rand.Rand) *table.Segment {
		return func(r *rand.Rand) *table.Segment { return uniformIntegers(r, rows, width) }
	}
	add("n", integer, integers(7))
	for _, c := range []string{"a", "b", "c", "d"} {
		add(c, integer, integers(uniformBits))
	}
	for i := range fresh {
		add(fmt.Sprintf("fresh%d", i), integer, integers(uniformBits))
	}
	add("w", bigint, integers(40))
	add("r", table.Type{Kind: table.Real}, func(r *rand.Rand) *table.Segment {
		return uniformFloats(rows, func() uint64 { return uint64(table.OrdinalFloat32(r.Float32())) },
			uint64(table.OrdinalFloat32(0)), uint64(table.OrdinalFloat32(math.Nextafter32(1, 0))))
	})
	add("x", table.Type{Kind: table.Double}, func(r *rand.Rand) *table.Segment {
		return uniformFloats(rows, func() uint64 { return table.OrdinalFloat64(r.Float64()) },
			table.OrdinalFloat64(0), table.OrdinalFloat64(math.Nextafter(1, 0)))
	})
	var wg sync.WaitGroup
	for i := range chunks {
		c := &table.Chunk{Rows: rows, Segments: make([]*table.Segment, len(makers))}
		t.Chunks = append(t.Chunks, c)
		for col, segment := range makers {
			wg.Go(func() {
				s := segment(rand.New(rand.NewPCG(uint64(col), uint64(i))))
				s.Type = t.Fields[col].Type
				s.Bits = bits.Len64(s.Max)
				c.Segments[col] = s
			})
		}
	}
	wg.Wait()
	return t
}

// fresh is the number of columns whose uploads are timed.
const fresh = 5

// ends writes the smallest and the largest code to the first two rows, so that the
// width is what was asked for.
func ends[T uint8 | uint32 | uint64](codes []T, top T) []T {
	if len(codes) > 1 {
		codes[0], codes[1] = 0, top
	}
	return codes
}

func uniformIntegers(r *rand.Rand, rows, width int) *table.Segment {
	top := uint64(1)<<width - 1
	s := &table.Segment{Base: table.OrdinalInt(0), Max: top}
	switch {
	case width <= 8:
		codes := make([]uint8, rows)
		for i := range codes {
			codes[i] = uint8(r.Uint64() & top)
		}
		s.Codes.U8 = ends(codes, uint8(top))
	case width <= 32:
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(r.Uint64() & top)
		}
		s.Codes.U32 = ends(codes, uint32(top))
	default:
		codes := make([]uint64, rows)
		for i := range codes {
			codes[i] = r.Uint64() & top
		}
		s.Codes.U64 = ends(codes, top)
	}
	return s
}

// uniformFloats takes ordinals from draw, which lie in base..last.
func uniformFloats(rows int, draw func() uint64, base, last uint64) *table.Segment {
	s := &table.Segment{Base: base, Max: last - base}
	if s.Max < 1<<32 {
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(draw() - base)
		}
		s.Codes.U32 = ends(codes, uint32(s.Max))
		return s
	}
	codes := make([]uint64, rows)
	for i := range codes {
		codes[i] = draw() - base
	}
	s.Codes.U64 = ends(codes, s.Max)
	return s
}
