package engine

import (
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/stencildb/stencildb/table"
)

// ErrNoRows is the error of [Row.Scan] where the statement's answer has no row.
var ErrNoRows = errors.New("the statement's answer has no rows")

// Row is the first row of a statement's answer: see [DB.QueryRow].
type Row struct {
	rows *Rows
	err  error
}

func rowOf(rows *Rows, err error) *Row { return &Row{rows, err} }

// Scan copies the row into dest as [Rows.Scan] does, reads the other rows to their end, and closes the statement. It returns the statement's
// error, [ErrNoRows] where there is no row, or what [Rows.Scan] says. It is called once.
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	_, err := r.rows.drain() // a later row may raise an error, as in PostgreSQL
	return err
}

// CollectRows reads rows to their end, closes them, and returns one T for each. T may be a struct other than those that [Rows.Scan] takes.
// Then each column goes to the exported field of its name, or of its name in a tag db:"name", in any case, with or without "_". A column
// without a field is an error, and a field without a column stays zero. Else rows have one column, which is scanned into T.
//
//	type trip struct {
//		Driver string
//		Fare   float64 `db:"fare_usd"`
//	}
//	trips, err := engine.CollectRows[trip](db.Query(ctx, "SELECT driver, fare_usd FROM trips"))
func CollectRows[T any](rows *Rows, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var fields [][]int // of T, one a column; nil where T is one value
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Struct && !scannable(reflect.New(t).Interface()) {
		if fields, err = fieldsOf(t, rows.Columns()); err != nil {
			return nil, err
		}
	}
	list := []T{}
	dest := make([]any, max(1, len(fields)))
	for rows.Next() {
		var row T
		dest[0] = &row
		if fields != nil {
			v := reflect.ValueOf(&row).Elem()
			for i, at := range fields {
				dest[i] = v.FieldByIndex(at).Addr().Interface()
			}
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return list, nil
}

// fieldsOf finds the field of a struct for each column.
func fieldsOf(t reflect.Type, columns []Column) ([][]int, error) {
	fold := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	known := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		tag, tagged := f.Tag.Lookup("db")
		switch {
		case !f.IsExported() || f.Anonymous && !tagged || tag == "-" || throughPointer(t, f.Index):
		case tagged:
			known[fold(tag)] = f.Index
		case known[fold(f.Name)] == nil:
			known[fold(f.Name)] = f.Index
		}
	}
	out := make([][]int, len(columns))
	taken := map[string]bool{}
	for i, c := range columns {
		name := fold(c.Name)
		switch at, ok := known[name]; {
		case !ok:
			return nil, fmt.Errorf("engine: %s has no exported field for column %q: add one, give one the tag db:%q, or leave the column out", t, c.Name, c.Name)
		case taken[name]:
			return nil, fmt.Errorf("engine: two columns are for the field of %s that %q names: give one another name with AS", t, c.Name)
		default:
			out[i], taken[name] = at, true
		}
	}
	return out, nil
}

// scannable reports that [Rows.Scan] takes a pointer to a struct as one value.
func scannable(dest any) bool {
	switch dest.(type) {
	case *table.Value, sql.Scanner, *time.Time, *big.Int, *big.Rat:
		return true
	}
	return false
}

// throughPointer reports a field of an embedded pointer, which may be nil.
func throughPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		f := t.Field(i)
		if f.Type.Kind() == reflect.Pointer {
			return true
		}
		t = f.Type
	}
	return false
}
