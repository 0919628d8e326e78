package primitives

import (
	"fmt"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// SearchWays are the algorithms of [Search].
var SearchWays = []string{"binary", "p-ary", "tree", "ordered"}

// Sorted is what keys are looked for in.
type Sorted struct {
	Words Vector
	Tree  Tree // of the words, for the ways tree and ordered
	Bits  int  // of the words' width; 0 is all
}

// treeFan is how many keys a node of a [Tree] has: a cache line of 128 bytes.
const treeFan = 32

// lanes is how many threads look for one key together in a p-ary search.
const lanes = 32

// Tree is a search tree over sorted words.
type Tree struct {
	words  Vector
	sorted int
}

// treeWords is the size of the tree over n words: levels in whole nodes, the lowest first, up to one node.
func treeWords(n int) (words int) {
	for {
		n = (n + treeFan - 1) / treeFan
		words += (n + treeFan - 1) / treeFan * treeFan
		if n <= treeFan {
			return words
		}
	}
}

// NewTree makes the search tree over sorted words (CSS-tree: Rao and Ross, VLDB 1999). Key i of a node is the largest of
// the node's child i, whose place follows from i. The lowest children are pieces of the words themselves.
func NewTree(r pass.Runner, d Shapes, sorted Vector) (Tree, error) {
	t := Tree{New(treeWords(sorted.N)), sorted.N}
	if err := d.fits("search", sorted, t.words); err != nil {
		return t, err
	}
	defines, groups := d.loop(4 * t.words.N)
	return t, step{
		name:     fmt.Sprintf("Search: the tree over %d words", sorted.N),
		counts:   fmt.Sprintf("%d keys of nodes", t.words.N),
		program:  shaders.Load("prim_search.comp", append(defines, "BUILD", fmt.Sprintf("FAN %du", treeFan))...),
		uniforms: []shaders.Uniform{count("n", t.words.N), count("limit", sorted.N)},
		groups:   groups,
		blocks:   []textures.Block{sorted.Block, {}, {}, t.words.Block},
	}.run(r)
}

// Search sets out[i] to the place of the first of the sorted words that is keys[i] or larger, for every i < keys.N.
// It is sorted.N where none is.
//
//   - binary: a thread looks for a key; the first steps are in a sample of the words that is in shared memory.
//   - p-ary: 32 threads look for a key together, in a 32nd of the words after each step (Kaldewey, Hagen, Di Blas and
//     Sedlar, DaMoN 2009). The fewest steps, for keys that do not fill the device.
//   - tree: a thread goes down the tree, a cache line a level.
//   - ordered: the keys are put in the order of their upper bits before. Those of a work group go down the same
//     nodes, and the places are scattered to where the keys were. It is for many keys in no order, in words that address
//     translation does not cover (see [Shapes].Reach).
func Search(r pass.Runner, d Shapes, way string, in Sorted, keys, out Vector) error {
	sorted, tree := in.Words, in.Tree
	if err := atLeast("search", "the output", out, keys.N); err != nil {
		return err
	}
	if err := d.fits("search", sorted, keys, out); err != nil {
		return err
	}
	if sorted.N == 0 {
		return Map(r, d, Expr("0u"), out.First(keys.N))
	}
	if way == "ordered" {
		return searchOrdered(r, d, in, keys, out)
	}
	defines, groups := d.loop(4 * keys.N) // a key a turn
	solo := d.Scan.Threads == 1
	switch way {
	case "binary":
		if defines = append(defines, "BINARY"); !solo {
			defines = append(defines, "TOP 2048u")
		}
	case "p-ary":
		local := 256
		if solo {
			local = lanes // a barrier is for all threads of a work group
		}
		teams := local / lanes
		defines, groups = []string{fmt.Sprintf("LOCAL %d", local), fmt.Sprintf("LANES %du", lanes)}, [2]int{min(d.MaxGroups, 16*d.Groups, (keys.N+teams-1)/teams), 1}
		defines = append(defines, when(d.Subgroups, "SUBGROUPS")...)
		groups[0] = max(groups[0], 1)
	case "tree":
		if tree.sorted != sorted.N {
			return fmt.Errorf("primitives: search: a tree over %d words for %d", tree.sorted, sorted.N)
		}
		defines = append(defines, "TREE", fmt.Sprintf("FAN %du", treeFan))
	default:
		return fmt.Errorf("primitives: search: %q is none of %v", way, SearchWays)
	}
	return step{
		name:     fmt.Sprintf("Search(%d of %d): %s", keys.N, sorted.N, way),
		counts:   fmt.Sprintf("%d places", keys.N),
		program:  shaders.Load("prim_search.comp", defines...),
		uniforms: []shaders.Uniform{count("n", keys.N), count("limit", sorted.N)},
		groups:   groups,
		blocks:   []textures.Block{sorted.Block, keys.Block, out.Block, tree.words.Block},
	}.run(r)
}

// orderedBits is how many of the upper bits of keys they are ordered by: two digits of a sort.
const orderedBits = 16

func searchOrdered(r pass.Runner, d Shapes, in Sorted, keys, out Vector) error {
	moved, ids, places := New(keys.N), New(keys.N), New(keys.N)
	upper := Func{Expr: "min(x >> c0, c1)", Constants: []uint32{uint32(max(0, width(in.Bits, 32)-orderedBits)), 1<<orderedBits - 1}}
	if err := Sort(r, d, Keys{Words: keys, Of: upper, Bits: orderedBits}, moved, ids); err != nil {
		return err
	}
	if err := Search(r, d, "tree", in, moved, places); err != nil {
		return err
	}
	return Scatter(r, d, places, ids, out.First(keys.N))
}
