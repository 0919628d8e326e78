package sql

import (
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// compare is l op r, the sides brought to one kind.
func (b *binder) compare(op expr.CmpOp, l, r expr.Expr, pos int) (expr.Expr, error) {
	l, r, err := b.comparable(op.String(), l, r, pos)
	if err != nil {
		return nil, err
	}
	return fold(&expr.Compare{Op: op, L: l, R: r, P: pos}), nil
}

// comparable brings the sides of a comparison to one kind, as PostgreSQL finds the
// operator: unknown takes the other's type, exact numbers stay exact, REAL beside
// any other number becomes DOUBLE PRECISION.
func (b *binder) comparable(op string, l, r expr.Expr, pos int) (expr.Expr, expr.Expr, error) {
	l, r, err := b.adapt(l, r)
	if err != nil {
		return nil, nil, err
	}
	if l, err = b.settle(l); err != nil {
		return nil, nil, err
	}
	if r, err = b.settle(r); err != nil {
		return nil, nil, err
	}
	switch lt, rt := l.Type(), r.Type(); {
	case lt.IsNumeric() && rt.IsNumeric():
		t := commonNumber(lt, rt)
		if l, err = widen(l, t); err == nil {
			r, err = widen(r, t)
		}
	case isTime(lt) && lt.Kind != rt.Kind && isTime(rt):
		return timestamps(l, r)
	case lt.Kind != rt.Kind:
		return nil, nil, noOperator(op, lt, rt, pos)
	}
	return l, r, err
}

// between is x >= lo AND x <= hi. PostgreSQL types the two comparisons apart; they
// are one [expr.Between] where that gives x, not a constant, one type.
func (b *binder) between(n *pg.A_Expr) (expr.Expr, error) {
	pos := b.pos(int(n.Location))
	bounds := n.Rexpr.GetList().GetItems()
	if len(bounds) != 2 {
		return nil, expr.Errorf(pos, "BETWEEN needs two bounds")
	}
	e, err := b.exprs(n.Lexpr, bounds[0], bounds[1])
	if err != nil {
		return nil, err
	}
	not := n.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN || n.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM
	if n.Kind == pg.A_Expr_Kind_AEXPR_BETWEEN || n.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		return b.range_(e[0], e[1], e[2], not, pos)
	}
	// SYMMETRIC: between the two in either order.
	if err := b.copies(1, pos, e...); err != nil {
		return nil, err
	}
	up, err := b.range_(e[0], e[1], e[2], not, pos)
	if err != nil {
		return nil, err
	}
	down, err := b.range_(e[0], e[2], e[1], not, pos)
	if err != nil {
		return nil, err
	}
	if one, ok := inOrder(up, down); ok {
		return one, nil
	}
	if not {
		return and([]expr.Expr{up, down}, pos), nil
	}
	return or([]expr.Expr{up, down}, pos), nil
}

// maxCopies is how many nodes a statement may gain by rewriting.
const maxCopies = 1 << 18

// copies accounts for n more occurrences of es in the tree: nested rewriting that
// doubles its operands would make a short text huge.
func (b *binder) copies(n, pos int, es ...expr.Expr) error {
	for _, e := range es {
		b.copied = min(b.copied+min(b.size(e), maxCopies)*n, 2*maxCopies)
	}
	if b.copied > maxCopies {
		return expr.Errorf(pos, "the expression is too complex")
	}
	return nil
}

// size counts the nodes of e as its text has them, shared ones each time.
func (b *binder) size(e expr.Expr) int {
	n, ok := b.sizes[e]
	if !ok {
		n = 1
		for _, k := range expr.Kids(e) {
			n = min(n+b.size(k), maxCopies)
		}
		b.sizes[e] = n
	}
	return n
}

// inOrder picks the one of two opposite ranges whose bounds are constants in
// ascending order: the other is empty.
func inOrder(up, down expr.Expr) (expr.Expr, bool) {
	u, ok := up.(*expr.Between)
	if !ok {
		return nil, false
	}
	lo, ok1 := u.Lo.(*expr.Const)
	hi, ok2 := u.Hi.(*expr.Const)
	if !ok1 || !ok2 || lo.V.Null || hi.V.Null {
		return nil, false
	}
	if table.Compare(lo.V, hi.V) <= 0 {
		return up, true
	}
	return down, true
}

