package sql

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// function binds a call of a function, or operator, of package expr. Of the forms that take these arguments
// it uses the one with the most arguments of exactly its types, and the first of equal ones.
func function(name string, args []expr.Expr, pos int) expr.Expr {
	var best *expr.Function
	most := -1
	for _, f := range expr.Functions(name) {
		if n, ok := exact(f, args); ok && n > most {
			best, most = f, n
		}
	}
	if best == nil {
		panic(noFunction(name, args, pos))
	}
	return applied(best, args, pos)
}

// applied binds the call of a function that takes these arguments.
func applied(best *expr.Function, args []expr.Expr, pos int) expr.Expr {
	bound := slices.Clone(args)
	for i, a := range args {
		p := parameter(best, i)
		if best.Widest && p.IsInteger() && isUnknown(a) {
			p = widestOf(args, p)
		}
		switch {
		case p == expr.Each:
			bound[i] = asText(a)
		case p.Kind == table.Decimal:
			bound[i] = widen(coerce(a, p), p)
		default:
			if a = asText(coerce(a, p)); !p.IsInteger() {
				a = convert(a, p, a.Pos())
			}
			bound[i] = a
		}
	}
	return fold(expr.NewCall(best, bound, pos))
}

// widestOf is the widest type of integers among arguments, or another one where there is none.
func widestOf(args []expr.Expr, none table.Type) (t table.Type) {
	for _, a := range args {
		if a.Type().IsInteger() {
			t = table.Wider(t, a.Type())
		}
	}
	if t.Kind == table.Unknown {
		return none
	}
	return t
}

// parameter is the type that argument i of a function has.
func parameter(f *expr.Function, i int) table.Type { return f.Params[min(i, len(f.Params)-1)] }

// exact counts the arguments of just the types that a function takes; ok is false where it does
// not take them.
func exact(f *expr.Function, args []expr.Expr) (n int, ok bool) {
	if len(args) < len(f.Params) || len(args) > len(f.Params) && !f.Repeat {
		return 0, false
	}
	for i, a := range args {
		t, p := a.Type(), parameter(f, i)
		switch {
		case p == expr.Each || t.Kind == table.Unknown:
		case t.Kind == p.Kind || t.IsInteger() && p.IsInteger():
			n++
		case t.IsInteger() && p.IsNumeric() || t.Kind == table.Decimal && p.IsFloat() || t.Kind == table.Real && p.Kind == table.Double:
		case t.Kind == table.Date && p.Kind == table.Timestamp:
		case isOpen(a) && p.IsInteger():
		default:
			return 0, false
		}
	}
	return n, true
}

// castHint is what makes an operand of an operator of texts.
const castHint = "; write x::text for the text of a value"

// noFunction says that a function does not take these arguments, and what it takes.
func noFunction(name string, args []expr.Expr, pos int) error {
	var given, forms []string
	for _, a := range args {
		given = append(given, typeName(a.Type()))
	}
	if name == "" || !letter(name[0]) {
		hint := ""
		if slices.ContainsFunc(expr.Functions(name), func(f *expr.Function) bool {
			return len(args) == 2 && len(f.Params) == 2 && f.Params[0].Kind == table.Varchar
		}) {
			hint = castHint
		}
		return expr.Coded(sqlstate.UndefinedFunction, pos, "operator does not exist: %s%s", strings.TrimSpace(strings.Join(append(given[:len(given)-1:len(given)-1], name, given[len(given)-1]), " ")), hint)
	}
	for _, f := range expr.Functions(name) {
		forms = append(forms, signature(name, f))
	}
	return expr.Coded(sqlstate.UndefinedFunction, pos, "function %s(%s) does not exist; there is %s", name, strings.Join(given, ", "), strings.Join(forms, " and "))
}

// signature is how a function is called, by one of its names.
func signature(name string, f *expr.Function) string {
	var params []string
	for _, p := range f.Params {
		word := typeName(p)
		if p == expr.Each {
			word = "any type"
		}
		params = append(params, word)
	}
	dots := ""
	if f.Repeat {
		dots = ", ..."
	}
	return fmt.Sprintf("%s(%s%s)", name, strings.Join(params, ", "), dots)
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c == '_' }

// typeOfName is the function that gives the name of its argument's type. Binding knows it.
const typeOfName = "pg_typeof"

