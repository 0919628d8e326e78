package cpu

import (
	"fmt"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Check implements plan.Selection.
func (x *execution) Check() (err error) {
	x.total, err = x.scan()
	return err
}

// Count implements plan.Selection.
func (x *execution) Count() (uint64, error) { return x.total.rows, nil }

// gathered is what the scan knows of a column.
func (x *execution) gathered(col int) (needs, *columnPartial, error) {
	for i, nd := range x.needs {
		if nd.col == col {
			return nd, &x.total.cols[i], nil
		}
	}
	return needs{}, nil, fmt.Errorf("cpu: no aggregate of the query is over column %d", col)
}

// CountNotNull implements plan.Selection.
func (x *execution) CountNotNull(col int) (uint64, error) {
	_, c, err := x.gathered(col)
	if err != nil {
		return 0, err
	}
	return c.n, nil
}

// Sum implements plan.Selection.
func (x *execution) Sum(col int) (plan.Sum, error) {
	_, c, err := x.gathered(col)
	if err != nil {
		return plan.Sum{}, err
	}
	return plan.Sum{N: c.n, Int: *c.sum.big(), Float: c.floats}, nil
}

// Kth implements plan.Selection.
func (x *execution) Kth(col int, k uint64, largest bool) (table.Value, error) {
	nd, c, err := x.gathered(col)
	switch {
	case err != nil:
		return table.Value{}, err
	case k == 1 && nd.extreme && largest:
		return c.hi, nil
	case k == 1 && nd.extreme:
		return c.lo, nil
	case largest:
		return x.smallest(col, c.n-k, c.n)
	}
	return x.smallest(col, k-1, c.n)
}

// Histogram implements plan.Selection.
func (x *execution) Histogram(col int, space *plan.Space, lo uint64, shift, bits int) ([]uint64, error) {
	s := &rankSearch{execution: x, order: x.order(space, col), lo: lo, hi: lo + 1<<(shift+bits) - 1}
	h, err := s.histogram(uint(shift))
	return h[:1<<bits], err
}

// DigitBits implements plan.Selection.
func (x *execution) DigitBits() int { return bucketBits }
