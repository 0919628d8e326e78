package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// A NUMERIC without digits has as many decimals as its value in PostgreSQL; here a column has one scale. A text that is cast to
// one takes the scale that all texts need which it can be. The texts are scanned when the statement is bound. A later row may
// have a text with more decimals: that is an error, and never rounded.

// maxMapped is the most distinct texts for which an expression is computed to see its decimals.
const maxMapped = 1 << 20

// columnTexts are lists with all texts that a column has, and perhaps others; ok is false where they are not known.
type columnTexts func(column int) (lists [][]string, ok bool)

// bareNumeric is CAST(x AS NUMERIC) of a text that is no constant.
func (b *binder) bareNumeric(x expr.Expr, pos int) expr.Expr {
	scale, ok := decimals(x, b.scopeTexts)
	if !ok || scale > numeric.Precision {
		panic(bareFails(x, pos))
	}
	return applied(expr.NumericOf, []expr.Expr{x, &expr.Const{V: table.Literal(int64(scale)), P: pos}}, pos)
}

// bareFails says that a cast to NUMERIC needs digits.
func bareFails(x expr.Expr, pos int) error {
	return expr.Coded(sqlstate.SyntaxError, pos, "CAST from %s to NUMERIC needs a precision and a scale: NUMERIC(18, 2)", typeName(x.Type()))
}

// scopeTexts are those of a column of the scope.
func (b *binder) scopeTexts(column int) ([][]string, bool) {
	if b.scope == nil || column >= len(b.scope.fields) {
		return nil, false
	}
	s := b.scope.tableAt(column)
	return b.nodeTexts(s.rows, column-s.first)
}

// nodeTexts are those of a column of a node's rows.
func (b *binder) nodeTexts(n plan.Node, column int) ([][]string, bool) {
	switch n := n.(type) {
	case *plan.Scan:
		if n.Of != nil {
			return b.nodeTexts(n.Of.Tree, column)
		}
		if b.c.Texts == nil {
			return nil, false
		}
		lists, ok, err := b.c.Texts(n.Table, column)
		if err != nil {
			panic(unread{err})
		}
		return lists, ok
	case *plan.Derived:
		return b.nodeTexts(n.Of.Tree, column)
	case *plan.Filter, *plan.Limit, *plan.Sort, *plan.Distinct:
		return b.nodeTexts(n.Inputs()[0], column)
	case *plan.Join:
		if left := plan.Width(n.Left); column >= left {
			return b.nodeTexts(n.Right, column-left)
		}
		return b.nodeTexts(n.Left, column)
	case *plan.Project:
		return textsOf(n.Items[column].E, func(c int) ([][]string, bool) { return b.nodeTexts(n.Input, c) })
	case *plan.Values:
		var all [][]string
		for _, row := range n.Rows {
			list, ok := textsOf(row[column], func(int) ([][]string, bool) { return nil, false })
			if !ok {
				return nil, false
			}
			all = append(all, list...)
		}
		return all, true
	}
	return nil, false
}

// textsOf are the texts that an expression of one column may be.
func textsOf(e expr.Expr, of columnTexts) (lists [][]string, ok bool) {
	switch e := e.(type) {
	case *expr.Const:
		if e.V.Null {
			return nil, true
		}
		return [][]string{{e.V.S}}, e.V.Type.Kind == table.Varchar
	case *expr.Column:
		if e.T.Kind != table.Varchar {
			return nil, false
		}
		return of(e.Index)
	case *expr.AggRef: // a key of GROUP BY
		if e.Key == nil {
			return nil, false
		}
		return textsOf(e.Key, of)
	}
	column, plain := -1, true
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Column:
			plain = plain && e.T.Kind == table.Varchar && (column < 0 || column == e.Index)
			column = e.Index
		case *expr.Const, *expr.Call, *expr.Cast, *expr.Arith, *expr.Neg, *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.Between, *expr.IsNull, *expr.IsTruth, *expr.In, *expr.Like:
		default:
			plain = false
		}
	})
	if !plain || column < 0 {
		return nil, false
	}
	if lists, ok = of(column); !ok {
		return nil, false
	}
	n := xslices.Sum(lists, func(list []string) int { return len(list) })
	if n > maxMapped {
		return nil, false
	}
	var at table.Value
	env := &expr.Env{Column: func(int) table.Value { return at }}
	made := make([]string, 0, n+1)
	add := func() {
		if v, err := expr.Eval(e, env); err == nil && !v.Null { // an error is that of a row
			made = append(made, v.S)
		}
	}
	for _, list := range lists {
		for _, s := range list {
			at = table.Str(s)
			add()
		}
	}
	at = table.Null(varchar)
	add()
	return [][]string{made}, true
}

