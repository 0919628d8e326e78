package sql

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// alteration is a table on its way to another definition. What it computes of the rows that there are reads them as they
// were before the statement.
type alteration struct {
	*binder
	target *pg.RangeVar
	old    *storage.Definition
	def    *storage.Definition
	from   []int       // the old column of each new one; negative for one whose values are new
	values []expr.Expr // of those, over the old columns

	dropped []string // views that go with a column
}

// step is a subcommand of ALTER TABLE.
type step struct {
	order int // PostgreSQL's: those of one statement run in it, not as they are written
	do    func(*alteration, *pg.AlterTableCmd)
}

var steps = map[pg.AlterTableType]step{
	pg.AlterTableType_AT_DropColumn:      {0, (*alteration).dropColumn},
	pg.AlterTableType_AT_DropConstraint:  {0, (*alteration).dropConstraint},
	pg.AlterTableType_AT_AlterColumnType: {1, (*alteration).changeType},
	pg.AlterTableType_AT_AddColumn:       {2, (*alteration).addColumn},
	pg.AlterTableType_AT_ColumnDefault:   {3, (*alteration).setDefault},
	pg.AlterTableType_AT_SetNotNull:      {3, (*alteration).setNotNull},
	pg.AlterTableType_AT_DropNotNull:     {3, (*alteration).dropNotNull},
	pg.AlterTableType_AT_AddIdentity:     {3, (*alteration).addIdentity},
	pg.AlterTableType_AT_SetIdentity:     {3, (*alteration).setIdentity},
	pg.AlterTableType_AT_DropIdentity:    {3, (*alteration).dropIdentity},
	pg.AlterTableType_AT_AddConstraint:   {4, (*alteration).addConstraint},
}

// alter is ALTER TABLE, but for RENAME.
func (b *binder) alter(n *pg.AlterTableStmt) *Change {
	ch := &Change{Verb: "ALTER TABLE"}
	if n.MissingOk && !b.tableExists(n.Relation) {
		ch.Lax = true
		return ch
	}
	a := b.altering(n.Relation)
	ch.Table = a.old.Name
	commands := slices.Clone(n.Cmds)
	order := func(n *pg.Node) int {
		c := n.GetAlterTableCmd()
		s, ok := steps[c.GetSubtype()]
		if !ok {
			panic(b.coded(sqlstate.FeatureNotSupported, b.after(c.GetName(), 0), "this form of ALTER TABLE is not supported; there are ADD and DROP COLUMN, ADD and DROP CONSTRAINT, ALTER COLUMN with TYPE, DEFAULT and NOT NULL, and RENAME"))
		}
		return s.order
	}
	slices.SortStableFunc(commands, func(x, y *pg.Node) int { return order(x) - order(y) })
	for _, c := range commands {
		order(c) // of a single one, too
		steps[c.GetAlterTableCmd().Subtype].do(a, c.GetAlterTableCmd())
	}
	if len(a.def.Fields) == 0 {
		panic(b.coded(sqlstate.FeatureNotSupported, int(n.Relation.Location), "a table has at least one column; DROP TABLE %s drops all of it", Written([]string{a.old.Name})[0]))
	}
	b.checkDefinition(a.def, a.hasDefault)
	a.finish(ch)
	return ch
}

// altering begins with a table as it is.
func (b *binder) altering(r *pg.RangeVar) *alteration {
	_, old := b.changeable(r)
	a := &alteration{binder: b, target: r, old: old, def: &storage.Definition{}}
	*a.def = *old
	a.def.Fields, a.def.Columns, a.def.Checks = slices.Clone(old.Fields), slices.Clone(old.Columns), slices.Clone(old.Checks)
	a.def.Keys = nil
	for _, k := range old.Keys {
		k.Columns = slices.Clone(k.Columns)
		a.def.Keys = append(a.def.Keys, k)
	}
	a.values = make([]expr.Expr, len(old.Fields))
	for i := range old.Fields {
		a.from = append(a.from, i)
	}
	return a
}

