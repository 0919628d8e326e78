package plan

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/stencildb/stencildb/table"
)

// Space is the code space that the chunks of one column have in common, in which
// the k-th largest value over several chunks is searched for. For a table of one
// chunk it is that chunk's own. Its codes order as the values do.
type Space struct {
	typ   table.Type
	base  uint64 // ordinal of code 0
	max   uint64
	dict  []string             // VARCHAR: the entries of all chunks
	spans map[int64]table.Span // INTERVAL: those of the segments
}

// NewSpace makes the common space of field col. Chunks in which every record is
// NULL add nothing to it.
func NewSpace(t *table.Table, col int) *Space {
	s := &Space{typ: t.Fields[col].Type, base: math.MaxUint64}
	top, dicts := uint64(0), [][]string(nil)
	for _, c := range t.Chunks {
		seg := c.Segments[col]
		if seg == nil || seg.NonNull() == 0 {
			continue
		}
		s.base, top = min(s.base, seg.Base), max(top, seg.Base+seg.Max)
		if seg.Spans != nil {
			s.spans = seg.Spans
		}
		if s.typ.Kind != table.Varchar {
			continue
		}
		if dict := seg.Dict[:seg.Max+1]; len(dicts) == 0 || &dicts[len(dicts)-1][0] != &dict[0] || len(dicts[len(dicts)-1]) != len(dict) { // windows share one
			dicts = append(dicts, dict)
		}
	}
	s.base = min(s.base, top) // no value at all
	s.max = top - s.base
	if s.typ.Kind == table.Varchar {
		if len(dicts) == 1 {
			s.dict = dicts[0]
		} else {
			s.dict = slices.Concat(dicts...)
			slices.Sort(s.dict)
			s.dict = slices.Compact(s.dict)
		}
		s.max = uint64(max(len(s.dict), 1) - 1)
	}
	return s
}

// Max is the largest code that a record has; 0 when there is none.
func (s *Space) Max() uint64 { return s.max }

// Bits is the width of Max.
func (s *Space) Bits() int { return bits.Len64(s.max) }

// Above is by how much an ordinal is above that of code 0.
func (s *Space) Above(ordinal uint64) uint64 { return ordinal - s.base }

// Segment is a segment without rows of the space: its base, its largest code, its dictionary.
func (s *Space) Segment() *table.Segment {
	return &table.Segment{Type: s.typ, Base: s.base, Max: s.max, Bits: s.Bits(), Dict: s.dict, Spans: s.spans}
}

// Value decodes a code, code <= Max.
func (s *Space) Value(code uint64) table.Value {
	if s.typ.Kind == table.Varchar {
		if code >= uint64(len(s.dict)) {
			return table.Null(s.typ)
		}
		return table.Str(s.dict[code])
	}
	return table.Spanned(table.FromOrdinal(s.typ, s.base+code), s.spans)
}

// Digit is what the next step of a search for a code decides: Bits bits of it from bit
// Shift on. Lo is what is known of it, a multiple of 2^(Shift+Bits). The search is for the K-th
// largest of N values, so that a part may guess how it goes on; N is 0 where it cannot, for the digit is
// the only one that this selection is asked for (see [Stream]).
type Digit struct {
	Lo          uint64
	Shift, Bits int
	K, N        uint64
}

// Thresholds are the codes of the space at which the digit becomes 1, 2, ...
func (d Digit) Thresholds(s *Space) []uint64 {
	codes := make([]uint64, d.thresholds(s))
	for i := range codes {
		codes[i] = d.Lo + uint64(i+1)<<d.Shift
	}
	return codes
}

// thresholds is how many there are.
func (d Digit) thresholds(s *Space) int {
	if d.Lo > s.max {
		return 0
	}
	return int(min(1<<d.Bits-1, (s.max-d.Lo)>>d.Shift))
}

// Reach makes of a histogram, how many values have each value of the digit, and last how many are above all of these, how
// many reach each of the digit's thresholds.
func (d Digit) Reach(s *Space, counts []uint64) []uint64 {
	reach := make([]uint64, d.thresholds(s))
	n := counts[len(counts)-1]
	for v := len(counts) - 2; v > 0; v-- {
		if n += counts[v]; v <= len(reach) {
			reach[v-1] = n
		}
	}
	return reach
}

