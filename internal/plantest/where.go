package plantest

import (
	"math"

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

type gen struct {
	t    *rapid.T
	tab  *table.Table
	k    Knobs
	next int // positions tell nodes apart
}

func (g *gen) pos() int { g.next++; return g.next }

func (g *gen) pick(label string, n int) int { return uniform(g.t, label, n) }

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

func (g *gen) flip() bool     { return rapid.Bool().Draw(g.t, "not") }
func (g *gen) op() expr.CmpOp { return expr.CmpOp(g.pick("operator", 6)) }

// leaf draws a condition without AND, OR or NOT.
func (g *gen) leaf() expr.Expr {
	if len(g.k.Shapes) > 0 && g.pick("shape", 3) == 0 {
		return g.redrawn(oneOf(g.t, "which shape", g.k.Shapes))
	}
	col := g.column()
	switch col.T.Kind {
	case table.Boolean:
		return g.booleanLeaf(col)
	case table.Varchar:
		return g.stringLeaf(col)
	}
	x := g.operand(col, g.arithDepth())
	if g.pick("left constant", 30) == 0 {
		x = g.constant(x.Type(), false)
	}
	switch g.pick("leaf", 10) {
	case 0:
		return &expr.IsNull{X: x, Not: g.flip(), P: g.pos()}
	case 1:
		in := &expr.In{X: x, Not: g.flip(), P: g.pos()}
		for range 1 + g.pick("list", 7) {
			in.List = append(in.List, g.constant(x.Type(), true))
		}
		return in
	case 2, 3:
		lo, hi := g.other(x), g.other(x)
		return &expr.Between{X: x, Lo: lo, Hi: hi, Not: g.flip(), P: g.pos()}
	}
	y := g.other(x)
	if g.pick("swap", 4) == 0 {
		x, y = y, x
	}
	return &expr.Compare{Op: g.op(), L: x, R: y, P: g.pos()}
}

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

func (g *gen) booleanLeaf(col *expr.Column) expr.Expr {
	switch g.pick("boolean", 5) {
	case 0:
		return &expr.IsNull{X: col, Not: g.flip(), P: g.pos()}
	case 1:
		return &expr.Compare{Op: g.op(), L: col, R: g.constant(col.T, true), P: g.pos()}
	case 2:
		if other, ok := g.columnLike(col.T); ok {
			return &expr.Compare{Op: g.op(), L: col, R: other, P: g.pos()}
		}
	}
	return col
}

func (g *gen) stringLeaf(col *expr.Column) expr.Expr {
	switch g.pick("string", 8) {
	case 0:
		return &expr.IsNull{X: col, Not: g.flip(), P: g.pos()}
	case 1, 2:
		pattern := oneOf(g.t, "pattern", []string{"a%", "%a", "_", "%b%", "a_", "A%", "%", "", "é%", "%\\%", "_\\_"})
		return &expr.Like{X: col, Pattern: pattern, Escape: '\\', Fold: g.flip(), Not: g.flip(), P: g.pos()}
	case 3:
		in := &expr.In{X: col, Not: g.flip(), P: g.pos()}
		for range 1 + g.pick("list", 9) {
			in.List = append(in.List, g.constant(col.T, true))
		}
		return in
	case 4:
		return &expr.Between{X: col, Lo: g.constant(col.T, true), Hi: g.constant(col.T, true), Not: g.flip(), P: g.pos()}
	case 5:
		if other, ok := g.columnLike(col.T); ok && g.arithDepth() > 0 {
			return &expr.Compare{Op: g.op(), L: col, R: other, P: g.pos()}
		}
	case 6:
		if g.k.Casts && g.k.Errors && !g.k.SQL {
			x := &expr.Cast{X: col, To: table.Type{Kind: table.BigInt}, P: g.pos()}
			return &expr.Compare{Op: g.op(), L: x, R: g.constant(x.To, false), P: g.pos()}
		}
	}
	return &expr.Compare{Op: g.op(), L: col, R: g.constant(col.T, true), P: g.pos()}
}

func (g *gen) column() *expr.Column {
	i := g.pick("column", len(g.tab.Fields))
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
	i := oneOf(g.t, "like column", like)
	return &expr.Column{Index: i, Name: g.tab.Fields[i].Name, T: g.tab.Fields[i].Type, P: g.pos()}, true
}

func family(t table.Type) table.Kind {
	if t.IsInteger() {
		return table.BigInt
	}
	return t.Kind
}

// constant draws a constant, mostly one that occurs in the table.
func (g *gen) constant(typ table.Type, mayBeNull bool) *expr.Const {
	if mayBeNull && g.k.Nulls && g.pick("null constant", 25) == 0 {
		return &expr.Const{V: table.Null(typ), P: g.pos()}
	}
	if g.pick("from the table", 2) == 0 {
		if col, ok := g.columnLike(typ); ok && len(g.tab.Chunks) > 0 {
			c := g.tab.Chunks[g.pick("chunk", len(g.tab.Chunks))]
			if v := c.Segments[col.Index].Value(g.pick("row", c.Rows)); !v.Null {
				if v.Type.IsInteger() && typ.IsInteger() {
					v.Type = typ
				}
				return &expr.Const{V: v, P: g.pos()}
			}
		}
	}
	width := oneOf(g.t, "constant bits", []int{3, 8, 16, 63})
	if typ.Kind == table.Interval {
		return &expr.Const{V: table.Value{Type: typ, I: integer(g.t, 45)}, P: g.pos()}
	}
	return &expr.Const{V: Value(g.t, typ, width, g.k), P: g.pos()}
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
	var to []table.Kind
	switch t := x.Type(); {
	case t.IsExact():
		to = []table.Kind{table.Double, table.BigInt, table.Decimal}
		if g.k.Errors {
			to = append(to, table.SmallInt, table.Integer)
		}
	case t.IsFloat():
		to = []table.Kind{table.Double}
		if g.k.Errors {
			to = append(to, table.Real, table.BigInt)
		}
	case t.Kind == table.Date:
		to = []table.Kind{table.Timestamp}
	case t.Kind == table.Timestamp:
		to = []table.Kind{table.Date}
	default:
		return x
	}
	typ := table.Type{Kind: oneOf(g.t, "cast to", to)}
	if typ.Kind == table.Decimal {
		typ.Precision = oneOf(g.t, "precision", []int{18, 18, 9})
		if !g.k.Errors {
			typ.Precision = 18
		}
		typ.Scale = oneOf(g.t, "scale", []int{0, 2, 3})
	}
	return &expr.Cast{X: x, To: typ, P: g.pos()}
}

// arith draws an operation on x and a constant or a column.
func (g *gen) arith(x expr.Expr, depth int) expr.Expr {
	typ := x.Type()
	switch {
	case typ.Kind == table.Date:
		return &expr.Arith{Op: expr.ArithOp(g.pick("add or sub", 2)), L: x, R: g.days(), T: typ, P: g.pos()}
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
	return g.typedArith(x, y)
}

// days is what to add to a date.
func (g *gen) days() *expr.Const {
	return &expr.Const{V: table.Int(int64(g.pick("days", 400) - 100)), P: g.pos()}
}

// typedArith draws an operator for two numbers and casts them as package expr
// wants it.
func (g *gen) typedArith(x, y expr.Expr) expr.Expr {
	ops := []expr.ArithOp{expr.Add, expr.Sub, expr.Mul}
	if g.k.Errors {
		ops = append(ops, expr.Div, expr.Mod)
	}
	op := oneOf(g.t, "arithmetic", ops)
	a, b := x.Type(), y.Type()
	out := table.Type{Kind: table.BigInt}
	switch {
	case a.Kind == table.Real && b.Kind == table.Real:
		out.Kind = table.Real
	case a.IsFloat() || b.IsFloat():
		out.Kind = table.Double
		x, y = g.to(x, out), g.to(y, out)
	case a.Kind == table.Decimal || b.Kind == table.Decimal:
		if a.Kind != table.Decimal {
			x = g.to(x, table.Type{Kind: table.Decimal, Precision: 18})
		}
		if b.Kind != table.Decimal {
			y = g.to(y, table.Type{Kind: table.Decimal, Precision: 18})
		}
		out = table.Type{Kind: table.Decimal, Precision: 18, Scale: max(a.Scale, b.Scale)}
		if op == expr.Mul {
			out.Scale = a.Scale + b.Scale
		}
		if op == expr.Div {
			op = expr.Sub
		}
	}
	if out.IsFloat() && op == expr.Mod {
		op = expr.Div
	}
	return &expr.Arith{Op: op, L: x, R: y, T: out, P: g.pos()}
}

func (g *gen) to(x expr.Expr, typ table.Type) expr.Expr {
	if x.Type().Kind == typ.Kind {
		return x
	}
	if c, ok := x.(*expr.Const); ok && typ.Kind == table.Double && c.V.Type.IsFloat() && !math.IsNaN(c.V.F) {
		return &expr.Const{V: table.Float(c.V.F), P: c.P}
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