// finish makes the change of the alteration.
func (a *alteration) finish(ch *Change) {
	slices.Sort(a.dropped)
	ch.More = slices.Compact(a.dropped)
	ch.Define, ch.From, ch.Fill = a.def, a.from, make([]table.Value, len(a.from))
	var items []plan.Item
	var in plan.Node
	for i, e := range a.values {
		f := a.def.Fields[i]
		if ch.Fill[i] = table.Null(f.Type); a.from[i] >= 0 {
			continue
		}
		if len(expr.Columns(e)) == 0 {
			ch.Fill[i] = must(expr.Eval(e, constants))
			continue
		}
		if in == nil {
			var number plan.Item
			in, number = a.changedRows(a.target, nil, nil)
			items = []plan.Item{number}
		}
		ch.Set, items = append(ch.Set, i), append(items, plan.Item{Name: f.Name, E: e})
	}
	if in != nil {
		ch.Rows = rules.Unnest(&plan.Project{Input: in, Items: items}, a.c.Off)
	}
	ch.Assigned = len(ch.Set)
}

// hasDefault reports a column whose default, of the same type, the old definition has.
func (a *alteration) hasDefault(col int) bool {
	was := a.from[col]
	return was >= 0 && a.def.Columns[col].Default == a.old.Columns[was].Default && a.def.Fields[col].Type == a.old.Fields[was].Type
}

// after is where a name stands behind an offset; 0 where it does not.
func (s *Statement) after(folded string, loc int) int {
	for _, t := range s.tokens {
		if t.start > loc && (t.kind == word || t.kind == quoted) && strings.EqualFold(s.spelled(t.start, folded)[0].text, folded) {
			return t.start
		}
	}
	return 0
}

// column is the place of a column that a subcommand names, and where it stands in the statement.
func (a *alteration) column(folded string) (col, loc int) {
	loc = a.after(folded, int(a.target.Location))
	return a.columnOf(a.def, folded, loc), loc
}

// has reports whether there is a column of a name.
func (a *alteration) has(folded string) bool {
	loc := a.after(folded, int(a.target.Location))
	i, matches := lookup(a.spelled(loc, folded)[0], fieldNames(a.def.Fields))
	return i >= 0 || matches > 0
}

func fieldNames(fields []table.Field) []string {
	return xslices.Map(fields, func(f table.Field) string { return f.Name })
}

func (a *alteration) addColumn(c *pg.AlterTableCmd) {
	d := c.Def.GetColumnDef()
	if c.MissingOk && a.has(d.Colname) { // IF NOT EXISTS
		return
	}
	if slices.Contains(fieldNames(a.def.Fields), d.Colname) {
		panic(a.coded(sqlstate.DuplicateColumn, int(d.Location), "column %q of relation %q already exists", clipped(d.Colname), a.def.Name))
	}
	late := a.defineColumn(a.def, d)
	col := len(a.def.Fields) - 1
	a.from, a.values = append(a.from, -1), append(a.values, a.defaultOf(a.def, col))
	for _, c := range late {
		a.constrain(a.def, c)
	}
}

func (a *alteration) dropColumn(c *pg.AlterTableCmd) {
	if c.MissingOk && !a.has(c.Name) { // IF EXISTS
		return
	}
	col, loc := a.column(c.Name)
	if views := a.dependents(a.old.Name, a.from[col]); len(views) > 0 && c.Behavior == pg.DropBehavior_DROP_CASCADE {
		a.dropped = append(a.dropped, a.withDependents(views, true, loc, "view")...)
	} else if len(views) > 0 {
		panic(a.coded(sqlstate.DependentObjects, loc, "cannot drop column %q because view %q depends on it; DROP COLUMN ... CASCADE drops it, too", a.def.Fields[col].Name, views[0]))
	}
	d, name := a.def, a.def.Fields[col].Name
	d.Fields, d.Columns = slices.Delete(d.Fields, col, col+1), slices.Delete(d.Columns, col, col+1)
	a.from, a.values = slices.Delete(a.from, col, col+1), slices.Delete(a.values, col, col+1)
	d.Checks = slices.DeleteFunc(d.Checks, func(c storage.Check) bool { return a.names(c.SQL, name) }) // and what is said of it, as PostgreSQL does
	d.Keys = slices.DeleteFunc(d.Keys, func(k storage.Key) bool { return slices.Contains(k.Columns, col) })
	for _, k := range d.Keys {
		for i, of := range k.Columns {
			if of > col {
				k.Columns[i]--
			}
		}
	}
}

