package expr

import (
	"cmp"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Case is CASE WHEN condition THEN value ... ELSE value END; its arguments come in this order.
// Coalesce is COALESCE. Both evaluate no more than they need.
var (
	Case = &Function{Name: "case", Repeat: true, form: cases, lazy: evalCase,
		typed: func(args []Expr) table.Type { return args[1].Type() }}
	Coalesce = &Function{Name: "coalesce", Repeat: true, Params: []table.Type{Any}, lazy: evalCoalesce, typed: first}
	Greatest = &Function{Name: "greatest", Repeat: true, Params: []table.Type{Any}, nulls: true, typed: first, kernel: extremes(GT),
		eval: func(a args) (table.Value, error) { return extreme(a, GT), nil }}
	Least = &Function{Name: "least", Repeat: true, Params: []table.Type{Any}, nulls: true, typed: first, kernel: extremes(LT),
		eval: func(a args) (table.Value, error) { return extreme(a, LT), nil }}
	// Single is the second argument, of a subquery that gave as many rows as the first one says: more than one are an error.
	Single = &Function{Name: "single", Params: []table.Type{{Kind: table.BigInt}, Any}, Raises: true, nulls: true,
		typed: func(args []Expr) table.Type { return args[1].Type() },
		eval: func(a args) (table.Value, error) {
			if a.v[0].I > 1 {
				return a.failAs(sqlstate.CardinalityViolation, "more than one row returned by a subquery used as an expression")
			}
			return a.v[1], nil
		}}
)

// first is the type of the first argument.
func first(args []Expr) table.Type { return args[0].Type() }

func evalCase(c *Call, operand func(i int) (table.Value, error)) (table.Value, error) {
	for i := 0; i+1 < len(c.Args); i += 2 {
		when, err := operand(i)
		if err != nil {
			return when, err
		}
		if !when.Null && when.I != 0 {
			return operand(i + 1)
		}
	}
	if len(c.Args)%2 == 1 {
		return operand(len(c.Args) - 1)
	}
	return table.Null(c.T), nil
}

func evalCoalesce(c *Call, operand func(i int) (table.Value, error)) (v table.Value, err error) {
	for i := range c.Args {
		if v, err = operand(i); err != nil || !v.Null {
			break
		}
	}
	return v, err
}

// extremes is extreme of values of one type.
func extremes(op CmpOp) func(e *Call) kernel {
	return func(e *Call) kernel {
		for _, a := range e.Args {
			if t := a.Type(); t.Kind != e.T.Kind && !(t.IsInteger() && e.T.IsInteger()) || t.Scale != e.T.Scale {
				return kernel{}
			}
		}
		return kernel{whole: true, run: func(v []Vector, out Vector) (Vector, bool) {
			for k := range v {
				if v[k].Valid != nil || v[k].Spans != nil {
					return extremeOfSome(op, v, out)
				}
			}
			for k := range v {
				switch {
				case k == 0:
					copy(out.Floats, v[0].Floats)
					copy(out.Texts, v[0].Texts)
					copy(out.Ints, v[0].Ints)
				case out.Floats != nil:
					extremeFloats(op, out.Floats, v[k].Floats)
				case out.Texts != nil:
					extremeOrdered(op, out.Texts, v[k].Texts)
				default:
					extremeOrdered(op, out.Ints, v[k].Ints)
				}
			}
			return out, true
		}}
	}
}

// extremeOrdered leaves the larger or the smaller of two values in the first.
func extremeOrdered[T int64 | string](op CmpOp, best, list []T) {
	list = list[:len(best)]
	if op == GT {
		for i, x := range best {
			best[i] = max(x, list[i])
		}
		return
	}
	for i, x := range best {
		best[i] = min(x, list[i])
	}
}

// extremeFloats is extremeOrdered of doubles: of equal ones, such as 0 and -0, the first, and NaN is above all others.
func extremeFloats(op CmpOp, best, list []float64) {
	list = list[:len(best)]
	if op == GT {
		for i, x := range best {
			if y := list[i]; y > x || y != y {
				best[i] = y
			}
		}
		return
	}
	for i, x := range best {
		if y := list[i]; y < x || x != x {
			best[i] = y
		}
	}
}

// extremeOfSome is the extreme of operands of which some are NULL, or intervals.
func extremeOfSome(op CmpOp, v []Vector, out Vector) (Vector, bool) {
	for i := range out.Len() {
		best := -1
		for k := range v {
			if v[k].IsNull(i) {
				continue
			}
			if best < 0 || op.Holds(compareAt(&v[k], &v[best], i)) {
				best = k
			}
		}
		if best < 0 {
			out.SetNull(i)
			continue
		}
		out.take(i, &v[best], i)
	}
	return out, true
}

// compareAt compares two vectors in a row.
func compareAt(x, y *Vector, i int) int {
	switch {
	case x.Floats != nil:
		return table.CompareFloat(x.Floats[i], y.Floats[i])
	case x.Texts != nil:
		return cmp.Compare(x.Texts[i], y.Texts[i])
	}
	return cmp.Compare(x.Ints[i], y.Ints[i])
}

// extreme is the value that compares so with all others; NULLs count only where there is
// nothing else.
func extreme(a args, op CmpOp) table.Value {
	best := table.Null(a.T)
	for _, v := range a.v {
		if !v.Null && (best.Null || op.Holds(table.Compare(v, best))) {
			best = v
		}
	}
	return best
}
