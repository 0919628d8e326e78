package sql

import (
	"slices"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Change is what a statement changes: the rows of a table, or what is known of it.
type Change struct {
	Verb  string   // "INSERT", "UPDATE", "DELETE", "TRUNCATE", "CREATE TABLE", "ALTER TABLE", "DROP TABLE", "CREATE VIEW", "ALTER VIEW", "DROP VIEW", "CREATE INDEX", "COPY", "MERGE"
	Lax   bool     // IF EXISTS, IF NOT EXISTS
	Table string   // as the catalog has it; "" where it is not there and need not be
	More  []string // of DROP, TRUNCATE and ALTER VIEW

	Replaces bool                  // of CREATE VIEW: there is one of the name
	Views    []*storage.Definition // that are defined anew, for what they read has another name, or they have

	Define *storage.Definition // of CREATE TABLE and ALTER TABLE
	// From and Fill are those of [storage.Change]. Of ALTER TABLE, Rows begin with the row's number, and Set are the new columns
	// whose values follow.
	From []int
	Fill []table.Value

	// Rows are those that INSERT and CREATE TABLE AS add, with the table's columns; nil for none. Those of UPDATE and DELETE
	// begin with the row's number; the columns of Set follow.
	Rows plan.Node
	Set  []int
	// Assigned is how many of Set an UPDATE changes; the others are there for RETURNING and for CHECK.
	Assigned  int
	Sequences []SequenceColumn
	Restart   bool      // of TRUNCATE: counters begin anew
	Conflict  *Conflict // of INSERT; nil without ON CONFLICT
	// Returning is what RETURNING gives of a table with the changed rows alone; nil where there is none. That of an UPDATE or a DELETE may
	// read columns of other tables. Then it has these columns, Others, behind the table's own, and is called [NewRows]; Rows end with them.
	Returning plan.Node
	Others    []table.Field

	Parts []*Change // of MERGE: what it does, one after another; each with its own Rows of the table as it was before

	overrides bool // columns GENERATED ALWAYS take values
}

// changes notes a statement that changes something; it is false for another one.
func (s *Statement) changes(n *pg.Node) bool {
	switch n := n.Node.(type) {
	case *pg.Node_SelectStmt:
		if as := selectInto(n.SelectStmt); as != nil {
			s.changed = as
		}
		return s.changed != nil
	case *pg.Node_InsertStmt:
		s.changed = n.InsertStmt
	case *pg.Node_UpdateStmt:
		s.changed = n.UpdateStmt
	case *pg.Node_DeleteStmt:
		s.changed = n.DeleteStmt
	case *pg.Node_MergeStmt:
		s.changed = n.MergeStmt
	case *pg.Node_TruncateStmt:
		s.changed = n.TruncateStmt
	case *pg.Node_CreateStmt:
		s.changed = n.CreateStmt
	case *pg.Node_ViewStmt:
		s.changed = n.ViewStmt
	case *pg.Node_AlterTableStmt:
		if n.AlterTableStmt.Objtype != pg.ObjectType_OBJECT_TABLE {
			return false
		}
		s.changed = n.AlterTableStmt
	case *pg.Node_IndexStmt:
		if !n.IndexStmt.Unique {
			return false
		}
		s.changed = n.IndexStmt
	case *pg.Node_CommentStmt:
		s.changed = n.CommentStmt
	case *pg.Node_RenameStmt:
		if n.RenameStmt.Relation == nil {
			return false
		}
		s.changed = n.RenameStmt
	case *pg.Node_CreateTableAsStmt:
		if n.CreateTableAsStmt.Objtype != pg.ObjectType_OBJECT_TABLE {
			return false
		}
		s.changed = n.CreateTableAsStmt
	case *pg.Node_DropStmt:
		if kind := n.DropStmt.RemoveType; kind != pg.ObjectType_OBJECT_TABLE && kind != pg.ObjectType_OBJECT_VIEW {
			return false
		}
		s.changed = n.DropStmt
	default:
		return false
	}
	return true
}

// selectInto is a SELECT ... INTO as the CREATE TABLE AS that means the same; nil for another query. INTO stands in the first
// SELECT of a set operation.
func selectInto(n *pg.SelectStmt) *pg.CreateTableAsStmt {
	first := n
	for first.Larg != nil {
		first = first.Larg
	}
	into := first.IntoClause
	if into == nil {
		return nil
	}
	first.IntoClause = nil
	return &pg.CreateTableAsStmt{Query: &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: n}}, Into: into, Objtype: pg.ObjectType_OBJECT_TABLE, IsSelectInto: true}
}

