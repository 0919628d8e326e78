package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sql"
)

// Definition is a table or a view as it is defined.
type Definition struct {
	Name    string
	Columns []string
	Rows    int    // of a table; 0 of a view
	SQL     string // the statements that make it and its indexes, without rows
}

// Definitions returns those of the tables and views of a name, without regard to case; "" is for all. Tables are
// opened for it. A name that none has is an error.
func (db *DB) Definitions(ctx context.Context, name string) (list []Definition, err error) {
	if db.backends.IsClosed() {
		return nil, ErrClosed
	}
	entries, names, _ := db.tables.EntriesAndNames()
	for _, e := range entries {
		if name == "" || strings.EqualFold(e.Name, name) {
			d, err := db.definition(ctx, e)
			if err != nil {
				return nil, err
			}
			list = append(list, d)
		}
	}
	if len(list) == 0 && name != "" {
		return nil, sql.NoTable(name, names)
	}
	return list, nil
}

func (db *DB) definition(ctx context.Context, e *catalog.Entry) (d Definition, err error) {
	t, err := db.read(ctx, e, nil)
	if err != nil {
		return d, err
	}
	d = Definition{Name: e.Name, Rows: t.Rows(), SQL: sql.CreateStatement(e.Name, t.Fields, e.Definition)}
	for _, f := range t.Fields {
		d.Columns = append(d.Columns, f.Name)
	}
	for _, row := range db.indexRows() {
		if index, of, column, kind := row[0].S, row[1].S, row[2].S, row[3].S; of == e.Name {
			d.SQL += fmt.Sprintf("\nCREATE INDEX %s ON %s USING %s (%s);", expr.Ident(index), expr.Ident(of), kind, expr.Ident(column))
		}
	}
	return d, nil
}
