package storage

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// partWriter writes rows of a table as files that no manifest has yet.
type partWriter struct {
	d     disk
	m     *manifest // which numbers the files
	name  string
	files []part // that are written, and synced
	file  file   // that is being written; nil for none
	part  part
	sum   *summing
	rows  *parquet.RowsFile
}

// add writes rows of a table, of which none is deleted, from row from to before row to, as row groups behind those before. Where a file begins with them, nullable
// is as [parquet.NewRowsFile] has it.
func (w *partWriter) add(ctx context.Context, t *table.Table, from, to int, nullable []bool) (err error) {
	defer recovered(&err)
	for from < to {
		if w.file == nil {
			if err := w.begin(ctx, t, nullable); err != nil {
				return err
			}
		}
		n := min(to-from, partRows-w.part.Rows)
		if err := w.rows.Write(t, from, from+n); err != nil {
			return err
		}
		from += n
		if w.part.Rows += n; w.part.Rows == partRows {
			if err := w.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// recovered makes an error of a panic of the Parquet library.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%v", r)
	}
}

func (w *partWriter) begin(ctx context.Context, t *table.Table, nullable []bool) (err error) {
	w.part = part{Name: fmt.Sprintf("%s-%d%s", fileName(w.name), w.m.Next, partSuffix)}
	w.m.Next++
	if w.file, err = w.d.create(w.part.Name); err != nil {
		return err
	}
	w.sum = &summing{ctx: ctx, w: io.NewOffsetWriter(w.file, 0)}
	w.rows, err = parquet.NewRowsFile(w.sum, t, nullable)
	return err
}

// end ends the file that is being written, if there is one.
func (w *partWriter) end() (err error) {
	if w.file == nil {
		return nil
	}
	defer recovered(&err)
	if err := w.rows.Close(); err != nil {
		return err
	}
	if err := w.file.sync(); err != nil {
		return err
	}
	w.part.Bytes, w.part.Sum = w.sum.n, w.sum.sum
	w.files = append(w.files, w.part)
	return w.close()
}

// close lets go of the file that is being written.
func (w *partWriter) close() (err error) {
	if w.file != nil {
		err = w.file.Close()
	}
	w.file = nil
	return err
}

// parts makes files of the rows of a table from one on.
func (s *Store) parts(ctx context.Context, name string, t *table.Table, from int, m *manifest) (files []part, err error) {
	w := &partWriter{d: s.d, m: m, name: name}
	if err = w.add(ctx, t, from, t.Rows(), nil); err == nil {
		err = w.end()
	}
	return w.files, errors.Join(err, w.close())
}

// BulkLoad is rows on their way into a table, in files of their own. The memory need not have room for all of them. A crash leaves none of them. No commit and
// no checkpoint comes between [Store.BulkLoad] and [BulkLoad.Finish], or [BulkLoad.Drop].
type BulkLoad struct {
	s   *Store
	def *Definition
	to  partWriter
}

// BulkLoad begins to add rows to a table, which Finish makes where there is none of the name.
func (s *Store) BulkLoad(def *Definition) (*BulkLoad, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return nil, err
	}
	return &BulkLoad{s, def, partWriter{d: s.d, m: s.manifest.next(), name: def.Name}}, nil
}

// Add adds the rows of a table of the definition's fields, as a row group behind those that were added before. None of its rows is deleted.
func (a *BulkLoad) Add(ctx context.Context, t *table.Table) error {
	nullable := xslices.Map(a.def.Columns, func(c Column) bool { return !c.NotNull })
	return a.written(a.to.add(ctx, t, 0, t.Rows(), nullable))
}

func (a *BulkLoad) written(err error) error {
	if err != nil {
		err = fmt.Errorf("storage: %s: table %s cannot be written: %w", a.s.dir, a.def.Name, err)
	}
	return err
}

// Saved is the table as it will be, apart from those of its rows that are in memory. The store has them in its log alone. No rows are added after it.
func (a *BulkLoad) Saved() (*Saved, error) {
	if err := a.to.end(); err != nil {
		return nil, a.written(err)
	}
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	for _, p := range a.to.files {
		a.s.sound.Store(p.Name, true) // as they have just been written
	}
	k := find(a.s.tables, a.def.Name)
	if k == nil {
		k = &kept{def: a.def}
	}
	saved := a.s.saved(k)
	saved.files = append(saved.files[:len(saved.files):len(saved.files)], a.to.files...)
	return saved, nil
}

// Finish makes the rows those of the table, behind those that it has, by a checkpoint of all tables: see [Store.Checkpoint]. After an error nothing has happened.
func (a *BulkLoad) Finish(ctx context.Context, tables []*table.Table) (compacted []*table.Table, err error) {
	if err := a.to.end(); err != nil {
		return nil, a.written(err)
	}
	if compacted, err = a.s.checkpoint(ctx, tables, a); err == nil {
		a.to.files = nil // they are the table's
	}
	return compacted, err
}

// Drop takes the files of rows that no Finish has made a table's.
func (a *BulkLoad) Drop() {
	if a.to.file == nil && a.to.files == nil {
		return
	}
	_ = a.to.close() // nobody reads it
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if a.s.writable() == nil {
		_ = a.s.tidy() // else the next checkpoint does it
	}
}
