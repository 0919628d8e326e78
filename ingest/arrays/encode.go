package arrays

import (
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/slab"
)

// Columns makes Arrow arrays of columns of codes. It keeps their dictionaries. Several
// goroutines may use it.
type Columns struct {
	mu    sync.Mutex
	texts map[*table.Segment]arrow.Array // dictionaries
}

// Array is a block's rows of a segment, of its type's [TypeOf]; of text, of
// [DictionaryType].
func (c *Columns) Array(s *table.Segment, b table.Block) arrow.Array {
	offset := table.IntFromOrdinal(s.Base)
	var values []byte
	switch s.Type.Kind {
	case table.SmallInt:
		values = arrow.Int16Traits.CastToBytes(table.Gather(s.Codes, b, int16(offset)))
	case table.Integer, table.Date:
		values = arrow.Int32Traits.CastToBytes(table.Gather(s.Codes, b, int32(offset)))
	case table.Interval:
		out := make([]arrow.MonthDayNanoInterval, b.Len())
		for i, us := range table.Gather(s.Codes, b, offset) {
			out[i] = monthDayNano(table.Spanned(table.IntervalValue(us, table.Span{}), s.Spans))
		}
		values = arrow.MonthDayNanoIntervalTraits.CastToBytes(out)
	case table.BigInt, table.Timestamp:
		ints := s.Codes.U64
		if s.Slab && b.Rows == nil && b.N == len(ints) {
			s.Slab = false
		} else {
			ints = slab.New(b.Len())
			table.GatherInto(ints, s.Codes, b, uint64(offset))
		}
		return fixedWidth(TypeOf(s.Type), s, b, memory.NewBufferWithAllocator(arrow.Uint64Traits.CastToBytes(ints), slabs{}))
	case table.Decimal:
		out := make([]decimal128.Num, b.Len())
		for i, x := range table.Gather(s.Codes, b, offset) {
			out[i] = decimal128.FromI64(x)
		}
		values = arrow.Decimal128Traits.CastToBytes(out)
	case table.Real:
		out := make([]float32, b.Len())
		for i, o := range s.SignedOrdinals(b) {
			out[i] = table.Float32FromOrdinal(uint32(o))
		}
		values = arrow.Float32Traits.CastToBytes(out)
	case table.Double:
		values = arrow.Float64Traits.CastToBytes(s.Doubles(b))
	case table.Boolean:
		values = make([]byte, bitutil.BytesForBits(int64(b.Len())))
		for i, x := range table.Gather(s.Codes, b, uint8(s.Base)) {
			values[i/8] |= x << (i % 8)
		}
	case table.Varchar:
		return c.text(s, b)
	default:
		return array.NewNull(b.Len())
	}
	return fixedWidth(TypeOf(s.Type), s, b, memory.NewBufferBytes(values))
}

// text is indices into the segment's dictionary; where that is large, into one of the
// array's own, which has a text a row.
func (c *Columns) text(s *table.Segment, b table.Block) arrow.Array {
	indices := table.Gather[int32](s.Codes, b, 0)
	dictionary := c.dictionary(s)
	if dictionary == nil {
		words := array.NewStringBuilder(memory.DefaultAllocator)
		defer words.Release()
		for i, code := range indices {
			if indices[i] = int32(i); s.IsNull(b.Row(i)) {
				words.Append("")
			} else {
				words.Append(s.Dict[code])
			}
		}
		dictionary = words.NewArray()
	}
	return array.NewDictionaryArray(DictionaryType,
		fixedWidth(DictionaryType.IndexType, s, b, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(indices))), dictionary)
}

// dictionary is that of a segment, nil for a large one.
func (c *Columns) dictionary(s *table.Segment) arrow.Array {
	if len(s.Dict) > maxDictionary {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts[s] == nil {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(s.Dict, nil)
		if c.texts == nil {
			c.texts = map[*table.Segment]arrow.Array{}
		}
		c.texts[s] = b.NewArray()
	}
	return c.texts[s]
}

// slabs takes slabs back when arrays are released.
type slabs struct{ memory.Allocator }

// Free implements memory.Allocator.
func (slabs) Free(b []byte) {
	if len(b) > 0 {
		slab.Free(unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), cap(b)/8))
	}
}

// fixedWidth is an array of values, of which the segment says which are NULL. It takes the buffer.
func fixedWidth(t arrow.DataType, s *table.Segment, b table.Block, values *memory.Buffer) arrow.Array {
	valid, nulls := s.Validity(b)
	buffers := []*memory.Buffer{nil, values}
	if nulls > 0 {
		buffers[0] = memory.NewBufferBytes(valid)
	}
	data := array.NewData(t, b.Len(), buffers, nil, nulls, 0)
	defer data.Release()
	values.Release()
	return array.MakeFromData(data)
}

// maxDictionary is the most texts that an array has in its dictionary beyond those of
// its own rows.
const maxDictionary = 1 << 16
