package sql

import (
	"cmp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// scope is the output of a FROM clause, or of a part of one. It has the columns of its tables side by side,
// and their names without that of the table.
type scope struct {
	fields  []table.Field
	tables  []source
	visible []output
	called  []string // the names of visible, once they were asked for
}

// source is a table of a scope: its columns are n from first on.
type source struct {
	alias    string
	first, n int
	of       string // the table's or the view's own name; "" for another query
	rows     plan.Node
}

// output is a column of SELECT *: the first of these that is not NULL. It is one column, or
// those that USING makes one of.
type output struct {
	name    string
	columns []int
	as      table.Type // that a column of USING is converted to; unknown for its own
}

// names are those of a table's columns.
func (s *scope) names(of source) []string {
	return xslices.Map(s.fields[of.first:of.first+of.n], func(f table.Field) string { return f.Name })
}

// visibleNames are those of the columns of SELECT *, which no longer change.
func (s *scope) visibleNames() []string {
	if s == nil {
		return nil
	}
	if s.called == nil {
		s.called = make([]string, 0, len(s.visible))
		for _, v := range s.visible {
			s.called = append(s.called, v.name)
		}
	}
	return s.called
}

func (s *scope) aliases() []string {
	return xslices.Map(s.tables, func(t source) string { return t.alias })
}

// tableAt is the table of a column.
func (s *scope) tableAt(column int) source {
	return s.tables[slices.IndexFunc(s.tables, func(t source) bool { return column < t.first+t.n })]
}

// concat is a scope with another one to the right of it.
func (s *scope) concat(r *scope) *scope {
	out, n := &scope{fields: slices.Concat(s.fields, r.fields), tables: slices.Concat(s.tables, r.tables), visible: slices.Concat(s.visible, r.visible)}, len(s.fields)
	for i := range out.tables[len(s.tables):] {
		out.tables[len(s.tables)+i].first += n
	}
	columns := make([]int, 0, len(r.fields))
	for i := range out.visible[len(s.visible):] {
		v, first := &out.visible[len(s.visible)+i], len(columns)
		for _, c := range v.columns {
			columns = append(columns, c+n)
		}
		v.columns = columns[first:len(columns):len(columns)]
	}
	return out
}

// from resolves the FROM clause: tables and joins of them, or without one a row without columns.
func (b *binder) from() plan.Node {
	if len(b.sel.FromClause) == 0 {
		return &plan.Values{Rows: [][]expr.Expr{{}}}
	}
	return b.joinFrom(nil)
}

// oneRow is a table of one row, for aggregates and window functions without FROM.
func oneRow() plan.Node {
	one := &plan.Values{Rows: [][]expr.Expr{{}}}
	return &plan.Derived{Of: &plan.Subplan{Tree: &plan.Project{Input: one, Items: []plan.Item{{Name: "one", E: &expr.Const{V: table.Literal(1), P: -1}}}}}}
}

// joinFrom joins the tables of FROM to those of the scope, if any.
func (b *binder) joinFrom(all plan.Node) plan.Node {
	b.place = inJoin
	for _, item := range b.sel.FromClause {
		n, s := b.fromItem(item)
		if all == nil {
			all, b.scope = n, s
			continue
		}
		b.refuseTwice(b.scope, s, b.locationOf(item))
		all, b.scope = &plan.Join{Left: all, Right: n}, b.scope.concat(s)
	}
	return rules.PlaceLateral(all)
}

// fromItem resolves an item of FROM.
func (b *binder) fromItem(item *pg.Node) (plan.Node, *scope) {
	loc := b.locationOf(item)
	var t *table.Table
	var alias *pg.Alias
	var name string
	switch n := item.Node.(type) {
	case *pg.Node_RangeSubselect:
		return b.subselect(n.RangeSubselect)
	case *pg.Node_JoinExpr:
		return b.join(n.JoinExpr)
	case *pg.Node_RangeFunction:
		if s, ok := b.series(n.RangeFunction); ok {
			node, scope := b.derived(&plan.Subplan{Tree: s}, n.RangeFunction.Alias, "generate_series", loc)
			node.(*plan.Derived).Lateral = true
			return node, scope
		}
		f, at := b.fileOf(n.RangeFunction)
		opened, ok := b.open(f, at)
		if !ok {
			panic(b.coded(sqlstate.UndefinedFile, at, "there is no file %q", clipped(f.Path)))
		}
		t, name, alias = opened, f.Function, n.RangeFunction.Alias
	case *pg.Node_RangeVar:
		r := n.RangeVar
		if r.Catalogname != "" { // of ONLY there is nothing to know: no table inherits from another one
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "a database before a table's name is not supported; write %s", expr.Ident(r.Relname)))
		}
		if c := b.cteNamed(r, loc); c != nil {
			return b.derived(c.asRead(b), r.Alias, c.name, loc)
		}
		alias = r.Alias
		if v := b.viewNamed(r); v != nil {
			b.uses.note(v.Name)
			b.writtenTable(r, v.Name)
			n, s := b.derived(&plan.Subplan{Name: v.Name, Tree: b.viewed(v, loc)}, alias, v.Name, loc)
			s.tables[0].of = v.Name
			return n, s
		}
		t, name = b.tableNamed(r, loc)
		b.writtenTable(r, t.Name)
	case *pg.Node_RangeTableSample:
		return b.sampled(n.RangeTableSample)
	default:
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "%s is not supported", fromWords(item)))
	}
	b.uses.note(t.Name)
	s := b.scopeOf(t.Fields, alias, name, loc)
	scan := &plan.Scan{Table: t.Name, As: alias.GetAliasname(), Columns: t.Fields}
	s.tables[0].of, s.tables[0].rows = t.Name, scan
	return scan, s
}

