package engine

import (
	"context"
	"math"
	"slices"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

const (
	sampledRows  = 1 << 20 // at most
	sampledShare = 16      // one row in so many, at most
	deviations   = 5       // of the rank in the sample: once in two million times the value is not where it says
)

// nearOf samples the rows of a query and says between which codes its order statistics probably are, by their aggregates: of those of
// which at most one row in sampledShare is expected there. (R. W. Floyd and R. L. Rivest, "Expected time bounds for selection", 1975.)
func nearOf(q *plan.Query) map[int]plan.Span {
	if !slices.ContainsFunc(q.Aggs, plan.IsSought) {
		return nil
	}
	_, rows := chunkStarts(q.Table)
	some := min(int(rows)/sampledShare, sampledRows)
	of := make([]int, len(q.Chunks))
	for i := range of {
		of[i] = i
	}
	sample := plan.NewVisit(q.Windowed(q.Table.Sampled(some, q.Reads()), of)).Again
	s, err := cpu.New(0).Select(context.Background(), sample)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return nil
	}
	near, share := map[int]plan.Span{}, float64(some)/float64(rows)
	for i, a := range q.Aggs {
		if !plan.IsSought(a) {
			continue
		}
		if span, ok := nearIn(s, a, plan.NewSpace(q.Table, a.Col), float64(some), share); ok {
			near[i] = span
		}
	}
	return near
}

// nearIn is nearOf of one aggregate, of the selection of so many sampled rows, which are a share of all.
func nearIn(s plan.Selection, a expr.Aggregate, space *plan.Space, sampled, share float64) (near plan.Span, ok bool) {
	n, err := s.CountNotNull(a.Col)
	if err != nil || space.Bits() == 0 {
		return near, false
	}
	near.Hi = space.Max()
	if n == 0 {
		return near, true
	}
	place, largest := float64(a.K)*share, a.Kind == expr.KthLargest // in the sample
	off := math.Sqrt(place)
	if a.Kind == expr.Percentile {
		k, desc, _, _ := plan.Rank(a, n)
		place, largest = float64(k), desc
		off = math.Sqrt(place * (1 - place/float64(n)))
	}
	if off = deviations*off + deviations; !largest {
		place = float64(n) + 1 - place
	}
	if place-off > float64(n) || place+off < 1 { // there are hardly so many
		return near, false
	}
	// code is that of the value of the sample that has a rank, the largest first; ok is false where none has.
	code := func(rank float64) (code uint64, ok bool) {
		if rank < 1 || rank > float64(n) || err != nil {
			return 0, false
		}
		var v table.Value
		if v, err = s.Kth(a.Col, uint64(rank), true); err == nil {
			code = space.AtLeast(func(of table.Value) int { return table.Compare(of, v) })
		}
		return code, err == nil
	}
	if hi, ok := code(place - off); ok {
		near.Hi = hi
	}
	if lo, ok := code(place + off); ok {
		near.Lo = lo
	}
	few := sampled / sampledShare
	if near.Lo < near.Hi { // of many rows one may have any of few values
		above, less := code(place - off - few/4)
		below, more := code(place + off + few/4)
		if 2*off > few/2 || less && above == near.Hi || more && below == near.Lo {
			return near, false
		}
	}
	return near, err == nil
}

// anywhere has a span for each order statistic of a query, for passes that are recorded.
func anywhere(q *plan.Query) map[int]plan.Span {
	near := map[int]plan.Span{}
	for i, a := range q.Aggs {
		if !plan.IsSought(a) {
			continue
		}
		if max := plan.NewSpace(q.Table, a.Col).Max(); max > 0 {
			near[i] = plan.Span{Lo: max / 4, Hi: max / 2}
		}
	}
	return near
}
