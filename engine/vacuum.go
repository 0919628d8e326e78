package engine

import (
	"context"
	"slices"
	"time"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// maintain does VACUUM, which removes deleted rows, and CHECKPOINT, which writes the log of a folder as files. VACUUM does a
// CHECKPOINT, too. ANALYZE looks for its tables: what plans know of values is known from the values as they are.
func (s *Statement) maintain(ctx context.Context) (*Rows, error) {
	db, of := s.db, s.parsed.Upkeep
	if db.tx != nil {
		return nil, s.described(sqlstate.Errorf(sqlstate.ActiveTransaction, "%s cannot run inside a transaction block: COMMIT comes first", of.Verb))
	}
	start := time.Now()
	if err := db.pointing.Acquire(ctx, 1); err != nil {
		return nil, s.described(err)
	}
	defer db.pointing.Release(1)
	if err := db.tables.Writer.Acquire(ctx, 1); err != nil {
		return nil, s.described(err)
	}
	defer db.tables.Writer.Release(1)
	entries, _ := db.tables.Entries()
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	wanted := map[string]bool{}
	for _, t := range of.Tables {
		name, err := t.Of(names)
		if err != nil {
			return nil, s.described(err)
		}
		wanted[name] = true
	}
	var next []newVersion
	var changes []storage.Change
	for _, e := range entries {
		t := settled(e)
		if of.Verb != "VACUUM" || e.Definition == nil || t == nil || db.store != nil && !e.Definition.Temp || len(wanted) > 0 && !wanted[e.Name] {
			continue
		}
		if slices.ContainsFunc(t.Chunks, func(c *table.Chunk) bool { return c.Deleted > 0 }) {
			changes = append(changes, storage.Change{Table: e.Name, Compact: true})
			next = append(next, newVersion{name: e.Name, def: e.Definition, table: t.Compacted()})
		}
	}
	db.install(changes, next)
	switch {
	case of.Verb == "ANALYZE":
	case db.store == nil && of.Verb == "CHECKPOINT":
		db.note("the database is in memory: there is nothing to write (--db DIR keeps one)")
	case db.store != nil:
		if by := db.store.ReadOnly(); by != "" {
			return nil, s.described(sqlstate.Errorf(sqlstate.ReadOnlyTransaction, "%s writes to the database, which is open for reading: %s", of.Verb, by))
		}
		if err := db.checkpoint(ctx, nil); err != nil {
			return nil, s.described(err)
		}
	}
	r := s.empty(ctx)
	r.waited = time.Since(start)
	return r, nil
}
