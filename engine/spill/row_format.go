package spill

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/table"
)

// Partitioned rows are in the temporary file as the codes of their segments, in pieces. A piece has the number of bytes that follow, the
// number of rows, and of each column
//
//	the bytes that follow           8
//	base, the ordinal of code 0     8
//	width of a code                 1
//	flags                           1
//	a bit a row, set if not NULL    (rows+7)/8, with pieceNulls
//	a bit a row, set if -0          (rows+7)/8, with pieceNegativeZeros
//	months and carried days         8 a row, with pieceSpans
//	codes                           width a row; with pieceTexts of each row the length, as uvarint, and the bytes

const (
	pieceNulls = 1 << iota
	pieceSpans
	pieceTexts
	pieceNegativeZeros
)

// AppendRows appends a piece of rows of a chunk.
func AppendRows(out []byte, c *table.Chunk, rows []uint32, columns []int) []byte {
	size := func(at int) { binary.LittleEndian.PutUint64(out[at:], uint64(len(out)-at-8)) }
	start := len(out)
	out = append(out, make([]byte, 8)...)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(rows)))
	for _, col := range columns {
		s := c.Segments[col]
		begin := len(out)
		out = append(out, make([]byte, 8)...)
		out = binary.LittleEndian.AppendUint64(out, s.Base)
		valid, nulls := s.Validity(table.Block{Rows: rows})
		flags := byte(0)
		if nulls > 0 {
			flags |= pieceNulls
		}
		negative := s.NegativeZeros.Of(rows)
		if negative != nil {
			flags |= pieceNegativeZeros
		}
		if s.Spans != nil {
			flags |= pieceSpans
		}
		if s.Type.Kind == table.Varchar {
			flags |= pieceTexts
		}
		if out = append(out, byte(s.Codes.Width()), flags); nulls > 0 {
			out = append(out, valid...)
		}
		for i := range (len(rows) + 7) / 8 * min(1, len(negative)) {
			out = append(out, byte(negative[i/8]>>(i%8*8)))
		}
		if s.Spans != nil {
			for _, row := range rows {
				span := s.Spans[table.IntFromOrdinal(s.Base+s.Codes.At(int(row)))]
				out = binary.LittleEndian.AppendUint32(out, uint32(span.Months))
				out = binary.LittleEndian.AppendUint32(out, uint32(span.Carried))
			}
		}
		switch codes := s.Codes; {
		case flags&pieceTexts != 0:
			for i, row := range rows {
				if nulls > 0 && valid[i/8]>>(i%8)&1 == 0 {
					out = append(out, 0)
					continue
				}
				text := s.Dict[codes.At(int(row))]
				out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
			}
		case codes.U8 != nil:
			for _, row := range rows {
				out = append(out, codes.U8[row])
			}
		case codes.U16 != nil:
			for _, row := range rows {
				out = binary.LittleEndian.AppendUint16(out, codes.U16[row])
			}
		case codes.U32 != nil:
			for _, row := range rows {
				out = binary.LittleEndian.AppendUint32(out, codes.U32[row])
			}
		case codes.U64 != nil:
			for _, row := range rows {
				out = binary.LittleEndian.AppendUint64(out, codes.U64[row])
			}
		default:
			out = append(out, make([]byte, len(rows))...)
		}
		size(begin)
	}
	size(start)
	return out
}

// ReadRows appends the rows of pieces, of all columns of the builder.
func ReadRows(b *table.Builder, fields []table.Field, data []byte) error {
	n := CountRows(data)
	var work parallel.Group
	for i, f := range fields {
		do := func() { readColumn(b.Column(i), f.Type, i, data) }
		if n < 1<<10 {
			do()
		} else {
			work.Go(do)
		}
	}
	work.Wait()
	return b.EndRows(n)
}

// CountRows is how many rows pieces have.
func CountRows(data []byte) (n int) {
	for len(data) > 0 {
		n += int(binary.LittleEndian.Uint64(data[8:]))
		data = data[8+binary.LittleEndian.Uint64(data):]
	}
	return n
}

// FirstPieces are the first of pieces, at least one and else at most so many bytes, and the others.
func FirstPieces(data []byte, most int64) (first, rest []byte) {
	n := uint64(0)
	for n < uint64(len(data)) {
		next := n + 8 + binary.LittleEndian.Uint64(data[n:])
		if n > 0 && next > uint64(most) {
			break
		}
		n = next
	}
	return data[:n], data[n:]
}

// readColumn appends the values that pieces have of a column.
func readColumn(c *table.ColumnBuilder, t table.Type, column int, data []byte) {
	var list []uint64
	for len(data) > 0 {
		n, of := int(binary.LittleEndian.Uint64(data[8:])), data[16:]
		data = data[8+binary.LittleEndian.Uint64(data):]
		for range column {
			of = of[8+binary.LittleEndian.Uint64(of):]
		}
		base, width, flags := binary.LittleEndian.Uint64(of[8:]), int(of[16]), of[17]
		of = of[18:]
		var valid, negative, spans []byte
		if flags&pieceNulls != 0 {
			valid, of = of[:(n+7)/8], of[(n+7)/8:]
		}
		if flags&pieceNegativeZeros != 0 {
			negative, of = of[:(n+7)/8], of[(n+7)/8:]
		}
		if flags&pieceSpans != 0 {
			spans, of = of[:8*n], of[8*n:]
		}
		list = slices.Grow(list[:0], n)[:n]
		switch {
		case flags&pieceTexts != 0:
			for i := range list {
				bytes, k := binary.Uvarint(of)
				if valid == nil || valid[i/8]>>(i%8)&1 != 0 {
					list[i] = c.Number(unsafe.String(unsafe.SliceData(of[k:]), int(bytes))) // which copies it
				}
				of = of[k+int(bytes):]
			}
		case width == 1:
			for i := range list {
				list[i] = base + uint64(of[i])
			}
		case width == 2:
			for i := range list {
				list[i] = base + uint64(binary.LittleEndian.Uint16(of[2*i:]))
			}
		case width == 4:
			for i := range list {
				list[i] = base + uint64(binary.LittleEndian.Uint32(of[4*i:]))
			}
		default:
			for i := range list {
				list[i] = base + binary.LittleEndian.Uint64(of[8*i:])
			}
		}
		for i := range list {
			if negative != nil && negative[i/8]>>(i%8)&1 != 0 {
				list[i] = table.SignedOrdinal(table.Value{Type: t, F: math.Copysign(0, -1)})
			}
		}
		if t.Kind != table.Interval {
			c.Ordinals(list, valid, 0)
			continue
		}
		for i, o := range list {
			var span table.Span
			if spans != nil {
				span = table.Span{Months: int32(binary.LittleEndian.Uint32(spans[8*i:])), Carried: int32(binary.LittleEndian.Uint32(spans[8*i+4:]))}
			}
			v := table.IntervalValue(table.IntFromOrdinal(o), span)
			v.Null = valid != nil && valid[i/8]>>(i%8)&1 == 0
			c.Value(v)
		}
	}
}
