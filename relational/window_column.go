package relational

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
)

// WindowColumn is the result of a window function, on the device. Words are a word for each row of the table, by its place, or
// a lower and an upper word.
type WindowColumn struct {
	Words []primitives.Vector

	typ   table.Type
	words int // how many there are
	// The words are a number of 64 bits less base, at most most. With avg they are such a sum, whose quotient by
	// taken is wanted. With ratio they are a numerator and a denominator. With space they are a code of it plus 1,
	// or 0 for NULL.
	base     int64
	most     uint64
	avg      *expr.Aggregate
	ratio    bool
	space    *physical.CodeSpace
	mirrored bool // the codes are complements
	// taken, when set, is of how many rows a sum is: that of none is NULL.
	taken primitives.Vector
}

// read waits for the column and makes segments of it, one for each chunk.
func (c *WindowColumn) read(run pass.Runner, t *table.Table) (list []*table.Segment, err error) {
	words := func(v primitives.Vector) (words []uint32) {
		if err == nil && !v.None() {
			words, err = v.Read(run)
		}
		return words
	}
	of := append(c.Words[:len(c.Words):len(c.Words)], primitives.Vector{}, primitives.Vector{})
	all := columnWords{words(of[0]), words(of[1]), words(c.taken)}
	if err != nil {
		return nil, err
	}
	from := 0
	for _, ch := range t.Chunks {
		list = append(list, c.segment(all.part(from, from+ch.Rows), ch.Rows))
		from += ch.Rows
	}
	return list, nil
}

// columnWords are the words of rows of a column: the lower ones, the upper ones, and those of taken; nil for none.
type columnWords struct{ low, high, taken []uint32 }

func (w columnWords) part(from, to int) columnWords {
	cut := func(words []uint32) []uint32 {
		if words == nil {
			return nil
		}
		return words[from:to]
	}
	return columnWords{cut(w.low), cut(w.high), cut(w.taken)}
}

// segment makes a segment of rows of the column.
func (c *WindowColumn) segment(w columnWords, rows int) *table.Segment {
	s := &table.Segment{Type: c.typ, Base: table.OrdinalInt(c.base), Max: c.most}
	switch {
	case c.ratio || c.avg != nil:
		s.Base, s.Max = 0, math.MaxUint64
	case c.space != nil:
		of := c.space.Segment()
		s.Base, s.Max, s.Dict, s.Spans = of.Base, of.Max, of.Dict, of.Spans
	}
	shift := uint64(0)
	if s.Max > math.MaxUint32 { // few values may be far from 0
		least, most := c.ends(w, rows)
		shift = min(least, most)
		s.Base, s.Max = s.Base+shift, most-shift
	}
	s.Bits = bits.Len64(s.Max)
	if c.space == nil && w.high == nil && w.taken == nil && s.Bits > 16 { // as they are
		s.Codes.U32 = w.low
		return s
	}
	s.Codes = table.NewCodes(rows, s.Bits)
	var valid table.Bitmap
	if c.space != nil || w.taken != nil {
		valid = table.NewBitmap(rows)
	}
	var nulls atomic.Int64
	c.decoded(w, rows, func(from int, codes []uint64, some table.Bitmap, null int) {
		for i := range codes {
			if codes[i] -= shift; null > 0 && !some.Get(i) {
				codes[i] = 0
			}
		}
		nulls.Add(int64(null))
		if valid != nil {
			copy(valid[from/64:], some)
		}
		s.Codes.Put(from, codes)
	})
	if s.Nulls = int(nulls.Load()); s.Nulls > 0 {
		s.Valid = valid
	}
	return s
}

// ends are the smallest and the largest code of rows that are not NULL.
func (c *WindowColumn) ends(w columnWords, rows int) (least, most uint64) {
	var mu sync.Mutex
	least = math.MaxUint64
	c.decoded(w, rows, func(_ int, codes []uint64, some table.Bitmap, null int) {
		lo, hi := uint64(math.MaxUint64), uint64(0)
		for i, code := range codes {
			if null == 0 || some.Get(i) {
				lo, hi = min(lo, code), max(hi, code)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		least, most = min(least, lo), max(most, hi)
	})
	return least, most
}

// decodedRows is how many rows are decoded at a time: what they take stays in the first-level cache.
const decodedRows = 1 << 11

// decoded calls do for blocks of rows, on all cores. do gets the row that the block begins with, the codes, which
// rows are not NULL, and how many are NULL. The codes of NULLs have no meaning.
func (c *WindowColumn) decoded(w columnWords, rows int, do func(from int, codes []uint64, some table.Bitmap, null int)) {
	table.InParts(rows, func(from, to int) {
		codes, some := make([]uint64, decodedRows), table.NewBitmap(decodedRows)
		for ; from < to; from += decodedRows {
			part := w.part(from, min(from+decodedRows, to))
			n := len(part.low)
			clear(some)
			null := c.decode(part, codes[:n], some)
			do(from, codes[:n], some[:(n+63)/64], null)
		}
	})
}

// decode writes the codes of a block of rows.
func (c *WindowColumn) decode(w columnWords, codes []uint64, some table.Bitmap) (null int) {
	for i, low := range w.low {
		codes[i] = uint64(low)
	}
	for i, high := range w.high {
		codes[i] |= uint64(high) << 32
	}
	switch {
	case c.space != nil:
		top := c.space.Max() + 1
		for i, code := range codes {
			if code == 0 {
				null++
			} else {
				some.Set(i)
			}
			if codes[i] = code - 1; c.mirrored {
				codes[i] = top - code
			}
		}
	case w.taken != nil:
		for i, n := range w.taken {
			if n == 0 {
				null++
			} else {
				some.Set(i)
			}
		}
	}
	switch {
	case c.ratio:
		for i, low := range w.low {
			codes[i] = table.OrdinalFloat64(float64(low) / float64(w.high[i]))
		}
	case c.avg != nil:
		var sum partial.Sum
		for i, n := range w.taken {
			sum.N = uint64(n)
			sum.Int.SetInt64(c.base + int64(codes[i]))
			v, _ := partial.FinishSum(*c.avg, &sum) // of integers it has no error
			codes[i] = table.OrdinalFloat64(v.F)
		}
	}
	return null
}