// DigitBits is the width of the digit below bit shift of a search whose digits have at most most
// bits: as few as let all further ones have so many, none with bits both below and above bit 32.
func DigitBits(shift, most int) int { return (shift-1)%32%most + 1 }

// KthLargest returns the largest of n values that at least k > 0 of them reach; count counts
// those at or above each of a digit's thresholds (see [Selection]). The code is found digit by
// digit from the top, each of [DigitBits]; most says how many when so many values may still be the one.
func (s *Space) KthLargest(k, n uint64, most func(left uint64) int, count func(Digit) ([]uint64, error)) (table.Value, error) {
	x := s.seek(k, n)
	for x.shift > 0 {
		d := x.digit(most(x.left()))
		counts, err := count(d)
		if err != nil {
			return table.Value{}, err
		}
		x.decide(d, counts)
	}
	return s.Value(x.code), nil
}

// seeking is a search for the code of the k-th largest of some values of a space, digit by digit from the top.
type seeking struct {
	k, all   uint64
	code     uint64 // what is known of it: the bits from shift on
	shift    int    // 0 at the end
	n, above uint64 // values at or above the code, and those of them above all that it may become
}

func (s *Space) seek(k, n uint64) *seeking { return &seeking{k: k, all: n, n: n, shift: s.Bits()} }

// left is how many values may still be the one.
func (x *seeking) left() uint64 { return x.n - x.above }

// digit is the next one, of at most so many bits.
func (x *seeking) digit(most int) Digit {
	bits := DigitBits(x.shift, most)
	return Digit{x.code, x.shift - bits, bits, x.k, x.all}
}

// widest is the next digit of a search that goes over all values for each: first of as many bits as there may be, for
// few values count for those after it.
func (x *seeking) widest(most int) Digit {
	bits := min(most, (x.shift-1)%32+1)
	return Digit{Lo: x.code, Shift: x.shift - bits, Bits: bits}
}

// decide takes a digit from how many values reach each of its thresholds.
func (x *seeking) decide(d Digit, counts []uint64) {
	x.shift = d.Shift
	for _, reach := range counts {
		if reach < x.k {
			x.above = max(x.above, reach)
			continue
		}
		x.code += 1 << d.Shift
		x.n = reach
	}
}

// Code returns the code that a code of a chunk's segment has here.
func (s *Space) Code(seg *table.Segment, local uint64) uint64 {
	if s.typ.Kind == table.Varchar {
		return uint64(sort.SearchStrings(s.dict, seg.Dict[local]))
	}
	return seg.Base - s.base + local
}

// Translation is how the codes of a chunk's segment become those of the space: each is
// greater by delta or, where ranks is not nil, is ranks[code].
func (s *Space) Translation(seg *table.Segment) (delta uint64, ranks []uint32) {
	switch {
	case seg.NonNull() == 0:
		return 0, nil
	case s.typ.Kind != table.Varchar:
		return seg.Base - s.base, nil
	case uint64(len(s.dict)) == seg.Max+1: // the same strings
		return 0, nil
	}
	delta, same := s.Code(seg, 0), true
	for c := range seg.Max + 1 {
		rank := s.Code(seg, c)
		ranks, same = append(ranks, uint32(rank)), same && rank == c+delta
	}
	if same {
		return delta, nil
	}
	return 0, ranks
}

// AtLeast returns the smallest code whose value does not come before what order, which
// is negative for values before it, looks for; Max where all do.
func (s *Space) AtLeast(order func(table.Value) int) uint64 {
	lo, hi := uint64(0), s.max
	for lo < hi {
		if mid := lo + (hi-lo)/2; order(s.Value(mid)) >= 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Local returns the smallest code of a chunk's segment whose value is at least that of a
// code of the space. ok is false when the chunk has no such code.
func (s *Space) Local(seg *table.Segment, code uint64) (local uint64, ok bool) {
	if seg == nil || seg.NonNull() == 0 || code > s.max {
		return 0, false
	}
	if s.typ.Kind == table.Varchar {
		local = uint64(sort.SearchStrings(seg.Dict, s.dict[code]))
		return local, local <= seg.Max
	}
	if d := seg.Base - s.base; code > d {
		local = code - d
	}
	return local, local <= seg.Max
}
