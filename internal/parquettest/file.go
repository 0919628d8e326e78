// Package parquettest writes Parquet files for tests, field by field: what a writer would not state, leave out, or get wrong.
package parquettest

import (
	"encoding/binary"
	"hash/crc32"
)

// Physical types, encodings, kinds of pages and converted types, as parquet.thrift numbers them.
const (
	Boolean, Int32, Int64, Int96, Float, Double, ByteArray, Fixed = 0, 1, 2, 3, 4, 5, 6, 7

	Plain, PlainDictionary, RLE, BitPacked, DeltaBinary, DeltaLength, DeltaBytes, RLEDictionary, StreamSplit = 0, 2, 3, 4, 5, 6, 7, 8, 9

	Data, Index, Dictionary, DataV2 = 0, 1, 2, 3

	UTF8, Decimal, Date, Uint8, Uint16, Uint32, Int8, Int16 = 0, 5, 6, 11, 12, 13, 15, 16

	Uncompressed, Snappy = 0, 1
)

// File is a file.
type File struct {
	CreatedBy string // "" for not stated
	Unordered bool   // column orders are not stated
	Columns   []Column
	Groups    []Group
	Rows      *int64 // nil for those of the groups
}

// Column is a column of the root.
type Column struct {
	Name             string
	Type             int32
	Length           int32 // of Fixed
	Optional         bool
	Converted        int32 // with Annotated
	Annotated        bool
	Precision, Scale int32
	Logical          []byte // a LogicalType, as the compact protocol has it; nil for none
}

// Group is a row group.
type Group struct {
	Rows   int64
	Chunks []Chunk
}

// Chunk is a column chunk.
type Chunk struct {
	Pages      []Page
	Codec      int32
	Statistics *Statistics
}

// Statistics are what the footer states; nil for what it does not.
type Statistics struct {
	Min, Max, MinValue, MaxValue []byte
	Nulls                        *int64
	MinExact, MaxExact           *bool
}

// Page is a page.
type Page struct {
	Kind     int32
	Values   int32 // with NULLs
	Nulls    int32 // of DataV2
	Encoding int32
	Levels   int32  // encoding of the definition levels of Data; of DataV2 their bytes
	Body     []byte // as it is stored
	Unpacked int32  // 0: as many bytes as Body
	Stored   bool   // of DataV2: the values are not compressed
	Sum      bool   // its header states a checksum
	Wrong    bool   // which is another one
}

// Some is a pointer to v.
func Some[T any](v T) *T { return &v }

