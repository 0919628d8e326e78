package sql

import (
	"cmp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// binder turns one statement's tree into a plan.
type binder struct {
	*Statement
	params []table.Value
	table  *table.Table // nil without FROM
	names  []string     // of the table's fields
	alias  name         // what a qualified column is qualified with
	aggs   []expr.Aggregate
	bare   *expr.Column // the first column in the select list outside an aggregate
	// place is the clause being bound: it decides what a column and an
	// aggregate mean.
	place place
	// sizes and copied bound the trees that rewriting makes: see copies.
	sizes  map[expr.Expr]int
	copied int
}

type place uint8

const (
	inItems     place = iota // a select item: columns, or aggregates
	inWhere                  // columns, no aggregates
	inAggregate              // the argument of an aggregate: columns, no aggregates
	inLimit                  // LIMIT and OFFSET: neither
)

// Bind resolves the statement's names against c and types its expressions. It needs
// the fields of a table only, not its rows. The values of $1, $2, ... are params;
// text of unknown type among them takes the type that its place needs, as a string
// literal does. Errors are [*expr.Error]s with positions in the text given to [Parse].
func (s *Statement) Bind(c Catalog, params ...table.Value) (plan.Node, error) {
	if s.err != nil {
		return nil, s.err
	}
	if len(params) != s.Params {
		return nil, s.errorf(0, "the statement has %s, and %s given",
			numbers.Count(s.Params, "parameter", "parameters"), numbers.Count(len(params), "value was", "values were"))
	}
	b := &binder{Statement: s, params: params, sizes: map[expr.Expr]int{}}
	if err := b.refuseClauses(); err != nil {
		return nil, err
	}
	n, err := b.from(c)
	if err != nil {
		return nil, err
	}
	items, err := b.items()
	if err != nil {
		return nil, err
	}
	where, err := b.where()
	if err != nil {
		return nil, err
	}
	if where != nil {
		n = &plan.Filter{Input: n, Where: where}
	}
	if len(b.aggs) > 0 {
		n = &plan.Aggregate{Input: n, Aggs: b.aggs}
	}
	return b.limit(&plan.Project{Input: n, Items: items})
}

// Select is the statement without EXPLAIN.
func (s *Statement) Select() string {
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
		{len(n.LockingClause) > 0, "for", "FOR UPDATE"},
	}
	for _, c := range clauses {
		if !c.there {
			continue
		}
		loc := b.keyword(c.keyword)
		if c.keyword == "for" {
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

// from resolves the FROM clause: one table, or without one a row without columns.
func (b *binder) from(c Catalog) (plan.Node, error) {
	list := b.sel.FromClause
	if len(list) == 0 {
		return &plan.Values{Rows: [][]expr.Expr{{}}}, nil
	}
	if len(list) > 1 {
		return nil, b.errorf(b.fromLoc(list[1]), "FROM with several tables is not supported; name one")
	}
	r := list[0].GetRangeVar()
	if r == nil {
		what, loc := b.fromItem(list[0])
		return nil, b.errorf(loc, "%s is not supported", what)
	}
	loc := int(r.Location)
	switch {
	case r.Schemaname != "" || r.Catalogname != "":
		return nil, b.errorf(loc, "a schema before a table's name is not supported; write %s", expr.Ident(r.Relname))
	case !r.Inh:
		return nil, b.errorf(b.keyword("only"), "ONLY is not supported")
	case r.Alias != nil && len(r.Alias.Colnames) > 0:
		return nil, b.errorf(loc, "renaming the columns of a table is not supported")
	}
	if err := b.findTable(b.spelled(loc, r.Relname)[0], c, loc); err != nil {
		return nil, err
	}
	b.alias = name{b.table.Name, false}
	if r.Alias != nil {
		b.alias = name{r.Alias.Aliasname, false}
	}
	for _, f := range b.table.Fields {
		b.names = append(b.names, f.Name)
	}
	return &plan.Scan{Table: b.table.Name, Columns: b.table.Fields}, nil
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
func (b *binder) items() ([]plan.Item, error) {
	var items []plan.Item
	b.place = inItems
	if len(b.sel.TargetList) == 0 {
		return nil, b.errorf(0, "the select list is empty; write a column, *, or an aggregate such as COUNT(*)")
	}
	if len(b.sel.TargetList) > maxItems {
		return nil, b.tooMany(len(b.sel.TargetList))
	}
	for _, t := range b.sel.TargetList {
		rt := t.GetResTarget()
		if rt == nil || len(rt.Indirection) > 0 {
			return nil, b.errorf(int(rt.GetLocation()), "this select item is not supported")
		}
		if fields := rt.Val.GetColumnRef().GetFields(); len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil {
			all, err := b.star(rt.Val.GetColumnRef())
			if err != nil {
				return nil, err
			}
			items = append(items, all...)
			continue
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
		items = append(items, plan.Item{Name: name, E: e})
	}
	if len(items) > maxItems {
		return nil, b.tooMany(len(items))
	}
	if len(b.aggs) > 0 && b.bare != nil {
		return nil, expr.Errorf(b.bare.P, "column %q must appear in the GROUP BY clause or be used in an aggregate function; GROUP BY is not supported", b.bare.Name)
	}
	return items, nil
}

func (b *binder) tooMany(items int) error {
	return b.errorf(0, "the select list has %d items; at most %d are allowed", items, maxItems)
}

// star is * or t.* in a select list: every column.
func (b *binder) star(n *pg.ColumnRef) ([]plan.Item, error) {
	loc := int(n.Location)
	if b.table == nil {
		return nil, b.errorf(loc, "SELECT * with no tables specified is not valid")
	}
	if q := len(n.Fields) - 1; q > 0 {
		var names []string
		for _, f := range n.Fields[:q] {
			names = append(names, f.GetString_().GetSval())
		}
		if err := b.qualified(b.spelled(loc, names...)[q-1], loc); err != nil || q > 1 {
			return nil, cmp.Or(err, b.errorf(loc, "a schema before a table's name is not supported"))
		}
	}
	var items []plan.Item
	for i := range b.names {
		e, err := b.field(i, loc)
		if err == nil {
			e, err = b.settle(e)
		}
		if err != nil {
			return nil, err
		}
		items = append(items, plan.Item{Name: b.names[i], E: e})
	}
	return items, nil
}

// limit puts LIMIT and OFFSET above a node.
func (b *binder) limit(n plan.Node) (plan.Node, error) {
	b.place = inLimit
	count, err := b.rowCount(b.sel.LimitCount, "LIMIT", -1)
	if err != nil {
		return nil, err
	}
	offset, err := b.rowCount(b.sel.LimitOffset, "OFFSET", 0)
	if err != nil || count < 0 && offset == 0 {
		return n, err
	}
	return &plan.Limit{Input: n, Offset: offset, Count: count}, nil
}

// rowCount is the constant of LIMIT or OFFSET: a number of rows, absent where it is NULL.
func (b *binder) rowCount(n *pg.Node, clause string, absent int64) (int64, error) {
	if n == nil {
		return absent, nil
	}
	e, err := b.expr(n)
	if err != nil {
		return 0, err
	}
	if isUnknown(e) {
		if e, err = b.coerce(e, bigint); err != nil {
			return 0, err
		}
	}
	if !e.Type().IsNumeric() {
		return 0, expr.Errorf(e.Pos(), "argument of %s must be type bigint, not type %s", clause, typeName(e.Type()))
	}
	v, err := expr.Eval(&expr.Cast{X: e, To: bigint, P: e.Pos()}, constants)
	switch {
	case err != nil:
		return 0, err
	case v.Null:
		return absent, nil
	case v.I < 0:
		return 0, expr.Errorf(e.Pos(), "%s must not be negative", clause)
	}
	return v.I, nil
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
	if b.place == inLimit {
		return nil, b.errorf(loc, "argument of LIMIT and OFFSET must not contain variables")
	}
	var folded []string
	for _, f := range n.Fields {
		if f.GetAStar() != nil {
			return nil, b.errorf(loc, "* is not supported here")
		}
		folded = append(folded, f.GetString_().GetSval())
	}
	plain := b.spelled(loc, folded...)
	if len(plain) > 2 {
		return nil, b.errorf(loc, "a schema before a column's name is not supported")
	}
	if len(plain) == 2 {
		if err := b.qualified(plain[0], loc); err != nil {
			return nil, err
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
	return b.field(i, loc)
}

// qualified checks what stands before a column's name.
func (b *binder) qualified(n name, loc int) error {
	if b.table == nil {
		return b.errorf(loc, "there is no table %s: the query has no FROM", n.text)
	}
	if i, _ := lookup(n, []string{b.alias.text}); i < 0 {
		return b.errorf(loc, "there is no table %s in this query's FROM; it has %s", n.text, b.alias.text)
	}
	return nil
}

// field is column i of the table.
func (b *binder) field(i, loc int) (expr.Expr, error) {
	f := b.table.Fields[i]
	if f.Unsupported != "" {
		return nil, b.errorf(loc, "column %q cannot be used: %s", f.Name, f.Unsupported)
	}
	c := &expr.Column{Index: i, Name: f.Name, T: f.Type, P: b.pos(loc)}
	if b.place == inItems && b.bare == nil {
		b.bare = c
	}
	if b.place != inAggregate && f.Type.Kind == table.Unknown {
		// No record has a value of it, and NULL takes whatever type is needed.
		return &expr.Const{V: table.Null(f.Type), P: b.pos(loc)}, nil
	}
	return c, nil
}

// param is $1 and so on.
func (b *binder) param(n *pg.ParamRef) (expr.Expr, error) {
	v := b.params[n.Number-1]
	if v.Type.Kind == table.Interval && !v.Null {
		return &span{micros: v.I, pos: b.pos(int(n.Location))}, nil
	}
	return &expr.Const{V: v, P: b.pos(int(n.Location))}, nil
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
