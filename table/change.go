package table

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// space is the codes that two segments of a type are brought to.
type space struct {
	base  uint64
	bits  int
	dict  []string
	ranks [2][]uint64 // of a VARCHAR, the new codes of each segment's; nil where they stay
}

// shared is the space of the values of two segments. That of the first is kept where it has room.
func shared(a, b *Segment) *space {
	switch {
	case b.NonNull() == 0:
		return &space{base: a.Base, bits: a.Bits, dict: a.Dict}
	case a.NonNull() == 0:
		return &space{base: b.Base, bits: b.Bits, dict: b.Dict}
	case a.Type.Kind == Varchar:
		return sharedWords(a, b)
	}
	s := &space{base: min(a.Base, b.Base)}
	s.bits = bits.Len64(max(a.Base+a.Max, b.Base+b.Max) - s.base)
	return s
}

func sharedWords(a, b *Segment) *space {
	at, missing := make([]uint64, len(b.Dict)), 0
	for i, word := range b.Dict {
		k, ok := slices.BinarySearch(a.Dict, word)
		if at[i] = uint64(k); !ok {
			missing++
		}
	}
	if missing == 0 {
		return &space{bits: bits.Len(uint(len(a.Dict) - 1)), dict: a.Dict, ranks: [2][]uint64{nil, at}}
	}
	s := &space{ranks: [2][]uint64{make([]uint64, len(a.Dict)), make([]uint64, len(b.Dict))}, dict: make([]string, 0, len(a.Dict)+missing)}
	for i, k := 0, 0; i < len(a.Dict) || k < len(b.Dict); {
		var word string
		if i == len(a.Dict) || k < len(b.Dict) && b.Dict[k] < a.Dict[i] {
			word = b.Dict[k]
		} else {
			word = a.Dict[i]
		}
		if i < len(a.Dict) && a.Dict[i] == word {
			s.ranks[0][i] = uint64(len(s.dict))
			i++
		}
		if k < len(b.Dict) && b.Dict[k] == word {
			s.ranks[1][k] = uint64(len(s.dict))
			k++
		}
		s.dict = append(s.dict, word)
	}
	s.bits = bits.Len(uint(len(s.dict) - 1))
	return s
}

// HasRoom reports whether this segment has a code for a value of another segment of the same type. The value is that of the other segment's
// row.
func (s *Segment) HasRoom(values *Segment, row int) bool {
	switch {
	case values.IsNull(row) || s.NonNull() == 0:
		return true
	case s.Type.Kind == Varchar:
		_, ok := slices.BinarySearch(s.Dict, values.Dict[values.Codes.At(row)])
		return ok
	}
	return values.Base+values.Codes.At(row) >= s.Base
}

// code is the code in the space of one of the segment at which, 0 or 1.
func (s *space) code(which int, of *Segment, code uint64) uint64 {
	switch {
	case of.NonNull() == 0:
		return 0
	case s.ranks[which] != nil:
		return s.ranks[which][code]
	}
	return code + of.Base - s.base
}

// fill writes the codes of a segment from place first on.
func (s *space) fill(c Codes, first, which int, of *Segment) {
	switch {
	case c.U8 != nil:
		fill(s, c.U8[first:], of.Codes.U8, which, of)
	case c.U16 != nil:
		fill(s, c.U16[first:], of.Codes.U16, which, of)
	case c.U32 != nil:
		fill(s, c.U32[first:], of.Codes.U32, which, of)
	case c.U64 != nil:
		fill(s, c.U64[first:], of.Codes.U64, which, of)
	}
}

// fill writes codes; same are those of the segment where they have the width already.
func fill[T uint8 | uint16 | uint32 | uint64](s *space, out, same []T, which int, of *Segment) {
	ranks, shift := s.ranks[which], of.Base-s.base
	InParts(of.Rows(), func(from, to int) {
		if same != nil && ranks == nil && (shift == 0 || of.Nulls == 0) { // NULLs stay 0
			copy(out[from:to], same[from:to])
			if shift != 0 {
				for i := from; i < to; i++ {
					out[i] += T(shift)
				}
			}
			return
		}
		for at := from; at < to; {
			b := Block{First: at, N: min(4096, to-at)}
			codes := Gather(of.Codes, b, uint64(0))
			for i, code := range codes {
				switch {
				case of.Valid != nil && !of.Valid.Get(at+i): // stays 0
				case ranks != nil:
					out[at+i] = T(ranks[code])
				default:
					out[at+i] = T(code + shift)
				}
			}
			at += b.N
		}
	})
}

// bitmap is the validity of the rows, all of them where there is none.
func (s *Segment) bitmap() Bitmap {
	if s.Valid != nil {
		return slices.Clone(s.Valid)
	}
	b := NewBitmap(s.Rows())
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n := s.Rows() % 64; n != 0 {
		b[len(b)-1] = 1<<n - 1
	}
	return b
}

