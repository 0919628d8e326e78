package trace

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Findings say what the draws of a statement have found: of each, which search or sum
// it is a step of.
type Findings struct {
	Passes   []*Pass // with Name, Chunk, Samples, Search, Step and Sum
	Searches []*Search
	Sums     []*Sum
}

// Found analyses the draws of a statement on backend classic, given the values of the
// plan's aggregates.
func Found(q *plan.Query, passes []pass.Profile, values []table.Value) *Findings {
	t := &tracer{plan: q, trace: &Trace{}, selected: map[int]table.Bitmap{}}
	for _, p := range passes {
		l := newLook(p.Pass)
		l.Samples = p.Samples
		t.looks, t.trace.Passes = append(t.looks, l), append(t.trace.Passes, l.Pass)
	}
	t.steps(values)
	return &Findings{t.trace.Passes, t.trace.Searches, t.trace.Sums}
}
