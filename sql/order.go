package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// sortKeys binds ORDER BY; none where there is no ORDER BY, or only of constants.
func (b *binder) sortKeys(items []plan.Item) (keys []plan.SortKey) {
	b.place = inItems
	for _, n := range b.sel.SortClause {
		by := n.GetSortBy()
		if by.SortbyDir == pg.SortByDir_SORTBY_USING {
			panic(b.errorf(int(by.Location), "ORDER BY ... USING is not supported; write ASC or DESC"))
		}
		e := b.sortKey(by.Node, items)
		if _, constant := e.(*expr.Const); constant {
			continue
		}
		k := plan.SortKey{E: e, Desc: by.SortbyDir == pg.SortByDir_SORTBY_DESC}
		k.NullsFirst = k.Desc
		if by.SortbyNulls != pg.SortByNulls_SORTBY_NULLS_DEFAULT {
			k.NullsFirst = by.SortbyNulls == pg.SortByNulls_SORTBY_NULLS_FIRST
		}
		keys = append(keys, k)
	}
	return keys
}

// sortKey is what one key of ORDER BY is: the select item of a name or of a position that stands
// alone, else an expression over the columns of the input (PostgreSQL's rule).
func (b *binder) sortKey(n *pg.Node, items []plan.Item) expr.Expr {
	if c := n.GetColumnRef(); c != nil && len(c.Fields) == 1 && c.Fields[0].GetString_() != nil {
		if e := b.outputColumn(c, items); e != nil {
			return e
		}
	}
	if c := n.GetAConst(); c != nil {
		at, loc := c.GetIval(), int(c.Location)
		switch {
		case at == nil:
			panic(b.errorf(loc, "non-integer constant in ORDER BY; write a column, or the position of a select item"))
		case at.Ival < 1 || int(at.Ival) > len(items):
			panic(b.errorf(loc, "ORDER BY position %d is not in select list; its items are 1 to %d", at.Ival, len(items)))
		}
		return items[at.Ival-1].E
	}
	return settle(b.expr(n))
}

// outputColumn is the select item that a name in ORDER BY means; nil for none.
func (b *binder) outputColumn(c *pg.ColumnRef, items []plan.Item) (found expr.Expr) {
	loc := int(c.Location)
	var names []string
	var list []expr.Expr
	for _, i := range items {
		if at := slices.Index(names, i.Name); at < 0 {
			names, list = append(names, i.Name), append(list, i.E)
		} else if list[at].String() != i.E.String() {
			list[at] = nil // two different columns of one name
		}
	}
	i, matches := lookup(b.parts(loc, c.Fields)[0], names)
	switch {
	case i < 0 && matches == 0:
		return nil
	case i < 0 || list[i] == nil:
		panic(b.errorf(loc, "ORDER BY %q is ambiguous: write the position of a select item, as in ORDER BY 1, or its expression", lastName(c.Fields)))
	}
	return list[i]
}
