package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// A table of a folder that does not fit host memory stays in its files. The changes of its rows are kept apart from them
// ([storage.Rows]). The store keeps committed changes, and a transaction its own changes on top of these.

// rowsEntry is that of a table whose rows are in files, with what changes them kept apart.
func rowsEntry(name string, of *storage.Definition, rows *storage.Rows) *catalog.Entry {
	e := catalog.NewEntry(name, func(context.Context, ingest.Options) (catalog.Source, error) { return rows.Unread(), nil })
	e.Definition, e.DeltaBytes, e.Private = of, rows.DeltaBytes(), true
	return e
}

// rowsOf are the rows of an entry that is in files; nil for another one, and for one that has not been opened.
func rowsOf(ctx context.Context, db *DB, e *catalog.Entry) (*storage.Rows, error) {
	if e == nil || e.Open == nil {
		return nil, nil
	}
	return whatIsRead(ctx, db, e, func(ingest.Options) (*storage.Rows, error) {
		rows, _ := e.Source.(*storage.Rows)
		return rows, nil
	})
}

// inFiles are the rows of a table of the folder that has no room in memory as a whole; nil for another one. A table for which there is room by what its
// files tell is read.
func (db *DB) inFiles(ctx context.Context, e *catalog.Entry) (*storage.Rows, error) {
	t, err := db.read(ctx, e, nil)
	if err != nil || e.Definition == nil || e.Open == nil || t.Has(t.All()) {
		return nil, err
	}
	fits := false
	rows, err := whatIsRead(ctx, db, e, func(o ingest.Options) (*storage.Rows, error) {
		rows, _ := e.Source.(*storage.Rows)
		if rows == nil || o.MemoryLimit == 0 {
			return nil, nil
		}
		bytes := int64(0)
		for i := range rows.Groups() {
			bytes += rows.GroupBytes(i, t.All())
		}
		fits = bytes <= o.MemoryLimit && !e.OutOfMemory.Load()
		return rows, nil
	})
	if rows != nil && fits { // where ctx has ended it may be being written yet
		if _, err = db.read(ctx, e, t.All()); err == nil {
			return nil, nil
		}
		if errors.As(err, new(*ingest.MemoryError)) { // which may take more than they tell
			err = nil
		}
	}
	return rows, err
}

