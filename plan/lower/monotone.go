package lower

import (
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// trend says how a value moves as its one column grows, within one of [pieces].
type trend struct {
	dir  int  // 1 rises (or stays), -1 falls (or stays), 0 has no column
	ok   bool // false: neither
	pure bool // nothing was ever added to the column: 0 stays 0, signs stay apart
}

var noTrend = trend{}

func (t trend) negated() trend {
	t.dir = -t.dir
	return t
}

// monotoneCondition reports whether the outcome of e, over one column, is monotone
// within each of [pieces].
func monotoneCondition(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Compare:
		a, b := trendOf(e.L), trendOf(e.R)
		return a.ok && b.ok && a.dir*b.dir != 1
	case *expr.In:
		return trendOf(e.X).ok
	case *expr.Arith, *expr.Neg, *expr.Cast, *expr.Call:
		return trendOf(e).ok
	}
	return false
}

// trendOf follows the operations for which growing operands give growing results
// and for which a failure (an overflow, an underflow) at one value means a failure
// all the way to one end of the piece.
func trendOf(e expr.Expr) trend {
	switch e := e.(type) {
	case *expr.Column:
		return trend{dir: 1, ok: true, pure: true}
	case *expr.Const:
		return trend{ok: true}
	case *expr.Neg:
		return trendOf(e.X).negated()
	case *expr.Cast:
		return castTrend(e, trendOf(e.X))
	case *expr.Call:
		return callTrend(e)
	case *expr.Arith:
		return arithTrend(e)
	}
	return noTrend
}

func castTrend(e *expr.Cast, x trend) trend {
	from, to := e.X.Type(), e.To
	switch {
	case x.dir == 0:
		_, err := expr.Eval(e, nil)
		return trend{ok: err == nil}
	case to.Kind == table.Boolean && from.IsInteger():
		return noTrend // FALSE at 0 alone, TRUE on both sides of it
	case from.Kind == table.Varchar || to.Kind == table.Varchar:
		if from.Kind == to.Kind {
			return x
		}
		return noTrend
	case to.Kind == table.Real && from.Kind == table.Double && !x.pure:
		return noTrend // a value that underflows may lie anywhere
	case to.IsExact() && (from.IsFloat() || to.Scale < from.Scale):
		x.pure = false // others become 0 too
	}
	return x
}

func callTrend(e *expr.Call) trend {
	if len(expr.Columns(e)) == 0 {
		_, err := expr.Eval(e, nil)
		return trend{ok: err == nil}
	}
	arg := e.Rises()
	for i, a := range e.Args {
		if (i == arg) != (len(expr.Columns(a)) > 0) {
			return noTrend
		}
	}
	x := trendOf(e.Args[arg])
	x.pure = false
	return x
}

func arithTrend(e *expr.Arith) trend {
	a, b := trendOf(e.L), trendOf(e.R)
	switch {
	case !a.ok || !b.ok || a.dir != 0 && b.dir != 0:
		return noTrend
	case a.dir == 0 && b.dir == 0:
		_, err := expr.Eval(e, nil)
		return trend{ok: err == nil}
	}
	x, constant := a, e.R
	if a.dir == 0 {
		x, constant = b, e.L
	}
	v, err := expr.Eval(constant, nil)
	if err != nil || v.Null || v.Type.IsFloat() && (math.IsNaN(v.F) || math.IsInf(v.F, 0)) {
		return noTrend
	}
	sign := v.Unscaled().Sign()
	if v.Type.IsFloat() {
		sign = table.CompareFloat(v.F, 0)
	}
	switch e.Op {
	case expr.Add:
		x.pure = false
		return x
	case expr.Sub:
		x.pure = false
		if a.dir == 0 {
			return x.negated()
		}
		return x
	case expr.Mul:
		if sign == 0 || e.T.IsFloat() && math.Abs(v.F) < 1 && !x.pure {
			return noTrend
		}
	case expr.Div:
		if sign == 0 || a.dir == 0 || v.Big != nil || e.T.IsFloat() && math.Abs(v.F) > 1 && !x.pure {
			return noTrend
		}
		x.pure = x.pure && e.T.IsFloat()
	default:
		return noTrend
	}
	if sign < 0 {
		return x.negated()
	}
	return x
}
