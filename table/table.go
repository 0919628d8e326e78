package table

import (
	"math"
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
	// two are equal. They print differently: what makes values of rows, or takes rows elsewhere, reads this bitmap.
	NegativeZeros Bitmap

	// Slab says that Codes.U64 is a [slab.New] of values of 64 bits, the codes modulo 2^64. Only one goroutine
	// has such a segment. Whoever converts all of its rows may take the array, and then clears Slab. Until
	// the array is released others may copy the codes.
	Slab bool

	varying sync.Once
	known   atomic.Bool // planes have been found
	planes  uint64

	own     atomic.Bool   // the codes and the validity are in arrays that a change has made, which a later one may write to
	written chan struct{} // is closed when the codes are written; nil where they were from the beginning
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

// Texts are some entries of a dictionary as bytes, one text behind the other, for operators that scan all of
// them. They are chunks of one segment, so that they are uploaded as columns are.
type Texts struct {
	First, N int
	Bytes    *Chunk // a code a byte
	Starts   *Chunk // N+1 codes of 32 bits: where in it each text begins, and the last ends
}

// step is how a segment differs from the one that it was made of, in the same codes. The rows that were
// written are ascending. All rows behind the last row of the other segment are new, too.
type step struct {
	of   uint64 // the other's number; it is kept no longer for that
	rows []uint32
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
		s.AwaitCodes()
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
	s.AwaitCodes()
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

// LiveField is the hidden column behind a table's fields: TRUE where a row is not
// deleted. Only chunks with deleted rows have a segment of it, with code 0 for FALSE,
// 1 for TRUE and no NULL.
var LiveField = Field{Name: "live", Type: Type{Kind: Boolean}}

// Live returns the number of rows that are not deleted.
func (c *Chunk) Live() int { return c.Rows - c.Deleted }

// IsLive reports whether row i is not deleted.
func (c *Chunk) IsLive(i int) bool {
	return c.Deleted == 0 || c.Segments[len(c.Segments)-1].Codes.U8[i] != 0
}

// fields returns the segments without that of the hidden column.
func (c *Chunk) fields() []*Segment {
	if c.Deleted > 0 {
		return c.Segments[:len(c.Segments)-1]
	}
	return c.Segments
}

// With returns the next snapshot of the table: the same fields, other chunks.
func (t *Table) With(chunks ...*Chunk) *Table {
	return &Table{Name: t.Name, Fields: t.Fields, Version: t.Version + 1, Chunks: chunks}
}

// zoneMaps is a segment with the numbers of s, and codes that nobody looks at to know these.
func (s *Segment) zoneMaps() *Segment {
	o := &Segment{Type: s.Type, Base: s.Base, Max: s.Max, Bits: s.Bits, Codes: s.Codes, Nulls: s.Nulls, Dict: s.Dict, Spans: s.Spans}
	o.varying.Do(func() { o.planes = 1<<o.Bits - 1; o.known.Store(true) })
	return o
}

// AwaitCodes waits until the codes are written.
func (s *Segment) AwaitCodes() {
	if s.whole != nil {
		s.whole.AwaitCodes()
	} else if s.written != nil {
		<-s.written
	}
}

// Lend has changes copy the arrays of the segment: others have these, too, whom [Free] does not ask.
func (s *Segment) Lend() {
	if s.own.Load() {
		s.own.Store(false)
	}
}

// Whole is the segment that the segment is a window of, and its first row there; itself where it is none.
func (s *Segment) Whole() (of *Segment, from int) {
	if s.whole == nil {
		return s, 0
	}
	return s.whole, s.from
}
