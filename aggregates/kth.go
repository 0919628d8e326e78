package aggregates

import "github.com/stencildb/stencildb/table"

// KthLargest returns the k-th largest value of a column over the selection (paper,
// routine 4.5); k is at least 1 and at most the number of selected values that are not
// NULL. It finds the code x bit by bit, from the top.
func (s *Selection) KthLargest(col int, k uint64) (table.Value, error) {
	a, err := s.attribute(col, false)
	if err != nil {
		return table.Value{}, err
	}
	var x uint64
	for i := a.space.Bits() - 1; i >= 0; i-- {
		n, err := a.count(x+1<<i, i) // attribute >= x + 2^i
		if err != nil {
			return table.Value{}, err
		}
		if n > k-1 {
			x += 1 << i
		}
	}
	return a.space.Value(x), nil
}

// KthSmallest returns the k-th smallest value, with the comparison inverted.
func (s *Selection) KthSmallest(col int, k uint64) (table.Value, error) {
	a, err := s.attribute(col, true)
	if err != nil {
		return table.Value{}, err
	}
	var x uint64
	for i := a.space.Bits() - 1; i >= 0; i-- {
		n, err := a.count(x+1<<i, i) // attribute < x + 2^i
		if err != nil {
			return table.Value{}, err
		}
		if n <= k-1 {
			x += 1 << i
		}
	}
	return a.space.Value(x), nil
}