// Changes reports that the statement is one for [Statement.BindGeneric].
func (s *Statement) Changes() bool { return s.changed != nil }

// Numbered is the table whose rows must have numbers for [Statement.BindGeneric], as [table.Table.Numbered] gives them;
// "" where there is none.
func (s *Statement) Numbered(c Catalog) (name string, err error) {
	defer caught(&err)
	b := s.binder(c, nil)
	switch n := s.changed.(type) {
	case *pg.InsertStmt:
		if n.OnConflictClause != nil {
			name, _ = b.changeable(n.Relation)
		}
	case *pg.UpdateStmt:
		name, _ = b.changeable(n.Relation)
	case *pg.DeleteStmt:
		name, _ = b.changeable(n.Relation)
	case *pg.MergeStmt:
		name, _ = b.changeable(n.Relation)
	case *pg.AlterTableStmt:
		if !n.MissingOk || b.tableExists(n.Relation) {
			name, _ = b.changeable(n.Relation)
		}
	}
	return name, nil
}

// bindChange resolves the names of a statement that changes something, as [Statement.Bind] does.
func (s *Statement) bindChange(c Catalog, params []table.Value, n *boundValues, now *time.Time) (ch *Change, err error) {
	if err = s.checkParameters(params); err != nil {
		return nil, err
	}
	defer caught(&err)
	b := s.binder(c, params)
	b.noted, b.now = n, now
	switch n := s.changed.(type) {
	case *pg.InsertStmt:
		return b.insert(n, false), nil
	case *pg.UpdateStmt:
		return b.update(n), nil
	case *pg.DeleteStmt:
		return b.delete(n), nil
	case *pg.MergeStmt:
		return s.merge(c, n, func(part *pg.Node) *Change { return s.mergePart(c, params, part) }), nil
	case *pg.TruncateStmt:
		ch := &Change{Verb: "TRUNCATE", Restart: n.RestartSeqs}
		for _, r := range n.Relations {
			name, _ := b.changeable(r.GetRangeVar())
			ch.More = append(ch.More, name)
		}
		return ch, nil
	case *pg.CreateStmt:
		return b.create(proto.Clone(n).(*pg.CreateStmt)), nil // which is written to; the parsed statement is others', too
	case *pg.ViewStmt:
		return b.createView(proto.Clone(n).(*pg.ViewStmt)), nil // as above
	case *pg.AlterTableStmt:
		return b.alter(proto.Clone(n).(*pg.AlterTableStmt)), nil // as above
	case *pg.IndexStmt:
		return b.uniqueIndex(n), nil
	case *pg.CommentStmt:
		return b.comment(n), nil
	case *pg.RenameStmt:
		return b.rename(n), nil
	case *pg.CreateTableAsStmt:
		return b.createAs(n), nil
	case *pg.DropStmt:
		return b.drop(n), nil
	case *pg.CopyStmt:
		return b.copyInto(n), nil
	}
	return nil, s.errorf(0, "%s changes nothing", s.firstWords())
}

// changeable is a table that statements may change, by the catalog's name of it.
func (b *binder) changeable(r *pg.RangeVar) (string, *storage.Definition) {
	loc := int(r.Location)
	if r.Schemaname != "" && !strings.EqualFold(r.Schemaname, "public") {
		panic(b.coded(sqlstate.WrongObjectType, loc, "tables of the schema %q cannot be changed", clipped(r.Schemaname)))
	}
	n := b.relation(r)
	if i, matches := lookup(n, b.c.Names); n.path && i < 0 && matches == 0 {
		panic(b.coded(sqlstate.WrongObjectType, loc, "files are not changed; CREATE TABLE x AS TABLE %s makes a table that can be", expr.Quote(n.text)))
	}
	i := b.find("table", n, b.c.Names, loc)
	name := b.c.Names[i]
	def := b.c.definition(name)
	if def == nil {
		panic(b.coded(sqlstate.WrongObjectType, loc, "table %q is not one that CREATE TABLE has made and cannot be changed; CREATE TABLE x AS TABLE %s makes one that can", clipped(name), Written([]string{name})[0]))
	}
	if def.View != "" {
		panic(b.coded(sqlstate.WrongObjectType, loc, "%q is a view: its rows are those of its query and cannot be changed", clipped(name)))
	}
	return name, def
}

