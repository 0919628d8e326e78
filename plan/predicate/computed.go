package predicate

import (
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
)

// Computed is TRUE where no column it reads is NULL and L Op R holds. When Fails is set, it is TRUE where
// evaluating that value raises its error. A row for which a value overflows or divides by zero never
// satisfies a Computed with Fails nil.
type Computed struct {
	Op    expr.CmpOp
	L, R  *Val // R is a constant for the shapes Semilinear and Polynomial
	Fails *Val // with L and R nil: select the rows where computing Fails' own operation (its operands being fine) fails
	Shape Shape
	Text  string
}

func (p *Computed) String() string { return p.Text }

// Columns implements Leaf.
func (p *Computed) Columns() []int {
	cols := append(append(p.L.Columns(), p.R.Columns()...), p.Fails.Columns()...)
	slices.Sort(cols)
	return slices.Compact(cols)
}

// Shape is what kind of arithmetic a [Computed] does.
type Shape uint8

// The shapes.
const (
	Semilinear Shape = iota // the paper's s . a op b: L is a sum of column * constant
	Polynomial              // a sum of terms c * a^i * b^j ... against a constant
	Expression              // anything else: division, remainder, nested, doubles, dictionaries
)

// Linear returns a Semilinear leaf over codes instead of values. The record satisfies it where the sum of
// coef[i] * (code of cols[i]) stands in relation p.Op to rhs. bound is the greatest magnitude that a partial
// sum, in any order, can have. Where bound and |rhs| stay below 2^24 the paper's float32 dot product is
// exact. ok is false for other shapes.
func (p *Computed) Linear() (cols []int, coef []int64, rhs, bound *big.Int, ok bool) {
	if p.Shape != Semilinear || p.L == nil {
		return nil, nil, nil, nil, false
	}
	vals := map[int]*Val{}
	sum, ok := Expand(p.L, vals)
	if !ok {
		return nil, nil, nil, nil, false
	}
	rhs, bound = new(big.Int).Set(p.R.Lo), new(big.Int)
	for _, t := range sum {
		v := vals[t.Cols[0]]
		cols, coef = append(cols, v.Column), append(coef, t.Coef.Int64())
		rhs.Sub(rhs, new(big.Int).Mul(t.Coef, big.NewInt(v.Offset)))
		width := new(big.Int).SetUint64(v.Max)
		bound.Add(bound, width.Mul(width, new(big.Int).Abs(t.Coef)))
	}
	return cols, coef, rhs, bound, true
}
