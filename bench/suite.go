package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/papers/lab"
)

// Suite is a named set of cases.
type Suite struct {
	Name string
	Doc  string
	// Rows are the sizes of the tables where the user gives none.
	Rows func(report.Machine) []int
	// Backends are the systems where the user names none, and Alone says that no peers
	// run beside them then.
	Backends []string
	Alone    bool
	// Operations are the cases of each table.
	Operations []workload.Operation
	// Figures are those of the paper that the suite repeats; nil for suites of another kind.
	Figures []lab.Figure
	// Table is the one that is measured on where the user names none; "" for uniform.
	Table string
	// Graphics says that the systems on the device share one context, and that the clock goes on its thread: those of the 2004
	// paper.
	Graphics bool
	// Files says that the systems are processes, from their start to their end, which read
	// the table from files.
	Files bool
	// Gaps says that a statement that stencildb refuses runs on the peers only.
	Gaps bool
	// Fresh says that each execution has parameters that were not asked before, if the operations can draw some. The prepared
	// statement that is repeated is measured, too.
	Fresh bool
	// Estimates says that each statement is explained on cpu, too, for the estimates of its plan.
	Estimates bool
	ladder    func(rows int) []int // the sizes of the tables up to one of so many rows; nil: that one alone

	experiments *lab.Paper        // in the place of operations
	beside      ourWays           // their ways that are ours
	tables      []workload.Source // that its statements are written for; nil: that of the run
}

// Sources are the tables of a run of the suite.
func (s Suite) Sources(c Config) []workload.Source {
	if s.tables != nil {
		return s.tables
	}
	return []workload.Source{c.Source}
}

// OwnTables reports whether the suite is over tables of its own.
func (s Suite) OwnTables() bool { return s.tables != nil }

// OnlyFigures is the suite with only the figures of these names.
func (s Suite) OnlyFigures(names ...string) (Suite, error) {
	if s.Figures == nil {
		return s, fmt.Errorf("the suite %s has no figures to choose among: %s have", s.Name, strings.Join(evaluation.WithFigures(), ", "))
	}
	named := func(f lab.Name) bool { return slices.Contains(names, string(f)) }
	all := xslices.Map(s.Figures, func(f lab.Figure) string { return string(f.Name) })
	for _, n := range names {
		if !slices.Contains(all, n) {
			return s, fmt.Errorf("the suite %s has no figure %s: there are %s", s.Name, n, strings.Join(all, ", "))
		}
	}
	s.Figures = slices.DeleteFunc(slices.Clone(s.Figures), func(f lab.Figure) bool { return !named(f.Name) })
	s.Operations = slices.DeleteFunc(slices.Clone(s.Operations), func(o workload.Operation) bool { return !named(o.Figure) })
	return s, nil
}

// Draws reports whether the suite can run by the fresh protocol.
func (s Suite) Draws() bool {
	return slices.ContainsFunc(s.Operations, func(op workload.Operation) bool { return op.Draws != nil })
}
