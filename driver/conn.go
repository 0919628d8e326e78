package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/xslices"
	sqltext "github.com/stencildb/stencildb/sql"
)

// Conn is a connection: a session of the DB that all of them share.
type Conn struct {
	session *engine.Session
	closing func() error // of a DB that is the connection's alone; else nil
	closed  bool
}

// What database/sql may ask of a connection.
var (
	_ driver.ConnBeginTx        = (*Conn)(nil)
	_ driver.ConnPrepareContext = (*Conn)(nil)
	_ driver.ExecerContext      = (*Conn)(nil)
	_ driver.QueryerContext     = (*Conn)(nil)
	_ driver.NamedValueChecker  = (*Conn)(nil)
	_ driver.Pinger             = (*Conn)(nil)
	_ driver.SessionResetter    = (*Conn)(nil)
	_ driver.Validator          = (*Conn)(nil)
)

// Session is the engine's session that the connection is.
func (c *Conn) Session() *engine.Session { return c.session }

// Prepare implements [driver.Conn].
func (c *Conn) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

// PrepareContext parses a statement; its names are resolved when it runs. The engine keeps it by its text.
func (c *Conn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	st, err := engine.Parse(text)
	if err != nil {
		return nil, err
	}
	return &stmt{c, text, st.Params}, nil
}

// Close ends the session; a transaction that is open is rolled back.
func (c *Conn) Close() error {
	c.closed = true
	err := c.session.Close()
	if c.closing != nil {
		err = errors.Join(err, c.closing())
	}
	return err
}

// Begin implements [driver.Conn].
func (c *Conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a transaction, which reads one snapshot.
func (c *Conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if level := sql.IsolationLevel(o.Isolation); level > sql.LevelSnapshot {
		return nil, fmt.Errorf("stencildb: the isolation level %s is not supported: a transaction reads one snapshot, sql.LevelSnapshot", level)
	}
	if c.session.Begun() {
		return nil, errors.New("stencildb: the connection has a transaction, which BEGIN began: end it with COMMIT or ROLLBACK")
	}
	if err := c.session.Begin(ctx, engine.TxOptions{ReadOnly: o.ReadOnly}); err != nil {
		return nil, err
	}
	return transaction{c}, nil
}

// transaction is the open one of a connection.
type transaction struct{ c *Conn }

// Commit implements [driver.Tx].
func (t transaction) Commit() error { return t.c.session.Commit(context.Background()) }

// Rollback implements [driver.Tx].
func (t transaction) Rollback() error { return t.c.session.Rollback() }

// CheckNamedValue makes a parameter the engine's value.
func (c *Conn) CheckNamedValue(v *driver.NamedValue) (err error) {
	if v.Name != "" {
		return fmt.Errorf("stencildb: there are no named parameters: write $%d in the place of %s, and give the value alone", v.Ordinal, v.Name)
	}
	v.Value, err = engine.Parameter(v.Value)
	return err
}

// ExecContext runs a statement, or without parameters several, or none: comments alone.
func (c *Conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) > 0 || sqltext.OfRows(text) && !strings.Contains(text, ";") {
		return c.exec(ctx, text, args)
	}
	var n driver.RowsAffected
	for rows, err := range c.session.Each(ctx, text) {
		if err == nil {
			for rows.Next() { // to its end, where it may fail
			}
			err = rows.Err()
		}
		if err != nil {
			return nil, err
		}
		n += driver.RowsAffected(rows.Stats().Changed)
	}
	return n, nil
}

func (c *Conn) exec(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	st, err := c.session.Exec(ctx, text, values(args)...)
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(st.Changed), nil
}

// QueryContext runs one statement.
func (c *Conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.session.Query(ctx, text, values(args)...)
	if err != nil {
		return nil, err
	}
	return &rows{r}, nil
}

func values(args []driver.NamedValue) []any {
	return xslices.Map(args, func(a driver.NamedValue) any { return a.Value })
}

// Ping implements [driver.Pinger].
func (c *Conn) Ping(ctx context.Context) error {
	_, err := c.session.Exec(ctx, "SELECT 1")
	return err
}

// ResetSession rolls back the transaction that statements may have left open on the connection, and forgets what they have SET and prepared.
func (c *Conn) ResetSession(context.Context) error {
	if c.closed {
		return driver.ErrBadConn
	}
	return c.session.Close()
}

// IsValid implements [driver.Validator].
func (c *Conn) IsValid() bool { return !c.closed }

// stmt is a prepared statement.
type stmt struct {
	c      *Conn
	text   string
	params int
}

var (
	_ driver.StmtExecContext  = (*stmt)(nil)
	_ driver.StmtQueryContext = (*stmt)(nil)
)

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return s.params }

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.exec(ctx, s.text, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.text, args)
}

// Exec and Query are for callers without a context.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) (list []driver.NamedValue) {
	for i, a := range args {
		list = append(list, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return list
}
