package engine

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// appenderRows is how many rows an [Appender] collects before it flushes them itself.
const appenderRows = 1 << 20

// Appender adds many rows to a table, much faster than INSERT does. Values come column by column ([Appender.Ints] and its like); then
// [Appender.EndRows] ends rows that all columns have. Or they come row by row, a value of each column from the first on ([Appender.Int64]
// and its like); then [Appender.EndRow] ends the row. Rows are collected, and a flush adds all rows since the last one at once. If one
// breaks a rule of the table (a type's range, NOT NULL, CHECK, a key), none is added. After an error the appender takes nothing more. What
// was flushed before stays, unless the appender was that of a transaction.
//
//	a, err := db.Appender(ctx, "trips", "id", "driver")
//	...
//	a.Ints(0, ids...)
//	a.Texts(1, drivers...)
//	err = a.EndRows(ctx, len(ids))
//	...
//	for _, t := range trips {
//		a.Int64(t.ID)
//		a.Text(t.Driver)
//		err = a.EndRow(ctx)
//		...
//	}
//	err = a.Close(ctx)
//
// One goroutine uses it at a time.
type Appender struct {
	db      *DB
	of      *catalog.Entry // the table when it was opened
	fields  []table.Field
	columns []int // of the table, for those of the appender
	b       *table.Builder
	next    int // the column of the row's next value
	ended   int // rows of which the builder has not been told
	rows    int // that were added
	err     error
}

// Appender opens an appender for columns of a table, all of them where none is named. Other columns get their DEFAULT.
func (db *DB) Appender(ctx context.Context, name string, columns ...string) (*Appender, error) {
	if err := db.usable(); err != nil {
		return nil, err
	}
	if err := db.writes(); err != nil {
		return nil, err
	}
	e := db.entry(name)
	if e == nil || e.Definition == nil {
		return nil, sqlstate.Errorf(sqlstate.UndefinedTable, "engine: there is no table %q that CREATE TABLE has made", name)
	}
	if e.Definition.View != "" {
		return nil, sqlstate.Errorf(sqlstate.WrongObjectType, "engine: %q is a view: its rows are those of its query and cannot be changed", name)
	}
	t, err := db.read(ctx, e, nil)
	if err != nil {
		return nil, err
	}
	a := &Appender{db: db, of: e}
	for _, column := range columns {
		at := slices.IndexFunc(t.Fields, func(f table.Field) bool { return f.Name == column })
		if at < 0 || slices.Contains(a.columns, at) {
			return nil, sqlstate.Errorf(sqlstate.UndefinedColumn, "engine: column %q is not in table %q, or is named twice", column, name)
		}
		a.columns = append(a.columns, at)
	}
	if columns == nil {
		a.columns = t.All()
	}
	for _, at := range a.columns {
		if c := e.Definition.Columns[at].Sequence; c != nil && c.Kind == storage.Always {
			return nil, sqlstate.Errorf(sqlstate.GeneratedAlways, "engine: column %q of table %q is GENERATED ALWAYS and takes no values: name the other ones", t.Fields[at].Name, name)
		}
		a.fields = append(a.fields, t.Fields[at])
	}
	a.begin()
	return a, nil
}

// Appender opens an appender whose rows are the transaction's.
func (tx *Tx) Appender(ctx context.Context, name string, columns ...string) (*Appender, error) {
	return tx.db.Appender(ctx, name, columns...)
}

func (a *Appender) begin() { a.b = table.NewBuilder(a.of.Name, a.fields, 0) }

// fail notes the first error.
func (a *Appender) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("engine: appender of %s: "+format, append([]any{a.of.Name}, args...)...)
	}
}

// column is the builder of a column of one of some kinds; nil after an error.
func (a *Appender) column(col int, what string, fits func(table.Type) bool) *table.ColumnBuilder {
	switch {
	case a.err != nil:
		return nil
	case col < 0 || col >= len(a.fields):
		a.fail("there is no column %d of %d", col, len(a.fields))
		return nil
	case !fits(a.fields[col].Type):
		a.fail("column %s of type %s takes no %s", a.fields[col].Name, a.fields[col].Type, what)
		return nil
	}
	return a.b.Column(col)
}

// cell is the column of the row's next value, of one of some kinds; nil after an error.
func (a *Appender) cell(what string, fits func(table.Type) bool) *table.ColumnBuilder {
	if a.err == nil && a.next >= len(a.fields) {
		a.fail("a row has more values than the %d columns: EndRow ends it", len(a.fields))
	}
	c := a.column(a.next, what, fits)
	a.next++
	return c
}

