package expr

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/table"
)

// Vector is the values of an expression in some rows, one a row; only one of the first three
// is not nil.
type Vector struct {
	Floats []float64    // REAL and DOUBLE PRECISION
	Texts  []string     // VARCHAR
	Ints   []int64      // all other types, as in [table.Value]; of intervals also the months, 30 days each
	Highs  []int64      // the upper halves of DECIMALs of 128 bits, whose lower halves are Ints; nil where 64 bits do
	Valid  []byte       // one bit a row, set for a value; nil where no row is NULL
	Spans  []table.Span // those of intervals; nil where no interval has one
	arena  *Arena       // that it is in
}

// Len is the number of rows.
func (x *Vector) Len() int { return max(len(x.Floats), len(x.Texts), len(x.Ints)) }

// IsNull reports that row i is NULL.
func (x *Vector) IsNull(i int) bool { return x.Valid != nil && x.Valid[i/8]>>(i%8)&1 == 0 }

// SetNull makes row i NULL.
func (x *Vector) SetNull(i int) {
	if x.Valid == nil {
		x.Valid = make([]byte, (x.Len()+7)/8)
		for k := range x.Valid {
			x.Valid[k] = 0xff
		}
	}
	x.Valid[i/8] &^= 1 << (i % 8)
}

// Cut is the first n rows.
func (x Vector) Cut(n int) Vector {
	x.Floats, x.Texts, x.Ints = x.Floats[:min(n, len(x.Floats))], x.Texts[:min(n, len(x.Texts))], x.Ints[:min(n, len(x.Ints))]
	return x
}

// Value is that of row i, of a type.
func (x *Vector) Value(i int, t table.Type) table.Value {
	switch {
	case x.IsNull(i):
		return table.Null(t)
	case x.Floats != nil:
		return table.Value{Type: t, F: x.Floats[i]}
	case x.Texts != nil:
		return table.Value{Type: t, S: x.Texts[i]}
	case x.Highs != nil:
		u := new(big.Int).Lsh(big.NewInt(x.Highs[i]), 64)
		return table.Dec(t, u.Or(u, new(big.Int).SetUint64(uint64(x.Ints[i]))))
	case x.Spans != nil:
		return table.IntervalValue(x.Ints[i], x.Spans[i])
	}
	return table.Value{Type: t, I: x.Ints[i]}
}

// Put makes a value, which is not NULL, that of row i. It reports that 64 bits have room for it.
func (x *Vector) Put(i int, v table.Value) bool {
	switch {
	case x.Floats != nil:
		x.Floats[i] = v.F
	case x.Texts != nil:
		x.Texts[i] = v.S
	case v.Type.Kind == table.Interval:
		return x.putInterval(i, intervalValue{v.I, v.Span})
	default:
		x.Ints[i] = v.I
	}
	return v.Big == nil
}

// putInterval makes an interval that of row i. It reports that 64 bits have room for it.
func (x *Vector) putInterval(i int, v intervalValue) bool {
	if x.Ints[i] = v.us; v.Span == (table.Span{}) {
		return true
	}
	if x.Spans == nil {
		x.Spans = make([]table.Span, len(x.Ints))
	}
	x.Spans[i] = v.Span
	all, fits, _ := IntOp(Add, v.us, int64(v.Months)*table.MicrosPerMonth)
	x.Ints[i] = all
	return fits
}

// take makes value i of another vector, which is not NULL, that of row p.
func (x *Vector) take(p int, o *Vector, i int) {
	switch {
	case x.Floats != nil:
		x.Floats[p] = o.Floats[i]
	case x.Texts != nil:
		x.Texts[p] = o.Texts[i]
	default:
		x.Ints[p] = o.Ints[i]
		if o.Spans != nil {
			if x.Spans == nil {
				x.Spans = make([]table.Span, len(x.Ints))
			}
			x.Spans[p] = o.Spans[i]
		}
	}
}

// Room is room for n values of a type.
func Room(t table.Type, n int) Vector { return (*Arena)(nil).cleared(t, n) }

// nulls is n times NULL.
func (a *Arena) nulls(t table.Type, n int) Vector {
	x := a.cleared(t, n)
	x.Valid = make([]byte, (n+7)/8)
	return x
}

// constant is a value in n rows.
func (a *Arena) constant(c table.Value, n int) (x Vector, ok bool) {
	switch {
	case c.Null:
		return a.nulls(c.Type, n), true
	case c.Big != nil:
		return x, false
	}
	x = a.room(c.Type, n)
	switch {
	case x.Floats != nil:
		fill(x.Floats, c.F)
	case x.Texts != nil:
		fill(x.Texts, c.S)
	case c.Type.Kind == table.Interval:
		if n == 0 || !x.Put(0, c) {
			return x, n == 0
		}
		fill(x.Ints, x.Ints[0])
		fill(x.Spans, c.Span)
	default:
		fill(x.Ints, c.I)
	}
	return x, true
}

func fill[T any](list []T, x T) {
	for i := range list {
		list[i] = x
	}
}

// Both is the rows that are valid in two vectors.
func Both(a, b []byte) []byte {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	out := make([]byte, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] & b[i]
	}
	return out
}

// widest has the bits that some of integers have beside their sign.
func widest(list []int64) (all uint64) {
	for _, x := range list {
		all |= uint64(x ^ x>>63)
	}
	return all
}

// within reports that an integer type holds all values, also those that NULLs hide.
func (x *Vector) within(t table.Type) bool {
	_, most := t.Limits()
	return widest(x.Ints) <= uint64(most)
}

