package expr

import "slices"

// Kids returns the operands of e, left to right.
func Kids(e Expr) []Expr {
	switch e := e.(type) {
	case *Arith:
		return []Expr{e.L, e.R}
	case *Neg:
		return []Expr{e.X}
	case *Cast:
		return []Expr{e.X}
	case *Compare:
		return []Expr{e.L, e.R}
	case *And:
		return e.Kids
	case *Or:
		return e.Kids
	case *Not:
		return []Expr{e.X}
	case *Between:
		return []Expr{e.X, e.Lo, e.Hi}
	case *IsNull:
		return []Expr{e.X}
	case *IsTruth:
		return []Expr{e.X}
	case *In:
		return []Expr{e.X}
	case *Like:
		return []Expr{e.X}
	case *Call:
		return e.Args
	}
	return nil
}

// Walk calls f for e and all below it, parents first, left to right.
func Walk(e Expr, f func(Expr)) {
	if e == nil {
		return
	}
	f(e)
	for _, k := range Kids(e) {
		Walk(k, f)
	}
}

// Columns lists the field indexes that e reads, ascending, without repetition.
func Columns(e Expr) []int {
	var cols []int
	Walk(e, func(e Expr) {
		if c, ok := e.(*Column); ok {
			cols = append(cols, c.Index)
		}
	})
	slices.Sort(cols)
	return slices.Compact(cols)
}
