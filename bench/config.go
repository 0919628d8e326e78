package bench

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/numbers"
)

// Config says how to run a suite. What is empty takes the suite's own choice.
type Config struct {
	Rows     []int           // of the tables; of the suite paper one number is the largest of five
	From     int             // leaves out smaller tables of a paper's experiments
	Backends []string        // of engine.Backends
	Peers    []string        // of Peers; nil for the suite's choice
	Source   workload.Source // of the tables
	Rounds   int             // 0: what suits the work
	Engine   engine.Options  // but for the backend
	Program  string          // the path of stencildb, which suites of files run
	Machine  report.Machine
	Command  string
	// Progress, when set, is told what is being done.
	Progress func(Progress)

	unnamed bool // whether Peers are the suite's
}

// Progress says what a run does at the moment.
type Progress struct {
	Rows  int    // of the table
	Doing string // "loading into cpu"; of a case its operation
	// Case is its number, from 1, of the Cases of all tables; 0 before the cases of a table.
	Case, Cases int
}

func (p Progress) String() string {
	what := numbers.Grouped(p.Rows) + " rows: "
	if p.Case > 0 {
		what += fmt.Sprintf("case %d of %d, ", p.Case, p.Cases)
	}
	return what + p.Doing
}

// WithDefaults is c with the suite's choices in place of what is empty.
func (c Config) WithDefaults(s Suite) Config {
	if c.Source.Table == nil {
		c.Source = workload.Generated("uniform", 1)
	}
	if s.experiments != nil {
		c.Source.Data.Name, c.Source.Rows = s.experiments.Counted+" of the paper", 0
	}
	if s.Files && c.Source.Whole != nil {
		c.Source.Table = c.Source.Whole
	}
	if s.tables == nil {
		c.Rows = c.Sizes(s, c.Source)
	}
	if len(c.Rows) == 1 && s.ladder != nil {
		c.Rows = s.ladder(c.Rows[0])
	}
	if len(c.Backends) == 0 {
		c.Backends = s.Backends
	}
	if c.Peers == nil && !s.Alone {
		c.Peers, c.unnamed = peer.BuiltIn(), true
	}
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	return c
}

// Sizes are those of the tables of a source. One that the user's table does not have is left out
// where there are several tables.
func (c Config) Sizes(s Suite, from workload.Source) []int {
	switch {
	case len(c.Rows) == 0 && from.Rows > 0:
		return []int{from.Rows}
	case len(c.Rows) == 0:
		return s.Rows(c.Machine)
	case len(s.tables) > 1 && from.Rows > 0:
		return slices.DeleteFunc(slices.Clone(c.Rows), func(n int) bool { return n > from.Rows })
	}
	return c.Rows
}

// reference is the system that ratios are to. It is the first peer, else cpu, else the first backend. A
// user's statements have no peer as reference, since it may not know them.
func (c Config) reference(s Suite) string {
	switch {
	case s.experiments != nil: // their tables have the ratios
		return ""
	case len(c.Peers) > 0 && s.Name != report.OwnStatements:
		return c.Peers[0]
	case slices.Contains(c.Backends, "cpu"):
		return "cpu"
	}
	return c.Backends[0]
}