// scopeOf is the scope of one table, which an alias may give other names.
func (b *binder) scopeOf(fields []table.Field, alias *pg.Alias, name string, loc int) *scope {
	fields = slices.Clone(fields)
	n := len(fields)
	if n > 0 && fields[n-1] == table.NumberField { // which has no name here
		n--
	}
	renamed := alias.GetColnames()
	if len(renamed) > n {
		panic(b.coded(sqlstate.InvalidColumnReference, loc, "table %q has %d columns available but %d columns specified", clipped(cmp.Or(alias.GetAliasname(), name)), n, len(renamed)))
	}
	s := &scope{fields: fields, tables: []source{{alias: cmp.Or(alias.GetAliasname(), name), n: n}}, visible: make([]output, n)}
	columns := make([]int, n)
	for i := range n {
		if i < len(renamed) {
			fields[i].Name = renamed[i].GetString_().GetSval()
		}
		columns[i] = i
		s.visible[i] = output{name: fields[i].Name, columns: columns[i : i+1 : i+1]}
	}
	return s
}

// fromWords names an item of FROM that is not supported.
func fromWords(n *pg.Node) string {
	switch n.Node.(type) {
	case *pg.Node_RangeTableFunc:
		return "XMLTABLE"
	case *pg.Node_JsonTable:
		return "JSON_TABLE"
	}
	return "this FROM item"
}

// locationOf is where an item of FROM stands.
func (b *binder) locationOf(n *pg.Node) int {
	switch n := n.Node.(type) {
	case *pg.Node_RangeVar:
		return int(n.RangeVar.Location)
	case *pg.Node_JoinExpr:
		return b.locationOf(n.JoinExpr.Larg)
	case *pg.Node_RangeTableSample:
		return b.keyword("tablesample")
	case *pg.Node_RangeTableFunc:
		return int(n.RangeTableFunc.Location)
	case *pg.Node_JsonTable:
		return int(n.JsonTable.Location)
	}
	return b.keyword("from")
}

// refuseTwice fails where tables on both sides are called the same.
func (b *binder) refuseTwice(l, r *scope, loc int) {
	known := l.aliases()
	for _, t := range r.tables {
		if slices.Contains(known, t.alias) {
			panic(b.coded(sqlstate.DuplicateAlias, loc, "table name %q is specified more than once; give one of them another name, such as %s AS x", clipped(t.alias), expr.Ident(t.alias)))
		}
	}
}

var joinKinds = map[pg.JoinType]plan.JoinKind{
	pg.JoinType_JOIN_INNER: plan.Inner, pg.JoinType_JOIN_LEFT: plan.LeftOuter, pg.JoinType_JOIN_RIGHT: plan.RightOuter, pg.JoinType_JOIN_FULL: plan.FullOuter,
}

