package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// Explanation lists the passes of a statement.
type Explanation struct {
	SQL     string // the query, without EXPLAIN
	Backend string
	Why     string // why this backend, where auto chose it
	Steps   []Step
	GLSL    bool // whether Lines include the fragment programs
	// Predictions is what each backend was predicted to take, the cheapest first, and
	// Costs where the predictions come from.
	Predictions []Prediction
	Costs       string
	// Answer is what the execution gave, for ANALYZE; else nil.
	Answer *Result
	// Resident is what was on the device after the execution; nil where none is open.
	Resident *Resident
	// PerPass says that the steps are those executed, with what each took. An
	// analysis without it has totals only.
	PerPass bool
}

// Prediction is what a statement is predicted to take on a backend.
type Prediction struct {
	Backend string
	// Run is the time with every column resident. Without Possible it means nothing:
	// the backend cannot do the statement.
	Run      time.Duration
	Possible bool
	// Uploading is the time to bring Columns to the device, which are Bytes in host
	// memory.
	Uploading time.Duration
	Columns   []string
	Bytes     int64
	// Opening is the time to open the device.
	Opening time.Duration
	// Charged is the part of Uploading and Opening that the statement is charged with;
	// see package cost and [Options.Backend].
	Charged time.Duration
	// Measured is the shortest execution so far; 0 where that is not known.
	Measured time.Duration
}

// Explain lists the passes of one statement (with or without EXPLAIN before it).
// Without analyze nothing runs; with it the statement is executed: pass by pass where
// the backend can do that, then as a whole for the time. With glsl the fragment
// programs are listed too.
func (db *DB) Explain(ctx context.Context, text string, analyze, glsl bool) (*Explanation, error) {
	st, err := parseOne(text)
	if err != nil {
		return nil, err
	}
	return db.explain(ctx, text, st, analyze || st.Analyze, glsl)
}

func (db *DB) explain(ctx context.Context, script string, st *sql.Statement, analyze, glsl bool) (*Explanation, error) {
	s := db.statements.get(script) // what it took before tells more
	if s == nil {
		var err error
		if s, err = db.prepare(ctx, script, st); err != nil {
			return nil, err
		}
	}
	s, unpin, err := s.pinned()
	if err != nil {
		return nil, described(script, err)
	}
	defer unpin()
	x := &Explanation{SQL: s.query.Header, GLSL: glsl}
	if x.SQL == "" {
		x.SQL = st.Text
	}
	if err := x.explain(ctx, s, analyze); err != nil {
		return nil, described(script, err)
	}
	return x, nil
}

func (x *Explanation) explain(ctx context.Context, s *Statement, analyze bool) error {
	if err := x.predict(ctx, s); err != nil {
		return err
	}
	var opening time.Duration
	err := s.try(ctx, &opening, func(b Backend) (err error) {
		x.Backend = b.Name()
		if analyze {
			return x.analyze(ctx, s, b)
		}
		x.Steps, err = b.Explain(s.plan)
		return err
	})
	if err != nil {
		return err
	}
	if s.db.opts.Backend == "auto" {
		x.Why = "auto: " + x.why(s)
	}
	return nil
}

// predict asks what the statement would take, on all backends.
func (x *Explanation) predict(ctx context.Context, s *Statement) error {
	list, err := s.predictions(ctx)
	if err != nil {
		return err
	}
	x.Costs = s.choice.costs.Source
	for _, p := range list {
		x.Predictions = append(x.Predictions, Prediction{
			Backend: p.Backend, Possible: p.Possible(), Run: seconds(p.Run),
			Uploading: seconds(p.Transfer), Columns: s.names(s.choice.missing(p.Backend)), Bytes: p.Bytes,
			Opening: seconds(p.Opening), Charged: seconds(p.Share), Measured: seconds(p.Measured),
		})
	}
	return nil
}

