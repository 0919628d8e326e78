package meter

import (
	"context"
)

// System answers statements over some tables, of which it keeps its own copies.
type System struct {
	Name string
	// Prepare readies a statement. Its error is [ErrCannot] where the system is not
	// able to run it.
	Prepare func(ctx context.Context, q Query) (Contender, error)
	// Close, when set, releases the copies and all statements.
	Close func() error
}

// Work is what part of the paper's machinery a case measures.
type Work int

// The kinds of work.
const (
	// Whole is the statement from the resident columns to its answer.
	Whole Work = iota
	// Copies is only its CopyToDepth passes.
	Copies
	// Selects counts the records of its WHERE and leaves the selection in the stencil buffer, as the paper's
	// routines do, on systems that have one. On others it is the whole statement.
	Selects
	// Counts counts the selection of its WHERE, which is in the stencil buffer before.
	Counts
)

// Query is a statement.
type Query struct {
	// SQL is its text, which stencildb and peers with PostgreSQL's functions take.
	SQL string
	// Work says what part of the paper's machinery is measured, where it is not the
	// statement as a whole.
	Work Work
	// Again says that another case of the run has the times with the upload, and the passes.
	Again bool
	// Cannot, when set, says why the table has no such statement.
	Cannot string
	// Linear, when set, is its WHERE as the paper's SemilinearFP takes it.
	Linear *Linear
	// Reads are the columns that it reads of each table, by their numbers.
	Reads map[string][]int
	// Peers has the text for peers that lack some of them, by name.
	Peers map[string]string
	// Said is how such peers say a text that was drawn.
	Said map[string]func(text string) string
	// File is what a process reads, and Columns those that a peer takes into a table first;
	// nil where it reads the file itself.
	File    FileFormat
	Columns []string
}

// Linear is a linear combination of attributes below a limit, as the paper has it: with random
// floating-point coefficients.
type Linear struct {
	Columns      []int // of the table
	Coefficients []float64
	Limit        float64
}

// FileFormat is what of a table a process reads, an extension.
type FileFormat string

// The kinds of files. Parquet is not compressed.
const (
	ParquetFile FileFormat = ".parquet"
	CSVFile     FileFormat = ".csv"
)
