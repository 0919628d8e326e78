package plan

import (
	"math/big"

	"github.com/stencildb/stencildb/expr"
)

// expanded brings a op b, which cannot fail, into the form "polynomial op
// constant", if that cannot fail either.
func (l *lowerer) expanded(op expr.CmpOp, a, b *Val, text string) (*Pred, bool) {
	cols := map[int]*Val{}
	left, okA := expand(a, cols)
	right, okB := expand(b, cols)
	if !okA || !okB {
		return nil, false
	}
	var sum polynomial
	rhs, degree := new(big.Int), 0
	for _, t := range append(left, right.scale(big.NewInt(-1))...) {
		sum = sum.add(t)
	}
	terms := sum[:0:0]
	bound := new(big.Int)
	for _, t := range sum {
		switch {
		case len(t.cols) == 0:
			rhs.Neg(t.coef)
		case t.coef.Sign() != 0:
			terms = append(terms, t)
			degree = max(degree, len(t.cols))
			m := new(big.Int).Abs(t.coef)
			for _, c := range t.cols {
				m.Mul(m, maxAbs(cols[c].Lo, cols[c].Hi))
			}
			bound.Add(bound, m)
		}
	}
	switch {
	case len(terms) == 0:
		return boolPred(op.Holds(-rhs.Sign())), true
	case degree == 1 && len(terms) == 1:
		return l.threshold(op, terms[0], cols, rhs, text), true
	case !bound.IsInt64() || !rhs.IsInt64():
		return nil, false
	}
	shape := Semilinear
	if degree > 1 {
		shape = Polynomial
	}
	var v *Val
	for _, t := range terms {
		if x := t.val(cols); v == nil {
			v = x
		} else {
			v = intOp(AddV, v, x)
		}
	}
	r := constV(rhs)
	if yes, decided := decide(op, v, r); decided {
		return boolPred(yes), true
	}
	return leafPred(&Computed{Op: op, L: v, R: r, Shape: shape, Text: text}), true
}

// val writes the term as operations: coef * c * d ...
func (t term) val(cols map[int]*Val) *Val {
	var v *Val
	if t.coef.Cmp(big.NewInt(1)) != 0 {
		v = constV(t.coef)
	}
	for _, c := range t.cols {
		if v == nil {
			v = cols[c]
		} else {
			v = intOp(MulV, v, cols[c])
		}
	}
	return v
}

// threshold is coef * column op rhs: a comparison of one column after all.
func (l *lowerer) threshold(op expr.CmpOp, t term, cols map[int]*Val, rhs *big.Int, text string) *Pred {
	col := t.cols[0]
	seg := l.seg(col)
	runs, _ := search([]Span{{0, seg.Max}}, func(code uint64) outcome {
		x := new(big.Int).Mul(t.coef, big.NewInt(int64(code)+cols[col].Offset))
		return outcome{sign: x.Cmp(rhs)}
	})
	return l.spanPred(col, spansWhere(runs, func(o outcome) bool { return op.Holds(o.sign) }), op, text)
}
