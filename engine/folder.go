package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// openFolder makes the tables of the DB's folder known. Tables that its log has made are in memory. Of the others a column is read
// when a statement needs it, with the changes that the log has of it.
func (db *DB) openFolder(ctx context.Context) error {
	s, err := storage.Open(ctx, db.opts.Folder, ingest.Options{ChunkRows: db.chunkRows(), MemoryLimit: cmp.Or(db.opts.HostMemory, db.most())})
	if err != nil {
		return err
	}
	db.store = s
	for _, saved := range s.Tables() {
		e := catalog.NewEntry(saved.Definition.Name, nil)
		e.Definition = saved.Definition
		switch {
		case saved.Table != nil:
			e.Table.Store(saved.Table)
		case saved.Empty():
			e.Table.Store(&table.Table{Name: e.Name, Fields: e.Definition.Fields})
		default:
			e = db.savedEntry(saved)
		}
		if err := db.register(e); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	if by := s.ReadOnly(); by != "" {
		db.note(fmt.Sprintf("%s is read as it is now: %s", db.opts.Folder, by))
	}
	return nil
}

// savedEntry is that of a table in files.
func (db *DB) savedEntry(saved *storage.Saved) *catalog.Entry {
	e := catalog.NewEntry(saved.Definition.Name, func(ctx context.Context, o ingest.Options) (catalog.Source, error) { return saved.Open(ctx, o) })
	e.Definition, e.DeltaBytes = saved.Definition, saved.DeltaBytes()
	return e
}

// whole is a table of the DB with all of its columns.
func (db *DB) whole(ctx context.Context, name string) (*table.Table, error) {
	e := db.entry(name)
	t, err := db.read(ctx, e, nil)
	if err == nil {
		t, err = db.read(ctx, e, t.All())
	}
	if errors.As(err, new(*ingest.MemoryError)) {
		if db.evict(ctx) {
			return db.whole(ctx, name)
		}
		err = fmt.Errorf("all of table %s has to be in memory here: %w", expr.Ident(name), err)
	}
	return t, err
}

// commit writes what a statement or a transaction has changed to the DB's folder, as one record. From then on statements read
// it. It is there after a crash when wait has returned nil. With tables.one.
func (db *DB) commit(ctx context.Context, changes []storage.Change, next []newVersion) (wait func() error, err error) {
	wait = func() error { return nil }
	if kept := db.lasting(changes); db.store != nil && len(kept) > 0 {
		var apart []string
		for _, n := range next {
			if n.filed {
				apart = append(apart, n.name)
			}
		}
		for _, c := range slices.Backward(kept) {
			if c.From != nil && slices.Contains(apart, c.Define.Name) { // under the name that it had before, too
				apart = append(apart, c.Table)
			}
		}
		pending, err := db.store.Append(kept, apart...)
		if errors.Is(err, storage.ErrClosed) { // while the change was computed
			return nil, ErrClosed
		}
		if err != nil {
			return nil, err
		}
		wait, db.commits.written = pending.Wait, true
	}
	db.install(changes, next)
	if db.store != nil {
		db.lighten(ctx)
	}
	return wait, nil
}

// lighten has a checkpoint shorten the log, where that is due; with tables.one. It runs beside other statements, so that none waits for the
// files of all tables. But it runs at once where the next change would have no room. After an error the log is there, the next commit tells
// of it, and has another one try.
func (db *DB) lighten(ctx context.Context) {
	if failed := db.failed.Swap(nil); failed != nil {
		db.note((*failed).Error())
	}
	switch {
	case db.store.Full() && db.pointing.TryAcquire(1):
		defer db.pointing.Release(1)
		if err := db.checkpoint(ctx, nil); err != nil {
			db.note(err.Error())
		}
	case db.store.Due() && db.later.CompareAndSwap(false, true):
		db.writing.Go(func() {
			defer db.later.Store(false)
			if err := parallel.Call(func() error { return db.checkpointBeside(db.life) }); err != nil && db.life.Err() == nil {
				db.failed.Store(&err)
			}
		})
	}
}

// checkpointBeside is a checkpoint, if one is still due; changes go on while it writes files, where that can be.
func (db *DB) checkpointBeside(ctx context.Context) error {
	if err := db.pointing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer db.pointing.Release(1)
	var b *storage.OnlineCheckpoint
	var unpins []func()
	drawn := false
	err := db.alone(ctx, func() error {
		if !db.store.Due() { // closed, or written by another one
			return nil
		}
		tables := db.lastingTables(ctx)
		if b = db.store.Begin(tables); b == nil {
			return db.checkpoint(ctx, nil)
		}
		for _, t := range tables {
			unpins = append(unpins, db.pinned(t))
		}
		drawn = db.drawn.Swap(false)
		return nil
	})
	if b == nil {
		return err
	}
	err = b.Write(ctx)
	for _, unpin := range unpins {
		unpin()
	}
	finished := false
	if err == nil {
		err = db.alone(ctx, func() (err error) {
			db.commits.written, err = b.Finish()
			db.commits.written, finished = db.commits.written || err != nil, true
			return err
		})
	}
	if !finished {
		b.Drop()
	}
	if err != nil && drawn {
		db.drawn.Store(true)
	}
	return err
}

// alone runs something while no statement changes tables.
func (db *DB) alone(ctx context.Context, do func() error) error {
	if err := db.tables.Writer.Acquire(ctx, 1); err != nil {
		return err
	}
	defer db.tables.Writer.Release(1)
	return do()
}

// lasting are the changes of tables and views that are not temporary.
func (db *DB) lasting(changes []storage.Change) (list []storage.Change) {
	temp := map[string]bool{}
	for _, c := range changes {
		gone, known := temp[c.Table]
		if e := db.tables.Entry(c.Table); !known && e != nil && e.Definition != nil {
			gone = e.Definition.Temp
		}
		if c.Define != nil {
			gone = c.Define.Temp
			temp[c.Define.Name] = gone
		}
		if !gone {
			list = append(list, c)
		}
	}
	return list
}

// lastingTables are the tables of the folder that are in memory, as they are. Those that the log changes are read, if there is room.
func (db *DB) lastingTables(ctx context.Context) (tables []*table.Table) {
	entries, _ := db.tables.Entries()
	for _, e := range entries {
		if e.DeltaBytes > 0 {
			if rows, err := db.inFiles(ctx, e); err == nil && rows == nil {
				_, _ = db.whole(ctx, e.Name)
			}
		}
		if t := e.Table.Load(); e.Definition != nil && !e.Definition.Temp && t != nil && (e.Open == nil || e.DeltaBytes > 0 && t.Has(t.All())) {
			tables = append(tables, t)
		}
	}
	return tables
}

// adding is rows that are in files, on their way into a table.
type adding struct {
	*storage.BulkLoad
	def     *storage.Definition
	creates bool // there is no such table yet
}

// checkpoint writes the tables of the folder as files; with pointing and tables.one. What the log has changed of a table that cannot be read, for it does not
// fit into memory, stays in the log. Unless more is nil, it makes its rows those of their table.
func (db *DB) checkpoint(ctx context.Context, more *adding) error {
	tables := db.lastingTables(ctx)
	entries, _ := db.tables.Entries()
	drawn := db.drawn.Swap(false)
	write := db.store.Checkpoint
	if more != nil {
		write = more.Finish
	}
	compacted, err := write(ctx, tables)
	if errors.Is(err, storage.ErrClosed) {
		err = ErrClosed
	}
	if err != nil && drawn {
		db.drawn.Store(true)
	}
	var next []newVersion
	var changes []storage.Change
	for _, t := range compacted {
		changes = append(changes, storage.Change{Table: t.Name, Compact: true})
		next = append(next, newVersion{name: t.Name, def: db.entry(t.Name).Definition, table: t})
	}
	if more != nil && err == nil {
		c := storage.Change{Table: more.def.Name}
		if more.creates {
			c.Define = more.def
		}
		changes = append(changes, c)
		next = append(slices.DeleteFunc(next, func(n newVersion) bool { return n.name == c.Table }), newVersion{name: c.Table, def: more.def, filed: true})
	}
	for _, e := range entries {
		if e.DeltaBytes == 0 || err != nil || more != nil && e.Name == more.def.Name {
			continue
		}
		if saved := db.store.Saved(e.Name); saved != nil && saved.DeltaBytes() < e.DeltaBytes { // some of it is in files now
			next = append(next, newVersion{name: e.Name, def: e.Definition, filed: true})
		}
	}
	db.install(changes, next)
	db.commits.written = db.commits.written && err != nil
	return err
}

// closeFolder writes what the log has as files, and ends the store.
func (db *DB) closeFolder() error {
	db.end() // a checkpoint that is under way: the one below is of all
	if db.store == nil {
		return nil
	}
	ctx := context.Background()
	if err := db.pointing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer db.writing.Wait() // which finds the store closed
	defer db.pointing.Release(1)
	if err := db.tables.Writer.Acquire(ctx, 1); err != nil {
		return err
	}
	defer db.tables.Writer.Release(1)
	var err error
	if db.commits.written || db.drawn.Load() && db.store.ReadOnly() == "" { // numbers of counters, too, whose statements have failed
		if err = db.checkpoint(ctx, nil); errors.Is(err, ErrClosed) { // by an earlier one, whose error that was
			err = nil
		}
	}
	return errors.Join(err, db.store.Close())
}