// relation is the name of a table as the statement spells it.
func (b *binder) relation(r *pg.RangeVar) name {
	if r.Schemaname != "" {
		return b.spelled(int(r.Location), r.Schemaname, r.Relname)[1]
	}
	return b.spelled(int(r.Location), r.Relname)[0]
}

// columnOf is the place of a column of a table.
func (b *binder) columnOf(def *storage.Definition, folded string, loc int) int {
	names := xslices.Map(def.Fields, func(f table.Field) string { return f.Name })
	n := name{text: folded, quoted: folded != strings.ToLower(folded)}
	if loc >= 0 {
		n = b.spelled(loc, folded)[0]
	}
	return b.find("column", n, names, loc)
}

// assignedTo is the place of the column that a value is for.
func (b *binder) assignedTo(def *storage.Definition, t *pg.ResTarget) int {
	if len(t.Indirection) > 0 {
		panic(b.coded(sqlstate.UndefinedColumn, int(t.Location), "a column that takes a value is written alone: without its table, and without a part of it"))
	}
	return b.columnOf(def, t.Name, int(t.Location))
}

// assigned is an expression as a value for a column, as PostgreSQL assigns: no text to what is no text.
func (b *binder) assigned(e expr.Expr, f table.Field) expr.Expr {
	e = coerce(e, f.Type)
	from := e.Type()
	c, constant := e.(*expr.Const)
	switch {
	case constant && (c.Of != nil || c.Valueless): // a literal that a SELECT has settled, or a column that has no type of its own
	case !assignable(from, f.Type):
		panic(expr.Coded(sqlstate.DatatypeMismatch, e.Pos(), "column %q is of type %s but expression is of type %s; write CAST(... AS %s)", f.Name, typeName(f.Type), typeName(from), typeName(f.Type)))
	}
	if constant && c.V.Null {
		return &expr.Const{V: table.Null(f.Type), P: e.Pos()}
	}
	if from == f.Type && !constant {
		return e
	}
	if e = b.cast(e, target{t: f.Type}, e.Pos()); e.Type() != f.Type {
		e = &expr.Cast{X: e, To: f.Type, P: e.Pos()}
	}
	return e
}

// assignable reports whether a value may be put into a column of another type without a CAST.
func assignable(from, to table.Type) bool {
	return to.Kind == table.Varchar || from.Kind != table.Varchar && (from.Kind == table.Boolean) == (to.Kind == table.Boolean) && castable(from, to)
}

// defaultOf is the value of a column that an INSERT does not name.
func (b *binder) defaultOf(def *storage.Definition, col int) expr.Expr {
	text := def.Columns[col].Default
	if text == "" {
		return &expr.Const{V: table.Null(def.Fields[col].Type), P: b.Offset}
	}
	return b.assigned(b.definitionBinder(text).expr(b.written(text)), def.Fields[col])
}

// written is an expression that a definition has.
func (b *binder) written(text string) *pg.Node {
	tree, err := pg.Parse("SELECT " + text)
	if err != nil || len(tree.Stmts) != 1 {
		panic(b.coded(sqlstate.FeatureNotSupported, 0, "the definition of the table has an expression that cannot be read: %s", text))
	}
	return tree.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
}

// nowhere is an offset whose places [Describe] does not show.
const nowhere = -1 << 30

// definitionBinder binds an expression that a definition has: its names are not in the statement's text.
func (b *binder) definitionBinder(text string) *binder {
	of := &Statement{Text: "SELECT " + text, Offset: nowhere}
	of.tokens = split(of.Text)[0].tokens
	k := (&binder{Statement: of, c: b.c, uses: newUses()}).nested(&pg.SelectStmt{}, nil)
	k.sizes, k.now, k.subqueries, k.place = b.sizes, b.now, b.subqueries, inTable
	return k
}

