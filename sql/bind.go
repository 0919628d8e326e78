package sql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// binder turns one statement's tree into a plan. What meets an error, in it or among the
// functions that it calls, panics with the [*expr.Error], which [Statement.Bind] returns.
type binder struct {
	*Statement
	c      Catalog
	params []table.Value
	types  []table.Type // of params: see [binder.param]
	noted  *boundValues // nil where nobody asks
	sel    *pg.SelectStmt
	// outer binds the query around a subquery, whose columns this one may read; parent that in which this one
	// stands, whose WITH it may name.
	outer, parent *binder
	with          []*cte
	scope         *scope // what FROM gives, while an ON is bound what stands on its two sides; nil without FROM
	groups
	// place is the clause being bound: it decides what a column and an
	// aggregate mean.
	place    place
	changes  bool       // FROM or USING of a statement that changes the first table of the scope is being bound: LATERAL does not read that
	ofItems  subqueries // those of the select list
	inKeys   bool       // in a key of ORDER BY or DISTINCT ON
	inWindow bool       // in the operands of a window function
	// inExpr, inOuter and inSide say where the query or the part of FROM stands. That is in an expression, on the side of an outer join
	// that may be NULL, or on a side of INTERSECT or EXCEPT. What a recursive query gives cannot be read there.
	inExpr, inOuter bool
	inSide          string
	merged          bool // the select list is a row that MERGE inserts
	// sizes and copied bound the trees that rewriting makes: see copies.
	sizes  map[expr.Expr]int
	copied int
	now    *time.Time // of the statement, once asked for
	// sizes of the arrays that select items are, one an item: see [plan.Arrays]. answers says that it
	// may have some, since it is the statement itself.
	arrays  []int
	answers bool
	// subqueries counts those of the statement.
	subqueries *int
	uses       *uses // what the statement reads, without what its views read
}

type place uint8

const (
	inItems     place = iota // a select item or HAVING: columns, or keys and aggregates
	inWhere                  // columns, no aggregates
	inJoin                   // ON: columns, no aggregates
	inGroup                  // a key of GROUP BY: columns, no aggregates
	inAggregate              // in an aggregate: columns, no aggregates
	inLimit                  // LIMIT and OFFSET: neither
	inSet                    // a value of UPDATE or DO UPDATE: columns, no aggregates
	inValues                 // a row of INSERT: neither
	inTable                  // in the definition of a table: columns, no aggregates
	inUsing                  // USING of ALTER TABLE: columns, no aggregates
)

// Bind resolves the statement's names against c and types its expressions. It needs
// the fields of a table only, not its rows. The values of $1, $2, ... are params;
// text of unknown type among them takes the type that its place needs, as a string
// literal does. Errors are [*expr.Error]s with positions in the text given to [Parse], or
// the catalog's of a table that cannot be read.
func (s *Statement) Bind(c Catalog, params ...table.Value) (bound plan.Node, err error) {
	return s.bindRows(c, params, nil, new(time.Time))
}

func (s *Statement) bindRows(c Catalog, params []table.Value, n *boundValues, now *time.Time) (bound plan.Node, err error) {
	if err = s.checkParameters(params); err != nil {
		return nil, err
	}
	if s.Setting != nil {
		return nil, s.errorf(0, "%s has no plan", s.Setting.Verb)
	}
	if s.Index != nil || s.Transaction != nil || s.Prepared != nil || s.Upkeep != nil {
		return nil, s.errorf(0, "%s has no plan", s.firstWords())
	}
	if s.changed != nil {
		return nil, s.coded(sqlstate.FeatureNotSupported, 0, "%s changes tables: it is run or explained, and what is traced is a SELECT", s.firstWords())
	}
	sel, done, err := s.query()
	if err != nil {
		return nil, err
	}
	defer done()
	defer caught(&err)
	b := s.binder(c, params)
	b.sel, b.noted, b.now = sel, n, now
	switch {
	case s.shows == "tables":
		var comments []string
		for _, name := range c.Names {
			text := ""
			if def := c.definition(name); def != nil {
				text = def.Comment
			}
			comments = append(comments, text)
		}
		return withComments([]string{"table_name"}, comments, c.Names), nil
	case s.shows == "functions":
		return functionList(), nil
	case s.shows == "rules":
		return ruleList(), nil
	case s.describes:
		return b.describe(), nil
	case s.summarizes:
		return b.summarize(), nil
	}
	return b.answer(), nil
}