func (a *alteration) setDefault(c *pg.AlterTableCmd) {
	col, loc := a.column(c.Name)
	if n := a.def.Columns[col].Sequence; n != nil && n.Kind.Identity() {
		panic(a.errorf(loc, "column %q of relation %q is an identity column; ALTER COLUMN %s DROP IDENTITY comes first", a.def.Fields[col].Name, a.def.Name, expr.Ident(a.def.Fields[col].Name)))
	}
	a.def.Columns[col].Sequence = nil
	if a.def.Columns[col].Default = ""; c.Def != nil {
		a.def.Columns[col].Default = a.deparsed(c.Def)
	}
}

func (a *alteration) setNotNull(c *pg.AlterTableCmd) {
	col, _ := a.column(c.Name)
	a.def.Columns[col].NotNull = true
}

func (a *alteration) dropNotNull(c *pg.AlterTableCmd) {
	col, loc := a.column(c.Name)
	for _, k := range a.def.Keys {
		if k.Primary && slices.Contains(k.Columns, col) {
			panic(a.coded(sqlstate.InvalidTableDefinition, loc, "column %q is in a primary key; ALTER TABLE %s DROP CONSTRAINT %s comes first", a.def.Fields[col].Name, Written([]string{a.old.Name})[0], expr.Ident(k.Name)))
		}
	}
	if n := a.def.Columns[col].Sequence; n != nil && n.Kind.Identity() {
		panic(a.errorf(loc, "column %q of relation %q is an identity column; ALTER COLUMN %s DROP IDENTITY comes first", a.def.Fields[col].Name, a.def.Name, expr.Ident(a.def.Fields[col].Name)))
	}
	a.def.Columns[col].NotNull = false
}

// changeType gives a column another type: its values are those of USING, else they are assigned.
func (a *alteration) changeType(c *pg.AlterTableCmd) {
	col, loc := a.column(c.Name)
	d := c.Def.GetColumnDef()
	if a.from[col] < 0 {
		panic(a.coded(sqlstate.FeatureNotSupported, loc, "column %q has its type changed twice", a.def.Fields[col].Name))
	}
	one := &storage.Definition{Name: a.def.Name}
	d.Colname = a.def.Fields[col].Name
	using := d.RawDefault
	a.independent(col, loc, "alter the type of")
	a.defineColumn(one, d)
	to := one.Fields[0]
	r := a.nested(&pg.SelectStmt{}, nil)
	r.scope, r.place = r.scopeOf(a.old.Fields, a.target.Alias, a.old.Name, int(a.target.Location)), inUsing
	r.scope.tables[0].rows = &plan.Scan{Table: a.old.Name, Columns: a.old.Fields}
	var e expr.Expr
	if using != nil {
		if e = r.expr(using); expr.HasSubquery(e) {
			panic(a.coded(sqlstate.FeatureNotSupported, a.keyword("using"), "cannot use subquery in transform expression"))
		}
		e = a.assigned(e, to)
	} else {
		was := a.old.Fields[a.from[col]]
		e = &expr.Column{Index: a.from[col], Name: was.Name, T: was.Type, P: a.pos(loc)}
		if !assignable(was.Type, to.Type) {
			panic(a.coded(sqlstate.DatatypeMismatch, loc, "column %q cannot be cast automatically to type %s; write USING CAST(%s AS %s)", to.Name, typeName(to.Type), expr.Ident(to.Name), typeName(to.Type)))
		}
		e = a.assigned(e, to)
	}
	was, now := a.old.Columns[a.from[col]], one.Columns[0]
	// Another column's values are new ones, to which the rules of the table are applied.
	column, ok := e.(*expr.Column)
	if asIs := ok && column.Index == a.from[col] && !(now.Padded && !was.Padded) && (now.Length == 0 || was.Length > 0 && was.Length <= now.Length); !asIs {
		a.from[col], a.values[col] = -1, e
	}
	if a.def.Columns[col].Sequence != nil && !to.Type.IsInteger() {
		panic(a.coded(sqlstate.InvalidParameterValue, loc, "column %q is counted, and its type must be smallint, integer, or bigint", to.Name))
	}
	a.def.Fields[col] = to
	a.def.Columns[col].Length, a.def.Columns[col].Padded = one.Columns[0].Length, one.Columns[0].Padded
	defer func() {
		if v := recover(); v != nil {
			panic(a.coded(sqlstate.DatatypeMismatch, loc, "the default of column %q cannot be of type %s; ALTER COLUMN %s DROP DEFAULT comes first", to.Name, typeName(to.Type), expr.Ident(to.Name)))
		}
	}()
	a.defaultOf(a.def, col)
}

