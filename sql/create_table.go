package sql

import (
	"fmt"
	"slices"
	"strings"

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

// newTable is the name of a table to create; there is true where one of that name is.
func (b *binder) newTable(r *pg.RangeVar, lax bool) (name string, there bool) {
	loc := int(r.Location)
	switch {
	case r.Schemaname != "" && !strings.EqualFold(r.Schemaname, "public") && !(isTemp(r) && strings.EqualFold(r.Schemaname, "pg_temp")):
		panic(b.coded(sqlstate.InvalidSchema, loc, "tables are created in the schema public"))
	}
	if slices.Contains(b.c.Names, r.Relname) {
		if !lax {
			panic(b.coded(sqlstate.DuplicateTable, loc, "relation %q already exists", clipped(r.Relname)))
		}
		return r.Relname, true
	}
	return r.Relname, false
}

// create is CREATE TABLE.
func (b *binder) create(n *pg.CreateStmt) *Change {
	loc := int(n.Relation.Location)
	if b.Params > 0 {
		panic(b.coded(sqlstate.UndefinedParameter, 0, "CREATE TABLE takes no parameters: write the values"))
	}
	if len(n.InhRelations) > 0 || n.Partspec != nil || n.Partbound != nil || n.OfTypename != nil || len(n.Options) > 0 || n.Oncommit > pg.OnCommitAction_ONCOMMIT_PRESERVE_ROWS {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "INHERITS, PARTITION, OF, ON COMMIT and WITH are not supported with CREATE TABLE"))
	}
	name, there := b.newTable(n.Relation, n.IfNotExists)
	ch := &Change{Verb: "CREATE TABLE", Lax: there, Table: name}
	if there {
		return ch
	}
	def := &storage.Definition{Name: name, Temp: isTemp(n.Relation)}
	var late []*pg.Constraint // those of the table, and of columns those that name them
	var keys []*pg.Constraint // of tables that LIKE names
	for _, elt := range n.TableElts {
		if c := elt.GetConstraint(); c != nil {
			late = append(late, c)
			continue
		}
		if like := elt.GetTableLikeClause(); like != nil {
			keys = append(keys, b.columnsLike(def, like)...)
			continue
		}
		late = append(late, b.defineColumn(def, elt.GetColumnDef())...)
	}
	if len(def.Fields) == 0 {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "a table has at least one column"))
	}
	for _, c := range append(late, keys...) {
		b.constrain(def, c)
	}
	ch.Define = def
	b.checkDefinition(def, func(int) bool { return false })
	return ch
}

// columnsLike adds the columns of another table, as LIKE has them, and returns the keys of that table which are asked for.
func (b *binder) columnsLike(def *storage.Definition, n *pg.TableLikeClause) (keys []*pg.Constraint) {
	loc := int(n.Relation.Location)
	with := func(option pg.TableLikeOption) bool { return n.Options&(1<<(option-1)) != 0 } // the tree has them as bits, and numbered from 1
	t, name := b.tableNamed(n.Relation, loc)
	from := &storage.Definition{Name: name, Fields: t.Fields, Columns: make([]storage.Column, len(t.Fields))}
	if n.Relation.Schemaname == "" || strings.EqualFold(n.Relation.Schemaname, "public") {
		if of := b.c.definition(name); of != nil && of.View == "" {
			from = of
		} else if of != nil {
			from.Fields = must(viewFields(b.c, of))
		}
	}
	for i, f := range from.Fields {
		if slices.Contains(fieldNames(def.Fields), f.Name) {
			panic(b.coded(sqlstate.DuplicateColumn, loc, "column %q specified more than once", clipped(f.Name)))
		}
		if f.Unsupported != "" || f.Type.Kind == table.Unknown || f.Type.Kind == table.Interval || f.Type.Kind == table.Decimal && f.Type.Precision > 18 {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "column %q of type %s is not supported in a table", clipped(f.Name), typeName(f.Type)))
		}
		column := storage.Column{NotNull: from.Columns[i].NotNull, Length: from.Columns[i].Length, Padded: from.Columns[i].Padded}
		if with(pg.TableLikeOption_CREATE_TABLE_LIKE_DEFAULTS) {
			column.Default = from.Columns[i].Default
		}
		if with(pg.TableLikeOption_CREATE_TABLE_LIKE_COMMENTS) {
			column.Comment = from.Columns[i].Comment
		}
		if c := from.Columns[i].Sequence; c != nil && with(likeOf(c.Kind)) {
			column.Sequence = c.Fresh() // a serial column's is its own, too
		}
		def.Fields, def.Columns = append(def.Fields, f), append(def.Columns, column)
	}
	for _, c := range from.Checks {
		if !with(pg.TableLikeOption_CREATE_TABLE_LIKE_CONSTRAINTS) {
			continue
		}
		if constraintNamed(def, c.Name) {
			panic(b.coded(sqlstate.DuplicateObject, loc, "constraint %q for relation %q already exists", clipped(c.Name), def.Name))
		}
		c.SQL = b.ofTable(c.SQL, def.Name)
		def.Checks = append(def.Checks, c)
	}
	for _, k := range from.Keys {
		c := &pg.Constraint{Contype: pg.ConstrType_CONSTR_UNIQUE, Location: int32(loc)}
		if k.Primary {
			c.Contype = pg.ConstrType_CONSTR_PRIMARY
		}
		for _, col := range k.Columns {
			c.Keys = append(c.Keys, pg.MakeStrNode(from.Fields[col].Name))
		}
		if with(pg.TableLikeOption_CREATE_TABLE_LIKE_INDEXES) {
			keys = append(keys, c)
		}
	}
	return keys
}

