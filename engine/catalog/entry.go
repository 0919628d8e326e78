package catalog

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Entry is a table, or a file to be read into one.
type Entry struct {
	Name       string
	Definition *storage.Definition // of a table that statements may change; nil of one that was added, or of a file
	Private    bool                // a transaction or a change has it alone, under the name of its table; no index is made of it
	ByPath     bool                // of a file that a statement names by its path

	Lock       *semaphore.Weighted         // of 1, held while the file is read
	Table      atomic.Pointer[table.Table] // the snapshot that statements read; nil until the file has been opened
	Open       Opener                      // nil for a table that was added
	Source     Source                      // nil until it has been opened; with Lock
	Damaged    atomic.Bool                 // some of its file is
	prunedRows int                         // rows that statements have read besides the table; with Lock
	Loading    atomic.Int64                // ns, of the reading, until a statement has accounted for it

	File  atomic.Pointer[ingest.File] // nil until then, and of no file; it may have temporary files of what came through a pipe
	Spool atomic.Pointer[spill.File]  // the temporary file of a CSV; nil of no CSV, or of none that has been opened

	DeltaBytes  int64       // bytes of what a folder's log changes of its files; 0 for nothing
	OutOfMemory atomic.Bool // what was read of it took more memory than there was
}

// Source is what a table is read from, column by column or some groups of its rows at a time: an [ingest.File], or [storage.Rows].
type Source interface {
	Read(ctx context.Context, columns []int, o ingest.Options) (*table.Table, error)
	ReadGroups(ctx context.Context, groups, columns []int, o ingest.Options) (*table.Table, error)
	Groups() int
	GroupBytes(group int, columns []int) int64
	ZoneMaps(columns []int) (t *table.Table, ok bool)
	Shape(columns []int) *table.Table
	Changed() bool
}

// Opener opens a source.
type Opener func(context.Context, ingest.Options) (Source, error)

// NewEntry is an entry of a name, of what open opens; nil for a table in memory.
func NewEntry(name string, open Opener) *Entry {
	return &Entry{Name: name, Open: open, Lock: semaphore.NewWeighted(1)}
}

// Close gives the temporary files of the entry's file back, if there are some; statements that would read its CSV spool get err.
func (e *Entry) Close(err error) {
	if f := e.File.Load(); f != nil {
		f.Close()
	}
	if s := e.Spool.Load(); s != nil {
		s.CloseWith(err)
	}
}

// UnreadDeltaBytes is the memory of what changes the entry's files, apart from these, until all is read.
func (e *Entry) UnreadDeltaBytes() int64 {
	if t := e.Table.Load(); t != nil && t.Has(t.All()) {
		return 0
	}
	return e.DeltaBytes
}

// Keys are those of a table that statements may change.
func (e *Entry) Keys() []storage.Key {
	if e.Definition == nil {
		return nil
	}
	return e.Definition.Keys
}
