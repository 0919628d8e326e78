package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// binder turns one statement's tree into a query.
type binder struct {
	*Statement
	table *table.Table
	names []string // of the table's fields
	alias name     // what a qualified column is qualified with
	aggs  []expr.Aggregate
	// place is the clause being bound: it decides what a column and an
	// aggregate mean.
	place place
	// sizes and copied bound the trees that rewriting makes: see copies.
	sizes  map[expr.Expr]int
	copied int
}

type place uint8

const (
	inItems     place = iota // a select item: aggregates, no bare columns
	inWhere                  // columns, no aggregates
	inAggregate              // the argument of an aggregate: columns, no aggregates
)

// Bind resolves the statement's names against c and types its expressions. It needs
// the fields of a table only, not its rows. Errors are [*expr.Error]s with
// positions in the text given to [Parse].
func (s *Statement) Bind(c Catalog) (*expr.Query, error) {
	if s.err != nil {
		return nil, s.err
	}
	b := &binder{Statement: s, sizes: map[expr.Expr]int{}}
	if err := b.refuseClauses(); err != nil {
		return nil, err
	}
	if err := b.from(c); err != nil {
		return nil, err
	}
	q := &expr.Query{Table: b.table.Name, Header: s.selectText()}
	var err error
	if q.Items, err = b.items(); err != nil {
		return nil, err
	}
	if q.Where, err = b.where(); err != nil {
		return nil, err
	}
	q.Aggs = b.aggs
	return q, nil
}

// selectText is the statement without EXPLAIN.
func (s *Statement) selectText() string {
	if s.Explain {
		return s.Text[s.keyword("select"):]
	}
	return s.Text
}

// refuseClauses names the first clause of the SELECT that is not supported.
func (b *binder) refuseClauses() error {
	n := b.sel
	set := strings.TrimPrefix(n.Op.String(), "SETOP_")
	clauses := []struct {
		there   bool
		keyword string
		name    string
	}{
		{n.WithClause != nil, "with", "WITH"},
		{n.Op != pg.SetOperation_SETOP_NONE || n.All || n.Larg != nil || n.Rarg != nil, set, set},
		{len(n.ValuesLists) > 0, "values", "VALUES"},
		{len(n.DistinctClause) > 0, "distinct", "SELECT DISTINCT"},
		{n.IntoClause != nil, "into", "SELECT INTO"},
		{len(n.GroupClause) > 0 || n.GroupDistinct, "group", "GROUP BY"},
		{n.HavingClause != nil, "having", "HAVING"},
		{len(n.WindowClause) > 0, "window", "WINDOW"},
		{len(n.SortClause) > 0, "order", "ORDER BY"},
		{n.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES, "fetch", "FETCH ... WITH TIES"},
		{n.LimitCount != nil, "limit", "LIMIT"},
		{n.LimitOffset != nil, "offset", "OFFSET"},
		{len(n.LockingClause) > 0, "for", "FOR UPDATE"},
	}
	for _, c := range clauses {
		if !c.there {
			continue
		}
		loc := b.keyword(c.keyword)
		switch {
		case c.keyword == "limit" && loc == 0:
			loc, c.name = b.keyword("fetch"), "FETCH FIRST"
		case c.keyword == "for":
			c.name = lockingName(n.LockingClause)
		}
		return b.errorf(loc, "%s is not supported", c.name)
	}
	return nil
}

func lockingName(list []*pg.Node) string {
	switch list[0].GetLockingClause().GetStrength() {
	case pg.LockClauseStrength_LCS_FORSHARE:
		return "FOR SHARE"
	case pg.LockClauseStrength_LCS_FORKEYSHARE:
		return "FOR KEY SHARE"
	case pg.LockClauseStrength_LCS_FORNOKEYUPDATE:
		return "FOR NO KEY UPDATE"
	}
	return "FOR UPDATE"
}