// join resolves l JOIN r with ON, USING, NATURAL, or none of them for CROSS JOIN.
func (b *binder) join(n *pg.JoinExpr) (plan.Node, *scope) {
	if n.Alias != nil || n.JoinUsingAlias != nil {
		panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("join"), "a name for a join is not supported; name its tables"))
	}
	kind, outer := joinKinds[n.Jointype], b.inOuter
	b.inOuter = outer || kind.KeepsRight()
	left, l := b.fromItem(n.Larg)
	outside, place := b.scope, b.place
	b.inOuter = outer || kind.KeepsLeft()
	if b.scope, b.place = l, inJoin; outside != nil { // LATERAL reads all to its left
		b.refuseTwice(outside, l, b.locationOf(n.Larg))
		b.scope = outside.concat(l)
	}
	right, r := b.fromItem(n.Rarg)
	b.inOuter = outer
	loc := b.locationOf(n.Rarg)
	b.refuseTwice(l, r, loc)
	j, s := &plan.Join{Kind: kind, Left: left, Right: right}, l.concat(r)
	b.scope = s
	switch {
	case n.IsNatural || len(n.UsingClause) > 0:
		j.On = b.using(n, s, len(l.visible), loc)
	case n.Quals != nil:
		if j.On = b.boolean(n.Quals, "JOIN/ON"); isTrue(j.On) {
			j.On = nil
		}
	}
	b.scope, b.place = outside, place
	return j, s
}

// isTrue reports the constant TRUE.
func isTrue(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && !c.V.Null && c.V.I != 0
}

// using is the condition of USING or NATURAL over a scope of which the first n outputs are the
// left side's. The columns of the same name become one.
func (b *binder) using(n *pg.JoinExpr, s *scope, left int, loc int) expr.Expr {
	var names []name
	names = append(names, usingNames(n.UsingClause)...)
	if n.IsNatural {
		if names = commonNames(s.visible[:left], s.visible[left:]); b.uses.written {
			n.IsNatural = false
			for _, name := range names {
				n.UsingClause = append(n.UsingClause, pg.MakeStrNode(name.text))
			}
		}
	}
	at := func(n name, side string, list []output) int {
		all := xslices.Map(list, func(v output) string { return v.name })
		i, matches := lookup(n, all)
		switch {
		case i < 0 && matches == 0:
			panic(b.coded(sqlstate.UndefinedColumn, loc, "column %q of USING does not exist on the %s side of the join%s", clipped(n.text), side, suggest(n.text, all, "columns")))
		case i < 0 || count(all, all[i]) > 1:
			panic(b.coded(sqlstate.AmbiguousColumn, loc, "column name %q is more than once on the %s side of the join; write ON", clipped(n.text), side))
		}
		return i
	}
	var kids []expr.Expr
	var merged []output
	gone := map[int]bool{}
	for _, name := range names {
		i, k := at(name, "left", s.visible[:left]), left+at(name, "right", s.visible[left:])
		l, r := s.visible[i], s.visible[k]
		kids = append(kids, compare(expr.EQ, b.outputOf(l, loc), b.outputOf(r, loc), b.pos(loc)))
		gone[i], gone[k] = true, true
		one := output{name: l.name, columns: slices.Concat(l.columns, r.columns)}
		switch kind := joinKinds[n.Jointype]; {
		case kind == plan.Inner || kind == plan.LeftOuter:
			one = b.sideOf(l, r, loc)
		case kind == plan.RightOuter:
			one = b.sideOf(r, l, loc)
			one.name = l.name
		}
		merged = append(merged, one)
	}
	rest := merged
	for i, v := range s.visible {
		if !gone[i] {
			rest = append(rest, v)
		}
	}
	s.visible, s.called = rest, nil
	if len(kids) == 0 {
		return nil
	}
	return junction(kids, true, b.pos(loc))
}

func usingNames(list []*pg.Node) (names []name) {
	for _, n := range list {
		text := n.GetString_().GetSval()
		names = append(names, name{text: text, quoted: text != strings.ToLower(text)})
	}
	return names
}

// commonNames are those that both sides have, in the order of the left one.
func commonNames(l, r []output) (names []name) {
	for _, v := range l {
		if slices.ContainsFunc(r, func(w output) bool { return w.name == v.name }) {
			names = append(names, name{text: v.name, quoted: true})
		}
	}
	return names
}

func count(list []string, s string) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

