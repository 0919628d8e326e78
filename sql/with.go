package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
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
