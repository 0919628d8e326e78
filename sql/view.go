package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// maxViews is how often a statement may read views, including views in views. Each is a query of its own, and views
// over views can double them.
const maxViews = 1000

// uses is what the queries of a statement read, and what is done to the statement's tree on the way.
type uses struct {
	views   *int                               // read so far, by views too
	known   map[string]map[string]map[int]bool // what views read themselves, as far as they have been bound
	of      map[string]map[int]bool            // the tables and views that it names, and the columns of each
	written bool                               // * becomes the columns that it stands for, and NATURAL is USING: the tree will be a view
	was, is string                             // a table, and the name that it will have in the tree; "" for none
}

func newUses() *uses {
	return &uses{views: new(int), known: map[string]map[string]map[int]bool{}, of: map[string]map[int]bool{}}
}

// note notes a table that is read.
func (u *uses) note(name string) {
	if u.of[name] == nil {
		u.of[name] = map[int]bool{}
	}
}

// column notes a column of a table.
func (u *uses) column(name string, col int) {
	if name != "" {
		u.of[name][col] = true
	}
}

// definition is that of a table or a view; nil for one that statements cannot change.
func (c Catalog) definition(name string) *storage.Definition {
	if c.Definition == nil {
		return nil
	}
	return c.Definition(name)
}

// viewNamed is the view that a name in FROM means; nil where it means something else.
func (b *binder) viewNamed(r *pg.RangeVar) *storage.Definition {
	if r.Schemaname != "" && !strings.EqualFold(r.Schemaname, "public") {
		return nil
	}
	i, _ := lookup(b.relation(r), b.c.Names)
	if i < 0 {
		return nil
	}
	if def := b.c.definition(b.c.Names[i]); def != nil && def.View != "" {
		return def
	}
	return nil
}

// viewed is the query of a view.
func (b *binder) viewed(def *storage.Definition, loc int) plan.Node {
	if *b.uses.views++; *b.uses.views > maxViews {
		panic(b.coded(sqlstate.StatementTooComplex, loc, "the statement reads views more than %d times, those of views counted", maxViews))
	}
	v, err := b.ofView(def)
	if err == nil {
		var n plan.Node
		if n, err = v.viewRows(def); err == nil {
			b.uses.known[def.Name] = v.uses.of
			return n
		}
	}
	panic(b.coded(sqlstate.Of(err), loc, "view %q cannot be read: %v", def.Name, err))
}

// viewRows binds the query of a view.
func (b *binder) viewRows(def *storage.Definition) (n plan.Node, err error) {
	defer caught(&err)
	n = b.query()
	names := xslices.Map(def.Fields, func(f table.Field) *pg.Node { return pg.MakeStrNode(f.Name) })
	if plan.Width(n) < len(names) {
		return nil, sqlstate.Errorf(sqlstate.InvalidTableDefinition, "it has %d columns now, and had %d", plan.Width(n), len(names))
	}
	return b.renamed(n, names, def.Name, 0), nil
}

// ofView is a binder of a view's text, which is not the statement's.
func (b *binder) ofView(def *storage.Definition) (*binder, error) {
	of := split(def.View)[0]
	of.Offset = nowhere
	tree, err := of.tree()
	if err != nil {
		return nil, err
	}
	if of.Clock = of.usesClock(); of.Clock && b.c.Clock != nil {
		b.c.Clock()
	}
	v := of.binder(b.c, nil)
	v.sel, v.sizes, v.copied, v.now, v.subqueries = tree.Stmts[0].Stmt.GetSelectStmt(), b.sizes, b.copied, b.now, b.subqueries
	v.uses.views, v.uses.known = b.uses.views, b.uses.known
	return v, nil
}

