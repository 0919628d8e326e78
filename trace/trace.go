package trace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// DefaultMaxPasses is the number of passes that a page has at most unless one asks
// for more.
const DefaultMaxPasses = 200

// Options says how to trace.
type Options struct {
	MaxPasses int // 0: DefaultMaxPasses
	// Order, when set, says in words how the records of the table lie that the passes read; "" where that says nothing.
	Order func(*table.Table) string
	// Progress, when set, is called after each pass that has been looked at, with their
	// number so far and in all.
	Progress func(done, all int)
}

// Trace is a statement with the passes that answered it: the data of a page.
type Trace struct {
	SQL     string   `json:"sql"`
	Backend string   `json:"backend"`
	Device  string   `json:"device"`
	Plan    []string `json:"plan"` // the lines of EXPLAIN
	Answer  []Field  `json:"answer"`
	Rows    int      `json:"rows"`
	Order   string   `json:"order"` // of the records, in words; "" where that says nothing

	Grids    []*grid   `json:"grids"`   // one a chunk
	Columns  []*Column `json:"columns"` // those that the statement reads
	Passes   []*Pass   `json:"passes"`
	Programs []string  `json:"programs"` // GLSL, each once
	Images   []*Image  `json:"images"`   // each once
	Searches []*Search `json:"searches"`
	Sums     []*Sum    `json:"sums"`

	Stage   engine.Stage    `json:"-"` // where it ran
	Watched *engine.Watched `json:"-"` // what it answered
	Ran     []pass.Profile  `json:"-"` // the passes

	tracer *tracer
}

// Field is a value of the answer.
type Field struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Pass is a pass as it was run.
type Pass struct {
	Name    string `json:"name"`
	Counts  string `json:"counts"`
	Chunk   int    `json:"chunk"`
	Counted bool   `json:"counted"`
	Samples uint64 `json:"samples"`
	// Passed is, of a draw over records, how many pass, counted by the trace; nil of others.
	Passed *uint64 `json:"passed,omitempty"`
	Drops  bool    `json:"drops,omitempty"` // those that pass are dropped from the selection
	Fates  int     `json:"fates"`           // an image: 1 where the first record of a cell passes, else 0; -1 for none
	MS     float64 `json:"ms"`              // of the device where it has a timer, else wall clock
	// State is the pipeline state that matters: what, and how it is set.
	State    [][2]string `json:"state"`
	Uniforms [][2]string `json:"uniforms"`
	Program  int         `json:"program"` // of Trace.Programs; -1 for none
	// Selection reports whether the pass reads, or leaves, the very records of its chunk that
	// the WHERE clause selects.
	Selection bool `json:"selection,omitempty"`
	// Results are what the pass left behind beside pictures, in words.
	Results []string `json:"results"`
	Panels  []Panel  `json:"panels"`
	// Search and Sum point into Trace.Searches and Sums; -1 for none.
	Search int `json:"search"`
	Step   int `json:"step"` // of the search
	Sum    int `json:"sum"`
}

// Number is the number of the i-th pass on the page, from 1.
func (p *Pass) Number(i int) int { return i + 1 }

// Tally is the number of samples that passed as the list of passes has it. It
// is in parentheses where only the trace has counted them, "" for what is no draw over records.
func (p *Pass) Tally() string {
	switch {
	case p.Counted:
		return numbers.Count(p.Samples, "sample", "samples")
	case p.Drops:
		return "(" + numbers.Grouped(*p.Passed) + " dropped)"
	case p.Passed != nil:
		return "(" + numbers.Count(*p.Passed, "sample", "samples") + ")"
	}
	return ""
}

// Traced reports whether a pass has samples that only the trace has counted.
func (t *Trace) Traced() bool {
	return slices.ContainsFunc(t.Passes, func(p *Pass) bool { return !p.Counted && p.Passed != nil })
}

