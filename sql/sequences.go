package sql

import (
	"math"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// SequenceColumn is a column whose values in rows of an INSERT or an UPDATE are the next numbers of its counter: see [storage.Sequence].
// The plan has NULL in their place.
type SequenceColumn struct {
	Column int
	Rows   []int // of VALUES, ascending; nil for all rows
}

// serials are the types that are an integer with a counter.
var serials = map[string]table.Kind{
	"smallserial": table.SmallInt, "serial2": table.SmallInt, "serial": table.Integer, "serial4": table.Integer, "bigserial": table.BigInt, "serial8": table.BigInt,
}

// serial is the integer type of a serial one.
func serial(n *pg.TypeName) (kind table.Kind, ok bool) {
	if len(n.Names) != 1 || len(n.ArrayBounds) > 0 {
		return 0, false
	}
	kind, ok = serials[n.Names[0].GetString_().GetSval()]
	return kind, ok
}

// identity is the counter of GENERATED ... AS IDENTITY.
func (b *binder) identity(c *pg.Constraint, f table.Field) *storage.Sequence {
	if !f.Type.IsInteger() {
		panic(b.coded(sqlstate.InvalidParameterValue, int(c.Location), "identity column type must be smallint, integer, or bigint"))
	}
	kind := storage.ByDefault
	if c.GeneratedWhen == "a" {
		kind = storage.Always
	}
	n := &storage.Sequence{Kind: kind, Start: 1, Step: 1}
	b.counterOptions(n, c.Options, f, true)
	return n
}

// counterOptions reads what is said of a counter, which begins with it or has begun before.
func (b *binder) counterOptions(n *storage.Sequence, options []*pg.Node, f table.Field, began bool) {
	started := false
	for _, o := range options {
		d := o.GetDefElem()
		loc := int(d.Location)
		v, given := int64(0), false
		switch d.Defname {
		case "start", "increment", "minvalue", "maxvalue", "cache":
			v, given = b.option(d)
		case "cycle":
			if d.Arg.GetBoolean().GetBoolval() {
				panic(b.coded(sqlstate.FeatureNotSupported, loc, "CYCLE is not supported: a number is given once"))
			}
		default:
			panic(b.coded(sqlstate.FeatureNotSupported, loc, "an identity column takes START, INCREMENT, MINVALUE and MAXVALUE"))
		}
		limit := &v
		if !given {
			limit = nil // NO MINVALUE
		}
		switch d.Defname {
		case "start":
			n.Start, started = v, true
		case "increment":
			if n.Step = v; v == 0 {
				panic(b.coded(sqlstate.InvalidParameterValue, loc, "INCREMENT must not be zero"))
			}
			continue
		case "minvalue":
			n.Min = limit
		case "maxvalue":
			n.Max = limit
		}
		if !f.Type.Holds(v) {
			panic(b.coded(sqlstate.NumericOutOfRange, loc, "%s (%d) is out of range for type %s", strings.ToUpper(d.Defname), v, typeName(f.Type)))
		}
	}
	if began && !started { // as PostgreSQL does: at the first that there may be
		switch n.Start = 1; {
		case n.Step > 0 && n.Min != nil:
			n.Start = *n.Min
		case n.Step < 0 && n.Max != nil:
			n.Start = *n.Max
		case n.Step < 0:
			n.Start = -1
		}
	}
	if n.Min != nil && n.Start < *n.Min || n.Max != nil && n.Start > *n.Max {
		panic(b.coded(sqlstate.InvalidParameterValue, b.keyword("identity"), "START value (%d) must be from MINVALUE to MAXVALUE", n.Start))
	}
}

// option is a number of an option; ok is false where it has none, as in NO MAXVALUE.
func (b *binder) option(d *pg.DefElem) (v int64, ok bool) {
	switch a := d.Arg.GetNode().(type) {
	case nil:
		return 0, false
	case *pg.Node_Integer:
		return int64(a.Integer.Ival), true
	case *pg.Node_Float:
		if v, err := strconv.ParseInt(a.Float.Fval, 10, 64); err == nil {
			return v, true
		}
	}
	panic(b.coded(sqlstate.InvalidParameterValue, int(d.Location), "%s takes an integer from %d to %d", strings.ToUpper(d.Defname), math.MinInt64, math.MaxInt64))
}

// count notes that a column of an INSERT takes numbers in a row of VALUES, or with a negative one in all rows.
func (ch *Change) count(col, row int) {
	i := slices.IndexFunc(ch.Sequences, func(c SequenceColumn) bool { return c.Column == col })
	if i < 0 {
		i, ch.Sequences = len(ch.Sequences), append(ch.Sequences, SequenceColumn{Column: col})
	}
	if row >= 0 {
		ch.Sequences[i].Rows = append(ch.Sequences[i].Rows, row)
	}
}

// unset is the value of a column that is given none; a counted one is noted in ch.
func (b *binder) unset(ch *Change, def *storage.Definition, col, row int) expr.Expr {
	if def.Columns[col].Sequence != nil {
		ch.count(col, row)
	}
	return b.defaultOf(def, col)
}

// takesValue fails for a column of an INSERT that takes a value only where that is asked for.
func (b *binder) takesValue(ch *Change, def *storage.Definition, col int) {
	if c := def.Columns[col].Sequence; c != nil && c.Kind == storage.Always && !ch.overrides {
		panic(b.coded(sqlstate.GeneratedAlways, b.after(def.Fields[col].Name, 0), "cannot insert a non-DEFAULT value into column %q, which is GENERATED ALWAYS; write OVERRIDING SYSTEM VALUE before VALUES or the query to do so", def.Fields[col].Name))
	}
}

// addIdentity, setIdentity and dropIdentity are ALTER COLUMN with ADD GENERATED, SET GENERATED, RESTART and their like, and DROP IDENTITY.
func (a *alteration) addIdentity(c *pg.AlterTableCmd) {
	col, loc := a.column(c.Name)
	column := &a.def.Columns[col]
	switch {
	case column.Sequence != nil && column.Sequence.Kind.Identity():
		panic(a.coded(sqlstate.ObjectNotInPrerequisiteState, loc, "column %q of relation %q is already an identity column", a.def.Fields[col].Name, a.def.Name))
	case column.Sequence != nil || column.Default != "":
		panic(a.coded(sqlstate.ObjectNotInPrerequisiteState, loc, "column %q of relation %q already has a default value; ALTER COLUMN %s DROP DEFAULT comes first", a.def.Fields[col].Name, a.def.Name, expr.Ident(a.def.Fields[col].Name)))
	case !column.NotNull:
		panic(a.coded(sqlstate.ObjectNotInPrerequisiteState, loc, "column %q of relation %q must be declared NOT NULL before identity can be added", a.def.Fields[col].Name, a.def.Name))
	}
	column.Sequence = a.identity(c.Def.GetConstraint(), a.def.Fields[col])
}

func (a *alteration) identityOf(c *pg.AlterTableCmd) *storage.Column {
	col, loc := a.column(c.Name)
	column := &a.def.Columns[col]
	if column.Sequence == nil || !column.Sequence.Kind.Identity() {
		if c.MissingOk {
			return nil
		}
		panic(a.coded(sqlstate.ObjectNotInPrerequisiteState, loc, "column %q of relation %q is not an identity column", a.def.Fields[col].Name, a.def.Name))
	}
	return column
}

func (a *alteration) setIdentity(c *pg.AlterTableCmd) {
	column := a.identityOf(c)
	col, _ := a.column(c.Name)
	n := column.Sequence.Fresh()
	var options []*pg.Node
	next, again := int64(0), false
	if last, ok := column.Sequence.Last(); ok {
		next, again = last, true
	}
	for _, o := range c.Def.GetList().GetItems() {
		switch d := o.GetDefElem(); d.Defname {
		case "generated":
			if n.Kind = storage.ByDefault; d.Arg.GetInteger().GetIval() == 'a' {
				n.Kind = storage.Always
			}
		case "restart":
			again = false
			if v, ok := a.option(d); ok {
				n.Start = v
			}
		default:
			options = append(options, o)
		}
	}
	a.counterOptions(n, options, a.def.Fields[col], false)
	if again {
		n.Note(next)
	}
	column.Sequence = n
}

func (a *alteration) dropIdentity(c *pg.AlterTableCmd) {
	if column := a.identityOf(c); column != nil {
		column.Sequence = nil
	}
}
