package sql

import (
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// compare is l op r, the sides brought to one kind.
func compare(op expr.CmpOp, l, r expr.Expr, pos int) expr.Expr {
	l, r = comparable(op.String(), l, r, pos)
	return fold(&expr.Compare{Op: op, L: l, R: r, P: pos})
}

// comparable brings the sides of a comparison to one kind, as PostgreSQL finds the operator. unknown takes
// the other's type (two are texts). Exact numbers stay exact. REAL beside any other number becomes DOUBLE
// PRECISION.
func comparable(op string, l, r expr.Expr, pos int) (expr.Expr, expr.Expr) {
	sides, _ := common(op, commonNumber, pos, l, r)
	return sides[0], sides[1]
}

// common brings operands to the type t of them all: two numbers to the one that number
// tells, dates to timestamps where one is.
func common(op string, number func(l, r table.Type) table.Type, pos int, list ...expr.Expr) (out []expr.Expr, t table.Type) {
	besideNumbers(number, list...)
	for _, e := range list {
		switch et := e.Type(); {
		case et.Kind == table.Unknown:
		case t.Kind == table.Unknown:
			t = et
		case t.IsNumeric() && et.IsNumeric():
			t = number(t, et)
		case isTime(t) && isTime(et):
			if et.Kind == table.Timestamp {
				t = et
			}
		case t.Kind != et.Kind:
			panic(noOperator(op, t, et, pos))
		}
	}
	if t.Kind == table.Unknown {
		t = varchar
	}
	for _, e := range list {
		if e = asText(coerce(e, t)); t.IsNumeric() {
			e = widen(e, t)
		} else {
			e = convert(e, t, e.Pos())
		}
		out = append(out, e)
	}
	return out, t
}

// between is x >= lo AND x <= hi. PostgreSQL types the two comparisons apart; they
// are one [expr.Between] where that gives x, not a constant, one type.
func (b *binder) between(n *pg.A_Expr) expr.Expr {
	pos := b.pos(int(n.Location))
	bounds := n.Rexpr.GetList().GetItems()
	if len(bounds) != 2 {
		panic(expr.Coded(sqlstate.SyntaxError, pos, "BETWEEN needs two bounds"))
	}
	x, lo, hi := b.expr(n.Lexpr), b.expr(bounds[0]), b.expr(bounds[1])
	not := n.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN || n.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM
	if n.Kind == pg.A_Expr_Kind_AEXPR_BETWEEN || n.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		return b.range_(x, lo, hi, not, pos)
	}
	// SYMMETRIC: between the two in either order.
	b.copies(1, pos, x, lo, hi)
	up, down := b.range_(x, lo, hi, not, pos), b.range_(x, hi, lo, not, pos)
	if u, ok := up.(*expr.Between); ok { // of constants in ascending order, the other range is empty
		lo, ok1 := u.Lo.(*expr.Const)
		hi, ok2 := u.Hi.(*expr.Const)
		switch {
		case !ok1 || !ok2 || lo.V.Null || hi.V.Null:
		case table.Compare(lo.V, hi.V) <= 0:
			return up
		default:
			return down
		}
	}
	return junction([]expr.Expr{up, down}, not, pos)
}

// maxCopies is how many nodes a statement may gain by rewriting.
const maxCopies = 1 << 18

// copies accounts for n more occurrences of es in the tree: nested rewriting that
// doubles its operands would make a short text huge.
func (b *binder) copies(n, pos int, es ...expr.Expr) {
	for _, e := range es {
		b.copied = min(b.copied+min(b.size(e), maxCopies)*n, 2*maxCopies)
	}
	if b.copied > maxCopies {
		panic(expr.Coded(sqlstate.StatementTooComplex, pos, "the expression is too complex"))
	}
}

// size counts the nodes of e as its text has them, shared ones each time.
func (b *binder) size(e expr.Expr) int {
	n, ok := b.sizes[e]
	if !ok {
		n = 1
		if r, ok := e.(*expr.AggRef); ok && r.Key != nil {
			n = b.size(r.Key)
		}
		for _, k := range expr.Kids(e) {
			n = min(n+b.size(k), maxCopies)
		}
		b.sizes[e] = n
	}
	return n
}

// range_ is x >= lo AND x <= hi, or NOT that.
func (b *binder) range_(x, lo, hi expr.Expr, not bool, pos int) expr.Expr {
	ge, le := expr.GE, expr.LE
	xl, lo := comparable(ge.String(), x, lo, pos)
	xh, hi := comparable(le.String(), x, hi, pos)
	if xl.Type() == xh.Type() && !isConstant(xl) {
		return fold(&expr.Between{X: xl, Lo: lo, Hi: hi, Not: not, P: pos})
	}
	b.copies(1, pos, x)
	if not {
		ge, le = ge.Not(), le.Not()
	}
	return junction([]expr.Expr{
		fold(&expr.Compare{Op: ge, L: xl, R: lo, P: pos}),
		fold(&expr.Compare{Op: le, L: xh, R: hi, P: pos}),
	}, !not, pos)
}

// in is x IN (list).
func (b *binder) in(n *pg.A_Expr) expr.Expr {
	op := compareOps[lastName(n.Name)]
	if rowOf(n.Lexpr) != nil {
		return b.rowIn(n, op)
	}
	return b.inList(b.expr(n.Lexpr), b.all(n.Rexpr.GetList().GetItems()), op == expr.NE, b.pos(int(n.Location)))
}