// checkApart is check of a change of a table that is not in memory. It returns the rows after the change, unless nobody asks for them.
func (m *mutation) checkApart(ctx context.Context, before *storage.Rows, c *storage.Change) (after *storage.Rows, err error) {
	if err := m.db.holdsApart(m.def, before.DeltaBytes()+c.Bytes(), m.db.tables.Entry(m.def.Name)); err != nil {
		return nil, err
	}
	if err := m.hold(ctx, changedColumns(c)); err != nil {
		return nil, err
	}
	given := slices.DeleteFunc(slices.Clone(m.def.Keys), func(k storage.Key) bool { return len(c.Append) == 0 && !changes(k, c) })
	if len(given) == 0 && m.db.tx == nil && m.merged == nil {
		return nil, nil
	}
	if after, err = before.After(m.def.Fields, c); err != nil {
		return nil, err
	}
	for _, k := range given {
		if err := m.keyApart(ctx, k, m.keyedRows(k, c), after); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// keyedRows are the rows to which a change gives a key, with the columns of the key. It is nil where the change does not have
// all of these columns.
func (m *mutation) keyedRows(k storage.Key, c *storage.Change) *table.Table {
	rows := &table.Table{Name: newRows, Fields: m.def.Fields, Chunks: c.Append}
	if !changes(k, c) {
		return rows
	}
	chunk := &table.Chunk{Rows: len(c.Update[0].Rows), Segments: make([]*table.Segment, len(m.def.Fields))}
	for _, u := range c.Update {
		chunk.Segments[u.Column] = u.Values
	}
	if slices.ContainsFunc(k.Columns, func(col int) bool { return chunk.Segments[col] == nil }) {
		return nil
	}
	rows.Chunks = append(slices.Clip(rows.Chunks), chunk)
	return rows
}

// keyApart fails where two rows of a table that is not in memory have the same key. One of them must be one of rows; with nil it may be
// any two rows.
func (m *mutation) keyApart(ctx context.Context, k storage.Key, rows *table.Table, all *storage.Rows) error {
	tables := map[string]*table.Table{}
	if rows != nil {
		if tables[newRows] = rows; rows.Rows() == 0 {
			return nil
		}
	}
	view, err := m.viewOf(ctx, tables, m.def, all)
	switch {
	case err != nil:
		return err
	case rows != nil:
		return m.lacks(ctx, k, view)
	}
	values, err := m.repeated(ctx, view, m.Table, m.def.Fields, k)
	if err == nil && values != nil {
		err = m.duplicate(k, values)
	}
	return err
}

// holdsApart fails where the changes of the tables that are not in memory take too much. bytes replace those of the entry of one of them.
// Half of the budget is for reading the tables.
func (db *DB) holdsApart(of *storage.Definition, bytes int64, in *catalog.Entry) error {
	limit := db.now().hostMemory
	if limit == 0 {
		return nil
	}
	_, apart := db.transactionBytes(in)
	entries, _ := db.committed.Entries()
	for _, e := range entries {
		if e.Name != of.Name {
			apart += e.UnreadDeltaBytes()
		}
	}
	if apart+bytes > limit/2 {
		return sqlstate.Also(sqlstate.Errorf(sqlstate.OutOfMemory, "what is changed of tables that are not in memory, now of table %s, takes more than half of the host memory budget: raise it (--host-memory), or change fewer rows", expr.Ident(of.Name)), errNoRoom)
	}
	return nil
}

// viewOf is [mutation.View] with a table whose rows are in files.
func (m *mutation) viewOf(ctx context.Context, tables map[string]*table.Table, of *storage.Definition, rows *storage.Rows) (*DB, error) {
	view, e := m.view(tables), rowsEntry(of.Name, of, rows)
	view.tables.Put(e.Name, e)
	_, err := view.read(ctx, e, nil)
	return view, err
}

// transactionBytes is what open transactions have of tables in files, besides the committed entries and one more entry. read are columns
// that have been read; apart are the changes of their files.
func (c *core) transactionBytes(but *catalog.Entry) (read, apart int64) {
	c.snapshots.Lock()
	defer c.snapshots.Unlock()
	counted := map[*catalog.Entry]bool{but: true}
	for tx := range c.commits.open {
		entries, _ := tx.db.tables.Entries()
		for _, e := range entries {
			now := c.committed.Entry(e.Name)
			if e.Open == nil || e == now || counted[e] {
				continue
			}
			counted[e] = true
			if t := e.Table.Load(); t != nil {
				read += t.Bytes()
			}
			apart += e.UnreadDeltaBytes()
			if now != nil { // most of that is the same
				apart -= min(e.UnreadDeltaBytes(), now.UnreadDeltaBytes())
			}
		}
	}
	return read, apart
}

// evictedOnce marks the context of a statement for which room has been made.
type evictedOnce struct{}

// halfFull reports that less than half of the host memory budget is left.
func (db *DB) halfFull() bool {
	left, err := db.hostBudget()
	return err != nil || left < db.now().hostMemory/2
}

// evict drops the columns of the folder's tables and of files that have been read and that no statement uses. It reports that there were some. Statements that
// are bound keep the entries that they have; others are bound again.
func (db *DB) evict(ctx context.Context) bool {
	if ctx.Value(evictedOnce{}) != nil || db.now().hostMemory == 0 {
		return false
	}
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	fresh := map[*catalog.Entry]*catalog.Entry{} // in the place of others
	of := func(c *catalog.Catalog) {
		entries, _ := c.Entries()
		for _, e := range entries {
			t := e.Table.Load()
			if e.Open == nil || t == nil || !hasColumns(t) || db.snapshots.InUse(t) > 0 {
				continue
			}
			if fresh[e] == nil {
				next := unreadEntry(e)
				if next == nil {
					continue
				}
				fresh[e] = next
			}
			c.Put(e.Name, fresh[e])
		}
	}
	of(db.committed)
	of(db.files)
	for tx := range db.commits.open {
		of(tx.db.tables)
	}
	for e := range fresh {
		old := e.Table.Load()
		for kept := range db.kept {
			forget(kept, old)
		}
		for tx := range db.commits.open {
			forget(tx.db.statements, old)
		}
		db.release(old)
	}
	if len(fresh) > 0 {
		db.stars.Purge()
	}
	return len(fresh) > 0
}

// unreadEntry is an entry as if nothing had been read of it; nil of a file that is being read, or is not read twice.
func unreadEntry(e *catalog.Entry) *catalog.Entry {
	next := catalog.NewEntry(e.Name, e.Open)
	next.Definition, next.DeltaBytes, next.Private = e.Definition, e.DeltaBytes, e.Private
	next.OutOfMemory.Store(e.OutOfMemory.Load())
	if e.Definition != nil {
		return next
	}
	if !e.Lock.TryAcquire(1) {
		return nil
	}
	defer e.Lock.Release(1)
	file, ok := e.Source.(*ingest.File)
	of, isCSV := e.Source.(*csvSpool)
	if isCSV {
		file = of.File
	}
	if !ok && !isCSV {
		return nil
	}
	if file = file.Unread(); file == nil {
		return nil
	}
	if next.Source = file; isCSV {
		next.Source = &csvSpool{File: file, name: of.name, fields: of.fields, columns: of.columns, of: of.of}
	}
	next.Lock = e.Lock // the two read the same file
	next.File.Store(e.File.Load())
	next.Spool.Store(e.Spool.Load())
	t, _ := file.Read(context.Background(), nil, ingest.Options{})
	next.Table.Store(t)
	return next
}

// hasColumns reports that some column of a table has been read.
func hasColumns(t *table.Table) bool {
	return slices.ContainsFunc(t.Chunks, func(c *table.Chunk) bool {
		return slices.ContainsFunc(c.Segments[:len(t.Fields)], func(s *table.Segment) bool { return s != nil })
	})
}
