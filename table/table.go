package table

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/internal/parallel"
)

// MaxChunkRows is the default number of rows of a full chunk. It is the number of texels of a 16384 x 16384
// texture, which every OpenGL 4.5 device has.
const MaxChunkRows = 16384 * 16384

// Field names a column and its type.
type Field struct {
	Name string
	Type Type
	// Unsupported, when not empty, says why the column cannot be used ("a nested
	// type"). Such a column has no segments; naming it in a query is the error.
	Unsupported string
}

// Table is a snapshot of a relation: fields, and rows cut into chunks. It is
// immutable; [Table.With] makes the next one.
type Table struct {
	Name    string
	Fields  []Field
	Version uint64 // of the snapshot: how many came before it
	Chunks  []*Chunk
}

// Chunk is a run of rows, of which some may be deleted. Segments stand in the order
// of the table's fields; that of an unsupported field, or of one that has not been read, is
// nil. Where rows are deleted
// one more follows, of [LiveField]. A chunk is immutable.
type Chunk struct {
	Rows     int // deleted ones included
	Deleted  int
	Segments []*Segment
}

// Rows returns the number of rows of the table that are not deleted.
func (t *Table) Rows() int {
	n := 0
	for _, c := range t.Chunks {
		n += c.Live()
	}
	return n
}

// DictionariesOf are those of a VARCHAR column, one a chunk; ok is false where the column has not been read.
func (t *Table) DictionariesOf(column int) (lists [][]string, ok bool) {
	for _, c := range t.Chunks {
		s := c.Segments[column]
		if s == nil || s.Type.Kind != Varchar {
			return nil, false
		}
		lists = append(lists, s.Dict)
	}
	return lists, true
}

// Segment is one attribute of one chunk.
type Segment struct {
	Type Type
	// Base is the ordinal of code 0; 0 for VARCHAR.
	Base uint64
	// Max is the largest code of a non-NULL row, or more: rows with that code may have changed since. A window of
	// [Chunk.Windows] has the Max of the whole chunk. Bits is its width (0 when Max is 0). Codes of all rows are <= Max.
	Max  uint64
	Bits int
	// Codes has one code a row, 0 for NULL.
	Codes Codes
	// Valid is nil when no row is NULL.
	Valid Bitmap
	// Nulls counts the NULL rows.
	Nulls int
	// Inexact says, of a segment that tells of rows without their codes, which of its numbers only bound theirs.
	Inexact Inexact
	// Dict holds a VARCHAR segment's distinct values, sorted by bytes; a code is
	// an index into it.
	Dict []string
	// Spans has those of an INTERVAL segment's values that microseconds do not tell, by the microseconds in all, with
	// [MicrosPerMonth]; nil for none. The segments of one column share it: equal intervals are one there.
	Spans map[int64]Span

	// NegativeZeros marks the rows of REAL and DOUBLE whose value is -0; nil for none. Their code is that of 0, since the
	// two are equal.
	NegativeZeros Bitmap

	// Slab says that Codes.U64 is a [slab.New] of values of 64 bits, the codes modulo 2^64. Only one goroutine
	// has such a segment. Whoever converts all of its rows may take the array, and then clears Slab. Until
	// the array is released others may copy the codes.
	Slab bool

	varying sync.Once
	known   atomic.Bool // planes have been found
	planes  uint64

	own     atomic.Bool   // the codes and the validity are in arrays that a change has made, which a later one may write to
	settled chan struct{} // is closed when the codes are written; nil where they were from the beginning
	history []step        // the oldest first
	number  atomic.Uint64 // of one that others were made of; else 0

	made  sync.Once
	texts atomic.Pointer[[]*Texts]

	rowOrder atomic.Pointer[rowOrder]

	looked sync.Once
	ascii  bool

	whole   *Segment // of which it is a window; nil for none
	from    int      // its first row there
	cutting sync.Mutex
	cuts    map[int][]*Segment // by their rows: its windows

	counted  sync.Once
	distinct int

	sampled sync.Once
	ranked  []uint64

	// Lookups has what those who look for single rows by their codes keep with the segment for as long as it is there.
	Lookups atomic.Value

	away   int // rows whose codes are on a device alone
	device int // which one
}

// Inexact is a set of numbers of a [Segment] that are not exact.
type Inexact uint8

const (
	// InexactRange: the values lie from Base to Base + Max, and neither need be one.
	InexactRange Inexact = 1 << iota
	// InexactNulls: any number of rows may be NULL, for which Nulls is 1.
	InexactNulls
)

