package lower

import (
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
)

// comparePolynomials brings a op b, which cannot fail, into the form "polynomial op
// constant", if that cannot fail either.
func (l *lowerer) comparePolynomials(op expr.CmpOp, a, b *predicate.Val, text string) (*predicate.Pred, bool) {
	cols := map[int]*predicate.Val{}
	left, okA := predicate.Expand(a, cols)
	right, okB := predicate.Expand(b, cols)
	if !okA || !okB {
		return nil, false
	}
	var sum predicate.Terms
	rhs, degree := new(big.Int), 0
	for _, t := range append(left, right.Scale(big.NewInt(-1))...) {
		sum = sum.Add(t)
	}
	terms := sum[:0:0]
	bound := new(big.Int)
	for _, t := range sum {
		switch {
		case len(t.Cols) == 0:
			rhs.Neg(t.Coef)
		case t.Coef.Sign() != 0:
			terms = append(terms, t)
			degree = max(degree, len(t.Cols))
			m := new(big.Int).Abs(t.Coef)
			for _, c := range t.Cols {
				m.Mul(m, maxAbs(cols[c].Lo, cols[c].Hi))
			}
			bound.Add(bound, m)
		}
	}
	switch {
	case len(terms) == 0:
		return predicate.Constant(op.Holds(-rhs.Sign())), true
	case degree == 1 && len(terms) == 1:
		return l.threshold(op, terms[0], cols, rhs, text), true
	case !bound.IsInt64() || !rhs.IsInt64():
		return nil, false
	}
	shape := predicate.Semilinear
	if degree > 1 {
		shape = predicate.Polynomial
	}
	var v *predicate.Val
	for _, t := range terms {
		if x := termValue(t, cols); v == nil {
			v = x
		} else {
			v = intOp(predicate.AddV, v, x)
		}
	}
	r := constV(rhs)
	if yes, decided := decide(op, v, r); decided {
		return predicate.Constant(yes), true
	}
	return predicate.NewLeaf(&predicate.Computed{Op: op, L: v, R: r, Shape: shape, Text: text}), true
}

// termValue writes the term as operations: coef * c * d ...
func termValue(t predicate.Term, cols map[int]*predicate.Val) *predicate.Val {
	var v *predicate.Val
	if t.Coef.Cmp(big.NewInt(1)) != 0 {
		v = constV(t.Coef)
	}
	for _, c := range t.Cols {
		if v == nil {
			v = cols[c]
		} else {
			v = intOp(predicate.MulV, v, cols[c])
		}
	}
	return v
}

// threshold is coef * column op rhs: a comparison of one column after all.
func (l *lowerer) threshold(op expr.CmpOp, t predicate.Term, cols map[int]*predicate.Val, rhs *big.Int, text string) *predicate.Pred {
	col := t.Cols[0]
	seg := l.seg(col)
	runs, _ := bisect([]predicate.Span{{Lo: 0, Hi: seg.Max}}, func(code uint64) outcome {
		x := new(big.Int).Mul(t.Coef, big.NewInt(int64(code)+cols[col].Offset))
		return outcome{sign: x.Cmp(rhs)}
	})
	return l.spanPred(col, spansWhere(runs, func(o outcome) bool { return op.Holds(o.sign) }), op, text)
}
