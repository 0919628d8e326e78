package index

import (
	"math/bits"
	"unsafe"

	"github.com/stencildb/stencildb/table"
)

// tree is a sorted list of codes with a search tree above it: a cache-sensitive search tree (Rao and Ross, VLDB 1999).
// All of it is one array without pointers: level after level, the root first and the list last. A node is a cache line
// of keys. Key i of a node is the last key of the node's child i, whose place follows from i.
type tree[T uint32 | uint64] struct {
	nodes  []T
	levels []int // where each begins
	n      int   // of the list
}

// lineBytes is the size of a cache line, and so of a node.
const lineBytes = 64

func (t *tree[T]) fanOut() int { return lineBytes / int(unsafe.Sizeof(*new(T))) }

// newTree makes the tree of n codes, ascending, that at gives.
func newTree[T uint32 | uint64](n int, at func(i int) uint64) *tree[T] {
	t := &tree[T]{n: n}
	m := t.fanOut()
	var sizes []int // the list's first
	for keys := n; ; {
		nodes := max(1, (keys+m-1)/m)
		sizes = append(sizes, nodes*m)
		if keys = nodes; nodes == 1 {
			break
		}
	}
	all := 0
	for i := len(sizes) - 1; i >= 0; i-- {
		t.levels, all = append(t.levels, all), all+sizes[i]
	}
	t.nodes = make([]T, all)
	list := t.nodes[all-sizes[0]:]
	table.InParts(len(list), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if list[i] = ^T(0); i < n { // no key behind the last is less than what is looked for
				list[i] = T(at(i))
			}
		}
	})
	for l := len(t.levels) - 2; l >= 0; l-- {
		above, below := t.nodes[t.levels[l]:t.levels[l+1]], t.nodes[t.levels[l+1]:]
		children := (min(len(below), all-t.levels[l+1]) + m - 1) / m
		if l+2 < len(t.levels) {
			children = (t.levels[l+2] - t.levels[l+1]) / m
		}
		for i := range above {
			if above[i] = ^T(0); i < children {
				above[i] = below[(i+1)*m-1]
			}
		}
	}
	return t
}

// at is code i of the list.
func (t *tree[T]) at(i int) T { return t.nodes[t.levels[len(t.levels)-1]+i] }

// less counts the keys of a node that are less than x, without a branch.
func less[T uint32 | uint64](node []T, x T) (n int) {
	var a, b uint64
	for len(node) >= 2 {
		_, p := bits.Sub64(uint64(node[0]), uint64(x), 0)
		_, q := bits.Sub64(uint64(node[1]), uint64(x), 0)
		a, b, node = a+p, b+q, node[2:]
	}
	return int(a + b)
}

// first is the place of the first code that is x or larger; n where none is.
func (t *tree[T]) first(x uint64) int {
	if t.n == 0 || x > uint64(t.at(t.n-1)) {
		return t.n
	}
	at, m := 0, t.fanOut()
	for _, level := range t.levels {
		at = at*m + less(t.nodes[level+at*m:][:m], T(x))
	}
	return at
}

// together is how many codes are looked up at a time: they go down the levels side by side, so that their cache
// misses overlap.
const together = 32

// find writes the places of the first codes that are the ones looked for or larger.
func (t *tree[T]) find(codes []uint64, out []uint32) {
	if t.n == 0 {
		clear(out)
		return
	}
	last, m := uint64(t.at(t.n-1)), t.fanOut()
	var at [together]int
	for len(codes) > 0 {
		k := min(together, len(codes))
		clear(at[:k])
		for _, level := range t.levels {
			for i, x := range codes[:k] {
				at[i] = at[i]*m + less(t.nodes[level+at[i]*m:][:m], T(min(x, last)))
			}
		}
		for i, x := range codes[:k] {
			if out[i] = uint32(at[i]); x > last {
				out[i] = uint32(t.n)
			}
		}
		codes, out = codes[k:], out[k:]
	}
}

// Bytes is the memory of the tree.
func (t *tree[T]) Bytes() int { return len(t.nodes) * int(unsafe.Sizeof(*new(T))) }
