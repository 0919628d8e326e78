package engine

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// A key of few new rows is looked for in the table ([DB.RowsOfKey]); more rows are joined with it.
const (
	fewKeys  = 64  // new rows that are looked for one by one in any table, and
	keysPart = 256 // this part of the rows of a larger one
)

// newKey is what a new row, or one that changes, has in the columns of a key.
type newKey []table.Value

// newKeys are the keys that a change gives to rows, without those with a NULL.
func newKeys(k storage.Key, c *storage.Change, before *table.Table) (list []newKey) {
	add := func(value func(col int) table.Value) {
		if values := valuesOfKey(&k, value); values != nil {
			list = append(list, values)
		}
	}
	for _, chunk := range c.Append {
		for i := range chunk.Rows {
			add(func(col int) table.Value { return chunk.Segments[col].Value(i) })
		}
	}
	if len(c.Update) == 0 {
		return list
	}
	for i, row := range c.Update[0].Rows {
		add(func(col int) table.Value {
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

// valuesOfKey are a row's values of a key; nil where one is NULL.
func valuesOfKey(k *storage.Key, value func(col int) table.Value) (values []table.Value) {
	for _, col := range k.Columns {
		v := value(col)
		if v.Null {
			return nil
		}
		values = append(values, v)
	}
	return values
}

// bytes tells the key from others of the same columns.
func (k newKey) bytes() (out []byte) {
	for _, v := range k {
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
func (m *mutation) apart(ctx context.Context, k storage.Key, c *storage.Change, before *table.Table) (bool, error) {
	gone := c.Delete // rows whose keys are free, ascending
	if changes(k, c) {
		gone = union(gone, c.Update[0].Rows)
	} else {
		c = &storage.Change{Append: c.Append} // what is updated keeps its keys
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
			rows, ok, err := m.db.rowsOfKey(ctx, &k, key, chunk)
			if !ok || err != nil {
				return false, err
			}
			for _, at := range rows {
				if _, free := slices.BinarySearch(gone, first+int(at)); !free {
					return false, nil
				}
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
