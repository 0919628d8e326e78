package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/stencildb/stencildb/sql"
)

// Query answers exactly one statement. The statements used last are kept, so that a
// text given again is not parsed, bound and planned again; see [DB.Prepare].
func (db *DB) Query(ctx context.Context, text string) (*Result, error) {
	if s := db.statements.get(text); s != nil {
		return s.Query(ctx)
	}
	st, err := parseOne(text)
	if err != nil {
		return nil, err
	}
	return db.statement(ctx, text, st, true)
}

// Each runs the statements of a script in order and yields the result of each,
// or its error beside a Result with nothing but its SQL. It goes on after an
// error for as long as the caller does, unless ctx has ended. Text that does not
// divide into statements yields one error.
func (db *DB) Each(ctx context.Context, script string) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		if s := db.statements.get(script); s != nil {
			r, err := s.Query(ctx)
			if err != nil {
				r = &Result{SQL: s.text}
			}
			yield(r, err)
			return
		}
		stmts, err := sql.Parse(script)
		if err != nil {
			yield(&Result{SQL: script}, described(script, err))
			return
		}
		for _, st := range stmts {
			r, err := db.statement(ctx, script, st, len(stmts) == 1)
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

// statement runs one statement of a script, and keeps it prepared when it is the only
// one.
func (db *DB) statement(ctx context.Context, script string, st *sql.Statement, only bool) (r *Result, err error) {
	ctx, cancel := db.limited(ctx)
	defer cancel()
	defer func() { err = ended(ctx, err) }()
	if st.Explain {
		x, err := db.explain(ctx, script, st, st.Analyze, false)
		if err != nil {
			return nil, err
		}
		r := x.result()
		r.SQL = st.Text
		return r, nil
	}
	tables := db.statements.changes()
	s, err := db.prepare(ctx, script, st)
	if err != nil {
		return nil, err
	}
	if only {
		db.statements.put(s, tables)
	}
	return s.Query(ctx)
}
