package plan

import (
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Query is what a backend executes: a table, what to select in each of its
// chunks, and what to aggregate over the selection.
type Query struct {
	Table  *table.Table
	Chunks []ChunkPlan // one a chunk of the table
	Where  expr.Expr   // as asked, for the oracle and for EXPLAIN; nil: every record
	Aggs   []expr.Aggregate

	places []int // of a part of a query: the chunks' places in the whole table
}

// ChunkPlan is the selection of one chunk.
type ChunkPlan struct {
	Pred   *Pred
	Checks []Check // in the order in which their errors would be raised
}

// Answer is what a backend returns: one value an aggregate, of the aggregate's
// Type, and what it took.
type Answer struct {
	Values  []table.Value
	Passes  int    // draws and dispatches (0 on the CPU)
	Samples uint64 // samples counted by occlusion queries
	// Load is the wall time that uploading columns took, where this query was
	// the first to need them.
	Load time.Duration
}
