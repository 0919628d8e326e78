package engine

import (
	"slices"
	"time"

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
type Stats struct {
	// Backend is the backend that computed it ("" where none was needed); of a statement
	// whose rows are grouped or sorted, which is done on the CPU, the one that selected them.
	Backend string
	// Devices are the numbers of the OpenGL devices that computed it, as listed by
	// `stencildb info`; none on the CPU.
	Devices []int
	// Changed is the number of rows that INSERT, UPDATE, DELETE or CREATE TABLE AS has added, changed or deleted.
	Changed int
	// Passes is the number of draws and dispatches, 0 on the CPU.
	Passes int
	// Samples is the sum of all samples counted by occlusion queries.
	Samples uint64
	// Elapsed is the time that the caller has waited for the execution, the
	// statement being parsed and its columns resident.
	Elapsed time.Duration
	// Load is the wall time that reading the tables' files, opening the device, the first upload of their
	// columns and compiling programs took, where this statement was the first to need them, and Loading
	// what each of these took of it.
	Load    time.Duration
	Loading Loading
}

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
