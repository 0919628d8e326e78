package engine

import (
	"slices"

	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/table"
)

// Column names a column of an answer and its type.
type Column struct {
	Name    string
	Type    table.Type
	NotNull bool // it is a column of a table that takes no NULL

	coded bool // text of a table's column, whose values come with a dictionary
}

// Stats says what a statement took.
type Stats = querystats.Stats

// Loading is what a statement has waited for before its columns were resident and its programs there.
type Loading = querystats.Loading

// collectedRows is for how many rows [Collect] makes room at once.
const collectedRows = 1 << 10

// Result is the answer of one statement, all of it in memory.
type Result struct {
	// SQL is the statement's text, as given, without the semicolon.
	SQL     string
	Columns []Column
	// Rows have one value a column, of the column's type.
	Rows [][]table.Value
	Stats
}

// Collect reads rows to their end and closes them:
//
//	r, err := engine.Collect(db.Query(ctx, "SELECT COUNT(*) FROM trips"))
func Collect(rows *Rows, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := &Result{SQL: rows.SQL(), Columns: rows.Columns()}
	for rows.Next() {
		if rows.at == 0 {
			r.Rows = slices.Grow(r.Rows, rows.now.Len())
		}
		r.Rows = append(r.Rows, rows.values(collectedRows))
	}
	r.Stats = rows.Stats()
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return r, nil
}
