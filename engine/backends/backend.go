package backends

import (
	"context"
	"iter"

	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// ErrUnsupported marks the error of a backend that cannot do a query which
// another backend may: wrap it with what is missing. Backend "auto" then tries
// the next one.
var ErrUnsupported = sqlstate.Errorf(sqlstate.FeatureNotSupported, "not supported by this backend")

// ErrDeviceMemory marks the error of a query whose columns do not fit the
// device's memory budget. Backend "auto" then tries the next backend.
var ErrDeviceMemory = sqlstate.Errorf(sqlstate.OutOfMemory, "does not fit the device's memory")

// Backend is a way to compute the answer of a plan.
//
// Its methods may be called from several goroutines.
type Backend interface {
	// Name is the backend's name as given to --backend.
	Name() string
	// Execute runs the plan and returns one value an aggregate. What it takes is added to
	// took. It stops with ctx's error when ctx ends.
	Execute(ctx context.Context, q *physical.Query, took *querystats.Collector) ([]table.Value, error)
	// Explain lists what Execute or Rows would do, and runs nothing. To analyze a plan of
	// aggregates it executes it, if it has passes, and says what each took.
	Explain(ctx context.Context, q *physical.Query, analyze bool) ([]Step, error)
	// Rows yields the rows that a plan without aggregates selects, in the order of the table. It yields
	// blocks of neighbours, or of at most some ten thousand rows, and after an error nothing. It works a
	// bounded number of blocks ahead of its caller. Errors that the plan's checks find come before the first
	// block. When the caller stops or ctx ends it releases what it holds; on a device, others may use it
	// between two blocks. What it takes is added to took.
	Rows(ctx context.Context, q *physical.Query, took *querystats.Collector) iter.Seq2[table.Block, error]
}

// Step is one pass of a query. It may also be one group of passes whose number depends on the counts of
// earlier ones ("Compare(delay >= x + 2^i), i = 18..0").
type Step struct {
	Device int     `json:"-"`                // the number of the device that runs it
	Op     pass.Op `json:"-"`                // what the pass is; nil where there is none
	Pass   string  `json:"pass"`             // the paper's name of it: "CopyToDepth(delay)"
	Counts string  `json:"counts,omitempty"` // what it counts, in words; "" when it counts nothing
	GLSL   string  `json:"glsl,omitempty"`   // the fragment or compute program, where the pass has one
	Fixed  bool    `json:"-"`                // the pass draws without one

	// Of a pass that was executed, else nil (see [engine.ExplainOptions.Analyze]):
	Samples *uint64  `json:"samples,omitempty"` // nil also where it counts none
	MS      *float64 `json:"ms,omitempty"`      // device time where the device has a meaningful timer

	// Of a join whose place in the order was chosen by an estimate, else 0:
	Expected int `json:"expected,omitempty"` // rows by the estimate
	Rows     int `json:"rows,omitempty"`     // that it gave
}
