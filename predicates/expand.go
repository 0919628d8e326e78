package predicates

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// limbTest is the leaf limb op k: what one depth test decides.
type limbTest struct{ pass.Compare }

// limbRange is the leaf lo <= attribute <= hi: one depth bounds test.
type limbRange struct{ pass.Range }

// maskTest is the leaf "the record is set in a mask rendered before".
type maskTest struct {
	mask *textures.Temp
	pass.Attribute
}

func (t *limbTest) String() string  { return t.Predicate() }
func (t *limbRange) String() string { return t.Text }

// Key implements plan.Keyed: what the text says may differ, or not, from what the
// pass does. (Masks have their address for identity.)
func (t *limbTest) Key() string { return fmt.Sprintf("test %d.%d %d %d", t.Col, t.Limb, t.Cmp, t.Code) }
func (t *limbRange) Key() string {
	return fmt.Sprintf("range %d.%d %d %d", t.Col, t.Limb, t.Lo, t.Hi)
}

// Columns implements predicate.Leaf.
func (t *limbTest) Columns() []int  { return []int{t.Col} }
func (t *limbRange) Columns() []int { return []int{t.Col} }
func (t *maskTest) Columns() []int  { return nil }

func leafOf(l predicate.Leaf) *predicate.Pred { return &predicate.Pred{Op: predicate.Simple, Leaf: l} }

// expand rewrites the leaves of a predicate into those that one depth test, one depth bounds test or one
// fragment program decides. Wide codes become limbs. Ranges become two comparisons where there is no depth
// bounds test.
func (e *Evaluator) expand(p *predicate.Pred) *predicate.Pred {
	switch p.Op {
	case predicate.And, predicate.Or:
		kids := xslices.Map(p.Kids, e.expand)
		return predicate.Combine(p.Op, kids...)
	case predicate.Simple:
		switch l := p.Leaf.(type) {
		case *predicate.Compare:
			return e.expandCompare(l.Col, l.Op, l.Code, l.Text)
		case *predicate.Range:
			return e.expandRange(l)
		case *predicate.NullTest:
			op := expr.EQ
			if l.Not {
				op = expr.LT
			}
			return leafOf(e.test(l.Col, 0, op, textures.NullLimb, l.Text))
		}
	}
	return p
}

// expandCompare is code op k over n limbs, most significant first, in CNF:
//
//	x < k:   (h <= H) AND (h < H OR m <= M) AND (h < H OR m < M OR l < L)
//	x <> k:  h <> H OR m <> M OR l <> L
func (e *Evaluator) expandCompare(col int, op expr.CmpOp, k uint64, text string) *predicate.Pred {
	limb := func(i int, op expr.CmpOp) *predicate.Pred { return e.limb(col, i, op, k, text) }
	n := textures.Limbs(e.Segment(col).Bits)
	if n == 1 {
		return leafOf(e.test(col, 0, op, k, text))
	}
	text = fmt.Sprintf("%s %v %v", e.Attribute(col, 0).Name, op, expr.OperandText(e.Segment(col).Decode(k)))
	join, strict, loose := predicate.Or, expr.LT, expr.LE
	switch op {
	case expr.EQ:
		join = predicate.And
		fallthrough
	case expr.NE:
		var limbs []*predicate.Pred
		for i := n - 1; i >= 0; i-- {
			limbs = append(limbs, limb(i, op))
		}
		return predicate.Combine(join, limbs...)
	case expr.GT, expr.GE:
		strict, loose = expr.GT, expr.GE
	}
	var clauses []*predicate.Pred
	for i := n - 1; i >= 0; i-- { // clause of limb i: a limb above is strictly beyond, or limb i is not short of it
		if i == 0 {
			loose = op
		}
		var disjuncts []*predicate.Pred
		for j := n - 1; j > i; j-- {
			disjuncts = append(disjuncts, limb(j, strict))
		}
		clauses = append(clauses, predicate.Combine(predicate.Or, append(disjuncts, limb(i, loose))...))
	}
	return predicate.Combine(predicate.And, clauses...)
}

// limb is limb i of the column against limb i of a code, folded where no or every value
// of the limb satisfies it. (It folds to True only beside another leaf on the same
// column that excludes NULLs: the whole comparison is never trivial.) text is the whole
// comparison.
func (e *Evaluator) limb(col, i int, op expr.CmpOp, code uint64, text string) *predicate.Pred {
	k, top := textures.Limb(code, i), textures.LimbMax(e.Segment(col).Max, i)
	switch {
	case op == expr.LT && k == 0, op == expr.GT && k >= top:
		return &predicate.Pred{Op: predicate.False}
	case op == expr.GE && k == 0, op == expr.LE && k >= top:
		return &predicate.Pred{Op: predicate.True}
	}
	return leafOf(e.test(col, i, op, k, text))
}

func (e *Evaluator) test(col, limb int, op expr.CmpOp, k uint64, text string) *limbTest {
	return &limbTest{pass.Compare{Attribute: e.Attribute(col, limb), Cmp: op, Code: k, Text: text}}
}

func (e *Evaluator) expandRange(r *predicate.Range) *predicate.Pred {
	seg := e.Segment(r.Col)
	if textures.Limbs(seg.Bits) == 1 && e.device.DepthBounds {
		return leafOf(&limbRange{pass.Range{Attribute: e.Attribute(r.Col, 0), Lo: r.Lo, Hi: r.Hi, Text: r.Text}})
	}
	half := func(op expr.CmpOp, code uint64) *predicate.Pred {
		if op == expr.GE && code == 0 || op == expr.LE && code >= seg.Max {
			return &predicate.Pred{Op: predicate.True}
		}
		return e.expandCompare(r.Col, op, code, fmt.Sprintf("%s %v %v", e.Attribute(r.Col, 0).Name, op, expr.OperandText(seg.Decode(code))))
	}
	return predicate.Combine(predicate.And, half(expr.GE, r.Lo), half(expr.LE, r.Hi))
}