// scalar binds a call of a scalar function.
func (c *call) scalar() expr.Expr {
	if c.AggStar {
		panic(c.coded(sqlstate.FeatureNotSupported, "%s(*) is not supported; * is for COUNT", c.name))
	}
	if e := c.roundedCast(); e != nil {
		return e
	}
	args := c.arguments()
	if c.name == typeOfName {
		if len(args) != 1 {
			panic(c.coded(sqlstate.UndefinedFunction, "%s takes one argument", c.name))
		}
		return &expr.Const{V: table.Str(typeName(args[0].Type())), P: c.at}
	}
	switch {
	case slices.Contains(clockFunctions, c.name):
		if len(args) > 0 {
			panic(c.coded(sqlstate.UndefinedFunction, "%s takes no argument", c.name))
		}
		return c.clock(timestamp, c.at)
	case randomFunctions[c.name] != "":
		return c.random()
	case slices.Contains(sessionFunctions, c.name):
		if len(args) > 0 {
			panic(c.coded(sqlstate.UndefinedFunction, "%s takes no argument", c.name))
		}
		text := sessionInformation[c.name]
		if c.name == "version" {
			text = "stencildb " + Version
		}
		return &expr.Const{V: table.Str(text), P: c.at}
	case c.name == "overlaps" && len(args) == 4:
		for i := 1; i < len(args); i += 2 {
			if args[i].Type().Kind == table.Interval { // how long the period is
				c.copies(1, c.at, args[i-1])
				args[i] = c.operatorOf("+", int(c.Location), args[i-1], args[i])
			}
		}
	case c.name == ageName && len(args) == 1:
		args = append([]expr.Expr{convert(c.clock(date, c.at), timestamp, c.at)}, args...)
	}
	e := function(c.name, args, c.at)
	if c.name == zoneName && (isInstant(c.Args[1]) || args[1].Type().Kind != table.Timestamp) {
		e = applied(expr.InZone, args, c.at)
	}
	return rounding(e, c.at)
}

// argumentNames are those of the functions whose arguments may be named: f(days => 10).
var argumentNames = map[string][]string{
	"make_interval":  strings.Fields("years months weeks days hours mins secs"),
	"make_date":      strings.Fields("year month day"),
	"make_timestamp": strings.Fields("year month mday hour min sec"),
}

// arguments binds the arguments, those with a name in their places. Of an interval's parts those that are not there are 0.
func (c *call) arguments() []expr.Expr {
	names := argumentNames[c.name]
	args := make([]expr.Expr, len(c.Args), max(len(c.Args), len(names)))
	for i, a := range c.Args {
		if named := a.GetNamedArgExpr(); named != nil {
			if names == nil {
				panic(c.coded(sqlstate.UndefinedFunction, "%s takes its arguments by their places, without names", c.name))
			}
			if i, a = slices.Index(names, named.Name), named.Arg; i < 0 {
				panic(c.coded(sqlstate.UndefinedFunction, "%s has no argument named %s%s", c.name, clipped(named.Name), suggest(named.Name, names, "arguments")))
			}
			args = append(args, make([]expr.Expr, max(0, i+1-len(args)))...)
		}
		if args[i] != nil {
			panic(c.errorf("the argument %s of %s is there twice", names[i], c.name))
		}
		args[i] = c.expr(a)
	}
	if c.name == "make_interval" {
		args = append(args, make([]expr.Expr, max(0, len(names)-len(args)))...)
		for i := range args {
			if args[i] == nil {
				args[i] = &expr.Const{V: table.Literal(0), P: c.at}
			}
		}
	}
	if i := slices.Index(args, nil); i >= 0 {
		panic(c.coded(sqlstate.UndefinedFunction, "%s needs an argument %s", c.name, names[i]))
	}
	return args
}

// roundedTo is to how many constant digits a call of ROUND rounds a DECIMAL, which is a cast.
func roundedTo(e expr.Expr) (digits int, ok bool) {
	c, call := e.(*expr.Call)
	if !call || c.Fn.Name != "round" || c.T.Kind != table.Decimal {
		return 0, false
	}
	if len(c.Args) == 1 {
		return 0, true
	}
	k, constant := c.Args[1].(*expr.Const)
	if !constant || k.V.Null || k.V.I < 0 || k.V.I > maxDigits {
		return 0, false
	}
	return int(k.V.I), true
}

