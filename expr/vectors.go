package expr

import (
	"math"

	"github.com/stencildb/stencildb/table"
)

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
