package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// errNoRoom marks errors of rows that the host memory budget has no room for.
var errNoRoom = sqlstate.Errorf(sqlstate.OutOfMemory, "no room in the host memory budget")

func hasNoRoom(err error) bool {
	return errors.Is(err, errNoRoom) || errors.As(err, new(*ingest.MemoryError))
}

// mayAdd reports a statement whose rows may become files of the folder before all of them are known.
func (m *mutation) mayAdd() bool {
	return m.onlyAdds() && m.db.store != nil && m.db.tx == nil && (m.def == nil || !m.def.Temp)
}

// onlyAdds reports a statement that only adds rows, and nobody asks for these.
func (m *mutation) onlyAdds() bool {
	if m.Change == nil { // it was not bound, since the file has no room
		return m.parsed.Copy != nil
	}
	return (m.Verb == "CREATE TABLE" || m.Verb == "INSERT" || m.Verb == "COPY") && m.Rows != nil && m.Conflict == nil && m.Returning == nil
}

// added runs a statement whose rows do not fit memory. Pieces of the rows become files, and a checkpoint adds these to the table. The error
// is noRoom where that cannot be.
func (m *mutation) added(ctx context.Context, noRoom error) (_ *Rows, err error) {
	defer recovered(&err)
	db := m.db
	db.adopts(noRoom)
	if err := db.pointing.Acquire(ctx, 1); err != nil { // no checkpoint comes between
		return nil, err
	}
	defer db.pointing.Release(1)
	if err := db.tables.Writer.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer db.tables.Writer.Release(1)
	if err := db.writes(); err != nil {
		return nil, err
	}
	if db.commits.written { // keys are looked for in files
		if err := db.checkpoint(ctx, nil); err != nil {
			return nil, err
		}
	}
	m.inParts = true
	defer m.unpin()
	_, view, err := m.bind(ctx)
	if err != nil {
		return nil, err
	}
	if !m.mayAdd() || m.Lax {
		return nil, noRoom
	}
	more, err := db.store.BulkLoad(m.def)
	if err != nil {
		return nil, err
	}
	defer more.Drop()
	if err := m.addRows(ctx, view, more); err != nil {
		return nil, err
	}
	r := m.empty(ctx)
	if r.changed = m.changed; m.changed == 0 { // this time
		return nil, noRoom
	}
	if err := m.addedKeys(ctx, more); err != nil {
		return nil, err
	}
	return r, db.checkpoint(ctx, &adding{more, m.def, m.Define != nil})
}

// addRows adds the rows of the statement piece by piece, each as large as an eighth of what is left of the budget.
func (m *mutation) addRows(ctx context.Context, view *DB, more *storage.BulkLoad) error {
	const most = 1 << 20 // rows of a piece
	rows, err := view.answer(ctx, m.Statement, m.Rows, m.params)
	if err != nil {
		return err
	}
	defer rows.Close()
	budget, err := (&settling{Statement: rows.of}).budget(ctx)
	if err != nil {
		return err
	}
	step := pieceOf(m.def.Fields, budget)
	var b *table.Builder
	n := 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		t, err := m.setSequences(&storage.Change{}, b.Table())
		if err == nil {
			t, err = m.fitRows(t)
		}
		if err != nil {
			return err
		}
		m.rows = t
		before := len(m.unpins)
		if err = m.hold(ctx, changedColumns(&storage.Change{Append: t.Chunks})); err == nil {
			err = more.Add(ctx, t)
		}
		for _, f := range m.unpins[before:] {
			f()
		}
		m.unpins, m.rows, m.changed, n = m.unpins[:before], nil, m.changed+n, 0
		return err
	}
	for batch := range rows.rest() {
		for at := 0; at < batch.Len(); {
			if n == 0 {
				b = table.NewBuilder(m.Table, m.def.Fields, m.db.chunkRows())
			}
			part := batch.cut(at, min(batch.Len(), at+step))
			if err := appendAll(b, part, m.def.Fields); err != nil {
				return err
			}
			at, n = at+part.Len(), n+part.Len()
			if int64(b.Bytes()) < budget/8 && n < most {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return flush()
}

// addedKeys fails where two rows of the table as it will be have the same key.
func (m *mutation) addedKeys(ctx context.Context, more *storage.BulkLoad) error {
	if len(m.def.Keys) == 0 {
		return nil
	}
	saved, err := more.Saved()
	if err != nil {
		return err
	}
	limit, err := m.db.hostBudget()
	if err != nil {
		return err
	}
	rows, err := saved.Open(ctx, ingest.Options{ChunkRows: m.db.chunkRows(), MemoryLimit: cmp.Or(limit, m.db.most())})
	if err != nil {
		return err
	}
	defer rows.Close()
	for _, k := range m.def.Keys {
		if err := m.keyApart(ctx, k, nil, rows); err != nil {
			return err
		}
	}
	return nil
}

// copiedFile is COPY FROM's file as a table that is read in parts.
func (m *mutation) copiedFile(ctx context.Context, catalog sql.Catalog) (*DB, error) {
	s, _, err := m.copySource(ctx, catalog)
	if err != nil {
		return nil, err
	}
	e := m.db.sourceEntry(sql.CopiedRows, s)
	m.unpins = append(m.unpins, func() { e.Close(ErrClosed) })
	view := m.view(nil)
	view.tables.Put(e.Name, e)
	t, err := view.read(ctx, e, nil)
	if err != nil {
		return nil, err
	}
	return view, readable(s, t)
}

// readable fails where a column of a file cannot be read.
func readable(s ingest.Source, t *table.Table) error {
	for _, f := range t.Fields {
		if f.Unsupported != "" {
			return sqlstate.Errorf(sqlstate.FeatureNotSupported, "%s: column %s cannot be read: %s", s.Path, f.Name, f.Unsupported)
		}
	}
	return nil
}
