package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// batch collects what small changes of the log do to a table, and applies it at once. Each change of a row by itself would
// copy the column of a chunk. Rows keep their numbers. So all appended rows come first, then the last values of updated
// rows, then the deletions.
type batch struct {
	chunks []*table.Chunk
	rows   *table.Builder // behind the chunks; nil where there are none
	total  int            // rows of the table with those of the batch
	update map[int]map[int]table.Value
	delete map[int]bool
	cells  int
}

const (
	smallChange = 1 << 12 // rows of a change that is put off,
	someChange  = 1 << 16 // of one of a table that is not in memory
	amendedPart = 8       // of a table's values: where the log changes more, the table is read
)

// batchCells is how many values a batch has at most, about. (A variable for the tests.)
var batchCells = 1 << 20

// changedRows is how many rows a change updates and deletes.
func changedRows(c *Change) int {
	n := len(c.Delete)
	for _, u := range c.Update {
		n += len(u.Rows)
	}
	return n
}

// replay applies a commit of the log.
func (s *Store) replay(ctx context.Context, data []byte, o ingest.Options) error {
	most := 0
	for _, k := range s.tables {
		most = max(most, k.rows)
	}
	commit, err := decode(data, most)
	if err != nil {
		return err
	}
	for i := range commit {
		if err := s.redo(ctx, &commit[i], o); err != nil {
			return err
		}
	}
	return nil
}

// redo applies a change, or puts it off. The rows of a table are read from its files only where the change is of all of them.
func (s *Store) redo(ctx context.Context, c *Change, o ingest.Options) (err error) {
	old := find(s.tables, c.Table)
	if old != nil && (c.Define != nil || c.Compact) { // what was put off is of the columns and the rows before
		if err := old.flush(); err != nil {
			return err
		}
	}
	if s.tables, err = noted(s.tables, c); err != nil || c.Drop {
		return err
	}
	name := c.Table
	if c.Define != nil {
		name = c.Define.Name
	}
	k := find(s.tables, name)
	if old != nil && k.table == nil {
		if len(k.files) == 0 || c.Compact {
			if k.table, err = s.saved(old).Load(ctx, o); err != nil {
				return err
			}
			k.amended = nil
		} else if k.amended == nil {
			k.amended = &delta{}
		}
	}
	if err := fits(k.def.Fields, c); err != nil {
		return err
	}
	for _, n := range c.Sequences {
		if n.Column >= len(k.def.Columns) || k.def.Columns[n.Column].Sequence == nil {
			return fmt.Errorf("column %d of table %s is not counted", n.Column, name)
		}
		k.def.Columns[n.Column].Sequence.Note(n.Last)
	}
	most := smallChange
	if k.amended != nil {
		most = someChange
	}
	if c.Define == nil && !c.Compact && changedRows(c) <= most {
		err = k.putOff(c)
	} else if err = k.flush(); err == nil {
		fields := k.def.Fields
		if old != nil {
			fields = old.def.Fields
		}
		err = k.apply(fields, c)
	}
	if err == nil && k.amended.cells() > batchCells+k.inFiles()*len(k.def.Fields)/amendedPart && !k.large {
		return s.whole(ctx, k, o)
	}
	return err
}

// whole reads a table, of which the log changes much, unless it does not fit into memory.
func (s *Store) whole(ctx context.Context, k *kept, o ingest.Options) error {
	t, err := s.saved(k).Load(ctx, o)
	switch {
	case err == nil:
		k.table, k.amended = t, nil
	case errors.As(err, new(*ingest.MemoryError)):
		k.large = true
	default:
		return err
	}
	return nil
}

// cells is how many values and rows the delta changes in files.
func (a *delta) cells() (n int) {
	if a != nil {
		n = len(a.delete)
		for _, u := range a.update {
			n += len(u.Rows)
		}
	}
	return n
}

