package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// Statement is a SELECT that has been parsed, bound and planned: running it again
// costs little beyond its execution. Each execution reads the snapshot that its table
// has when it begins. It may be used by several goroutines, until its DB is closed.
type Statement struct {
	db     *DB
	script string // that the positions of errors are in
	text   string // of the statement
	query  *expr.Query
	entry  *entry                    // of its table
	plan   *plan.Query               // for the snapshot that the table had
	choice choice                    // of the backend
	latest atomic.Pointer[Statement] // the same for a later snapshot; nil where there is none

	load     atomic.Int64 // ns: reading files, until an execution has accounted for it
	planning atomic.Int64 // ns: likewise planning
}

// Prepare parses, binds and plans one SELECT, and reads the files of its tables.
func (db *DB) Prepare(text string) (*Statement, error) {
	return db.prepareText(context.Background(), text)
}

func (db *DB) prepareText(ctx context.Context, text string) (*Statement, error) {
	st, err := parseOne(text)
	if err != nil {
		return nil, err
	}
	if st.Explain {
		return nil, fmt.Errorf("this takes the SELECT alone: leave EXPLAIN out")
	}
	return db.prepare(ctx, text, st)
}

// prepare binds and plans a statement of a script. Its errors have their place in
// the script.
func (db *DB) prepare(ctx context.Context, script string, st *sql.Statement) (*Statement, error) {
	s, err := db.prepared(ctx, script, st)
	if err != nil {
		return nil, described(script, err)
	}
	return s, nil
}

func (db *DB) prepared(ctx context.Context, script string, st *sql.Statement) (*Statement, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := &catalog{ctx: ctx, db: db}
	q, err := st.Bind(c)
	if c.err != nil {
		return nil, c.err
	}
	if err != nil {
		return nil, err
	}
	s := &Statement{db: db, script: script, text: st.Text, query: q, entry: c.entry(q.Table)}
	t, unpin := db.pin(s.entry)
	defer unpin()
	if err := s.lower(t); err != nil {
		return nil, err
	}
	s.load.Store(int64(c.accountFor(q.Table)))
	return s, nil
}

// lower plans the statement for a snapshot of its table.
func (s *Statement) lower(t *table.Table) (err error) {
	start := time.Now()
	s.plan, err = s.db.lowered.Query(t, s.query)
	s.planning.Store(int64(time.Since(start)))
	return err
}

// pinned is the statement for the snapshot that its table has now, which stays in use
// until unpin is called.
func (s *Statement) pinned() (now *Statement, unpin func(), err error) {
	t, unpin := s.db.pin(s.entry)
	if s.plan.Table == t {
		return s, unpin, nil
	}
	if now = s.latest.Load(); now != nil && now.plan.Table == t {
		return now, unpin, nil
	}
	now = &Statement{db: s.db, script: s.script, text: s.text, query: s.query, entry: s.entry}
	if err := now.lower(t); err != nil {
		unpin()
		return nil, nil, err
	}
	s.latest.Store(now)
	return now, unpin, nil
}

// Query executes the statement.
func (s *Statement) Query(ctx context.Context) (*Result, error) {
	now, unpin, err := s.pinned()
	if err != nil {
		return nil, described(s.script, err)
	}
	defer unpin()
	r, err := now.run(ctx)
	if err != nil {
		return nil, described(s.script, err)
	}
	return r, nil
}

// run executes the statement on the backends in the order of what they are predicted
// to take, until one can do it.
func (s *Statement) run(ctx context.Context) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := s.db.limited(ctx)
	defer cancel()
	start := time.Now()
	var r *Result
	var opening time.Duration
	err := s.try(ctx, &opening, func(b Backend) error {
		began := time.Now()
		answer, err := b.Execute(ctx, s.plan)
		if err != nil {
			return err
		}
		s.ran(b.Name(), time.Since(began), answer.Load)
		r, err = s.result(b.Name(), answer)
		return err
	})
	if err != nil {
		return nil, ended(ctx, err)
	}
	r.Load += opening
	before := time.Duration(s.load.Swap(0))
	r.Elapsed = max(0, time.Since(start)-r.Load) + time.Duration(s.planning.Swap(0))
	r.Load += before
	return r, nil
}

// limited is ctx within the DB's statement timeout.
func (db *DB) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	t := db.opts.StatementTimeout
	if t == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, t, &marked{fmt.Errorf("the statement took longer than the statement timeout of %v", t), context.DeadlineExceeded})
}

// ended is err, or why ctx ended where that is what err says.
func ended(ctx context.Context, err error) error {
	if over := ctx.Err(); over != nil && errors.Is(err, over) {
		return context.Cause(ctx)
	}
	return err
}

// result computes the select items from the aggregates' values.
func (s *Statement) result(backend string, a *plan.Answer) (*Result, error) {
	r := &Result{
		SQL: s.text, Backend: backend, Passes: a.Passes, Samples: a.Samples,
		Load: a.Load,
	}
	if len(a.Values) != len(s.query.Aggs) {
		return nil, fmt.Errorf("engine: backend %s gave %d values for %d aggregates", backend, len(a.Values), len(s.query.Aggs))
	}
	env := &expr.Env{Agg: func(i int) table.Value { return a.Values[i] }}
	var row []table.Value
	for _, item := range s.query.Items {
		v, err := expr.Eval(item.E, env)
		if err != nil {
			return nil, err
		}
		typ := item.E.Type()
		if !v.Null && typ.Kind == table.Decimal && v.Type.Kind == table.Decimal {
			typ = v.Type // the scale of a quotient is known only now
		}
		r.Columns = append(r.Columns, Column{Name: item.Name, Type: typ})
		row = append(row, v)
	}
	r.Rows = [][]table.Value{row}
	return r, nil
}
