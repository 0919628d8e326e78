package sql

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// cte is a query that WITH names.
type cte struct {
	name   string
	of     *plan.Subplan
	depth  int                   // of the query that has it: see [binder.depth]
	deeper map[int]*plan.Subplan // of as queries further inside read it
	last   bool                  // the rows of WITH RECURSIVE that came last, in its second part
	read   bool                  // of these: they are read
	why    string                // why it cannot be read where it is known; "" where it can
	list   []*cte                // of WITH RECURSIVE: all of its queries
	bind   func() plan.Node      // binds the query; nil once that has begun
}

// mutual is why a query of WITH cannot be read that reads the reading one, which PostgreSQL says is not implemented.
const mutual = "is mutual: two queries of WITH may not read each other"

// refused is why a query of b cannot read one of WITH; "" where it can. around is the query that has that.
func (c *cte) refused(b, around *binder) string {
	if !c.last {
		return c.why
	}
	for q := b; q != around; q = q.parent {
		switch {
		case q.inExpr:
			return "must not appear within a subquery"
		case q.inOuter:
			return "must not appear within an outer join"
		case q.inSide != "":
			return "must not appear within " + q.inSide
		}
	}
	if c.read {
		return "must not appear more than once"
	}
	c.read = true
	return ""
}

// depth is how many queries are around this one whose columns it may read.
func (b *binder) depth() (n int) {
	for o := b.outer; o != nil; o = o.outer {
		n++
	}
	return n
}

// asRead is the query of a WITH as b reads it.
func (c *cte) asRead(b *binder) *plan.Subplan {
	levels := b.depth() - c.depth
	if c.deeper[levels] == nil {
		if c.deeper == nil {
			c.deeper = map[int]*plan.Subplan{}
		}
		c.deeper[levels] = rules.ShiftLevels(c.of, levels)
	}
	return c.deeper[levels]
}

// recurs reports a source that is what came last of the WITH RECURSIVE around the query.
func (b *binder) recurs(t source) bool {
	d, ok := t.rows.(*plan.Derived)
	for q := b; ok && q != nil; q = q.parent {
		if slices.ContainsFunc(q.with, func(c *cte) bool { return c.last && c.of == d.Of }) {
			return true
		}
	}
	return false
}

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

// withs binds the queries of WITH. Each may name those before it and, where that says RECURSIVE, itself and those behind it.
func (b *binder) withs() {
	w := b.sel.WithClause
	if w == nil {
		return
	}
	var list []*cte
	for _, n := range w.Ctes {
		c := n.GetCommonTableExpr()
		loc := int(c.Location)
		sel := c.Ctequery.GetSelectStmt()
		switch {
		case sel == nil:
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "WITH is supported for SELECT and VALUES only"))
		case slices.ContainsFunc(list, func(have *cte) bool { return have.name == c.Ctename }):
			panic(b.coded(sqlstate.DuplicateAlias, loc, "WITH query name %q specified more than once", clipped(c.Ctename)))
		case c.SearchClause != nil:
			panic(b.coded(sqlstate.FeatureNotSupported, int(c.SearchClause.Location), "SEARCH is not supported; make a column of the path, and ORDER BY it"))
		case c.CycleClause != nil:
			panic(b.coded(sqlstate.FeatureNotSupported, int(c.CycleClause.Location), "CYCLE is not supported; UNION without ALL ends where no row is new, or a column of the path tells"))
		}
		list = append(list, &cte{name: c.Ctename, depth: b.depth(), bind: func() plan.Node {
			if w.Recursive && sel.Op == pg.SetOperation_SETOP_UNION {
				return b.renamed(b.recursion(c, sel), c.Aliascolnames, c.Ctename, loc)
			}
			return b.renamed(b.nested(sel, b.outer).query(), c.Aliascolnames, c.Ctename, loc)
		}})
	}
	if w.Recursive { // all of them are known to each
		for _, c := range list {
			c.list = list
		}
		b.with = append(b.with, list...)
	}
	for _, c := range list {
		if c.bound(list); !w.Recursive {
			b.with = append(b.with, c)
		}
	}
}

