package fused

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// fewRecords is how many records a chunk has at most for which hardware compares
// depths faster than it draws two levels of a reduction and reads the last back.
// (Software rasterisers compare depths faster always.)
const fewRecords = 1 << 21

// depthRef names the depth texture of a column.
func (p *part) depthRef(col int) textures.TargetRef { return textures.ResidentDepth(p.chunk, col) }

// keepsDepth reports whether a column of every part that has it can be kept as depths:
// there they fit, and half of the device's memory is enough for all of them.
func keepsDepth(parts []*part, col int) bool {
	for _, p := range parts {
		if col < len(p.chunk.Segments) && !textures.FitsDepth(p.chunk.Segments[col]) || p.run.Slots(p.depthRef(col), len(parts)) < len(parts) {
			return false
		}
	}
	return true
}

// comparesDepth reports whether the depth test is the way to compare a column.
func (p *part) comparesDepth(col int) bool {
	return (p.device.Software || p.chunk.Rows <= fewRecords) && keepsDepth(p.parts, col)
}

// compare starts the count of the records whose depth is op that of a code, among those
// that pass a stencil test. NULLs are at depth 0: they satisfy <, <= and <>.
func (p *part) compare(what pass.Op, col int, op expr.CmpOp, code uint64, test pass.Stencil) (pass.Count, error) {
	return p.draw(p.quad(what, col, op, code, test))
}

// quad is the pass of compare.
func (p *part) quad(what pass.Op, col int, op expr.CmpOp, code uint64, test pass.Stencil) *pass.Pass {
	d := textures.DepthOfCode(p.chunk.Segments[col], code)
	return &pass.Pass{Op: what, Target: p.depthRef(col), Quad: float32(float64(d) / textures.DepthMax),
		Depth: pass.Mirrored(op), Stencil: test, Count: true}
}

// countByDepth starts the count of the records that satisfy a simple predicate over
// an attribute that is kept as depths: the depth texture is the target, so that
// nothing is copied, and no record is read by a program. ok is false where the
// predicate is another one.
func (p *part) countByDepth(what Count, pred *plan.Pred) (wait func() (uint64, error), ok bool, err error) {
	switch l := pred.Leaf.(type) {
	case *plan.Compare:
		if !p.comparesDepth(l.Col) {
			return nil, false, nil
		}
		nulls := uint64(0)
		switch l.Op {
		case expr.LT, expr.LE, expr.NE:
			nulls = uint64(p.chunk.Segments[l.Col].Nulls)
		}
		c, err := p.compare(CountDepths{Count: what, Cmp: l.Op}, l.Col, l.Op, l.Code, pass.Stencil{})
		return less(c, pass.Known(nulls)), true, err
	case *plan.Range:
		if !p.comparesDepth(l.Col) {
			return nil, false, nil
		}
		wait, err := p.countRange(what, l)
		return wait, true, err
	}
	return nil, false, nil
}

// countRange is the paper's Range (routine 4.4): the depth bounds test, or the
// codes from the lower end on without those beyond the upper.
func (p *part) countRange(what Count, r *plan.Range) (func() (uint64, error), error) {
	op := CountDepths{Count: what, Cmp: expr.GE}
	if p.device.DepthBounds {
		seg, from := p.chunk.Segments[r.Col], p.quad(op, r.Col, expr.GE, r.Lo, pass.Stencil{})
		from.Depth.Func = pass.Always
		from.Bounds = &pass.Bounds{Lo: float64(textures.DepthOfCode(seg, r.Lo)) / textures.DepthMax,
			Hi: float64(textures.DepthOfCode(seg, r.Hi)) / textures.DepthMax}
		c, err := p.draw(from)
		return less(c, pass.Known(0)), err
	}
	op.End = ", from its lower end on"
	a, err := p.compare(op, r.Col, expr.GE, r.Lo, pass.Stencil{})
	if err != nil {
		return nil, err
	}
	op.Cmp, op.End = expr.GT, ", beyond its upper end"
	b, err := p.compare(op, r.Col, expr.GT, r.Hi, pass.Stencil{})
	return less(a, b), err
}

// less waits for a - b.
func less(a, b pass.Count) func() (uint64, error) {
	return func() (uint64, error) {
		n, err := a.Wait()
		if err != nil {
			return 0, err
		}
		m, err := b.Wait()
		return n - min(n, m), err
	}
}

// mark writes the selection into the stencil values of a column's depth texture,
// once, and returns the test that the selected records pass.
func (p *part) mark(col int) (pass.Stencil, error) {
	if p.pred.Op == plan.True {
		return pass.Stencil{}, nil
	}
	selected := pass.Stencil{Test: true, Func: pass.Equal, Ref: 1, Mask: 0xff}
	if p.marked[col] {
		return selected, nil
	}
	bitmap, pred, err := p.where()
	if err != nil {
		return selected, err
	}
	w := newProgram(p.chunk, bitmap, pred)
	if err := w.fits(p.device, 1); err != nil {
		return selected, err
	}
	_, err = p.draw(&pass.Pass{Op: Mark{p.of(col)}, Target: p.depthRef(col), Clear: &pass.Clear{Mask: 0xff},
		Stencil: pass.Stencil{Test: true, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff},
		Program: w.discarding(), Textures: w.refs, Uniforms: w.uniforms})
	p.marked[col] = err == nil
	return selected, err
}

// countAtLeast starts the count of the selected records whose code is at least t.
func (p *part) countAtLeast(what KthLargest, t uint64) (pass.Count, error) {
	test, err := p.mark(what.Col)
	if err != nil {
		return nil, err
	}
	return p.compare(what, what.Col, expr.GE, t, test)
}
