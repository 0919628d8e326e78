package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// NewRows is what the rows that an INSERT proposes are called in the plans of [Conflict]; no statement can write it.
const NewRows = "new\x01rows"

// Conflict is ON CONFLICT: what becomes of rows whose key is there. Its plans read the proposed rows as [NewRows], numbered, and
// the table, numbered.
type Conflict struct {
	Keys []storage.Key // by which rows conflict
	Hits []plan.Node   // for each: the numbers of the proposed rows that conflict with one of the table

	// Update has the rows of the table that DO UPDATE changes, one for each proposed row that conflicts with it. A row has its number, then
	// the columns of Set, of which the first Assigned are changed, and last the number of the proposed row. Nil for DO NOTHING.
	Update   plan.Node
	Set      []int
	Assigned int
}

// conflict binds ON CONFLICT.
func (b *binder) conflict(n *pg.InsertStmt, def *storage.Definition) *Conflict {
	clause := n.OnConflictClause
	loc := int(clause.Location)
	c := &Conflict{Keys: b.arbiters(clause.Infer, def)}
	update := clause.Action == pg.OnConflictAction_ONCONFLICT_UPDATE
	if update && clause.Infer == nil {
		panic(b.errorf(loc, "ON CONFLICT DO UPDATE requires the columns of a key or a constraint's name: ON CONFLICT (%s)", expr.Ident(def.Fields[0].Name)))
	}
	with := b.with
	b.with = nil // whose names hide no table here
	target, s := b.fromItem(&pg.Node{Node: &pg.Node_RangeVar{RangeVar: n.Relation}})
	b.with = with
	fields := append(slices.Clone(def.Fields), table.NumberField)
	excluded := b.scopeOf(fields, &pg.Alias{Aliasname: "excluded"}, "", loc)
	proposed := &plan.Scan{Table: NewRows, Columns: fields}
	width := len(s.fields)
	b.scope, b.place = s.concat(excluded), inSet
	number := func(first int) plan.Item {
		at := first + len(def.Fields)
		return plan.Item{Name: table.NumberField.Name, E: &expr.Column{Index: at, Name: table.NumberField.Name, T: table.NumberField.Type, P: b.pos(loc)}}
	}
	joined := func(k storage.Key) plan.Node {
		var same []expr.Expr
		for _, col := range k.Columns {
			same = append(same, compare(expr.EQ, b.field(col, loc), b.field(width+col, loc), b.pos(loc)))
		}
		return &plan.Join{Kind: plan.Inner, Left: target, Right: proposed, On: junction(same, true, b.pos(loc))}
	}
	for _, k := range c.Keys {
		c.Hits = append(c.Hits, rules.Unnest(&plan.Project{Input: joined(k), Items: []plan.Item{number(width)}}, b.c.Off))
	}
	if !update {
		return c
	}
	items := []plan.Item{number(0)}
	c.Set, items = b.assignments(nil, def, clause.TargetList, items)
	c.Assigned = len(c.Set)
	for i, f := range def.Fields {
		if !slices.Contains(c.Set, i) {
			c.Set, items = append(c.Set, i), append(items, plan.Item{Name: f.Name, E: b.field(i, loc)})
		}
	}
	b.sel = &pg.SelectStmt{WhereClause: clause.WhereClause}
	in := joined(c.Keys[0])
	if w := b.where(); w != nil {
		in = &plan.Filter{Input: in, Where: w}
	}
	c.Update = rules.Unnest(&plan.Project{Input: in, Items: append(items, number(width))}, b.c.Off)
	return c
}

// arbiters are the keys that a conflict target means: all of the table's without one.
func (b *binder) arbiters(n *pg.InferClause, def *storage.Definition) []storage.Key {
	if n == nil {
		return def.Keys
	}
	loc := int(n.Location)
	if n.Conname != "" {
		for _, k := range def.Keys {
			if k.Name == n.Conname {
				return []storage.Key{k}
			}
		}
		panic(b.coded(sqlstate.UndefinedObject, loc, "constraint %q for table %q does not exist%s", clipped(n.Conname), def.Name, suggest(n.Conname, keyNames(def), "keys")))
	}
	if n.WhereClause != nil {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "WHERE in a conflict target is not supported: keys are of all rows"))
	}
	var cols []int
	for _, e := range n.IndexElems {
		name := e.GetIndexElem().GetName()
		if name == "" {
			panic(b.coded(sqlstate.InvalidColumnReference, loc, "a conflict target has names of columns alone"))
		}
		if col := b.columnOf(def, name, b.after(name, loc)); !slices.Contains(cols, col) {
			cols = append(cols, col)
		}
	}
	slices.Sort(cols)
	for _, k := range def.Keys {
		if slices.Equal(slices.Sorted(slices.Values(k.Columns)), cols) {
			return []storage.Key{k}
		}
	}
	panic(b.coded(sqlstate.InvalidColumnReference, loc, "there is no unique or exclusion constraint matching the ON CONFLICT specification; ALTER TABLE %s ADD UNIQUE (...) makes one", Written([]string{def.Name})[0]))
}