// decimals is how many digits behind the point the numbers have that a text says, at most; ok is false where that is not known.
func decimals(e expr.Expr, of columnTexts) (scale int, ok bool) {
	switch e := e.(type) {
	case *expr.Cast:
		if e.X.Type().IsExact() {
			return e.X.Type().Scale, true
		}
	case *expr.Call:
		switch e.Fn {
		case expr.Coalesce, expr.Case, expr.Greatest, expr.Least:
			for i, a := range e.Args {
				if e.Fn == expr.Case && i%2 == 0 && i+1 < len(e.Args) { // a condition
					continue
				}
				n, known := decimals(a, of)
				if !known {
					return 0, false
				}
				scale = max(scale, n)
			}
			return scale, true
		}
		if c, last := e.Args[len(e.Args)-1].(*expr.Const); last && e.Fn.Name == "||" && strings.Contains(c.V.S, ".") {
			return decimals(c, of) // what stands before the point has none
		}
	}
	lists, ok := textsOf(e, of)
	for _, list := range lists {
		for _, s := range list {
			scale = max(scale, decimalsOf(s, scale))
		}
	}
	return scale, ok
}

// decimalsOf is how many digits behind the point the number has that a text says, if these are more than known; else any other.
func decimalsOf(s string, known int) int {
	point := strings.IndexByte(s, '.')
	if !strings.ContainsAny(s, "eE") && (point < 0 || len(s)-point-1 <= known) {
		return 0
	}
	_, n, ok := table.ParseNumber(strings.Trim(s, expr.Blanks))
	if !ok {
		return 0
	}
	return n
}

// roundedCast is ROUND(x::numeric, n) or TRUNC of constant digits; nil for another call. A text and a DOUBLE PRECISION are rounded
// once, so that their decimals need not be known. A number that is truncated, or rounded before the point, is read with sixteen
// decimals more. The fifteen digits that a cast of DOUBLE PRECISION keeps cannot be nines in all of these.
func (c *call) roundedCast() expr.Expr {
	if c.name != "round" && c.name != "trunc" || len(c.Args) == 0 || len(c.Args) > 2 || c.Args[0].GetTypeCast() == nil {
		return nil
	}
	cast, digits := c.Args[0].GetTypeCast(), int64(0)
	if len(c.Args) == 2 {
		n, constant := c.Args[1].GetAConst().GetVal().(*pg.A_Const_Ival)
		if !constant {
			return nil
		}
		digits = int64(n.Ival.GetIval())
	}
	to, scale := c.target(cast.TypeName), int(max(digits, 0))
	once := c.name == "round" && digits >= 0
	if !once {
		scale += 16
	}
	if !to.bare || digits > maxDigits || scale > maxDigits {
		return nil
	}
	x, pos := coerce(c.expr(cast.Arg), to.t), c.pos(int(cast.Location))
	if t := x.Type(); !isConstant(x) && (t.IsFloat() || once && t.Kind == table.Varchar) {
		x = convert(x, table.Type{Kind: table.Decimal, Precision: maxDigits, Scale: scale}, pos)
		if !once {
			x = function(c.name, []expr.Expr{x, &expr.Const{V: table.Literal(digits), P: c.at}}, c.at)
		}
		return x
	}
	args := []expr.Expr{c.cast(x, to, pos), &expr.Const{V: table.Literal(digits), P: c.at}}
	return rounding(function(c.name, args[:len(c.Args)], c.at), c.at)
}

// rounding is e; a call of ROUND to constant digits is a cast.
func rounding(e expr.Expr, pos int) expr.Expr {
	if digits, ok := roundedTo(e); ok {
		return convert(e.(*expr.Call).Args[0], table.Type{Kind: table.Decimal, Precision: maxDigits, Scale: digits}, pos)
	}
	return e
}
