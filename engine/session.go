package engine

import (
	"context"
	"fmt"
	"iter"

	"github.com/stencildb/stencildb/sql"
)

// Session runs the statements of one asker in order, as one connection does: BEGIN, COMMIT and ROLLBACK among them begin and
// end a transaction, which the statements between them are in; SAVEPOINT, ROLLBACK TO and RELEASE are for parts of it. One goroutine uses it at a time.
type Session struct {
	db       *DB
	tx       *Tx                  // nil outside of one
	prepared map[string]*prepared // by name
}

// Session starts a session, which [Session.Close] ends.
func (db *DB) Session() *Session { return &Session{db: db} }

// DB is the DB as the session sees it: in a transaction, with the tables of that.
func (s *Session) DB() *DB {
	if s.tx != nil {
		return s.tx.db
	}
	return s.db
}

// Begun reports that a transaction is open.
func (s *Session) Begun() bool { return s.tx != nil }

// Query runs one statement: see [DB.Query].
func (s *Session) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	st, err := s.db.parsed(text)
	switch {
	case err != nil || st.Err() != nil:
	case st.Transaction != nil:
		return s.transact(ctx, text, st)
	case st.Prepared != nil:
		return s.prepare(ctx, text, st, args)
	}
	return s.DB().Query(ctx, text, args...) // which says what is wrong with it
}

// Exec runs one statement: see [DB.Exec].
func (s *Session) Exec(ctx context.Context, text string, args ...any) (Stats, error) {
	rows, err := s.Query(ctx, text, args...)
	if err != nil {
		return Stats{}, err
	}
	return rows.drain()
}

// Each runs the statements of a script in order: see [DB.Each]. A transaction that it leaves open goes on.
func (s *Session) Each(ctx context.Context, script string) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		stmts, err := sql.Parse(script)
		if err != nil {
			yield(nil, described(script, script, err))
			return
		}
		for _, st := range stmts {
			rows, err := s.one(ctx, script, st, len(stmts) == 1)
			if err != nil {
				err = described(script, st.Text, err)
			}
			more := yield(rows, err)
			if rows != nil {
				rows.Close()
			}
			if !more || ctx.Err() != nil {
				return
			}
		}
	}
}

// one runs a statement of a script.
func (s *Session) one(ctx context.Context, script string, st *sql.Statement, alone bool) (*Rows, error) {
	switch {
	case st.Transaction != nil && st.Err() == nil:
		return s.transact(ctx, script, st)
	case st.Prepared != nil && st.Err() == nil:
		return s.prepare(ctx, script, st, nil)
	case alone: // the statement is kept
		return s.DB().Query(ctx, script)
	}
	db := s.DB()
	return db.limited(ctx, func(ctx context.Context) (*Rows, error) {
		of, err := db.prepare(running(ctx, st), script, st)
		if err != nil {
			return nil, err
		}
		return of.query(ctx, nil)
	})
}

// transact begins or ends a transaction. As in PostgreSQL it is only worth a note where there is one already, or none.
func (s *Session) transact(ctx context.Context, script string, st *sql.Statement) (*Rows, error) {
	return s.db.limited(ctx, func(ctx context.Context) (r *Rows, err error) {
		tx := s.tx
		switch {
		case st.Transaction.Verb == "BEGIN" && tx != nil:
			s.db.note("there is already a transaction in progress")
		case st.Transaction.Verb == "BEGIN":
			s.tx, err = s.db.Begin(ctx, TxOptions{ReadOnly: st.Transaction.ReadOnly})
		case tx == nil && st.Transaction.Savepoint != "":
			err = fmt.Errorf("%s can only be used in transaction blocks: BEGIN comes first", st.Transaction.Verb)
		case tx == nil:
			s.db.note("there is no transaction in progress")
		case st.Transaction.Verb == "SAVEPOINT":
			err = tx.Savepoint(ctx, st.Transaction.Savepoint)
		case st.Transaction.Verb == "ROLLBACK TO":
			err = tx.RollbackTo(ctx, st.Transaction.Savepoint)
		case st.Transaction.Verb == "RELEASE":
			err = tx.Release(ctx, st.Transaction.Savepoint)
		case st.Transaction.Verb == "COMMIT":
			s.tx, err = nil, tx.Commit(ctx)
		default:
			s.tx, err = nil, tx.Rollback()
		}
		if err != nil {
			return nil, described(script, st.Text, err)
		}
		return (&Statement{db: s.db, script: script, parsed: st}).empty(ctx), nil
	})
}

// Close ends the session. A transaction that is open is rolled back, which a note says.
func (s *Session) Close() error {
	tx := s.tx
	if tx == nil {
		return nil
	}
	s.tx = nil
	s.db.note("the open transaction is rolled back: end it with COMMIT to keep what it has changed")
	return tx.Rollback()
}

// note tells what may not be what was meant.
func (c *core) note(text string) {
	if c.opts.Note != nil {
		c.opts.Note(text)
	}
}
