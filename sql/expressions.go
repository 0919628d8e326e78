package sql

import (
	"cmp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// expr binds any expression. A string literal or NULL comes back as a [*expr.Const] of
// type unknown; who uses it gives it its type.
func (b *binder) expr(n *pg.Node) expr.Expr {
	before := len(b.loose)
	return b.key(b.node(n), before)
}

func (b *binder) node(n *pg.Node) expr.Expr {
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
	case *pg.Node_GroupingFunc:
		return b.grouping(n.GroupingFunc)
	case *pg.Node_ParamRef:
		return b.param(n.ParamRef)
	case *pg.Node_CaseExpr:
		return b.caseOf(n.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return b.ofOneType(expr.Coalesce, n.CoalesceExpr.Args, n.CoalesceExpr.Location)
	case *pg.Node_SqlvalueFunction:
		if t, ok := clockWords[clockWord(n.SqlvalueFunction)]; ok {
			return b.clock(t, b.pos(int(n.SqlvalueFunction.Location)))
		}
		if text := sessionInformation[strings.ToLower(clockWord(n.SqlvalueFunction))]; text != "" {
			return &expr.Const{V: table.Str(text), P: b.pos(int(n.SqlvalueFunction.Location))}
		}
	case *pg.Node_SubLink:
		return b.subquery(n.SubLink)
	case *pg.Node_MinMaxExpr:
		f := expr.Greatest
		if n.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			f = expr.Least
		}
		return b.ofOneType(f, n.MinMaxExpr.Args, n.MinMaxExpr.Location)
	}
	what, loc := unsupported(n)
	if row := n.GetRowExpr(); row != nil {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "%s is not supported here: write its parts apart, or SELECT DISTINCT a, b for the rows that differ", what))
	}
	panic(b.coded(sqlstate.FeatureNotSupported, loc, "%s is not supported", what))
}

// refused names the kinds of expressions that are refused, by the grammar's names of them.
var refused = map[string]string{
	"row_expr": "a row of values", "a_array_expr": "ARRAY",
	"grouping_func": "GROUPING", "named_arg_expr": "a named argument", "set_to_default": "DEFAULT",
	"xml_expr": "XML", "xml_serialize": "XMLSERIALIZE", "json_object_constructor": "JSON_OBJECT",
	"json_array_constructor": "JSON_ARRAY", "json_is_predicate": "IS JSON", "json_func_expr": "a JSON function",
}

// clockWord is the word of a value that has no parentheses: CURRENT_DATE.
func clockWord(n *pg.SQLValueFunction) string {
	return strings.TrimSuffix(strings.TrimPrefix(n.Op.String(), "SVFOP_"), "_N")
}

// unsupported names a kind of expression that is refused, and where it stands.
func unsupported(n *pg.Node) (what string, loc int) {
	switch n := n.GetNode().(type) {
	case *pg.Node_AIndirection:
		_, loc := unsupported(n.AIndirection.Arg)
		return "a subscript or a field of a value", loc
	case *pg.Node_SqlvalueFunction:
		what = clockWord(n.SqlvalueFunction)
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
func (b *binder) operation(n *pg.A_Expr) expr.Expr {
	loc := int(n.Location)
	if n.Kind == pg.A_Expr_Kind_AEXPR_OP && (len(n.Name) != 1 || n.Lexpr == nil) {
		return b.prefix(n)
	}
	switch n.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		return b.infix(n)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return b.distinct(n)
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return b.nullif(n)
	case pg.A_Expr_Kind_AEXPR_IN:
		return b.in(n)
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		return b.like(n)
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		return b.operator(lastName(n.Name), loc, n.Lexpr, n.Rexpr)
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return b.anyOrAll(n)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return b.between(n)
	}
	panic(b.coded(sqlstate.FeatureNotSupported, loc, "this operator is not supported"))
}

// prefix binds + and - before an operand, and refuses schema-qualified operators.
func (b *binder) prefix(n *pg.A_Expr) expr.Expr {
	loc := int(n.Location)
	op := lastName(n.Name)
	if len(n.Name) != 1 {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "OPERATOR() is not supported; write %s", op))
	}
	if op != "-" && op != "+" {
		return b.operator(op, loc, n.Rexpr)
	}
	return sign(op, b.expr(n.Rexpr), b.pos(loc))
}

var compareOps = map[string]expr.CmpOp{
	"<": expr.LT, "<=": expr.LE, "=": expr.EQ, "<>": expr.NE, ">=": expr.GE, ">": expr.GT,
}

