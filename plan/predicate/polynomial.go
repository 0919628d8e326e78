package predicate

import (
	"math/big"
	"slices"
)

// The polynomials that are written out: beyond these a nested expression is shorter.
const (
	maxTerms  = 64
	maxDegree = 8
)

// Term is coef * the product of columns (with repetition, ascending).
type Term struct {
	Coef *big.Int
	Cols []int
}

// Terms is a sum of terms of different products, in order of first sight.
type Terms []Term

// Add adds a term, to the coefficient of that of the same columns where there is one. It may change p.
func (p Terms) Add(t Term) Terms {
	for i := range p {
		if slices.Equal(p[i].Cols, t.Cols) {
			p[i].Coef = new(big.Int).Add(p[i].Coef, t.Coef)
			return p
		}
	}
	return append(p, t)
}

// Scale is every term times k.
func (p Terms) Scale(k *big.Int) Terms {
	out := slices.Clone(p)
	for i := range out {
		out[i].Coef = new(big.Int).Mul(p[i].Coef, k)
	}
	return out
}

// Expand writes v as a polynomial of its columns. It fails for other operations
// than + - *, and when there are too many terms.
func Expand(v *Val, cols map[int]*Val) (Terms, bool) {
	switch v.Op {
	case Const:
		return Terms{{Coef: v.Lo}}, true
	case Col:
		cols[v.Column] = v
		return Terms{{big.NewInt(1), []int{v.Column}}}, true
	case NegV:
		p, ok := Expand(v.Kids[0], cols)
		return p.Scale(big.NewInt(-1)), ok
	case AddV, SubV, MulV:
	default:
		return nil, false
	}
	a, okA := Expand(v.Kids[0], cols)
	b, okB := Expand(v.Kids[1], cols)
	if !okA || !okB {
		return nil, false
	}
	var out Terms
	switch v.Op {
	case MulV:
		for _, x := range a {
			for _, y := range b {
				t := Term{new(big.Int).Mul(x.Coef, y.Coef), append(slices.Clone(x.Cols), y.Cols...)}
				slices.Sort(t.Cols)
				if out = out.Add(t); len(out) > maxTerms || len(t.Cols) > maxDegree {
					return nil, false
				}
			}
		}
		return out, true
	case SubV:
		b = b.Scale(big.NewInt(-1))
	}
	out = slices.Clone(a)
	for _, t := range b {
		out = out.Add(t)
	}
	return out, len(out) <= maxTerms
}
