package lower

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// computedLeaf lowers a comparison that no binary search answers.
func (l *lowerer) computedLeaf(e *expr.Compare) *leafTests {
	x := &leafTests{t: predicate.Never, f: predicate.Never, u: l.or(l.null(e.L, true), l.null(e.R, true))}
	var a, b *value
	if e.L.Type().Kind == table.Varchar {
		a, b = l.commonRanks(e)
	} else {
		a, b = l.val(e.L), l.val(e.R)
	}
	if a.never || b.never {
		return x
	}
	if a.v.Float != b.v.Float {
		panic(unsupported(e))
	}
	x.t = l.compareScaled(e.Op, a, b, e.String())
	x.f = l.compareScaled(e.Op.Not(), a, b, negatedText(e))
	return x
}

// commonRanks are the two columns of text that a comparison has: of every dictionary
// entry its rank among the entries of both.
func (l *lowerer) commonRanks(e *expr.Compare) (*value, *value) {
	a, okA := e.L.(*expr.Column)
	b, okB := e.R.(*expr.Column)
	if !okA || !okB {
		panic(unsupported(e))
	}
	if l.seg(a.Index).NonNull() == 0 || l.seg(b.Index).NonNull() == 0 {
		return noValue(), noValue()
	}
	x, y := l.seg(a.Index).Dict, l.seg(b.Index).Dict
	of := func(c *expr.Column, dict, other []string) *value {
		t := make([]uint32, len(dict))
		shared, j := 0, 0 // entries of other that are in dict too, and that come before
		for i, s := range dict {
			for j < len(other) && other[j] < s {
				j++
			}
			t[i] = uint32(i + j - shared)
			if j < len(other) && other[j] == s {
				shared++
			}
		}
		v := &predicate.Val{Op: predicate.Lookup, Column: c.Index, Name: l.name(c.Index), Table: t}
		v.Lo, v.Hi = big.NewInt(int64(t[0])), big.NewInt(int64(t[len(t)-1]))
		return &value{v: v}
	}
	both := memoize(l.ranks, [2]int{a.Index, b.Index}, func() [2]*value { return [2]*value{of(a, x, y), of(b, y, x)} })
	return both[0], both[1]
}

// compareScaled compares two values, DECIMALs of different scales among them.
//
// Where bringing a to the scale of b might not fit 64 bits, b is divided. With b = q*k + r, a*k < b is a < q
// OR (a = q AND 0 < r).
func (l *lowerer) compareScaled(op expr.CmpOp, a, b *value, text string) *predicate.Pred {
	if a.scale > b.scale {
		return l.compareScaled(op.Swap(), b, a, text)
	}
	if a.v.Float || a.scale == b.scale {
		return l.compareValues(op, a.v, b.v, text)
	}
	k := table.Pow10(b.scale - a.scale)
	if a.v.Op == predicate.Const {
		return l.compareValues(op, constV(new(big.Int).Mul(a.v.Lo, k)), b.v, text)
	}
	q, r := constV(new(big.Int)), b.v // when k is wider than any b
	if k.IsInt64() {
		if m := intOp(predicate.MulV, a.v, constV(k)); !m.CanFail {
			return l.compareValues(op, m, b.v, text)
		}
		q, r = intOp(predicate.DivV, b.v, constV(k)), intOp(predicate.ModV, b.v, constV(k))
	}
	// The parts do not read all the columns.
	cols := (&predicate.Computed{L: a.v, R: b.v}).Columns()
	return l.and(l.compareByQuotient(op, a.v, q, r, text), l.notNullCols(cols))
}

// compareByQuotient is a*k op q*k + r, |r| < k.
func (l *lowerer) compareByQuotient(op expr.CmpOp, a, q, r *predicate.Val, text string) *predicate.Pred {
	zero := constV(new(big.Int))
	cmp := func(op expr.CmpOp, x, y *predicate.Val) *predicate.Pred { return l.compareValues(op, x, y, text) }
	switch op {
	case expr.EQ:
		return l.and(cmp(expr.EQ, a, q), cmp(expr.EQ, r, zero))
	case expr.NE:
		return l.or(cmp(expr.NE, a, q), cmp(expr.NE, r, zero))
	case expr.LT, expr.LE:
		return l.or(cmp(expr.LT, a, q), l.and(cmp(expr.EQ, a, q), cmp(op.Swap(), r, zero)))
	}
	return l.or(cmp(expr.GT, a, q), l.and(cmp(expr.EQ, a, q), cmp(op.Swap(), r, zero)))
}

// compareValues is a op b, in the simplest shape that gives the same for every record.
func (l *lowerer) compareValues(op expr.CmpOp, a, b *predicate.Val, text string) *predicate.Pred {
	cols := (&predicate.Computed{L: a, R: b}).Columns()
	if yes, decided := decide(op, a, b); decided {
		if yes {
			return l.notNullCols(cols)
		}
		return predicate.Never
	}
	if !a.Float && !mayFail(a) && !mayFail(b) {
		if p, ok := l.comparePolynomials(op, a, b, text); ok {
			// A column that cancelled out must still not be NULL.
			return l.and(p, l.notNullCols(cols))
		}
	}
	return predicate.NewLeaf(&predicate.Computed{Op: op, L: a, R: b, Shape: predicate.Expression, Text: text})
}

func (l *lowerer) notNullCols(cols []int) *predicate.Pred {
	ps := xslices.Map(cols, func(c int) *predicate.Pred { return l.nullTest(c, false) })
	return l.and(ps...)
}

func mayFail(v *predicate.Val) bool { return v.CanFail || slices.ContainsFunc(v.Kids, mayFail) }

// decide compares the intervals of two values: is a op b the same for all?
func decide(op expr.CmpOp, a, b *predicate.Val) (yes, decided bool) {
	var least, most int // signs of the difference a - b
	if a.Float {
		if a.MayNaN || b.MayNaN {
			return false, false
		}
		least, most = cmp.Compare(a.FLo, b.FHi), cmp.Compare(a.FHi, b.FLo)
	} else {
		al, ah := clip(a)
		bl, bh := clip(b)
		least, most = al.Cmp(bh), ah.Cmp(bl)
	}
	yes = op.Holds(least)
	for sign := least + 1; sign <= most; sign++ {
		if op.Holds(sign) != yes {
			return false, false
		}
	}
	return yes, true
}