// inList makes one [expr.In] of the constants of the list when there are two or more, of one common type with
// x. It compares all other items one by one.
func (b *binder) inList(x expr.Expr, list []expr.Expr, not bool, pos int) expr.Expr {
	var constants, others, kids []expr.Expr
	for _, e := range list {
		if isConstant(e) {
			constants = append(constants, e)
		} else {
			others = append(others, e)
		}
	}
	if len(constants) > 1 {
		kids = append(kids, inConstants(x, constants, not, pos))
	} else {
		others = append(constants, others...)
	}
	op := expr.EQ
	if not {
		op = expr.NE
	}
	b.copies(len(others), pos, x)
	for _, o := range others {
		kids = append(kids, compare(op, x, o, pos))
	}
	return junction(kids, not, pos)
}

// inConstants is x IN constants, all of their common type: numbers of the widest, for
// which REAL counts as wider than NUMERIC.
func inConstants(x expr.Expr, list []expr.Expr, not bool, pos int) expr.Expr {
	all, t := common("=", widerNumber, pos, append([]expr.Expr{x}, list...)...)
	in := &expr.In{X: all[0], Not: not, P: pos}
	for _, c := range all[1:] {
		k, ok := c.(*expr.Const)
		if !ok {
			panic(expr.Coded(sqlstate.DatatypeMismatch, c.Pos(), "this value does not fit type %s", typeName(t)))
		}
		in.List = append(in.List, k)
	}
	return fold(in)
}

// distinct is l IS [NOT] DISTINCT FROM r; rows are compared value by value. It becomes (l = r) IS TRUE where
// r is a constant. Otherwise it is also true where both are NULL.
func (b *binder) distinct(n *pg.A_Expr) expr.Expr {
	pos, distinct := b.pos(int(n.Location)), n.Kind == pg.A_Expr_Kind_AEXPR_DISTINCT
	if rowOf(n.Lexpr) == nil && rowOf(n.Rexpr) == nil {
		return b.distinctFrom(b.expr(n.Lexpr), b.expr(n.Rexpr), distinct, pos)
	}
	l, r := b.rowPair(n.Lexpr, n.Rexpr, pos)
	var kids []expr.Expr
	for i := range l {
		kids = append(kids, b.distinctFrom(l[i], r[i], distinct, pos))
	}
	return junction(kids, !distinct, pos)
}

func (b *binder) distinctFrom(l, r expr.Expr, distinct bool, pos int) expr.Expr {
	l, r = comparable("=", l, r, pos)
	if isConstant(l) {
		l, r = r, l
	}
	if c, ok := r.(*expr.Const); ok && c.V.Null {
		return fold(&expr.IsNull{X: l, Not: distinct, P: pos})
	}
	equal := fold(&expr.Compare{Op: expr.EQ, L: l, R: r, P: pos})
	if isConstant(r) {
		return fold(&expr.IsTruth{X: equal, Want: expr.IsTrue, Not: distinct, P: pos})
	}
	b.copies(1, pos, l, r)
	both := junction([]expr.Expr{&expr.IsNull{X: l, P: pos}, &expr.IsNull{X: r, P: pos}}, true, pos)
	same := junction([]expr.Expr{&expr.IsTruth{X: equal, Want: expr.IsTrue, P: pos}, both}, false, pos)
	if distinct {
		return fold(&expr.Not{X: same, P: pos})
	}
	return same
}

// like is x [NOT] LIKE or ILIKE a pattern.
func (b *binder) like(n *pg.A_Expr) expr.Expr {
	pos := b.pos(int(n.Location))
	what := strings.TrimPrefix(n.Kind.String(), "AEXPR_") // LIKE or ILIKE
	e := &expr.Like{Escape: '\\', Fold: what == "ILIKE", Not: lastName(n.Name)[0] == '!', P: pos}
	right := n.Rexpr
	if f := right.GetFuncCall(); f != nil && lastName(f.Funcname) == "like_escape" && len(f.Args) == 2 {
		right = f.Args[0]
		s := b.text(f.Args[1], "ESCAPE").V
		if s.Null || utf8.RuneCountInString(s.S) > 1 {
			panic(expr.Coded(sqlstate.InvalidEscapeSequence, pos, "invalid escape string: it must be empty or one character"))
		}
		e.Escape = 0
		for _, r := range s.S {
			e.Escape = r
		}
	}
	e.X = coerce(b.expr(n.Lexpr), varchar)
	if e.X.Type().Kind != table.Varchar {
		panic(noOperator(what, e.X.Type(), varchar, pos))
	}
	pattern := coerce(b.expr(right), varchar)
	if !isConstant(pattern) && e.Escape == '\\' {
		return b.operatorOf(lastName(n.Name), int(n.Location), e.X, pattern)
	}
	s := b.text(right, what).V
	if s.Null {
		return &expr.Const{V: table.Null(boolean), P: pos}
	}
	e.Pattern = s.S
	if _, err := match.CompileLike(e.Pattern, e.Escape, e.Fold); err != nil {
		panic(expr.ErrorAt(pos, err))
	}
	return fold(e)
}

func (b *binder) text(n *pg.Node, of string) *expr.Const {
	e := coerce(b.expr(n), varchar)
	if e.Type().Kind != table.Varchar {
		panic(expr.Coded(sqlstate.UndefinedFunction, e.Pos(), "%s takes a text, not a value of type %s", of, typeName(e.Type())))
	}
	c, ok := e.(*expr.Const)
	if !ok {
		panic(expr.Coded(sqlstate.FeatureNotSupported, e.Pos(), "%s takes a constant here; a column is not supported", of))
	}
	return c
}
