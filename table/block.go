package table

import (
	"math/bits"
	"unsafe"
)

// Block is some rows of one chunk.
type Block struct {
	Chunk int
	// Rows are their numbers in the chunk, ascending unless they have been sorted. Nil
	// stands for all of the N rows from First on.
	Rows     []uint32
	First, N int
	// Values, when set, is a chunk of these rows alone, with segments for the columns that were asked for.
	// Rows are then numbers in it.
	Values *Chunk
}

// In is the chunk of a table that the rows' numbers are of.
func (b Block) In(t *Table) *Chunk {
	if b.Values != nil {
		return b.Values
	}
	return t.Chunks[b.Chunk]
}

// Len is the number of rows.
func (b Block) Len() int {
	if b.Rows == nil {
		return b.N
	}
	return len(b.Rows)
}

// Row is the number in the chunk of row i of the block.
func (b Block) Row(i int) int {
	if b.Rows == nil {
		return b.First + i
	}
	return int(b.Rows[i])
}

// Cut is the block from its row i to before its row j.
func (b Block) Cut(i, j int) Block {
	if b.Rows == nil {
		return Block{Chunk: b.Chunk, First: b.First + i, N: j - i, Values: b.Values}
	}
	return Block{Chunk: b.Chunk, Rows: b.Rows[i:j]}
}

// Gather returns the codes of a block's rows, each plus an offset.
func Gather[T int16 | int32 | int64 | uint8 | uint32 | uint64](c Codes, b Block, offset T) []T {
	out := make([]T, b.Len())
	GatherInto(out, c, b, offset)
	return out
}

// GatherInto is Gather into out.
func GatherInto[T int16 | int32 | int64 | uint8 | uint32 | uint64](out []T, c Codes, b Block, offset T) {
	switch {
	case c.U8 != nil:
		gather(out, c.U8, b, offset)
	case c.U16 != nil:
		gather(out, c.U16, b, offset)
	case c.U32 != nil:
		gather(out, c.U32, b, offset)
	case c.U64 != nil:
		gather(out, c.U64, b, offset)
	default:
		clear(out)
	}
}

func gather[T int16 | int32 | int64 | uint8 | uint32 | uint64, C uint8 | uint16 | uint32 | uint64](out []T, codes []C, b Block, offset T) {
	if b.Rows == nil {
		for i, c := range codes[b.First : b.First+b.N] {
			out[i] = T(c) + offset
		}
		return
	}
	for i, row := range b.Rows {
		out[i] = T(codes[row]) + offset
	}
}

// Doubles returns the values of a block's rows of a REAL or DOUBLE PRECISION segment.
func (s *Segment) Doubles(b Block) []float64 {
	out := make([]float64, b.Len())
	s.DoublesInto(out, b)
	return out
}

// DoublesInto is Doubles into out.
func (s *Segment) DoublesInto(out []float64, b Block) {
	ordinals := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(out))), len(out))
	GatherInto(ordinals, s.Codes, b, s.Base)
	if s.NegativeZeros != nil {
		s.signed(ordinals, b)
	}
	if s.Type.Kind != Double {
		for i, o := range ordinals {
			out[i] = s.Type.FloatFromOrdinal(o)
		}
		return
	}
	for i, o := range ordinals {
		ordinals[i] = o ^ (uint64(int64(^o)>>63) | 1<<63) // without a branch what Float64FromOrdinal is
	}
}

// Validity returns one bit for each of a block's rows, set for a value, and how many are
// NULL; no bits where none is.
func (s *Segment) Validity(b Block) (valid []byte, nulls int) {
	if s.Valid == nil {
		return nil, 0
	}
	n := b.Len()
	valid = make([]byte, (n+7)/8)
	if b.Rows == nil && b.First%8 == 0 {
		for i := range valid {
			row := b.First + 8*i
			valid[i] = byte(s.Valid[row>>6] >> (uint(row) & 63))
		}
		if n%8 != 0 {
			valid[len(valid)-1] &= 1<<(n%8) - 1
		}
	} else {
		for i := range n {
			row := b.Row(i)
			valid[i/8] |= byte(s.Valid[row>>6]>>(uint(row)&63)&1) << (i % 8)
		}
	}
	values := 0
	for _, w := range valid {
		values += bits.OnesCount8(w)
	}
	if values == n {
		return nil, 0
	}
	return valid, n - values
}

// SignedOrdinals are the signed ordinals of a block's rows of a segment of REAL, or of DOUBLE; any where a row is NULL.
func (s *Segment) SignedOrdinals(b Block) []uint64 {
	out := Gather(s.Codes, b, s.Base)
	if s.NegativeZeros != nil {
		s.signed(out, b)
	}
	return out
}

// signed makes signed ordinals of the ordinals of a block's rows.
func (s *Segment) signed(ordinals []uint64, b Block) {
	for i := range ordinals {
		if s.NegativeZeros.Get(b.Row(i)) {
			ordinals[i]--
		}
	}
}