// apply applies a change, to the table where it is here, else to what amends its files, which had fields.
func (k *kept) apply(fields []table.Field, c *Change) (err error) {
	if k.amended != nil {
		k.amended, err = k.amended.with(fields, k.inFiles(), c)
		return err
	}
	k.table, err = c.Take(k.table, func(*table.Segment) bool { return true }) // nobody else has it yet
	return err
}

// fits reports a change whose rows are not those of its table's columns.
func fits(fields []table.Field, c *Change) error {
	no := fmt.Errorf("rows for table %s do not fit it", c.Table)
	for _, u := range c.Update {
		if u.Column < 0 || u.Column >= len(fields) || u.Values.Type != fields[u.Column].Type || u.Values.Rows() != len(u.Rows) {
			return no
		}
	}
	for _, ch := range c.Append {
		if len(ch.Segments) != len(fields) {
			return no
		}
		for i, s := range ch.Segments {
			if s.Type != fields[i].Type {
				return no
			}
		}
	}
	return nil
}

// putOff adds a change to the table's batch.
func (k *kept) putOff(c *Change) error {
	b := k.batch
	if b == nil {
		b = &batch{update: map[int]map[int]table.Value{}, delete: map[int]bool{}, total: k.total()}
		k.batch = b
	}
	for _, u := range c.Update {
		if b.update[u.Column] == nil {
			b.update[u.Column] = map[int]table.Value{}
		}
		for i, row := range u.Rows {
			if row >= b.total {
				return fmt.Errorf("row %d of %d is updated", row, b.total)
			}
			b.update[u.Column][row] = u.Values.Value(i)
		}
	}
	for _, row := range c.Delete {
		if row >= b.total {
			return fmt.Errorf("row %d of %d is deleted", row, b.total)
		}
		b.delete[row] = true
	}
	for _, ch := range c.Append {
		if err := b.append(k, ch); err != nil {
			return err
		}
	}
	if b.cells += changedRows(c); b.cells > batchCells {
		return k.flush()
	}
	return nil
}

// append adds rows, few ones to those that are collected.
func (b *batch) append(k *kept, ch *table.Chunk) error {
	b.total += ch.Rows
	if ch.Rows > smallChange {
		b.collect()
		b.chunks = append(b.chunks, ch)
		return nil
	}
	if b.rows == nil {
		b.rows = table.NewBuilder(k.def.Name, k.def.Fields, mergedRows)
	}
	for row := range ch.Rows {
		for i, s := range ch.Segments {
			b.rows.Column(i).Value(s.Value(row))
		}
		if err := b.rows.EndRow(); err != nil {
			return err
		}
	}
	return nil
}

// collect makes chunks of the rows that are collected.
func (b *batch) collect() {
	if b.rows != nil {
		b.chunks = append(b.chunks, b.rows.Table().Chunks...)
		b.rows = nil
	}
}

// flush applies the table's batch.
func (k *kept) flush() (err error) {
	b := k.batch
	if b == nil {
		return nil
	}
	k.batch = nil
	b.collect()
	more, rest := Change{Table: k.def.Name, Append: b.chunks}, Change{Table: k.def.Name, Delete: slices.Sorted(maps.Keys(b.delete))}
	for _, col := range slices.Sorted(maps.Keys(b.update)) {
		u := Update{Column: col, Rows: slices.Sorted(maps.Keys(b.update[col]))}
		values := xslices.Map(u.Rows, func(row int) table.Value { return b.update[col][row] })
		u.Values = table.SegmentOf(k.def.Fields[col].Type, values...)
		rest.Update = append(rest.Update, u)
	}
	for _, c := range []Change{more, rest} {
		if err == nil {
			err = k.apply(k.def.Fields, &c)
		}
	}
	return err
}

// flush applies what was put off of all tables.
func (s *Store) flush() error {
	var err error
	for _, k := range s.tables {
		err = errors.Join(err, k.flush())
	}
	return err
}
