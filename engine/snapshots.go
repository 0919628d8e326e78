package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/table"
)

// snapshots counts the statements that run on each snapshot of a table. What is
// resident of a snapshot's segments is released when the last snapshot that has them is
// neither a table's any more nor in use.
type snapshots struct {
	mu       sync.Mutex
	uses     map[*table.Table]int
	releases parallel.Group  // under way
	last     <-chan struct{} // closed when the last of them is done; nil for none
}

// use counts a statement on a snapshot. With s.mu.
func (s *snapshots) use(t *table.Table) {
	if s.uses == nil {
		s.uses = map[*table.Table]int{}
	}
	s.uses[t]++
}

// replace makes t, which must not change afterwards, the snapshot of the table of its
// name: statements that begin from now on read it, those under way go on with the one
// that they began with. The table must have been read or added, with the same fields.
func (db *DB) replace(t *table.Table) error {
	e := db.entry(t.Name)
	if e == nil {
		return fmt.Errorf("engine: no table %s to replace", t.Name)
	}
	db.snapshots.mu.Lock()
	defer db.snapshots.mu.Unlock()
	old := e.table.Load()
	if old == nil || !slices.Equal(old.Fields, t.Fields) {
		return fmt.Errorf("engine: table %s has other fields, or has not been read: it cannot be replaced", t.Name)
	}
	e.table.Store(t)
	db.forget(old)
	return nil
}

// forget lets go of a snapshot that a table has no more; with db.snapshots.mu.
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
func (db *DB) pin(e *entry) (t *table.Table, unpin func()) {
	tables, unpin := db.pinAll([]*entry{e})
	return tables[0], unpin
}

// pinAll returns the snapshots that tables have at one moment, between two changes, and what ends their use.
func (db *DB) pinAll(entries []*entry) (list []*table.Table, unpin func()) {
	list, unpin = db.pinAhead(entries)
	_ = settle(context.Background(), list)
	return list, unpin
}

// pinAhead is pinAll of tables whose codes may be on the device before they are in host memory.
func (db *DB) pinAhead(entries []*entry) (list []*table.Table, unpin func()) {
	db.snapshots.mu.Lock()
	defer db.snapshots.mu.Unlock()
	for _, e := range entries {
		t := e.table.Load()
		list = append(list, t)
		db.snapshots.use(t)
	}
	return list, func() {
		db.snapshots.mu.Lock()
		defer db.snapshots.mu.Unlock()
		for i, t := range list {
			db.unused(entries[i].name, t)
		}
	}
}

// pinned keeps a table that is no entry's, of a statement that has joined others, until the function
// is called.
func (db *DB) pinned(t *table.Table) (unpin func()) {
	db.snapshots.mu.Lock()
	defer db.snapshots.mu.Unlock()
	db.snapshots.use(t)
	return func() {
		db.snapshots.mu.Lock()
		defer db.snapshots.mu.Unlock()
		db.unused("", t)
	}
}

// unused ends a statement's use of a snapshot, of the table of a name, if any. With db.snapshots.mu.
func (db *DB) unused(name string, t *table.Table) {
	s := &db.snapshots
	if s.uses[t]--; s.uses[t] > 0 {
		return
	}
	delete(s.uses, t)
	if e := db.committed.entry(name); e == nil || e.table.Load() != t {
		db.release(t)
	}
}

// free reports segments of a snapshot that a table has now which no other table has, and no statement: a change of the table
// may write to them in place. With db.snapshots.mu, until it has.
func (db *DB) free(t *table.Table) table.Free {
	each := func(do func(*table.Segment)) {
		of := func(t *table.Table) {
			for _, c := range t.Chunks {
				for _, seg := range c.Segments {
					do(seg)
				}
			}
		}
		of(t) // of which two chunks may share one
		for _, other := range db.inMemory() {
			if other != t {
				of(other)
			}
		}
		for other := range db.snapshots.uses {
			of(other)
		}
	}
	var uses map[*table.Segment]int
	few := 4 // that are looked for one by one
	return func(seg *table.Segment) bool {
		if few--; few >= 0 {
			n := 0
			each(func(s *table.Segment) {
				if s == seg {
					n++
				}
			})
			return n == 1
		}
		if uses == nil {
			uses = map[*table.Segment]int{}
			each(func(s *table.Segment) { uses[s]++ })
		}
		return uses[seg] == 1
	}
}

// release has the device drop the segments of a snapshot that no table and no statement
// has any more; what is resident of one from which a change has made another goes over to that. With db.snapshots.mu. It does
// not wait for that.
func (db *DB) release(t *table.Table) {
	d, _, err := db.opened()
	if d == nil || err != nil {
		return
	}
	dead, derived := map[*table.Segment]bool{}, map[*table.Segment]bool{}
	each := func(t *table.Table, dies bool) {
		for _, c := range t.Chunks {
			for _, seg := range c.Segments {
				switch {
				case seg == nil: // not read
				case dies:
					dead[seg] = true
				default:
					delete(dead, seg)
					if seg.Derived() {
						derived[seg] = true
					}
				}
			}
		}
	}
	each(t, true)
	for _, t := range db.inMemory() {
		each(t, false)
	}
	for t := range db.snapshots.uses {
		each(t, false)
	}
	if len(dead) == 0 {
		return
	}
	heirs := table.Heirs(dead, derived)
	before, done := db.snapshots.last, make(chan struct{})
	db.snapshots.last = done
	db.background(func() {
		defer close(done)
		if before != nil { // an heir may die in the next one
			<-before
		}
		d.succeed(slices.Collect(maps.Keys(dead)), heirs)
	})
}

// background runs do beside statements: what is released on a device, or follows it. Close waits for what began before it.
func (db *DB) background(do func()) {
	db.mu.Lock()
	defer db.mu.Unlock()
	told := func() {
		if err := parallel.Call(func() error { do(); return nil }); err != nil {
			db.note("what is no longer used could not be released: " + err.Error())
		}
	}
	if db.closed {
		parallel.Go(told, func(*parallel.Panic) {})
		return
	}
	db.snapshots.releases.Go(told)
}