// likeOf is the option of LIKE that a counter goes with.
func likeOf(k storage.SequenceKind) pg.TableLikeOption {
	if k.Identity() {
		return pg.TableLikeOption_CREATE_TABLE_LIKE_IDENTITY
	}
	return pg.TableLikeOption_CREATE_TABLE_LIKE_DEFAULTS
}

// defineColumn adds a column, and returns what is to be said of it once all columns are known.
func (b *binder) defineColumn(def *storage.Definition, d *pg.ColumnDef) (late []*pg.Constraint) {
	loc := int(d.Location)
	for _, f := range def.Fields {
		if f.Name == d.Colname {
			panic(b.coded(sqlstate.DuplicateColumn, loc, "column %q specified more than once", clipped(d.Colname)))
		}
	}
	if d.CollClause != nil {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "COLLATE is not supported; texts are ordered by their bytes"))
	}
	kind, counted := serial(d.TypeName)
	to := target{t: table.Type{Kind: kind}}
	if !counted {
		to = b.target(d.TypeName)
	}
	switch {
	case to.bare || to.t.Kind == table.Decimal && to.t.Precision > 18:
		panic(b.coded(sqlstate.FeatureNotSupported, int(d.TypeName.Location), "a column's NUMERIC has at most 18 digits: write NUMERIC(18, 2)"))
	case to.t.Kind == table.Interval || to.t.Kind == table.Unknown:
		panic(b.coded(sqlstate.FeatureNotSupported, int(d.TypeName.Location), "a column of type %s is not supported", typeName(to.t)))
	}
	def.Fields = append(def.Fields, table.Field{Name: d.Colname, Type: to.t})
	column := storage.Column{}
	if counted {
		column = storage.Column{NotNull: true, Sequence: &storage.Sequence{Kind: storage.Serial, Start: 1, Step: 1}}
	}
	column.Length, column.Padded = to.length, to.padded
	for _, n := range d.Constraints {
		c := n.GetConstraint()
		switch c.Contype {
		case pg.ConstrType_CONSTR_NOTNULL:
			column.NotNull = true
		case pg.ConstrType_CONSTR_NULL:
		case pg.ConstrType_CONSTR_DEFAULT:
			column.Default = b.deparsed(c.RawExpr)
		case pg.ConstrType_CONSTR_IDENTITY:
			if column.Sequence != nil {
				panic(b.coded(sqlstate.InvalidTableDefinition, int(c.Location), "multiple identity specifications for column %q of table %q", clipped(d.Colname), def.Name))
			}
			column.NotNull, column.Sequence = true, b.identity(c, table.Field{Name: d.Colname, Type: to.t})
		case pg.ConstrType_CONSTR_PRIMARY, pg.ConstrType_CONSTR_UNIQUE:
			c.Keys = []*pg.Node{pg.MakeStrNode(d.Colname)}
			late = append(late, c)
		default:
			late = append(late, c)
		}
	}
	if column.Sequence != nil && column.Default != "" {
		panic(b.errorf(loc, "both default and identity specified for column %q of table %q", clipped(d.Colname), def.Name))
	}
	def.Columns = append(def.Columns, column)
	return late
}