// unified brings the results of CASE, COALESCE and the like to one type, DECIMALs to the
// largest scale.
func unified(what string, list []expr.Expr, pos int) []expr.Expr {
	besideNumbers(widerNumber, list...)
	var seen table.Type
	scale := 0
	for _, e := range list {
		t := e.Type()
		scale = max(scale, t.Scale)
		switch {
		case t.Kind == table.Unknown:
			continue
		case seen.Kind != table.Unknown && t.Kind != seen.Kind && !(t.IsNumeric() && seen.IsNumeric()) && !(isTime(t) && isTime(seen)):
			panic(expr.Coded(sqlstate.DatatypeMismatch, pos, "%s types %s and %s cannot be matched", what, typeName(seen), typeName(t)))
		}
		seen = t
	}
	out, t := common("=", widerNumber, pos, list...)
	for i, e := range out {
		switch {
		case t.Kind == table.Decimal && e.Type().Scale != scale:
			out[i] = convert(e, table.Type{Kind: table.Decimal, Precision: maxDigits, Scale: scale}, e.Pos())
		case t.IsInteger() && isNull(e):
			out[i] = &expr.Const{V: table.Null(t), P: e.Pos()}
		}
	}
	if t.Kind == table.Decimal || t.IsInteger() { // the first tells the type of all
		first := table.Type{Kind: table.Decimal, Precision: maxDigits, Scale: scale}
		if t.IsInteger() {
			first = t
		}
		out[0] = convert(out[0], first, out[0].Pos())
	}
	return out
}

// all binds a list of expressions.
func (b *binder) all(list []*pg.Node) []expr.Expr { return xslices.Map(list, b.expr) }

// caseOf is CASE, simple or searched.
func (b *binder) caseOf(n *pg.CaseExpr) expr.Expr {
	pos := b.pos(int(n.Location))
	var of expr.Expr
	if n.Arg != nil {
		of = b.expr(n.Arg)
		b.copies(len(n.Args)-1, pos, of)
	}
	var conditions, values []expr.Expr
	for _, a := range n.Args {
		when := a.GetCaseWhen()
		if of != nil {
			conditions = append(conditions, compare(expr.EQ, of, b.expr(when.Expr), b.pos(int(when.Location))))
		} else {
			conditions = append(conditions, b.boolean(when.Expr, "CASE/WHEN"))
		}
		values = append(values, b.expr(when.Result))
	}
	if n.Defresult != nil {
		values = append(values, b.expr(n.Defresult))
	}
	return caseWhen(conditions, unified("CASE", values, pos), pos)
}

// caseWhen is CASE of conditions and values; one value more is that of ELSE.
func caseWhen(conditions, values []expr.Expr, pos int) expr.Expr {
	var args []expr.Expr
	for i, v := range values {
		if i < len(conditions) {
			args = append(args, conditions[i])
		}
		args = append(args, v)
	}
	return fold(expr.NewCall(expr.Case, args, pos))
}

// nullif is NULLIF(l, r): l, but NULL where it equals r. As in PostgreSQL it has the type that the comparison reads l
// as. Integers are compared with integers as they are, and floating-point numbers with any number.
func (b *binder) nullif(n *pg.A_Expr) expr.Expr {
	pos := b.pos(int(n.Location))
	l, r := b.expr(n.Lexpr), b.expr(n.Rexpr)
	b.copies(1, pos, l)
	if isUnknown(l) && !isUnknown(r) {
		l = coerce(l, r.Type())
	}
	equal := compare(expr.EQ, l, r, pos)
	switch t, of := asText(l).Type(), asText(r).Type(); {
	case !t.IsNumeric() || !of.IsNumeric() || t.IsInteger() && of.IsInteger() || t.IsFloat():
	case t.IsInteger() && of.Kind == table.Decimal:
		l = convert(l, table.Type{Kind: table.Decimal, Precision: maxDigits}, pos)
	default:
		l = widen(l, commonNumber(t, of))
	}
	l = asText(l)
	return caseWhen([]expr.Expr{equal}, []expr.Expr{&expr.Const{V: table.Null(l.Type()), P: pos}, l}, pos)
}

// ofOneType is COALESCE, GREATEST or LEAST.
func (b *binder) ofOneType(f *expr.Function, list []*pg.Node, loc int32) expr.Expr {
	pos := b.pos(int(loc))
	return fold(expr.NewCall(f, unified(strings.ToUpper(f.Name), b.all(list), pos), pos))
}
