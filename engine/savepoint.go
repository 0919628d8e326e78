package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// savepoint is a transaction as it was at a SAVEPOINT.
type savepoint struct {
	name    string
	changes int
	base    map[string]int
	entries []*catalog.Entry
	tables  []*table.Table // of entries, kept until the savepoint goes; nil of one whose file does not change
	made    []*catalog.Index
	without int // of the transaction
	// The settings, and what COMMIT would have left of them:
	config, stays *configuration
}

// alone waits until no other statement changes tables, and locks the snapshots.
func (tx *Tx) alone(ctx context.Context) (s *catalog.Snapshots, unlock func(), err error) {
	if err := tx.db.tables.Writer.Acquire(ctx, 1); err != nil {
		return nil, nil, err
	}
	s = &tx.db.snapshots
	s.Lock()
	return s, func() {
		s.Unlock()
		tx.db.tables.Writer.Release(1)
	}, nil
}

// Savepoint notes the transaction as it is now under a name, for [Tx.RollbackTo]. One of the same name before it is hidden until
// this one is released.
func (tx *Tx) Savepoint(ctx context.Context, name string) error {
	if tx.of.backends.IsClosed() {
		return ErrClosed
	}
	s, unlock, err := tx.alone(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := tx.usable(); err != nil { // it may have ended meanwhile
		return err
	}
	p := &savepoint{name: name, changes: len(tx.changes), base: maps.Clone(tx.base)}
	p.entries, _ = tx.db.tables.Entries()
	for _, e := range p.entries {
		var t *table.Table
		if e.Open == nil {
			t = e.Table.Load()
			s.Use(t)
		}
		p.tables = append(p.tables, t)
	}
	tx.mu.Lock()
	p.config, p.stays = tx.db.now(), tx.stays
	p.made, p.without = tx.made.All(), len(tx.without)
	tx.mu.Unlock()
	tx.savepoints = append(tx.savepoints, p)
	return nil
}

// RollbackTo undoes what the transaction has changed since a savepoint, which stays, and releases those after it. After a statement that
// failed, the transaction takes statements again.
func (tx *Tx) RollbackTo(ctx context.Context, name string) error {
	if tx.of.backends.IsClosed() {
		return ErrClosed
	}
	s, unlock, err := tx.alone(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	at, err := tx.savepoint(name)
	if err != nil {
		return err
	}
	p := tx.savepoints[at]
	tx.forgetSavepoints(at + 1)
	now, _ := tx.db.tables.Entries()
	gone := map[*catalog.Entry]*table.Table{} // tables that the transaction has no more, of their entries
	for _, e := range now {
		if e.Open == nil {
			gone[e] = e.Table.Load()
		}
	}
	for i, e := range p.entries {
		switch t := p.tables[i]; {
		case t == nil:
		case gone[e] == t:
			delete(gone, e)
		default:
			s.Use(t)
			e.Table.Store(t)
		}
	}
	tx.db.tables.Restore(p.entries)
	for _, t := range gone {
		tx.db.forget(t)
	}
	tx.changes, tx.base = slices.Clip(tx.changes[:p.changes]), maps.Clone(p.base)
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.failed, tx.stays, tx.without = nil, p.stays, slices.Clip(tx.without[:p.without])
	tx.made.Drop(func(*catalog.Index) bool { return true })
	tx.made.Add(p.made...)
	tx.db.config.Store(p.config)
	return nil
}

// Release forgets a savepoint and those after it; what was changed since stays.
func (tx *Tx) Release(ctx context.Context, name string) error {
	if tx.of.backends.IsClosed() {
		return ErrClosed
	}
	_, unlock, err := tx.alone(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := tx.usable(); err != nil {
		return err
	}
	at, err := tx.savepoint(name)
	if err != nil {
		return err
	}
	tx.forgetSavepoints(at)
	return nil
}

// savepoint is the place of the last savepoint of a name; with the lock of snapshots. Where there is none, the transaction has failed.
func (tx *Tx) savepoint(name string) (int, error) {
	tx.mu.Lock()
	over := tx.over
	tx.mu.Unlock()
	if over {
		return 0, errTxOver
	}
	for at, p := range slices.Backward(tx.savepoints) {
		if p.name == name {
			return at, nil
		}
	}
	err := sqlstate.Errorf(sqlstate.InvalidSavepoint, "savepoint %q does not exist", name)
	tx.fail(err)
	return 0, err
}

// forgetSavepoints releases all savepoints from a place on; with the lock of snapshots.
func (tx *Tx) forgetSavepoints(from int) {
	for _, p := range tx.savepoints[from:] {
		for i, t := range p.tables {
			if t != nil {
				tx.db.unused(p.entries[i].Name, t)
			}
		}
	}
	tx.savepoints = tx.savepoints[:from]
}
