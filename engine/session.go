package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
)

// Session runs the statements of one client in order, as one connection does. BEGIN, COMMIT and ROLLBACK begin and end a transaction with
// the statements between them. SAVEPOINT, ROLLBACK TO and RELEASE are for parts of it. SET changes a setting for the session's statements
// alone, and RESET takes that of the DB again. SET LOCAL lasts until the transaction's end, and a rollback undoes what the transaction has
// SET. The DB's own settings, which [DB.Query] changes with SET, are the session's until its first SET. One goroutine uses it at a time.
type Session struct {
	of       *DB                  // that it is a session of
	db       *DB                  // with the session's settings; the same before the first SET
	tx       *Tx                  // nil outside of one
	held     bool                 // no statement ends it
	before   *configuration       // that it began with
	prepared map[string]*prepared // by name
}

// Session starts a session, which [Session.Close] ends.
func (db *DB) Session() *Session { return &Session{of: db, db: db} }

// DB is the DB as the session sees it: with its settings, and in a transaction, with the tables of that. It is for now: SET, BEGIN and the end of
// a transaction may make it another one.
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
	if s.of.backends.IsClosed() {
		return nil, ErrClosed
	}
	if sql.OfRows(text) { // which is for no session
		return s.DB().Query(ctx, text, args...)
	}
	st, err := s.db.parsed(text)
	switch {
	case err != nil || st.Err() != nil:
	case st.Transaction != nil:
		return s.transact(ctx, text, st)
	case st.Prepared != nil:
		return s.prepare(ctx, text, st, args)
	case st.Setting != nil:
		return s.setting(ctx, text, st)
	}
	return s.DB().Query(ctx, text, args...) // which says what is wrong with it
}

