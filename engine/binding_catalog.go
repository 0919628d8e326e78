package engine

import (
	"context"
	"strings"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// catalog is what binding a statement reads: the names of the tables in the order in which they were added,
// and a table on demand. Asking for a table opens its file.
func (db *DB) catalog(ctx context.Context) sql.Catalog {
	entries, names, version := db.tables.EntriesAndNames()
	c := sql.Catalog{Version: version, Names: names, Information: sql.InformationSchema, Off: db.off()}
	c.Table = func(i int) (*table.Table, error) {
		if i < len(entries) {
			return db.read(ctx, entries[i], nil)
		}
		return db.inform(ctx, c, i-len(entries))
	}
	c.Definition = func(name string) *storage.Definition {
		if e := db.entry(name); e != nil {
			return e.Definition
		}
		return nil
	}
	c.Texts = func(name string, column int) ([][]string, bool, error) {
		e := db.entry(name)
		if e == nil { // it has gone meanwhile
			return nil, false, nil
		}
		columns := []int{column}
		if t := e.Table.Load(); db.now().hostMemory > 0 && t != nil && !t.Has(columns) {
			if b, _, takes, err := db.batchesOf(ctx, e, columns, catalog.Conditions{}, 0, 0); err != nil || b != nil && takes > b.budget { // which it may be read in
				return nil, false, err
			}
		}
		t, err := db.read(ctx, e, columns)
		if err != nil {
			return nil, false, err
		}
		lists, ok := t.DictionariesOf(column)
		return lists, ok, nil
	}
	c.Open = func(f sql.File) (*table.Table, error) { return db.openFile(ctx, f) }
	return c
}

// inform makes the i-th table of information_schema. Its version is that of the
// catalog that it tells of.
func (db *DB) inform(ctx context.Context, c sql.Catalog, i int) (*table.Table, error) {
	e := db.tables.Information[i]
	if err := e.Lock.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer e.Lock.Release(1)
	old := e.Table.Load()
	if old != nil && old.Version >= c.Version {
		return old, nil
	}
	t, err := sql.Information(c, i)
	if err != nil {
		return nil, err
	}
	t.Version = c.Version
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	e.Table.Store(t)
	if old != nil {
		db.release(old)
	}
	return t, nil
}

// Names are what statements may name, spelled as in SQL.
type Names struct {
	Tables  []string            // views are among them
	Columns map[string][]string // of the tables of these names, as far as they have been opened
	Indexes []string
}

// Names are those that there are. Tables that text names are opened for their columns, as long as ctx lasts. So are the files of
// paths, which have their columns under these.
func (db *DB) Names(ctx context.Context, text string, paths ...string) Names {
	entries, _ := db.tables.Entries()
	n := Names{Columns: map[string][]string{}, Indexes: sql.Written(db.indexes.Names())}
	for _, e := range entries {
		name := sql.Written([]string{e.Name})[0]
		n.Tables = append(n.Tables, name)
		t := e.Table.Load()
		if t == nil && strings.Contains(strings.ToLower(text), strings.ToLower(e.Name)) {
			t, _ = db.read(ctx, e, nil) // what is wrong with it the statement says
		}
		if t != nil {
			n.Columns[name] = writtenColumns(t)
		}
	}
	for _, path := range paths {
		if t, err := db.openFile(ctx, sql.File{Path: path}); err == nil { // what is wrong with it the statement says
			n.Columns[path] = writtenColumns(t)
		}
	}
	return n
}

// writtenColumns are the columns of a table as in SQL.
func writtenColumns(t *table.Table) []string {
	var columns []string
	for _, f := range t.Fields {
		columns = append(columns, f.Name)
	}
	return sql.Written(columns)
}