func isBool(t table.Type) bool    { return t.Kind == table.Boolean }
func isText(t table.Type) bool    { return t.Kind == table.Varchar }
func isTime(t table.Type) bool    { return t.Kind == table.Date || t.Kind == table.Timestamp }
func isDecimal(t table.Type) bool { return t.Kind == table.Decimal }
func isAny(table.Type) bool       { return true }

// float appends to a column of REAL or DOUBLE PRECISION.
func (a *Appender) float(c *table.ColumnBuilder, f *table.Field, v float64) {
	if f.Type.Kind == table.Real {
		var wrong *expr.Exception
		if v, wrong = expr.Round32(v); wrong != nil {
			a.fail("column %s: %w", f.Name, expr.Raised(-1, wrong))
			return
		}
	}
	c.Float(v)
}

// text appends to a column of text.
func (a *Appender) text(c *table.ColumnBuilder, f *table.Field, v string) {
	if err := validText(v); err != nil {
		a.fail("column %s: %w", f.Name, err)
		return
	}
	c.String(v)
}

// time appends what a clock shows to a column of DATE, which takes its day, or TIMESTAMP.
func (a *Appender) time(c *table.ColumnBuilder, f *table.Field, v time.Time) {
	_, east := v.Zone()
	seconds := v.Unix() + int64(east)
	if most := int64(1) << 43; seconds < -most || seconds > most { // whose microseconds are no int64
		a.fail("column %s: %w", f.Name, expr.Raised(-1, expr.OutOfRange(f.Type)))
		return
	}
	if f.Type.Kind == table.Date {
		day := seconds / 86400
		if seconds%86400 < 0 {
			day--
		}
		c.Int(day)
		return
	}
	c.Int(seconds*1_000_000 + int64(v.Nanosecond())/1000)
}

// decimal appends unscaled / 10^scale to a column of NUMERIC, rounded as an assignment does.
func (a *Appender) decimal(c *table.ColumnBuilder, f *table.Field, unscaled int64, scale int) {
	if scale == f.Type.Scale {
		c.Int(unscaled)
		return
	}
	if scale < 0 || scale > maxScale {
		a.fail("column %s: %d digits behind the point; a value has 0 to %d", f.Name, scale, maxScale)
		return
	}
	from := table.Dec(table.Type{Kind: table.Decimal, Precision: max(19, scale), Scale: scale}, big.NewInt(unscaled))
	a.cast(c, f, from)
}

// maxScale is the most digits behind the point of a value for [Appender.Decimal].
const maxScale = 18

// cast appends a value as an assignment does.
func (a *Appender) cast(c *table.ColumnBuilder, f *table.Field, v table.Value) {
	v, err := expr.Eval(&expr.Cast{X: &expr.Const{V: v}, To: f.Type}, nil)
	if err != nil {
		a.fail("column %s: %w", f.Name, err)
		return
	}
	c.Value(v)
}

// Int64 appends the row's next value, to an integer column.
func (a *Appender) Int64(v int64) {
	if c := a.cell("integer", table.Type.IsInteger); c != nil {
		c.Int(v)
	}
}

// Float64 appends the row's next value, to a column of REAL, which rounds it, or DOUBLE PRECISION.
func (a *Appender) Float64(v float64) {
	if c := a.cell("float", table.Type.IsFloat); c != nil {
		a.float(c, &a.fields[a.next-1], v)
	}
}

// Bool appends the row's next value, to a column of BOOLEAN.
func (a *Appender) Bool(v bool) {
	if c := a.cell("boolean", isBool); c != nil {
		c.Int(table.Bool(v).I)
	}
}

// Text appends the row's next value, to a column of text: valid UTF-8 without NUL bytes.
func (a *Appender) Text(v string) {
	if c := a.cell("text", isText); c != nil {
		a.text(c, &a.fields[a.next-1], v)
	}
}

// Time appends the row's next value, to a column of DATE or TIMESTAMP. It is what the clock of its place shows, to the microsecond, or the
// day of that.
func (a *Appender) Time(v time.Time) {
	if c := a.cell("time", isTime); c != nil {
		a.time(c, &a.fields[a.next-1], v)
	}
}

// Decimal appends the row's next value, unscaled / 10^scale, to a column of NUMERIC: Decimal(1995, 2) is 19.95. It is rounded to the column's scale.
func (a *Appender) Decimal(unscaled int64, scale int) {
	if c := a.cell("decimal", isDecimal); c != nil {
		a.decimal(c, &a.fields[a.next-1], unscaled, scale)
	}
}

// Null appends NULL as the row's next value, to a column of any type.
func (a *Appender) Null() {
	if c := a.cell("NULL", isAny); c != nil {
		c.Null()
	}
}

