package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// Problem is something wrong in a folder.
type Problem struct {
	File   string // "" where it is of no one file
	Offset int64  // in the file; -1 where it is not known
	What   string
}

// String is the problem in a line.
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.What
	case p.Offset < 0:
		return p.File + ": " + p.What
	}
	return fmt.Sprintf("%s: at byte %d: %s", p.File, p.Offset, p.What)
}

// Report is what [Verify] has found in a folder, and how much of it was read.
type Report struct {
	Problems []Problem
	Tables   int // whose rows were looked at
	Views    int
	Rows     int // of the tables, without those that are deleted
	Files    int // of tables, whose checksums were compared
	Records  int // of the log
}

// note adds a problem; an error that is none comes back.
func (r *Report) note(err error) error {
	var known *damage
	if !errors.As(err, &known) {
		return err
	}
	r.Problems = append(r.Problems, Problem{known.name, known.offset, known.what})
	return nil
}

// Verify reads all of a folder, without changing it, and returns what is wrong. It looks at checksums of the manifest,
// the log and the files of tables. It looks at invariants of the tables ([table.Table.Check]), NULLs in columns that have none, and keys that
// rows share. Conditions of CHECK are not looked at. An error is of what could not be read.
func Verify(ctx context.Context, dir string) (Report, error) { return verifyAll(ctx, folder(dir)) }

func verifyAll(ctx context.Context, d disk) (r Report, err error) {
	s := &Store{d: d, reader: "it is only looked at"}
	defer s.release()
	var o ingest.Options
	err = s.load(ctx, o)
	if err != nil && s.manifest == nil {
		return r, r.note(err)
	}
	r.Records = s.records
	if err := r.note(err); err != nil {
		return r, err
	}
	whole := err == nil
	for _, t := range s.manifest.Tables {
		sound := true
		for _, p := range t.Files {
			if err := verify(ctx, d, p); err != nil {
				sound = false
				if err := r.note(err); err != nil {
					r.Problems = append(r.Problems, Problem{p.Name, -1, err.Error()})
				}
			}
			r.Files++
		}
		if k := find(s.tables, t.Name); k != nil && !sound && k.table == nil {
			k.table = &table.Table{Name: t.Name, Fields: k.def.Fields} // nothing more is said of it
		}
	}
	if !whole {
		return r, nil
	}
	for _, k := range s.tables {
		if k.def.View != "" {
			r.Views++
			continue
		}
		t, err := s.saved(k).Load(ctx, o)
		if err != nil {
			if err := r.note(err); err != nil {
				return r, err
			}
			continue
		}
		r.Tables, r.Rows = r.Tables+1, r.Rows+t.Rows()
		for _, what := range invariants(k.def, t) {
			r.Problems = append(r.Problems, Problem{"", -1, "table " + k.def.Name + ": " + what})
		}
	}
	return r, nil
}

// invariants are those of a table that are broken.
func invariants(d *Definition, t *table.Table) (list []string) {
	if err := t.Check(); err != nil {
		return []string{err.Error()}
	}
	for i, c := range d.Columns {
		if row, ok := firstNull(t, i); ok && c.NotNull {
			list = append(list, fmt.Sprintf("column %s is NOT NULL, and row %d has NULL", d.Fields[i].Name, row))
		}
	}
	for _, k := range d.Keys {
		for _, i := range k.Columns {
			if row, ok := firstNull(t, i); ok && k.Primary {
				list = append(list, fmt.Sprintf("column %s of the primary key has NULL in row %d", d.Fields[i].Name, row))
			}
		}
		if row, ok := repeated(t, k.Columns); ok {
			list = append(list, fmt.Sprintf("row %d has the values of key %s that a row before it has", row, k.Name))
		}
	}
	return list
}

// firstNull is the first row that has NULL in a column.
func firstNull(t *table.Table, col int) (row int, ok bool) {
	for _, c := range t.Chunks {
		if s := c.Segments[col]; s.Nulls > 0 {
			for i := range c.Rows {
				if c.IsLive(i) && s.IsNull(i) {
					return row + i, true
				}
			}
		}
		row += c.Rows
	}
	return 0, false
}

// keysAtOnce bounds the keys that are in memory at a time.
const keysAtOnce = 1 << 22

// repeated is the first row found that has the values of a row before it in columns, none of them NULL.
func repeated(t *table.Table, columns []int) (row int, ok bool) {
	seed := maphash.MakeSeed()
	parts := uint64(t.Rows()/keysAtOnce + 1)
	for p := range parts {
		seen := map[string]bool{}
		first := 0
		for _, c := range t.Chunks {
			var key []byte
			for i := range c.Rows {
				if !c.IsLive(i) {
					continue
				}
				if key, ok = keyOf(key[:0], c, columns, i); !ok || maphash.Bytes(seed, key)%parts != p {
					continue
				}
				if seen[string(key)] {
					return first + i, true
				}
				seen[string(key)] = true
			}
			first += c.Rows
		}
	}
	return 0, false
}

// keyOf appends the values of a row; ok is false where one is NULL.
func keyOf(key []byte, c *table.Chunk, columns []int, row int) (_ []byte, ok bool) {
	for _, col := range columns {
		s := c.Segments[col]
		switch {
		case s.IsNull(row):
			return key, false
		case s.Type.Kind == table.Varchar:
			key = appendText(key, s.Dict[s.Codes.At(row)])
		default:
			key = binary.LittleEndian.AppendUint64(key, s.Base+s.Codes.At(row))
		}
	}
	return key, true
}
