package physical

import (
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// Dimension is a table that the rows of a query's table are joined to. One of their columns equals the key of
// the dimension, which is different in all its rows that count. What a row needs of it stands in arrays over
// the ordinals of the column.
type Dimension struct {
	Name  string  // of the table
	On    string  // the condition of the join, and the table's own
	Col   int     // of the query's table
	Base  uint64  // the ordinal of the first place
	Share float64 // of the places that have a partner
	// Bits are words of 32 places, a bit set where there is a partner. Digits have one more than the number
	// of the partner's key values, by place, and 0 where there is no partner. They are nil where the keys of
	// the groups read nothing of the partner.
	Bits, Digits *table.Chunk // of one column
	Size         int          // how many numbers there are
	// Build is what a device makes Bits and Digits by, for each query anew. Both are nil then, and the numbers are the slots of the build:
	// Size is how many of these there may be.
	Build *Build
	// Built is what a device has made, its own.
	Built any
}

// CodesChunk is a chunk of one column of codes: 1 to most of them are what they stand for.
func CodesChunk(codes table.Codes, most uint64) *table.Chunk {
	s := &table.Segment{Type: table.Type{Kind: table.BigInt}, Base: table.OrdinalInt(0), Max: most, Bits: bits.Len64(most), Codes: codes}
	return &table.Chunk{Rows: codes.Len(), Segments: []*table.Segment{s}}
}
