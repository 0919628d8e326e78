package predicates

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// limbTest is the leaf limb op k: what one depth test decides. k is NullLimb for
// IS NULL (=) and IS NOT NULL (<).
type limbTest struct {
	col, limb int
	op        expr.CmpOp
	k         uint64
	text      string
}

// limbRange is the leaf lo <= limb <= hi: one depth bounds test.
type limbRange struct {
	col, limb int
	lo, hi    uint64
	text      string
}

// maskTest is the leaf "the record is set in a mask rendered before".
type maskTest struct {
	mask *textures.Temp
	text string
}

func (t *limbTest) String() string  { return t.text }
func (t *limbRange) String() string { return t.text }
func (t *maskTest) String() string  { return t.text }

// Key implements plan.Keyed: what the text says may differ, or not, from what the
// pass does. (Masks have their address for identity.)
func (t *limbTest) Key() string { return fmt.Sprintf("test %d.%d %d %d", t.col, t.limb, t.op, t.k) }
func (t *limbRange) Key() string {
	return fmt.Sprintf("range %d.%d %d %d", t.col, t.limb, t.lo, t.hi)
}

// Columns implements plan.Leaf.
func (t *limbTest) Columns() []int  { return []int{t.col} }
func (t *limbRange) Columns() []int { return []int{t.col} }
func (t *maskTest) Columns() []int  { return nil }

var (
	yes = &plan.Pred{Op: plan.True}
	no  = &plan.Pred{Op: plan.False}
)

func leafOf(l plan.Leaf) *plan.Pred { return &plan.Pred{Op: plan.IsLeaf, Leaf: l} }

// combine builds And or Or with constants folded and nesting flattened.
func combine(op plan.Op, kids ...*plan.Pred) *plan.Pred {
	absorbing, neutral := plan.False, plan.True
	if op == plan.Or {
		absorbing, neutral = plan.True, plan.False
	}
	var list []*plan.Pred
	for _, k := range kids {
		switch k.Op {
		case absorbing:
			return k
		case neutral:
		case op:
			list = append(list, k.Kids...)
		default:
			list = append(list, k)
		}
	}
	switch len(list) {
	case 0:
		return &plan.Pred{Op: neutral}
	case 1:
		return list[0]
	}
	return &plan.Pred{Op: op, Kids: list}
}

// expand rewrites the leaves of a predicate into those that one depth test, one
// depth bounds test or one fragment program decides: wide codes limb by limb,
// ranges as two comparisons where there is no depth bounds test.
func (e *Evaluator) expand(p *plan.Pred) *plan.Pred {
	switch p.Op {
	case plan.And, plan.Or:
		kids := make([]*plan.Pred, len(p.Kids))
		for i, k := range p.Kids {
			kids[i] = e.expand(k)
		}
		return combine(p.Op, kids...)
	case plan.IsLeaf:
		switch l := p.Leaf.(type) {
		case *plan.Compare:
			return e.expandCompare(l.Col, l.Op, l.Code, l.Text)
		case *plan.Range:
			return e.expandRange(l)
		case *plan.NullTest:
			op := expr.EQ
			if l.Not {
				op = expr.LT
			}
			return leafOf(&limbTest{l.Col, 0, op, textures.NullLimb, l.Text})
		}
	}
	return p
}

// expandCompare is code op k over n limbs, most significant first, in CNF:
//
//	x < k:   (h <= H) AND (h < H OR m <= M) AND (h < H OR m < M OR l < L)
//	x <> k:  h <> H OR m <> M OR l <> L
func (e *Evaluator) expandCompare(col int, op expr.CmpOp, k uint64, text string) *plan.Pred {
	n := textures.Limbs(e.Segment(col).Bits)
	if n == 1 {
		return leafOf(&limbTest{col, 0, op, k, text})
	}
	return e.expandLimbs(col, n, op, k)
}

// expandLimbs compares the n lowest limbs, those above being equal.
func (e *Evaluator) expandLimbs(col, n int, op expr.CmpOp, k uint64) *plan.Pred {
	switch op {
	case expr.EQ, expr.NE:
		join := plan.And
		if op == expr.NE {
			join = plan.Or
		}
		out := &plan.Pred{Op: plan.True}
		if op == expr.NE {
			out = &plan.Pred{Op: plan.False}
		}
		for i := n - 1; i >= 0; i-- {
			out = combine(join, out, e.limb(col, i, op, k))
		}
		return out
	}
	strict, loose := expr.LT, expr.LE
	if op == expr.GT || op == expr.GE {
		strict, loose = expr.GT, expr.GE
	}
	clauses := []*plan.Pred{}
	for i := n - 1; i >= 0; i-- { // clause of limb i: a limb above is strictly beyond, or limb i is not short of it
		last := loose
		if i == 0 {
			last = op
		}
		disjuncts := []*plan.Pred{}
		for j := n - 1; j > i; j-- {
			disjuncts = append(disjuncts, e.limb(col, j, strict, k))
		}
		disjuncts = append(disjuncts, e.limb(col, i, last, k))
		clauses = append(clauses, combine(plan.Or, disjuncts...))
	}
	return combine(plan.And, clauses...)
}

// limb is limb i of the column against limb i of k, folded where no or every value
// of the limb satisfies it. (It folds to True only beside another leaf on the same
// column that excludes NULLs: the whole comparison is never trivial.)
func (e *Evaluator) limb(col, i int, op expr.CmpOp, code uint64) *plan.Pred {
	k, top := textures.Limb(code, i), textures.LimbMax(e.Segment(col).Max, i)
	holdsNone := op == expr.LT && k == 0 || op == expr.GT && k >= top
	holdsAll := op == expr.GE && k == 0 || op == expr.LE && k >= top
	switch {
	case holdsNone:
		return no
	case holdsAll:
		return yes
	}
	return leafOf(&limbTest{col, i, op, k, fmt.Sprintf("%s %v %d", e.limbName(col, i), op, k)})
}

func (e *Evaluator) expandRange(r *plan.Range) *plan.Pred {
	n := textures.Limbs(e.Segment(r.Col).Bits)
	if n == 1 && e.device.DepthBounds {
		return leafOf(&limbRange{r.Col, 0, r.Lo, r.Hi, r.Text})
	}
	name := e.fields[r.Col].Name
	seg := e.Segment(r.Col)
	half := func(op expr.CmpOp, code uint64) *plan.Pred {
		if op == expr.GE && code == 0 || op == expr.LE && code >= seg.Max {
			return yes
		}
		return e.expandCompare(r.Col, op, code, fmt.Sprintf("%s %v %s", name, op, seg.Decode(code)))
	}
	return combine(plan.And, half(expr.GE, r.Lo), half(expr.LE, r.Hi))
}