// predictions are those of all backends. They open the backend that was asked for, or
// what auto needs.
func (s *Statement) predictions(ctx context.Context) ([]cost.Prediction, error) {
	spent := new(time.Duration)
	if s.db.opts.Backend == "auto" {
		return s.order(ctx, spent, false)
	}
	if _, _, err := s.db.open(ctx, s.db.opts.Backend, spent); err != nil {
		return nil, err
	}
	d, tried, err := s.db.opened()
	if errors.Is(err, errClosed) {
		return nil, err
	}
	return s.choice.predict(s, d, !tried)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// names are those of the table's columns.
func (s *Statement) names(cols []int) []string {
	var list []string
	for _, c := range cols {
		list = append(list, s.plan.Table.Field(c).Name)
	}
	return list
}

// why says why auto took the backend that it took.
func (x *Explanation) why(s *Statement) string {
	if first := x.Predictions[0]; first.Backend != x.Backend {
		return first.Backend + " cannot do this query, or failed"
	}
	if len(x.Predictions) == 1 {
		if _, _, err := s.db.opened(); err != nil {
			return "no OpenGL device"
		}
		return "the only backend that can do this query"
	}
	return "predicted to be the fastest"
}

// analyze executes the statement for its numbers.
func (x *Explanation) analyze(ctx context.Context, s *Statement, b Backend) error {
	var load time.Duration
	if a, ok := b.(Analyzer); ok {
		answer, steps, err := a.Analyze(ctx, s.plan)
		if err != nil {
			return err
		}
		x.Steps, x.PerPass, load = steps, true, answer.Load
	} else {
		var err error
		if x.Steps, err = b.Explain(s.plan); err != nil {
			return err
		}
	}
	start := time.Now()
	answer, err := b.Execute(ctx, s.plan)
	if err != nil {
		return err
	}
	took := max(0, time.Since(start)-answer.Load)
	if x.Answer, err = s.result(b.Name(), answer); err != nil {
		return err
	}
	x.Answer.Elapsed = took
	x.Answer.Load += load + time.Duration(s.load.Swap(0))
	x.Resident = s.db.Resident()
	return nil
}

// Lines is the explanation as text, a pass a line.
func (x *Explanation) Lines() []string {
	lines := []string{"Backend " + x.Backend}
	if x.Why != "" {
		lines[0] += " (" + x.Why + ")"
	}
	lines = append(lines, x.stepLines()...)
	lines = append(lines, x.predictionLines()...)
	if r := x.Answer; r != nil {
		if r.Passes > 0 {
			lines = append(lines, fmt.Sprintf("Passes: %d", r.Passes), fmt.Sprintf("Samples counted: %d", r.Samples))
		}
		lines = append(lines, "Execution time: "+ms(r.Elapsed)+x.predicted())
		if r.Load > 0 {
			lines = append(lines, "Loading time: "+ms(r.Load))
		}
	}
	if x.Resident != nil {
		lines = append(lines, x.Resident.Lines()...)
	}
	return lines
}

func (x *Explanation) stepLines() []string {
	var lines []string
	width := 0
	for _, s := range x.Steps {
		width = max(width, len([]rune(s.Pass)))
	}
	for i, s := range x.Steps {
		line := fmt.Sprintf("%4d  %-*s", i+1, width, s.Pass)
		if s.Counts != "" {
			line += "  " + s.Counts
		}
		if x.PerPass {
			line += "  " + s.numbers()
		}
		lines = append(lines, strings.TrimRight(line, " "))
		if x.GLSL && s.Fixed {
			lines = append(lines, "        | no program: the depth and stencil tests decide")
		}
		if x.GLSL && s.GLSL != "" {
			for l := range strings.Lines(strings.TrimRight(s.GLSL, "\n")) {
				lines = append(lines, "        | "+strings.TrimRight(l, "\n"))
			}
		}
	}
	return lines
}

// predictionLines are those of the backends, the cheapest first.
func (x *Explanation) predictionLines() []string {
	if len(x.Predictions) == 0 {
		return nil
	}
	lines := []string{"Predicted (costs " + x.Costs + ")"}
	for _, p := range x.Predictions {
		lines = append(lines, "  "+p.String())
	}
	return lines
}

// String is the prediction on one line.
func (p Prediction) String() string {
	if !p.Possible {
		return fmt.Sprintf("%-8s cannot do this query, or has no costs here", p.Backend)
	}
	line := fmt.Sprintf("%-8s %12s", p.Backend, ms(p.Run))
	if p.Measured > 0 {
		line += ", took " + ms(p.Measured) + " before"
	}
	var extra []string
	if len(p.Columns) > 0 {
		extra = append(extra, fmt.Sprintf("uploading %s (%s) %s", strings.Join(p.Columns, ", "), size(p.Bytes), ms(p.Uploading)))
	}
	if p.Opening > 0 {
		extra = append(extra, "opening the device "+ms(p.Opening))
	}
	if len(extra) > 0 {
		line += "  + " + strings.Join(extra, ", ")
		if p.Charged < p.Uploading+p.Opening {
			line += fmt.Sprintf("; of that this query is charged with %s", ms(p.Charged))
		}
	}
	return line
}

// predicted is the prediction for the backend that ran, beside its measurement.
func (x *Explanation) predicted() string {
	for _, p := range x.Predictions {
		if p.Backend == x.Backend && p.Possible {
			return fmt.Sprintf(" (predicted %s)", ms(p.Run))
		}
	}
	return ""
}

// numbers says what an executed step took.
func (s Step) numbers() string {
	if s.Counted {
		return fmt.Sprintf("(samples %d, %s)", s.Samples, ms(s.Elapsed))
	}
	return "(" + ms(s.Elapsed) + ")"
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d)/1e6) }

// WriteText writes the lines to w.
func (x *Explanation) WriteText(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(x.Lines(), "\n")+"\n")
	return err
}

// result is the explanation as the answer of an EXPLAIN statement: rows of text,
// as PostgreSQL gives them.
func (x *Explanation) result() *Result {
	r := &Result{
		SQL: x.SQL, Backend: x.Backend,
		Columns: []Column{{Name: "QUERY PLAN", Type: table.Type{Kind: table.Varchar}}},
	}
	for _, l := range x.Lines() {
		r.Rows = append(r.Rows, []table.Value{table.Str(l)})
	}
	if a := x.Answer; a != nil {
		r.Passes, r.Samples, r.Elapsed, r.Load = a.Passes, a.Samples, a.Elapsed, a.Load
	}
	return r
}
