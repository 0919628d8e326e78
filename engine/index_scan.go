package engine

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
)

// What a query by indexes takes: as a whole, and for each row that they find, in seconds.
const (
	indexStart = 30e-6
	indexRow   = 30e-9
)

// byIndex predicts what cpu takes for a query where indexes find its rows; ok is false where they do not.
func (db *DB) byIndex(q *physical.Query) (seconds float64, ok bool) {
	b, isCPU := db.cpu.(cpuBackend)
	if !isCPU {
		return 0, false
	}
	uses := b.IndexesOf(q)
	if uses == nil {
		return 0, false
	}
	seconds = indexStart
	for i, use := range uses {
		switch {
		case use != nil && use.Counted:
		case use != nil:
			seconds += indexRow * float64(use.Found)
		case q.Chunks[i].Pred.Op != predicate.False:
			return 0, false
		}
	}
	return seconds, true
}

// indexSteps are what the indexes do for a query, and the query without that.
func (b cpuBackend) indexSteps(q *physical.Query) (steps []Step, rest *physical.Query) {
	uses := b.IndexesOf(q)
	if uses == nil {
		return nil, q
	}
	out := *q
	out.Chunks = slices.Clone(q.Chunks)
	at, found := map[string]int{}, map[string]int{}
	for i, use := range uses {
		if use == nil {
			continue
		}
		out.Chunks[i].Pred = use.Rest
		if _, seen := at[use.Name]; !seen {
			at[use.Name] = len(steps)
			steps = append(steps, Step{Pass: "Index(" + expr.Ident(use.Name) + ": " + use.By.String() + ")"})
		}
		found[use.Name] += use.Found
	}
	for name, i := range at {
		steps[i].Counts = fmt.Sprintf("finds %d of %d records", found[name], q.Table.Rows())
	}
	return steps, &out
}