var arithOps = map[string]expr.ArithOp{
	"+": expr.Add, "-": expr.Sub, "*": expr.Mul, "/": expr.Div, "%": expr.Mod,
}

func (b *binder) infix(n *pg.A_Expr) expr.Expr {
	loc, op := int(n.Location), lastName(n.Name)
	order, compares := compareOps[op]
	ar, computes := arithOps[op]
	if !compares && !computes {
		return b.operator(op, loc, n.Lexpr, n.Rexpr)
	}
	if compares && (rowOf(n.Lexpr) != nil || rowOf(n.Rexpr) != nil) {
		return b.compareRows(order, n.Lexpr, n.Rexpr, b.pos(loc))
	}
	l, r := b.expr(n.Lexpr), b.expr(n.Rexpr)
	if compares {
		return compare(order, l, r, b.pos(loc))
	}
	return arith(ar, l, r, b.pos(loc))
}

// instead is what there is in the place of other languages' operators.
var instead = map[string]string{"==": "; write =", "//": "; / of integers is one, and div(x, y)", "**": "; write ^"}

// operator binds an operator that package expr has as a function.
func (b *binder) operator(op string, loc int, operands ...*pg.Node) expr.Expr {
	if expr.Functions(op) == nil {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "operator %s is not supported%s", op, instead[op]))
	}
	return b.operatorOf(op, loc, b.all(operands)...)
}

func (b *binder) operatorOf(op string, loc int, args ...expr.Expr) expr.Expr {
	text := func(e expr.Expr) bool { return e.Type().Kind == table.Varchar || isUnknown(e) }
	if op == "||" && slices.ContainsFunc(args, text) { // any value beside a text becomes one
		for i, a := range args {
			if args[i] = asText(a); args[i].Type().Kind != table.Varchar {
				args[i] = convert(args[i], varchar, a.Pos())
			}
		}
	}
	return function(op, args, b.pos(loc))
}

// boolean binds n, which must be of type boolean: an operand of AND and the like,
// or the WHERE clause.
func (b *binder) boolean(n *pg.Node, of string) expr.Expr {
	e := coerce(b.expr(n), boolean)
	if e.Type().Kind != table.Boolean {
		panic(expr.Coded(sqlstate.DatatypeMismatch, e.Pos(), "argument of %s must be type boolean, not type %s", of, typeName(e.Type())))
	}
	return e
}

func (b *binder) boolExpr(n *pg.BoolExpr) expr.Expr {
	pos := b.pos(int(n.Location))
	word := strings.TrimSuffix(n.Boolop.String(), "_EXPR")
	kids := xslices.Map(n.Args, func(a *pg.Node) expr.Expr { return b.boolean(a, word) })
	if n.Boolop == pg.BoolExprType_NOT_EXPR {
		return fold(&expr.Not{X: kids[0], P: pos})
	}
	return junction(kids, n.Boolop == pg.BoolExprType_AND_EXPR, pos)
}

func (b *binder) nullTest(n *pg.NullTest) expr.Expr {
	not := n.Nulltesttype == pg.NullTestType_IS_NOT_NULL
	return fold(&expr.IsNull{X: asText(b.expr(n.Arg)), Not: not, P: b.pos(int(n.Location))})
}

func (b *binder) truthTest(n *pg.BooleanTest) expr.Expr {
	words := strings.ReplaceAll(n.Booltesttype.String(), "_", " ") // "IS NOT FALSE"
	what, not := strings.CutPrefix(strings.TrimPrefix(words, "IS "), "NOT ")
	want := map[string]expr.Truth{"TRUE": expr.IsTrue, "FALSE": expr.IsFalse, "UNKNOWN": expr.IsUnknown}[what]
	return fold(&expr.IsTruth{X: b.boolean(n.Arg, words), Want: want, Not: not, P: b.pos(int(n.Location))})
}

// collate takes COLLATE "C", the order strings have anyway.
func (b *binder) collate(n *pg.CollateClause) expr.Expr {
	loc := int(n.Location)
	if c := lastName(n.Collname); c != "C" && c != "POSIX" {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "collation %q is not supported; strings compare by bytes, COLLATE \"C\"", c))
	}
	x := coerce(b.expr(n.Arg), varchar)
	if x.Type().Kind != table.Varchar {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "collations are not supported by type %s", typeName(x.Type())))
	}
	return x
}
