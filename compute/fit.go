package compute

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
)

// maxLeaves bounds the leaves of one program, and mostMarks the bitmaps that one
// pass combines when a tree is evaluated bitmap by bitmap.
const (
	maxLeaves = 16
	mostMarks = 6
)

// reserved is how many storage blocks a sweep over one column may need beside its tree's: the
// result, the selection it keeps, and the column's planes and validity.
const reserved = 5

// fit makes a tree small enough for one program: what is too much is evaluated to
// bitmaps first. Small chunks of a software device go bitmap by bitmap throughout,
// with programs that queries have in common.
func (x *chunk) fit(n *node) (*node, error) {
	if n.op != predicate.And && n.op != predicate.Or || x.fits(n) {
		return n, nil
	}
	n = &node{op: n.op, kids: append([]*node(nil), n.kids...)}
	for i, k := range n.kids {
		if x.fits(n) {
			return n, nil
		}
		if k.op == predicate.Simple && (x.device.Fuse || k.leaf.test == marked) {
			continue
		}
		m, err := x.mark(k)
		if err != nil {
			return nil, err
		}
		n.kids[i] = m
	}
	for !x.fits(n) {
		var groups []*node
		for kids := n.kids; len(kids) > 0; {
			m := x.together(kids)
			g := kids[0]
			if m > 1 {
				var err error
				if g, err = x.write(&node{op: n.op, kids: kids[:m]}); err != nil {
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
func (x *chunk) together(kids []*node) int {
	w := newWriter(x)
	for i, k := range kids[:min(len(kids), mostMarks)] {
		w.function(k)
		if i > 0 && len(w.slots)+2 > x.device.maxBlocks() {
			return i
		}
	}
	return min(len(kids), mostMarks)
}

// fits reports whether one program can evaluate n.
func (x *chunk) fits(n *node) bool {
	if n.op != predicate.And && n.op != predicate.Or {
		return true
	}
	if !x.device.Fuse {
		for _, k := range n.kids {
			if k.op != predicate.Simple || k.leaf.test != marked {
				return false
			}
		}
		return len(n.kids) <= mostMarks
	}
	if len(n.kids) > maxLeaves || n.leaves() > maxLeaves {
		return false
	}
	w := newWriter(x)
	w.function(n)
	return len(w.slots)+x.reserved <= x.device.maxBlocks() && len(w.args) <= maxLeafArgs
}

// plain evaluates what needs the codes to a bitmap, once.
func (x *chunk) plain(n *node) (*node, error) {
	if n.op != predicate.Simple || n.leaf.test != coded {
		return n, nil
	}
	m, err := x.mark(n)
	if err == nil {
		m.leaf.passing, n.leaf = false, m.leaf // for others that have the leaf, too
	}
	return n, err
}

// mark evaluates n to a bitmap.
func (x *chunk) mark(n *node) (*node, error) {
	n, err := x.fit(n)
	if err != nil || n.op == predicate.Simple && n.leaf.test == marked {
		return n, err
	}
	return x.write(n)
}

// write evaluates n, which fits, to a bitmap. Bitmaps that only n needed are used
// again for others.
func (x *chunk) write(n *node) (*node, error) {
	m := x.take()
	s := sweep{op: n.named(func(r Result) pass.Op { return Write{r, n.short()} }), tree: n, keep: m}
	if err := s.run(x, ""); err != nil {
		return nil, err
	}
	x.release(n)
	out := markedNode(m, n.String())
	out.leaf.passing, out.leaf.joined = true, n.op == predicate.And || n.op == predicate.Or
	return out, nil
}

// take names bitmaps that may be overwritten.
func (x *chunk) take() *marks {
	if n := len(x.free); n > 0 {
		m := x.free[n-1]
		x.free = x.free[:n-1]
		return m
	}
	return x.newMarks()
}

// release gives the passing bitmaps of a tree back.
func (x *chunk) release(n *node) {
	for _, k := range n.kids {
		x.release(k)
	}
	if n.op == predicate.Simple && n.leaf.passing {
		x.free = append(x.free, n.leaf.marks)
	}
}
