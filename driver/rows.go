package driver

import (
	"database/sql"
	"database/sql/driver"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// rows is an answer while it comes.
type rows struct{ *engine.Rows }

var (
	_ driver.RowsColumnTypeDatabaseTypeName = (*rows)(nil)
	_ driver.RowsColumnTypeNullable         = (*rows)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*rows)(nil)
	_ driver.RowsColumnTypeScanType         = (*rows)(nil)
)

// Columns implements [driver.Rows].
func (r *rows) Columns() []string {
	names := make([]string, 0, len(r.Rows.Columns()))
	for _, c := range r.Rows.Columns() {
		names = append(names, c.Name)
	}
	return names
}

// Next implements [driver.Rows].
func (r *rows) Next(dest []driver.Value) error {
	if !r.Rows.Next() {
		if err := r.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	for i := range dest {
		dest[i] = r.Go(i)
	}
	return nil
}

func (r *rows) typeOf(col int) table.Type { return r.Rows.Columns()[col].Type }

// ColumnTypeDatabaseTypeName is PostgreSQL's name in capitals, without precision and scale: BIGINT, NUMERIC, DOUBLE PRECISION.
func (r *rows) ColumnTypeDatabaseTypeName(col int) string {
	name, _, _ := strings.Cut(r.typeOf(col).String(), "(")
	return strings.ToUpper(name)
}

// ColumnTypeNullable is false for a column of a table that takes no NULL.
func (r *rows) ColumnTypeNullable(col int) (nullable, ok bool) {
	return !r.Rows.Columns()[col].NotNull, true
}

// ColumnTypePrecisionScale is that of a NUMERIC.
func (r *rows) ColumnTypePrecisionScale(col int) (precision, scale int64, ok bool) {
	t := r.typeOf(col)
	return int64(t.Precision), int64(t.Scale), t.Kind == table.Decimal
}

// ColumnTypeScanType is a type that takes every value of the column.
func (r *rows) ColumnTypeScanType(col int) reflect.Type {
	null := !r.Rows.Columns()[col].NotNull
	one := func(plain, nullable reflect.Type) reflect.Type {
		if null {
			return nullable
		}
		return plain
	}
	switch t := r.typeOf(col); {
	case t.IsInteger():
		return one(reflect.TypeFor[int64](), reflect.TypeFor[sql.NullInt64]())
	case t.IsFloat():
		return one(reflect.TypeFor[float64](), reflect.TypeFor[sql.NullFloat64]())
	case t.Kind == table.Boolean:
		return one(reflect.TypeFor[bool](), reflect.TypeFor[sql.NullBool]())
	case t.Kind == table.Date || t.Kind == table.Timestamp:
		return one(reflect.TypeFor[time.Time](), reflect.TypeFor[sql.NullTime]())
	}
	return one(reflect.TypeFor[string](), reflect.TypeFor[sql.NullString]())
}
