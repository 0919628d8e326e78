package table

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// SegmentBuilder is a segment while it is filled: of a type other than VARCHAR, or of ranks in a dictionary. The
// bounds of its ordinals are known before its values. So its parts become codes at once, and several
// goroutines may fill it.
type SegmentBuilder struct {
	typ   Type
	lo    uint64
	span  uint64 // the largest code that fits
	codes Codes
	dict  []string
	spans map[int64]Span

	max   atomic.Uint64
	nulls atomic.Int64
	made  sync.Once
	null  Bitmap // nil where no row is NULL so far

	madeNegative sync.Once
	negative     Bitmap // nil where no value is -0 so far
}

// NewSegmentBuilder begins a segment of so many rows, whose values have ordinals from lo to hi. A
// VARCHAR's are ranks in dict, which is sorted; spans are [Segment.Spans].
func NewSegmentBuilder(t Type, rows int, lo, hi uint64, dict []string, spans map[int64]Span) *SegmentBuilder {
	f := &SegmentBuilder{typ: t, lo: lo, span: hi - lo, dict: dict, spans: spans}
	switch CodeWidth(f.span) {
	case 1:
		f.codes.U8 = room[uint8](rows)
	case 2:
		f.codes.U16 = room[uint16](rows)
	case 4:
		f.codes.U32 = room[uint32](rows)
	default:
		f.codes.U64 = room[uint64](rows)
	}
	return f
}

// room is n codes.
func room[T uint8 | uint16 | uint32 | uint64](n int) []T {
	s := make([]T, n)
	if size := n * int(unsafe.Sizeof(*new(T))); size >= 1<<22 {
		inHugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size))
	}
	return s
}

// Put writes the values of the rows from row at on. Values of type uint64 are signed ordinals, others are integers.
// A value is NULL where its bit of valid is 0; the bits begin at offset, and without valid no value is NULL.
// Calls at the same time must be for different rows. Put may write to the values. It reports whether all values lie within the bounds.
func Put[V int32 | int64 | uint64](f *SegmentBuilder, at int, values []V, valid []byte, offset int) bool {
	p := piece[V]{f, at, values, valid, offset, -f.lo}
	if V(0)-1 < 0 {
		p.add += OrdinalInt(0)
	}
	if zero, float := f.typ.negativeZero(); float {
		p.negativeZeros(V(zero))
	}
	var most uint64
	switch {
	case f.codes.U8 != nil:
		most = put(f.codes.U8, p)
	case f.codes.U16 != nil:
		most = put(f.codes.U16, p)
	case f.codes.U32 != nil:
		most = put(f.codes.U32, p)
	case f.codes.U64 != nil:
		most = put(f.codes.U64, p)
	}
	for old := f.max.Load(); most > old && !f.max.CompareAndSwap(old, most); old = f.max.Load() {
	}
	return most <= f.span
}

// piece is what [Put] is given.
type piece[V int32 | int64 | uint64] struct {
	*SegmentBuilder
	at     int
	values []V
	valid  []byte
	offset int
	add    uint64 // to a value, for its code
}

// negativeZeros makes zeros of the values that are -0, and notes their rows.
func (p *piece[V]) negativeZeros(negative V) {
	for i, v := range p.values {
		if v != negative || p.valid != nil && p.valid[(p.offset+i)/8]>>((p.offset+i)%8)&1 == 0 {
			continue
		}
		p.madeNegative.Do(func() { p.negative = NewBitmap(p.codes.Len()) })
		p.values[i]++
		row := p.at + i
		atomic.OrUint64(&p.negative[row/64], 1<<(row%64)) // others may have rows of the word
	}
}

// put returns the largest code, also where it does not fit.
func put[T uint8 | uint16 | uint32 | uint64, V int32 | int64 | uint64](codes []T, p piece[V]) (most uint64) {
	out, add := codes[p.at:][:len(p.values)], p.add
	if p.valid == nil {
		for i, v := range p.values {
			code := uint64(v) + add
			out[i] = T(code)
			most = max(most, code)
		}
		return most
	}
	p.made.Do(func() { p.null = NewBitmap(len(codes)) })
	nulls := int64(0)
	for i, v := range p.values {
		if bit, row := p.offset+i, p.at+i; p.valid[bit/8]>>(bit%8)&1 == 0 {
			nulls++
			atomic.OrUint64(&p.null[row/64], 1<<(row%64)) // others may have rows of the word
			continue
		}
		code := uint64(v) + add
		out[i] = T(code)
		most = max(most, code)
	}
	p.nulls.Add(nulls)
	return most
}

// Dict returns the dictionary that it began with.
func (f *SegmentBuilder) Dict() []string { return f.dict }

// Rows returns the number of rows.
func (f *SegmentBuilder) Rows() int { return f.codes.Len() }

// ZoneMaps is the segment as far as it is known before its rows are put; the number of NULLs is given. Its
// numbers bound those of [SegmentBuilder.Segment]. Nobody may read its codes.
func (f *SegmentBuilder) ZoneMaps(nulls int) *Segment {
	s := &Segment{Type: f.typ, Base: f.lo, Max: f.span, Bits: bits.Len64(f.span), Codes: f.codes, Nulls: nulls, Dict: f.dict, Spans: f.spans}
	return s.zoneMaps()
}

// Segment ends the segment: every row has been put, within the bounds.
func (f *SegmentBuilder) Segment() *Segment {
	s := &Segment{Type: f.typ, Base: f.lo, Max: f.max.Load(), Codes: f.codes, Nulls: int(f.nulls.Load()), Dict: f.dict, Spans: f.spans, NegativeZeros: f.negative}
	s.Bits = bits.Len64(s.Max)
	if narrow := max(8, 1<<bits.Len(uint(max(1, s.Bits)-1))); narrow < 8*s.Codes.Width() { // the bounds were loose
		s.Codes = Narrow(Gather(s.Codes, Block{N: s.Rows()}, uint64(0)), s.Bits)
	}
	if s.Nulls > 0 {
		s.Valid = f.null
		for i := range s.Valid {
			s.Valid[i] = ^s.Valid[i]
		}
		if n := s.Rows() % 64; n > 0 {
			s.Valid[len(s.Valid)-1] &= 1<<n - 1
		}
	}
	return s
}
