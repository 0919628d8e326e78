package trace

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Seen is a draw of backend classic that another runner has seen.
type Seen struct {
	Pass    *pass.Pass
	Samples uint64
}

// Findings say what the draws of a statement have found: of each, which search or sum
// it is a step of.
type Findings struct {
	Passes   []*Pass // with Name, Chunk, Samples, Search, Step and Sum
	Searches []*Search
	Sums     []*Sum
}

// Found analyses the draws of a statement on backend classic, given the values of the
// plan's aggregates, as the page of a trace shows them.
func Found(q *plan.Query, seen []Seen, values []table.Value) *Findings {
	t := &tracer{plan: q, trace: &Trace{}, selected: map[int]table.Bitmap{}}
	f := &Findings{}
	for _, s := range seen {
		p := &Pass{Name: s.Pass.String(), Counts: s.Pass.Op.Counts(), Chunk: s.Pass.Chunk, Samples: s.Samples, Search: -1, Sum: -1}
		f.Passes = append(f.Passes, p)
		t.looks = append(t.looks, &look{Pass: p, pass: s.Pass})
	}
	t.steps(values)
	f.Searches, f.Sums = t.trace.Searches, t.trace.Sums
	return f
}
