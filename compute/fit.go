package compute

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
)

// maxLeaves bounds the leaves of one program, and mostMarks the bitmaps that one
// pass combines when a tree is evaluated bitmap by bitmap.
const (
	maxLeaves = 16
	mostMarks = 6
)

// reserved is how many storage blocks a sweep may need beside its tree's: the
// result, the selection it keeps, and a column's planes and validity.
const reserved = 5

// fit makes a tree small enough for one program: what is too much is evaluated to
// bitmaps first. Small chunks of a software device go bitmap by bitmap throughout,
// with programs that queries have in common.
func (c *compiler) fit(e *evaluator, n *node) (*node, error) {
	if n.op != plan.And && n.op != plan.Or || c.fits(e, n) {
		return n, nil
	}
	n = &node{op: n.op, kids: append([]*node(nil), n.kids...)}
	for i, k := range n.kids {
		if c.fits(e, n) {
			return n, nil
		}
		if k.op == plan.Simple && (e.fused || k.leaf.test == marked) {
			continue
		}
		m, err := c.mark(e, k)
		if err != nil {
			return nil, err
		}
		n.kids[i] = m
	}
	for !c.fits(e, n) {
		var groups []*node
		for kids := n.kids; len(kids) > 0; {
			m := e.together(kids)
			g := kids[0]
			if m > 1 {
				var err error
				if g, err = c.write(e, &node{op: n.op, kids: kids[:m]}); err != nil {
					return nil, err
				}
			}
			groups, kids = append(groups, g), kids[m:]
		}
		n = junction(n.op, groups)
	}
	return n, nil
}

// together is how many of the kids, bitmaps and leaves, one pass combines to a bitmap:
// a leaf takes up to three storage blocks, the planes and the validity of a wide column.
func (e *evaluator) together(kids []*node) int {
	w := newWriter(e)
	for i, k := range kids[:min(len(kids), mostMarks)] {
		w.function(k)
		if i > 0 && len(w.slots)+2 > e.device.maxBlocks() {
			return i
		}
	}
	return min(len(kids), mostMarks)
}

// fits reports whether one program can evaluate n.
func (c *compiler) fits(e *evaluator, n *node) bool {
	if n.op != plan.And && n.op != plan.Or {
		return true
	}
	if !e.fused {
		for _, k := range n.kids {
			if k.op != plan.Simple || k.leaf.test != marked {
				return false
			}
		}
		return len(n.kids) <= mostMarks
	}
	if len(n.kids) > maxLeaves || n.leaves() > maxLeaves {
		return false
	}
	w := newWriter(e)
	w.function(n)
	return len(w.slots)+reserved <= e.device.maxBlocks() && len(w.args) <= maxLeafArgs
}

// plain evaluates what needs the codes to a bitmap, once.
func (c *compiler) plain(e *evaluator, n *node) (*node, error) {
	if n.op != plan.Simple || n.leaf.test != coded {
		return n, nil
	}
	m, err := c.mark(e, n)
	if err == nil {
		m.leaf.passing, n.leaf = false, m.leaf // for others that have the leaf, too
	}
	return n, err
}

// mark evaluates n to a bitmap.
func (c *compiler) mark(e *evaluator, n *node) (*node, error) {
	n, err := c.fit(e, n)
	if err != nil || n.op == plan.Simple && n.leaf.test == marked {
		return n, err
	}
	return c.write(e, n)
}

// write evaluates n, which fits, to a bitmap. Bitmaps that only n needed are used
// again for others.
func (c *compiler) write(e *evaluator, n *node) (*node, error) {
	m := e.take()
	s := sweep{op: n.named(func(r Result) pass.Op { return Write{r, n.short()} }), tree: n, keep: m, col: -1}
	if _, err := s.run(c, e, ""); err != nil {
		return nil, err
	}
	e.release(n)
	out := markedNode(m, n.String())
	out.leaf.passing, out.leaf.joined = true, n.op == plan.And || n.op == plan.Or
	return out, nil
}

// take names bitmaps that may be overwritten.
func (e *evaluator) take() *marks {
	if n := len(e.free); n > 0 {
		m := e.free[n-1]
		e.free = e.free[:n-1]
		return m
	}
	return e.newMarks()
}

// release gives the passing bitmaps of a tree back.
func (e *evaluator) release(n *node) {
	for _, k := range n.kids {
		e.release(k)
	}
	if n.op == plan.Simple && n.leaf.passing {
		e.free = append(e.free, n.leaf.marks)
	}
}