// Run executes one SELECT and keeps its passes. One of more passes than there may
// be is an error. It runs twice; see the package's caveats.
func Run(ctx context.Context, db *engine.DB, text string, o Options) (*Trace, error) {
	if o.MaxPasses == 0 {
		o.MaxPasses = DefaultMaxPasses
	}
	if o.MaxPasses < 0 {
		return nil, fmt.Errorf("trace: at most %d passes: the number is not negative", o.MaxPasses)
	}
	first := &limiter{most: o.MaxPasses}
	_, err := engine.Inspect(db).Watch(ctx, text, func(s engine.Stage) pass.Runner {
		first.Runner = s.Runner // one after the other
		return first
	})
	if err == nil {
		err = first.err() // a statement need not wait for its last passes
	}
	if err != nil {
		return nil, err
	}
	x, err := db.Explain(ctx, text, engine.ExplainOptions{})
	if err != nil {
		return nil, err
	}
	var t *tracer
	var joins []*tracer
	w, err := engine.Inspect(db).Watch(ctx, text, func(s engine.Stage) pass.Runner {
		before := t
		t = newTracer(s, &limiter{Runner: s.Runner, most: o.MaxPasses})
		t.progress, t.expected = o.Progress, first.n
		if before != nil {
			t.follow(before)
			joins = append(joins, before)
		}
		return t
	})
	for _, j := range joins {
		j.close()
	}
	if t != nil {
		defer t.close()
	}
	if err != nil {
		return nil, err
	}
	out := t.trace
	out.SQL, out.Backend, out.Plan = w.SQL, w.Backend, x.Lines()
	if q := out.Stage.Plan; o.Order != nil && q != nil {
		out.Order = o.Order(q.Table)
	}
	for i, c := range w.Columns {
		out.Answer = append(out.Answer, Field{c.Name, c.Type.String(), valuesOf(w.Rows, i)})
	}
	t.columns()
	t.steps(w.Values)
	for _, s := range out.Searches {
		for i := range s.Steps {
			s.Steps[i].Decision = s.Decision(i)
		}
	}
	if len(out.Grids) == 0 { // the passes of a join that has no rows are shown all the same
		out.Grids = []*grid{{Width: 1, Line: 1, Step: 1, Cols: 1, Lines: 1, cells: []int{}}}
	}
	out.Images = t.images.list
	out.Watched, out.Ran, out.tracer = w, t.Profiles, t
	return out, errors.Join(t.err, t.images.err)
}

// valuesOf is the values of a column, the first ones of many.
func valuesOf(rows [][]table.Value, column int) string {
	const most = 12
	list := xslices.Map(rows[:min(most, len(rows))], func(row []table.Value) string { return row[column].String() })
	if len(rows) > most {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}

// Found is what the draws of a statement on backend classic have found, given the values of the
// plan's aggregates. It has Searches, Sums, and of Passes Name, Chunk, Samples, Search, Step and Sum.
func Found(q *physical.Query, passes []pass.Profile, values []table.Value) *Trace {
	t := &tracer{plan: q, trace: &Trace{}, selected: map[int]table.Bitmap{}}
	for _, p := range passes {
		l := newLook(p.Pass)
		l.Samples = p.Samples
		t.looks, t.trace.Passes = append(t.looks, l), append(t.trace.Passes, l.Pass)
	}
	t.steps(values)
	return t.trace
}

// Limit wraps a runner so that a statement of more than so many passes is an error.
func Limit(r pass.Runner, most int) pass.Runner { return &limiter{Runner: r, most: most} }

// limiter is a runner of so many passes at most.
type limiter struct {
	pass.Runner
	most, n int
}

// Run implements pass.Runner.
func (l *limiter) Run(p *pass.Pass) (pass.Count, error) {
	l.n++
	if err := l.err(); err != nil {
		return nil, err
	}
	return l.Runner.Run(p)
}

func (l *limiter) err() error {
	if l.n <= l.most {
		return nil
	}
	return fmt.Errorf("trace: the statement takes more than %s: allow more with --max-passes N, or take a smaller statement", numbers.Count(l.most, "pass", "passes"))
}
