package storage

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// partRows is the most rows of a file of a table. (A variable for the tests.)
var partRows = 1 << 24

// Checkpoint writes what has changed since the one before as Parquet files, and begins a new log. tables has the snapshots
// as all commits left them, of those that have changed at least; no commit comes meanwhile. One that is not in memory ([Store.Saved])
// may be missing. Many rows that the log adds to it become a file. Many values that it writes have its files written anew. What else it changes
// goes over to the new log. It returns those in which
// rows were deleted without these: the rows of later changes are counted in them. After an error nothing has happened.
func (s *Store) Checkpoint(ctx context.Context, tables []*table.Table) (compacted []*table.Table, err error) {
	return s.checkpoint(ctx, tables, nil)
}

// checkpoint is Checkpoint with rows that are added to a table, unless that is nil.
func (s *Store) checkpoint(ctx context.Context, tables []*table.Table, more *BulkLoad) (compacted []*table.Table, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return nil, err
	}
	if err := s.log.wait(s.log.end); err != nil {
		return nil, err
	}
	var next *manifest
	kepts := s.tables
	if more == nil {
		next = s.manifest.next()
	} else if next = more.to.m; find(kepts, more.def.Name) == nil {
		kepts = append(slices.Clip(kepts), &kept{def: more.def})
	}
	var list []*kept
	var over [][][]byte // records
	for _, k := range kepts {
		files := k.files
		grows := more != nil && k.def.Name == more.def.Name
		if k.amended != nil && !slices.ContainsFunc(tables, func(t *table.Table) bool { return t.Name == k.def.Name }) {
			now, err := s.fold(ctx, k, next, grows)
			if err != nil {
				return nil, fmt.Errorf("storage: %s: table %s cannot be written: %w", s.dir, k.def.Name, err)
			}
			if grows {
				now.files = append(slices.Clip(now.files), more.to.files...)
				now.rows = now.inFiles()
			}
			for _, c := range now.amended.changes(k.def.Name) {
				record, err := record([]Change{c})
				if err != nil {
					return nil, err
				}
				over = append(over, record)
			}
			list = append(list, now)
			next.Tables = append(next.Tables, tableJSON{toJSON(k.def), now.files})
			continue
		}
		if k.changed {
			t, err := k.among(tables)
			if err == nil {
				if rowsIn(t.Chunks) > t.Rows() {
					t = t.Compacted()
					compacted = append(compacted, t)
				}
				files, err = s.write(ctx, k, t, next)
			}
			if err != nil {
				return nil, fmt.Errorf("storage: %s: table %s cannot be written: %w", s.dir, k.def.Name, err)
			}
		}
		if grows {
			files = append(slices.Clip(files), more.to.files...)
		}
		now := &kept{def: k.def, files: files}
		now.rows = now.inFiles()
		list = append(list, now)
		next.Tables = append(next.Tables, tableJSON{toJSON(k.def), files})
	}
	return compacted, s.follow(next, list, over)
}

// next is the manifest after this one, as yet without tables.
func (m *manifest) next() *manifest {
	return &manifest{Format: formatVersion, Log: m.Log + 1, Next: m.Next, Before: m.names()}
}

// follow installs the manifest of a checkpoint, and takes away what no manifest has any more.
func (s *Store) follow(m *manifest, tables []*kept, records [][][]byte) error {
	before := s.log
	if err := s.install(m, tables, records); err != nil {
		return err
	}
	before.file.Close() // all of it is synced, and read no more
	return s.tidy()
}

// among is the snapshot of a table.
func (k *kept) among(tables []*table.Table) (*table.Table, error) {
	i := slices.IndexFunc(tables, func(t *table.Table) bool { return t.Name == k.def.Name })
	if i < 0 {
		return nil, errors.New("it has changed, and is not among the tables")
	}
	return tables[i], nil
}

// write makes files of the rows that the files of a table do not have as they are. The last files are written again if
// they have no more rows than the files behind them. So a table that grows slowly has few files.
func (s *Store) write(ctx context.Context, k *kept, t *table.Table, m *manifest) ([]part, error) {
	var files []part
	if !k.rewrite {
		files = append(files, k.files...)
	}
	rows := t.Rows()
	from := xslices.Sum(files, func(p part) int { return p.Rows })
	if rows < from {
		return nil, fmt.Errorf("its snapshot has %d rows, and its files have %d", rows, from)
	}
	for n := len(files); n > 0 && files[n-1].Rows <= rows-from && rows > from && files[n-1].Rows < partRows; n = len(files) {
		from -= files[n-1].Rows
		files = files[:n-1]
	}
	more, err := s.parts(ctx, k.def.Name, t, from, m)
	return append(files, more...), err
}

