package plan

import (
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// CodeSum is what the sum of an expression is in a chunk, over codes: of the selected records
// in which none of Cols is NULL, the sum of Terms.
type CodeSum struct {
	Cols  []int // ascending
	Terms []CodeTerm
}

// CodeTerm is Coef times the sum of a product of codes: of up to [MostFactors] columns, which
// may be the same, ascending; without columns Coef times the number of the records.
type CodeTerm struct {
	Coef *big.Int
	Cols []int
}

// MostFactors is how many codes a term may multiply.
const MostFactors = 3

// codeSum is nil where there is none.
func codeSum(a expr.Aggregate, t *table.Table, c *table.Chunk) *CodeSum {
	out := &CodeSum{Cols: expr.Columns(a.X)}
	l := &lowerer{t: t, c: c, forms: map[formKey]*Pred{}, leaves: map[expr.Expr]*leafForms{}, ranges: map[*expr.Between]*expr.And{},
		vals: map[expr.Expr]*value{}, ranks: map[[2]int][2]*value{}}
	var x *value
	if !OfSum(a) || refused(func() { l.checkColumns(a.X); x = l.val(a.X) }) != nil {
		return nil
	}
	none := slices.ContainsFunc(out.Cols, func(col int) bool { return l.seg(col).NonNull() == 0 })
	for _, v := range l.vals { // of NULL operands the others are computed, too
		if v.never && !none || len(v.fails) > 0 || v.v != nil && anyFails(v.v, nil) {
			return nil
		}
	}
	if none {
		return out
	}
	cols := map[int]*Val{}
	values, ok := expand(x.v, cols)
	if !ok || x.scale != a.Arg.Scale {
		return nil
	}
	codes, ok := values.ofCodes(cols, c)
	for _, t := range codes {
		if t.coef.Sign() != 0 {
			out.Terms = append(out.Terms, CodeTerm{t.coef, t.cols})
		}
	}
	if !ok {
		return nil
	}
	return out
}

// ofCodes writes a polynomial of values as one of codes: each value is its code and an offset.
// It fails where a term has more than [MostFactors] columns that vary.
func (p polynomial) ofCodes(cols map[int]*Val, c *table.Chunk) (out polynomial, ok bool) {
	for _, t := range p {
		product := polynomial{{coef: t.coef}}
		for _, col := range t.cols {
			next := product.scale(big.NewInt(cols[col].Offset))
			if c.Segments[col].Max > 0 {
				for _, f := range product {
					next = next.add(term{f.coef, append(slices.Clone(f.cols), col)})
				}
			}
			product = next
		}
		for _, f := range product {
			if len(f.cols) > MostFactors && f.coef.Sign() != 0 {
				return nil, false
			}
			out = out.add(f)
		}
	}
	return out, true
}
