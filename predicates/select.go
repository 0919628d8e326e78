package predicates

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// maxClauses bounds the normal forms that distributing makes: beyond it the expression is
// evaluated as it nests. One that is in normal form as it stands may have any number.
const maxClauses = 256

// Selection says which records of a chunk are selected: all of them, none, or
// those whose stencil value passes a test. It is a count of them.
type Selection struct {
	all, none bool
	stencil   pass.Stencil // the test; nothing is changed
	pass.Sum               // of disjoint parts of the selection
}

// All reports that every record is selected and the stencil buffer means nothing.
func (s *Selection) All() bool { return s.all }

// None reports that no record is selected and the stencil buffer means nothing.
func (s *Selection) None() bool { return s.none }

// Test returns the stencil test that the selected records pass; off when all are
// selected.
func (s *Selection) Test() pass.Stencil { return s.stencil }

func stencilTest(f pass.Func, ref, mask uint8) pass.Stencil {
	return pass.Stencil{Test: true, Func: f, Ref: ref, Mask: mask}
}

// Select evaluates a whole WHERE. With keep false only the count is asked for, and
// a single predicate needs no stencil buffer at all. The occlusion query around
// its pass is the answer. Otherwise the stencil buffer holds the selection.
func (e *Evaluator) Select(p *predicate.Pred, keep bool) *Selection {
	e.Claim()
	p = e.expand(p)
	s := &Selection{}
	switch p.Op {
	case predicate.True:
		s.all, s.Sum = true, pass.Sum{pass.Known(e.chunk.Rows)}
	case predicate.False:
		s.none = true
	case predicate.Simple:
		e.selectOne(s, p.Leaf, keep)
	default:
		e.selectMany(s, p)
	}
	if err := e.Err(); err != nil { // of a pass after those that count, too
		s.Sum = pass.Sum{pass.Failed(err)}
	}
	return s
}

// selectOne is one predicate: its own pass counts, and with SetupStencil (clear to
// 0, REPLACE by 1 on pass) leaves the selection behind.
func (e *Evaluator) selectOne(s *Selection, l predicate.Leaf, keep bool) {
	h := how{outcome: pass.Counted}
	if keep {
		h.clear = &pass.Clear{Mask: 0xff}
		h.stencil = pass.Stencil{Test: true, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff}
		s.stencil = stencilTest(pass.Equal, 1, 0xff&^scratch)
	}
	s.Sum = pass.Sum{e.leaf(l, h)}
}

// selectMany picks the form with the fewest passes. EvalCNF is the paper's: it is
// taken unless another form needs less than half of its passes.
func (e *Evaluator) selectMany(s *Selection, p *predicate.Pred) {
	nested := nestedCost(p)
	cnf, okC := p.CNF(maxClauses)
	dnf, okD := p.DNF(maxClauses)
	if okD {
		for _, clause := range dnf {
			okD = okD && len(clause) <= maxConjuncts
		}
	}
	costC, costD := cnfCost(cnf), dnfCost(dnf)
	switch {
	case okC && costC <= 2*nested && (!okD || costC <= 2*costD):
		e.EvalCNF(s, cnf)
	case okD && costD <= 2*nested:
		e.EvalDNF(s, dnf)
	default:
		e.evalNested(s, p)
	}
}

// leafCost is about two passes, copy and test, for a depth test; one for a
// discarding program.
func leafCost(l predicate.Leaf) int {
	switch l.(type) {
	case *limbTest, *limbRange, *maskTest:
		return 2
	}
	return 1
}

func cnfCost(clauses [][]predicate.Leaf) int {
	n := 0
	for _, c := range clauses {
		for _, l := range c {
			n += leafCost(l)
		}
		n++
	}
	return n
}

func dnfCost(clauses [][]predicate.Leaf) int { return cnfCost(clauses) + len(clauses) }

// EvalCNF evaluates a conjunction of disjunctions (paper, routine 4.3) with the
// stencil values 0, 1 and 2. Before clause i (from 1) the records still selected
// hold 1 when i is odd and 2 when i is even. A record that satisfies a disjunct
// moves to the other value and is not tested again. After the clause what is left
// at the old value becomes 0. In the end non-zero means selected.
//
// A record passes at most one disjunct of the last clause. So the counts of
// that clause's passes add up to the size of the selection.
func (e *Evaluator) EvalCNF(s *Selection, clauses [][]predicate.Leaf) {
	clear := &pass.Clear{Value: 1, Mask: 0xff}
	for i, clause := range clauses {
		valid, op := uint8(1), pass.Incr
		if i%2 == 1 {
			valid, op = 2, pass.Decr
		}
		outcome := pass.Marked
		if i == len(clauses)-1 {
			outcome = pass.CountedAll
		}
		for _, l := range clause {
			c := e.leaf(l, how{clear: clear, outcome: outcome, stencil: pass.Stencil{Test: true, Func: pass.Equal,
				Ref: valid, Mask: 0xff, Pass: op, WriteMask: 0xff}})
			if c != nil {
				s.Sum = append(s.Sum, c)
			}
			clear = nil
		}
		e.Draw(&pass.Pass{Op: pass.EvalCNF{Clause: i + 1}, Stencil: pass.Stencil{Test: true,
			Func: pass.Equal, Ref: valid, Mask: 0xff, Pass: pass.Zero, WriteMask: 0xff}})
	}
	s.stencil = stencilTest(pass.NotEqual, 0, 0xff&^scratch)
}

