package plan

import (
	"fmt"
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

// ExpressionSums is a [Partial] that adds up expressions, those of [ChunkPlan.Sums].
type ExpressionSums interface {
	Partial
	// SumOf returns the exact sum of what an aggregate of the query is of, and of how many values.
	SumOf(agg int) (Sum, error)
}

// OnlyColumns returns a [Declined] where an aggregate is of an expression, for backends that add
// up columns alone; nil else.
func (q *Query) OnlyColumns() error {
	if i := slices.IndexFunc(q.Aggs, func(a expr.Aggregate) bool { return a.X != nil }); i >= 0 {
		return &Declined{Why: q.Aggs[i].String() + " is of an expression: compute adds it up itself, cpu above the rows that any backend selects"}
	}
	return nil
}

// ofSums reports an aggregation of all rows that can be had from columns, from sums of these
// and from sums of their products.
func (a *Aggregate) ofSums() bool {
	return len(a.Keys) == 0 && len(a.Aggs) > 0 && !slices.ContainsFunc(a.Aggs, func(g expr.Aggregate) bool { return !g.OfColumn() && !ofSum(g) })
}

// ofSum reports SUM, AVG or COUNT of an integer or DECIMAL that + - * make from columns.
func ofSum(g expr.Aggregate) bool {
	if g.Kind != expr.Sum && g.Kind != expr.Avg && g.Kind != expr.Count || g.X == nil || g.Distinct || g.Filter != nil {
		return false
	}
	ok := len(expr.Columns(g.X)) > 0
	expr.Walk(g.X, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Column, *expr.Neg, *expr.Cast:
		case *expr.Const:
			ok = ok && !e.V.Null
		case *expr.Arith:
			ok = ok && (e.Op == expr.Add || e.Op == expr.Sub || e.Op == expr.Mul)
		default:
			ok = false
		}
		ok = ok && e.Type().IsExact()
	})
	return ok
}

// lowerSums finds the sums of expressions of every chunk. It is a [Declined] where one may
// have an error in some record, or multiplies more than [MostFactors] columns.
func (q *Query) lowerSums() error {
	for i, c := range q.Table.Chunks {
		sums := make([]*CodeSum, len(q.Aggs))
		for k, a := range q.Aggs {
			if a.X == nil {
				continue
			}
			if sums[k] = codeSum(a, q.Table, c); sums[k] == nil {
				return &Declined{Why: a.String() + fmt.Sprintf(" is not a sum of products of up to %d columns that fit 64 bits in every record", MostFactors)}
			}
			q.Chunks[i].Sums = sums
		}
	}
	return nil
}

// codeSum is nil where there is none.
func codeSum(a expr.Aggregate, t *table.Table, c *table.Chunk) *CodeSum {
	out := &CodeSum{Cols: expr.Columns(a.X)}
	l := &lowerer{t: t, c: c, forms: map[formKey]*Pred{}, leaves: map[expr.Expr]*leafForms{}, ranges: map[*expr.Between]*expr.And{},
		vals: map[expr.Expr]*value{}, ranks: map[[2]int][2]*value{}}
	var x *value
	if !ofSum(a) || refused(func() { l.checkColumns(a.X); x = l.val(a.X) }) != nil {
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
