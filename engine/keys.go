package engine

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// A key of few new rows is looked for in the table by an index of one of its columns, which is made when it is first needed,
// segment by segment, and kept while the segment is a table's. Queries use it, too. Small segments need none.
const (
	scannedRows = 1 << 12 // rows of a segment that is looked through
	fewKeys     = 64      // new rows that are looked for one by one in any table, and
	keysPart    = 256     // this part of the rows of a larger one
	mostAlike   = 1 << 10 // rows with the same code of one column that are looked at for the others
)

// newKey is what a new row, or one that changes, has in the columns of a key.
type newKey struct {
	row    int // in the table; negative for one that is new
	values []table.Value
}

// newKeys are the keys that a change gives to rows, without those with a NULL.
func newKeys(k storage.Key, c *storage.Change, before *table.Table) (list []newKey) {
	add := func(row int, value func(col int) table.Value) {
		key := newKey{row: row}
		for _, col := range k.Columns {
			v := value(col)
			if v.Null {
				return
			}
			key.values = append(key.values, v)
		}
		list = append(list, key)
	}
	for _, chunk := range c.Append {
		for i := range chunk.Rows {
			add(-1, func(col int) table.Value { return chunk.Segments[col].Value(i) })
		}
	}
	if len(c.Update) == 0 {
		return list
	}
	for i, row := range c.Update[0].Rows {
		add(row, func(col int) table.Value {
			for _, u := range c.Update {
				if u.Column == col {
					return u.Values.Value(i)
				}
			}
			chunk, at := before.At(row)
			return chunk.Segments[col].Value(at)
		})
	}
	return list
}

// bytes tells the key from others of the same columns.
func (k newKey) bytes() (out []byte) {
	for _, v := range k.values {
		if v.Type.Kind == table.Varchar {
			out = append(binary.AppendUvarint(out, uint64(len(v.S))), v.S...)
		} else {
			out = binary.BigEndian.AppendUint64(out, table.Ordinal(v))
		}
	}
	return out
}

// apart reports that the rows which a change makes have other keys than one another and than all other rows of the table
// before it. It is false, too, where looking for them one by one would not pay.
func (m *modifying) apart(ctx context.Context, k storage.Key, c *storage.Change, before *table.Table) (bool, error) {
	if len(c.Append) > 0 && len(c.Update)+len(c.Delete) > 0 {
		return false, nil
	}
	n := changedRows(c)
	if n > fewKeys && n*keysPart > total(before) {
		return false, nil
	}
	seen, list := map[string]bool{}, newKeys(k, c, before)
	for _, key := range list {
		b := string(key.bytes())
		if seen[b] {
			return false, nil
		}
		seen[b] = true
	}
	first := 0
	for _, chunk := range before.Chunks {
		for _, key := range list {
			alone, err := m.apartIn(ctx, k, key, chunk, first, c)
			if !alone || err != nil {
				return false, err
			}
		}
		first += chunk.Rows
	}
	return true, nil
}

// changedRows is the number of rows that a change makes or updates.
func changedRows(c *storage.Change) (n int) {
	for _, chunk := range c.Append {
		n += chunk.Rows
	}
	if len(c.Update) > 0 {
		n += len(c.Update[0].Rows)
	}
	return n
}

// apartIn is apart of one key in a chunk, whose first row has a number.
func (m *modifying) apartIn(ctx context.Context, k storage.Key, key newKey, chunk *table.Chunk, first int, c *storage.Change) (bool, error) {
	codes, lead := make([]uint64, len(k.Columns)), 0
	for i, col := range k.Columns {
		var ok bool
		if codes[i], ok = chunk.Segments[col].Code(key.values[i]); !ok {
			return true, nil
		}
		if chunk.Segments[col].Max > chunk.Segments[k.Columns[lead]].Max {
			lead = i
		}
	}
	same := func(at int) bool {
		for i, col := range k.Columns {
			if seg := chunk.Segments[col]; seg.Codes.At(at) != codes[i] || seg.IsNull(at) {
				return false
			}
		}
		if len(c.Update) > 0 {
			if _, changes := slices.BinarySearch(c.Update[0].Rows, first+at); changes {
				return false
			}
		}
		return chunk.IsLive(at)
	}
	seg := chunk.Segments[k.Columns[lead]]
	if chunk.Rows < scannedRows {
		for at := seg.Codes.Next(0, codes[lead]); at >= 0; at = seg.Codes.Next(at+1, codes[lead]) {
			if same(at) {
				return false, nil
			}
		}
		return true, nil
	}
	x, err := m.db.indexes.ofKey(ctx, k.Name, seg)
	if err != nil {
		return false, err
	}
	rows := x.RowsOf(codes[lead])
	if len(rows) > mostAlike {
		return false, nil
	}
	return !slices.ContainsFunc(rows, func(at uint32) bool { return same(int(at)) }), nil
}

// ofKey is an index of a segment that is a column of a key; it is made at the first call.
func (x *indexes) ofKey(ctx context.Context, name string, s *table.Segment) (*cpu.Index, error) {
	if list := x.at(s); len(list) > 0 {
		return list[0], nil
	}
	made, err := cpu.NewIndex(ctx, name, cpu.IndexKinds[0], s)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.keys == nil {
		x.keys = map[*table.Segment]*cpu.Index{}
	}
	x.keys[s] = made
	x.arrange()
	return made, nil
}

// keep forgets the indexes of keys for segments that no table has any more.
func (x *indexes) keep(tables []*table.Table) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.keys) == 0 {
		return
	}
	live := map[*table.Segment]*cpu.Index{}
	for _, t := range tables {
		for _, c := range t.Chunks {
			for _, s := range c.Segments {
				if made := x.keys[s]; made != nil {
					live[s] = made
				}
			}
		}
	}
	if len(live) < len(x.keys) {
		x.keys = live
		x.arrange()
	}
}
