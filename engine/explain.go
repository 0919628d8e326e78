package engine

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/stencildb/stencildb/plan"
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
	// Answer is what the execution gave, for ANALYZE; else nil.
	Answer *Result
	// PerPass says that the steps are those executed, with what each took. An
	// analysis without it has totals only.
	PerPass bool
}

// Explain lists the passes of one statement (with or without EXPLAIN before it).
// Without analyze nothing runs; with it the statement is executed. With glsl the
// fragment programs are listed too.
func (db *DB) Explain(ctx context.Context, text string, analyze, glsl bool) (*Explanation, error) {
	st, err := parseOne(text)
	if err != nil {
		return nil, err
	}
	return db.explain(ctx, text, st, analyze || st.Analyze, glsl)
}

func (db *DB) explain(ctx context.Context, script string, st *sql.Statement, analyze, glsl bool) (*Explanation, error) {
	x, err := db.explained(ctx, st, analyze, glsl)
	if err != nil {
		return nil, described(script, err)
	}
	return x, nil
}

func (db *DB) explained(ctx context.Context, st *sql.Statement, analyze, glsl bool) (*Explanation, error) {
	b, err := db.bind(ctx, st)
	if err != nil {
		return nil, err
	}
	p, err := plan.NewQuery(b.table, b.query)
	if err != nil {
		return nil, err
	}
	x := &Explanation{SQL: b.query.Header, GLSL: glsl}
	if x.SQL == "" {
		x.SQL = st.Text
	}
	err = db.try(p, func(c candidate) error {
		x.Backend, x.Why = c.backend.Name(), c.why
		if analyze {
			return x.analyze(ctx, b, p, c.backend)
		}
		x.Steps, err = c.backend.Explain(p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// analyze executes the statement for its numbers.
func (x *Explanation) analyze(ctx context.Context, b *bound, p *plan.Query, backend Backend) error {
	var answer *plan.Answer
	var err error
	start := time.Now()
	if a, ok := backend.(Analyzer); ok {
		answer, x.Steps, err = a.Analyze(ctx, p)
		x.PerPass = true
	} else {
		if x.Steps, err = backend.Explain(p); err != nil {
			return err
		}
		start = time.Now()
		answer, err = backend.Execute(ctx, p)
	}
	if err != nil {
		return err
	}
	took := time.Since(start)
	if x.Answer, err = b.result(backend.Name(), answer); err != nil {
		return err
	}
	x.Answer.Elapsed = max(0, took-answer.Load)
	return nil
}

// Lines is the explanation as text, a pass a line.
func (x *Explanation) Lines() []string {
	lines := []string{"Backend " + x.Backend}
	if x.Why != "" {
		lines[0] += " (" + x.Why + ")"
	}
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
		if x.GLSL && s.GLSL != "" {
			for l := range strings.Lines(strings.TrimRight(s.GLSL, "\n")) {
				lines = append(lines, "        | "+strings.TrimRight(l, "\n"))
			}
		}
	}
	if r := x.Answer; r != nil {
		if r.Passes > 0 {
			lines = append(lines, fmt.Sprintf("Passes: %d", r.Passes), fmt.Sprintf("Samples counted: %d", r.Samples))
		}
		lines = append(lines, "Execution time: "+ms(r.Elapsed))
		if r.Load > 0 {
			lines = append(lines, "Loading time: "+ms(r.Load))
		}
	}
	return lines
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
