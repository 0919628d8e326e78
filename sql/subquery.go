package sql

import (
	"math"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
)

// subqueries are subqueries of a SELECT as they were bound.
type subqueries map[*pg.SubLink]expr.Expr

// equal is the one that is written as n is; nil for none.
func (s subqueries) equal(n *pg.SubLink) expr.Expr {
	if e := s[n]; e != nil || len(s) == 0 {
		return e
	}
	text := placeless(n)
	for other, e := range s {
		if proto.Equal(text, placeless(other)) {
			return e
		}
	}
	return nil
}

func (s *subqueries) add(n *pg.SubLink, e expr.Expr) {
	if *s == nil {
		*s = subqueries{}
	}
	(*s)[n] = e
}

// placeless is a subquery without its places in the text.
func placeless(n *pg.SubLink) proto.Message {
	out := proto.Clone(n)
	eachNode(out, func(m proto.Message) {
		if at := m.ProtoReflect().Descriptor().Fields().ByName("location"); at != nil {
			m.ProtoReflect().Clear(at)
		}
	})
	return out
}

// subquery binds a query in an expression. In the select list a query that is a key of GROUP BY is that key. In ORDER BY and DISTINCT ON
// a query that is a select item is that item.
func (b *binder) subquery(n *pg.SubLink) expr.Expr {
	if b.place == inItems {
		if e := b.asked.equal(n); e != nil {
			b.loose = append(b.loose, &expr.Column{Name: "?column?", P: e.Pos()}) // until the key is found
			return e
		}
		if e := b.ofItems.equal(n); e != nil && b.inKeys {
			return e
		}
	}
	e := b.ownSubquery(n)
	switch b.place {
	case inGroup:
		b.asked.add(n, e)
	case inItems:
		b.ofItems.add(n, e)
	}
	return e
}

func (b *binder) ownSubquery(n *pg.SubLink) expr.Expr {
	loc := int(n.Location)
	if b.place == inLimit {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "a subquery in LIMIT and OFFSET is not supported"))
	}
	sel := n.Subselect.GetSelectStmt()
	if n.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK && sel.Op == pg.SetOperation_SETOP_NONE && len(sel.TargetList) == 0 && len(sel.ValuesLists) == 0 {
		sel.TargetList = []*pg.Node{{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: pg.MakeAConstIntNode(1, -1), Location: -1}}}} // EXISTS (SELECT FROM t)
	}
	inner := b.nested(sel, b)
	inner.inExpr = true
	of := &plan.Subplan{Tree: inner.query()}
	fields := of.Fields()
	*b.subqueries++
	q := &expr.Subquery{Of: of, N: *b.subqueries, T: boolean, P: b.pos(loc)}
	switch n.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		q.Kind, of.Tree = expr.Exists, rules.ExistsOnly(of.Tree)
		return q
	case pg.SubLinkType_EXPR_SUBLINK:
		if len(fields) != 1 {
			panic(b.errorf(loc, "subquery must return only one column"))
		}
		q.T = fields[0].Type
		return q
	case pg.SubLinkType_ANY_SUBLINK, pg.SubLinkType_ALL_SUBLINK:
	default:
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "ARRAY of a subquery is not supported; string_agg makes a text of values"))
	}
	q.Kind = expr.AnyOf
	op, all := expr.EQ, n.SubLinkType == pg.SubLinkType_ALL_SUBLINK
	if len(n.OperName) > 0 {
		order, ok := compareOps[lastName(n.OperName)]
		if !ok {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "%s before ANY or ALL of a subquery is not supported; there are =, <>, <, <=, > and >=", lastName(n.OperName)))
		}
		op = order
	}
	left := rowOf(n.Testexpr)
	if left == nil {
		left = []*pg.Node{n.Testexpr}
	}
	switch {
	case len(fields) > len(left):
		panic(b.errorf(loc, "subquery has too many columns"))
	case len(fields) < len(left):
		panic(b.errorf(loc, "subquery has too few columns"))
	}
	if all { // NOT the contrary of any
		op = op.Not()
	}
	var right []expr.Expr
	for i, f := range fields {
		right = append(right, &expr.SubColumn{Index: i, Name: f.Name, T: f.Type, P: b.pos(loc)})
	}
	q.Test = rowOrder(op, b.all(left), right, b.pos(loc))
	if all {
		return &expr.Not{X: q, P: q.P}
	}
	return q
}

// aggregates finds the query around this one that an aggregate call belongs to, and how many levels out that is. It is the nearest
// query of whose columns one is an argument. It is this one's, of level 0, where one of the columns is, or there are none.
func (b *binder) aggregates(n *pg.FuncCall) (of *binder, level int) {
	if b.outer == nil {
		return b, 0
	}
	nearest := math.MaxInt
	eachNode(n, func(m proto.Message) {
		if _, ok := m.(*pg.SubLink); ok { // whose columns may be its own
			of, nearest = b, 0
		}
		c, ok := m.(*pg.ColumnRef)
		if !ok || len(c.Fields) == 0 || c.Fields[len(c.Fields)-1].GetAStar() != nil {
			return
		}
		plain := b.parts(int(c.Location), c.Fields)
		for at, o := 0, b; o != nil; at, o = at+1, o.outer {
			if o.fromHas(plain) {
				if at < nearest {
					of, nearest = o, at
				}
				return
			}
		}
		of, nearest = b, 0 // which says so
	})
	if of == nil {
		return b, 0
	}
	if nearest > 0 && of.place == inJoin {
		panic(b.coded(sqlstate.GroupingError, int(n.Location), "aggregate functions are not allowed in FROM clause of their own query level"))
	}
	return of, nearest
}

// around is a column of a query around this one, where this one has none of the name; nil where none has.
func (b *binder) around(n *pg.ColumnRef, plain []name) expr.Expr {
	if b.outer == nil || b.fromHas(plain) {
		return nil
	}
	for level, o := 1, b.outer; o != nil; level, o = level+1, o.outer {
		if !o.fromHas(plain) {
			continue
		}
		if o.changes && o.changed().fromHas(plain) {
			panic(b.coded(sqlstate.InvalidColumnReference, int(n.Location), "invalid reference to table %s, which the statement changes: FROM and USING do not read it; write the condition in WHERE, or a subquery", o.scope.tables[0].alias))
		}
		e := o.expr(&pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: n}})
		if _, constant := e.(*expr.Const); constant {
			return e
		}
		return &expr.Outer{X: e, Level: level}
	}
	return nil
}

// changed is the binder with the first table of its scope alone.
func (b *binder) changed() *binder {
	of, s := *b, scope{fields: b.scope.fields, tables: b.scope.tables[:1]}
	s.visible = slices.DeleteFunc(slices.Clone(b.scope.visible), func(o output) bool { return o.columns[0] >= s.tables[0].n })
	of.scope = &s
	return &of
}

// fromHas reports that FROM gives something of the name of a column, or of the table before it.
func (b *binder) fromHas(plain []name) bool {
	if b.scope == nil || len(plain) == 0 {
		return false
	}
	list := b.scope.visibleNames()
	if len(plain) > 1 {
		list = b.scope.aliases()
	}
	i, matches := lookup(plain[0], list)
	return i >= 0 || matches > 0
}
