package physical

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Query is a [plan.Fragment] lowered for a table: what to select in each of its chunks,
// and what to aggregate over the selection.
type Query struct {
	Table   *table.Table
	Chunks  []ChunkPlan // one a chunk of the table
	Where   expr.Expr   // as asked, for the oracle and for EXPLAIN; nil: every record
	Aggs    []expr.Aggregate
	Columns []int // wanted of the selected rows, where there are no aggregates
	// ValuesOnly is [plan.Fragment].ValuesOnly.
	ValuesOnly bool
	// Groups is [plan.Fragment].Groups.
	Groups *plan.Aggregate
	// Star are the tables that the selected rows are joined to before they are grouped. Rows without a partner do
	// not count. The keys that are read of the partners tell groups apart, beside Groups.
	Star []*Dimension
	// Bound, when set, says which of the groups are wanted alone. It holds of a table of one chunk.
	Bound *plan.GroupBound
	// Order is [plan.Fragment].Order, by columns where that is the same: [SortByColumns].
	Order *plan.Sort
	// KeyOnly is [plan.Fragment].KeyOnly.
	KeyOnly bool

	chunkIDs []int // of a part of a query: the chunks' places in the whole table
	windowOf []int // of a query over windows: the places of the chunks that they are of
}

// Reads is [plan.Fragment.Reads].
func (q *Query) Reads() []int {
	return (&plan.Fragment{Where: q.Where, Aggs: q.Aggs, Columns: q.Columns}).Reads()
}

// AggregatesOfSum lists the aggregates that the sum of a column serves.
func (q *Query) AggregatesOfSum(col int) (aggs []int) {
	for i, a := range q.Aggs {
		if a.Col == col && (a.Kind == expr.Sum || a.Kind == expr.Avg) {
			aggs = append(aggs, i)
		}
	}
	return aggs
}

// ChunkPlan is the selection of one chunk.
type ChunkPlan struct {
	Pred   *predicate.Pred
	Checks []predicate.Check // in the order in which their errors would be raised
	Sums   []*lower.CodeSum  // by aggregate, of those of expressions; nil without any
	// Filters are the FILTERs of the groups' aggregates, by aggregate, equal ones the same; nil for none, and for one that is cpu's.
	Filters []*predicate.Pred
	scalar  *predicate.Scalar // the first of the conditions that package cpu alone evaluates; nil for none
}

// Bounded is the query with a bound of its groups, where a device finds the groups of all its rows together, and each by itself.
// Otherwise it is the query itself. Of a star the caller knows that the device's groups are the statement's.
func (q *Query) Bounded(b *plan.GroupBound) *Query {
	if b == nil || q.Groups == nil || len(q.Chunks) != 1 || len(q.Chunks[0].Checks) > 0 || len(q.Star) == 0 && !groupsByColumns(q.Groups) {
		return q
	}
	out := *q
	out.Bound = b
	return &out
}

// groupsByColumns reports that each column that the keys read is a key itself: rows of one group have the same codes in all of
// these. Groups by abs(x) are of several codes of x.
func groupsByColumns(a *plan.Aggregate) bool {
	var keys []int
	for _, k := range a.Keys {
		if c, ok := k.(*expr.Column); ok {
			keys = append(keys, c.Index)
		}
	}
	return !slices.ContainsFunc(a.Keys, func(k expr.Expr) bool {
		return slices.ContainsFunc(expr.Columns(k), func(col int) bool { return !slices.Contains(keys, col) })
	})
}

// RequireColumns returns a [plan.Declined] where an aggregate is of an expression, for backends that add
// up columns alone; nil else.
func (q *Query) RequireColumns() error {
	if i := slices.IndexFunc(q.Aggs, func(a expr.Aggregate) bool { return a.X != nil }); i >= 0 {
		return &plan.Declined{Why: q.Aggs[i].String() + " is of an expression: compute adds it up itself, cpu above the rows that any backend selects"}
	}
	return nil
}

// RequireNoScalar returns a [plan.Declined] where some condition of the query is a [predicate.Scalar], nil else.
func (q *Query) RequireNoScalar() error {
	for i, c := range q.Chunks {
		if c.scalar == nil {
			continue
		}
		why := "reads several columns"
		if columns := c.scalar.Columns(); len(columns) < 2 {
			why = "is of a column with many distinct values"
			if len(columns) == 1 && q.Table.Chunks[i].Segments[columns[0]].NegativeZeros != nil {
				why = "is of a column with -0, which has the code of 0,"
			}
		}
		return &plan.Declined{Why: fmt.Sprintf("%s %s and is evaluated record by record", c.scalar.E, why)}
	}
	return nil
}

// firstScalar is the first [predicate.Scalar] of the chunk's conditions; nil for none.
func (c *ChunkPlan) firstScalar() (found *predicate.Scalar) {
	var look func(p *predicate.Pred)
	look = func(p *predicate.Pred) {
		if s, ok := p.Leaf.(*predicate.Scalar); ok && found == nil {
			found = s
		}
		for _, k := range p.Kids {
			look(k)
		}
	}
	for _, k := range c.Checks {
		look(k.Pred)
	}
	if c.Pred != nil {
		look(c.Pred)
	}
	return found
}

// lowerSums finds the sums of expressions of every chunk. It is a [plan.Declined] where one may
// have an error in some record, or multiplies more than [lower.MaxFactors] columns.
func (q *Query) lowerSums() error {
	for i, c := range q.Table.Chunks {
		sums := make([]*lower.CodeSum, len(q.Aggs))
		for k, a := range q.Aggs {
			if a.X == nil {
				continue
			}
			if sums[k] = lower.NewCodeSum(a, q.Table, c); sums[k] == nil {
				return &plan.Declined{Why: a.String() + fmt.Sprintf(" is not a sum of products of up to %d columns that fit 64 bits in every record", lower.MaxFactors)}
			}
			q.Chunks[i].Sums = sums
		}
	}
	return nil
}
