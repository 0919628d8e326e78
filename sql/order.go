package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
)

// sortKeys binds ORDER BY, without keys that are constant or stand there before.
func (b *binder) sortKeys(items []plan.Item) (keys []expr.SortKey) {
	b.place = inItems
	for _, n := range b.sel.SortClause {
		by := n.GetSortBy()
		if by.SortbyDir == pg.SortByDir_SORTBY_USING {
			panic(b.coded(sqlstate.FeatureNotSupported, int(by.Location), "ORDER BY ... USING is not supported; write ASC or DESC"))
		}
		e := b.sortKey(by.Node, items, "ORDER BY")
		if slices.ContainsFunc(keys, func(k expr.SortKey) bool { return at(k.E, []expr.Expr{e}) >= 0 }) {
			continue
		}
		keys = append(keys, directed(e, by))
	}
	return keys
}

// directed is an expression as a key, in the direction of an element of ORDER BY.
func directed(e expr.Expr, by *pg.SortBy) expr.SortKey {
	k := expr.SortKey{E: e, Desc: by.SortbyDir == pg.SortByDir_SORTBY_DESC}
	k.NullsFirst = k.Desc
	if by.SortbyNulls != pg.SortByNulls_SORTBY_NULLS_DEFAULT {
		k.NullsFirst = by.SortbyNulls == pg.SortByNulls_SORTBY_NULLS_FIRST
	}
	return k
}

// sortKey is one key of ORDER BY or DISTINCT ON (PostgreSQL's rule). A name or a number that stands alone is
// a select item. Any other expression is over the columns of the input.
func (b *binder) sortKey(n *pg.Node, items []plan.Item, clause string) expr.Expr {
	b.inKeys = true
	defer func() { b.inKeys = false }()
	if c := n.GetColumnRef(); c != nil && len(c.Fields) == 1 && c.Fields[0].GetString_() != nil {
		if e := b.outputColumn(c, items, clause); e != nil {
			return e
		}
	}
	if c := n.GetAConst(); c != nil {
		at, loc := c.GetIval(), int(c.Location)
		switch {
		case at == nil:
			panic(b.errorf(loc, "non-integer constant in %s; write a column, or the position of a select item", clause))
		}
		sizes := b.arrays
		if sizes == nil { // of rows
			sizes = make([]int, len(items))
		}
		if at.Ival < 1 || int(at.Ival) > len(sizes) {
			panic(b.coded(sqlstate.InvalidColumnReference, loc, "%s position %d is not in select list; its items are 1 to %d", clause, at.Ival, len(sizes)))
		}
		i := xslices.Sum(sizes[:at.Ival-1], func(size int) int { return max(1, size) })
		if sizes[at.Ival-1] > 0 {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "%s of an array is not supported; write one of its percentiles: %s", clause, items[i].E))
		}
		return items[i].E
	}
	return asText(b.expr(n))
}

// outputColumn is the select item that a name in a clause means; nil for none.
func (b *binder) outputColumn(c *pg.ColumnRef, items []plan.Item, clause string) expr.Expr {
	loc := int(c.Location)
	var names []string
	var list []expr.Expr
	for _, i := range items {
		if at := slices.Index(names, i.Name); at < 0 {
			names, list = append(names, i.Name), append(list, i.E)
		} else if list[at] != nil && list[at].String() != i.E.String() {
			list[at] = nil // two different columns of one name
		}
	}
	i, matches := lookup(b.parts(loc, c.Fields)[0], names)
	switch {
	case i < 0 && matches == 0:
		return nil
	case i < 0 || list[i] == nil:
		panic(b.coded(sqlstate.AmbiguousColumn, loc, "%s %q is ambiguous: write the position of a select item, such as 1, or its expression", clause, lastName(c.Fields)))
	}
	return list[i]
}

// distinctOn binds DISTINCT ON; nil without it.
func (b *binder) distinctOn(items []plan.Item) []expr.Expr {
	clause := b.sel.DistinctClause
	if len(clause) == 0 || clause[0].GetNode() == nil { // none, or DISTINCT alone
		return nil
	}
	on := []expr.Expr{}
	for _, n := range clause {
		e := b.sortKey(n, items, "SELECT DISTINCT ON")
		if at(e, on) < 0 {
			on = append(on, e)
		}
	}
	return on
}

// at is the place of an expression in a list, negative where it is not there.
func at(e expr.Expr, list []expr.Expr) int {
	return slices.IndexFunc(list, func(x expr.Expr) bool { return same(x, e) })
}

// ordered puts the select list above a node, with what DISTINCT, DISTINCT ON and ORDER BY say.
func (b *binder) ordered(n plan.Node, items []plan.Item, keys []expr.SortKey, on []expr.Expr) plan.Node {
	distinct := on == nil && len(b.sel.DistinctClause) > 0
	if on != nil {
		keys = withOn(keys, on)
		on = slices.DeleteFunc(on, isConstant)
	}
	keys = slices.DeleteFunc(keys, func(k expr.SortKey) bool { return isConstant(k.E) }) // which all rows have in common
	sort := &plan.Sort{Input: n, Keys: keys, Limit: -1}
	switch {
	case distinct:
		n = &plan.Distinct{Input: &plan.Project{Input: n, Items: items}}
		sort.Input, sort.Keys = n, outputKeys(items, keys)
	case on != nil && len(on) == 0: // all rows are alike: the first of them
		if len(keys) > 0 {
			n = sort
		}
		return &plan.Limit{Input: &plan.Project{Input: n, Items: items}, Count: 1}
	case on != nil:
		sort.Unique = len(on)
	}
	if len(sort.Keys) > 0 {
		n = sort
	}
	if distinct {
		return n
	}
	return &plan.Project{Input: n, Items: items}
}

// outputKeys are sort keys as columns of the select list.
func outputKeys(items []plan.Item, keys []expr.SortKey) (out []expr.SortKey) {
	list := xslices.Map(items, func(i plan.Item) expr.Expr { return i.E })
	for _, k := range keys {
		i := at(k.E, list)
		if i < 0 {
			panic(expr.Coded(sqlstate.InvalidColumnReference, k.E.Pos(), "for SELECT DISTINCT, ORDER BY expressions must appear in select list"))
		}
		k.E = &expr.Column{Index: i, Name: items[i].Name, T: k.E.Type(), P: k.E.Pos()}
		out = append(out, k)
	}
	return out
}

// withOn is sort keys that begin with those of DISTINCT ON, in any order; those that ORDER BY lacks
// are ascending.
func withOn(keys []expr.SortKey, on []expr.Expr) (out []expr.SortKey) {
	var rest []expr.SortKey
	left := slices.Clone(on)
	for _, k := range keys {
		if at(k.E, on) < 0 {
			rest = append(rest, k)
			continue
		}
		if len(rest) > 0 {
			panic(mismatch(k.E))
		}
		i := at(k.E, left)
		left = slices.Delete(left, i, i+1)
		out = append(out, k)
	}
	for _, e := range left {
		if len(rest) > 0 {
			panic(mismatch(e))
		}
		out = append(out, expr.SortKey{E: e})
	}
	return append(out, rest...)
}

func mismatch(e expr.Expr) error {
	return expr.Coded(sqlstate.InvalidColumnReference, e.Pos(), "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
}
