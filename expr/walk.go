package expr

import (
	"fmt"
	"github.com/stencildb/stencildb/internal/xslices"
	"slices"
)

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
	case *Window:
		return e.Operands()
	case *Subquery:
		if e.Test != nil {
			return []Expr{e.Test}
		}
	}
	return nil
}

// Walk calls f for e and all below it, parents first, left to right.
func Walk(e Expr, f func(Expr)) {
	if e == nil {
		return
	}
	f(e)
	switch e := e.(type) { // of the most frequent ones no list is made
	case *Column, *Const:
	case *Compare:
		Walk(e.L, f)
		Walk(e.R, f)
	case *Arith:
		Walk(e.L, f)
		Walk(e.R, f)
	case *Between:
		Walk(e.X, f)
		Walk(e.Lo, f)
		Walk(e.Hi, f)
	default:
		for _, k := range Kids(e) {
			Walk(k, f)
		}
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

// Identity is a text that only expressions of the same columns have in common: two columns of a join may have one name.
func Identity(e Expr) string {
	if e == nil {
		return ""
	}
	return e.Type().String() + " " + Map(e, func(e Expr) Expr {
		switch e := e.(type) {
		case *Column:
			return &Column{Name: fmt.Sprint("#", e.Index)}
		case *AggRef:
			return &Column{Name: fmt.Sprint("##", e.Index)}
		case *Outer:
			return &Column{Name: fmt.Sprintf("^%d %s", e.Level, Identity(e.X))}
		}
		return nil
	}).String()
}

// Moved is e with other columns: at says which column takes the place of each.
func Moved(e Expr, at func(column int) int) Expr {
	return Map(e, func(e Expr) Expr {
		if c, ok := e.(*Column); ok {
			moved := *c
			moved.Index = at(c.Index)
			return &moved
		}
		return nil
	})
}

// Map is e with others in the place of the nodes for which f, which sees parents first, gives them. nil leaves
// a node as it is, with what Map makes of its operands.
func Map(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	if out := f(e); out != nil {
		return out
	}
	list := func(in []Expr) (out []Expr) {
		return xslices.Map(in, func(k Expr) Expr { return Map(k, f) })
	}
	switch e := e.(type) {
	case *Arith:
		return &Arith{e.Op, Map(e.L, f), Map(e.R, f), e.T, e.P}
	case *Neg:
		return &Neg{Map(e.X, f), e.P}
	case *Cast:
		return &Cast{Map(e.X, f), e.To, e.P}
	case *Compare:
		return &Compare{e.Op, Map(e.L, f), Map(e.R, f), e.P}
	case *And:
		return &And{list(e.Kids), e.P}
	case *Or:
		return &Or{list(e.Kids), e.P}
	case *Not:
		return &Not{Map(e.X, f), e.P}
	case *Between:
		c := *e
		c.X, c.Lo, c.Hi = Map(e.X, f), Map(e.Lo, f), Map(e.Hi, f)
		return &c
	case *IsNull:
		return &IsNull{Map(e.X, f), e.Not, e.P}
	case *IsTruth:
		return &IsTruth{Map(e.X, f), e.Want, e.Not, e.P}
	case *In:
		return &In{Map(e.X, f), e.List, e.Not, e.P}
	case *Like:
		c := *e
		c.X = Map(e.X, f)
		return &c
	case *Call:
		return &Call{e.Fn, list(e.Args), e.T, e.P}
	case *Window:
		return e.Map(func(k Expr) Expr { return Map(k, f) })
	case *Subquery:
		c := *e
		c.Test = Map(e.Test, f)
		return &c
	}
	return e
}
