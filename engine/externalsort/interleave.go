package externalsort

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// interleave is the rows of which row i is row rows[i] of batch of[i].
func interleave(parts [][]arrow.Array, of, rows []int) (out []arrow.Array) {
	for k := range parts[0] {
		column := make([]arrow.Array, len(parts))
		for p := range parts {
			column[p] = parts[p][k]
		}
		out = append(out, interleaveColumn(column, of, rows))
	}
	return out
}

func interleaveColumn(parts []arrow.Array, of, rows []int) arrow.Array {
	t := parts[0].DataType()
	if t.ID() == arrow.STRING {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.Reserve(len(rows))
		for i, row := range rows {
			if a := parts[of[i]].(*array.String); a.IsNull(row) {
				b.AppendNull()
			} else {
				b.Append(a.Value(row))
			}
		}
		return b.NewArray()
	}
	if t.ID() == arrow.NULL {
		return array.NewNull(len(rows))
	}
	nulls, buffers := 0, make([][]byte, len(parts))
	for p, a := range parts {
		nulls += a.NullN()
		buffers[p] = a.Data().Buffers()[1].Bytes()
	}
	var values []byte
	switch width := t.(arrow.FixedWidthDataType).BitWidth(); {
	case width == 1:
		values = make([]byte, bitutil.BytesForBits(int64(len(rows))))
		for i, row := range rows {
			if parts[of[i]].(*array.Boolean).Value(row) {
				bitutil.SetBit(values, i)
			}
		}
	case width == 64:
		values = make([]byte, 8*len(rows))
		for i, row := range rows {
			at := 8 * (parts[of[i]].Data().Offset() + row)
			binary.LittleEndian.PutUint64(values[8*i:], binary.LittleEndian.Uint64(buffers[of[i]][at:]))
		}
	default:
		w := width / 8
		values = make([]byte, w*len(rows))
		for i, row := range rows {
			at := w * (parts[of[i]].Data().Offset() + row)
			copy(values[w*i:w*i+w], buffers[of[i]][at:at+w])
		}
	}
	var valid *memory.Buffer
	if nulls > 0 {
		bits := make([]byte, bitutil.BytesForBits(int64(len(rows))))
		nulls = 0
		for i, row := range rows {
			if parts[of[i]].IsNull(row) {
				nulls++
			} else {
				bitutil.SetBit(bits, i)
			}
		}
		valid = memory.NewBufferBytes(bits)
	}
	data := array.NewData(t, len(rows), []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
