package aggregates

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
)

// Histogram implements [plan.Selection].
func (s *Selection) Histogram(col int, space *plan.Space, lo uint64, shift, bits int) ([]uint64, error) {
	n, err := s.CountNotNull(col)
	if err != nil {
		return nil, err
	}
	if s.reached[col] == nil {
		s.reached[col] = plan.Reached{}
	}
	return s.reached[col].Histogram(n, space, lo, shift, bits, func(codes []uint64) ([]uint64, error) {
		counts := make([]uint64, len(codes))
		for i, code := range codes {
			counts[i], err = total(s.each(func(_ int, p *part) (pass.Count, error) { return p.reach(col, space, code) }))
			if err != nil {
				return nil, err
			}
		}
		return counts, nil
	})
}

// reach starts the count of the selected values of the chunk at or above a code of the
// space.
func (p *part) reach(col int, space *plan.Space, code uint64) (pass.Count, error) {
	local, ok := space.Local(p.eval.Segment(col), code)
	switch {
	case !ok:
		return pass.Known(0), nil
	case local == 0:
		return p.countNotNull(col)
	}
	leaf := &plan.Compare{Col: col, Op: expr.GE, Code: local, Text: fmt.Sprintf("%s >= code %d", p.eval.Attribute(col, 0).Name, code)}
	p.eval.Claim()
	p.sel = nil // the stencil buffer no longer holds it
	return p.eval.Select(plan.Join(plan.And, p.pred, &plan.Pred{Op: plan.IsLeaf, Leaf: leaf}), false)
}

// DigitBits implements [plan.Selection].
func (s *Selection) DigitBits() int { return 1 }
