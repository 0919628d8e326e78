package plantest

import (
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// DrawShapes draws n conditions with arithmetic, or between columns, over a table
// of the given fields, for [Knobs.Shapes]. The same arguments give the same shapes.
func DrawShapes(fields []table.Field, k Knobs, n, seed int) []expr.Expr {
	k.Shapes = nil
	k.Depth = 0
	tab := &table.Table{Name: "t", Fields: fields}
	leaf := rapid.Custom(func(t *rapid.T) expr.Expr { return Where(t, tab, k) }).Filter(computes)
	var out []expr.Expr
	for i := range n {
		out = append(out, leaf.Example(seed+i))
	}
	return out
}

// computes reports arithmetic, a cast, or more than one column.
func computes(e expr.Expr) bool {
	columns, ops := 0, 0
	expr.Walk(e, func(e expr.Expr) {
		switch e.(type) {
		case *expr.Column:
			columns++
		case *expr.Arith, *expr.Neg, *expr.Cast:
			ops++
		}
	})
	return columns > 1 || columns == 1 && ops > 0
}

// arithDepth is how deep arithmetic may nest in a leaf that is drawn anew.
func (g *gen) arithDepth() int {
	if len(g.k.Shapes) > 0 {
		return 0
	}
	return g.k.Arith
}

// redrawn is a copy of a leaf with other constants of the same types.
func (g *gen) redrawn(e expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Compare:
		return &expr.Compare{Op: e.Op, L: g.side(e.L), R: g.side(e.R), P: g.pos()}
	case *expr.Between:
		return &expr.Between{X: g.side(e.X), Lo: g.side(e.Lo), Hi: g.side(e.Hi), Not: g.flip(), P: g.pos()}
	case *expr.IsNull:
		return &expr.IsNull{X: g.side(e.X), Not: g.flip(), P: g.pos()}
	case *expr.In:
		in := &expr.In{X: g.side(e.X), Not: g.flip(), P: g.pos()}
		for _, c := range e.List {
			in.List = append(in.List, g.constantOf(c.V.Type, true))
		}
		return in
	}
	return e
}

// side is a redrawn operand of a comparison, where a constant may become NULL.
func (g *gen) side(e expr.Expr) expr.Expr {
	if c, ok := e.(*expr.Const); ok {
		return g.constantOf(c.V.Type, true)
	}
	return g.redrawnValue(e)
}

func (g *gen) redrawnValue(e expr.Expr) expr.Expr {
	switch e := e.(type) {
	case *expr.Const:
		return g.constantOf(e.V.Type, false)
	case *expr.Arith:
		if _, constant := e.R.(*expr.Const); constant && e.T.Kind == table.Date {
			return &expr.Arith{Op: e.Op, L: g.redrawnValue(e.L), R: g.days(), T: e.T, P: g.pos()}
		}
		return &expr.Arith{Op: e.Op, L: g.redrawnValue(e.L), R: g.redrawnValue(e.R), T: e.T, P: g.pos()}
	case *expr.Neg:
		return &expr.Neg{X: g.redrawnValue(e.X), P: g.pos()}
	case *expr.Cast:
		return &expr.Cast{X: g.redrawnValue(e.X), To: e.To, P: g.pos()}
	}
	return e
}

// constantOf draws a constant of exactly a type: scale and width are part of a
// shape.
func (g *gen) constantOf(typ table.Type, mayBeNull bool) *expr.Const {
	if c := g.constant(typ, mayBeNull); c.V.Type == typ {
		return c
	}
	return &expr.Const{V: Value(g.t, typ, oneOf(g.t, "constant bits", []int{3, 8, 16}), g.k), P: g.pos()}
}
