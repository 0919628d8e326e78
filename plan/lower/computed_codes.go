package lower

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// ComputedCodes are the codes of an expression in the records of a chunk, which a device makes of the codes of columns. They order as the
// values do.
type ComputedCodes struct {
	// Val is a value whose result in a record, as an ordinal, less Base is the code. It is nil where the expression is NULL in all
	// records.
	Val  *predicate.Val
	Base uint64
	Max  uint64 // no code is larger
	// Cols are the columns that the expression reads. Where one of them is NULL, it is NULL.
	Cols []int
	// Nulls says that it is NULL in other records, too: their code is 0, and that of the smallest value is 1.
	Nulls bool
	// Scale is, of a DECIMAL, the power of ten that its values are multiplied by.
	Scale int
	// Ranked says that codes are ranks among the values of the chunk, which mean nothing beside those of another.
	Ranked bool
	// MayFail says that a record may raise an error, of which the code means nothing.
	MayFail bool
}

// Bits is the width of Max.
func (m *ComputedCodes) Bits() int { return bits.Len64(m.Max) }

// ComputeCodes says how codes of an expression are made in a chunk of a table: by arithmetic, or by a table of results. A table
// serves an expression over one column of few codes. Else, and where one of these codes raises an error, it is a
// [plan.Declined].
func ComputeCodes(e expr.Expr, t *table.Table, c *table.Chunk) (*ComputedCodes, error) {
	l := newLowerer(t, c)
	m := &ComputedCodes{Cols: expr.Columns(e)}
	var v *value
	err := catchUnsupported(func() {
		l.checkColumns(e)
		v = l.val(e)
	})
	if err != nil {
		if len(m.Cols) == 1 && c.Segments[m.Cols[0]] != nil {
			return l.tabulated(m, e)
		}
		return nil, &plan.Declined{Why: "compute has no program for " + e.String() + ", which reads more than one column"}
	}
	for _, x := range l.vals {
		m.MayFail = m.MayFail || len(x.fails) > 0
	}
	if v.never {
		return m, nil
	}
	m.Scale = v.scale
	return m.withRange(v.v), nil
}

// withRange is m with the codes of a value.
func (m *ComputedCodes) withRange(v *predicate.Val) *ComputedCodes {
	if m.Val = v; v.Float {
		m.Base, m.Max = table.OrdinalFloat64(v.FLo), table.OrdinalFloat64(v.FHi)
		if v.MayNaN {
			m.Max = table.NaNOrdinal64
		}
		if m.Max -= m.Base; !(v.FLo <= v.FHi) { // it is NaN wherever it is not NULL
			m.Base, m.Max = 0, math.MaxUint64
		}
		return m
	}
	lo, hi := clip(v)
	m.Base, m.Max = table.OrdinalInt(lo.Int64()), uint64(hi.Int64()-lo.Int64())
	return m
}

// tabulated is m with a table of the codes of an expression of one column, which is evaluated for each code of the column.
func (l *lowerer) tabulated(m *ComputedCodes, e expr.Expr) (*ComputedCodes, error) {
	seg := l.seg(m.Cols[0])
	if seg.Nulls > 0 {
		x, err := expr.Eval(e, &expr.Env{Column: func(int) table.Value { return table.Null(seg.Type) }})
		if err != nil || !x.Null {
			return nil, &plan.Declined{Why: "of NULL " + e.String() + " is a value: cpu computes it"}
		}
	}
	if seg.NonNull() == 0 {
		return m, nil
	}
	if seg.Max >= maxEnumerated {
		return nil, &plan.Declined{Why: "compute has no program for " + e.String() + ", and " + l.name(m.Cols[0]) + " has many values to list it of"}
	}
	if col := m.Cols[0]; seg.NegativeZeros != nil {
		at := expr.At(e, zerosOf(col, seg.Type), false)
		x, err := at(0)
		y, not := at(1)
		if err != nil || not != nil || x.Null != y.Null || !x.Null && table.Compare(x, y) != 0 {
			return nil, &plan.Declined{Why: e.String() + " tells -0 from 0, which have one code: cpu computes it"}
		}
	}
	all, ok := expr.Compute(e, expr.CodesOf(seg, 0, int(seg.Max)+1, false, nil))
	if !ok {
		return nil, &plan.Declined{Why: "a row may raise an error in " + e.String() + ": cpu finds it"}
	}
	codes, distinct := int(seg.Max)+1, []table.Value(nil)
	for code := range codes {
		x := all.Value(code, e.Type())
		if x.Null {
			m.Nulls = true
		} else if n := len(distinct); n == 0 || table.Compare(x, distinct[n-1]) != 0 { // neighbours often have one value
			distinct = append(distinct, x)
		}
	}
	slices.SortFunc(distinct, table.Compare)
	distinct = slices.CompactFunc(distinct, func(a, b table.Value) bool { return table.Compare(a, b) == 0 })
	if len(distinct) == 0 {
		return m, nil
	}
	first, last, null := distinct[0].I, distinct[len(distinct)-1].I, uint32(0)
	if m.Nulls {
		null = 1 // below which is the code of NULL
	}
	// Integers are codes themselves, others ranks.
	m.Ranked = !e.Type().IsInteger() || first == math.MinInt64 || uint64(last-first) >= math.MaxInt32
	of, most := &predicate.Val{Op: predicate.Lookup, Column: m.Cols[0], Name: l.name(m.Cols[0]), Table: make([]uint32, codes), Lo: new(big.Int)}, uint32(0)
	for code := range codes {
		x := all.Value(code, e.Type())
		if x.Null {
			continue
		}
		n := uint32(x.I - first)
		if m.Ranked {
			rank, _ := slices.BinarySearchFunc(distinct, x, table.Compare)
			n = uint32(rank)
		}
		of.Table[code], most = n+null, max(most, n+null)
	}
	of.Hi = big.NewInt(int64(most))
	if !m.Ranked {
		of = intOp(predicate.AddV, of, constV(big.NewInt(first-int64(null))))
	}
	return m.withRange(of), nil
}

// MayRaise reports that a record of a chunk may raise an error in an expression, by the smallest and the largest values of its columns. An
// expression for which a device has no program may raise one.
func MayRaise(e expr.Expr, t *table.Table, c *table.Chunk) bool {
	if !plan.RaisesWhileJoining(e) {
		return false
	}
	l := newLowerer(t, c)
	err := catchUnsupported(func() {
		l.checkColumns(e)
		l.val(e)
	})
	for _, x := range l.vals {
		if len(x.fails) > 0 {
			return true
		}
	}
	return err != nil
}
