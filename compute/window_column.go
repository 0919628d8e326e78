package compute

import (
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// WindowColumn is what a window function gives, on the device: Words have a word, or a lower and an upper one, for each row of
// the table, by its place.
type WindowColumn struct {
	Words []primitives.Vector

	typ   table.Type
	words int // how many there are
	// One of these: a number of 64 bits that is more than base by the words, which are at most most; the same
	// of a sum whose quotient by the rows taken is asked for; the quotient of two words; a code of a space, more by
	// 1, or 0 for NULL.
	base     int64
	most     uint64
	avg      *expr.Aggregate
	ratio    bool
	space    *plan.Space
	mirrored bool // the codes are complements
	// taken, when set, is of how many rows a sum is: that of none is NULL.
	taken primitives.Vector
}

// read waits for the column and makes segments of it, one for each chunk.
func (c *WindowColumn) read(run pass.Runner, t *table.Table) (list []*table.Segment, err error) {
	words := make([][]uint32, 3)
	for i, v := range append(c.Words[:len(c.Words):len(c.Words)], c.taken) {
		if i == len(c.Words) {
			i = 2
		}
		if v.None() {
			continue
		}
		if words[i], err = v.Read(run); err != nil {
			return nil, err
		}
	}
	from := 0
	for _, ch := range t.Chunks {
		part := make([][]uint32, 3)
		for i, w := range words {
			if w != nil {
				part[i] = w[from : from+ch.Rows]
			}
		}
		s, err := c.segment(part[0], part[1], part[2], ch.Rows)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
		from += ch.Rows
	}
	return list, nil
}

// segment makes a segment of rows of the column.
func (c *WindowColumn) segment(low, high, taken []uint32, rows int) (*table.Segment, error) {
	word := func(i int) uint64 {
		if high == nil {
			return uint64(low[i])
		}
		return uint64(high[i])<<32 | uint64(low[i])
	}
	if c.ratio || c.avg != nil {
		b := table.NewBuilder("", []table.Field{{Type: c.typ}}, 0).Column(0)
		for i := range rows {
			switch {
			case c.ratio:
				b.Float(float64(low[i]) / float64(high[i]))
			case taken[i] == 0:
				b.Null()
			default:
				s := plan.Sum{N: uint64(taken[i])}
				s.Int.SetInt64(c.base + int64(word(i)))
				v, err := plan.FinishSum(*c.avg, &s)
				if err != nil {
					return nil, err
				}
				b.Float(v.F)
			}
		}
		return b.Segment(), nil
	}
	s := &table.Segment{Type: c.typ, Base: table.OrdinalInt(c.base), Max: c.most}
	code := func(i int) (uint64, bool) { return word(i), taken == nil || taken[i] != 0 }
	if c.space != nil {
		of := c.space.Segment()
		s.Base, s.Max, s.Dict = of.Base, of.Max, of.Dict
		code = func(i int) (uint64, bool) { return word(i) - 1, word(i) != 0 }
		if c.mirrored {
			code = func(i int) (uint64, bool) { return of.Max + 1 - word(i), word(i) != 0 }
		}
	}
	shift := uint64(0)
	if s.Max > 1<<32-1 && s.Dict == nil { // few values may be far from 0
		least, most := ^uint64(0), uint64(0)
		for i := range rows {
			if v, ok := code(i); ok {
				least, most = min(least, v), max(most, v)
			}
		}
		shift = min(least, most)
		s.Base, s.Max = s.Base+shift, most-shift
	}
	s.Bits = bits.Len64(s.Max)
	null := func(i int) {
		if s.Valid == nil {
			s.Valid = table.NewBitmap(rows)
			for k := range i {
				s.Valid.Set(k)
			}
		}
		s.Nulls++
	}
	switch {
	case c.space == nil && high == nil && taken == nil && s.Bits > 16: // as they are
		s.Codes.U32 = low
	case s.Bits <= 8:
		s.Codes.U8 = codesOf[uint8](s, rows, shift, code, null)
	case s.Bits <= 16:
		s.Codes.U16 = codesOf[uint16](s, rows, shift, code, null)
	case s.Bits <= textures.PartBits:
		s.Codes.U32 = codesOf[uint32](s, rows, shift, code, null)
	default:
		s.Codes.U64 = codesOf[uint64](s, rows, shift, code, null)
	}
	return s, nil
}

// codesOf are the codes of rows, less shift; those of NULLs are 0.
func codesOf[T uint8 | uint16 | uint32 | uint64](s *table.Segment, rows int, shift uint64, code func(i int) (uint64, bool), null func(i int)) []T {
	out := make([]T, rows)
	for i := range out {
		v, ok := code(i)
		if !ok {
			null(i)
			continue
		}
		out[i] = T(v - shift)
		if s.Valid != nil {
			s.Valid.Set(i)
		}
	}
	return out
}
