package backends

import (
	"context"
	"math"
	"slices"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
)

const (
	sampledRows  = 1 << 20 // at most
	SampledShare = 16      // one row in so many, at most
	deviations   = 5       // of the rank in the sample: once in two million times the value is not where it says
)

// SampledSpans samples the rows of a query and says between which codes its order statistics probably are, by their aggregates. It leaves
// out those between whose codes more than one row in SampledShare is expected. (R. W. Floyd and R. L. Rivest, "Expected time bounds for
// selection", 1975.)
func SampledSpans(q *physical.Query) map[int]predicate.Span {
	if !slices.ContainsFunc(q.Aggs, partial.NeedsSearch) {
		return nil
	}
	rows := physical.RowOffsetsOf(q.Table)[len(q.Table.Chunks)]
	some := min(int(rows)/SampledShare, sampledRows)
	of := make([]int, len(q.Chunks))
	for i := range of {
		of[i] = i
	}
	sample, near := q.Windowed(q.Table.Sampled(some, q.Reads()), of), map[int]predicate.Span{}
	for i, a := range q.Aggs {
		if !partial.NeedsSearch(a) {
			continue
		}
		codes := sampledCodes(sample, a.Col, physical.NewCodeSpace(q.Table, a.Col))
		if span, ok := sampledSpan(codes, a, float64(some), float64(some)/float64(rows)); ok {
			near[i] = span
		}
		codes.Free()
	}
	return near
}

// sampledCodes are the codes of a column that the rows of a sample have which are selected.
func sampledCodes(sample *physical.Query, col int, space *physical.CodeSpace) *partial.CodeList {
	codes := &partial.CodeList{Space: space}
	var adding parallel.Group
	for rows, err := range cpu.New(0).Rows(context.Background(), sample.WithCodesIn(col, space, predicate.Span{Hi: space.Max()})) {
		if err == nil {
			adding.Go(func() { codes.Add(sample.Table.Chunks[rows.Chunk].Segments[col], rows) })
		}
	}
	adding.Wait()
	return codes
}

// sampledSpan is [SampledSpans] of one aggregate, of the codes of so many sampled rows, which are a share of all.
func sampledSpan(codes *partial.CodeList, a expr.Aggregate, sampled, share float64) (near predicate.Span, ok bool) {
	all := predicate.Span{Hi: codes.Space.Max()}
	n := codes.Len()
	if n == 0 || all.Hi == 0 {
		return all, all.Hi > 0
	}
	place, largest := float64(a.K)*share, a.Kind == expr.KthLargest // in the sample
	off := math.Sqrt(place)
	if a.Kind == expr.Percentile {
		k, desc, _, _ := physical.Rank(a, n)
		place, largest = float64(k), desc
		off = math.Sqrt(place * (1 - place/float64(n)))
	}
	if off = deviations*off + deviations; !largest {
		place = float64(n) + 1 - place
	}
	if place-off > float64(n) || place+off < 1 { // there are hardly so many
		return near, false
	}
	// code is the one that has a rank, the largest first; ok is false where none has.
	code := func(rank float64) (code uint64, ok bool) {
		if rank < 1 || rank > float64(n) {
			return 0, false
		}
		return codes.Kth(all, uint64(rank)), true
	}
	near = all
	if hi, ok := code(place - off); ok {
		near.Hi = hi
	}
	if lo, ok := code(place + off); ok {
		near.Lo = lo
	}
	few := sampled / SampledShare
	if near.Lo < near.Hi { // of many rows one may have any of few values
		above, less := code(place - off - few/4)
		below, more := code(place + off + few/4)
		if 2*off > few/2 || less && above == near.Hi || more && below == near.Lo {
			return near, false
		}
	}
	return near, true
}

// AssumedSpans has a span for each order statistic of a query, for passes that are recorded.
func AssumedSpans(q *physical.Query) map[int]predicate.Span {
	near := map[int]predicate.Span{}
	for i, a := range q.Aggs {
		if !partial.NeedsSearch(a) {
			continue
		}
		if max := physical.NewCodeSpace(q.Table, a.Col).Max(); max > 0 {
			near[i] = predicate.Span{Lo: max / 4, Hi: max / 2}
		}
	}
	return near
}
