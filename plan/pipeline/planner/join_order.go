package planner

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/plan/stats"
)

// inputs is a set of the inputs of inner joins: bit i is input i.
type inputs uint64

func (s inputs) has(of inputs) bool { return of&^s == 0 }

// equality is values that inner joins make equal: one of each of its members' inputs, or sides of a condition that is a key.
type equality struct{ sides []equalSide }

// equalSide is what an equality reads of some inputs. It is unique where it is one input, and no two rows of that seem to have the same value.
type equalSide struct {
	of     inputs
	unique bool
	stats.KeySide
}

// within is the first side that some inputs have; negative for none.
func (q *equality) within(s inputs) int {
	return slices.IndexFunc(q.sides, func(side equalSide) bool { return s.has(side.of) })
}

// restriction is a condition over several inputs that is no key: the part of the pairs for which it is TRUE.
type restriction struct {
	of   inputs
	part float64
}

// joinGraph is what is known of the inputs of inner joins that stand above one another.
type joinGraph struct {
	rows         []float64 // of each input
	equalities   []*equality
	restrictions []restriction
}

// joinTree is an order of joins: an input, or the join of a side that probes with one that is built.
type joinTree struct {
	of           inputs
	input        int // of a leaf
	probe, build *joinTree
	rows         float64
	cost         float64
	keyed        bool // a leaf, or joins that all have keys
}

// maxExhaustive is up to how many inputs all orders are compared.
const maxExhaustive = 10

// What a row of a build takes, where a row that probes takes one. A unique key is a bit or a slot. Of another one a hash table has all rows.
const (
	uniqueBuildCost = 1.5
	repeatBuildCost = 4
)

// order is the cheapest tree that joins all inputs. Of few inputs every tree without a cross product is compared, by dynamic programming over
// the subsets. Of many, the two are joined each time that leave the fewest rows. The cost is that of rows that are built, probed and left.
func (g *joinGraph) order() *joinTree {
	if len(g.rows) > maxExhaustive {
		return g.greedy()
	}
	best := make([]*joinTree, 1<<len(g.rows))
	for i := range g.rows {
		best[1<<i] = g.leaf(i)
	}
	for s := inputs(1); int(s) < len(best); s++ {
		if best[s] != nil {
			continue
		}
		rows, keyed := -1., false
		low := s & -s
		for part := (s - 1) & s; part > 0; part = (part - 1) & s {
			if part&low == 0 { // the other half of another split
				continue
			}
			a, b := best[part], best[s&^part]
			if !keyed && a.keyed && b.keyed && g.hasKey(a.of, b.of) { // which tells the rows best
				rows, keyed, best[s] = -1, true, nil
			}
			t := g.joined(a, b, &rows)
			if old := best[s]; old == nil || t.keyed && !old.keyed || t.keyed == old.keyed && t.cost < old.cost {
				best[s] = t
			}
		}
	}
	return best[len(best)-1]
}

// greedy joins, time after time, the two trees that leave the fewest rows, such that have a key first (Fegaras 1998).
func (g *joinGraph) greedy() *joinTree {
	var list []*joinTree
	for i := range g.rows {
		list = append(list, g.leaf(i))
	}
	for len(list) > 1 {
		var best *joinTree
		at := [2]int{}
		for i := range list {
			for k := range list[:i] {
				rows := -1.
				if t := g.joined(list[k], list[i], &rows); best == nil || t.keyed && !best.keyed || t.keyed == best.keyed && t.rows < best.rows {
					best, at = t, [2]int{k, i}
				}
			}
		}
		list[at[0]] = best
		list = append(list[:at[1]], list[at[1]+1:]...)
	}
	return list[0]
}

func (g *joinGraph) leaf(i int) *joinTree {
	return &joinTree{of: 1 << i, input: i, rows: g.rows[i], keyed: true}
}

// joined is the join of two trees, of which the cheaper one to build is built. The rows are those of the set, however it was joined, where they
// are known.
func (g *joinGraph) joined(a, b *joinTree, rows *float64) *joinTree {
	keyed, uniqueA, uniqueB := false, false, false
	var left, right []stats.KeySide
	for _, q := range g.equalities {
		i, k := q.within(a.of), q.within(b.of)
		if i >= 0 && k >= 0 {
			keyed = true
			left, right = append(left, q.sides[i].KeySide), append(right, q.sides[k].KeySide)
			uniqueA, uniqueB = uniqueA || g.unique(q.sides[i], a), uniqueB || g.unique(q.sides[k], b)
		}
	}
	of := a.of | b.of
	if *rows < 0 {
		*rows = a.rows * b.rows
		if keyed {
			*rows /= max(1, stats.DistinctKeys(left, right))
		}
		for _, r := range g.restrictions {
			if of.has(r.of) && !a.of.has(r.of) && !b.of.has(r.of) {
				*rows *= r.part
			}
		}
		*rows = min(*rows, math.MaxFloat64)
	}
	built := func(t *joinTree, unique bool) float64 {
		if unique {
			return uniqueBuildCost * t.rows
		}
		return repeatBuildCost * t.rows
	}
	cost := a.rows + built(b, uniqueB)
	if other := b.rows + built(a, uniqueA); other < cost {
		a, b, cost = b, a, other
	}
	if !keyed {
		cost += a.rows * b.rows
	}
	return &joinTree{of: of, probe: a, build: b, rows: *rows, keyed: keyed && a.keyed && b.keyed, cost: a.cost + b.cost + cost + *rows}
}

// hasKey reports an equality of something in one set with something in the other one.
func (g *joinGraph) hasKey(a, b inputs) bool {
	return slices.ContainsFunc(g.equalities, func(q *equality) bool { return q.within(a) >= 0 && q.within(b) >= 0 })
}

// unique reports that no two rows of a tree seem to have the same value of a side. No join has made more of its input.
func (g *joinGraph) unique(side equalSide, t *joinTree) bool {
	return side.unique && t.rows <= moreRows*max(1, g.rows[bits.TrailingZeros64(uint64(side.of))])
}

// moreRows is up to how many times the rows of an input those of joins with it are taken to be some of them.
const moreRows = 1.01

// count is how many inputs the set has.
func (s inputs) count() int { return bits.OnesCount64(uint64(s)) }
