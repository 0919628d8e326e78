package predicate

import (
	"github.com/stencildb/stencildb/internal/xslices"
	"slices"
)

// normalWork bounds the words that distributing looks at: some tens of
// milliseconds.
const normalWork = 20_000_000

// clause is a set of leaves, as bits.
type clause []uint64

type normalizer struct {
	outer  Op // And for CNF
	limit  int
	work   int
	ids    map[string]int // leafKey -> index in leaves
	leaves []Leaf
	// tooMany is set once there are more clauses than the limit, or too much to do: what
	// the methods return from then on means nothing.
	tooMany bool
}

// number gives every distinct leaf an index.
func (n *normalizer) number(p *Pred) {
	if p.Op == Simple {
		k := leafKey(p.Leaf)
		if _, ok := n.ids[k]; !ok {
			n.ids[k] = len(n.leaves)
			n.leaves = append(n.leaves, p.Leaf)
		}
	}
	for _, k := range p.Kids {
		n.number(k)
	}
}

func (n *normalizer) empty() clause { return make(clause, (len(n.leaves)+63)/64) }

// clauses returns p's clauses, no more than limit.
func (n *normalizer) clauses(p *Pred) (out []clause) {
	switch p.Op {
	case n.outer.Neutral():
		return nil
	case n.outer.Dual().Neutral():
		return []clause{n.empty()}
	case Simple:
		c := n.empty()
		i := n.ids[leafKey(p.Leaf)]
		c[i/64] |= 1 << (i % 64)
		return []clause{c}
	case n.outer:
		for _, k := range p.Kids {
			for _, c := range n.clauses(k) {
				out = n.add(out, c)
			}
		}
		n.tooMany = n.tooMany || len(out) > n.limit
		return out
	}
	return n.product(p.Kids)
}

// product distributes: one clause for each choice of a clause of every kid. Kids
// of one clause come first: they do not multiply.
func (n *normalizer) product(kids []*Pred) []clause {
	parts := xslices.Map(kids, n.clauses)
	slices.SortStableFunc(parts, func(a, b []clause) int { return min(len(a), 2) - min(len(b), 2) })
	out := []clause{n.empty()}
	for _, cs := range parts {
		var next []clause
		for _, a := range out {
			for _, b := range cs {
				c := slices.Clone(a)
				for i := range c {
					c[i] |= b[i]
				}
				if next = n.add(next, c); n.tooMany {
					return nil
				}
			}
		}
		// Later parts can only make clauses longer; what is too many now may
		// still be absorbed, but hardly ever is.
		if out = next; len(out) > n.limit {
			n.tooMany = true
			return nil
		}
	}
	return out
}

// add appends c unless a clause in the list is a part of it, and drops those that
// c is a part of.
func (n *normalizer) add(list []clause, c clause) []clause {
	n.work -= (len(list) + 1) * len(c)
	if n.tooMany = n.tooMany || n.work < 0 || len(list) > 4*n.limit+16; n.tooMany {
		return nil
	}
	kept := list[:0]
	for i, d := range list {
		if subset(d, c) {
			// Nothing dropped so far contains c, or d would have gone
			// before: the list is as it was.
			return append(kept, list[i:]...)
		}
		if !subset(c, d) {
			kept = append(kept, d)
		}
	}
	return append(kept, c)
}

func subset(a, b clause) bool {
	return slices.EqualFunc(a, b, func(x, y uint64) bool { return x&^y == 0 })
}
