package sql

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// nested binds a query in the statement, which reads the columns of the query that outer binds, if any.
func (b *binder) nested(sel *pg.SelectStmt, outer *binder) *binder {
	return &binder{Statement: b.Statement, c: b.c, params: b.params, types: b.types, noted: b.noted, sel: sel, outer: outer, parent: b, sizes: b.sizes, copied: b.copied, now: b.now, subqueries: b.subqueries, uses: b.uses}
}

// queryAt is where the query of an EXPLAIN begins.
func (s *Statement) queryAt() int {
	for _, t := range s.tokens {
		switch word := strings.ToLower(s.Text[t.start:t.end]); {
		case slices.Contains([]string{"select", "with", "values", "table", "insert", "update", "delete", "create"}, word), word == "(" && !s.explainOptions(t.start):
			return t.start
		}
	}
	return 0
}

// explainOptions reports whether a parenthesis begins the options of an EXPLAIN.
func (s *Statement) explainOptions(at int) bool {
	return strings.EqualFold(s.token(0), "explain") && len(s.tokens) > 1 && s.tokens[1].start == at &&
		!slices.Contains([]string{"select", "with", "values", "("}, strings.ToLower(s.token(2)))
}

// renamed is a query with other names for its first columns.
func (b *binder) renamed(n plan.Node, names []*pg.Node, of string, loc int) plan.Node {
	fields := n.Fields()
	if len(names) > len(fields) {
		panic(b.coded(sqlstate.InvalidColumnReference, loc, "WITH query %q has %d columns available but %d columns specified", clipped(of), len(fields), len(names)))
	}
	if len(names) == 0 {
		return n
	}
	if r, ok := n.(*plan.Recursion); ok {
		r.First = b.renamed(r.First, names, of, loc)
		return r
	}
	p, ok := n.(*plan.Project)
	if !ok {
		p = selected(n)
	}
	p = &plan.Project{Input: p.Input, Items: slices.Clone(p.Items)}
	for i, name := range names {
		p.Items[i].Name = name.GetString_().GetSval()
	}
	return p
}

// selected are the rows of a query as they are.
func selected(n plan.Node) *plan.Project {
	p := &plan.Project{Input: &plan.Derived{Of: &plan.Subplan{Tree: n}}}
	for i, f := range n.Fields() {
		p.Items = append(p.Items, plan.Item{Name: f.Name, E: &expr.Column{Index: i, Name: f.Name, T: f.Type, P: -1}})
	}
	return p
}

// widest are the rows of a query with NUMERICs of all digits: so have the sums that a step makes of such columns.
func widest(n plan.Node) plan.Node {
	p, ok := n.(*plan.Project)
	if !ok {
		p = selected(n)
	}
	p = &plan.Project{Input: p.Input, Items: slices.Clone(p.Items)}
	for i, f := range n.Fields() {
		t := f.Type
		if t.Kind == table.Decimal {
			t.Precision = maxDigits
		}
		if e := p.Items[i].E; t != f.Type {
			p.Items[i].E = &expr.Cast{X: e, To: t, P: e.Pos()} // also of a constant, whose type is that of its digits
		}
	}
	return p
}

// values binds VALUES.
func (b *binder) values() plan.Node {
	v := &plan.Values{}
	b.place = inWhere
	var columns [][]expr.Expr
	lists := b.sel.ValuesLists
	for i, n := range lists {
		row := n.GetList().GetItems()
		if i > 0 && len(row) != len(columns) {
			panic(b.errorf(b.keyword("values"), "VALUES lists must all be the same length"))
		}
		for k, e := range row {
			if i == 0 {
				columns = append(columns, nil)
			}
			columns[k] = append(columns[k], b.expr(e))
		}
	}
	v.Rows = make([][]expr.Expr, len(lists))
	for k, list := range columns {
		list = oneType(unified("VALUES", list, b.pos(b.keyword("values"))))
		v.Columns = append(v.Columns, table.Field{Name: "column" + strconv.Itoa(k+1), Type: list[0].Type()})
		for i, e := range list {
			v.Rows[i] = append(v.Rows[i], e)
		}
	}
	return v
}

// oneType brings expressions that unified has brought together to one type: integers to the widest, DECIMALs to the most
// digits.
func oneType(list []expr.Expr) []expr.Expr {
	t := list[0].Type()
	for _, e := range list[1:] {
		switch u := e.Type(); {
		case t.IsInteger() && u.IsInteger() && u != t:
			t = table.Wider(t, u)
		case t.Kind == table.Decimal && u.Kind == table.Decimal:
			t.Precision = max(t.Precision, u.Precision)
		}
	}
	for i, e := range list {
		if u := e.Type(); u != t && u.IsNumeric() && t.IsNumeric() {
			list[i] = &expr.Cast{X: e, To: t, P: e.Pos()} // also of a constant, whose type is that of its digits
		}
	}
	return list
}

// rows puts what ORDER BY and LIMIT say above rows: their columns are all that ORDER BY may name.
func (b *binder) rows(n plan.Node) plan.Node {
	if len(b.sel.SortClause) == 0 {
		return b.limit(n)
	}
	p := selected(n)
	b.scope = b.scopeOf(n.Fields(), nil, "", 0)
	keys := b.sortKeys(p.Items)
	return b.limit(b.ordered(p.Input, p.Items, keys, nil))
}

// subselect resolves a query in FROM.
func (b *binder) subselect(n *pg.RangeSubselect) (plan.Node, *scope) {
	outer := b.outer
	if n.Lateral {
		outer = b
	}
	q := b.nested(n.Subquery.GetSelectStmt(), outer)
	node, s := b.derived(&plan.Subplan{Tree: q.query()}, n.Alias, "", b.keyword("from"))
	node.(*plan.Derived).Lateral = n.Lateral
	return node, s
}

// derived are the rows of a subplan, as a table of a name.
func (b *binder) derived(of *plan.Subplan, alias *pg.Alias, name string, loc int) (plan.Node, *scope) {
	s := b.scopeOf(of.Fields(), alias, name, loc)
	rows := &plan.Derived{Of: of, As: s.tables[0].alias}
	s.tables[0].rows = rows
	return rows, s
}
