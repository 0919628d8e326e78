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

// reserved is how many storage blocks a sweep over one column may need besides its tree's. They are the
// result, the selection it keeps, and the column's planes and validity.
const reserved = 5

// fit makes a tree small enough for one program: what is too much is evaluated to
// bitmaps first. Small chunks of a software device go bitmap by bitmap throughout,
// with programs that queries have in common.
func (x *ChunkWork) fit(n *Node) (*Node, error) {
	if n.Op != predicate.And && n.Op != predicate.Or || x.fits(n) {
		return n, nil
	}
	n = &Node{Op: n.Op, kids: append([]*Node(nil), n.kids...)}
	for i, k := range n.kids {
		if x.fits(n) {
			return n, nil
		}
		if k.Op == predicate.Simple && (x.Device.Fuse || k.Leaf.test == marked) {
			continue
		}
		m, err := x.Mark(k)
		if err != nil {
			return nil, err
		}
		n.kids[i] = m
	}
	for !x.fits(n) {
		var groups []*Node
		for kids := n.kids; len(kids) > 0; {
			m := x.together(kids)
			g := kids[0]
			if m > 1 {
				var err error
				if g, err = x.Write(&Node{Op: n.Op, kids: kids[:m]}); err != nil {
					return nil, err
				}
			}
			groups, kids = append(groups, g), kids[m:]
		}
		n = junction(n.Op, groups)
	}
	return n, nil
}

// together is how many of the kids, bitmaps and leaves, one pass combines to a bitmap. A leaf takes up to
// three storage blocks: the planes of a wide column, and its validity.
func (x *ChunkWork) together(kids []*Node) int {
	w := NewWriter(x)
	for i, k := range kids[:min(len(kids), mostMarks)] {
		w.function(k)
		if i > 0 && len(w.Slots)+2 > x.Device.BlockLimit() {
			return i
		}
	}
	return min(len(kids), mostMarks)
}

// fits reports whether one program can evaluate n.
func (x *ChunkWork) fits(n *Node) bool {
	if n.Op != predicate.And && n.Op != predicate.Or {
		return true
	}
	if !x.Device.Fuse {
		for _, k := range n.kids {
			if k.Op != predicate.Simple || k.Leaf.test != marked {
				return false
			}
		}
		return len(n.kids) <= mostMarks
	}
	if len(n.kids) > maxLeaves || n.leaves() > maxLeaves {
		return false
	}
	w := NewWriter(x)
	w.function(n)
	return len(w.Slots)+x.reserved <= x.Device.BlockLimit() && len(w.args) <= maxLeafArgs
}

// plain evaluates what needs the codes to a bitmap, once.
func (x *ChunkWork) plain(n *Node) (*Node, error) {
	if n.Op != predicate.Simple || n.Leaf.test != coded {
		return n, nil
	}
	m, err := x.Mark(n)
	if err == nil {
		m.Leaf.passing, n.Leaf = false, m.Leaf // for others that have the leaf, too
	}
	return n, err
}

// Mark evaluates n to a bitmap.
func (x *ChunkWork) Mark(n *Node) (*Node, error) {
	n, err := x.fit(n)
	if err != nil || n.Op == predicate.Simple && n.Leaf.test == marked {
		return n, err
	}
	return x.Write(n)
}

// Write evaluates n, which fits, to a bitmap. Bitmaps that only n needed are used
// again for others.
func (x *ChunkWork) Write(n *Node) (*Node, error) {
	m := x.take()
	s := sweep{op: n.named(func(r Result) pass.Op { return Write{r, n.short()} }), tree: n, keep: m}
	if err := s.run(x, ""); err != nil {
		return nil, err
	}
	x.release(n)
	out := markedNode(m, n.String())
	out.Leaf.passing, out.Leaf.joined = true, n.Op == predicate.And || n.Op == predicate.Or
	return out, nil
}

// take names bitmaps that may be overwritten.
func (x *ChunkWork) take() *Marks {
	if n := len(x.free); n > 0 {
		m := x.free[n-1]
		x.free = x.free[:n-1]
		return m
	}
	return x.newMarks()
}

// release gives the passing bitmaps of a tree back.
func (x *ChunkWork) release(n *Node) {
	for _, k := range n.kids {
		x.release(k)
	}
	if n.Op == predicate.Simple && n.Leaf.passing {
		x.free = append(x.free, n.Leaf.Marks)
	}
}
