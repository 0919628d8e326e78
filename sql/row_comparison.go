package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// rowOf are the values of a row (a, b); nil is no row.
func rowOf(n *pg.Node) []*pg.Node { return n.GetRowExpr().GetArgs() }

// compareRows is a comparison of two rows: of their values from the left, the first two that differ
// decide.
func (b *binder) compareRows(op expr.CmpOp, left, right *pg.Node, pos int) expr.Expr {
	l, r := b.rowPair(left, right, pos)
	b.copies(1, pos, append(l[:len(l):len(l)], r...)...)
	return rowOrder(op, l, r, pos)
}

// rowPair are the values of two rows, as many of each.
func (b *binder) rowPair(left, right *pg.Node, pos int) (l, r []expr.Expr) {
	if rowOf(left) == nil || rowOf(right) == nil {
		panic(expr.Coded(sqlstate.SyntaxError, pos, "a row is compared with a row only: (a, b) = (1, 2)"))
	}
	if l, r = b.all(rowOf(left)), b.all(rowOf(right)); len(l) != len(r) {
		panic(expr.Coded(sqlstate.SyntaxError, pos, "unequal number of entries in row expressions"))
	}
	return l, r
}

func rowOrder(op expr.CmpOp, l, r []expr.Expr, pos int) expr.Expr {
	if op == expr.EQ || op == expr.NE {
		var kids []expr.Expr
		for i := range l {
			kids = append(kids, compare(op, l[i], r[i], pos))
		}
		return junction(kids, op == expr.EQ, pos)
	}
	if len(l) == 1 {
		return compare(op, l[0], r[0], pos)
	}
	strictly := map[expr.CmpOp]expr.CmpOp{expr.LE: expr.LT, expr.GE: expr.GT, expr.LT: expr.LT, expr.GT: expr.GT}[op]
	rest := junction([]expr.Expr{compare(expr.EQ, l[0], r[0], pos), rowOrder(op, l[1:], r[1:], pos)}, true, pos)
	return junction([]expr.Expr{compare(strictly, l[0], r[0], pos), rest}, false, pos)
}

// rowIn is (a, b) IN ((1, 2), (3, 4)).
func (b *binder) rowIn(n *pg.A_Expr, op expr.CmpOp) expr.Expr {
	pos := b.pos(int(n.Location))
	kids := xslices.Map(n.Rexpr.GetList().GetItems(), func(k *pg.Node) expr.Expr { return b.compareRows(op, n.Lexpr, k, pos) })
	return junction(kids, op == expr.NE, pos)
}

// anyOrAll is x op ANY (array), or ALL: a comparison, or a match of a pattern, with each element.
func (b *binder) anyOrAll(n *pg.A_Expr) expr.Expr {
	loc, op := int(n.Location), lastName(n.Name)
	pos, all := b.pos(loc), n.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL
	list := b.elements(n.Rexpr, loc)
	order, compares := compareOps[op]
	if compares && len(list) > 1 && order == expr.EQ && !all || compares && len(list) > 1 && order == expr.NE && all {
		return b.inList(b.expr(n.Lexpr), list, all, pos)
	}
	x := b.expr(n.Lexpr)
	b.copies(len(list), pos, x)
	var kids []expr.Expr
	for _, e := range list {
		if compares {
			kids = append(kids, compare(order, x, e, pos))
		} else {
			kids = append(kids, b.operatorOf(op, loc, x, e))
		}
	}
	return junction(kids, all, pos)
}

// elements are those of ARRAY[...] or of the text '{...}', a parameter's, too.
func (b *binder) elements(n *pg.Node, loc int) []expr.Expr {
	if c := n.GetTypeCast(); c != nil && len(c.TypeName.GetArrayBounds()) > 0 {
		n = c.Arg // the elements take the type that they are compared with
	}
	if a := n.GetAArrayExpr(); a != nil {
		return b.all(a.Elements)
	}
	var items []table.Value
	ok, at := false, int(n.GetAConst().GetLocation())
	if p := n.GetParamRef(); p != nil {
		at = int(p.Location)
		if v := b.params[p.Number-1]; v.Null {
			items, ok = []table.Value{v}, true // a comparison with none is NULL, as with this
		} else if v.Type == (table.Type{}) {
			items, ok = arrayItems(v.S)
		}
	} else {
		items, ok = arrayItems(n.GetAConst().GetSval().GetSval())
	}
	if !ok {
		panic(b.coded(sqlstate.WrongObjectType, loc, "ANY and ALL take ARRAY[1, 2] or '{1,2}'"))
	}
	return xslices.Map(items, func(v table.Value) expr.Expr { return &expr.Const{V: v, P: b.pos(at)} })
}

// arrayItems are the items of an array that is written {1,NULL,"a b"}; ok is false of another text, and of an array of arrays.
func arrayItems(text string) (items []table.Value, ok bool) {
	text, ok = strings.CutPrefix(strings.Trim(text, blanks), "{")
	if text = strings.TrimLeft(text, blanks); !ok || text == "}" {
		return nil, ok
	}
	for {
		var v table.Value
		if strings.HasPrefix(text, `"`) {
			var word []byte
			i := 1
			for ; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' && i+1 < len(text) {
					i++
				}
				word = append(word, text[i])
			}
			v.S = string(word)
			text = text[min(i+1, len(text)):]
		} else {
			end := max(0, strings.IndexAny(text, `,{}"\`))
			v.S = strings.TrimRight(text[:end], blanks)
			if v.Null = strings.EqualFold(v.S, "null"); v.S == "" {
				return nil, false
			}
			text = text[end:]
		}
		items = append(items, v)
		if text = strings.TrimLeft(text, blanks); text == "}" {
			return items, true
		}
		if text, ok = strings.CutPrefix(text, ","); !ok {
			return nil, false
		}
		text = strings.TrimLeft(text, blanks)
	}
}