// createView is CREATE VIEW.
func (b *binder) createView(n *pg.ViewStmt) *Change {
	loc := int(n.View.Location)
	sel := n.Query.GetSelectStmt()
	switch at := b.keyword("recursive"); {
	case at > 0 && at < b.keyword("view"):
		panic(b.coded(sqlstate.FeatureNotSupported, at, "CREATE RECURSIVE VIEW is not supported; write CREATE VIEW %s AS WITH RECURSIVE ...", expr.Ident(n.View.Relname)))
	case b.Params > 0:
		panic(b.coded(sqlstate.UndefinedParameter, 0, "CREATE VIEW takes no parameters: write the values"))
	case len(n.Options) > 0 || n.WithCheckOption > pg.ViewCheckOption_NO_CHECK_OPTION:
		panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("with"), "WITH is not supported with CREATE VIEW"))
	}
	name, there := b.newTable(n.View, n.Replace)
	ch := &Change{Verb: "CREATE VIEW", Table: name}
	old := b.c.definition(name)
	if there && (old == nil || old.View == "") {
		panic(b.coded(sqlstate.WrongObjectType, loc, "%q is not a view", clipped(name)))
	}
	b.uses.written = true
	q := b.nested(sel, nil)
	made := q.query()
	if len(n.Aliases) > plan.Width(made) {
		panic(b.errorf(loc, "CREATE VIEW specifies more column names than columns"))
	}
	rows := b.renamed(made, n.Aliases, name, loc)
	def := &storage.Definition{Name: name, View: b.deparsedQuery(sel), Temp: isTemp(n.View)}
	for read := range b.uses.of {
		if there && (read == name || b.reads(read)[name]) { // no other view names a new one
			panic(b.coded(sqlstate.InvalidObjectDefinition, loc, "view %q would read itself", clipped(name)))
		}
		d := b.c.definition(read)
		def.Temp = def.Temp || d != nil && d.Temp // as PostgreSQL has it
	}
	var before []table.Field
	if there {
		var err error
		if before, err = viewFields(b.c, old); err != nil {
			before = nil
		}
		ch.Replaces = true
	}
	fields := rows.Fields()
	if len(fields) < len(before) {
		panic(b.coded(sqlstate.InvalidTableDefinition, loc, "cannot drop columns from view %q; DROP VIEW %s comes first", clipped(name), Written([]string{name})[0]))
	}
	for i, f := range fields {
		if slices.ContainsFunc(def.Fields, func(o table.Field) bool { return o.Name == f.Name }) {
			panic(b.coded(sqlstate.DuplicateColumn, loc, "column %q specified more than once; give the select items names", clipped(f.Name)))
		}
		if i < len(before) && (before[i].Name != f.Name || before[i].Type != f.Type) {
			panic(b.coded(sqlstate.DatatypeMismatch, loc, "cannot change column %q of type %s of view %q to %q of type %s; DROP VIEW %s comes first", before[i].Name, typeName(before[i].Type), clipped(name), f.Name, typeName(f.Type), Written([]string{name})[0]))
		}
		def.Fields, def.Columns = append(def.Fields, table.Field{Name: f.Name}), append(def.Columns, storage.Column{})
		if there && i < len(old.Columns) { // as PostgreSQL keeps it
			def.Comment, def.Columns[i].Comment = old.Comment, old.Columns[i].Comment
		}
	}
	ch.Define = def
	return ch
}

// viewFields are the columns of a view as they are now.
func viewFields(c Catalog, def *storage.Definition) ([]table.Field, error) {
	v, err := (&Statement{}).binder(c, nil).ofView(def)
	if err != nil {
		return nil, err
	}
	n, err := v.viewRows(def)
	if err != nil {
		return nil, err
	}
	return n.Fields(), nil
}

// deparsedQuery is a query as SQL.
func (b *binder) deparsedQuery(sel *pg.SelectStmt) string {
	text, err := pg.Deparse(&pg.ParseResult{Version: pgVersion, Stmts: []*pg.RawStmt{{Stmt: &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: sel}}}}})
	if err != nil {
		panic(b.errorf(0, "%s", message(err)))
	}
	return text
}

// usesOf is what a view reads itself; nothing for a table.
func (b *binder) usesOf(name string) map[string]map[int]bool {
	if of, ok := b.uses.known[name]; ok {
		return of
	}
	def := b.c.definition(name)
	if def == nil || def.View == "" {
		return nil
	}
	v, err := b.ofView(def)
	if err == nil {
		_, err = v.viewRows(def) // of one that cannot be read any more, what comes before the error
	}
	if err != nil && v == nil {
		return nil
	}
	b.uses.known[name] = v.uses.of
	return v.uses.of
}

// reads are the tables and views that a view reads, by way of others too.
func (b *binder) reads(name string) map[string]bool {
	all := map[string]bool{}
	next := []string{name}
	for len(next) > 0 {
		for read := range b.usesOf(next[0]) {
			if !all[read] {
				all[read], next = true, append(next, read)
			}
		}
		next = next[1:]
	}
	return all
}

