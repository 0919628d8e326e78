package sql

import (
	"cmp"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// expr binds any expression. A string literal or NULL comes back as a [*expr.Const] of
// type unknown, an interval constant as a [*span]; who uses it gives it its type.
func (b *binder) expr(n *pg.Node) (expr.Expr, error) {
	switch n := n.GetNode().(type) {
	case *pg.Node_AConst:
		return b.literal(n.AConst)
	case *pg.Node_ColumnRef:
		return b.column(n.ColumnRef)
	case *pg.Node_TypeCast:
		return b.typeCast(n.TypeCast)
	case *pg.Node_AExpr:
		return b.operation(n.AExpr)
	case *pg.Node_BoolExpr:
		return b.boolExpr(n.BoolExpr)
	case *pg.Node_NullTest:
		return b.nullTest(n.NullTest)
	case *pg.Node_BooleanTest:
		return b.truthTest(n.BooleanTest)
	case *pg.Node_CollateClause:
		return b.collate(n.CollateClause)
	case *pg.Node_FuncCall:
		return b.call(n.FuncCall)
	case *pg.Node_ParamRef:
		return b.param(n.ParamRef)
	}
	what, loc := unsupported(n)
	return nil, b.errorf(loc, "%s is not supported", what)
}

// exprs binds operands, left to right.
func (b *binder) exprs(nodes ...*pg.Node) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(nodes))
	for i, n := range nodes {
		var err error
		if out[i], err = b.expr(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// refused names the kinds of expressions that are refused, by the grammar's names of them.
var refused = map[string]string{
	"case_expr": "CASE", "coalesce_expr": "COALESCE", "row_expr": "a row of values", "a_array_expr": "ARRAY",
	"grouping_func": "GROUPING", "named_arg_expr": "a named argument", "set_to_default": "DEFAULT",
	"xml_expr": "XML", "xml_serialize": "XMLSERIALIZE", "json_object_constructor": "JSON_OBJECT",
	"json_array_constructor": "JSON_ARRAY", "json_is_predicate": "IS JSON", "json_func_expr": "a JSON function",
	"sub_link": "a subquery",
}

// unsupported names a kind of expression that is refused, and where it stands.
func unsupported(n *pg.Node) (what string, loc int) {
	switch n := n.GetNode().(type) {
	case *pg.Node_AIndirection:
		_, loc := unsupported(n.AIndirection.Arg)
		return "a subscript or a field of a value", loc
	case *pg.Node_MinMaxExpr:
		what = strings.TrimPrefix(n.MinMaxExpr.Op.String(), "IS_")
	case *pg.Node_SqlvalueFunction:
		what = strings.TrimSuffix(strings.TrimPrefix(n.SqlvalueFunction.Op.String(), "SVFOP_"), "_N")
	case *pg.Node_SubLink:
		if n.SubLink.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK {
			what = "EXISTS"
		}
	}
	m := n.ProtoReflect()
	kind := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	if kind == nil {
		return "this expression", 0
	}
	inner := m.Get(kind).Message()
	if at := inner.Descriptor().Fields().ByName("location"); at != nil {
		loc = int(inner.Get(at).Int())
	}
	return cmp.Or(what, refused[string(kind.Name())], "this expression"), loc
}

// operation binds an operator or what the grammar turns into one.
func (b *binder) operation(n *pg.A_Expr) (expr.Expr, error) {
	loc := int(n.Location)
	if n.Kind == pg.A_Expr_Kind_AEXPR_OP && (len(n.Name) != 1 || n.Lexpr == nil) {
		return b.prefix(n)
	}
	switch n.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return b.infix(n)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return b.distinct(n)
	case pg.A_Expr_Kind_AEXPR_IN:
		return b.in(n)
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		return b.like(n)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return b.between(n)
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		return nil, b.errorf(loc, "SIMILAR TO is not supported; there is LIKE")
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return nil, b.errorf(loc, "NULLIF is not supported")
	case pg.A_Expr_Kind_AEXPR_OP_ANY:
		return nil, b.errorf(loc, "ANY is not supported; there is IN")
	case pg.A_Expr_Kind_AEXPR_OP_ALL:
		return nil, b.errorf(loc, "ALL is not supported")
	}
	return nil, b.errorf(loc, "this operator is not supported")
}

// prefix binds + and - before an operand, and refuses schema-qualified operators.
func (b *binder) prefix(n *pg.A_Expr) (expr.Expr, error) {
	loc := int(n.Location)
	op := lastName(n.Name)
	if len(n.Name) != 1 {
		return nil, b.errorf(loc, "OPERATOR() is not supported; write %s", op)
	}
	if op != "-" && op != "+" {
		return nil, b.errorf(loc, "operator %s is not supported", op)
	}
	x, err := b.expr(n.Rexpr)
	if err != nil {
		return nil, err
	}
	return b.sign(op, x, b.pos(loc))
}

var compareOps = map[string]expr.CmpOp{
	"<": expr.LT, "<=": expr.LE, "=": expr.EQ, "<>": expr.NE, ">=": expr.GE, ">": expr.GT,
}

var arithOps = map[string]expr.ArithOp{
	"+": expr.Add, "-": expr.Sub, "*": expr.Mul, "/": expr.Div, "%": expr.Mod,
}

func (b *binder) infix(n *pg.A_Expr) (expr.Expr, error) {
	loc, op := int(n.Location), lastName(n.Name)
	order, compares := compareOps[op]
	ar, computes := arithOps[op]
	if !compares && !computes {
		return nil, b.errorf(loc, "operator %s is not supported", op)
	}
	e, err := b.exprs(n.Lexpr, n.Rexpr)
	switch {
	case err != nil:
		return nil, err
	case compares:
		return b.compare(order, e[0], e[1], b.pos(loc))
	}
	return b.arith(ar, e[0], e[1], b.pos(loc))
}

// boolean binds n, which must be of type boolean: an operand of AND and the like,
// or the WHERE clause.
func (b *binder) boolean(n *pg.Node, of string) (expr.Expr, error) {
	e, err := b.expr(n)
	if err != nil {
		return nil, err
	}
	if isUnknown(e) {
		return b.coerce(e, boolean)
	}
	if k := e.Type().Kind; k != table.Boolean {
		return nil, expr.Errorf(e.Pos(), "argument of %s must be type boolean, not type %s", of, typeName(e.Type()))
	}
	return e, nil
}

func (b *binder) boolExpr(n *pg.BoolExpr) (expr.Expr, error) {
	pos := b.pos(int(n.Location))
	word := strings.TrimSuffix(n.Boolop.String(), "_EXPR")
	var kids []expr.Expr
	for _, a := range n.Args {
		e, err := b.boolean(a, word)
		if err != nil {
			return nil, err
		}
		kids = append(kids, e)
	}
	switch n.Boolop {
	case pg.BoolExprType_AND_EXPR:
		return and(kids, pos), nil
	case pg.BoolExprType_OR_EXPR:
		return or(kids, pos), nil
	}
	return fold(&expr.Not{X: kids[0], P: pos}), nil
}

func (b *binder) nullTest(n *pg.NullTest) (expr.Expr, error) {
	x, err := b.expr(n.Arg)
	if err != nil {
		return nil, err
	}
	if x, err = b.settle(x); err != nil {
		return nil, err
	}
	not := n.Nulltesttype == pg.NullTestType_IS_NOT_NULL
	return fold(&expr.IsNull{X: x, Not: not, P: b.pos(int(n.Location))}), nil
}

func (b *binder) truthTest(n *pg.BooleanTest) (expr.Expr, error) {
	t := &expr.IsTruth{P: b.pos(int(n.Location))}
	switch n.Booltesttype {
	case pg.BoolTestType_IS_NOT_TRUE, pg.BoolTestType_IS_NOT_FALSE, pg.BoolTestType_IS_NOT_UNKNOWN:
		t.Not = true
	}
	switch n.Booltesttype {
	case pg.BoolTestType_IS_FALSE, pg.BoolTestType_IS_NOT_FALSE:
		t.Want = expr.IsFalse
	case pg.BoolTestType_IS_UNKNOWN, pg.BoolTestType_IS_NOT_UNKNOWN:
		t.Want = expr.IsUnknown
	}
	words := strings.ReplaceAll(n.Booltesttype.String(), "_", " ")
	var err error
	if t.X, err = b.boolean(n.Arg, words); err != nil {
		return nil, err
	}
	return fold(t), nil
}

// collate takes COLLATE "C", the order strings have anyway.
func (b *binder) collate(n *pg.CollateClause) (expr.Expr, error) {
	loc := int(n.Location)
	if c := lastName(n.Collname); c != "C" && c != "POSIX" {
		return nil, b.errorf(loc, "collation %q is not supported; strings compare by bytes, COLLATE \"C\"", c)
	}
	x, err := b.expr(n.Arg)
	if err != nil {
		return nil, err
	}
	if isUnknown(x) {
		return b.coerce(x, varchar)
	}
	if x.Type().Kind != table.Varchar {
		return nil, b.errorf(loc, "collations are not supported by type %s", typeName(x.Type()))
	}
	return x, nil
}