// insert is an INSERT, or, merged, that of a MERGE.
func (b *binder) insert(n *pg.InsertStmt, merged bool) *Change {
	name, def := b.changeable(n.Relation)
	ch := &Change{Verb: "INSERT", Table: name, overrides: n.Override == pg.OverridingKind_OVERRIDING_SYSTEM_VALUE}
	var cols []int
	for _, c := range n.Cols {
		t := c.GetResTarget()
		col := b.assignedTo(def, t)
		if slices.Contains(cols, col) {
			panic(b.coded(sqlstate.DuplicateColumn, int(t.Location), "column %q specified more than once", clipped(t.Name)))
		}
		cols = append(cols, col)
	}
	if n.Cols == nil {
		for i := range def.Fields {
			cols = append(cols, i)
		}
	}
	for i, col := range cols {
		if c := def.Columns[col].Sequence; c != nil && c.Kind.Identity() && n.Override == pg.OverridingKind_OVERRIDING_USER_VALUE {
			cols[i] = -1 // its values are left out
		}
	}
	b.sel = &pg.SelectStmt{WithClause: n.WithClause}
	b.withs()
	sel := n.SelectStmt.GetSelectStmt()
	switch {
	case sel == nil: // DEFAULT VALUES
		ch.Rows = b.inserted(ch, def, nil, [][]*pg.Node{{}}, 0)
	case len(sel.ValuesLists) > 0 && sel.SortClause == nil && sel.LimitCount == nil && sel.LimitOffset == nil && sel.WithClause == nil:
		rows := xslices.Map(sel.ValuesLists, func(list *pg.Node) []*pg.Node { return list.GetList().GetItems() })
		ch.Rows = b.inserted(ch, def, cols, rows, len(n.Cols))
	default:
		q := b.nested(sel, nil)
		q.merged = merged
		ch.Rows = b.selectedFor(ch, def, cols, q.query(), len(n.Cols))
	}
	ch.Rows = rules.Unnest(ch.Rows, b.c.Off)
	if n.OnConflictClause != nil {
		ch.Conflict = b.conflict(n, def)
	}
	ch.Returning = b.returning(n.Relation, def, n.ReturningList)
	return ch
}

// fits checks how many values a row has for the columns that they are for.
func (b *binder) fits(values, columns, named int) {
	switch {
	case values > columns:
		panic(b.errorf(b.keyword("into"), "INSERT has more expressions than target columns: %d for %d", values, columns))
	case values < named:
		panic(b.errorf(b.keyword("into"), "INSERT has more target columns than expressions: %d for %d", named, values))
	}
}

