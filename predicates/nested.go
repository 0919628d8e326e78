package predicates

import (
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Nested evaluation: the eight bits of the stencil buffer are registers, one bit a
// record each. Two of them drive it:
//
//	todo    the records that are still to be decided here
//	result  the records found TRUE
//
// or(p, todo, result) sets result where todo is set and p holds, and may spoil todo. A disjunction hands the
// same todo to each disjunct; a conjunction narrows todo by all conjuncts but the last. The most demanding
// operand comes last, where it needs no copy of todo, as Sethi and Ullman order expressions for registers. So
// eight bits are enough for all but adversarial trees. Of those, subtrees are rendered to a mask texture
// first.

// nestedCost estimates the passes of a nested evaluation.
func nestedCost(p *predicate.Pred) int {
	if p.Op == predicate.Simple {
		return leafCost(p.Leaf)
	}
	n := 1
	for _, k := range p.Kids {
		n += nestedCost(k)
		if k.Op != predicate.Simple {
			n++
		}
	}
	return n
}

// need returns how many bits beside todo and result p takes.
func need(p *predicate.Pred) int {
	if p.Op == predicate.Simple {
		return 0
	}
	list := needs(p.Kids)
	last := 0 // the most demanding, as ordered has it
	for i, n := range list {
		if n >= list[last] {
			last = i
		}
	}
	most := max(0, list[last])
	for i, k := range p.Kids {
		switch {
		case i == last:
		case k.Op != predicate.Simple && p.Op == predicate.Or:
			most = max(most, 1+list[i]) // a copy of todo
		case k.Op != predicate.Simple:
			most = max(most, 2+list[i]) // a copy of todo, and a result of its own
		case p.Op == predicate.And && !testsDepth(k.Leaf):
			most = max(most, 1) // a result of its own
		}
	}
	return most
}

// needs are what kids take, -1 for a leaf.
func needs(kids []*predicate.Pred) []int {
	list := make([]int, len(kids))
	for i, k := range kids {
		if list[i] = -1; k.Op != predicate.Simple {
			list[i] = need(k)
		}
	}
	return list
}

// ordered returns kids with the most demanding last.
func ordered(kids []*predicate.Pred) []*predicate.Pred {
	of := map[*predicate.Pred]int{}
	for i, n := range needs(kids) {
		of[kids[i]] = n
	}
	return slices.SortedStableFunc(slices.Values(kids), func(a, b *predicate.Pred) int { return of[a] - of[b] })
}

// testsDepth reports a leaf decided by the depth test, so that the stencil
// operation on depth failure can act on the records that fail it.
func testsDepth(l predicate.Leaf) bool {
	switch l.(type) {
	case *limbTest, *maskTest:
		return true
	}
	return false
}

// spareBits are the stencil bits beside todo and result.
const spareBits = 6

type nested struct {
	e    *Evaluator
	free uint8
	// pending clears the first pass's target.
	pending *pass.Clear
}

// evalNested evaluates an expression as it nests.
func (e *Evaluator) evalNested(s *Selection, p *predicate.Pred) {
	for need(p) > spareBits {
		p = e.materialise(p)
	}
	const result, todo = 1, 2
	n := &nested{e: e, free: 0xff &^ (result | todo), pending: &pass.Clear{Value: todo, Mask: 0xff}}
	n.or(p, todo, result)
	s.stencil = stencilTest(pass.Equal, result, result)
	s.Sum = pass.Sum{e.Draw(&pass.Pass{Op: pass.CountSelection, Stencil: s.stencil, Count: true})}
}

// materialise renders the largest subtree that fits the registers into a mask and
// returns the tree with a test of the mask in its place.
func (e *Evaluator) materialise(p *predicate.Pred) *predicate.Pred {
	kids := slices.Clone(p.Kids)
	at := 0
	for i, k := range kids {
		if need(k) > need(kids[at]) {
			at = i
		}
	}
	if need(kids[at]) > spareBits {
		kids[at] = e.materialise(kids[at])
		return predicate.Combine(p.Op, kids...)
	}
	var s Selection
	e.evalNested(&s, kids[at])
	mask := pass.Attribute{Name: "a nested condition", Col: -1}
	kids[at] = leafOf(&maskTest{e.Render(&s, mask), mask})
	return predicate.Combine(p.Op, kids...)
}

// Render draws a selection that the stencil buffer holds as an attribute of one bit.
func (e *Evaluator) Render(s *Selection, as pass.Attribute) *textures.Temp {
	m := &textures.Temp{Width: e.target.Shape.Width, Height: e.target.Shape.Height}
	e.Draw(&pass.Pass{Op: pass.Render{Attribute: as}, Color: m, Program: shaders.Load("one.frag"), Stencil: s.stencil})
	return m
}

// bit takes a free register; need makes sure that there is one.
func (n *nested) bit() uint8 {
	b := n.free & -n.free
	n.free &^= b
	return b
}

// clear returns the clear of register b, if any, for the next pass; the first clears all.
func (n *nested) clear(b uint8) *pass.Clear {
	c := n.pending
	n.pending = nil
	if c == nil && b != 0 {
		c = &pass.Clear{Mask: b}
	}
	return c
}

// set is the stencil state "where todo is set and the pass succeeds, set result".
func set(todo, result uint8) pass.Stencil {
	return pass.Stencil{Test: true, Func: pass.Equal, Ref: todo | result, Mask: todo, Pass: pass.Replace, WriteMask: result}
}

// or sets result where todo is set and p holds.
func (n *nested) or(p *predicate.Pred, todo, result uint8) {
	if p.Op == predicate.Simple {
		n.e.leaf(p.Leaf, how{stencil: set(todo, result), clear: n.clear(0)})
		return
	}
	kids := ordered(p.Kids)
	last := len(kids) - 1
	for _, k := range kids[:last] {
		if p.Op == predicate.And {
			n.narrow(k, todo)
		} else {
			n.preserve(k, todo, func(mine uint8) { n.or(k, mine, result) })
		}
	}
	n.or(kids[last], todo, result)
}

// preserve calls evaluate, of p, with a register that this may spoil: a copy of todo. A leaf
// spoils none.
func (n *nested) preserve(p *predicate.Pred, todo uint8, evaluate func(mine uint8)) {
	if p.Op == predicate.Simple {
		evaluate(todo)
		return
	}
	mine := n.bit()
	n.e.Draw(&pass.Pass{Op: pass.CopyBit, Stencil: set(todo, mine), Clear: n.clear(mine)})
	evaluate(mine)
	n.free |= mine
}

// narrow clears todo where p does not hold.
func (n *nested) narrow(p *predicate.Pred, todo uint8) {
	if p.Op == predicate.Simple && testsDepth(p.Leaf) {
		n.e.leaf(p.Leaf, how{clear: n.clear(0), stencil: pass.Stencil{Test: true, Func: pass.Equal,
			Ref: todo, Mask: todo, DepthFail: pass.Zero, WriteMask: todo}})
		return
	}
	n.preserve(p, todo, func(mine uint8) {
		found := n.bit()
		n.e.Draw(&pass.Pass{Op: pass.ClearBit, Clear: n.clear(found), Stencil: stencilTest(pass.Never, 0, 0)})
		n.or(p, mine, found)
		n.e.Draw(&pass.Pass{Op: pass.DropRecords, Stencil: pass.Stencil{Test: true, Func: pass.Equal,
			Ref: todo, Mask: todo | found, Pass: pass.Zero, WriteMask: todo}})
		n.free |= found
	})
}