// rowsAtOnce is how many rows are ended by [Appender.EndRow] before the builder is told.
const rowsAtOnce = 1 << 10

// EndRow ends a row of which every column has a value. Where many are collected they are flushed.
func (a *Appender) EndRow(ctx context.Context) error {
	if a.err == nil && a.next != len(a.fields) {
		a.fail("a row of %d values for %d columns", a.next, len(a.fields))
	}
	if a.err != nil {
		return a.err
	}
	a.next = 0
	if a.ended++; a.ended < rowsAtOnce {
		return nil
	}
	return a.EndRows(ctx, 0)
}

// Ints appends to an integer column, or days since 1970 to a DATE, microseconds since then to a TIMESTAMP, unscaled values to a NUMERIC.
func (a *Appender) Ints(col int, values ...int64) {
	c := a.column(col, "integers", func(t table.Type) bool {
		return t.IsExact() || t.Kind == table.Date || t.Kind == table.Timestamp
	})
	if c != nil {
		c.Ints(values)
	}
}

// Floats appends to a column of REAL, whose values are rounded, or DOUBLE PRECISION.
func (a *Appender) Floats(col int, values ...float64) {
	if c := a.column(col, "floats", table.Type.IsFloat); c != nil {
		for _, v := range values {
			a.float(c, &a.fields[col], v)
		}
	}
}

// Bools appends to a column of BOOLEAN.
func (a *Appender) Bools(col int, values ...bool) {
	if c := a.column(col, "booleans", isBool); c != nil {
		for _, v := range values {
			c.Int(table.Bool(v).I)
		}
	}
}

// Texts appends to a column of text: valid UTF-8 without NUL bytes.
func (a *Appender) Texts(col int, values ...string) {
	if c := a.column(col, "text", isText); c != nil {
		for _, v := range values {
			a.text(c, &a.fields[col], v)
		}
	}
}

// Times appends to a column of DATE or TIMESTAMP: see [Appender.Time].
func (a *Appender) Times(col int, values ...time.Time) {
	if c := a.column(col, "times", isTime); c != nil {
		for _, v := range values {
			a.time(c, &a.fields[col], v)
		}
	}
}

// Decimals appends values, each unscaled / 10^scale, to a column of NUMERIC: see [Appender.Decimal].
func (a *Appender) Decimals(col, scale int, unscaled ...int64) {
	if c := a.column(col, "decimals", isDecimal); c != nil {
		for _, v := range unscaled {
			a.decimal(c, &a.fields[col], v, scale)
		}
	}
}

// Nulls appends n NULLs to a column of any type.
func (a *Appender) Nulls(col, n int) {
	if c := a.column(col, "NULL", isAny); c != nil {
		for range n {
			c.Null()
		}
	}
}

// Row appends one row of values as [DB.Query] takes its parameters, converted to the columns' types, and ends it. The typed methods are several
// times as fast: no value is boxed.
func (a *Appender) Row(ctx context.Context, values ...any) error {
	if a.err == nil && len(values) != len(a.fields) {
		a.fail("a row of %d values for %d columns", len(values), len(a.fields))
	}
	for i, v := range values {
		if a.err != nil {
			break
		}
		a.value(a.fields[i].Type, v)
	}
	return a.EndRow(ctx)
}

// value appends the row's next value.
func (a *Appender) value(t table.Type, from any) {
	switch v := from.(type) {
	case nil:
		a.Null()
		return
	case int64:
		if t.IsInteger() {
			a.Int64(v)
			return
		}
	case int:
		if t.IsInteger() {
			a.Int64(int64(v))
			return
		}
	case float64:
		if t.IsFloat() {
			a.Float64(v)
			return
		}
	case bool:
		if isBool(t) {
			a.Bool(v)
			return
		}
	case string:
		if isText(t) {
			a.Text(v)
			return
		}
	case time.Time:
		if isTime(t) {
			a.Time(v)
			return
		}
	}
	c := a.cell("value", isAny)
	if c == nil {
		return
	}
	f := &a.fields[a.next-1]
	v, err := Parameter(from)
	switch {
	case err != nil:
		a.fail("column %s: %w", f.Name, err)
	case v.Null:
		c.Null()
	case v.Type == table.Type{} && isText(t):
		a.text(c, f, v.S)
	case v.Type == table.Type{}:
		a.cast(c, f, table.Str(v.S))
	default:
		a.cast(c, f, v)
	}
}

// EndRows ends n rows, of which every column has a value. Where many are collected they are flushed.
func (a *Appender) EndRows(ctx context.Context, n int) error {
	if a.err == nil {
		if err := a.tell(n); err != nil {
			a.fail("%w", err)
		}
	}
	if a.err == nil && a.b.Rows() >= appenderRows {
		return a.Flush(ctx)
	}
	return a.err
}