// Put32 and Put64 are values as PLAIN has them.
func Put32(values ...int32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func Put64(values ...int64) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// Texts are values as PLAIN has them.
func Texts(values ...string) (b []byte) {
	for _, v := range values {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return b
}

// Levels are definition levels of one bit, bit-packed as the RLE hybrid has them, without their length.
func Levels(present ...bool) []byte {
	b := binary.AppendUvarint(nil, uint64(len(present)+7)/8<<1|1)
	for i, p := range present {
		if i%8 == 0 {
			b = append(b, 0)
		}
		if p {
			b[len(b)-1] |= 1 << (i % 8)
		}
	}
	return b
}

// Sized is b behind its length in four bytes.
func Sized(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// Plain page of values of a column: of one that may be NULL where present is not nil.
func PlainPage(body []byte, rows int, present []bool) Page {
	if present != nil {
		body = append(Sized(Levels(present...)), body...)
	}
	return Page{Values: int32(rows), Encoding: Plain, Levels: RLE, Body: body}
}

// Kinds of fields of the compact protocol.
const (
	yes, no, i32, i64, binaryKind, list, structure = 1, 2, 5, 6, 8, 9, 12
)

// thrift writes structs of the compact protocol.
type thrift struct {
	b    []byte
	last []int16
}

func (t *thrift) begin() { t.last = append(t.last, 0) }
func (t *thrift) end()   { t.b, t.last = append(t.b, 0), t.last[:len(t.last)-1] }

func (t *thrift) field(id int16, kind byte) {
	last := &t.last[len(t.last)-1]
	t.b, *last = append(t.b, byte(id-*last)<<4|kind), id
}

func (t *thrift) number(id int16, kind byte, n int64) {
	t.field(id, kind)
	t.b = binary.AppendVarint(t.b, n)
}

func (t *thrift) flag(id int16, v *bool) {
	switch {
	case v == nil:
	case *v:
		t.field(id, yes)
	default:
		t.field(id, no)
	}
}

func (t *thrift) bytes(id int16, v []byte) {
	if v != nil {
		t.field(id, binaryKind)
		t.put(v)
	}
}

func (t *thrift) put(v []byte) { t.b = append(binary.AppendUvarint(t.b, uint64(len(v))), v...) }

func (t *thrift) list(id int16, kind byte, n int, each func(i int)) {
	t.field(id, list)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
	} else {
		t.b = binary.AppendUvarint(append(t.b, 0xf0|kind), uint64(n))
	}
	for i := range n {
		each(i)
	}
}

// write writes the header of the page and the page.
func (p Page) write(out []byte) []byte {
	t := &thrift{}
	t.begin()
	unpacked := p.Unpacked
	if unpacked == 0 {
		unpacked = int32(len(p.Body))
	}
	t.number(1, i32, int64(p.Kind))
	t.number(2, i32, int64(unpacked))
	t.number(3, i32, int64(len(p.Body)))
	if p.Sum {
		sum := int32(crc32.ChecksumIEEE(p.Body))
		if p.Wrong {
			sum++
		}
		t.number(4, i32, int64(sum))
	}
	switch p.Kind {
	case Data:
		t.field(5, structure)
		t.begin()
		for i, n := range []int32{p.Values, p.Encoding, p.Levels, RLE} {
			t.number(int16(i+1), i32, int64(n))
		}
		t.end()
	case Dictionary:
		t.field(7, structure)
		t.begin()
		t.number(1, i32, int64(p.Values))
		t.number(2, i32, int64(p.Encoding))
		t.end()
	case DataV2:
		t.field(8, structure)
		t.begin()
		for i, n := range []int32{p.Values, p.Nulls, p.Values, p.Encoding, p.Levels, 0} {
			t.number(int16(i+1), i32, int64(n))
		}
		if p.Stored {
			t.flag(7, Some(false))
		}
		t.end()
	}
	t.end()
	return append(append(out, t.b...), p.Body...)
}

// Bytes is the file.
func (f File) Bytes() []byte {
	out, rows := []byte("PAR1"), int64(0)
	type place struct{ from, data, dictionary, size, values int64 }
	places := map[[2]int]place{}
	for g, group := range f.Groups {
		rows += group.Rows
		for c, chunk := range group.Chunks {
			p := place{from: int64(len(out)), data: -1, dictionary: -1}
			for _, page := range chunk.Pages {
				switch {
				case page.Kind == Dictionary:
					p.dictionary = int64(len(out))
				case p.data < 0 && page.Kind != Index:
					p.data = int64(len(out))
				}
				if page.Kind != Dictionary && page.Kind != Index {
					p.values += int64(page.Values)
				}
				out = page.write(out)
			}
			p.size = int64(len(out)) - p.from
			if p.data < 0 {
				p.data = p.from
			}
			places[[2]int{g, c}] = p
		}
	}
	if f.Rows != nil {
		rows = *f.Rows
	}
	t := &thrift{}
	t.begin()
	t.number(1, i32, 1)
	t.list(2, structure, len(f.Columns)+1, func(i int) {
		t.begin()
		defer t.end()
		if i == 0 {
			t.bytes(4, []byte("schema"))
			t.number(5, i32, int64(len(f.Columns)))
			return
		}
		c := f.Columns[i-1]
		t.number(1, i32, int64(c.Type))
		if c.Length > 0 {
			t.number(2, i32, int64(c.Length))
		}
		repetition := int64(0)
		if c.Optional {
			repetition = 1
		}
		t.number(3, i32, repetition)
		t.bytes(4, []byte(c.Name))
		if c.Annotated {
			t.number(6, i32, int64(c.Converted))
		}
		if c.Precision > 0 {
			t.number(7, i32, int64(c.Scale))
			t.number(8, i32, int64(c.Precision))
		}
		if c.Logical != nil {
			t.field(10, structure)
			t.b = append(t.b, c.Logical...)
		}
	})
	t.number(3, i64, rows)
	t.list(4, structure, len(f.Groups), func(g int) {
		group := f.Groups[g]
		t.begin()
		defer t.end()
		all := int64(0)
		t.list(1, structure, len(group.Chunks), func(c int) {
			chunk, p := group.Chunks[c], places[[2]int{g, c}]
			all += p.size
			t.begin()
			defer t.end()
			t.number(2, i64, p.from)
			t.field(3, structure)
			t.begin()
			defer t.end()
			t.number(1, i32, int64(f.Columns[c].Type))
			t.list(2, i32, 1, func(int) { t.b = binary.AppendVarint(t.b, Plain) })
			t.list(3, binaryKind, 1, func(int) { t.put([]byte(f.Columns[c].Name)) })
			t.number(4, i32, int64(chunk.Codec))
			t.number(5, i64, p.values)
			t.number(6, i64, p.size)
			t.number(7, i64, p.size)
			t.number(9, i64, p.data)
			if p.dictionary >= 0 {
				t.number(11, i64, p.dictionary)
			}
			if s := chunk.Statistics; s != nil {
				t.field(12, structure)
				t.begin()
				t.bytes(1, s.Max)
				t.bytes(2, s.Min)
				if s.Nulls != nil {
					t.number(3, i64, *s.Nulls)
				}
				t.bytes(5, s.MaxValue)
				t.bytes(6, s.MinValue)
				t.flag(7, s.MaxExact)
				t.flag(8, s.MinExact)
				t.end()
			}
		})
		t.number(2, i64, all)
		t.number(3, i64, group.Rows)
	})
	if f.CreatedBy != "" {
		t.bytes(6, []byte(f.CreatedBy))
	}
	if !f.Unordered {
		t.list(7, structure, len(f.Columns), func(int) { t.b = append(t.b, 1<<4|structure, 0, 0) })
	}
	t.end()
	out = append(out, t.b...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(t.b))), "PAR1"...)
}