// SegmentOf is a segment of values of a type, or NULL.
func SegmentOf(t Type, values ...Value) *Segment {
	if len(values) == 1 && !values[0].Null && t.Kind != Interval { // what a builder would make
		s := &Segment{Type: t, Codes: NewCodes(1, 0)}
		if t.Kind == Varchar {
			s.Dict = []string{values[0].S}
		} else if s.Base = Ordinal(values[0]); s.Base != SignedOrdinal(values[0]) {
			s.NegativeZeros = Bitmap{1}
		}
		return s
	}
	b := &ColumnBuilder{typ: t}
	for _, v := range values {
		b.Value(v)
	}
	return b.Segment()
}

// Constant is a segment of n rows of one value of a type, or NULL.
func Constant(t Type, v Value, n int) *Segment {
	one := SegmentOf(t, v)
	out := &Segment{Type: t, Base: one.Base, Dict: one.Dict, Spans: one.Spans, Codes: Codes{U8: make([]uint8, n)}}
	if v.Null {
		out.Valid, out.Nulls = NewBitmap(n), n
	}
	if one.NegativeZeros != nil {
		out.NegativeZeros = out.bitmap()
	}
	return out
}

// Joined is the rows of a chunk and of another behind them. Both have segments for all fields that can be used; those of
// [LiveField] follow where rows are deleted.
func Joined(fields []Field, a, b *Chunk) (*Chunk, error) {
	out := &Chunk{Rows: a.Rows + b.Rows, Deleted: a.Deleted + b.Deleted}
	for i, f := range fields {
		x, y := a.Segments[i], b.Segments[i]
		if x == nil || y == nil {
			if f.Unsupported == "" {
				return nil, fmt.Errorf("table: column %s has not been read", f.Name)
			}
			out.Segments = append(out.Segments, nil)
			continue
		}
		out.Segments = append(out.Segments, joined(x, y))
	}
	if out.Deleted > 0 {
		out.Segments = append(out.Segments, joined(a.live(), b.live()))
	}
	return out, nil
}

// live is the segment of the hidden column.
func (c *Chunk) live() *Segment {
	if c.Deleted > 0 {
		return c.Segments[len(c.Segments)-1]
	}
	s := Constant(LiveField.Type, Bool(false), c.Rows)
	for i := range s.Codes.U8 {
		s.Codes.U8[i] = 1
	}
	s.Max, s.Bits = min(1, uint64(c.Rows)), min(1, c.Rows)
	return s
}

func joined(a, b *Segment) *Segment {
	s := shared(a, b)
	n := a.Rows()
	out := &Segment{Type: a.Type, Base: s.base, Dict: s.dict, Codes: NewCodes(n+b.Rows(), s.bits), Nulls: a.Nulls + b.Nulls,
		Max: max(s.code(0, a, a.Max), s.code(1, b, b.Max))}
	out.own.Store(true)
	out.Bits = bits.Len64(out.Max)
	s.fill(out.Codes, 0, 0, a)
	s.fill(out.Codes, n, 1, b)
	out.Codes = out.Codes.narrowed(out.Bits)
	if out.Nulls > 0 {
		out.Valid = a.bitmap().then(n, b.bitmap(), b.Rows())
	}
	if a.NegativeZeros != nil || b.NegativeZeros != nil {
		out.NegativeZeros = a.NegativeZeros.then(n, b.NegativeZeros, b.Rows())
	}
	if s.ranks[0] == nil && s.base == a.Base && out.Codes.Width() == a.Codes.Width() {
		out.follow(a, nil)
	}
	return out
}

// narrowed are the codes in the width of bits; a space may have had room for more.
func (c Codes) narrowed(bits int) Codes {
	if NewCodes(0, bits).Width() == c.Width() {
		return c
	}
	return Narrow(Gather(c, Block{N: c.Len()}, uint64(0)), bits)
}

// Free reports that nobody else reads a segment any more, so that a change may write to its codes in place of copying
// them. A nil one is never so.
type Free func(*Segment) bool

func (f Free) of(s *Segment) bool { return f != nil && s.own.Load() && f(s) }

// Lend lends the segments of the chunk.
func (c *Chunk) Lend() {
	for _, s := range c.Segments {
		if s != nil {
			s.Lend()
		}
	}
}

// Assign returns the chunk with new values in the given rows of a column. The rows are ascending and distinct.
// Their values are those of a segment of the column's type, from row from on. The segments of the other columns
// are shared.
func (c *Chunk) Assign(col int, rows []int, values *Segment, from int) (*Chunk, error) {
	return c.Patch(col, rows, values, from, nil)
}

// Patch is Assign that takes over the codes of the column where it is free; its segment must not be read then.
func (c *Chunk) Patch(col int, rows []int, values *Segment, from int, free Free) (*Chunk, error) {
	switch {
	case col < 0 || col >= len(c.fields()) || c.Segments[col] == nil:
		return nil, fmt.Errorf("table: no column %d to change", col)
	case values.Type != c.Segments[col].Type:
		return nil, fmt.Errorf("table: a value of type %v for a column of type %v", values.Type, c.Segments[col].Type)
	case from < 0 || from+len(rows) > values.Rows():
		return nil, fmt.Errorf("table: %d values for %d rows", values.Rows()-from, len(rows))
	case !sort.IntsAreSorted(rows) || len(rows) > 0 && (rows[0] < 0 || rows[len(rows)-1] >= c.Rows):
		return nil, fmt.Errorf("table: rows out of order or outside a chunk of %d", c.Rows)
	}
	out := &Chunk{Rows: c.Rows, Deleted: c.Deleted, Segments: slices.Clone(c.Segments)}
	out.Segments[col] = c.Segments[col].assigned(rows, values, from, free.of(c.Segments[col]))
	return out, nil
}

