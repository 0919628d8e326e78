package lower

import (
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// monotonicity says how a value moves as its one column grows, within one of [monotonePieces].
type monotonicity struct {
	dir  int  // 1 rises (or stays), -1 falls (or stays), 0 has no column
	ok   bool // false: neither
	pure bool // nothing was ever added to the column: 0 stays 0, signs stay apart
}

var notMonotone = monotonicity{}

func (t monotonicity) negated() monotonicity {
	t.dir = -t.dir
	return t
}

// isMonotone reports whether the outcome of e, over one column, is monotone
// within each of [monotonePieces].
func isMonotone(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Compare:
		a, b := monotonicityOf(e.L), monotonicityOf(e.R)
		return a.ok && b.ok && a.dir*b.dir != 1
	case *expr.In:
		return monotonicityOf(e.X).ok
	case *expr.Arith, *expr.Neg, *expr.Cast, *expr.Call:
		return monotonicityOf(e).ok
	}
	return false
}

// monotonicityOf follows operations for which growing operands give growing results. If such an operation
// fails at one value (by an overflow or underflow), it fails all the way to one end of the piece.
func monotonicityOf(e expr.Expr) monotonicity {
	switch e := e.(type) {
	case *expr.Column:
		return monotonicity{dir: 1, ok: true, pure: true}
	case *expr.Const:
		return monotonicity{ok: true}
	case *expr.Neg:
		return monotonicityOf(e.X).negated()
	case *expr.Cast:
		return castMonotonicity(e, monotonicityOf(e.X))
	case *expr.Call:
		return callMonotonicity(e)
	case *expr.Arith:
		return arithMonotonicity(e)
	}
	return notMonotone
}

func castMonotonicity(e *expr.Cast, x monotonicity) monotonicity {
	from, to := e.X.Type(), e.To
	switch {
	case x.dir == 0:
		_, err := expr.Eval(e, nil)
		return monotonicity{ok: err == nil}
	case to.Kind == table.Boolean && from.IsInteger():
		return notMonotone // FALSE at 0 alone, TRUE on both sides of it
	case from.Kind == table.Varchar || to.Kind == table.Varchar:
		if from.Kind == to.Kind {
			return x
		}
		return notMonotone
	case to.Kind == table.Real && from.Kind == table.Double && !x.pure:
		return notMonotone // a value that underflows may lie anywhere
	case to.IsExact() && (from.IsFloat() || to.Scale < from.Scale):
		x.pure = false // others become 0 too
	}
	return x
}

func callMonotonicity(e *expr.Call) monotonicity {
	if len(expr.Columns(e)) == 0 {
		_, err := expr.Eval(e, nil)
		return monotonicity{ok: err == nil}
	}
	arg := e.Rises()
	for i, a := range e.Args {
		if (i == arg) != (len(expr.Columns(a)) > 0) {
			return notMonotone
		}
	}
	x := monotonicityOf(e.Args[arg])
	x.pure = false
	return x
}

func arithMonotonicity(e *expr.Arith) monotonicity {
	a, b := monotonicityOf(e.L), monotonicityOf(e.R)
	switch {
	case !a.ok || !b.ok || a.dir != 0 && b.dir != 0:
		return notMonotone
	case a.dir == 0 && b.dir == 0:
		_, err := expr.Eval(e, nil)
		return monotonicity{ok: err == nil}
	}
	x, constant := a, e.R
	if a.dir == 0 {
		x, constant = b, e.L
	}
	v, err := expr.Eval(constant, nil)
	if err != nil || v.Null || v.Type.IsFloat() && (math.IsNaN(v.F) || math.IsInf(v.F, 0)) {
		return notMonotone
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
			return notMonotone
		}
	case expr.Div:
		if sign == 0 || a.dir == 0 || v.Big != nil || e.T.IsFloat() && math.Abs(v.F) > 1 && !x.pure {
			return notMonotone
		}
		x.pure = x.pure && e.T.IsFloat()
	default:
		return notMonotone
	}
	if sign < 0 {
		return x.negated()
	}
	return x
}