// scratch is the stencil bit that the k-th largest of a wide attribute uses for
// its candidates; no form's selection test looks at it.
const scratch = 0x40

// Candidates is the stencil test of the records marked by [Evaluator.Mark].
func Candidates() pass.Stencil { return stencilTest(pass.Equal, scratch, scratch) }

// Mark makes candidates of the records that pass a stencil test and whose limb in the
// depth buffer satisfies the op's comparison. Others are no candidates.
func (e *Evaluator) Mark(test pass.Stencil, op pass.Candidates) {
	if !test.Test {
		test = stencilTest(pass.Always, 0, 0)
	}
	test.Ref |= scratch
	test.Pass, test.WriteMask = pass.Replace, scratch
	e.compare(&pass.Pass{Op: op, Clear: &pass.Clear{Mask: scratch}, Stencil: test}, op.Cmp, op.Code)
}

// Narrow takes the mark from candidates whose limb does not satisfy the comparison.
func (e *Evaluator) Narrow(op pass.Candidates) {
	st := Candidates()
	st.DepthFail, st.WriteMask = pass.Zero, scratch
	e.compare(&pass.Pass{Op: op, Stencil: st}, op.Cmp, op.Code)
}

// CountLimb counts the records that pass a stencil test and whose limb in the
// depth buffer satisfies cmp code.
func (e *Evaluator) CountLimb(test pass.Stencil, op pass.Op, cmp expr.CmpOp, code uint64) pass.Count {
	return e.compare(&pass.Pass{Op: op, Stencil: test, Count: true}, cmp, code)
}

// CountNotNull counts the records that pass a stencil test and where an attribute
// that has NULLs is not NULL.
func (e *Evaluator) CountNotNull(test pass.Stencil, col int) pass.Count {
	a := e.Attribute(col, 0)
	return e.Compare(pass.Compare{Attribute: a, Cmp: expr.LT, Code: textures.NullLimb, Text: a.Name + " IS NOT NULL"},
		how{stencil: test, outcome: pass.CountedOf})
}

// maxConjuncts is the longest DNF clause: the stencil values 1..m+1 lie below the parking bit.
// (The scratch bit is one of theirs: a k-th search, which clears it, comes after the selection.)
const maxConjuncts = 126

// EvalDNF evaluates a disjunction of conjunctions, which the paper leaves to the
// reader, in the same spirit. Predicate j of a clause passes the records at value
// j and increments them. Those at m + 1 after the m predicates are parked in the
// top bit, the others go back to 1. A parked record is not tested again, so the
// counts of the parking passes add up to the size of the selection.
func (e *Evaluator) EvalDNF(s *Selection, clauses [][]predicate.Leaf) {
	const parked = 0x80
	clear := &pass.Clear{Value: 1, Mask: 0xff}
	for i, clause := range clauses {
		for j, l := range clause {
			e.leaf(l, how{clear: clear, stencil: pass.Stencil{Test: true, Func: pass.Equal,
				Ref: uint8(j + 1), Mask: 0xff, Pass: pass.Incr, WriteMask: 0xff}})
			clear = nil
		}
		m := uint8(len(clause))
		s.Sum = append(s.Sum, e.Draw(&pass.Pass{Op: pass.EvalDNF{Clause: i + 1}, Count: true,
			Stencil: pass.Stencil{Test: true, Func: pass.Equal, Ref: m + 1, Mask: 0xff, Pass: pass.Invert, WriteMask: parked}}))
		if m > 1 && i < len(clauses)-1 {
			e.Draw(&pass.Pass{Op: pass.EvalDNF{Clause: i + 1, Again: true}, Stencil: pass.Stencil{Test: true,
				Func: pass.Greater, Ref: parked | 1, Mask: parked, Pass: pass.Replace, WriteMask: 0x7f}})
		}
	}
	s.stencil = stencilTest(pass.Equal, parked, parked)
}
