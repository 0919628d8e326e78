package lab

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stencildb/stencildb/glctx"
)

// LocalMemory is the memory in bytes that a multiprocessor has in all the papers.
const LocalMemory = 16 << 10

// Paper is the experiments of a publication, which a suite of package bench runs.
type Paper struct {
	Name, Doc string // of the suite
	Title     string // of the report
	Hardware  string // that the paper measured on
	Rows      int    // of its largest table
	Counted   string // what a row is called: "keys"
	// Software and Here are the rows of the largest table where the user gives none: on a software rasteriser, and else.
	Software, Here int
	Notes          []string // sizes and their reasons, what the paper leaves open
	Figures        []Figure
	Systems        []System // the ways, in the order of the legend
	Claims         []Claim
	// Most is the largest number of rows that a device of these capabilities and so many bytes of host memory hold, and what holds them.
	Most func(c *glctx.Caps, memory int64) (rows int, holder string)
	// Cases are those of the figures that the setting asks for. What they share is made when a case is opened that needs it.
	Cases func(s *Setting) ([]Case, error)
}

// Setting is what cases are made for.
type Setting struct {
	Rows    int // of the largest table
	Seed    uint64
	Devices []*Device     // one at least
	Options glctx.Options // which these are
	Local   int           // bytes of local memory: [LocalMemory]
	// Asked reports whether a figure is asked for.
	Asked func(Name) bool

	ends []func() error
}

// AtEnd has f run when all cases have run: it gives back what cases share.
func (s *Setting) AtEnd(f func() error) { s.ends = append(s.ends, f) }

// End runs what [Setting.AtEnd] was given, the last first.
func (s *Setting) End() (err error) {
	for _, f := range slices.Backward(s.ends) {
		err = errors.Join(err, f())
	}
	s.ends = nil
	return err
}

// Case is one place on a figure's axis.
type Case struct {
	Figure Name
	Name   string // of the operation: "search_16"
	Rows   int    // of the largest table that it reads
	X      float64
	Doing  string  // in words, which stand where a statement has SQL
	Work   float64 // units of one run
	Unit   string
	// Open makes the ways to run it. Close, when set, ends them.
	Open  func(ctx context.Context) ([]Way, error)
	Close func() error
	// Data is what package bench's own ways need to know of the case.
	Data any
}

// Way is one way to run a case.
type Way struct {
	System string
	Device bool // it runs on the OpenGL device
	// Cannot, when set, is why the way is left out.
	Cannot string
	// Run runs it and digests its output after the clock has stopped.
	Run func(ctx context.Context) (Outcome, error)
	// Check, when set, runs it, reads its whole output back and compares it with that of plain Go. It comes before anything is timed.
	Check func(ctx context.Context) error
	// Partial says that a run has no output to compare: it stops on the way.
	Partial bool
	// Counters, when set, are counted by a run of an instrumented variant.
	Counters func(ctx context.Context) (map[string]float64, error)
	// Sections, when set, are the parts of one run. It runs as often as Run does, up to 15 times, after it.
	Sections func(ctx context.Context) ([]Section, error)
}

// Outcome is what a run gave. Wall is 0 where the clock of the meter does.
type Outcome struct {
	Took
	Digest Digest
}

// Timed is the outcome of a run of f on the host.
func Timed(f func() error) (out Outcome, err error) {
	start := time.Now()
	err = f()
	out.Wall = max(1, time.Since(start))
	return out, err
}