// fewPart is the part of a segment's rows whose values are cheaper to make anew than all of its codes.
const fewPart = 64

// keepsCodes reports that the codes of the first segment stay as they are.
func (s *space) keepsCodes(of *Segment) bool {
	return s.ranks[0] == nil && s.base == of.Base && NewCodes(0, s.bits).Width() <= of.Codes.Width()
}

// assigned is the segment with the values of another one, from its row from on, in some rows. Where these fit the
// segment's codes no other row's is computed anew, and none copied where its arrays are taken. Else all codes are.
func (s *Segment) assigned(rows []int, values *Segment, from int, take bool) *Segment {
	to := shared(s, values)
	same := to.keepsCodes(s)
	if !same && len(rows) <= s.Rows()/fewPart { // those of other rows may be why
		list := make([]Value, len(rows))
		for i := range rows {
			list[i] = values.Value(from + i)
		}
		values, from = SegmentOf(values.Type, list...), 0
		to = shared(s, values)
		same = to.keepsCodes(s)
	}
	out := &Segment{Type: s.Type, Base: to.base, Dict: to.dict, Max: s.Max, Valid: s.Valid, Nulls: s.Nulls}
	out.own.Store(true)
	if s.NonNull() == 0 { // of words that are gone
		out.Max = 0
	}
	switch {
	case same && take:
		out.Codes = s.Codes
	case same:
		out.Codes = s.Codes.blank()
		copyCodes(out.Codes, s.Codes)
	default:
		out.Codes, out.Max = NewCodes(s.Rows(), to.bits), 0
		if s.NonNull() > 0 {
			out.Max = to.code(0, s, s.Max)
		}
		to.fill(out.Codes, 0, 0, s)
	}
	if s.Valid == nil && values.Nulls > 0 || s.Valid != nil && !(same && take) {
		out.Valid = s.bitmap()
	}
	out.Max = max(out.Max, out.put(rows, values, from, to))
	out.NegativeZeros = s.NegativeZeros.assigned(s.Rows(), rows, values.NegativeZeros, from)
	if out.Nulls == 0 {
		out.Valid = nil
	}
	out.Bits = bits.Len64(out.Max)
	if same {
		out.follow(s, places(rows))
		return out
	}
	return out.trimmed()
}

// trimmed is the segment without the words that no row has, where these are most of its dictionary.
func (s *Segment) trimmed() *Segment {
	if len(s.Dict) <= 2*s.Rows() {
		return s
	}
	used := make([]bool, len(s.Dict))
	for i := range s.Rows() {
		if !s.IsNull(i) {
			used[s.Codes.At(i)] = true
		}
	}
	ranks, dict := make([]uint64, len(s.Dict)), []string(nil)
	for i, word := range s.Dict {
		if used[i] {
			ranks[i], dict = uint64(len(dict)), append(dict, word)
		}
	}
	out := &Segment{Type: s.Type, Dict: dict, Max: uint64(max(0, len(dict)-1)), Valid: s.Valid, Nulls: s.Nulls}
	out.own.Store(s.own.Load())
	out.Bits = bits.Len64(out.Max)
	out.Codes = NewCodes(s.Rows(), out.Bits)
	(&space{ranks: [2][]uint64{ranks}}).fill(out.Codes, 0, 0, s)
	return out
}

// put writes the values of a segment, from its row from on, to rows, and returns their largest code.
func (s *Segment) put(rows []int, values *Segment, from int, to *space) (top uint64) {
	const n = 4096
	var codes [n]uint64
	for at := 0; at < len(rows); at += n {
		some := rows[at:min(at+n, len(rows))]
		GatherInto(codes[:len(some)], values.Codes, Block{First: from + at, N: len(some)}, 0)
		for i, row := range some {
			code := to.code(1, values, codes[i])
			if s.Valid != nil {
				if code = s.mark(row, values.IsNull(from+at+i), code); values.IsNull(from + at + i) {
					codes[i] = 0
					continue
				}
			}
			codes[i], top = code, max(top, code)
		}
		s.Codes.scatter(some, codes[:])
	}
	return top
}

// mark notes that a row is NULL or not, and returns its code.
func (s *Segment) mark(row int, null bool, code uint64) uint64 {
	if !s.Valid.Get(row) {
		s.Nulls--
		s.Valid.Set(row)
	}
	if null {
		s.Nulls++
		s.Valid[row>>6] &^= 1 << (uint(row) & 63)
		return 0
	}
	return code
}

// places are rows as a segment's history has them.
func places(rows []int) []uint32 {
	out := make([]uint32, len(rows))
	for i, r := range rows {
		out[i] = uint32(r)
	}
	return out
}