// QueryRow runs one statement for its first row: see [DB.QueryRow].
func (s *Session) QueryRow(ctx context.Context, text string, args ...any) *Row {
	return rowOf(s.Query(ctx, text, args...))
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
		if s.of.backends.IsClosed() {
			yield(nil, ErrClosed)
			return
		}
		stmts, err := s.of.forms.Parse(script)
		if err != nil {
			yield(nil, described(script, script, err))
			return
		}
		for _, st := range stmts {
			rows, err := s.one(ctx, script, st, len(stmts) == 1)
			if err != nil && !errors.Is(err, ErrClosed) {
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
	if s.of.backends.IsClosed() {
		return nil, ErrClosed
	}
	switch {
	case st.Transaction != nil && st.Err() == nil:
		return s.transact(ctx, script, st)
	case st.Prepared != nil && st.Err() == nil:
		return s.prepare(ctx, script, st, nil)
	case st.Setting != nil && st.Err() == nil:
		return s.setting(ctx, script, st)
	case alone: // the statement is kept
		return s.DB().Query(ctx, script)
	}
	db := s.DB()
	db.noteOf(st)
	return db.limited(ctx, func(ctx context.Context) (*Rows, error) {
		of, err := db.prepare(running(ctx, st), script, st)
		if err != nil {
			return nil, err
		}
		return of.query(ctx, nil)
	})
}

// setting runs SET, RESET, SHOW or DISCARD ALL.
func (s *Session) setting(ctx context.Context, script string, st *sql.Statement) (*Rows, error) {
	db := s.DB()
	if verb := st.Setting.Verb; verb == "SET" || verb == "RESET" {
		db = s.own()
	}
	return db.limited(ctx, func(ctx context.Context) (*Rows, error) {
		of := &Statement{db: db, script: script, parsed: st}
		switch {
		case st.Setting.Verb != "DISCARD":
			return of.setting(ctx)
		case s.tx != nil:
			return nil, of.described(sqlstate.Errorf(sqlstate.ActiveTransaction, "DISCARD ALL cannot run inside a transaction block: COMMIT or ROLLBACK comes first"))
		}
		s.discard()
		return of.empty(ctx), nil
	})
}

// discard makes the session one that has just begun.
func (s *Session) discard() {
	clear(s.prepared)
	if s.db != s.of {
		s.db.endPrivate()
		s.db = s.of
	}
}

// own is the DB with settings that are the session's alone; in a transaction, with those of that.
func (s *Session) own() *DB {
	if s.tx == nil && s.db == s.of {
		s.db = s.of.apart()
	}
	return s.DB()
}

// SetBackend is SET backend: see [DB.SetBackend].
func (s *Session) SetBackend(name string) error { return s.own().SetBackend(name) }

// Begin begins a transaction that the session's statements are in until [Session.Commit] or [Session.Rollback]: BEGIN, COMMIT and ROLLBACK as
// statements are errors meanwhile.
func (s *Session) Begin(ctx context.Context, o TxOptions) (err error) {
	if s.of.backends.IsClosed() {
		return ErrClosed
	}
	if s.tx != nil {
		return sqlstate.Errorf(sqlstate.InvalidTransactionState, "the session has a transaction: end it with COMMIT or ROLLBACK")
	}
	if s.tx, err = s.db.Begin(ctx, o); err == nil {
		s.before, s.held = s.tx.left(), true
	}
	return err
}

// Commit ends the transaction: see [Tx.Commit].
func (s *Session) Commit(ctx context.Context) error {
	tx := s.tx
	switch {
	case s.of.backends.IsClosed():
		return ErrClosed
	case tx == nil:
		return errTxOver
	}
	s.tx, s.held = nil, false
	ctx, cancel := s.db.limit(ctx)
	defer cancel()
	if err := tx.Commit(ctx); err != nil {
		return ended(ctx, err)
	}
	if tx.left() != s.before {
		s.own().config.Store(tx.left())
	}
	return nil
}

// Rollback undoes what the transaction has changed. Where none is open it does nothing.
func (s *Session) Rollback() error {
	tx := s.tx
	if tx == nil {
		return nil
	}
	s.tx, s.held = nil, false
	return tx.Rollback()
}

// transact begins or ends a transaction. As in PostgreSQL it is only worth a note where there is one already, or none.
func (s *Session) transact(ctx context.Context, script string, st *sql.Statement) (*Rows, error) {
	return s.db.limited(ctx, func(ctx context.Context) (r *Rows, err error) {
		tx := s.tx
		switch {
		case s.held && st.Transaction.Savepoint == "":
			err = sqlstate.Errorf(sqlstate.InvalidTransactionState, "%s is no statement for a transaction that the program has begun, and ends itself with Commit or Rollback", st.Transaction.Verb)
			tx.fail(err)
		case st.Transaction.Verb == "BEGIN" && tx != nil:
			s.db.note("there is already a transaction in progress")
		case st.Transaction.Verb == "BEGIN":
			err = s.Begin(ctx, TxOptions{ReadOnly: st.Transaction.ReadOnly})
			s.held = false
		case tx == nil && st.Transaction.Savepoint != "":
			err = sqlstate.Errorf(sqlstate.NoActiveTransaction, "%s can only be used in transaction blocks: BEGIN comes first", st.Transaction.Verb)
		case tx == nil:
			s.db.note("there is no transaction in progress")
		case st.Transaction.Verb == "SAVEPOINT":
			err = tx.Savepoint(ctx, st.Transaction.Savepoint)
		case st.Transaction.Verb == "ROLLBACK TO":
			err = tx.RollbackTo(ctx, st.Transaction.Savepoint)
		case st.Transaction.Verb == "RELEASE":
			err = tx.Release(ctx, st.Transaction.Savepoint)
		case st.Transaction.Verb == "COMMIT":
			err = s.Commit(ctx)
		default:
			err = s.Rollback()
		}
		if err != nil {
			return nil, described(script, st.Text, err)
		}
		return (&Statement{db: s.db, script: script, parsed: st}).empty(ctx), nil
	})
}

// Close ends the session: what it has SET and prepared is gone. A transaction that is open is rolled back, which a note says. A session that is
// closed may be used as a new one.
func (s *Session) Close() error {
	defer s.discard()
	if s.tx != nil {
		s.db.note("the open transaction is rolled back: end it with COMMIT to keep what it has changed")
	}
	return s.Rollback()
}

// note tells what may not be what was meant.
func (c *core) note(text string) {
	if c.opts.Note != nil {
		c.opts.Note(text)
	}
}

// noteOf tells what a statement may not mean.
func (c *core) noteOf(st *sql.Statement) {
	for _, text := range st.Notes() {
		c.note(text)
	}
}
