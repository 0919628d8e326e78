package fused

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// The most records for which comparing depths is faster than drawing the levels of a reduction and reading the last one
// back.
const (
	fewRecords  = 1 << 21 // of a chunk, on hardware
	fewSoftware = 1 << 19 // of all chunks, in software, which reads all their results back at once
)

// depthRef names the depth texture of a column.
func (p *part) depthRef(col int) textures.TargetRef { return textures.ResidentDepth(p.chunk, col) }

// keepsDepth reports whether a column can be kept as depths in every part that has it. They must fit there,
// and half of the device's memory must be enough for all of them.
func keepsDepth(parts []*part, col int) bool {
	for _, p := range parts {
		if col < len(p.chunk.Segments) && !textures.FitsDepth(p.chunk.Segments[col]) || p.Slots(p.depthRef(col), len(parts)) < len(parts) {
			return false
		}
	}
	return true
}

// few reports whether there are so few records that depths are compared faster.
func (p *part) few() bool {
	if p.device.Software {
		return p.Table.Rows() <= fewSoftware
	}
	return p.chunk.Rows <= fewRecords
}

// comparesDepth reports whether the depth test is the way to compare a column.
func (p *part) comparesDepth(col int) bool { return p.few() && keepsDepth(p.List, col) }

// compare starts the count of the records whose depth is op that of a code, among those
// that pass a stencil test. NULLs are at depth 0: they satisfy <, <= and <>.
func (p *part) compare(what pass.Op, col int, op expr.CmpOp, code uint64, test pass.Stencil) pass.Count {
	return p.Draw(p.quad(what, col, op, code, test))
}

// quad is the pass of compare.
func (p *part) quad(what pass.Op, col int, op expr.CmpOp, code uint64, test pass.Stencil) *pass.Pass {
	d := textures.DepthOfCode(p.chunk.Segments[col], code)
	return &pass.Pass{Op: what, Target: p.depthRef(col), Quad: float32(float64(d) / textures.DepthMax),
		Depth: pass.Mirrored(op), Stencil: test, Count: true}
}

// countByDepth starts the count of the records that satisfy a simple predicate over an attribute that is kept
// as depths. The depth texture is the target, so that nothing is copied, and no program reads a record. It is
// nil where the predicate is another one.
func (p *part) countByDepth(what Count, pred *predicate.Pred) pass.Count {
	switch l := pred.Leaf.(type) {
	case *predicate.Compare:
		if !p.comparesDepth(l.Col) {
			return nil
		}
		nulls := 0
		switch l.Op {
		case expr.LT, expr.LE, expr.NE:
			nulls = p.chunk.Segments[l.Col].Nulls
		}
		return less(p.compare(CountDepths{Count: what, Cmp: l.Op}, l.Col, l.Op, l.Code, pass.Stencil{}), pass.Known(nulls))
	case *predicate.Range:
		if p.comparesDepth(l.Col) {
			return p.countRange(what, l)
		}
	}
	return nil
}

// countRange is the paper's Range (routine 4.4): the depth bounds test, or the
// codes from the lower end on without those beyond the upper.
func (p *part) countRange(what Count, r *predicate.Range) pass.Count {
	op := CountDepths{Count: what, Cmp: expr.GE}
	if p.device.DepthBounds {
		seg, from := p.chunk.Segments[r.Col], p.quad(op, r.Col, expr.GE, r.Lo, pass.Stencil{})
		from.Depth.Func = pass.Always
		from.Bounds = &pass.Bounds{Lo: float64(textures.DepthOfCode(seg, r.Lo)) / textures.DepthMax,
			Hi: float64(textures.DepthOfCode(seg, r.Hi)) / textures.DepthMax}
		return p.Draw(from)
	}
	op.End = ", from its lower end on"
	a := p.compare(op, r.Col, expr.GE, r.Lo, pass.Stencil{})
	op.Cmp, op.End = expr.GT, ", beyond its upper end"
	return less(a, p.compare(op, r.Col, expr.GT, r.Hi, pass.Stencil{}))
}

// less is the count a - b.
func less(a, b pass.Count) pass.Count {
	return pass.Later(func() (uint64, error) {
		n, err := a.Wait()
		if err != nil {
			return 0, err
		}
		m, err := b.Wait()
		return n - min(n, m), err
	})
}

// mark writes the selection into the stencil values of a column's depth texture,
// once, and returns the test that the selected records pass.
func (p *part) mark(col int) pass.Stencil {
	if p.pred.Op == predicate.True {
		return pass.Stencil{}
	}
	if !p.marked[col] {
		p.marked[col] = true
		bitmap, pred := p.where()
		w := newProgram(p.chunk, bitmap, pred)
		p.draw(w, 1, &pass.Pass{Op: Mark{p.of(col)}, Target: p.depthRef(col), Clear: &pass.Clear{Mask: 0xff}, Program: w.discarding(),
			Stencil: pass.Stencil{Test: true, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff}})
	}
	return pass.Stencil{Test: true, Func: pass.Equal, Ref: 1, Mask: 0xff}
}

// countAtLeast starts the count of the selected records whose code is at least t.
func (p *part) countAtLeast(what KthLargest, t uint64) pass.Count {
	test := p.mark(what.Col)
	return p.compare(what, what.Col, expr.GE, t, test)
}
