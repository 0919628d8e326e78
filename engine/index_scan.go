package engine

import (
	"github.com/stencildb/stencildb/engine/backends"
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
	b, isCPU := db.backends.CPU.(backends.CPU)
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
