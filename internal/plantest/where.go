package plantest

import (
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Where draws a condition over the columns of tab.
func Where(t *rapid.T, tab *table.Table, k Knobs) expr.Expr {
	g := &gen{t: t, tab: tab, k: k}
	return g.condition(k.Depth)
}

// Query draws a condition and some aggregates over tab.
func Query(t *rapid.T, tab *table.Table, k Knobs) *plan.Fragment {
	q := &plan.Fragment{Table: tab.Name}
	if uniform(t, "has where", 5) > 0 {
		q.Where = Where(t, tab, k)
	}
	for range 1 + uniform(t, "aggregates", 4) {
		q.Aggs = append(q.Aggs, aggregate(t, tab, k))
	}
	return q
}

func aggregate(t *rapid.T, tab *table.Table, k Knobs) expr.Aggregate {
	col := uniform(t, "aggregate column", len(tab.Fields))
	f := tab.Fields[col]
	kinds := []expr.AggKind{expr.CountAll, expr.Count, expr.Percentile, expr.KthLargest, expr.KthSmallest, expr.Selectivity}
	if !k.SQL || f.Type.Kind != table.Boolean {
		kinds = append(kinds, expr.Min, expr.Max)
	}
	if f.Type.IsNumeric() {
		kinds = append(kinds, expr.Sum, expr.Avg)
	}
	a := expr.Aggregate{Kind: oneOf(t, "aggregate", kinds), Col: col, Name: f.Name, Arg: f.Type, P: -1}
	switch a.Kind {
	case expr.CountAll, expr.Selectivity:
		a.Col, a.Name, a.Arg = -1, "", table.Type{}
	case expr.Percentile:
		a.F = oneOf(t, "fraction", []float64{0, 0.1, 0.25, 0.5, 0.9, 1})
		a.Desc = rapid.Bool().Draw(t, "desc")
	case expr.KthLargest, expr.KthSmallest:
		a.K = int64(1 + uniform(t, "k", 6))
	}
	return a
}

// gen draws one condition or item.
type gen struct {
	t     *rapid.T
	tab   *table.Table
	k     Knobs
	next  int        // positions tell nodes apart
	shape *rand.Rand // where not nil: draws all but the constants
}

func (g *gen) pos() int { g.next++; return g.next }

// pick draws what belongs to a condition's shape, one of 0..n-1; constants are drawn
// from g.t alone.
func (g *gen) pick(label string, n int) int {
	if g.shape != nil {
		return g.shape.IntN(n)
	}
	return uniform(g.t, label, n)
}

// shaped draws one of the shapes: the same random numbers draw the same, but for its
// constants.
func (g *gen) shaped() expr.Expr {
	s := g.k.Shapes
	g.shape = rand.New(rand.NewPCG(s.Seed, uint64(uniform(g.t, "which shape", s.N))))
	defer func() { g.shape = nil }()
	for {
		if e := g.leaf(); computes(e) && (s.Only == nil || s.Only(e)) {
			return e
		}
	}
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

// arithDepth is how deep arithmetic may nest in a leaf.
func (g *gen) arithDepth() int {
	if g.k.Shapes.N > 0 && g.shape == nil {
		return 0
	}
	return g.k.Arith
}

func (g *gen) condition(depth int) expr.Expr {
	if depth > 0 {
		switch g.pick("junction", 9) {
		case 0, 1:
			return &expr.And{Kids: g.conditions(depth - 1), P: g.pos()}
		case 2, 3:
			return &expr.Or{Kids: g.conditions(depth - 1), P: g.pos()}
		case 4:
			return &expr.Not{X: g.condition(depth - 1), P: g.pos()}
		case 5:
			return &expr.IsTruth{X: g.condition(depth - 1), Want: expr.Truth(g.pick("truth", 3)), Not: g.flip(), P: g.pos()}
		case 6:
			if g.pick("rare", 3) == 0 {
				return &expr.Compare{Op: g.op(), L: g.condition(depth - 1), R: g.condition(depth - 1), P: g.pos()}
			}
		}
	}
	return g.leaf()
}

func (g *gen) conditions(depth int) []expr.Expr {
	var kids []expr.Expr
	for range 2 + g.pick("kids", 3) {
		kids = append(kids, g.condition(depth))
	}
	return kids
}

func (g *gen) flip() bool     { return g.pick("not", 2) == 0 }
func (g *gen) op() expr.CmpOp { return expr.CmpOp(g.pick("operator", 6)) }

// leaf draws a condition without AND, OR or NOT.
func (g *gen) leaf() expr.Expr {
	if g.k.Shapes.N > 0 && g.shape == nil && g.pick("shape", 3) == 0 {
		return g.shaped()
	}
	x := g.operand(g.column(), g.arithDepth())
	kind := x.Type().Kind
	words := kind == table.Varchar || kind == table.Boolean
	if !words && g.pick("left constant", 30) == 0 {
		x = g.constant(x.Type(), false)
	}
	switch choice := g.pick("leaf", 10); {
	case choice == 0:
		return &expr.IsNull{X: x, Not: g.flip(), P: g.pos()}
	case choice == 1:
		in := &expr.In{X: x, Not: g.flip(), P: g.pos()}
		for range 1 + g.pick("list", 9) {
			in.List = append(in.List, g.constant(x.Type(), true))
		}
		return in
	case choice < 4:
		return &expr.Between{X: x, Lo: g.other(x), Hi: g.other(x), Not: g.flip(), P: g.pos()}
	case choice < 7 && kind == table.Varchar:
		pattern := pickOf(g, "pattern", []string{"a%", "%a", "_", "%b%", "a_", "A%", "%", "", "é%", "%\\%", "_\\_"})
		return &expr.Like{X: x, Pattern: pattern, Escape: '\\', Fold: g.flip(), Not: g.flip(), P: g.pos()}
	case choice < 7 && kind == table.Boolean:
		return x
	}
	y := g.other(x)
	if !words && g.pick("swap", 4) == 0 {
		x, y = y, x
	}
	return &expr.Compare{Op: g.op(), L: x, R: y, P: g.pos()}
}

// pickOf is one of a list, as pick draws.
func pickOf[T any](g *gen, label string, list []T) T { return list[g.pick(label, len(list))] }

// other draws something to compare x with: of its kind.
func (g *gen) other(x expr.Expr) expr.Expr {
	if depth := g.arithDepth(); depth > 0 && g.pick("against", 3) == 0 {
		if col, ok := g.columnLike(x.Type()); ok {
			if y := g.operand(col, depth-1); y.Type().Kind == x.Type().Kind {
				return y
			}
		}
	}
	return g.constant(x.Type(), true)
}

func (g *gen) column() *expr.Column { return g.read(g.pick("column", len(g.tab.Fields))) }

func (g *gen) read(i int) *expr.Column {
	return &expr.Column{Index: i, Name: g.tab.Fields[i].Name, T: g.tab.Fields[i].Type, P: g.pos()}
}

// columnLike draws a column whose values can be compared with a type's.
func (g *gen) columnLike(typ table.Type) (*expr.Column, bool) {
	var like []int
	for i, f := range g.tab.Fields {
		if family(f.Type) == family(typ) {
			like = append(like, i)
		}
	}
	if len(like) == 0 {
		return nil, false
	}
	return g.read(pickOf(g, "like column", like)), true
}

func family(t table.Type) table.Kind {
	if t.IsInteger() {
		return table.BigInt
	}
	return t.Kind
}

// constant draws a constant, mostly one that occurs in the table. Its type belongs to the
// shape.
func (g *gen) constant(typ table.Type, mayBeNull bool) *expr.Const {
	v := table.Null(typ)
	if g.pick("from the table", 2) == 0 {
		if col, ok := g.columnLike(typ); ok {
			if typ.IsInteger() {
				typ = table.Wider(typ, col.T) // which holds the column's values
			} else {
				typ = col.T // of its scale
			}
			if len(g.tab.Chunks) > 0 {
				c := oneOf(g.t, "chunk", g.tab.Chunks)
				v = c.Segments[col.Index].Value(uniform(g.t, "row", c.Rows))
			}
		}
	}
	switch {
	case mayBeNull && g.k.Nulls && uniform(g.t, "null constant", 25) == 0:
		v = table.Null(typ)
	case v.Null:
		width := oneOf(g.t, "constant bits", []int{3, 8, 16, 63})
		v = Value(g.t, typ, width, g.k)
	}
	v.Type = typ
	return &expr.Const{V: v, P: g.pos()}
}

// operand draws a value expression that starts from a column; its type may be
// another one.
func (g *gen) operand(x expr.Expr, depth int) expr.Expr {
	if depth <= 0 {
		return x
	}
	typ := x.Type()
	switch choice := g.pick("operand", 8); {
	case choice < 3:
		return x
	case choice == 3 && g.k.Casts:
		return g.operand(g.cast(x), depth-1)
	case choice == 4 && typ.IsNumeric() && (g.k.Errors || g.k.Narrow):
		return &expr.Neg{X: g.operand(x, depth-1), P: g.pos()}
	}
	return g.arith(g.operand(x, depth-1), depth-1)
}

func (g *gen) cast(x expr.Expr) expr.Expr {
	var to, risky []table.Kind
	switch t := x.Type(); {
	case t.IsExact():
		to, risky = []table.Kind{table.Double, table.BigInt, table.Decimal}, []table.Kind{table.SmallInt, table.Integer}
	case t.IsFloat():
		to, risky = []table.Kind{table.Double}, []table.Kind{table.Real, table.BigInt}
	case t.Kind == table.Date:
		to = []table.Kind{table.Timestamp}
	case t.Kind == table.Timestamp:
		to = []table.Kind{table.Date}
	case t.Kind == table.Varchar && !g.k.SQL:
		risky = []table.Kind{table.BigInt}
	}
	if g.k.Errors {
		to = append(to, risky...)
	}
	if to == nil {
		return x
	}
	typ := table.Type{Kind: pickOf(g, "cast to", to)}
	if typ.Kind == table.Decimal {
		typ.Precision = pickOf(g, "precision", []int{18, 18, 9})
		if !g.k.Errors {
			typ.Precision = 18
		}
		typ.Scale = pickOf(g, "scale", []int{0, 2, 3})
	}
	return &expr.Cast{X: x, To: typ, P: g.pos()}
}

// arith draws an operation on x and a constant or a column, with the casts that package
// expr wants.
func (g *gen) arith(x expr.Expr, depth int) expr.Expr {
	typ := x.Type()
	switch {
	case typ.Kind == table.Date:
		days := table.Literal(int64(uniform(g.t, "days", 400) - 100))
		return &expr.Arith{Op: expr.ArithOp(g.pick("add or sub", 2)), L: x, R: &expr.Const{V: days, P: g.pos()}, T: typ, P: g.pos()}
	case typ.Kind == table.Timestamp:
		n := g.constant(table.Type{Kind: table.Interval}, false)
		return &expr.Arith{Op: expr.ArithOp(g.pick("add or sub", 2)), L: x, R: n, T: typ, P: g.pos()}
	case !typ.IsNumeric():
		return x
	}
	var y expr.Expr = g.constant(typ, false)
	if col, ok := g.columnLike(typ); ok && g.flip() {
		y = g.operand(col, depth)
	}
	if g.flip() {
		x, y = y, x
	}
	ops := []expr.ArithOp{expr.Add, expr.Sub, expr.Mul}
	if g.k.Errors {
		ops = append(ops, expr.Div, expr.Mod)
	}
	op := pickOf(g, "arithmetic", ops)
	if typ.IsInteger() && !g.k.Errors { // what does not overflow
		x = &expr.Cast{X: x, To: table.Type{Kind: table.BigInt}, P: g.pos()}
	}
	a, b := x.Type(), y.Type()
	out := table.Wider(a, b) // of integers
	switch {
	case a.Kind == table.Real && b.Kind == table.Real:
		out.Kind = table.Real
	case a.IsFloat() || b.IsFloat():
		out.Kind = table.Double
	case a.Kind == table.Decimal || b.Kind == table.Decimal:
		out = table.Type{Kind: table.Decimal, Precision: 18}
	}
	x, y = g.to(x, out), g.to(y, out)
	switch {
	case out.IsFloat() && op == expr.Mod:
		op = expr.Div
	case out.Kind == table.Decimal && op == expr.Mul:
		out.Scale = a.Scale + b.Scale
	case out.Kind == table.Decimal:
		out.Scale = max(a.Scale, b.Scale)
	}
	if out.Kind == table.Decimal && op == expr.Div {
		out = table.Type{Kind: table.Double}
	}
	return &expr.Arith{Op: op, L: x, R: y, T: out, P: g.pos()}
}

// to casts x to the kind in which it is computed.
func (g *gen) to(x expr.Expr, typ table.Type) expr.Expr {
	if from := x.Type(); from.Kind == typ.Kind || from.IsInteger() && typ.IsInteger() {
		return x
	}
	return &expr.Cast{X: x, To: typ, P: g.pos()}
}

// Item draws an expression over the columns of tab for a select list: a column,
// arithmetic, or a condition.
func Item(t *rapid.T, tab *table.Table, k Knobs) expr.Expr {
	g := &gen{t: t, tab: tab, k: k}
	switch g.pick("item", 5) {
	case 0, 1:
		return g.column()
	case 2:
		return g.condition(1)
	}
	return g.operand(g.column(), 2)
}