// dependents are the views that read a table or a view themselves, or one of its columns, negative for any.
func (b *binder) dependents(name string, column int) (list []string) {
	for _, v := range slices.Backward(b.c.Names) { // those read others before them, which are known then
		b.usesOf(v)
	}
	for _, v := range b.c.Names {
		if columns, ok := b.usesOf(v)[name]; ok && v != name && (column < 0 || columns[column]) {
			list = append(list, v)
		}
	}
	return list
}

// withDependents are names with the views that read them, which DROP takes along with CASCADE; else one that is not among
// them is an error.
func (b *binder) withDependents(names []string, cascade bool, loc int, what string) []string {
	all := slices.Clone(names)
	for i := 0; i < len(all); i++ {
		for _, v := range b.dependents(all[i], -1) {
			switch {
			case slices.Contains(all, v):
			case cascade:
				all = append(all, v)
			default:
				panic(b.coded(sqlstate.DependentObjects, loc, "cannot drop %s %q because view %q depends on it; CASCADE at the end drops it, too", what, all[i], v))
			}
		}
	}
	return all
}

// independent fails where a view reads a column that an ALTER TABLE is about to change.
func (a *alteration) independent(col, loc int, what string) {
	if views := a.dependents(a.old.Name, a.from[col]); len(views) > 0 {
		panic(a.coded(sqlstate.DependentObjects, loc, "cannot %s column %q because view %q depends on it; DROP VIEW %s comes first", what, a.def.Fields[col].Name, views[0], Written(views[:1])[0]))
	}
}

// renamedIn are the views that read a table, for a new name of that.
func (b *binder) renamedIn(was, is string) (list []*storage.Definition) {
	for _, name := range b.dependents(was, -1) {
		def := *b.c.definition(name)
		v, err := b.ofView(&def)
		if err != nil {
			panic(b.coded(sqlstate.Of(err), 0, "%v", err))
		}
		v.uses.was, v.uses.is = was, is
		if _, err := v.viewRows(&def); err != nil {
			panic(b.coded(sqlstate.Of(err), 0, "view %q, which reads %q, cannot be read: %v", name, was, err))
		}
		def.View = v.deparsedQuery(v.sel)
		list = append(list, &def)
	}
	return list
}

// renameView is ALTER VIEW ... RENAME TO.
func (b *binder) renameView(n *pg.RenameStmt) *Change {
	loc := int(n.Relation.Location)
	ch := &Change{Verb: "ALTER VIEW"}
	if n.MissingOk && !b.tableExists(n.Relation) {
		ch.Lax = true
		return ch
	}
	name := b.c.Names[b.find("view", b.relation(n.Relation), b.c.Names, loc)]
	old := b.c.definition(name)
	if old == nil || old.View == "" {
		panic(b.coded(sqlstate.WrongObjectType, loc, "%q is not a view", clipped(name)))
	}
	if slices.Contains(b.c.Names, n.Newname) {
		panic(b.coded(sqlstate.DuplicateTable, b.after(n.Newname, loc), "relation %q already exists", clipped(n.Newname)))
	}
	def := *old
	def.Name = n.Newname
	ch.More = []string{name}
	ch.Views = append([]*storage.Definition{&def}, b.renamedIn(name, n.Newname)...)
	return ch
}

// writtenTable makes a name in FROM what the statement's tree will have as a view, or with another name for the table.
func (b *binder) writtenTable(r *pg.RangeVar, name string) {
	switch u := b.uses; {
	case u.written && r.Schemaname == "" && b.relation(r).path:
		r.Relname = b.relation(r).text
	case u.was != "" && u.was == name:
		r.Relname = u.is
		if r.Alias == nil {
			r.Alias = &pg.Alias{Aliasname: name}
		}
	}
}

// writtenStar is the select items that a * stands for.
func (b *binder) writtenStar(list []output) (items []*pg.Node) {
	for _, v := range list {
		ref := []*pg.Node{pg.MakeStrNode(v.name)}
		if alias := b.scope.tableAt(v.columns[0]).alias; len(v.columns) == 1 && v.as.Kind == table.Unknown && alias != "" {
			ref = []*pg.Node{pg.MakeStrNode(alias), pg.MakeStrNode(b.scope.fields[v.columns[0]].Name)}
		}
		items = append(items, pg.MakeResTargetNodeWithNameAndVal(v.name, pg.MakeColumnRefNode(ref, -1), -1))
	}
	return items
}

// isTemp reports a table that is gone when the process ends.
func isTemp(r *pg.RangeVar) bool { return r.Relpersistence == "t" }
