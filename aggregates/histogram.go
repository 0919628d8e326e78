package aggregates

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// Histogram implements plan.Selection.
func (g *Group) Histogram(col int, space *plan.Space, lo uint64, shift, bits int) ([]uint64, error) {
	n, err := g.CountNotNull(col)
	if err != nil {
		return nil, err
	}
	if g.reached[col] == nil {
		g.reached[col] = plan.Reached{}
	}
	return g.reached[col].Histogram(n, space, lo, shift, bits, func(codes []uint64) ([]uint64, error) {
		counts := make([]uint64, len(codes))
		for i, code := range codes {
			for _, p := range g.parts {
				n, err := p.reach(col, expr.Ident(g.table.Fields[col].Name), space, code)
				if err != nil {
					return nil, err
				}
				counts[i] += n
			}
		}
		return counts, nil
	})
}

// reach counts the selected values of the chunk at or above a code of the space.
func (p *part) reach(col int, name string, space *plan.Space, code uint64) (uint64, error) {
	seg := p.eval.Segment(col)
	local, ok := space.Local(seg, code)
	switch {
	case !ok:
		return 0, nil
	case local == 0:
		return p.countNotNull(col)
	}
	leaf := &plan.Compare{Col: col, Op: expr.GE, Code: local, Text: fmt.Sprintf("%s >= code %d", name, code)}
	p.eval.Claim()
	p.sel = nil // the stencil buffer no longer holds it
	s, err := p.eval.Select(p.pred.And(&plan.Pred{Op: plan.IsLeaf, Leaf: leaf}), false)
	if err != nil {
		return 0, err
	}
	return s.Count()
}

// DigitBits implements plan.Selection.
func (g *Group) DigitBits() int { return 1 }
