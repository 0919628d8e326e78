package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/table"
)

// replace makes t, which must not change afterwards, the snapshot of the table of its name. Statements that
// begin from now on read it. Those under way go on with the one that they began with. The table must have
// been read or added, with the same fields.
func (db *DB) replace(t *table.Table) error {
	e := db.entry(t.Name)
	if e == nil {
		return fmt.Errorf("engine: no table %s to replace", t.Name)
	}
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	old := e.Table.Load()
	if old == nil || !slices.Equal(old.Fields, t.Fields) {
		return fmt.Errorf("engine: table %s has other fields, or has not been read: it cannot be replaced", t.Name)
	}
	e.Table.Store(t)
	db.forget(old)
	return nil
}

// forget lets go of a snapshot that a table has no more; with the lock of db.snapshots.
func (db *DB) forget(old *table.Table) {
	db.stars.Purge()
	if db.tx != nil { // which has kept it
		forget(db.statements, old)
		db.unused(old.Name, old)
		return
	}
	for kept := range db.kept {
		forget(kept, old)
	}
	db.release(old)
}

// forget has statements that are kept hold a snapshot no more on which they ran.
func forget(kept *statements, old *table.Table) {
	for _, s := range kept.Values() {
		if s.bound == nil {
			continue
		}
		if ran := s.latest.Load(); ran != nil && slices.Contains(ran.tables, old) {
			s.latest.CompareAndSwap(ran, nil)
		}
		if p := s.pushing.Load(); p != nil && slices.Contains(p.tables, old) {
			s.pushing.CompareAndSwap(p, nil)
		}
	}
}

// pin returns the snapshot that a table has now, and what ends its use.
func (db *DB) pin(e *catalog.Entry) (t *table.Table, unpin func()) {
	tables, unpin := db.pinAll([]*catalog.Entry{e})
	return tables[0], unpin
}

// pinAll returns the snapshots that tables have at one moment, between two changes, and what ends their use.
func (db *DB) pinAll(entries []*catalog.Entry) (list []*table.Table, unpin func()) {
	list, unpin = db.pinUnread(entries)
	_ = settle(context.Background(), list)
	return list, unpin
}

// pinUnread is pinAll of tables whose codes may be on the device before they are in host memory.
func (db *DB) pinUnread(entries []*catalog.Entry) (list []*table.Table, unpin func()) {
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	for _, e := range entries {
		t := e.Table.Load()
		list = append(list, t)
		db.snapshots.Use(t)
	}
	return list, func() {
		db.snapshots.Lock()
		defer db.snapshots.Unlock()
		for i, t := range list {
			db.unused(entries[i].Name, t)
		}
	}
}

// pinned keeps a table that is no entry's, of a statement that has joined others, until the function
// is called.
func (db *DB) pinned(t *table.Table) (unpin func()) {
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	db.snapshots.Use(t)
	return func() {
		db.snapshots.Lock()
		defer db.snapshots.Unlock()
		db.unused("", t)
	}
}

// unused ends a statement's use of a snapshot, of the table of a name, if any. With the lock of db.snapshots.
func (db *DB) unused(name string, t *table.Table) {
	if !db.snapshots.EndUse(t) {
		return
	}
	if e := db.committed.Entry(name); e == nil || e.Table.Load() != t {
		db.release(t)
	}
}

// release makes the device drop the segments of a snapshot that no table and no statement has any more. If a change has made another
// segment of one, what is resident goes over to that. With the lock of db.snapshots. It does not wait for that.
func (db *DB) release(t *table.Table) {
	d, _, err := db.backends.Now()
	if d == nil || err != nil {
		return
	}
	dead, heirs := db.snapshots.Unreferenced(t, db.inMemory())
	if len(dead) == 0 {
		return
	}
	before, done := db.released, make(chan struct{})
	db.released = done
	db.backends.Background(func() {
		defer close(done)
		if before != nil { // an heir may die in the next one
			<-before
		}
		d.Succeed(dead, heirs)
	})
}
