package aggregates

import (
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// KthLargest returns the k-th largest value of a column over the selection (paper,
// routine 4.5). With the comparison inverted it is the k-th smallest. k is at least 1 and at
// most the number of selected values that are not NULL. It finds the code x bit by bit,
// from the top.
func (s *Selection) KthLargest(col int, k uint64, smallest bool) (table.Value, error) {
	a, err := s.attribute(col, smallest, physical.NewCodeSpace(s.Table, col))
	if err != nil {
		return table.Value{}, err
	}
	a.own = len(s.List) == 1 && !s.IsPart()
	var x uint64
	for i := a.space.Bits() - 1; i >= 0; i-- {
		n, err := a.count(x+1<<i, i) // attribute >= x + 2^i, or < x + 2^i
		if err != nil {
			return table.Value{}, err
		}
		if n > k-1 != smallest {
			x += 1 << i
		}
	}
	return a.space.Value(x), nil
}

// Kth implements [partial.Selection].
func (s *Selection) Kth(col int, k uint64, largest bool) (table.Value, error) {
	n, err := s.CountNotNull(col)
	if err != nil {
		return table.Value{}, err
	}
	s.Serve(s.AggregatesOfRank(col, n, k, largest))
	defer s.Serve(nil)
	return s.KthLargest(col, k, !largest)
}

// CountAtLeast implements [partial.Selection]. Its counts are those of KthLargest.
func (s *Selection) CountAtLeast(col int, space *physical.CodeSpace, d partial.Digit) ([]uint64, error) {
	a, err := s.attribute(col, false, space)
	if err != nil {
		return nil, err
	}
	counts := d.Thresholds(space)
	for i, code := range counts {
		if counts[i], err = a.count(code, d.Shift); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// DigitBits implements [partial.Selection].
func (s *Selection) DigitBits(uint64) int { return 1 }

// VisitBits implements [partial.Selection]: three passes for two bits, which take about as long as bringing the records to the device once more
// (H200). Four bits take 15.
func (s *Selection) VisitBits() int { return 2 }
