package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// Query answers exactly one statement.
func (db *DB) Query(ctx context.Context, text string) (*Result, error) {
	st, err := parseOne(text)
	if err != nil {
		return nil, err
	}
	return db.statement(ctx, text, st)
}

// Each runs the statements of a script in order and yields the result of each,
// or its error beside a Result with nothing but its SQL. It goes on after an
// error for as long as the caller does, unless ctx has ended. Text that does not
// divide into statements yields one error.
func (db *DB) Each(ctx context.Context, script string) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		stmts, err := sql.Parse(script)
		if err != nil {
			yield(&Result{SQL: script}, described(script, err))
			return
		}
		for _, st := range stmts {
			r, err := db.statement(ctx, script, st)
			if err != nil {
				r = &Result{SQL: st.Text}
			}
			if !yield(r, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// statementError is an error of a statement, described with its place in the
// text.
type statementError struct {
	message string
	err     error
}

func (e *statementError) Error() string { return e.message }
func (e *statementError) Unwrap() error { return e.err }

func described(text string, err error) error {
	return &statementError{sql.Describe(text, err), err}
}

func parseOne(text string) (*sql.Statement, error) {
	stmts, err := sql.Parse(text)
	if err != nil {
		return nil, described(text, err)
	}
	switch len(stmts) {
	case 0:
		return nil, errors.New("there is no statement: write one, such as SELECT COUNT(*) FROM t")
	case 1:
	default:
		return nil, fmt.Errorf("there are %d statements where one is expected: give them one at a time", len(stmts))
	}
	return stmts[0], nil
}

// statement runs one statement of a script.
func (db *DB) statement(ctx context.Context, script string, st *sql.Statement) (*Result, error) {
	if st.Explain {
		x, err := db.explain(ctx, script, st, st.Analyze, false)
		if err != nil {
			return nil, err
		}
		r := x.result()
		r.SQL = st.Text
		return r, nil
	}
	b, err := db.bind(ctx, st)
	if err != nil {
		return nil, described(script, err)
	}
	r, err := b.run(ctx)
	if err != nil {
		return nil, described(script, err)
	}
	return r, nil
}

// bound is a statement whose names have been found and whose tables are in
// memory.
type bound struct {
	db    *DB
	text  string
	query *expr.Query
	table *table.Table
	load  time.Duration // reading files, for this statement
}

func (db *DB) bind(ctx context.Context, st *sql.Statement) (*bound, error) {
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
	t, ok := c.Table(q.Table)
	if !ok {
		return nil, fmt.Errorf("engine: no table %s", q.Table)
	}
	return &bound{db: db, text: st.Text, query: q, table: t, load: c.accountFor(q.Table)}, nil
}

// run plans and executes a SELECT.
func (b *bound) run(ctx context.Context) (*Result, error) {
	start := time.Now()
	p, err := plan.NewQuery(b.table, b.query)
	if err != nil {
		return nil, err
	}
	var r *Result
	err = b.db.try(p, func(c candidate) error {
		answer, err := c.backend.Execute(ctx, p)
		if err != nil {
			return err
		}
		r, err = b.result(c.backend.Name(), answer)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.Elapsed = max(0, time.Since(start)-(r.Load-b.load))
	return r, nil
}

// result computes the select items from the aggregates' values.
func (b *bound) result(backend string, a *plan.Answer) (*Result, error) {
	r := &Result{
		SQL: b.text, Backend: backend, Passes: a.Passes, Samples: a.Samples,
		Load: b.load + a.Load + b.db.accountForOpening(),
	}
	if len(a.Values) != len(b.query.Aggs) {
		return nil, fmt.Errorf("engine: backend %s gave %d values for %d aggregates", backend, len(a.Values), len(b.query.Aggs))
	}
	env := &expr.Env{Agg: func(i int) table.Value { return a.Values[i] }}
	var row []table.Value
	for _, item := range b.query.Items {
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
