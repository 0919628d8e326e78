package meter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/papers/lab"
)

// ErrCannot marks the error of a contender that is not able to run a case: it is
// then left out of it.
var ErrCannot = errors.New("cannot run this")

// Outcome is what one run of a statement gave.
type Outcome struct {
	Answer answer.Answer
	// Wall is what the run took where the system has its own clock, which leaves out
	// what does not count; 0: the meter's clock goes.
	Wall time.Duration
	// GPU is the device's own time for it; 0 where its timer means nothing.
	GPU time.Duration
}

// Contender is one system's way to run a case: a prepared statement.
type Contender struct {
	System string
	// Run executes it. The error is [ErrCannot] where the system turns out not to be
	// able to.
	Run func(context.Context) (Outcome, error)
	// Cold, when set, is Run with the columns not yet on the device; its Wall holds
	// their upload.
	Cold func(context.Context) (Outcome, error)
	// Fresh executes a text that is not prepared, from the text to the last row in hand. A trial with draws needs it.
	Fresh func(ctx context.Context, text string) (Outcome, error)
	// First, when set, is Fresh in a database newly opened, with nothing on the device and no program compiled.
	First func(ctx context.Context, text string) (Outcome, error)
	// Operators, when set, are those of the statement that package cpu runs for the system.
	Operators func(context.Context) ([]string, error)
	// Programs, when set, is how many GL programs the system has made so far.
	Programs func() int
	// Profile, when set, says what each pass of one run takes.
	Profile func(context.Context) ([]report.PassTime, error)
	// Wrong, when set, says for how many records the condition of an approximate answer is wrong.
	Wrong func(context.Context) (int, error)
	// Check, when set, runs it before anything is timed and compares its whole output.
	Check func(context.Context) error
	// Counters, when set, are counted by one run of an instrumented variant.
	Counters func(context.Context) (map[string]float64, error)
	// Sections, when set, are the parts of one run.
	Sections func(context.Context) ([]lab.Section, error)
	// Near marks answers that are approximate: they are kept, and not compared. In those of Loose
	// the last digits of floating-point numbers may be others. Apart marks a contender whose answer is none: it does a part of the work.
	Near, Loose, Apart bool
	// Peer marks another database.
	Peer bool
	// Device marks a system that runs on the OpenGL device, or may.
	Device bool
}

// Trial is one case with all that contend in it.
type Trial struct {
	report.Case
	SQL        string
	Figure     lab.Name // of the paper; "" for none
	X          float64  // where the case stands on the axis of its figure
	Work       float64  // units of one run; 0 for none
	Unit       string
	Contenders []Contender
	// Expected, when set, is the answer, of package cpu; else the first contender's is.
	Expected answer.Answer
	Shape    answer.Shape // of the answer
	expects  string
	// Draws are texts like SQL with other parameters, no two alike: each round of the fresh protocol has the next. Without any
	// SQL itself is measured. ShapeOf is the shape of a draw's answer.
	Draws   []string
	ShapeOf func(text string) answer.Shape
}

// Fail is an error of a system in the trial.
func (t *Trial) Fail(system string, err error) error {
	return fmt.Errorf("%s over %s: %s: %w", t.Operation, numbers.Count(t.Rows, "row", "rows"), system, err)
}
