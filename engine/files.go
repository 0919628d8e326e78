package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// openFile is the table of a file that a statement names. It is kept under what the
// statement calls it until the file changes. No table of the catalog has that name.
func (db *DB) openFile(ctx context.Context, f sql.File) (*table.Table, error) {
	name := f.String()
	old := db.entry(name)
	if old != nil && !db.changed(old) {
		return db.read(ctx, old, nil)
	}
	s, err := SourceOf(f)
	if err != nil {
		return nil, placed(fmt.Errorf("%s: %w", name, err))
	}
	if _, err := ingest.Files(s.Path); err != nil {
		return nil, err
	}
	e := db.sourceEntry(name, s)
	e.ByPath = true
	t, err := db.read(ctx, e, nil)
	if err != nil {
		return nil, placed(err)
	}
	if db.backends.IsClosed() {
		err = ErrClosed
	}
	db.files.Put(name, e)
	if old != nil {
		old.Close(source.ErrChanged)
		db.snapshots.Lock()
		db.release(old.Table.Load())
		db.snapshots.Unlock()
	}
	return t, err
}

// placed is an error of opening a file, which gets a place in the statement where that says something wrong of the file.
func placed(err error) error {
	if errors.As(err, new(*source.OptionError)) {
		return &sql.FileError{Err: err}
	}
	return err
}

// changed reports that a file which a statement named is no more what was read, or that another statement has read it again.
func (db *DB) changed(e *catalog.Entry) bool {
	return e.ByPath && (db.files.Entry(e.Name) != e || e.Source.Changed())
}

// formats are what the functions of [sql.FileFunctions] read.
var formats = map[string]ingest.Format{"read_csv": ingest.CSV, "read_json": ingest.JSON, "read_parquet": ingest.Parquet, "read_arrow": ingest.Arrow}

// SourceOf is a file that a statement names as package ingest takes it.
func SourceOf(f sql.File) (ingest.Source, error) {
	s, err := source.ParsePath(f.Path)
	s.Format, s.Call = formats[f.Function], f.Function != ""
	for _, o := range f.Options {
		if err == nil {
			err = s.Set(o.Name, o.Value)
		}
	}
	return s, err
}