// constrain adds a constraint of the table.
func (b *binder) constrain(def *storage.Definition, c *pg.Constraint) {
	loc := int(c.Location)
	named := func(what string) string {
		if c.Conname != "" {
			if constraintNamed(def, c.Conname) {
				panic(b.coded(sqlstate.DuplicateObject, loc, "constraint %q for relation %q already exists", clipped(c.Conname), def.Name))
			}
			return c.Conname
		}
		name := def.Name + what
		for i := 1; constraintNamed(def, name); i++ {
			name = fmt.Sprint(def.Name, what, i)
		}
		return name
	}
	switch c.Contype {
	case pg.ConstrType_CONSTR_CHECK:
		what := "_check"
		if of := b.columnsIn(def, c.RawExpr); len(of) == 1 { // as PostgreSQL calls one of a single column
			what = "_" + def.Fields[of[0]].Name + what
		}
		def.Checks = append(def.Checks, storage.Check{Name: named(what), SQL: b.deparsed(c.RawExpr)})
	case pg.ConstrType_CONSTR_PRIMARY, pg.ConstrType_CONSTR_UNIQUE:
		k := storage.Key{Primary: c.Contype == pg.ConstrType_CONSTR_PRIMARY}
		if c.NullsNotDistinct {
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "NULLS NOT DISTINCT is not supported"))
		}
		var names []string
		for _, n := range c.Keys {
			col := b.columnOf(def, n.GetString_().Sval, -1)
			if slices.Contains(k.Columns, col) {
				panic(b.coded(sqlstate.DuplicateColumn, loc, "column %q appears twice in a key", def.Fields[col].Name))
			}
			k.Columns, names = append(k.Columns, col), append(names, def.Fields[col].Name)
			def.Columns[col].NotNull = def.Columns[col].NotNull || k.Primary
		}
		if k.Name = named("_" + strings.Join(names, "_") + "_key"); k.Primary {
			k.Name = named("_pkey")
			if slices.ContainsFunc(def.Keys, func(k storage.Key) bool { return k.Primary }) {
				panic(b.coded(sqlstate.InvalidTableDefinition, loc, "multiple primary keys for table %q are not allowed", def.Name))
			}
		}
		def.Keys = append(def.Keys, k)
	default:
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "this constraint is not supported; there are NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE"))
	}
}

// columnsIn are the columns of a table that an expression names, each once.
func (b *binder) columnsIn(def *storage.Definition, n *pg.Node) (list []int) {
	eachNode(n, func(m proto.Message) {
		r, ok := m.(*pg.ColumnRef)
		if !ok {
			return
		}
		for i, f := range def.Fields {
			if isColumn(r, f.Name) && !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
	})
	return list
}

// pgVersion is that of PostgreSQL's trees, which the writing of SQL checks.
const pgVersion = 170007

// deparsed is an expression as SQL.
func (b *binder) deparsed(n *pg.Node) string {
	sel := &pg.SelectStmt{TargetList: []*pg.Node{{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: n}}}}, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}
	text, err := pg.Deparse(&pg.ParseResult{Version: pgVersion, Stmts: []*pg.RawStmt{{Stmt: &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: sel}}}}})
	if err != nil {
		panic(b.errorf(0, "%s", message(err)))
	}
	text = strings.TrimPrefix(text, "SELECT ")
	if split("SELECT NOT (" + text + ")")[0].guard() != nil { // as it is read again: with all of its parentheses
		panic(b.coded(sqlstate.StatementTooComplex, 0, "an expression of CHECK or DEFAULT is nested too deeply; at most some %d operators may follow one another in it", MaxNesting-10))
	}
	return text
}

// checkDefinition binds the expressions of a definition, so that a fault of theirs is the statement's error. It skips the default of a
// column that is known.
func (b *binder) checkDefinition(def *storage.Definition, known func(col int) bool) {
	for i := range def.Fields {
		if known(i) {
			continue
		}
		if e := b.defaultOf(def, i); expr.HasSubquery(e) {
			panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("default"), "cannot use subquery in DEFAULT expression"))
		}
	}
	for _, c := range def.Checks {
		k := b.definitionBinder(c.SQL)
		k.scope = k.scopeOf(def.Fields, nil, def.Name, 0)
		if e := k.boolean(b.written(c.SQL), "CHECK"); expr.HasSubquery(e) {
			panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("check"), "cannot use subquery in check constraint"))
		}
	}
}

