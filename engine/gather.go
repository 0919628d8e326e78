package engine

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// gather computes select items of selected rows of a table: columns from their codes,
// plain arithmetic in loops over vectors, what reads one column of few codes once a
// code, all else row by row.
type gather struct {
	table *table.Table
	items []plan.Item

	mu    sync.Mutex
	texts map[*table.Segment]arrow.Array // dictionaries
}

func newGather(t *table.Table, items []plan.Item) *gather {
	return &gather{table: t, items: items, texts: map[*table.Segment]arrow.Array{}}
}

// batch computes the items of a block of rows. Where a row raises an error, it gives the
// rows before it and the error: that of the first such row, and in it of the first item.
func (g *gather) batch(m *memo, b plan.Block) (batch, error) {
	v := &vectors{gather: g, memo: m, chunk: g.table.Chunks[b.Chunk], block: b}
	var out computed
	var failed error
	for i, item := range g.items {
		a, err := v.item(i, item.E)
		if err != nil {
			failed = err
			v.block = v.block.Cut(0, a.Len())
		}
		out = append(out, a)
	}
	if n := v.block.Len(); n == 0 {
		return nil, failed
	} else if failed != nil {
		for i, a := range out {
			out[i] = array.NewSlice(a, 0, int64(n))
		}
	}
	return out, failed
}

// column gathers a column's values.
func (v *vectors) column(col int) arrow.Array {
	s, n := v.chunk.Segments[col], v.block.Len()
	valid, nulls := v.validity(s)
	t := arrowType(s.Type)
	data := func(values []byte) arrow.Array {
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(values)}
		if nulls > 0 {
			buffers[0] = memory.NewBufferBytes(valid)
		}
		return array.MakeFromData(array.NewData(t, n, buffers, nil, nulls, 0))
	}
	offset := table.IntFromOrdinal(s.Base)
	switch s.Type.Kind {
	case table.SmallInt:
		return data(arrow.Int16Traits.CastToBytes(load(s.Codes, v.block, int16(offset))))
	case table.Integer, table.Date:
		return data(arrow.Int32Traits.CastToBytes(load(s.Codes, v.block, int32(offset))))
	case table.BigInt, table.Timestamp:
		return data(arrow.Int64Traits.CastToBytes(load(s.Codes, v.block, offset)))
	case table.Decimal:
		out := make([]decimal128.Num, n)
		for i, x := range load(s.Codes, v.block, offset) {
			out[i] = decimal128.FromI64(x)
		}
		return data(arrow.Decimal128Traits.CastToBytes(out))
	case table.Real:
		out := make([]float32, n)
		for i, o := range load(s.Codes, v.block, uint32(s.Base)) {
			out[i] = table.Float32FromOrdinal(o)
		}
		return data(arrow.Float32Traits.CastToBytes(out))
	case table.Double:
		return data(arrow.Float64Traits.CastToBytes(v.doubles(s)))
	case table.Boolean:
		out := make([]byte, bitutil.BytesForBits(int64(n)))
		for i, x := range load(s.Codes, v.block, uint8(s.Base)) {
			out[i/8] |= x << (i % 8)
		}
		return data(out)
	}
	return v.text(s, valid, nulls)
}

// doubles gathers the values of a column of REAL or DOUBLE PRECISION.
func (v *vectors) doubles(s *table.Segment) []float64 {
	out := make([]float64, v.block.Len())
	if s.Type.Kind == table.Real {
		for i, o := range load(s.Codes, v.block, uint32(s.Base)) {
			out[i] = float64(table.Float32FromOrdinal(o))
		}
		return out
	}
	for i, o := range load(s.Codes, v.block, s.Base) {
		out[i] = table.Float64FromOrdinal(o)
	}
	return out
}

// maxDictionary is the most texts that a batch has in its dictionary beyond those of
// its own rows.
const maxDictionary = 1 << 16

// text gathers a column of text as indices into the segment's dictionary; where that is
// large, into one of the batch's own, which has a text a row.
func (v *vectors) text(s *table.Segment, valid []byte, nulls int) arrow.Array {
	n := v.block.Len()
	indices := load[int32](s.Codes, v.block, 0)
	dictionary := v.gather.dictionary(s)
	if dictionary == nil {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		for i, code := range indices {
			if indices[i] = int32(i); nulls > 0 && !bitutil.BitIsSet(valid, i) {
				b.Append("")
			} else {
				b.Append(s.Dict[code])
			}
		}
		dictionary = b.NewArray()
	}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(indices))}
	if nulls > 0 {
		buffers[0] = memory.NewBufferBytes(valid)
	}
	return array.NewDictionaryArray(dictionaryType,
		array.MakeFromData(array.NewData(dictionaryType.IndexType, n, buffers, nil, nulls, 0)), dictionary)
}

// dictionary is that of a segment, nil for a large one.
func (g *gather) dictionary(s *table.Segment) arrow.Array {
	if len(s.Dict) > maxDictionary {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.texts[s] == nil {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(s.Dict, nil)
		g.texts[s] = b.NewArray()
	}
	return g.texts[s]
}

// validity is one bit a row, set for a value; nulls counts the others. Without NULLs
// there are no bits.
func (v *vectors) validity(s *table.Segment) (valid []byte, nulls int) {
	n := v.block.Len()
	if s.Valid == nil {
		return nil, 0
	}
	valid = make([]byte, bitutil.BytesForBits(int64(n)))
	for i := range n {
		row := v.block.First + i
		if v.block.Rows != nil {
			row = int(v.block.Rows[i])
		}
		valid[i/8] |= byte(s.Valid[row>>6]>>(uint(row)&63)&1) << (i % 8)
	}
	values := 0
	for _, b := range valid {
		values += bits.OnesCount8(b)
	}
	return valid, n - values
}

// load gathers codes, each plus an offset.
func load[T int16 | int32 | int64 | uint8 | uint32 | uint64](c table.Codes, b plan.Block, offset T) []T {
	out := make([]T, b.Len())
	switch {
	case c.U8 != nil:
		loadFrom(out, c.U8, b, offset)
	case c.U16 != nil:
		loadFrom(out, c.U16, b, offset)
	case c.U32 != nil:
		loadFrom(out, c.U32, b, offset)
	case c.U64 != nil:
		loadFrom(out, c.U64, b, offset)
	}
	return out
}

func loadFrom[T int16 | int32 | int64 | uint8 | uint32 | uint64, C uint8 | uint16 | uint32 | uint64](out []T, codes []C, b plan.Block, offset T) {
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