func keyNames(def *storage.Definition) []string {
	return xslices.Map(def.Keys, func(k storage.Key) string { return k.Name })
}

// assignments binds the list of a SET, and adds the values to items. ch is nil for DO UPDATE.
func (b *binder) assignments(ch *Change, def *storage.Definition, list []*pg.Node, items []plan.Item) (set []int, _ []plan.Item) {
	for _, t := range list {
		r := t.GetResTarget()
		loc := int(r.Location)
		col := b.assignedTo(def, r)
		if slices.Contains(set, col) {
			panic(b.errorf(loc, "multiple assignments to same column %q", clipped(r.Name)))
		}
		val := r.Val
		if m := val.GetMultiAssignRef(); m != nil {
			val = b.oneOf(m, loc)
		}
		var e expr.Expr
		switch c := def.Columns[col].Sequence; {
		case c == nil:
		case val.GetSetToDefault() == nil && c.Kind == storage.Always:
			panic(b.coded(sqlstate.GeneratedAlways, loc, "column %q can only be updated to DEFAULT, for it is GENERATED ALWAYS", def.Fields[col].Name))
		case val.GetSetToDefault() == nil:
		case ch == nil:
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "DEFAULT of column %q, which is counted, is not supported in DO UPDATE", def.Fields[col].Name))
		default:
			ch.count(col, -1)
		}
		if val.GetSetToDefault() != nil {
			e = b.defaultOf(def, col)
		} else {
			bound := b.expr(val)
			if ch != nil {
				b.noted.item(val, bound, def.Fields[col], 0, len(items))
			}
			e = b.assigned(bound, def.Fields[col])
		}
		set, items = append(set, col), append(items, plan.Item{Name: def.Fields[col].Name, E: e})
	}
	return set, items
}

// oneOf is the value for one column of SET (a, b) = (...).
func (b *binder) oneOf(m *pg.MultiAssignRef, loc int) *pg.Node {
	wrong := func(n int) {
		panic(b.errorf(loc, "number of columns does not match number of values: %d and %d", m.Ncolumns, n))
	}
	if row := m.Source.GetRowExpr(); row != nil {
		if len(row.Args) != int(m.Ncolumns) {
			wrong(len(row.Args))
		}
		return row.Args[m.Colno-1]
	}
	sub := m.Source.GetSubLink()
	if sub == nil || sub.SubLinkType != pg.SubLinkType_EXPR_SUBLINK {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "SET (...) = takes a row of as many expressions, or a subquery: SET (a, b) = (1, 2)"))
	}
	n := len(b.nested(sub.Subselect.GetSelectStmt(), b).query().Fields())
	if n != int(m.Ncolumns) {
		wrong(n)
	}
	alias := &pg.Alias{Aliasname: "row"}
	for i := range n {
		alias.Colnames = append(alias.Colnames, pg.MakeStrNode(string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676))))
	}
	nowhere := int32(len(b.Text)) // where no name is
	one := &pg.SelectStmt{
		Op: pg.SetOperation_SETOP_NONE, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT,
		TargetList: []*pg.Node{pg.MakeResTargetNodeWithVal(pg.MakeColumnRefNode([]*pg.Node{alias.Colnames[m.Colno-1]}, nowhere), nowhere)},
		FromClause: []*pg.Node{{Node: &pg.Node_RangeSubselect{RangeSubselect: &pg.RangeSubselect{Subquery: sub.Subselect, Alias: alias}}}},
	}
	return &pg.Node{Node: &pg.Node_SubLink{SubLink: &pg.SubLink{SubLinkType: sub.SubLinkType, Location: sub.Location, Subselect: &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: one}}}}}
}
