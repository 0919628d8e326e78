package storage

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/bits"

	"github.com/stencildb/stencildb/table"
)

// errEncoding is all that is said of bytes that are no commit: a record whose checksum is right has none.
var errEncoding = errors.New("its bytes are not those of a commit")

// decode reads what encode writes. most bounds the rows of its tables. It takes memory for these row numbers in each
// of its lists, and a few times the length of data.
func decode(data []byte, most int) (commit []Change, err error) {
	d := &decoder{data: data, most: uint64(most) + uint64(len(data))} // rows that it appends take a byte at least
	for range d.count(2) {
		commit = append(commit, d.change())
		if d.bad {
			break
		}
	}
	if d.bad || len(d.data) > 0 {
		return nil, errEncoding
	}
	return commit, nil
}

// decoder reads from its data. After something that does not fit it is bad and reads zeros.
type decoder struct {
	data []byte
	most uint64 // row numbers are smaller
	bad  bool
}

func (d *decoder) fail() { d.bad, d.data = true, nil }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.data)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[n:]
	return v
}

// count is a number of things that take so many bytes each at least.
func (d *decoder) count(each int) int {
	n := d.uvarint()
	if n > uint64(len(d.data)/each) {
		d.fail()
		return 0
	}
	return int(n)
}

// bytes are the next n; none where there are fewer.
func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.fail()
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) text() string { return string(d.bytes(d.count(1))) }

func (d *decoder) change() (c Change) {
	c.Table = d.text()
	parts := d.byte()
	if parts >= hasCounted<<1 {
		d.fail()
	}
	c.Drop, c.Compact = parts&hasDrop != 0, parts&hasCompact != 0
	if parts&hasDefine != 0 {
		d.define(&c)
	}
	if parts&hasCounted != 0 {
		for range d.count(2) {
			c.Sequences = append(c.Sequences, SequenceValue{Column: int(d.uvarint() & math.MaxInt32), Last: d.varint()})
		}
		if len(c.Sequences) == 0 {
			d.fail()
		}
	}
	if parts&hasRows == 0 {
		return c
	}
	for range d.count(4) {
		u := Update{Column: int(d.uvarint()), Rows: d.rows()}
		u.Values = d.segment()
		c.Update = append(c.Update, u)
	}
	c.Delete = d.rows()
	for range d.count(2) {
		ch := &table.Chunk{Rows: int(d.uvarint())}
		for range d.count(13) {
			s := d.segment()
			if s == nil || s.Rows() != ch.Rows {
				d.fail()
				return c
			}
			ch.Segments = append(ch.Segments, s)
		}
		if len(ch.Segments) == 0 {
			d.fail()
		}
		c.Append = append(c.Append, ch)
	}
	return c
}

func (d *decoder) define(c *Change) {
	var j definitionJSON
	if json.Unmarshal([]byte(d.text()), &j) != nil {
		d.fail()
		return
	}
	def, err := j.definition()
	if err != nil {
		d.fail()
		return
	}
	c.Define = def
	n := d.count(1)
	if n != 0 && n != len(def.Fields) {
		d.fail()
		return
	}
	for i := range n {
		from := d.varint()
		if from > math.MaxInt32 {
			d.fail()
			return
		}
		fill := table.Null(def.Fields[i].Type)
		if from < 0 {
			s := d.segment()
			if s == nil || s.Rows() != 1 || s.Type != def.Fields[i].Type {
				d.fail()
				return
			}
			fill = s.Value(0)
		}
		c.From, c.Fill = append(c.From, int(max(from, -1))), append(c.Fill, fill)
	}
}

// rows are ascending row numbers, in runs.
func (d *decoder) rows() []int {
	left := d.uvarint()
	if left == 0 || d.bad {
		return nil
	}
	// The runs are looked at before room is made for what they stand for.
	runs, sum, next := *d, uint64(0), uint64(0)
	for sum < left && !runs.bad {
		gap, n := runs.uvarint(), runs.uvarint()
		if n == 0 || n > left-sum || gap > d.most || next+gap+n > d.most {
			runs.fail()
		}
		sum, next = sum+n, next+gap+n
	}
	if runs.bad {
		d.fail()
		return nil
	}
	list := make([]int, 0, left)
	for at := 0; uint64(len(list)) < left; {
		at += int(d.uvarint())
		for range d.uvarint() {
			list = append(list, at)
			at++
		}
	}
	return list
}

// segment is nil where there is none.
func (d *decoder) segment() *table.Segment {
	head := d.bytes(11)
	if head == nil {
		return nil
	}
	s := &table.Segment{Type: table.Type{Kind: table.Kind(head[0]), Precision: int(head[1]), Scale: int(head[2])}, Base: binary.LittleEndian.Uint64(head[3:])}
	s.Max = d.uvarint()
	s.Bits = bits.Len64(s.Max)
	n := d.count(width(s.Bits))
	codes := d.bytes(n * width(s.Bits))
	if d.bad || head[0] > byte(table.Interval) {
		d.fail()
		return nil
	}
	switch width(s.Bits) {
	case 1:
		s.Codes.U8 = append(make([]uint8, 0, n), codes...)
	case 2:
		s.Codes.U16 = make([]uint16, n)
		for i := range s.Codes.U16 {
			s.Codes.U16[i] = binary.LittleEndian.Uint16(codes[2*i:])
		}
	case 4:
		s.Codes.U32 = make([]uint32, n)
		for i := range s.Codes.U32 {
			s.Codes.U32[i] = binary.LittleEndian.Uint32(codes[4*i:])
		}
	default:
		s.Codes.U64 = words(codes)
	}
	has := d.byte()
	if has&segmentNulls != 0 {
		s.Valid = words(d.bytes((n + 63) / 64 * 8))
		s.Nulls = n - s.Valid.Count()
	}
	if has&segmentNegativeZeros != 0 {
		s.NegativeZeros = words(d.bytes((n + 63) / 64 * 8))
	}
	if has&^(segmentNulls|segmentNegativeZeros) != 0 {
		d.fail()
	}
	if s.Type.Kind == table.Varchar {
		s.Dict = d.dictionary()
	}
	if d.bad || s.Valid != nil && s.Nulls <= 0 || s.Check() != nil || !inRange(s) {
		d.fail()
		return nil
	}
	return s
}

func words(b []byte) []uint64 {
	out := make([]uint64, len(b)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return out
}

func (d *decoder) dictionary() []string {
	lengths := make([]int, d.count(1))
	sum := 0
	for i := range lengths {
		lengths[i] = d.count(1)
		if sum += lengths[i]; sum > len(d.data) {
			d.fail()
			return nil
		}
	}
	all := string(d.bytes(sum))
	if d.bad {
		return nil
	}
	dict := make([]string, len(lengths))
	for i, n := range lengths {
		dict[i], all = all[:n], all[n:]
	}
	return dict
}

// inRange reports whether the values of a segment are its type's.
func inRange(s *table.Segment) bool {
	if s.NonNull() == 0 || s.Type.Kind == table.Varchar {
		return true
	}
	last := s.Base + s.Max
	switch {
	case last < s.Base || s.Type.Kind == table.Unknown:
		return false
	case s.Type.Kind == table.Boolean:
		return last <= 1
	case s.Type.Kind == table.Real:
		return last <= uint64(table.NaNOrdinal32)
	case s.Type.Kind == table.Double:
		return last <= table.NaNOrdinal64
	}
	return s.Type.Holds(table.IntFromOrdinal(s.Base)) && s.Type.Holds(table.IntFromOrdinal(last))
}