func (b *binder) range_(x, lo, hi expr.Expr, not bool, pos int) (expr.Expr, error) {
	ge, le := expr.GE, expr.LE
	xl, lo, err := b.comparable(ge.String(), x, lo, pos)
	if err != nil {
		return nil, err
	}
	xh, hi, err := b.comparable(le.String(), x, hi, pos)
	if err != nil {
		return nil, err
	}
	if xl.Type() == xh.Type() && !isConstant(xl) {
		return fold(&expr.Between{X: xl, Lo: lo, Hi: hi, Not: not, P: pos}), nil
	}
	if err := b.copies(1, pos, x); err != nil {
		return nil, err
	}
	both := and
	if not {
		ge, le, both = ge.Not(), le.Not(), or
	}
	return both([]expr.Expr{
		fold(&expr.Compare{Op: ge, L: xl, R: lo, P: pos}),
		fold(&expr.Compare{Op: le, L: xh, R: hi, P: pos}),
	}, pos), nil
}

// in is x IN (list): the constants of the list as one [expr.In] when there are two or
// more, of one common type with x; all else is compared one by one.
func (b *binder) in(n *pg.A_Expr) (expr.Expr, error) {
	pos := b.pos(int(n.Location))
	not := lastName(n.Name) == "<>"
	x, err := b.expr(n.Lexpr)
	if err != nil {
		return nil, err
	}
	var constants, others []expr.Expr
	for _, k := range n.Rexpr.GetList().GetItems() {
		e, err := b.expr(k)
		switch {
		case err != nil:
			return nil, err
		case isConstant(e):
			constants = append(constants, e)
		default:
			others = append(others, e)
		}
	}
	var kids []expr.Expr
	if len(constants) > 1 {
		e, err := b.inConstants(x, constants, not, pos)
		if err != nil {
			return nil, err
		}
		kids = append(kids, e)
	} else {
		others = append(constants, others...)
	}
	op := expr.EQ
	if not {
		op = expr.NE
	}
	if err := b.copies(len(others), pos, x); err != nil {
		return nil, err
	}
	for _, o := range others {
		e, err := b.compare(op, x, o, pos)
		if err != nil {
			return nil, err
		}
		kids = append(kids, e)
	}
	if not {
		return and(kids, pos), nil
	}
	return or(kids, pos), nil
}

// inConstants brings x and the constants to the common type of them all:
// numbers to the widest (REAL counts as wider than NUMERIC), dates to timestamps
// where one is.
func (b *binder) inConstants(x expr.Expr, list []expr.Expr, not bool, pos int) (expr.Expr, error) {
	t := x.Type()
	for _, c := range list {
		if isUnknown(c) {
			continue
		}
		ct := c.Type()
		switch {
		case t.Kind == table.Unknown:
			t = ct
		case t.IsNumeric() && ct.IsNumeric():
			t = widerNumber(t, ct)
		case isTime(t) && isTime(ct):
			if ct.Kind == table.Timestamp {
				t = ct
			}
		case t.Kind != ct.Kind:
			return nil, noOperator("=", t, ct, pos)
		}
	}
	if t.Kind == table.Unknown {
		t.Kind = table.Varchar
	}
	in := &expr.In{Not: not, P: pos}
	var err error
	if in.X, err = b.bring(x, t); err != nil {
		return nil, err
	}
	for _, c := range list {
		if c, err = b.bring(c, t); err != nil {
			return nil, err
		}
		k, ok := c.(*expr.Const)
		if !ok {
			return nil, expr.Errorf(c.Pos(), "this value does not fit type %s", typeName(t))
		}
		in.List = append(in.List, k)
	}
	return fold(in), nil
}

