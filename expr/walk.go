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

// Moved is e with other columns: at says which column takes the place of each.
func Moved(e Expr, at func(column int) int) Expr {
	list := func(in []Expr) (out []Expr) {
		for _, k := range in {
			out = append(out, Moved(k, at))
		}
		return out
	}
	switch e := e.(type) {
	case *Column:
		c := *e
		c.Index = at(e.Index)
		return &c
	case *Arith:
		return &Arith{e.Op, Moved(e.L, at), Moved(e.R, at), e.T, e.P}
	case *Neg:
		return &Neg{Moved(e.X, at), e.P}
	case *Cast:
		return &Cast{Moved(e.X, at), e.To, e.P}
	case *Compare:
		return &Compare{e.Op, Moved(e.L, at), Moved(e.R, at), e.P}
	case *And:
		return &And{list(e.Kids), e.P}
	case *Or:
		return &Or{list(e.Kids), e.P}
	case *Not:
		return &Not{Moved(e.X, at), e.P}
	case *Between:
		c := *e
		c.X, c.Lo, c.Hi = Moved(e.X, at), Moved(e.Lo, at), Moved(e.Hi, at)
		return &c
	case *IsNull:
		return &IsNull{Moved(e.X, at), e.Not, e.P}
	case *IsTruth:
		return &IsTruth{Moved(e.X, at), e.Want, e.Not, e.P}
	case *In:
		return &In{Moved(e.X, at), e.List, e.Not, e.P}
	case *Like:
		c := *e
		c.X = Moved(e.X, at)
		return &c
	case *Call:
		return &Call{e.Fn, list(e.Args), e.T, e.P}
	}
	return e
}
