package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Query is a [Fragment] lowered for a table: what to select in each of its chunks,
// and what to aggregate over the selection.
type Query struct {
	Table   *table.Table
	Chunks  []ChunkPlan // one a chunk of the table
	Where   expr.Expr   // as asked, for the oracle and for EXPLAIN; nil: every record
	Aggs    []expr.Aggregate
	Columns []int // wanted of the selected rows, where there are no aggregates
	// Gathered is [Fragment].Gathered.
	Gathered bool
	// Groups is [Fragment].Groups.
	Groups *Aggregate
	// Star are the tables that the selected rows are joined to before they are grouped: those without a
	// partner do not count, and the combinations of what keys read of the partners tell groups apart, beside Groups.
	Star []*Dimension
	// Bound, when set, says which of the groups are wanted alone. It holds of a table of one chunk.
	Bound *GroupBound
	// Order is [Fragment].Order, by columns where that is the same: [Sort.ByColumns].
	Order *Sort
	// Alone is [Fragment].Alone.
	Alone bool

	places   []int // of a part of a query: the chunks' places in the whole table
	windowOf []int // of a query over windows: the places of the chunks that they are of
}

// Reads is [Fragment.Reads].
func (q *Query) Reads() []int {
	return (&Fragment{Where: q.Where, Aggs: q.Aggs, Columns: q.Columns}).Reads()
}

// Summed lists the aggregates that the sum of a column serves.
func (q *Query) Summed(col int) (aggs []int) {
	for i, a := range q.Aggs {
		if a.Col == col && (a.Kind == expr.Sum || a.Kind == expr.Avg) {
			aggs = append(aggs, i)
		}
	}
	return aggs
}

// Ranked lists the aggregates that the k-th largest or smallest of n values of a column
// serves.
func (q *Query) Ranked(col int, n, k uint64, largest bool) (aggs []int) {
	for i, a := range q.Aggs {
		if a.Col != col || !IsRanked(a) {
			continue
		}
		if j, l, ok, err := Rank(a, n); ok && err == nil && j == k && l == largest {
			aggs = append(aggs, i)
		}
	}
	return aggs
}

// ChunkPlan is the selection of one chunk.
type ChunkPlan struct {
	Pred   *Pred
	Checks []Check    // in the order in which their errors would be raised
	Sums   []*CodeSum // by aggregate, of those of expressions; nil without any
	// Filters are the FILTERs of the groups' aggregates, by aggregate, equal ones the same; nil for none, and for one that is cpu's.
	Filters []*Pred
	scalar  *Scalar // the first of the conditions that package cpu alone evaluates; nil for none
}