// tell has the builder end n rows, and those of [Appender.EndRow].
func (a *Appender) tell(n int) error {
	if a.next > 0 {
		return fmt.Errorf("there are %d values of a row that EndRow has not ended", a.next)
	}
	n, a.ended = n+a.ended, 0
	return a.b.EndRows(n)
}

// Flush adds the rows that were ended to the table; values of others are an error. With a folder they are there after a crash when it returns.
func (a *Appender) Flush(ctx context.Context) error {
	if a.err != nil {
		return a.err
	}
	if err := a.tell(0); err != nil {
		a.fail("there are values of a row that EndRows has not ended: %w", err)
		a.db.tx.fail(a.err)
		return a.err
	}
	t := a.b.Table()
	a.begin()
	if t.Rows() == 0 {
		return nil
	}
	wait, err := a.flush(ctx, t)
	if err == nil {
		err = wait()
	}
	if err != nil {
		a.fail("%w", err)
		a.db.tx.fail(a.err)
		return a.err
	}
	a.rows += t.Rows()
	return nil
}

func (a *Appender) flush(ctx context.Context, t *table.Table) (func() error, error) {
	db := a.db
	if db.backends.IsClosed() {
		return nil, ErrClosed
	}
	if err := a.inRange(t); err != nil {
		return nil, err
	}
	if err := db.writes(); err != nil {
		return nil, err
	}
	if err := db.tables.Writer.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer db.tables.Writer.Release(1)
	e := db.tables.Entry(a.of.Name)
	if e == nil || e.Definition != a.of.Definition {
		return nil, sqlstate.Errorf(sqlstate.SerializationFailure, "the table has been dropped or redefined")
	}
	m := &mutation{Statement: &Statement{db: db}, Change: &sql.Change{Verb: "INSERT", Table: e.Name}, def: e.Definition}
	defer m.unpin()
	if err := a.complete(ctx, m, t); err != nil {
		return nil, err
	}
	changes := []storage.Change{{Table: e.Name}}
	var err error
	if m.rows, err = m.setSequences(&changes[0], &table.Table{Name: e.Name, Fields: e.Definition.Fields, Chunks: t.Chunks}); err == nil {
		m.rows, err = m.fitRows(m.rows)
	}
	if err != nil {
		return nil, err
	}
	changes[0].Append = m.rows.Chunks
	next, err := m.apply(ctx, nil, changes)
	if err != nil {
		return nil, err
	}
	return m.finish(ctx, changes, next)
}

// inRange reports a value that its column's type does not have.
func (a *Appender) inRange(t *table.Table) error {
	for _, c := range t.Chunks {
		for i, s := range c.Segments {
			f := a.fields[i]
			if f.Type.IsFloat() || f.Type.Kind == table.Varchar || s.NonNull() == 0 {
				continue
			}
			for _, code := range []uint64{0, s.Max} {
				if v := s.Decode(code); v.Big == nil && !f.Type.Holds(v.I) {
					return sqlstate.Errorf(sqlstate.NumericOutOfRange, "column %s: %s is out of range for type %s", f.Name, v, f.Type)
				}
			}
		}
	}
	return nil
}

// complete adds the columns that the appender does not have.
func (a *Appender) complete(ctx context.Context, m *mutation, t *table.Table) error {
	defaults := map[int]table.Value{}
	for at, f := range m.def.Fields {
		if slices.Contains(a.columns, at) {
			continue
		}
		if m.def.Columns[at].Sequence != nil {
			m.Sequences = append(m.Sequences, sql.SequenceColumn{Column: at})
		}
		defaults[at] = table.Null(f.Type)
		if text := m.def.Columns[at].Default; text != "" {
			rows, err := m.ask(ctx, m.view(nil), fmt.Sprintf("SELECT CAST((%s) AS %s)", text, f.Type))
			if err != nil {
				return err
			}
			defaults[at] = rows[0][0]
		}
	}
	for _, c := range t.Chunks {
		segments := make([]*table.Segment, len(m.def.Fields))
		for i, at := range a.columns {
			segments[at] = c.Segments[i]
		}
		for at, v := range defaults {
			segments[at] = table.Constant(m.def.Fields[at].Type, v, c.Rows)
		}
		c.Segments = segments
	}
	return nil
}

// Rows is how many rows have been added to the table.
func (a *Appender) Rows() int { return a.rows }

// Close is the last [Appender.Flush]. It may be called after an error, which it returns again.
func (a *Appender) Close(ctx context.Context) error {
	err := a.Flush(ctx)
	if a.err == nil {
		a.fail("it is closed")
	}
	return err
}
