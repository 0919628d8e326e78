package plantest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Functions draws expressions over the columns of a table, of all functions and operators.
type Functions struct {
	t     *rapid.T
	tab   *table.Table
	forms map[table.Kind][]*expr.Function
}

// NewFunctions has the functions that only is true for, all of them where it is nil.
func NewFunctions(t *rapid.T, tab *table.Table, only func(*expr.Function) bool) *Functions {
	g := &Functions{t, tab, map[table.Kind][]*expr.Function{}}
	for _, f := range expr.Forms() {
		if only == nil || only(f) {
			kind := family(table.Type{Kind: f.Kind()})
			g.forms[kind] = append(g.forms[kind], f)
		}
	}
	return g
}

// scalarKinds are the kinds of values that functions take and give.
var scalarKinds = []table.Kind{table.Boolean, table.BigInt, table.Decimal, table.Real, table.Double, table.Varchar, table.Date, table.Timestamp, table.Interval}

// Value draws an expression of any kind, some functions deep.
func (g *Functions) Value(depth int) expr.Expr { return g.of(oneOf(g.t, "kind", scalarKinds), depth) }

// Condition draws an expression of type BOOLEAN.
func (g *Functions) Condition(depth int) expr.Expr { return g.condition(depth) }

func (g *Functions) pick(n int) int { return uniform(g.t, "choice", n) }

// of draws an expression of a kind.
func (g *Functions) of(kind table.Kind, depth int) expr.Expr {
	if depth == 0 {
		return g.leaf(kind)
	}
	forms := g.forms[kind]
	const others = 6
	n := g.pick(2*len(forms) + others)
	if n < 2*len(forms) {
		return g.call(forms[n/2], depth-1)
	}
	switch n - 2*len(forms) {
	case 0:
		return g.sameKind(expr.Case, kind, depth-1)
	case 1:
		return g.sameKind(oneOf(g.t, "of one type", []*expr.Function{expr.Coalesce, expr.Greatest, expr.Least}), kind, depth-1)
	case 2:
		return g.cast(kind, depth-1)
	case 3:
		return g.leaf(kind)
	}
	if kind == table.Boolean {
		return g.condition(depth)
	}
	return g.arith(kind, depth-1)
}

// call draws the arguments of a function.
func (g *Functions) call(f *expr.Function, depth int) expr.Expr {
	n := len(f.Params)
	if f.Repeat {
		n += g.pick(3)
	}
	var args []expr.Expr
	for i := range n {
		p := f.Params[min(i, len(f.Params)-1)]
		switch list, special := arguments[f.Name]; {
		case special && i < len(list) && list[i] != nil && (p == expr.Each || family(list[i][0].Type) == family(p)) && g.pick(12) > 0:
			args = append(args, &expr.Const{V: oneOf(g.t, "argument", list[i]), P: -1})
		case p == expr.Each:
			args = append(args, g.Value(depth))
		default:
			args = append(args, g.of(family(p), depth))
		}
	}
	return expr.NewCall(f, args, -1)
}

func texts(list ...string) (out []table.Value) {
	for _, s := range list {
		out = append(out, table.Str(s))
	}
	return out
}

func integers(list ...int64) (out []table.Value) {
	for _, i := range list {
		out = append(out, table.Literal(i))
	}
	return out
}

var (
	units    = texts("day", "month", "year", "quarter", "week", "decade", "century", "dow", "doy", "isodow", "hour", "minute", "second", "epoch")
	longs    = texts("day", "month", "year", "quarter", "week", "decade", "century", "millennium", "hour", "minute", "second")
	patterns = texts("a", "^a", "[a-c]+", "b|a", "(.)b?", ".", "x*", "é$")
	likes    = texts("a%", "%a", "_", "%b%", "a_", "%", "", "%\\%")
	small    = integers(-1, 0, 1, 2, 3, 5)
	formats  = texts("YYYY-MM-DD HH24:MI:SS.US", "Day, FMDDth Month YY", "IYYY-IW-ID DDD Q", "HH12 am J CC W WW D")
	numbers  = texts("999.99", "FM0000", "9,999,999.0S", "SG99PR", "9 9", "RN", "9.99EEEE", "99V9", "L99")
)