// NewAway returns a segment of rows whose codes are on one of the devices alone: what it is like, with neither Codes nor Valid. of is a segment of the
// same type, base, largest code and dictionary.
func NewAway(of *Segment, rows, nulls, device int) *Segment {
	s := &Segment{Type: of.Type, Base: of.Base, Max: of.Max, Bits: of.Bits, Dict: of.Dict, Spans: of.Spans, Nulls: nulls, away: rows, device: device}
	if nulls == rows {
		s.Base, s.Max, s.Bits, s.Dict = 0, 0, 0, nil
	}
	if s.Bits > 32 { // two words a code
		s.Codes.U64 = []uint64{}
	}
	s.varying.Do(func() { s.planes = 1<<s.Bits - 1; s.known.Store(true) })
	return s
}

// Away reports that the codes are on a device alone, and on which.
func (s *Segment) Away() (device int, ok bool) { return s.device, s.away > 0 }

// Varying returns the bits that are set in some code: the bit planes worth keeping,
// the others being 0. It is found at the first call, by all cores.
func (s *Segment) Varying() uint64 {
	if s.whole != nil {
		return s.whole.Varying()
	}
	s.varying.Do(func() {
		s.Settle()
		switch c := s.Codes; {
		case c.U8 != nil:
			s.planes = union(c.U8)
		case c.U16 != nil:
			s.planes = union(c.U16)
		case c.U32 != nil:
			s.planes = union(c.U32)
		default:
			s.planes = union(c.U64)
		}
		s.known.Store(true)
	})
	return s.planes
}

// Copy returns another segment of the same codes: what is kept of the first by its
// identity is not kept of this one.
func (s *Segment) Copy() *Segment {
	s.Settle()
	s.Lend() // the arrays are the copy's, too
	out := &Segment{Type: s.Type, Base: s.Base, Max: s.Max, Bits: s.Bits, Codes: s.Codes, Valid: s.Valid, Nulls: s.Nulls, Inexact: s.Inexact, Dict: s.Dict, Spans: s.Spans, NegativeZeros: s.NegativeZeros}
	out.varying.Do(func() { out.planes = s.Varying(); out.known.Store(true) })
	return out
}

// union ors all codes together.
func union[T uint8 | uint16 | uint32 | uint64](codes []T) uint64 {
	const least = 1 << 16
	workers := max(1, min(runtime.GOMAXPROCS(0), len(codes)/least))
	var all atomic.Uint64
	var wg parallel.Group
	for w := range workers {
		part := codes[len(codes)*w/workers : len(codes)*(w+1)/workers]
		wg.Go(func() {
			var a, b, c, d T
			for len(part) >= 4 {
				a, b, c, d = a|part[0], b|part[1], c|part[2], d|part[3]
				part = part[4:]
			}
			for _, v := range part {
				a |= v
			}
			all.Or(uint64(a | b | c | d))
		})
	}
	wg.Wait()
	return all.Load()
}

// Rows returns the number of rows.
func (s *Segment) Rows() int { return s.away + s.Codes.Len() }

// NonNull returns the number of rows that are not NULL.
func (s *Segment) NonNull() int {
	if s.Inexact&InexactNulls != 0 { // some may be
		return max(1, s.Rows()-s.Nulls)
	}
	return s.Rows() - s.Nulls
}

// IsNull reports whether row i is NULL.
func (s *Segment) IsNull(i int) bool { return s.Valid != nil && !s.Valid.Get(i) }

// Value decodes row i.
func (s *Segment) Value(i int) (v Value) {
	s.Read(i, &v)
	return v
}

// Read puts the value of row i in the place of the zero one.
func (s *Segment) Read(i int, to *Value) {
	if s.IsNull(i) {
		to.Type, to.Null = s.Type, true
		return
	}
	switch code := s.Codes.At(i); s.Type.Kind {
	case Boolean, Real, Double, Interval:
		if *to = s.Decode(code); s.NegativeZeros != nil && s.NegativeZeros.Get(i) {
			to.F = math.Copysign(0, -1)
		}
	case Varchar:
		to.Type.Kind, to.S = Varchar, s.Dict[code]
	default:
		to.Type, to.I = s.Type, IntFromOrdinal(s.Base+code)
	}
}

// Decode returns the value of a code: 0 of one that rows of -0 have, too.
func (s *Segment) Decode(code uint64) Value {
	if s.Type.Kind == Varchar {
		return Str(s.Dict[code])
	}
	return Spanned(FromOrdinal(s.Type, s.Base+code), s.Spans)
}