// answer binds the statement's own query.
func (b *binder) answer() plan.Node {
	b.answers = true
	n := rules.Unnest(b.query(), b.c.Off)
	if slices.Max(append(b.arrays, 0)) > 0 {
		n = &plan.Arrays{Input: n, Sizes: b.arrays}
	}
	return n
}

// checkParameters is why the statement cannot be bound, before any name is looked at.
func (s *Statement) checkParameters(params []table.Value) error {
	if s.err == nil && len(params) != s.Params {
		return s.errorf(0, "the statement has %s, and %s given",
			numbers.Count(s.Params, "parameter", "parameters"), numbers.Count(len(params), "value was", "values were"))
	}
	return s.err
}

func (s *Statement) binder(c Catalog, params []table.Value) *binder {
	return &binder{Statement: s, c: c, params: params, types: make([]table.Type, len(params)), sel: s.sel, sizes: map[expr.Expr]int{}, now: new(time.Time), subqueries: new(int), uses: newUses()}
}

// caught makes a binder's panic an error; it is deferred.
func caught(err *error) {
	switch v := recover().(type) {
	case nil:
	case *expr.Error:
		*err = v
	case unread:
		*err = v.error
	default:
		panic(v)
	}
}

// unread is why a table cannot be read.
type unread struct{ error }

// query binds a SELECT, VALUES, or a set operation.
func (b *binder) query() plan.Node {
	b.refuseClauses()
	b.withs()
	switch {
	case b.sel.Op != pg.SetOperation_SETOP_NONE:
		return b.rows(b.combined())
	case len(b.sel.ValuesLists) > 0:
		return b.rows(b.values())
	}
	n := plan.Rewrite(b.from(), rules.FoldFalse)
	b.groupBy()
	items := b.items()
	keys := b.sortKeys(items)
	on := b.distinctOn(items)
	having := b.having()
	windows := slices.ContainsFunc(items, func(i plan.Item) bool { return expr.HasWindow(i.E) })
	if len(b.sel.FromClause) == 0 && (windows || len(b.aggs) > 0 || len(b.sel.GroupClause) > 0 || having != nil) {
		n = oneRow()
	}
	if where := b.where(); where != nil {
		n = rules.FoldFalse(&plan.Filter{Input: n, Where: where})
	}
	return b.limit(b.ordered(b.grouped(n, having), items, keys, on))
}

// Select is the statement without EXPLAIN.
func (s *Statement) Select() string {
	if s.Explain {
		return s.Text[s.queryAt():]
	}
	return s.Text
}

// refuseClauses fails at the first clause of the SELECT that is not supported.
func (b *binder) refuseClauses() {
	n := b.sel
	type clause struct {
		there         bool
		keyword, name string
	}
	clauses := []clause{
		{n.IntoClause != nil, "into", "INTO in this place"},
		{n.GroupDistinct, "group", "GROUP BY DISTINCT"},
		{n.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES, "fetch", "FETCH ... WITH TIES"},
	}
	for _, l := range n.LockingClause {
		clauses = append(clauses, clause{true, "for", locks[l.GetLockingClause().GetStrength()]})
	}
	for _, c := range clauses {
		if c.there {
			panic(b.coded(sqlstate.FeatureNotSupported, b.keyword(c.keyword), "%s is not supported", c.name))
		}
	}
}