// distinct is l IS [NOT] DISTINCT FROM r, written with what there is:
// (l = r) IS TRUE where r is a constant, else also both of them NULL.
func (b *binder) distinct(n *pg.A_Expr) (expr.Expr, error) {
	pos := b.pos(int(n.Location))
	e, err := b.exprs(n.Lexpr, n.Rexpr)
	if err != nil {
		return nil, err
	}
	l, r, err := b.comparable("=", e[0], e[1], pos)
	if err != nil {
		return nil, err
	}
	distinct := n.Kind == pg.A_Expr_Kind_AEXPR_DISTINCT
	if isConstant(l) {
		l, r = r, l
	}
	if c, ok := r.(*expr.Const); ok && c.V.Null {
		return fold(&expr.IsNull{X: l, Not: distinct, P: pos}), nil
	}
	equal := fold(&expr.Compare{Op: expr.EQ, L: l, R: r, P: pos})
	if isConstant(r) {
		return fold(&expr.IsTruth{X: equal, Want: expr.IsTrue, Not: distinct, P: pos}), nil
	}
	if err := b.copies(1, pos, l, r); err != nil {
		return nil, err
	}
	both := and([]expr.Expr{&expr.IsNull{X: l, P: pos}, &expr.IsNull{X: r, P: pos}}, pos)
	same := or([]expr.Expr{&expr.IsTruth{X: equal, Want: expr.IsTrue, P: pos}, both}, pos)
	if distinct {
		return fold(&expr.Not{X: same, P: pos}), nil
	}
	return same, nil
}

// like is x [NOT] LIKE or ILIKE a constant pattern.
func (b *binder) like(n *pg.A_Expr) (expr.Expr, error) {
	pos := b.pos(int(n.Location))
	op := lastName(n.Name)
	e := &expr.Like{Escape: '\\', P: pos}
	e.Fold = n.Kind == pg.A_Expr_Kind_AEXPR_ILIKE
	e.Not = op[0] == '!'
	what := "LIKE"
	if e.Fold {
		what = "ILIKE"
	}
	pattern := n.Rexpr
	if f := pattern.GetFuncCall(); f != nil && lastName(f.Funcname) == "like_escape" && len(f.Args) == 2 {
		pattern = f.Args[0]
		s, null, err := b.text(f.Args[1], "ESCAPE")
		if err != nil {
			return nil, err
		}
		if null || utf8.RuneCountInString(s) > 1 {
			return nil, expr.Errorf(pos, "invalid escape string: it must be empty or one character")
		}
		e.Escape = 0
		for _, r := range s {
			e.Escape = r
		}
	}
	var err error
	if e.X, err = b.expr(n.Lexpr); err != nil {
		return nil, err
	}
	if isUnknown(e.X) {
		if e.X, err = b.coerce(e.X, varchar); err != nil {
			return nil, err
		}
	}
	if e.X.Type().Kind != table.Varchar {
		return nil, noOperator(what, e.X.Type(), varchar, pos)
	}
	var null bool
	if e.Pattern, null, err = b.text(pattern, what); err != nil {
		return nil, err
	}
	if null {
		return &expr.Const{V: table.Null(boolean), P: pos}, nil
	}
	if _, err := expr.CompileLike(e.Pattern, e.Escape, e.Fold); err != nil {
		return nil, expr.Errorf(pos, "%s", err)
	}
	return fold(e), nil
}

// text binds a constant string.
func (b *binder) text(n *pg.Node, of string) (s string, null bool, err error) {
	e, err := b.expr(n)
	if err != nil {
		return "", false, err
	}
	if isUnknown(e) {
		if e, err = b.coerce(e, varchar); err != nil {
			return "", false, err
		}
	}
	if e.Type().Kind != table.Varchar {
		return "", false, expr.Errorf(e.Pos(), "%s takes a text, not a value of type %s", of, typeName(e.Type()))
	}
	c, ok := e.(*expr.Const)
	if !ok {
		return "", false, expr.Errorf(e.Pos(), "%s takes a constant here; a column is not supported", of)
	}
	return c.V.S, c.V.Null, nil
}