// Spanned is a value, an INTERVAL of [Segment.Spans] as the one that it stands for.
func Spanned(v Value, spans map[int64]Span) Value {
	if s, ok := spans[v.I]; ok {
		return IntervalValue(v.I, s)
	}
	return v
}

// Width is the bytes that a code takes: 1, 2, 4 or 8.
func (c Codes) Width() int {
	switch {
	case c.U64 != nil:
		return 8
	case c.U32 != nil:
		return 4
	case c.U16 != nil:
		return 2
	}
	return 1
}

// Bytes estimates the memory that the table takes.
func (t *Table) Bytes() (n int64) {
	for _, c := range t.Chunks {
		for _, s := range c.Segments {
			if s != nil { // of a column that could not be read
				n += int64(s.Bytes())
			}
		}
	}
	return n
}

// Bytes estimates the memory that the segment takes.
func (s *Segment) Bytes() int {
	n := s.Codes.Bytes() + 8*len(s.Valid) + 8*len(s.NegativeZeros) + s.rowOrderBytes()
	for _, d := range s.Dict {
		n += len(d) + 16
	}
	return n
}

// Check walks the whole segment and returns the first broken invariant.
func (s *Segment) Check() error {
	n := s.Rows()
	if s.Bits != bits.Len64(s.Max) {
		return fmt.Errorf("table: segment of max code %d says %d bits", s.Max, s.Bits)
	}
	if s.Valid != nil && len(s.Valid) != (n+63)/64 {
		return fmt.Errorf("table: validity of %d words for %d rows", len(s.Valid), n)
	}
	if s.Type.Kind == Varchar && s.NonNull() > 0 && s.Max >= uint64(len(s.Dict)) {
		return fmt.Errorf("table: code %d outside a dictionary of %d", s.Max, len(s.Dict))
	}
	for i := 1; i < len(s.Dict); i++ {
		if s.Dict[i-1] >= s.Dict[i] {
			return fmt.Errorf("table: dictionary entries %d and %d are not in order", i-1, i)
		}
	}
	if err := s.checkNegativeZeros(); err != nil {
		return err
	}
	nulls, top := 0, uint64(0)
	if s.Valid == nil {
		top, n = s.Codes.largest(), 0
	}
	for i := range n {
		c := s.Codes.At(i)
		if s.IsNull(i) {
			nulls++
			if c != 0 {
				return fmt.Errorf("table: NULL row %d has code %d", i, c)
			}
			continue
		}
		top = max(top, c)
	}
	if nulls != s.Nulls || top > s.Max {
		return fmt.Errorf("table: segment has %d NULLs and max code %d, says %d and at most %d", nulls, top, s.Nulls, s.Max)
	}
	return nil
}

// Codes is a slice of codes in the narrowest of four widths; exactly one field is
// non-nil (all nil: no rows).
type Codes struct {
	U8  []uint8
	U16 []uint16
	U32 []uint32
	U64 []uint64
}

// Len returns the number of codes.
func (c Codes) Len() int { return len(c.U8) + len(c.U16) + len(c.U32) + len(c.U64) }

// At returns code i.
func (c Codes) At(i int) uint64 {
	switch {
	case c.U8 != nil:
		return uint64(c.U8[i])
	case c.U16 != nil:
		return uint64(c.U16[i])
	case c.U32 != nil:
		return uint64(c.U32[i])
	}
	return c.U64[i]
}

// largest is the largest code; 0 where there is none.
func (c Codes) largest() uint64 {
	return max(uint64(largest(c.U8)), uint64(largest(c.U16)), uint64(largest(c.U32)), largest(c.U64))
}

func largest[T uint8 | uint16 | uint32 | uint64](list []T) (top T) {
	for _, c := range list {
		top = max(top, c)
	}
	return top
}

// Bytes returns the memory the codes take.
func (c Codes) Bytes() int { return len(c.U8) + 2*len(c.U16) + 4*len(c.U32) + 8*len(c.U64) }

// Bitmap holds one bit a row, row i in bit i%64 of word i/64.
type Bitmap []uint64

// NewBitmap returns a bitmap of n clear bits.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// Get returns bit i.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Count returns the number of set bits. It adds up four words at a time, which do not
// wait for each other.
func (b Bitmap) Count() int {
	var n, m, k, l int
	for ; len(b) >= 4; b = b[4:] {
		n += bits.OnesCount64(b[0])
		m += bits.OnesCount64(b[1])
		k += bits.OnesCount64(b[2])
		l += bits.OnesCount64(b[3])
	}
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n + m + k + l
}