var locks = map[pg.LockClauseStrength]string{
	pg.LockClauseStrength_LCS_FORSHARE: "FOR SHARE", pg.LockClauseStrength_LCS_FORKEYSHARE: "FOR KEY SHARE",
	pg.LockClauseStrength_LCS_FORNOKEYUPDATE: "FOR NO KEY UPDATE", pg.LockClauseStrength_LCS_FORUPDATE: "FOR UPDATE",
}

// The codes of names that are ambiguous, and of those that nothing has, by what they name.
var (
	ambiguous = map[string]sqlstate.Code{"table": sqlstate.AmbiguousAlias, "view": sqlstate.AmbiguousAlias, "column": sqlstate.AmbiguousColumn}
	undefined = map[string]sqlstate.Code{"table": sqlstate.UndefinedTable, "view": sqlstate.UndefinedTable, "column": sqlstate.UndefinedColumn}
)

// find returns the place of a name among those of all tables or columns.
func (b *binder) find(kind string, n name, list []string, loc int) int {
	i, matches := lookup(n, list)
	switch {
	case i < 0 && matches > 1:
		panic(b.coded(ambiguous[kind], loc, "%s name %s is ambiguous; %d %ss differ in case only: write it in double quotes", kind, n.text, matches, kind))
	case i < 0:
		text := suggest(n.text, list, kind+"s")
		switch isItem := func(t *pg.Node) bool { return strings.EqualFold(t.GetResTarget().GetName(), n.text) }; {
		case kind == "column" && slices.ContainsFunc(b.sel.GetTargetList(), isItem):
			text = "; it names a select item: write its expression in this place"
		case kind == "column" && b.isTable(n):
			text = "; it names a table, whose whole row is no value here: write its columns, or COUNT(*) for its rows"
		case kind == "column" && n.quoted:
			text += fmt.Sprintf("; a text is written '%s'", clipped(n.text))
		}
		panic(b.coded(undefined[kind], loc, "%s %q does not exist%s", kind, clipped(n.text), text))
	}
	return i
}

// maxItems is the longest select list; it is PostgreSQL's limit too.
const maxItems = 1664

func (b *binder) items() []plan.Item {
	var items []plan.Item
	var written []*pg.Node // the list without stars
	b.place = inItems
	if len(b.sel.TargetList) == 0 {
		panic(b.coded(sqlstate.FeatureNotSupported, 0, "the select list is empty; write a column, *, or an aggregate such as COUNT(*)"))
	}
	b.countItems(len(b.sel.TargetList))
	for _, t := range b.sel.TargetList {
		rt := t.GetResTarget()
		if rt == nil || len(rt.Indirection) > 0 {
			panic(b.coded(sqlstate.FeatureNotSupported, int(rt.GetLocation()), "this select item is not supported"))
		}
		if fields := rt.Val.GetColumnRef().GetFields(); len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil {
			of := b.starred(rt.Val.GetColumnRef())
			all := b.star(of, int(rt.Val.GetColumnRef().Location))
			written = append(written, b.writtenStar(of)...)
			items, b.arrays = append(items, all...), append(b.arrays, make([]int, len(all))...)
			continue
		}
		written = append(written, t)
		name, _ := columnName(rt.Val)
		if list := b.percentiles(rt.Val); list != nil {
			for _, e := range list {
				items = append(items, plan.Item{Name: cmp.Or(rt.Name, name), E: e})
			}
			b.arrays = append(b.arrays, len(list))
			continue
		}
		items = append(items, plan.Item{Name: cmp.Or(rt.Name, name), E: asText(b.expr(rt.Val))})
		b.arrays = append(b.arrays, 0)
	}
	b.countItems(len(items))
	if b.uses.written {
		b.sel.TargetList = written
	}
	return items
}

func (b *binder) countItems(n int) {
	if n > maxItems {
		panic(b.coded(sqlstate.TooManyColumns, 0, "the select list has %d items; at most %d are allowed", n, maxItems))
	}
}

