package table

import (
	"github.com/stencildb/stencildb/internal/xslices"
	"math"
	"slices"
)

// sampleRows is how many rows stand for all of a segment, or of a table.
const sampleRows = 1 << 12

// Place is a row of a table.
type Place struct{ Chunk, Row int }

// Sample gives some thousand rows of the table, all of a smaller one, spread over it in their order; not the deleted ones.
// It is the same sample at each call.
func (t *Table) Sample() (list []Place) {
	rows := xslices.Sum(t.Chunks, func(c *Chunk) int { return c.Rows })
	k, first := 0, 0 // the chunk of a row, and its first one
	stratifiedSample(rows, sampleRows, func(at int) {
		for ; at >= first+t.Chunks[k].Rows; k++ {
			first += t.Chunks[k].Rows
		}
		if t.Chunks[k].IsLive(at - first) {
			list = append(list, Place{k, at - first})
		}
	})
	return list
}

// stratifiedSample calls do for some of n rows, ascending: one of each stretch, at a place in it that differs from stretch to stretch.
func stratifiedSample(n, some int, do func(at int)) {
	for i := range min(n, some) {
		do(stratumRow(i, n, some))
	}
}

// stratumRow is the i'th of some rows that are spread over n.
func stratumRow(i, n, some int) int {
	if n <= some {
		return i
	}
	_, place := math.Modf(float64(i+1) * (math.Phi - 1))
	return min(n-1, int((float64(i)+place)*(float64(n)/float64(some))))
}

// Distinct estimates how many different values the segment has, 0 where all rows are NULL. It looks at some thousand rows, at
// the first call. A dictionary has an entry a value. A sorted column is judged by the share of rows that differ from the next
// row. Other columns are judged by how often the sample has a value twice, as if all values were equally frequent.
func (s *Segment) Distinct() int {
	s.counted.Do(func() { s.distinct = s.countDistinct() })
	return s.distinct
}

func (s *Segment) countDistinct() int {
	n := s.NonNull()
	if s.Type.Kind == Varchar || n == 0 {
		return min(n, int(s.Max)+1)
	}
	s.AwaitCodes()
	most := n
	if s.Max < uint64(n) {
		most = int(s.Max) + 1
	}
	seen, looked, last, sorted := map[uint64]bool{}, 0, uint64(0), true
	pairs, steps := 0, 0
	stratifiedSample(s.Rows(), sampleRows, func(i int) {
		if s.IsNull(i) {
			return
		}
		code := s.Codes.At(i)
		sorted = sorted && code >= last
		seen[code], last = true, code
		looked++
		if i+1 < s.Rows() && !s.IsNull(i+1) {
			pairs++
			if s.Codes.At(i+1) != code {
				steps++
			}
		}
	})
	d := len(seen)
	switch twice := looked - d; {
	case looked == n || d == most:
		return d
	case sorted && pairs > 0:
		return min(most, max(d, int(math.Round(float64(steps)/float64(pairs)*float64(n-1)))+1))
	case twice < 32 && most < n: // too few to tell, and the codes are dense
		return most
	case twice == 0:
		return most
	}
	lo, hi := float64(d), float64(most)
	for hi-lo > 0.5 {
		if mid := (lo + hi) / 2; Drawn(mid, float64(n), float64(looked)) < float64(d) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return int(math.Round(hi))
}

// Drawn is how many different values a sample of some of n rows is expected to have. All rows have d values, which are
// equally frequent: S. B. Yao, "Approximating block accesses in database organizations", 1977, as if rows were drawn one by
// one.
func Drawn(d, n, some float64) float64 {
	if d <= 0 || n <= 0 || some >= n {
		return d
	}
	return d * (1 - math.Pow(1-some/n, n/d))
}

// rankedRows is how many rows [Segment.Ranked] looks at.
const rankedRows = 1 << 16

// Ranked is the codes of some ten thousand rows that are not NULL, in order: those of the whole column have about these
// quantiles. It is made at the first call.
func (s *Segment) Ranked() []uint64 {
	s.sampled.Do(func() {
		s.AwaitCodes()
		stratifiedSample(s.Rows(), rankedRows, func(i int) {
			if !s.IsNull(i) {
				s.ranked = append(s.ranked, s.Codes.At(i))
			}
		})
		slices.Sort(s.ranked)
	})
	return s.ranked
}
