package cpu

import (
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/table"
)

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

// workerShare is one worker's share of the answer, or the whole.
type workerShare struct {
	rows uint64 // selected
	cols []gathered
}

func (p *workerShare) merge(o *workerShare) {
	p.rows += o.rows
	for i := range p.cols {
		if c, d := &p.cols[i], &o.cols[i]; d.N > 0 {
			c.widen(d.lo, d.hi)
			c.Add(&d.Sum)
		}
	}
}

// gathered is the partial aggregate of one column over some of its rows. It has values, not codes, so that
// results of any chunks merge in any order.
type gathered struct {
	partial.Sum             // of the selected rows that are not NULL; only their number, where no sum is asked
	lo, hi      table.Value // when extreme is asked and N > 0
}

// widen extends the extremes; N == 0 means that there are none yet.
func (c *gathered) widen(lo, hi table.Value) {
	if c.N == 0 || table.Compare(lo, c.lo) < 0 {
		c.lo = lo
	}
	if c.N == 0 || table.Compare(hi, c.hi) > 0 {
		c.hi = hi
	}
}

// add takes in the rows sel of the block that starts at row.
func (c *gathered) add(nd needs, col segment, s *scratch, sel table.Bitmap, row int) {
	n := uint64(sel.Count())
	if n == 0 {
		return
	}
	if nd.extreme {
		lo, hi := col.Extremes(sel, row)
		c.widen(col.Decode(lo), col.Decode(hi))
	}
	if nd.sum && col.Type.IsExact() {
		hi, lo := col.Sum(sel, row)
		codes := new(big.Int).SetUint64(hi)
		codes.Add(codes.Lsh(codes, 64), new(big.Int).SetUint64(lo))
		c.AddCodes(col.Segment, codes, n)
		return
	}
	c.N += n
	if !nd.sum {
		return
	}
	for ; len(sel) > 0; sel, row = sel[min(len(sel), vecRows/64):], row+vecRows {
		s.codes = col.Gather(s.codes[:0], sel[:min(len(sel), vecRows/64)], row)
		for _, code := range s.codes {
			c.Float.Add(col.Type.FloatFromOrdinal(code + col.Base))
		}
	}
}