// parts are the identifiers of a name with dots at loc.
func (b *binder) parts(loc int, list []*pg.Node) []name {
	var folded []string
	for _, f := range list {
		if f.GetAStar() != nil {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "* is not supported here: all columns of a table are no single value; write them one by one"))
		}
		folded = append(folded, f.GetString_().GetSval())
	}
	return b.spelled(loc, folded...)
}

// limit puts LIMIT and OFFSET above a node.
func (b *binder) limit(n plan.Node) plan.Node {
	b.place = inLimit
	count := b.rowCount(b.sel.LimitCount, "LIMIT", -1)
	offset := b.rowCount(b.sel.LimitOffset, "OFFSET", 0)
	if count < 0 && offset == 0 {
		return n
	}
	return &plan.Limit{Input: n, Offset: offset, Count: count}
}

// rowCount is the constant of LIMIT or OFFSET: a number of rows, absent where it is NULL.
func (b *binder) rowCount(n *pg.Node, clause string, absent int64) int64 {
	if n == nil {
		return absent
	}
	e := coerce(b.expr(n), bigint)
	if !e.Type().IsNumeric() {
		panic(expr.Coded(sqlstate.DatatypeMismatch, e.Pos(), "argument of %s must be type bigint, not type %s", clause, typeName(e.Type())))
	}
	v := must(expr.Eval(&expr.Cast{X: e, To: bigint, P: e.Pos()}, constants))
	switch {
	case v.Null:
		return absent
	case v.I < 0:
		panic(expr.Coded(map[string]sqlstate.Code{"LIMIT": sqlstate.InvalidRowCountInLimit, "OFFSET": sqlstate.InvalidRowCountInOffset}[clause], e.Pos(), "%s must not be negative", clause))
	}
	return v.I
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
	case *pg.Node_CaseExpr:
		if name, strength := columnName(n.CaseExpr.Defresult); strength > 1 {
			return name, strength
		}
		return "case", 1
	case *pg.Node_SqlvalueFunction:
		return strings.ToLower(clockWord(n.SqlvalueFunction)), 2
	case *pg.Node_GroupingFunc:
		return "grouping", 2
	case *pg.Node_CoalesceExpr:
		return "coalesce", 2
	case *pg.Node_SubLink:
		switch n.SubLink.SubLinkType {
		case pg.SubLinkType_EXISTS_SUBLINK:
			return "exists", 2
		case pg.SubLinkType_EXPR_SUBLINK:
			if items := n.SubLink.Subselect.GetSelectStmt().GetTargetList(); len(items) == 1 {
				t := items[0].GetResTarget()
				name, _ := columnName(t.GetVal())
				return cmp.Or(t.GetName(), name), 2
			}
		}
	case *pg.Node_MinMaxExpr:
		return strings.ToLower(strings.TrimPrefix(n.MinMaxExpr.Op.String(), "IS_")), 2
	case *pg.Node_AExpr:
		if n.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", 2
		}
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
func (b *binder) where() expr.Expr {
	if b.sel.WhereClause == nil {
		return nil
	}
	b.place = inWhere
	e := b.boolean(b.sel.WhereClause, "WHERE")
	if c, ok := e.(*expr.Const); ok && !c.V.Null && c.V.I != 0 {
		return nil
	}
	return e
}

func (b *binder) column(n *pg.ColumnRef) expr.Expr {
	loc := int(n.Location)
	if b.place == inLimit {
		panic(b.coded(sqlstate.InvalidColumnReference, loc, "argument of LIMIT and OFFSET must not contain variables"))
	}
	plain := b.parts(loc, n.Fields)
	if e := b.around(n, plain); e != nil {
		return e
	}
	if b.scope == nil && len(plain) == 1 {
		b.find("column", plain[0], nil, loc)
	}
	switch len(plain) {
	case 1:
		return b.outputOf(b.unqualified(plain[0], loc), loc)
	case 2:
		s := b.qualified(plain[0], loc)
		return b.field(s.first+b.find("column", plain[1], b.scope.names(s), loc), loc)
	}
	panic(b.coded(sqlstate.FeatureNotSupported, loc, "a schema before a column's name is not supported"))
}