// bound binds the query, if nothing has read it before its place. The queries of its WITH that are being bound meanwhile cannot be read by it.
func (c *cte) bound(list []*cte) {
	if c.bind == nil {
		return
	}
	bind := c.bind
	c.bind = nil
	for _, other := range list {
		if of := other.why; of != "" {
			other.why = mutual
			defer func() { other.why = of }()
		}
	}
	c.why = "needs a query of the form first UNION [ALL] step"
	c.of = &plan.Subplan{Name: c.name, Tree: bind()}
	c.why = ""
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

// recursion binds WITH RECURSIVE name AS (first UNION [ALL] step), where the step may read the rows that came last.
func (b *binder) recursion(c *pg.CommonTableExpr, sel *pg.SelectStmt) plan.Node {
	loc := int(c.Location)
	if len(sel.SortClause) > 0 || sel.LimitCount != nil || sel.LimitOffset != nil {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "ORDER BY and LIMIT in a recursive query are not supported; write them outside of it"))
	}
	inner := b.nested(sel, b.outer)
	inner.withs()
	own := len(inner.with)
	inner.with = append(inner.with, &cte{name: c.Ctename, why: "must not appear within its non-recursive term"})
	first := widest(inner.nested(sel.Larg, b.outer).query())
	inner.with = inner.with[:own]
	last := &plan.Subplan{Name: c.Ctename, Tree: &plan.Values{Columns: b.renamed(first, c.Aliascolnames, c.Ctename, loc).Fields()}}
	inner.with = append(inner.with, &cte{name: c.Ctename, of: last, depth: b.depth(), last: true})
	step := inner.nested(sel.Rarg, b.outer).query()
	r := &plan.Recursion{First: first, Step: step, Last: last, All: sel.All, Limit: -1}
	sides := b.matched(first, step, "UNION", loc)
	if !plan.UsesSubplan(step, last) {
		return plan.NewSetOperation(plan.Union, sel.All, sides[0], sides[1])
	}
	for i, f := range sides[0].Fields() {
		if f.Type != first.Fields()[i].Type {
			panic(b.coded(sqlstate.DatatypeMismatch, loc, "recursive query %q column %d has type %s in non-recursive term but type %s overall; cast it in the first part",
				clipped(c.Ctename), i+1, first.Fields()[i].Type, f.Type))
		}
	}
	r.Step = sides[1]
	return r
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

// combined binds UNION, INTERSECT and EXCEPT.
func (b *binder) combined() plan.Node {
	op := map[pg.SetOperation]plan.SetOp{pg.SetOperation_SETOP_UNION: plan.Union, pg.SetOperation_SETOP_INTERSECT: plan.Intersect, pg.SetOperation_SETOP_EXCEPT: plan.Except}[b.sel.Op]
	left, right := b.nested(b.sel.Larg, b.outer), b.nested(b.sel.Rarg, b.outer)
	switch {
	case op == plan.Except:
		right.inSide = "EXCEPT"
		if b.sel.All {
			left.inSide = "EXCEPT"
		}
	case op == plan.Intersect && b.sel.All:
		left.inSide, right.inSide = "INTERSECT", "INTERSECT"
	}
	sides := b.matched(left.query(), right.query(), op.String(), b.keyword(strings.ToLower(op.String())))
	return plan.NewSetOperation(op, b.sel.All, sides[0], sides[1])
}

// matched are two queries with columns of the same types.
func (b *binder) matched(l, r plan.Node, op string, loc int) []plan.Node {
	sides := []plan.Node{l, r}
	if plan.Width(l) != plan.Width(r) {
		panic(b.errorf(loc, "each %s query must have the same number of columns: they have %d and %d", op, plan.Width(l), plan.Width(r)))
	}
	items := [2][]plan.Item{}
	changed := [2]bool{}
	over := [2]plan.Node{}
	for k, n := range sides {
		p, ok := n.(*plan.Project)
		if !ok {
			p = selected(n)
		}
		items[k], over[k] = slices.Clone(p.Items), p.Input
	}
	for i, f := range l.Fields() {
		var list []expr.Expr
		for k := range sides {
			e := items[k][i].E
			if c, ok := e.(*expr.Const); ok && c.Of != nil {
				e = c.Of
			}
			list = append(list, e)
		}
		list = oneType(unified(op, list, b.pos(loc)))
		for k := range sides {
			changed[k] = changed[k] || list[k].Type() != sides[k].Fields()[i].Type
			items[k][i] = plan.Item{Name: f.Name, E: list[k]}
		}
	}
	for k := range sides {
		if changed[k] {
			sides[k] = &plan.Project{Input: over[k], Items: items[k]}
		}
	}
	return sides
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

// cteNamed is the query of a WITH that a name in FROM means; nil for none.
func (b *binder) cteNamed(r *pg.RangeVar, loc int) *cte {
	if r.Schemaname != "" {
		return nil
	}
	n := b.spelled(loc, r.Relname)[0]
	for q := b; q != nil; q = q.parent {
		names := xslices.Map(q.with, func(c *cte) string { return c.name })
		if i, _ := lookup(n, names); i >= 0 {
			q.with[i].bound(q.with[i].list)
			if why := q.with[i].refused(b, q); why != "" {
				code := sqlstate.InvalidRecursion
				if why == mutual {
					code = sqlstate.FeatureNotSupported
				}
				panic(b.coded(code, loc, "recursive reference to query %q %s", clipped(q.with[i].name), why))
			}
			return q.with[i]
		}
	}
	return nil
}