// foldedRows is how many rows that the log adds to a table which is not in memory become a file. (A variable for the tests.)
var foldedRows = 1 << 16

// fills reports that the changes in the log of a table that is not in memory take much of the memory. A checkpoint would write them to
// files.
func (s *Store) fills(k *kept) bool {
	if k.amended == nil || s.limit == 0 {
		return false
	}
	return (&delta{chunks: k.amended.chunks}).bytes() > s.limit/8 || s.overwrites(k)
}

// overwrites reports that the values which the log writes to rows of such a table take so much that its files are written anew.
func (s *Store) overwrites(k *kept) bool {
	return s.limit > 0 && (&delta{update: k.amended.update}).bytes() > s.limit/4
}

// fold is a table that is not in memory after a checkpoint. Its rows keep their numbers, and its files stay, so that whoever reads them
// goes on. Rows that the log adds become files where they are many, or all has to.
func (s *Store) fold(ctx context.Context, k *kept, m *manifest, all bool) (*kept, error) {
	if k.amended.columns.moved() || s.overwrites(k) {
		return s.rewritten(ctx, k, m)
	}
	now, t := *k, &table.Table{Name: k.def.Name, Fields: k.def.Fields, Chunks: k.amended.chunks}
	if rowsIn(t.Chunks) < foldedRows && !s.fills(k) && !all {
		return &now, nil
	}
	more, err := s.parts(ctx, k.def.Name, t, 0, m)
	if err != nil {
		return nil, err
	}
	now.files = append(slices.Clip(k.files), more...)
	if now.amended = (&delta{update: k.amended.update, delete: k.amended.delete, columns: k.amended.columns}); len(now.amended.changes("")) > 0 {
		now.rewrite = true
	} else {
		now.amended, now.changed = nil, false
	}
	return &now, nil
}

// rewritten writes new files of a table that is not in memory and whose columns or values differ from those of its files. Its rows keep
// their numbers: those that are deleted are written, too.
func (s *Store) rewritten(ctx context.Context, k *kept, m *manifest) (*kept, error) {
	of := s.saved(k)
	of.amended = &delta{chunks: k.amended.chunks, update: k.amended.update, columns: k.amended.columns}
	rows, err := of.Open(ctx, ingest.Options{MemoryLimit: s.limit})
	if err != nil {
		return nil, err
	}
	most := int64(1 << 28) // bytes of the rows that become a file, about
	if s.limit > 0 {
		most = min(most, s.limit/8)
	}
	now, all := *k, (&table.Table{Fields: k.def.Fields}).All()
	now.files = nil
	for at := 0; at < rows.Groups(); {
		var groups []int
		for bytes := int64(0); at < rows.Groups() && (len(groups) == 0 || bytes+rows.GroupBytes(at, all) <= most); at++ {
			groups, bytes = append(groups, at), bytes+rows.GroupBytes(at, all)
		}
		t, err := rows.ReadGroups(ctx, groups, all, ingest.Options{MemoryLimit: s.limit})
		if err != nil {
			return nil, err
		}
		more, err := s.parts(ctx, k.def.Name, t, 0, m)
		if err != nil {
			return nil, err
		}
		now.files = append(now.files, more...)
	}
	now.rows, now.rewrite = now.inFiles(), true
	if now.amended = (&delta{delete: k.amended.delete}); len(now.amended.delete) == 0 {
		now.amended, now.changed, now.rewrite = nil, false, false
	}
	return &now, nil
}

// fileName is a table's name as far as files may have it.
func fileName(table string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, table)
	return name[:min(len(name), 64)]
}

// summing takes the checksum of what is written.
type summing struct {
	ctx context.Context
	w   io.Writer
	n   int64
	sum uint32
}

// Write implements io.Writer.
func (s *summing) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.w.Write(p)
	s.n, s.sum = s.n+int64(n), crc32.Update(s.sum, castagnoli, p[:n])
	return n, err
}

// verify reports a file whose bytes are not those that were written.
func verify(ctx context.Context, d disk, p part) error {
	f, err := d.open(p.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.size()
	if err != nil {
		return err
	}
	if size != p.Bytes {
		return &damage{p.Name, min(size, p.Bytes), fmt.Sprintf("it has %d bytes, and %d were written", size, p.Bytes)}
	}
	sum := &summing{ctx: ctx, w: io.Discard}
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(f, 0, size), make([]byte, 1<<20)); err != nil {
		return err
	}
	if sum.sum != p.Sum {
		return &damage{p.Name, -1, "its checksum is not that of what was written: it is damaged"}
	}
	return nil
}