// intervalValue is an INTERVAL: the microseconds of its days and its time, and what it has beside them.
type intervalValue struct {
	us int64
	table.Span
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// vectors computes expressions of some rows.
type vectors struct{ rows Source }

// Compute computes an expression in loops over vectors. ok is false where a row raises an error, and where one has an integer of
// more than 64 bits on the way. [Eval] says then what becomes of which row.
func Compute(e Expr, rows Source) (x Vector, ok bool) { return vectors{rows}.of(e) }

func (v vectors) of(e Expr) (x Vector, ok bool) {
	switch e := e.(type) {
	case *Column:
		return v.rows.Column(e.Index), true
	case *Const:
		return v.rows.Memory().constant(e.V, v.rows.Len())
	case *Neg:
		return v.negated(e)
	case *Arith:
		return v.arith(e)
	case *Call:
		if e.Fn == Case || e.Fn == Coalesce {
			if x, ok := v.rows.Once(e, func(rows Source) (Vector, bool) { return vectors{rows}.choice(e) }); ok {
				return x, true
			}
			return v.choice(e)
		}
	case *Cast:
		if k, ok := plainCast(e); ok {
			return v.kernel(e, k, []Expr{e.X})
		}
	case *And, *Or, *Not, *Between, *IsNull, *IsTruth:
		return v.truth(e)
	case *Compare:
		if e.L.Type().Kind != table.Varchar {
			return v.compare(e)
		}
	}
	once := func(rows Source) (Vector, bool) { return vectors{rows}.each(e) }
	if x, ok := v.rows.Once(e, once); ok {
		return x, true
	}
	return v.each(e)
}

// each computes what takes longer than to look it up.
func (v vectors) each(e Expr) (x Vector, ok bool) {
	switch e := e.(type) {
	case *Compare:
		return v.compare(e)
	case *Cast:
		return v.kernel(e, castKernel(e), []Expr{e.X})
	case *Call:
		return v.call(e)
	case *In:
		return v.kernel(e, inKernel(e), []Expr{e.X})
	case *Like:
		return v.kernel(e, likeKernel(e), []Expr{e.X})
	}
	return x, false
}

// kernel computes an operation of operands.
func (v vectors) kernel(e Expr, k kernel, operands []Expr) (x Vector, ok bool) {
	n := v.rows.Len()
	list := make([]Vector, len(operands))
	for i, o := range operands {
		if k.reads != nil && !k.reads[i] {
			continue
		}
		if list[i], ok = v.of(o); !ok {
			return x, false
		}
	}
	if k.whole {
		return k.run(list, v.rows.Memory().room(e.Type(), n))
	}
	return k.run(list, v.rows.Memory().cleared(e.Type(), n))
}

// call computes a function.
func (v vectors) call(e *Call) (x Vector, ok bool) {
	if e.Fn.lazy != nil {
		return x, false
	}
	if e.Fn.kernel != nil {
		if k := e.Fn.kernel(e); k.run != nil {
			if k.reads != nil { // the others are constants, of which one may be NULL
				for i, a := range e.Args {
					if c, ok := a.(*Const); ok && !k.reads[i] && c.V.Null {
						return v.rows.Memory().nulls(e.T, v.rows.Len()), true
					}
				}
			}
			return v.kernel(e, k, e.Args)
		}
	}
	return v.kernel(e, evaluated(e), e.Args)
}

func (v vectors) negated(e *Neg) (x Vector, ok bool) {
	x, ok = v.of(e.X)
	switch {
	case !ok || e.Type().Kind == table.Interval:
		return x, false
	case x.Floats != nil:
		for i, f := range x.Floats {
			x.Floats[i] = -f
		}
		return x, true
	}
	wrong := int64(0)
	for i, k := range x.Ints {
		wrong |= k & -k // below 0 of the smallest alone
		x.Ints[i] = -k
	}
	if wrong >= 0 && (!e.Type().IsInteger() || x.within(e.Type())) {
		return x, true
	}
	for i, k := range x.Ints {
		if (k == math.MinInt64 || !e.Type().Holds(k)) && !x.IsNull(i) {
			return x, false
		}
	}
	return x, true
}

// arith computes the operators.
func (v vectors) arith(e *Arith) (x Vector, ok bool) {
	if x, ok = v.of(e.L); !ok {
		return x, false
	}
	y, ok := v.of(e.R)
	l, r := e.L.Type(), e.R.Type()
	switch {
	case !ok || x.Spans != nil || y.Spans != nil || (x.Floats == nil) != (y.Floats == nil):
		return x, false
	case x.Floats != nil:
		return x.floats(e.Op, y, e.T.Kind == table.Real)
	case e.T.IsFloat():
		if l.Scale > 18 || r.Scale > 18 {
			return x, false
		}
		return quotients(e).run([]Vector{x, y}, x.arena.cleared(e.T, x.Len()))
	case e.T.Kind == table.Decimal && e.Op != Mul:
		if x, y, ok = Aligned(x, y, e.T.Scale-l.Scale, e.T.Scale-r.Scale); !ok {
			return x, false
		}
	}
	return x.integers(e.Op, y, e.T)
}

// quotients divides DECIMALs.
func quotients(e *Arith) kernel {
	l, r := e.L.Type(), e.R.Type()
	return of2(0, 1, func(a, b int64) (float64, state) {
		const exact = 1 << 53
		if l.Scale == r.Scale && b != 0 && a <= exact && a >= -exact && b <= exact && b >= -exact {
			return float64(a)/float64(b) + 0, valid
		}
		q, err := quotient(table.Value{Type: l, I: a}, table.Value{Type: r, I: b}, e.T, e.P)
		return q.F, failedIf(err != nil)
	})
}
