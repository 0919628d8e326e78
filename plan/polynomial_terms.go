package plan

import (
	"math/big"
	"slices"
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
