package aggregates

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/textures"
)

// attribute is a column of the selected records as a k-th search compares it, by codes of a
// space that the chunks share. Each chunk is asked in codes of its own.
type attribute struct {
	*Selection
	col      int
	smallest bool
	space    *physical.CodeSpace
	own      bool     // the space is that of the one chunk there is
	notNull  []uint64 // selected values, by chunk
}

func (s *Selection) attribute(col int, smallest bool, space *physical.CodeSpace) (*attribute, error) {
	notNull, err := s.Each(func(_ int, p *part) pass.Count { return p.CountNotNull(col) })
	return &attribute{s, col, smallest, space, false, notNull}, err
}

// count returns how many selected values are at or above code t, or below it where the
// smallest are searched. Bit i is the lowest of t.
func (a *attribute) count(t uint64, i int) (uint64, error) {
	step := pass.KthLargest{Smallest: a.smallest, Top: a.space.Bits() - 1, Bit: i, Code: t, Value: fmt.Sprintf("code %d", t)}
	if t <= a.space.Max() {
		step.Value = expr.OperandText(a.space.Value(t))
	}
	return a.total(func(chunk int, p *part) pass.Count {
		if a.notNull[chunk] == 0 {
			return pass.Known(0)
		}
		local, ok := t, true
		if !a.own { // the paper's one chunk draws every bit
			local, ok = a.space.Local(p.Segment(a.col), t)
		}
		switch {
		case ok && local > 0:
			return p.reach(step, a.col, local)
		case ok == a.smallest:
			return pass.Known(0)
		}
		return pass.Known(a.notNull[chunk])
	})
}

// candidates are the selected records of a chunk that have the same upper limbs of a
// column.
type candidates struct {
	col      int
	smallest bool
	limb     int          // the lowest of these limbs
	code     uint64       // these limbs
	beyond   []pass.Count // the values that they alone put beyond the code
	marked   bool         // the scratch bit holds the candidates; else they are the selection
}

// reach starts the count of a chunk's values at or above code t > 0 of the chunk, or below
// it. A code of several limbs is compared from the top one down to the lowest that is
// not 0 in t.
func (p *part) reach(step pass.KthLargest, col int, t uint64) pass.Count {
	sel := p.selection()
	seg, limb := p.Segment(col), bits.TrailingZeros64(t)/textures.LimbBits
	null := uint64(textures.NullLimb)
	c := &p.candidates
	switch n := textures.Limbs(seg.Bits); {
	case n == 1:
		*c = candidates{}
		if !step.Smallest {
			null = 0 // NULLs where they are not counted
		}
	case c.col != col || c.smallest != step.Smallest || c.limb <= limb || c.code != t>>(textures.LimbBits*c.limb):
		*c = candidates{col: col, smallest: step.Smallest, limb: n}
		if seg.Nulls > 0 {
			p.mark(sel, pass.Candidates{Attribute: p.Attribute(col, 0), Smallest: step.Smallest, Cmp: expr.LT, Code: textures.NullLimb})
		}
	}
	for c.limb > limb+1 {
		p.descend(sel, t)
	}
	step.Attribute = p.Attribute(col, limb)
	step.Top, step.LimbCode = min(step.Top, textures.LimbBits*(limb+1)-1), textures.Limb(t, limb)
	p.CopyToDepth(col, limb, null)
	return pass.Sum(append(slices.Clip(c.beyond), p.CountLimb(c.test(sel), step, step.Cmp(), step.LimbCode)))
}

// descend makes candidates of those that have the next lower limb of t, too, and starts the
// count of those that it puts beyond t.
func (p *part) descend(sel *predicates.Selection, t uint64) {
	c := &p.candidates
	limb := c.limb - 1
	op := pass.Candidates{Attribute: p.Attribute(c.col, limb), Smallest: c.smallest, Cmp: expr.GT, Code: textures.Limb(t, limb)}
	if c.smallest {
		op.Cmp = expr.LT
	}
	p.CopyToDepth(c.col, limb, textures.NullLimb)
	c.beyond = append(c.beyond, p.CountLimb(c.test(sel), op, op.Cmp, op.Code))
	c.limb, c.code = limb, t>>(textures.LimbBits*limb)
	op.Cmp = expr.EQ
	p.mark(sel, op)
}

// test is the stencil test of the candidates.
func (c *candidates) test(sel *predicates.Selection) pass.Stencil {
	if c.marked {
		return predicates.Candidates()
	}
	return sel.Test()
}

// mark leaves those candidates that satisfy a comparison.
func (p *part) mark(sel *predicates.Selection, op pass.Candidates) {
	p.CopyToDepth(op.Col, op.Limb, textures.NullLimb)
	if p.candidates.marked {
		p.Narrow(op)
		return
	}
	p.candidates.marked = true
	p.Mark(sel.Test(), op)
}