// from resolves the FROM clause: one table.
func (b *binder) from(c Catalog) error {
	list := b.sel.FromClause
	if len(list) == 0 {
		return b.errorf(0, "a SELECT without FROM is not supported; name a table: %s", tableList(c))
	}
	if len(list) > 1 {
		return b.errorf(b.fromLoc(list[1]), "FROM with several tables is not supported; name one")
	}
	r := list[0].GetRangeVar()
	if r == nil {
		what, loc := b.fromItem(list[0])
		return b.errorf(loc, "%s is not supported", what)
	}
	loc := int(r.Location)
	switch {
	case r.Schemaname != "" || r.Catalogname != "":
		return b.errorf(loc, "a schema before a table's name is not supported; write %s", expr.Ident(r.Relname))
	case !r.Inh:
		return b.errorf(b.keyword("only"), "ONLY is not supported")
	case r.Alias != nil && len(r.Alias.Colnames) > 0:
		return b.errorf(loc, "renaming the columns of a table is not supported")
	}
	n := name{r.Relname, true}
	if spelled, ok := b.Statement.names(loc, 1); ok {
		n = spelled[0]
	}
	if err := b.findTable(n, c, loc); err != nil {
		return err
	}
	b.alias = name{b.table.Name, false}
	if r.Alias != nil {
		b.alias = name{r.Alias.Aliasname, false}
	}
	for _, f := range b.table.Fields {
		b.names = append(b.names, f.Name)
	}
	return nil
}

func tableList(c Catalog) string {
	names := c.Names()
	if len(names) == 0 {
		return "there are none"
	}
	return strings.Join(names[:min(len(names), listAtMost)], ", ")
}

func (b *binder) findTable(n name, c Catalog, loc int) error {
	list := c.Names()
	i, matches := lookup(n, list)
	if i < 0 && matches > 1 {
		return b.errorf(loc, "table name %s is ambiguous; %d tables differ in case only: write it in double quotes", n.text, matches)
	}
	if i < 0 {
		return b.errorf(loc, "table %q does not exist%s", clipped(n.text), suggest(n.text, list, "tables"))
	}
	t, ok := c.Table(list[i])
	if !ok {
		return b.errorf(loc, "table %q does not exist", n.text)
	}
	b.table = t
	return nil
}

// fromLoc is where a FROM item stands.
func (b *binder) fromLoc(n *pg.Node) int {
	if r := n.GetRangeVar(); r != nil {
		return int(r.Location)
	}
	_, loc := b.fromItem(n)
	return loc
}

// fromItem names a FROM item that is not a table.
func (b *binder) fromItem(n *pg.Node) (what string, loc int) {
	switch n := n.Node.(type) {
	case *pg.Node_JoinExpr:
		return "JOIN", b.keyword("join")
	case *pg.Node_RangeSubselect:
		return "a subquery in FROM", b.keyword("from")
	case *pg.Node_RangeTableSample:
		return "TABLESAMPLE", b.keyword("tablesample")
	case *pg.Node_RangeFunction:
		return "a function in FROM", b.keyword("from")
	case *pg.Node_RangeTableFunc:
		return "XMLTABLE", int(n.RangeTableFunc.Location)
	case *pg.Node_JsonTable:
		return "JSON_TABLE", int(n.JsonTable.Location)
	}
	return "this FROM item", b.keyword("from")
}

// maxItems is the longest select list; it is PostgreSQL's limit too.
const maxItems = 1664

// items binds the select list.
func (b *binder) items() ([]expr.Item, error) {
	var items []expr.Item
	b.place = inItems
	if len(b.sel.TargetList) == 0 {
		return nil, b.errorf(0, "the select list is empty; write an aggregate, such as COUNT(*)")
	}
	if len(b.sel.TargetList) > maxItems {
		return nil, b.errorf(0, "the select list has %d items; at most %d are allowed", len(b.sel.TargetList), maxItems)
	}
	for _, t := range b.sel.TargetList {
		rt := t.GetResTarget()
		if rt == nil || len(rt.Indirection) > 0 {
			return nil, b.errorf(int(rt.GetLocation()), "this select item is not supported")
		}
		e, err := b.expr(rt.Val)
		if err != nil {
			return nil, err
		}
		if s, ok := e.(*span); ok && s.months != 0 {
			return nil, b.errorf(int(rt.Location), "selecting an interval of months is not supported")
		}
		if e, err = b.settle(e); err != nil {
			return nil, err
		}
		name := rt.Name
		if name == "" {
			name, _ = columnName(rt.Val)
		}
		items = append(items, expr.Item{Name: name, E: e})
	}
	if len(b.aggs) == 0 {
		loc := int(b.sel.TargetList[0].GetResTarget().GetLocation())
		return nil, b.errorf(loc, "a SELECT without an aggregate is not supported; write one, such as COUNT(*)")
	}
	return items, nil
}