func (a *alteration) addConstraint(c *pg.AlterTableCmd) {
	n := c.Def.GetConstraint()
	if n.SkipValidation || n.Indexname != "" {
		panic(a.coded(sqlstate.FeatureNotSupported, int(n.Location), "NOT VALID and USING INDEX are not supported: the rows that there are must fit"))
	}
	a.constrain(a.def, n)
}

func (a *alteration) dropConstraint(c *pg.AlterTableCmd) {
	d := a.def
	n := len(d.Checks) + len(d.Keys)
	loc := a.after(c.Name, int(a.target.Location))
	names := xslices.Map(d.Checks, func(c storage.Check) string { return c.Name })
	for _, k := range d.Keys {
		names = append(names, k.Name)
	}
	i, _ := lookup(a.spelled(loc, c.Name)[0], names)
	if i < 0 && c.MissingOk {
		return
	}
	if i < 0 {
		panic(a.coded(sqlstate.UndefinedObject, loc, "constraint %q of relation %q does not exist%s", clipped(c.Name), d.Name, suggest(c.Name, names, "constraints")))
	}
	d.Checks = slices.DeleteFunc(d.Checks, func(c storage.Check) bool { return c.Name == names[i] })
	if len(d.Checks)+len(d.Keys) == n {
		d.Keys = slices.DeleteFunc(d.Keys, func(k storage.Key) bool { return k.Name == names[i] })
	}
}

// rename is ALTER ... RENAME.
func (b *binder) rename(n *pg.RenameStmt) *Change {
	if n.RenameType == pg.ObjectType_OBJECT_VIEW {
		return b.renameView(n)
	}
	ch := &Change{Verb: "ALTER TABLE"}
	if n.MissingOk && !b.tableExists(n.Relation) {
		ch.Lax = true
		return ch
	}
	a := b.altering(n.Relation)
	ch.Table = a.old.Name
	loc := int(n.Relation.Location)
	to := n.Newname
	switch n.RenameType {
	case pg.ObjectType_OBJECT_TABLE:
		ch.Views = a.renamedIn(a.old.Name, to)
		if a.def.Name = to; slices.Contains(b.c.Names, to) {
			panic(b.coded(sqlstate.DuplicateTable, b.after(to, loc), "relation %q already exists", clipped(to)))
		}
		for i, c := range a.def.Checks {
			a.def.Checks[i].SQL = a.ofTable(c.SQL, to)
		}
	case pg.ObjectType_OBJECT_COLUMN:
		col, loc := a.column(n.Subname)
		a.independent(col, loc, "rename")
		was := a.def.Fields[col].Name
		if i, _ := lookup(name{to, true, false}, fieldNames(a.def.Fields)); i >= 0 {
			panic(b.coded(sqlstate.DuplicateColumn, b.after(to, b.after(n.Subname, loc)), "column %q of relation %q already exists", clipped(to), a.def.Name))
		}
		a.def.Fields[col].Name = to
		for i, c := range a.def.Checks {
			if a.names(c.SQL, was) {
				a.def.Checks[i].SQL = a.rewritten(c.SQL, func(r *pg.ColumnRef) {
					if at := len(r.Fields) - 1; isColumn(r, was) {
						r.Fields[at] = pg.MakeStrNode(to)
					}
				})
			}
		}
	case pg.ObjectType_OBJECT_TABCONSTRAINT:
		a.renameConstraint(n.Subname, to)
	default:
		panic(b.coded(sqlstate.FeatureNotSupported, 0, "%s is not supported with this kind of RENAME; there are RENAME TO, RENAME COLUMN and RENAME CONSTRAINT", b.firstWords()))
	}
	b.checkDefinition(a.def, a.hasDefault)
	a.finish(ch)
	return ch
}

