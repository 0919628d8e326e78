package storage

import (
	"context"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// OnlineCheckpoint is a checkpoint that commits do not wait for. [Store.Begin] notes the tables as they are, [OnlineCheckpoint.Write] writes these as files while commits go
// on. [OnlineCheckpoint.Finish] begins a new log with what the commits since then have changed.
type OnlineCheckpoint struct {
	s     *Store
	old   []*kept        // the tables when it began
	rows  []*table.Table // snapshots of those that had changed
	from  int64          // where the log ended
	since []Change       // with s.mu: the commits that came then
	apart bool           // with s.mu: they changed a table that is not in memory

	next    *manifest
	now     []*kept  // old with the files that were written
	deleted []Change // their rows that are in the files all the same
}

// Begin begins a checkpoint of tables, snapshots as [Store.Checkpoint] has them, which must not be written to until [OnlineCheckpoint.Write] returns; no commit comes
// meanwhile. It is nil where Checkpoint has to do it at once. That is where the log changes tables that are not in memory, and where a quarter of a table's rows are deleted. Other
// deleted rows stay, in the files and in the log, so that rows keep their numbers. No other checkpoint comes until [OnlineCheckpoint.Finish] or [OnlineCheckpoint.Drop].
func (s *Store) Begin(tables []*table.Table) *OnlineCheckpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writable() != nil || slices.ContainsFunc(s.tables, func(k *kept) bool { return k.amended != nil }) {
		return nil
	}
	for _, t := range tables {
		if all := rowsIn(t.Chunks); all-t.Rows() > all/4 {
			return nil
		}
	}
	s.beside = &OnlineCheckpoint{s: s, old: s.tables, rows: tables, from: s.log.end, next: s.manifest.next()}
	return s.beside
}

// note notes a commit; with s.mu.
func (b *OnlineCheckpoint) note(commit []Change, apart bool) {
	if b != nil {
		b.since, b.apart = append(b.since, commit...), b.apart || apart
	}
}

// Write writes the files.
func (b *OnlineCheckpoint) Write(ctx context.Context) error {
	for _, k := range b.old {
		files := k.files
		if k.changed {
			var gone []int
			t, err := k.among(b.rows)
			if err == nil {
				t, gone = t.Undeleted()
				files, err = b.s.write(ctx, k, t, b.next)
			}
			if err != nil {
				return fmt.Errorf("storage: %s: table %s cannot be written: %w", b.s.dir, k.def.Name, err)
			}
			if len(gone) > 0 {
				b.deleted = append(b.deleted, Change{Table: k.def.Name, Delete: gone})
			}
		}
		now := &kept{def: k.def, files: files}
		now.rows = now.inFiles()
		b.now = append(b.now, now)
	}
	return nil
}

// Finish has the files be those of the tables; no commit comes meanwhile. rest reports that the new log is not empty. After an error nothing has happened. Nor
// has it where a commit since Begin has changed a table that is not in memory. Another checkpoint is due then.
func (b *OnlineCheckpoint) Finish() (rest bool, err error) {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beside = nil
	if err := s.writable(); err != nil {
		return false, err
	}
	if b.apart {
		return true, nil
	}
	if err := s.log.wait(s.log.end); err != nil {
		return false, err
	}
	for _, k := range b.now { // with what counters have counted by now
		b.next.Tables = append(b.next.Tables, tableJSON{toJSON(k.def), k.files})
	}
	records, err := xslices.TryMap(b.deleted, func(c Change) ([][]byte, error) { return record([]Change{c}) })
	if err != nil {
		return false, err
	}
	more, err := s.log.since(b.from)
	if err != nil {
		return false, err
	}
	for _, r := range more {
		records = append(records, [][]byte{r})
	}
	tables := b.now
	for _, c := range slices.Concat(b.deleted, b.since) {
		if tables, err = noted(tables, &c); err != nil {
			return false, err
		}
	}
	return len(records) > 0, s.follow(b.next, tables, records)
}

// Drop ends a checkpoint that is not finished.
func (b *OnlineCheckpoint) Drop() {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	b.s.beside = nil
}