// arguments are those that a function has mostly: others are errors, or all the same.
var arguments = map[string][][]table.Value{
	"extract": {units}, "date_part": {units}, "date_trunc": {longs}, "to_char": {nil, append(formats[:len(formats):len(formats)], numbers...)},
	"~": {nil, patterns}, "~*": {nil, patterns}, "!~": {nil, patterns}, "!~*": {nil, patterns}, "~~": {nil, likes}, "~~*": {nil, likes}, "!~~": {nil, likes}, "!~~*": {nil, likes},
	"regexp_like": {nil, patterns, texts("i", "g", "")}, "regexp_replace": {nil, patterns, texts("", "x", `[\1\&]`), texts("g", "gi", "")},
	"regexp_count": {nil, patterns}, "regexp_substr": {nil, patterns}, "substring": {nil, nil, small}, "substr": {nil, nil, small}, "similar_to_escape": {likes, texts("#", "")},
	"repeat": {nil, small}, "lpad": {nil, small}, "rpad": {nil, small}, "chr": {integers(65, 233, 8364)}, "factorial": {small}, "split_part": {nil, nil, small},
	"overlay": {nil, nil, integers(1, 2, 5), small}, "make_date": {integers(1999, 2024, -1), integers(1, 2, 12), integers(1, 28, 31)},
	"make_timestamp": {integers(1999, 2024), integers(1, 2, 12), integers(1, 28), integers(0, 23), integers(0, 59), {table.Float(0), table.Float(59.5)}},
	"to_date":        {texts("2024-02-29", "1999-1-3"), texts("YYYY-MM-DD")}, "to_timestamp": {texts("2024-02-29 11:12:13"), texts("YYYY-MM-DD HH24:MI:SS")},
	"date_bin": {{interval(0, 15*60_000_000), interval(0, table.MicrosPerDay)}}, "<<": {nil, small}, ">>": {nil, small},
	"round": {nil, small}, "trunc": {nil, small}, "width_bucket": {nil, nil, nil, integers(1, 5, 100)}, "power": {nil, {table.Float(2), table.Float(0.5), table.Float(-1)}},
	"timezone": {texts("UTC", "Europe/Berlin", "America/New_York", "pst", "no zone")}, "to_number": {texts("1,234.5-", "12", "x"), texts("9G999D9S", "99")},
	"format": {texts("%s", "%2$s %1$L", "%I", "%-5s|", "%%")}, "^": {nil, {table.Float(2), table.Float(3)}},
}

func interval(months int32, us int64) table.Value {
	return table.Value{Type: table.Type{Kind: table.Interval}, Span: table.Span{Months: months}, I: us}
}

// sameKind is CASE, COALESCE, GREATEST or LEAST of values of a kind.
func (g *Functions) sameKind(f *expr.Function, kind table.Kind, depth int) expr.Expr {
	var args []expr.Expr
	for i := range 2 + g.pick(2) {
		if f == expr.Case && i < 2 {
			args = append(args, g.condition(depth))
		}
		args = append(args, g.of(kind, depth))
	}
	return expr.NewCall(f, args, -1)
}

// cast converts another kind, which reads as this one.
func (g *Functions) cast(kind table.Kind, depth int) expr.Expr {
	from := map[table.Kind][]table.Kind{
		table.Boolean: {table.BigInt}, table.BigInt: {table.Double, table.Decimal, table.Boolean}, table.Decimal: {table.BigInt, table.Double},
		table.Real: {table.BigInt, table.Double}, table.Double: {table.BigInt, table.Decimal, table.Real}, table.Varchar: scalarKinds,
		table.Date: {table.Timestamp}, table.Timestamp: {table.Date},
	}[kind]
	if from == nil {
		return g.leaf(kind)
	}
	return &expr.Cast{X: g.of(oneOf(g.t, "cast from", from), depth), To: typeOf(kind), P: -1}
}

func typeOf(kind table.Kind) table.Type {
	t := table.Type{Kind: kind}
	if kind == table.Decimal {
		t.Precision, t.Scale = 18, 2
	}
	return t
}

// arith is an operation of + and the like that gives a kind.
func (g *Functions) arith(kind table.Kind, depth int) expr.Expr {
	of := func(op expr.ArithOp, l, r table.Kind) expr.Expr {
		e := &expr.Arith{Op: op, L: g.of(l, depth), R: g.of(r, depth), T: typeOf(kind), P: -1}
		if kind == table.Decimal {
			ls, rs := e.L.Type().Scale, e.R.Type().Scale
			e.T.Scale = map[bool]int{true: ls + rs, false: max(ls, rs)}[op == expr.Mul]
		}
		return e
	}
	op := expr.ArithOp(g.pick(3))
	switch kind {
	case table.Double:
		if g.pick(3) == 0 {
			return of(expr.Div, table.Decimal, table.Decimal)
		}
		return of(op, kind, kind)
	case table.BigInt:
		if g.pick(4) == 0 {
			return of(expr.Sub, table.Date, table.Date)
		}
		return of(op, kind, kind)
	case table.Decimal, table.Real:
		return of(op, kind, kind)
	case table.Date:
		return &expr.Arith{Op: op % 2, L: g.of(kind, depth), R: &expr.Const{V: oneOf(g.t, "days", small), P: -1}, T: typeOf(kind), P: -1}
	case table.Interval:
		return of(expr.Sub, table.Timestamp, table.Timestamp)
	}
	return g.leaf(kind)
}

