package engine

import (
	"time"

	"github.com/stencildb/stencildb/table"
)

// Column names a column of a result and its type.
type Column struct {
	Name string
	Type table.Type
}

// Result is the answer of one statement.
type Result struct {
	// SQL is the statement's text, as given, without the semicolon.
	SQL string
	// Columns and Rows are the answer: a row has one value a column, of the
	// column's type. A statement without a result has neither.
	Columns []Column
	Rows    [][]table.Value
	// Backend is the backend that computed it ("" where none was needed).
	Backend string
	// Passes is the number of draws and dispatches, 0 on the CPU.
	Passes int
	// Samples is the sum of all samples counted by occlusion queries.
	Samples uint64
	// Elapsed is the wall time of the execution, the statement being parsed and
	// its columns resident.
	Elapsed time.Duration
	// Load is the wall time that reading the tables' files and the first upload
	// of their columns took, where this statement was the first to need them.
	Load time.Duration
}
