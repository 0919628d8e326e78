package plan

import (
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
)

// The polynomials that are written out: beyond these a nested expression is shorter.
const (
	maxTerms  = 64
	maxDegree = 8
)

// term is coef * the product of columns (with repetition, ascending).
type term struct {
	coef *big.Int
	cols []int
}

// polynomial is a sum of terms of different products, in order of first sight.
type polynomial []term

func (p polynomial) add(t term) polynomial {
	for i := range p {
		if slices.Equal(p[i].cols, t.cols) {
			p[i].coef = new(big.Int).Add(p[i].coef, t.coef)
			return p
		}
	}
	return append(p, t)
}

func (p polynomial) scale(k *big.Int) polynomial {
	out := slices.Clone(p)
	for i := range out {
		out[i].coef = new(big.Int).Mul(p[i].coef, k)
	}
	return out
}

// expand writes v as a polynomial of its columns. It fails for other operations
// than + - *, and when there are too many terms.
func expand(v *Val, cols map[int]*Val) (polynomial, bool) {
	switch v.Op {
	case Const:
		return polynomial{{coef: v.Lo}}, true
	case Col:
		cols[v.Column] = v
		return polynomial{{big.NewInt(1), []int{v.Column}}}, true
	case NegV:
		p, ok := expand(v.Kids[0], cols)
		return p.scale(big.NewInt(-1)), ok
	case AddV, SubV, MulV:
	default:
		return nil, false
	}
	a, okA := expand(v.Kids[0], cols)
	b, okB := expand(v.Kids[1], cols)
	if !okA || !okB {
		return nil, false
	}
	var out polynomial
	switch v.Op {
	case MulV:
		for _, x := range a {
			for _, y := range b {
				t := term{new(big.Int).Mul(x.coef, y.coef), append(slices.Clone(x.cols), y.cols...)}
				slices.Sort(t.cols)
				if out = out.add(t); len(out) > maxTerms || len(t.cols) > maxDegree {
					return nil, false
				}
			}
		}
		return out, true
	case SubV:
		b = b.scale(big.NewInt(-1))
	}
	out = slices.Clone(a)
	for _, t := range b {
		out = out.add(t)
	}
	return out, len(out) <= maxTerms
}

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

// Linear returns a Semilinear leaf over codes instead of values: the record
// satisfies it where the sum of coef[i] * (code of cols[i]) stands in relation
// p.Op to rhs. bound is the greatest magnitude that a partial sum, in any order,
// can have: where bound and |rhs| stay below 2^24 the paper's float32 dot product
// is exact. ok is false for other shapes.
func (p *Computed) Linear() (cols []int, coef []int64, rhs, bound *big.Int, ok bool) {
	if p.Shape != Semilinear || p.L == nil {
		return nil, nil, nil, nil, false
	}
	vals := map[int]*Val{}
	sum, ok := expand(p.L, vals)
	if !ok {
		return nil, nil, nil, nil, false
	}
	rhs, bound = new(big.Int).Set(p.R.Lo), new(big.Int)
	for _, t := range sum {
		v := vals[t.cols[0]]
		cols, coef = append(cols, v.Column), append(coef, t.coef.Int64())
		rhs.Sub(rhs, new(big.Int).Mul(t.coef, big.NewInt(v.Offset)))
		width := new(big.Int).SetUint64(v.Max)
		bound.Add(bound, width.Mul(width, new(big.Int).Abs(t.coef)))
	}
	return cols, coef, rhs, bound, true
}
