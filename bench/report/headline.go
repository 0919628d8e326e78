package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/papers/lab"
)

// Headline is something that the paper reports, beside what was measured here.
type Headline struct {
	Figure lab.Name `json:"figure"`
	What   string   `json:"what"`
	Where  string   `json:"where,omitempty"`    // in the paper
	On     string   `json:"hardware,omitempty"` // the paper's
	Unit   string   `json:"unit,omitempty"`     // of the numbers
	Paper  float64  `json:"paper"`              // 0 where the paper gives no number
	// Measured is of the table of the paper's size, or of the one nearest to it that has the case.
	Measured
	// Largest is of the largest table, where that is another one.
	Largest *Measured `json:"largest,omitempty"`
	// Of and Over name the systems: how many times as fast Of is as Over, or for times
	// how many times as long.
	Of   string `json:"of"`
	Over string `json:"over"`
	// Sentence says in words what the paper found, what was found here, and the verdicts.
	Sentence string `json:"sentence"`
}

// Measured is a headline over one table.
type Measured struct {
	Here float64 `json:"here"`
	// Lo and Hi are the 95 % interval of Here; 0 where there are too few runs.
	Lo   float64 `json:"lo,omitempty"`
	Hi   float64 `json:"hi,omitempty"`
	Rows int     `json:"rows"`
	Runs int     `json:"runs"` // of the system that ran least
	// Exact says that it was counted, by one run.
	Exact bool `json:"exact,omitempty"`
	// Fused and Compute are Here with these backends in the place of classic.
	Fused   float64 `json:"fused,omitempty"`
	Compute float64 `json:"compute,omitempty"`
	Verdict string  `json:"verdict"`
}

// few reports whether there were too few runs to say anything.
func (m Measured) few() bool { return m.Runs < MinRounds && !m.Exact }

// Judged says whether what the paper says held.
func (m Measured) Judged(v lab.Verdict, paper float64) string {
	switch v {
	case lab.Alike:
		return m.Difference()
	case lab.Near:
		return m.between(paper/closeTo, paper*closeTo)
	case lab.AtMost:
		return m.between(math.Inf(-1), paper)
	case lab.AtLeast:
		return m.between(paper, math.Inf(1))
	}
	return m.Speed(paper)
}

// between says whether a number is within bounds; where its interval has a bound in it, that cannot be said.
func (m Measured) between(lo, hi float64) string {
	switch {
	case m.few():
		return TooFewRounds
	case m.Lo < lo && m.Hi >= lo || m.Lo <= hi && m.Hi > hi:
		return Noisy
	case m.Here >= lo && m.Here <= hi:
		return Held
	}
	return Failed
}

// Measure takes what was measured over the two tables, which may be one, and reports whether
// anything was.
func (h *Headline) Measure(nearest, largest Measured) bool {
	h.Measured = nearest
	if largest.Rows > nearest.Rows {
		h.Largest = &largest
	}
	return nearest.Rows > 0
}

// Places says what was found over each of the tables.
func (h *Headline) Places(records string, say func(Measured) string) string {
	one := func(m Measured) string {
		return fmt.Sprintf("%s over %s %s: %s", say(m), numbers.Grouped(m.Rows), records, m.Verdict)
	}
	if h.Largest == nil {
		return one(h.Measured)
	}
	return one(h.Measured) + "; " + one(*h.Largest)
}

const (
	Held         = "held"
	Failed       = "did not hold"
	Noisy        = "too noisy to say"
	TooFewRounds = "too few rounds"
)

// closeTo is how far a ratio may be from the paper's and still count as the same. sameness is how far from 1
// a ratio of times may be and still count as none.
const (
	closeTo  = 1.5
	sameness = 1.15
)

// Speed says whether the paper's speedup, or the loss that it reports, held.
func (m Measured) Speed(paper float64) string {
	factor, more, less := m.Here/paper, "held, and more so", "held in direction, less so"
	if paper < 1 {
		more, less = less, "held in direction, slower still"
	}
	switch {
	case m.few():
		return TooFewRounds
	case m.Lo <= 1 && m.Hi >= 1:
		return Noisy
	case paper > 1 != (m.Here > 1):
		return Failed
	case factor >= closeTo:
		return more
	case factor*closeTo >= 1:
		return Held
	}
	return less
}

// Difference says whether two times are the same.
func (m Measured) Difference() string {
	switch {
	case m.few():
		return TooFewRounds
	case m.Here <= sameness && m.Here >= 1/sameness:
		return Held
	case m.Lo <= sameness && m.Hi >= 1/sameness:
		return Noisy
	}
	return Failed
}

// TimesAsFast says a ratio of speeds in words.
func TimesAsFast(ratio float64) string {
	switch {
	case ratio > 1.05:
		return FormatNumber(ratio) + " times as fast as"
	case ratio < 0.95:
		return FormatNumber(1/ratio) + " times slower than"
	}
	return "as fast as"
}

// Others says how the other backends do.
func (m Measured) Others() string {
	var parts []string
	for _, o := range []struct {
		system string
		here   float64
	}{{"fused", m.Fused}, {"compute", m.Compute}} {
		if o.here > 0 {
			parts = append(parts, o.system+" "+strings.TrimSuffix(strings.TrimSuffix(TimesAsFast(o.here), " as"), " than"))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
