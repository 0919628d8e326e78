package querystats

import (
	"sync"
	"time"

	"github.com/stencildb/stencildb/plan"
)

// RowCounts is how many rows nodes of a tree gave. Groups are those before HAVING, and before ORDER BY and LIMIT have left out any.
type RowCounts struct {
	mu        sync.Mutex
	rows      map[plan.Node]int
	operators map[plan.Node]Operator // what nodes gave as streams
}

// Set notes the rows of a node; nothing where nobody wants to know.
func (r *RowCounts) Set(n plan.Node, rows int) {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.rows[n] = rows
	}
}

// Of is what was noted of a node.
func (r *RowCounts) Of(n plan.Node) (rows int, ok bool) {
	if r == nil {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rows, ok = r.rows[n]
	return rows, ok
}

// Setter is [RowCounts.Set] of one node; nil where nobody wants to know.
func (r *RowCounts) Setter(n plan.Node) func(int) {
	if r == nil {
		return nil
	}
	return func(rows int) { r.Set(n, rows) }
}

// Measure notes what a node gave; what it gave before, in another run, goes.
func (r *RowCounts) Measure(n plan.Node, g Operator) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.operators == nil {
		r.operators = map[plan.Node]Operator{}
	}
	r.operators[n] = g
}

// Operator is what a node gave to the one above it: rows, and the bytes that they take there. Its elapsed time includes the nodes
// below. It includes neither the use of the rows above nor loading, which is shown apart.
type Operator struct {
	Rows    int
	Bytes   int64
	Elapsed time.Duration
}

// NewRowCounts has no counts yet.
func NewRowCounts() *RowCounts { return &RowCounts{rows: map[plan.Node]int{}} }

// Measurement is what was measured of a node.
func (r *RowCounts) Measurement(n plan.Node) (g Operator, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, ok = r.operators[n]
	return g, ok
}