// createAs is CREATE TABLE AS.
func (b *binder) createAs(n *pg.CreateTableAsStmt) *Change {
	into := n.Into
	name, there := b.newTable(into.Rel, n.IfNotExists)
	ch := &Change{Verb: "CREATE TABLE", Lax: there, Table: name}
	if there {
		return ch
	}
	sel := n.Query.GetSelectStmt()
	if sel == nil {
		panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("as"), "CREATE TABLE AS takes a query"))
	}
	rows := b.nested(sel, nil).query()
	def, out := &storage.Definition{Name: name, Temp: isTemp(into.Rel)}, &plan.Project{}
	p, ok := rows.(*plan.Project)
	if !ok {
		p = selected(rows)
	}
	out.Input = p.Input
	fields := p.Fields()
	if len(into.ColNames) > len(fields) {
		panic(b.errorf(int(into.Rel.Location), "too many column names were specified"))
	}
	for i, f := range fields {
		if i < len(into.ColNames) {
			f.Name = into.ColNames[i].GetString_().Sval
		}
		if slices.ContainsFunc(def.Fields, func(o table.Field) bool { return o.Name == f.Name }) {
			panic(b.coded(sqlstate.DuplicateColumn, int(into.Rel.Location), "column %q specified more than once; give the select items names", clipped(f.Name)))
		}
		if f.Type.Kind == table.Decimal && f.Type.Precision > 18 { // a sum: it must fit
			f.Type.Precision = 18
		}
		if f.Type.Kind == table.Interval || f.Type.Kind == table.Unknown || f.Unsupported != "" {
			panic(b.coded(sqlstate.FeatureNotSupported, int(into.Rel.Location), "column %q of type %s is not supported in a table", clipped(f.Name), typeName(f.Type)))
		}
		def.Fields, def.Columns = append(def.Fields, f), append(def.Columns, storage.Column{})
		out.Items = append(out.Items, plan.Item{Name: f.Name, E: b.assigned(p.Items[i].E, f)})
	}
	ch.Define = def
	if !into.SkipData { // WITH NO DATA
		ch.Rows = rules.Unnest(out, b.c.Off)
	}
	return ch
}

// drop is DROP TABLE and DROP VIEW.
func (b *binder) drop(n *pg.DropStmt) *Change {
	what := "table"
	if n.RemoveType == pg.ObjectType_OBJECT_VIEW {
		what = "view"
	}
	ch := &Change{Verb: "DROP " + strings.ToUpper(what), Lax: n.MissingOk}
	first := 0
	at := slices.IndexFunc(b.tokens, func(t token) bool { return strings.EqualFold(b.Text[t.start:t.end], what) }) + 1
	if n.MissingOk { // IF EXISTS
		at += 2
	}
	for _, o := range n.Objects {
		folded := xslices.Map(o.GetList().GetItems(), func(part *pg.Node) string { return part.GetString_().GetSval() })
		loc := b.tokens[min(at, len(b.tokens)-1)].start
		names := b.spelled(loc, folded...)
		at += 2 * len(names) // the points between them, and the comma behind
		of := names[len(names)-1]
		if i, matches := lookup(of, b.c.Names); n.MissingOk && i < 0 && matches == 0 {
			continue
		}
		if len(names) > 2 || len(names) == 2 && !strings.EqualFold(names[0].text, "public") {
			panic(b.coded(sqlstate.UndefinedTable, loc, "there is no table %s that can be dropped; those that CREATE TABLE has made are in the schema public", clipped(strings.Join(folded, "."))))
		}
		name := b.c.Names[b.find(what, of, b.c.Names, loc)]
		def := b.c.definition(name)
		switch isView := def != nil && def.View != ""; {
		case def == nil:
			panic(b.coded(sqlstate.WrongObjectType, loc, "table %q is not one that CREATE TABLE has made: it is not dropped", clipped(name)))
		case isView && what == "table":
			panic(b.coded(sqlstate.WrongObjectType, loc, "%q is not a table; DROP VIEW %s drops it", clipped(name), Written([]string{name})[0]))
		case !isView && what == "view":
			panic(b.coded(sqlstate.WrongObjectType, loc, "%q is not a view; DROP TABLE %s drops it", clipped(name), Written([]string{name})[0]))
		}
		if first == 0 {
			first = loc
		}
		if !slices.Contains(ch.More, name) {
			ch.More = append(ch.More, name)
		}
	}
	ch.More = b.withDependents(ch.More, n.Behavior == pg.DropBehavior_DROP_CASCADE, first, what)
	return ch
}
