package lower

import (
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// CodeSum is the sum of an expression in a chunk, over codes. It is the sum of Terms over the selected
// records in which none of Cols is NULL.
type CodeSum struct {
	Cols  []int // ascending
	Terms []CodeTerm
}

// CodeTerm is Coef times the sum of a product of codes. The product has up to [MaxFactors] columns,
// ascending, which may repeat. Without columns it is Coef times the number of the records.
type CodeTerm struct {
	Coef *big.Int
	Cols []int
}

// MaxFactors is how many codes a term may multiply.
const MaxFactors = 3

// NewCodeSum is nil where there is none.
func NewCodeSum(a expr.Aggregate, t *table.Table, c *table.Chunk) *CodeSum {
	out := &CodeSum{Cols: expr.Columns(a.X)}
	l := &lowerer{t: t, c: c, tests: map[testKey]*predicate.Pred{}, leaves: map[expr.Expr]*leafTests{}, ranges: map[*expr.Between]*expr.And{},
		vals: map[expr.Expr]*value{}, ranks: map[[2]int][2]*value{}}
	var x *value
	if !plan.OfSum(a) || catchUnsupported(func() { l.checkColumns(a.X); x = l.val(a.X) }) != nil {
		return nil
	}
	none := slices.ContainsFunc(out.Cols, func(col int) bool { return l.seg(col).NonNull() == 0 })
	for _, v := range l.vals { // of NULL operands the others are computed, too
		if v.never && !none || len(v.fails) > 0 || v.v != nil && hasFailing(v.v, nil) {
			return nil
		}
	}
	if none {
		return out
	}
	cols := map[int]*predicate.Val{}
	values, ok := predicate.Expand(x.v, cols)
	if !ok || x.scale != a.Arg.Scale {
		return nil
	}
	codes, ok := termsOfCodes(values, cols, c)
	for _, t := range codes {
		if t.Coef.Sign() != 0 {
			out.Terms = append(out.Terms, CodeTerm{t.Coef, t.Cols})
		}
	}
	if !ok {
		return nil
	}
	return out
}

// termsOfCodes writes a polynomial of values as one of codes: each value is its code and an offset.
// It fails where a term has more than [MaxFactors] columns that vary.
func termsOfCodes(p predicate.Terms, cols map[int]*predicate.Val, c *table.Chunk) (out predicate.Terms, ok bool) {
	for _, t := range p {
		product := predicate.Terms{{Coef: t.Coef}}
		for _, col := range t.Cols {
			next := product.Scale(big.NewInt(cols[col].Offset))
			if c.Segments[col].Max > 0 {
				for _, f := range product {
					next = next.Add(predicate.Term{Coef: f.Coef, Cols: append(slices.Clone(f.Cols), col)})
				}
			}
			product = next
		}
		for _, f := range product {
			if len(f.Cols) > MaxFactors && f.Coef.Sign() != 0 {
				return nil, false
			}
			out = out.Add(f)
		}
	}
	return out, true
}
