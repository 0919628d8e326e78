package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// System answers statements over one table, of which it keeps its own copy.
type System interface {
	// Load takes the table, which does not change afterwards.
	Load(ctx context.Context, t *table.Table) error
	// Prepare readies a statement. Its error is [ErrCannot] where the system is not
	// able to run it.
	Prepare(ctx context.Context, q Query) (Statement, error)
	// Close releases the copy and all statements.
	Close() error
}

// Statement is a prepared statement.
type Statement interface {
	// Run executes it and returns its one row. The error is [ErrCannot] where the
	// system turns out not to be able to.
	Run(ctx context.Context) (Outcome, error)
}

// coldStatement is a statement that can run with its columns not yet on the device.
type coldStatement interface {
	Cold(ctx context.Context) (Outcome, error)
}

// profiledStatement is a statement that can say what each of its passes takes.
type profiledStatement interface {
	Profile(ctx context.Context) ([]PassTime, error)
}

// Work is what part of the paper's machinery a case measures.
type Work int

// The kinds of work.
const (
	// Whole is the statement from the resident columns to its answer.
	Whole Work = iota
	// Copies is only its CopyToDepth passes.
	Copies
	// Selects leaves the selection of its WHERE in the stencil buffer.
	Selects
)

// Query is a statement of one row.
type Query struct {
	// SQL is its text, which stencildb and peers with PostgreSQL's functions take.
	SQL string
	// Work says what part of the paper's machinery is measured, where it is not the
	// statement as a whole.
	Work Work
	// Cannot, when set, says why the table has no such statement, and Alone why its
	// answer cannot be compared with that of peers.
	Cannot, Alone string
	// Peers has the text for peers that lack some of them, by name.
	Peers map[string]string
}

// openBackend returns a backend of package engine as a system.
func openBackend(name string, o engine.Options) (System, error) {
	o.Backend = name
	db, err := engine.Open(o)
	if err != nil {
		return nil, err
	}
	if err := engine.Inspect(db).Ready(); err != nil { // auto would weigh the opening of the device
		return nil, errors.Join(err, db.Close())
	}
	return &backend{db}, nil
}

type backend struct{ db *engine.DB }

// Load implements System. Columns become resident at the first statement that uses
// them.
func (b *backend) Load(_ context.Context, t *table.Table) error { return b.db.Add(t) }

// Close implements System.
func (b *backend) Close() error { return b.db.Close() }

// Prepare implements System.
func (b *backend) Prepare(ctx context.Context, q Query) (Statement, error) {
	st, err := b.db.Prepare(ctx, q.SQL)
	if err != nil {
		return nil, backendError(err)
	}
	if b.db.Backend() == "auto" {
		if err := settle(ctx, st); err != nil {
			return nil, backendError(err)
		}
	}
	return &backendStatement{st}, nil
}

// settle runs a statement as often as auto needs to move columns to the device, where
// they are worth it, and to try what may be the fastest.
func settle(ctx context.Context, st *engine.Statement) error {
	for range 40 {
		if _, err := engine.Collect(st.Query(ctx)); err != nil {
			return err
		}
	}
	return nil
}

type backendStatement struct{ *engine.Statement }

// Run implements Statement.
func (s *backendStatement) Run(ctx context.Context) (Outcome, error) {
	r, err := engine.Collect(s.Query(ctx))
	if err != nil {
		return Outcome{}, backendError(err)
	}
	return Outcome{Answer: answerOf(r.Rows[0])}, nil
}

// answerOf writes the values of a row.
func answerOf(row []table.Value) Answer {
	var a Answer
	for _, v := range row {
		a = append(a, v.String())
	}
	return a
}

// backendError marks what only another backend can do.
func backendError(err error) error {
	if errors.Is(err, engine.ErrUnsupported) || errors.Is(err, engine.ErrDeviceMemory) {
		return fmt.Errorf("%w: %w", ErrCannot, err)
	}
	return err
}