// condition draws a comparison, a test, or a junction of them.
func (g *Functions) condition(depth int) expr.Expr {
	if depth == 0 {
		return g.leaf(table.Boolean)
	}
	kind := oneOf(g.t, "compared", scalarKinds)
	x := g.of(kind, depth-1)
	switch g.pick(9) {
	case 0:
		return &expr.And{Kids: []expr.Expr{g.condition(depth - 1), g.condition(depth - 1)}, P: -1}
	case 1:
		return &expr.Or{Kids: []expr.Expr{g.condition(depth - 1), g.condition(depth - 1)}, P: -1}
	case 2:
		return &expr.Not{X: g.condition(depth - 1), P: -1}
	case 3:
		return &expr.IsNull{X: x, Not: g.pick(2) == 0, P: -1}
	case 4:
		return &expr.Between{X: x, Lo: g.leaf(kind), Hi: g.leaf(kind), Not: g.pick(2) == 0, P: -1}
	case 5:
		in := &expr.In{X: x, Not: g.pick(2) == 0, P: -1}
		for range 2 + g.pick(3) {
			in.List = append(in.List, g.constant(kind))
		}
		return in
	case 6:
		return &expr.IsTruth{X: g.condition(depth - 1), Want: expr.Truth(g.pick(3)), Not: g.pick(2) == 0, P: -1}
	}
	return &expr.Compare{Op: expr.CmpOp(g.pick(6)), L: x, R: g.of(kind, g.pick(2)*(depth-1)), P: -1}
}

// leaf is a column of a kind, if there is one, or a constant.
func (g *Functions) leaf(kind table.Kind) expr.Expr {
	var columns []expr.Expr
	for i, f := range g.tab.Fields {
		if family(f.Type) == kind {
			columns = append(columns, &expr.Column{Index: i, Name: f.Name, T: f.Type, P: -1})
		}
	}
	if len(columns) > 0 && g.pick(4) > 0 {
		return oneOf(g.t, "column", columns)
	}
	if c := g.constant(kind); !c.V.Null {
		return c
	}
	// NULL alone has no type.
	return &expr.Cast{X: &expr.Const{V: table.Null(typeOf(kind)), P: -1}, To: typeOf(kind), P: -1}
}

// constants by kind: what functions do something else at.
var constants = map[table.Kind][]table.Value{
	table.Boolean: {table.Bool(true), table.Bool(false)},
	table.BigInt:  integers(-7, -1, 0, 1, 2, 3, 10, 100, 1<<62),
	table.Double:  {table.Float(0), table.Float(0.5), table.Float(-1.25), table.Float(1), table.Float(2.5), table.Float(1e10), table.Float(-3)},
	table.Varchar: texts("", "a", "ab", "Ab c", "é", "a,b", "%", "12"),
}

func (g *Functions) constant(kind table.Kind) *expr.Const {
	t := typeOf(kind)
	v := table.Value{Type: t}
	switch list := constants[kind]; {
	case g.pick(20) == 0:
		v.Null = true
	case list != nil:
		v = oneOf(g.t, "constant", list)
	case kind == table.Decimal:
		v.I = oneOf(g.t, "unscaled", []int64{0, 1, -150, 225, 9999, 100})
	case kind == table.Real:
		v.F = oneOf(g.t, "float", []float64{0, 0.5, -1.25, 3})
	case kind == table.Date:
		v.I = oneOf(g.t, "day", []int64{0, -1, 11016, 11381, 19781, 20088}) // 2000-02-29, 2001-02-28, 2024-02-28, 2024-12-31
	case kind == table.Timestamp:
		v.I = oneOf(g.t, "instant", []int64{0, -1, 11016*table.MicrosPerDay + 3_600_000_001, 19753*table.MicrosPerDay + 86_399_999_999})
	case kind == table.Interval:
		v = oneOf(g.t, "interval", []table.Value{interval(1, 0), interval(-12, 0), interval(0, table.MicrosPerDay), interval(14, -5_400_000_000), interval(0, 1),
			table.IntervalValue(36*3_600_000_000, table.Span{Carried: 1}), table.IntervalValue(-3_600_000_000, table.Span{Months: 1, Carried: -2})})
	}
	return &expr.Const{V: v, P: -1}
}

// Names lists the functions of a call and of all that is in it.
func Names(e expr.Expr) (list []string) {
	expr.Walk(e, func(e expr.Expr) {
		if c, ok := e.(*expr.Call); ok {
			list = append(list, c.Fn.Name)
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}
