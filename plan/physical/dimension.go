package physical

import (
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// Dimension is a table that the rows of a query's table are joined to, by one of their columns with
// the key of the other: no two of its rows that count have the same. What a row needs of it stands in
// arrays over the ordinals of the column.
type Dimension struct {
	Name  string  // of the table
	On    string  // the condition of the join, and the table's own
	Col   int     // of the query's table
	Base  uint64  // the ordinal of the first place
	Share float64 // of the places that have a partner
	// Bits are words of 32 places, a bit set where there is a partner. Digits are by place one more than the
	// number of what the keys read of the partner, 0 where there is none; nil where they read nothing of it.
	Bits, Digits *table.Chunk // of one column
	Size         int          // how many numbers there are
}

// CodesChunk is a chunk of one column of codes: 1 to most of them are what they stand for.
func CodesChunk(codes table.Codes, most uint64) *table.Chunk {
	s := &table.Segment{Type: table.Type{Kind: table.BigInt}, Base: table.OrdinalInt(0), Max: most, Bits: bits.Len64(most), Codes: codes}
	return &table.Chunk{Rows: codes.Len(), Segments: []*table.Segment{s}}
}