// inserted are rows of VALUES as rows of a table.
func (b *binder) inserted(ch *Change, def *storage.Definition, cols []int, rows [][]*pg.Node, named int) plan.Node {
	v := &plan.Values{Columns: def.Fields}
	b.place, b.scope = inValues, nil
	for at, list := range rows {
		b.fits(len(list), len(cols), named)
		if len(list) != len(rows[0]) {
			panic(b.errorf(b.keyword("values"), "VALUES lists must all be the same length"))
		}
		row := make([]expr.Expr, len(def.Fields))
		for k, e := range list {
			if e.GetSetToDefault() == nil && cols[k] >= 0 {
				b.takesValue(ch, def, cols[k])
				bound := b.expr(e)
				b.noted.item(e, bound, def.Fields[cols[k]], at, cols[k])
				row[cols[k]] = b.assigned(bound, def.Fields[cols[k]])
			}
		}
		for i := range row {
			if row[i] == nil {
				row[i] = b.unset(ch, def, i, at)
			}
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// selectedFor are the rows of a query as rows of a table.
func (b *binder) selectedFor(ch *Change, def *storage.Definition, cols []int, n plan.Node, named int) plan.Node {
	b.fits(plan.Width(n), len(cols), named)
	p, ok := n.(*plan.Project)
	if !ok {
		p = selected(n)
	}
	out := &plan.Project{Input: p.Input}
	for i, f := range def.Fields {
		var e expr.Expr
		if k := slices.Index(cols, i); k >= 0 && k < len(p.Items) {
			b.takesValue(ch, def, i)
			e = b.assigned(p.Items[k].E, f)
		} else {
			e = b.unset(ch, def, i, -1)
		}
		out.Items = append(out.Items, plan.Item{Name: f.Name, E: e})
	}
	return out
}

func (b *binder) update(n *pg.UpdateStmt) *Change {
	name, def := b.changeable(n.Relation)
	ch := &Change{Verb: "UPDATE", Table: name}
	in, number := b.changedRows(n.Relation, n.FromClause, n.WithClause)
	b.place = inSet
	items := []plan.Item{number}
	ch.Set, items = b.assignments(ch, def, n.TargetList, items)
	others := b.returningBeside(ch, n.Relation, def, n.ReturningList)
	if ch.Assigned = len(ch.Set); ch.Returning != nil || len(def.Checks) > 0 { // need the other columns, too
		b.others(ch, def, &items)
	}
	ch.Rows = b.changedWhere(in, append(items, others...), n.WhereClause)
	return ch
}

// others adds the columns that an UPDATE or a DELETE leaves to its rows.
func (b *binder) others(ch *Change, def *storage.Definition, items *[]plan.Item) {
	for i, f := range def.Fields {
		if !slices.Contains(ch.Set, i) {
			ch.Set, *items = append(ch.Set, i), append(*items, plan.Item{Name: f.Name, E: &expr.Column{Index: i, Name: f.Name, T: f.Type, P: b.Offset}})
		}
	}
}

func (b *binder) delete(n *pg.DeleteStmt) *Change {
	name, def := b.changeable(n.Relation)
	ch := &Change{Verb: "DELETE", Table: name}
	in, number := b.changedRows(n.Relation, n.UsingClause, n.WithClause)
	items := []plan.Item{number}
	others := b.returningBeside(ch, n.Relation, def, n.ReturningList)
	if ch.Returning != nil {
		b.others(ch, def, &items)
	}
	ch.Rows = b.changedWhere(in, append(items, others...), n.WhereClause)
	return ch
}

// changedRows binds the table whose rows change, joined to others, and the number of its rows.
func (b *binder) changedRows(target *pg.RangeVar, others []*pg.Node, with *pg.WithClause) (plan.Node, plan.Item) {
	b.sel = &pg.SelectStmt{FromClause: others, WithClause: with}
	n, s := b.fromItem(&pg.Node{Node: &pg.Node_RangeVar{RangeVar: target}}) // before the names of WITH are known, which hide none here
	b.withs()
	b.scope = s
	b.changes = true
	n, last := b.joinFrom(n), len(s.fields)-1
	b.changes = false
	return n, plan.Item{Name: table.NumberField.Name, E: &expr.Column{Index: last, Name: table.NumberField.Name, T: table.NumberField.Type, P: b.Offset}}
}

// changedWhere are the rows of a change that a condition holds for.
func (b *binder) changedWhere(n plan.Node, items []plan.Item, where *pg.Node) plan.Node {
	b.sel.WhereClause = where
	if w := b.where(); w != nil {
		n = &plan.Filter{Input: n, Where: w}
	}
	return rules.Unnest(&plan.Project{Input: n, Items: items}, b.c.Off)
}

// returning binds RETURNING over a table's rows.
func (b *binder) returning(target *pg.RangeVar, def *storage.Definition, list []*pg.Node) plan.Node {
	if len(list) == 0 {
		return nil
	}
	items := b.returned(b.scopeOf(def.Fields, target.Alias, def.Name, int(target.Location)), list)
	return &plan.Project{Input: &plan.Scan{Table: def.Name, Columns: def.Fields}, Items: items}
}

// returningBeside binds RETURNING over a table's rows and those of FROM or USING that are joined to them, which are in scope. It returns the columns of
// the latter that it reads.
func (b *binder) returningBeside(ch *Change, target *pg.RangeVar, def *storage.Definition, list []*pg.Node) (others []plan.Item) {
	if len(list) == 0 || len(b.sel.FromClause) == 0 {
		ch.Returning = b.returning(target, def, list)
		return nil
	}
	items := b.returned(b.scope, list)
	var at []int // the columns of others in scope
	for i, item := range items {
		items[i].E = expr.Moved(item.E, func(col int) int {
			if col < len(def.Fields) {
				return col
			}
			k := slices.Index(at, col)
			if k < 0 {
				f := b.scope.fields[col]
				k, at = len(at), append(at, col)
				ch.Others, others = append(ch.Others, f), append(others, plan.Item{Name: f.Name, E: &expr.Column{Index: col, Name: f.Name, T: f.Type, P: b.Offset}})
			}
			return len(def.Fields) + k
		})
	}
	scan := &plan.Scan{Table: def.Name, Columns: append(slices.Clip(def.Fields), ch.Others...)}
	if others != nil {
		scan.Table = NewRows
	}
	ch.Returning = &plan.Project{Input: scan, Items: items}
	return others
}

// returned are the items of a RETURNING.
func (b *binder) returned(s *scope, list []*pg.Node) []plan.Item {
	r := b.nested(&pg.SelectStmt{TargetList: list}, nil)
	r.scope = s
	items := r.items()
	for _, item := range items {
		if len(r.aggs) > 0 || expr.HasSubquery(item.E) || expr.HasWindow(item.E) {
			panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("returning"), "window functions, aggregates and subqueries in RETURNING are not supported"))
		}
	}
	return items
}