// unqualified is the output of a name.
func (b *binder) unqualified(n name, loc int) output {
	names := b.scope.visibleNames()
	i := b.find("column", n, names, loc)
	if count(names, names[i]) > 1 {
		var whole []string
		for _, v := range b.scope.visible {
			if v.name == names[i] {
				whole = append(whole, expr.Ident(b.scope.tableAt(v.columns[0]).alias)+"."+expr.Ident(v.name))
			}
		}
		panic(b.coded(sqlstate.AmbiguousColumn, loc, "column reference %q is ambiguous; write %s", clipped(n.text), strings.Join(whole, " or ")))
	}
	return b.scope.visible[i]
}

// sideOf is the output of one side of a join as USING merges it with the other side's. It has the common type; a NUMERIC keeps its own
// digits.
func (b *binder) sideOf(one, other output, loc int) output {
	e := b.outputOf(one, loc)
	list, t := common("=", widerNumber, b.pos(loc), e, b.outputOf(other, loc))
	if !t.IsInteger() {
		t = list[0].Type()
	}
	if len(one.columns) == 1 && t != e.Type() {
		one.as = t
	}
	return one
}

// outputOf is the column of an output.
func (b *binder) outputOf(v output, loc int) expr.Expr {
	if len(v.columns) == 1 {
		e := b.field(v.columns[0], loc)
		if v.as.Kind != table.Unknown {
			e = convert(e, v.as, e.Pos())
		}
		return e
	}
	list := xslices.Map(v.columns, func(c int) expr.Expr { return b.field(c, loc) })
	return fold(expr.NewCall(expr.Coalesce, unified("USING", list, b.pos(loc)), b.pos(loc)))
}

// starred are the columns of * or t.* in a select list.
func (b *binder) starred(n *pg.ColumnRef) []output {
	loc := int(n.Location)
	if b.scope == nil {
		panic(b.errorf(loc, "SELECT * with no tables specified is not valid"))
	}
	list := b.scope.visible
	if q := len(n.Fields) - 1; q > 0 {
		s := b.qualified(b.parts(loc, n.Fields[:q])[q-1], loc)
		if q > 1 {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "a schema before a table's name is not supported"))
		}
		list = nil
		for i, name := range b.scope.names(s) {
			if name == table.NumberField.Name {
				continue
			}
			list = append(list, output{name: name, columns: []int{s.first + i}})
		}
	}
	return list
}

// star is the select items of a star.
func (b *binder) star(list []output, loc int) (items []plan.Item) {
	for _, v := range list {
		before := len(b.loose)
		items = append(items, plan.Item{Name: v.name, E: b.key(asText(b.outputOf(v, loc)), before)})
	}
	return items
}

// qualified is the table that stands before a column's name.
func (b *binder) qualified(n name, loc int) source {
	if b.scope == nil {
		panic(b.coded(sqlstate.UndefinedTable, loc, "there is no table %s: the query has no FROM", n.text))
	}
	known := b.scope.aliases()
	i, matches := lookup(n, known)
	switch {
	case i < 0 && matches > 1:
		panic(b.coded(sqlstate.AmbiguousAlias, loc, "table name %s is ambiguous; %d tables differ in case only: write it in double quotes", n.text, matches))
	case i < 0 && b.place == inJoin:
		panic(b.coded(sqlstate.UndefinedTable, loc, "there is no table %s on the two sides of this join; there are %s", n.text, strings.Join(Written(known), ", ")))
	case i < 0:
		panic(b.coded(sqlstate.UndefinedTable, loc, "there is no table %s in this query's FROM; it has %s", n.text, strings.Join(Written(known), ", ")))
	}
	return b.scope.tables[i]
}

// field is column i of the scope.
func (b *binder) field(i, loc int) expr.Expr {
	f := b.scope.fields[i]
	of := b.scope.tableAt(i)
	b.uses.column(of.of, i-of.first)
	if f.Unsupported != "" {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "column %q cannot be used: %s", f.Name, f.Unsupported))
	}
	c := &expr.Column{Index: i, Name: f.Name, T: f.Type, P: b.pos(loc)}
	if len(b.scope.tables) > 1 {
		c.Table = of.alias
	}
	switch {
	case f.Type.Kind == table.Unknown:
		// No record has a value of it, and NULL takes whatever type is needed.
		return &expr.Const{V: table.Null(f.Type), P: b.pos(loc), Valueless: true}
	case b.place == inItems:
		b.loose = append(b.loose, c)
	}
	return c
}