// columnName is PostgreSQL's name for an unnamed column, and how strongly it
// holds: a function's name outweighs the type it is cast to.
func columnName(n *pg.Node) (string, int) {
	switch n := n.GetNode().(type) {
	case *pg.Node_FuncCall:
		return lastName(n.FuncCall.Funcname), 2
	case *pg.Node_ColumnRef:
		return lastName(n.ColumnRef.Fields), 2
	case *pg.Node_CollateClause:
		return columnName(n.CollateClause.Arg)
	case *pg.Node_TypeCast:
		if name, strength := columnName(n.TypeCast.Arg); strength > 1 {
			return name, strength
		}
		return lastName(n.TypeCast.TypeName.GetNames()), 1
	}
	return "?column?", 0
}

func lastName(list []*pg.Node) string {
	if len(list) == 0 {
		return "?column?"
	}
	return list[len(list)-1].GetString_().GetSval()
}

// where binds the WHERE clause; nil when there is none or it is TRUE for every
// record.
func (b *binder) where() (expr.Expr, error) {
	if b.sel.WhereClause == nil {
		return nil, nil
	}
	b.place = inWhere
	e, err := b.boolean(b.sel.WhereClause, "WHERE")
	if err != nil {
		return nil, err
	}
	if c, ok := e.(*expr.Const); ok && !c.V.Null && c.V.I != 0 {
		return nil, nil
	}
	return e, nil
}

// column resolves a column's name.
func (b *binder) column(n *pg.ColumnRef) (expr.Expr, error) {
	loc := int(n.Location)
	var plain []name
	for _, f := range n.Fields {
		if f.GetAStar() != nil {
			return nil, b.errorf(loc, "* is not supported here: plain columns cannot be selected yet, only aggregates of them")
		}
		plain = append(plain, name{f.GetString_().GetSval(), true})
	}
	if spelled, ok := b.Statement.names(loc, len(plain)); ok {
		plain = spelled
	}
	if len(plain) > 2 {
		return nil, b.errorf(loc, "a schema before a column's name is not supported")
	}
	if len(plain) == 2 {
		if i, _ := lookup(plain[0], []string{b.alias.text}); i < 0 {
			return nil, b.errorf(loc, "there is no table %s in this query's FROM; it has %s", plain[0].text, b.alias.text)
		}
	}
	want := plain[len(plain)-1]
	i, matches := lookup(want, b.names)
	if i < 0 && matches > 1 {
		return nil, b.errorf(loc, "column name %s is ambiguous; %d columns differ in case only: write it in double quotes", want.text, matches)
	}
	if i < 0 {
		return nil, b.errorf(loc, "column %q does not exist%s", clipped(want.text), suggest(want.text, b.names, "columns"))
	}
	f := b.table.Fields[i]
	if f.Unsupported != "" {
		return nil, b.errorf(loc, "column %q cannot be used: %s", f.Name, f.Unsupported)
	}
	if b.place == inItems {
		return nil, b.errorf(loc, "column %q stands outside an aggregate: plain columns cannot be selected yet, only aggregates such as MIN(%s)", f.Name, expr.Ident(f.Name))
	}
	if b.place == inWhere && f.Type.Kind == table.Unknown {
		// No record has a value of it, and NULL takes whatever type is needed.
		return &expr.Const{V: table.Null(f.Type), P: b.pos(loc)}, nil
	}
	return &expr.Column{Index: i, Name: f.Name, T: f.Type, P: b.pos(loc)}, nil
}

// aggregate returns the reference to a, adding it if the query has none like it.
func (b *binder) aggregate(a expr.Aggregate) expr.Expr {
	i := slices.IndexFunc(b.aggs, func(have expr.Aggregate) bool {
		have.P, have.Median = a.P, a.Median // the first spelling stays
		return have == a
	})
	if i < 0 {
		i = len(b.aggs)
		b.aggs = append(b.aggs, a)
	}
	return &expr.AggRef{Index: i, Name: a.String(), T: a.Type(), P: a.P}
}
