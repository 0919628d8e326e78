package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// quickselect is what the paper compares KthLargest with: Hoare's FIND over an array,
// on one core. It holds the attributes as arrays of 32 bits, without the rows in
// which the one that is searched is NULL.
//
// FIND permutes its array, so each run begins with a copy. Its time counts where there is a condition: it is
// then the copying out of the valid records, which the paper counts too (figure 9). It does not count where
// there is none (figures 7, 8).
func quickselect(_ meter.Query, p *physical.Query) (meter.Contender, error) {
	agg := p.Aggs[0]
	space := physical.NewCodeSpace(p.Table, agg.Col)
	if space.Bits() > 32 {
		return meter.Contender{}, fmt.Errorf("%w: values of more than 32 bits", meter.ErrCannot)
	}
	var parts []*arrays
	for i, c := range p.Table.Chunks {
		part, err := arraysOf(c, agg.Col, table.Ordinal(space.Value(0)), p.Chunks[i].Pred)
		if err != nil {
			return meter.Contender{}, err
		}
		parts = append(parts, part)
	}
	conditional := slices.ContainsFunc(parts, func(a *arrays) bool { return a.keys != nil })
	work := make([]uint32, p.Table.Rows())
	runs := uint64(0)
	return meter.Contender{Run: func(ctx context.Context) (meter.Outcome, error) {
		runs++
		start := time.Now()
		n := 0
		for _, a := range parts {
			n += a.copyValid(work[n:])
		}
		if !conditional {
			start = time.Now()
		}
		k, largest, ok, err := physical.Rank(agg, uint64(n))
		if err != nil || !ok {
			return meter.Outcome{Answer: answer.Answer{{table.Null(table.Type{Kind: table.BigInt})}}}, nil
		}
		if largest {
			k = uint64(n) - k + 1
		}
		found := find(work[:n], int(k-1), runs)
		took := time.Since(start)
		return meter.Outcome{Answer: answer.Answer{{space.Value(uint64(found))}}, Wall: max(1, took)}, ctx.Err()
	}}, nil
}

// arrays are the rows of a chunk as plain arrays. keys is nil where all rows are
// valid; else those are whose key is below limit.
type arrays struct {
	values, keys []uint32
	limit        uint32
}

// arraysOf takes the values of a column above the ordinal low, and the column of the
// condition.
func arraysOf(c *table.Chunk, col int, low uint64, p *predicate.Pred) (*arrays, error) {
	a := &arrays{}
	seg := c.Segments[col]
	var key *table.Segment
	switch leaf, ok := p.Leaf.(*predicate.Compare); {
	case p.Op == predicate.True:
	case p.Op == predicate.False:
		return a, nil
	case ok && leaf.Op == expr.LT && leaf.Code < 1<<32:
		key, a.limit = c.Segments[leaf.Col], uint32(leaf.Code)
	default:
		return nil, fmt.Errorf("%w: quickselect takes a condition of the form x < constant, not %v", meter.ErrCannot, p)
	}
	for row := range c.Rows {
		if seg.IsNull(row) || key != nil && key.IsNull(row) {
			continue
		}
		a.values = append(a.values, uint32(seg.Base-low+seg.Codes.At(row)))
		if key != nil {
			a.keys = append(a.keys, uint32(key.Codes.At(row)))
		}
	}
	return a, nil
}

// copyValid copies the valid records' values out and returns how many there are. It
// does not branch on the data.
func (a *arrays) copyValid(out []uint32) int {
	if a.keys == nil {
		return copy(out, a.values)
	}
	n := 0
	keys := a.keys[:len(a.values)]
	for i, v := range a.values {
		out[n] = v
		if keys[i] < a.limit {
			n++
		}
	}
	return n
}

// find returns the value of rank k, from 0, by Hoare's FIND (Algorithm 65, 1961). The pivot is the median of
// three random elements, which differ by the seed. It permutes v.
func find(v []uint32, k int, seed uint64) uint32 {
	random := rand.New(rand.NewPCG(seed, uint64(k)))
	lo, hi := 0, len(v)-1
	for lo < hi {
		any := func() uint32 { return v[lo+random.IntN(hi-lo+1)] }
		pivot := middle(any(), any(), any())
		i, j := lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
	return v[k]
}

// middle is the median of three.
func middle(a, b, c uint32) uint32 { return max(min(a, b), min(max(a, b), c)) }
