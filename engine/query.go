package engine

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
)

// Query runs exactly one statement, with values for its parameters $1, $2, ...: integers,
// floats, bool, text, nil, [time.Time], [time.Duration], [*big.Int], [table.Value], and what
// implements [driver.Valuer]. Text takes the type that its place needs, as a literal does. The
// statements used last are kept, so that a text given again is not parsed, bound and
// planned again; see [DB.Prepare]. A query that differs from one of them in its constants alone is not parsed.
func (db *DB) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	return db.limited(ctx, func(ctx context.Context) (*Rows, error) {
		if s := db.known(text); s != nil {
			return s.query(ctx, args)
		}
		if r, ok, err := db.repeated(ctx, text, args); ok {
			return r, err
		}
		s, err := db.statement(ctx, text, true)
		if err != nil {
			return nil, err
		}
		return s.query(ctx, args)
	})
}

// maxStatements is how many statements a DB keeps prepared, and maxKeptText the
// longest text of one, in bytes.
const (
	maxStatements = 128
	maxKeptText   = 64 << 10
)

// known is the statement of a text that was kept, while its names mean the same; else nil.
func (db *DB) known(text string) *Statement {
	if s, ok := db.statements.Get(text); ok && db.means(s) {
		return s
	}
	return nil
}

// means reports that what a statement is bound to is what its names mean.
func (db *DB) means(s *Statement) bool {
	return s.version == db.tables.Version() && s.off == db.off() && !slices.ContainsFunc(s.sources, func(r *read) bool { return db.changed(r.Entry) })
}

// statement is that of a text, which runs then or does not: the one kept from before, while its names mean the same.
func (db *DB) statement(ctx context.Context, text string, runs bool) (*Statement, error) {
	if s := db.known(text); s != nil {
		return s, nil
	}
	st, err := db.parsed(text)
	if err != nil {
		return nil, err
	}
	if runs {
		ctx = running(ctx, st)
	}
	s, err := db.prepare(ctx, text, st)
	if err == nil && s.bound != nil && len(text) <= maxKeptText { // others are the parsed text alone
		db.statements.Add(text, s)
	}
	return s, err
}

// parsed is the one statement of a text: those used last are kept, for all transactions.
func (c *core) parsed(text string) (*sql.Statement, error) {
	if st, ok := c.texts.Get(text); ok {
		return st, nil
	}
	st, err := c.parseOne(text)
	if err != nil {
		return nil, err
	}
	c.noteOf(st)
	if len(text) <= maxKeptText {
		c.texts.Add(text, st)
	}
	return st, err
}

// QueryRow runs one statement for its first row; what is wrong with it [Row.Scan] says.
//
//	var n int
//	err := db.QueryRow(ctx, "SELECT COUNT(*) FROM trips WHERE fare > $1", 50).Scan(&n)
func (db *DB) QueryRow(ctx context.Context, text string, args ...any) *Row {
	return rowOf(db.Query(ctx, text, args...))
}

// Exec runs one statement as [DB.Query] does, reads its answer to the end and says what it
// took.
func (db *DB) Exec(ctx context.Context, text string, args ...any) (Stats, error) {
	rows, err := db.Query(ctx, text, args...)
	if err != nil {
		return Stats{}, err
	}
	return rows.drain()
}

// Each runs the statements of a script in order. It yields the rows of each statement, and closes them when the
// next one's turn comes, or its error as a [*StatementError]. It goes on after an error for as long as the caller
// does, unless ctx has ended. Text that does not divide into statements yields one error. BEGIN, COMMIT, ROLLBACK
// and SET hold only for the statements of the script, which are a [Session]. A transaction that is open at its end
// is rolled back, and a note says so.
func (db *DB) Each(ctx context.Context, script string) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		s := db.Session()
		defer s.Close()
		for rows, err := range s.Each(ctx, script) {
			if !yield(rows, err) {
				return
			}
		}
	}
}

// StatementError is an error of a statement, described with its place in the text. Its kind is told by [StatementError.SQLState].
type StatementError struct {
	SQL     string    // the statement
	At      sql.Place // in the text that the statement is of; zero for none
	message string
	err     error
}

func (e *StatementError) Error() string { return e.message }
func (e *StatementError) Unwrap() error { return e.err }

// SQLState is the code of the error's kind, which is PostgreSQL's: see package sqlstate. A program that uses database/sql finds it, too, with
// errors.As and an interface{ SQLState() string }.
func (e *StatementError) SQLState() string { return string(sqlstate.Of(e.err)) }

// Position is where the error stands in the text of the statement. It is a line and a column, in characters, both from 1, and zeros where
// the error has no place. See [StatementError.At] for the line's text.
func (e *StatementError) Position() (line, column int) { return e.At.Line, e.At.Column }

// described is the error of a statement of a script, once.
func described(script, text string, err error) error {
	var e *StatementError
	if errors.As(err, &e) {
		return err
	}
	return &StatementError{text, sql.PlaceOf(script, err), sql.Describe(script, err), err}
}

// Parse reads exactly one statement, whose names are resolved when it is prepared or run. Its error is a [*StatementError].
func Parse(text string) (*sql.Statement, error) {
	st, err := parseOne(text)
	if err == nil {
		err = st.Err()
	}
	if err != nil {
		return nil, described(text, text, err)
	}
	return st, nil
}

func parseOne(text string) (*sql.Statement, error) { return onlyOne(text, sql.Parse) }

// parseOne is the function of this name; queries that differ from one before in their constants alone are not parsed.
func (c *core) parseOne(text string) (*sql.Statement, error) { return onlyOne(text, c.forms.Parse) }

func onlyOne(text string, parse func(string) ([]*sql.Statement, error)) (*sql.Statement, error) {
	stmts, err := parse(text)
	if err != nil {
		return nil, described(text, text, err)
	}
	switch len(stmts) {
	case 0:
		return nil, described(text, text, sqlstate.Errorf(sqlstate.SyntaxError, "there is no statement: write one, such as SELECT COUNT(*) FROM t"))
	case 1:
	default:
		return nil, described(text, text, sqlstate.Errorf(sqlstate.SyntaxError, "there are %d statements where one is expected: give them one at a time", len(stmts)))
	}
	return stmts[0], nil
}