func (a *alteration) renameConstraint(folded, to string) {
	loc := a.after(folded, int(a.target.Location))
	if a.constraintNamed(to) {
		panic(a.coded(sqlstate.DuplicateObject, a.after(to, loc), "constraint %q for relation %q already exists", clipped(to), a.def.Name))
	}
	if !a.constraintNamed(folded) {
		panic(a.coded(sqlstate.UndefinedObject, loc, "constraint %q of relation %q does not exist", clipped(folded), a.def.Name))
	}
	for i := range a.def.Checks {
		if a.def.Checks[i].Name == folded {
			a.def.Checks[i].Name = to
		}
	}
	for i := range a.def.Keys {
		if a.def.Keys[i].Name == folded {
			a.def.Keys[i].Name = to
		}
	}
}

func (a *alteration) constraintNamed(name string) bool { return constraintNamed(a.def, name) }

// constraintNamed reports whether a table has a constraint of a name.
func constraintNamed(d *storage.Definition, name string) bool {
	return slices.ContainsFunc(d.Checks, func(c storage.Check) bool { return c.Name == name }) || slices.ContainsFunc(d.Keys, func(k storage.Key) bool { return k.Name == name })
}

// tableExists reports whether there is a table of a name.
func (b *binder) tableExists(r *pg.RangeVar) bool {
	i, matches := lookup(b.relation(r), b.c.Names)
	return i >= 0 || matches > 0
}

// isColumn reports that a reference is to a column of a name, as [lookup] finds it.
func isColumn(r *pg.ColumnRef, name string) bool {
	return len(r.Fields) > 0 && strings.EqualFold(r.Fields[len(r.Fields)-1].GetString_().GetSval(), name)
}

// names reports that an expression of a definition names a column.
func (b *binder) names(text, column string) (found bool) {
	eachNode(b.written(text), func(m proto.Message) {
		r, ok := m.(*pg.ColumnRef)
		found = found || ok && isColumn(r, column)
	})
	return found
}

// rewritten is an expression of a definition with other references to columns.
func (b *binder) rewritten(text string, change func(*pg.ColumnRef)) string {
	n := b.written(text)
	eachNode(n, func(m proto.Message) {
		if r, ok := m.(*pg.ColumnRef); ok {
			change(r)
		}
	})
	return b.deparsed(n)
}

// ofTable is an expression of a definition for a table of another name.
func (b *binder) ofTable(text, name string) string {
	return b.rewritten(text, func(r *pg.ColumnRef) {
		if len(r.Fields) == 2 {
			r.Fields[0] = pg.MakeStrNode(name)
		}
	})
}

// eachNode calls do for every node of a tree, those above before those below.
func eachNode(n proto.Message, do func(proto.Message)) { eachMessage(n.ProtoReflect(), do) }

func eachMessage(m protoreflect.Message, do func(proto.Message)) {
	do(m.Interface())
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				eachMessage(v.List().Get(i).Message(), do)
			}
		default:
			eachMessage(v.Message(), do)
		}
		return true
	})
}
