package engine

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/table"
)

// snapshots counts the statements that run on each snapshot of a table.
type snapshots struct {
	mu   sync.Mutex
	uses map[*table.Table]int
}

// Replace makes t, which must not change afterwards, the snapshot of the table of its
// name: statements that begin from now on read it, those under way go on with the one
// that they began with. The table must have been read or added, with the same fields.
func (db *DB) Replace(t *table.Table) error {
	c := &catalog{db: db}
	e := c.entry(t.Name)
	if e == nil {
		return fmt.Errorf("engine: no table %s to replace", t.Name)
	}
	db.snapshots.mu.Lock()
	defer db.snapshots.mu.Unlock()
	if old := e.table.Load(); old == nil || !slices.Equal(old.Fields, t.Fields) {
		return fmt.Errorf("engine: table %s has other fields, or has not been read: it cannot be replaced", t.Name)
	}
	e.table.Store(t)
	db.statements.forget() // they hold the snapshot that they ran on
	return nil
}

// pin returns the snapshot that a table has now, and what ends its use.
func (db *DB) pin(e *entry) (t *table.Table, unpin func()) {
	s := &db.snapshots
	s.mu.Lock()
	defer s.mu.Unlock()
	t = e.table.Load()
	if s.uses == nil {
		s.uses = map[*table.Table]int{}
	}
	s.uses[t]++
	return t, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.uses[t]--; s.uses[t] == 0 {
			delete(s.uses, t)
		}
	}
}
