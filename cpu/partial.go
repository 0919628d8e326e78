package cpu

import (
	"math/big"
	"math/bits"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// int128 is a two's complement integer of 128 bits: an exact sum of 64-bit
// integers over up to 2^63 rows.
type int128 struct{ hi, lo uint64 }

func (a int128) plus(b int128) int128 {
	lo, c := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, c)
	return int128{hi, lo}
}

func (a int128) minus(b int128) int128 {
	lo, c := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, c)
	return int128{hi, lo}
}

func (a int128) big() *big.Int {
	z := big.NewInt(int64(a.hi))
	z.Lsh(z, 64)
	return z.Add(z, new(big.Int).SetUint64(a.lo))
}

// needs says what a query's aggregates ask of one column.
type needs struct {
	col     int
	sum     bool // Sum, Avg
	extreme bool // Min, Max
}

// columnNeeds lists the columns that the aggregates read, once each.
func columnNeeds(aggs []expr.Aggregate) []needs {
	var out []needs
	at := map[int]int{}
	for _, a := range aggs {
		if a.Kind == expr.CountAll || a.Kind == expr.Selectivity {
			continue
		}
		i, ok := at[a.Col]
		if !ok {
			i = len(out)
			at[a.Col] = i
			out = append(out, needs{col: a.Col})
		}
		switch a.Kind {
		case expr.Sum, expr.Avg:
			out[i].sum = true
		case expr.Min, expr.Max:
			out[i].extreme = true
		}
	}
	return out
}

// columnPartial is what is known of one column after some of its rows: values,
// so that partials of any rows of any chunks merge, in any order.
type columnPartial struct {
	n      uint64 // selected rows that are not NULL
	sum    int128 // of the integers, unscaled
	floats plan.FloatSum
	lo, hi table.Value // when extreme is asked and n > 0
}

// partial is one worker's share of the answer, or the whole.
type partial struct {
	rows uint64 // selected
	cols []columnPartial
}

func (p *partial) merge(o *partial) {
	p.rows += o.rows
	for i := range p.cols {
		p.cols[i].merge(&o.cols[i])
	}
}

func (c *columnPartial) merge(o *columnPartial) {
	if o.n == 0 {
		return
	}
	c.widen(o.lo, o.hi)
	c.n += o.n
	c.sum = c.sum.plus(o.sum)
	c.floats.Merge(&o.floats)
}

// widen extends the extremes; c.n == 0 means that there are none yet.
func (c *columnPartial) widen(lo, hi table.Value) {
	if c.n == 0 || table.Compare(lo, c.lo) < 0 {
		c.lo = lo
	}
	if c.n == 0 || table.Compare(hi, c.hi) > 0 {
		c.hi = hi
	}
}

// add takes in the rows sel of the block that starts at row.
func (c *columnPartial) add(k kernels.Set, nd needs, s *table.Segment, sel []uint64, row, n int) {
	count := countBits(sel)
	if count == 0 {
		return
	}
	if nd.extreme {
		lo, hi := k.Extremes(kernels.Part(s.Codes, row, n), sel)
		c.widen(s.Decode(lo), s.Decode(hi))
	}
	c.n += count
	switch {
	case nd.sum && s.Type.IsExact():
		c.sum = c.sum.plus(blockSum(k, s, sel, row, n, count))
	case nd.sum && s.Type.IsFloat():
		blockFloats(&c.floats, s, sel, row, n)
	}
}

// blockSum is the sum of integers: of codes, plus count times what code 0 stands
// for, which is Base - 2^63.
func blockSum(k kernels.Set, s *table.Segment, sel []uint64, row, n int, count uint64) int128 {
	var codes, base int128
	codes.hi, codes.lo = k.Sum(kernels.Part(s.Codes, row, n), sel)
	base.hi, base.lo = bits.Mul64(count, s.Base)
	return codes.plus(base).minus(int128{count >> 1, count << 63})
}

func blockFloats(f *plan.FloatSum, s *table.Segment, sel []uint64, row, n int) {
	single := s.Type.Kind == table.Real
	switch c := s.Codes; {
	case c.U8 != nil:
		addFloats(f, c.U8[row:row+n], sel, s.Base, single)
	case c.U16 != nil:
		addFloats(f, c.U16[row:row+n], sel, s.Base, single)
	case c.U32 != nil:
		addFloats(f, c.U32[row:row+n], sel, s.Base, single)
	default:
		addFloats(f, c.U64[row:row+n], sel, s.Base, single)
	}
}
