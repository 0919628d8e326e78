package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// commits is what the commits of a DB have changed since the oldest open transaction began. Open transactions check it
// when they commit. With the lock of snapshots.
type commits struct {
	count   uint64
	open    map[*Tx]uint64 // transactions, and how many commits there were when they began
	history []commitOf     // since the first of them began
	written bool           // something, to the DB's folder, since its files were; with committed.one
}

// commitOf is what a commit did to one table.
type commitOf struct {
	commit uint64
	table  string
	whole  bool  // it made, dropped or redefined it
	rows   []int // that it updated or deleted, ascending
	gone   []int // rows that it took away, ascending: it counted the others anew
}

// begin notes a transaction that begins.
func (c *commits) begin(tx *Tx) uint64 {
	if c.open == nil {
		c.open = map[*Tx]uint64{}
	}
	c.open[tx] = c.count
	return c.count
}

// end forgets a transaction, and what was noted for it alone.
func (c *commits) end(tx *Tx) {
	delete(c.open, tx)
	first := c.count
	for _, began := range c.open {
		first = min(first, began)
	}
	n := 0
	for n < len(c.history) && c.history[n].commit <= first {
		n++
	}
	c.history = slices.Delete(c.history, 0, n)
}

// note notes a commit for the transactions that are open; tables has its tables as they were before.
func (c *commits) note(changes []storage.Change, tables *catalog.Catalog) {
	if c.count++; len(c.open) == 0 {
		return
	}
	for i := range changes {
		ch := &changes[i]
		of := commitOf{commit: c.count, table: ch.Table, whole: ch.Drop || ch.Define != nil}
		if ch.Define != nil && ch.Define.Name != ch.Table {
			c.history = append(c.history, commitOf{commit: c.count, table: ch.Define.Name, whole: true})
		}
		if !of.whole {
			of.rows = touched(ch)
			if ch.Compact {
				t := tables.Entry(ch.Table).Table.Load()
				if of.whole = t == nil; t != nil { // a statement may have made room since the table was written: see evict
					_, gone := t.Undeleted()
					of.gone = union(gone, ch.Delete)
				}
			}
		}
		c.history = append(c.history, of)
	}
}

// since are the commits to a table that came after the first so many.
func (c *commits) since(first uint64, name string) (list []commitOf) {
	for _, of := range c.history {
		if of.commit > first && of.table == name {
			list = append(list, of)
		}
	}
	return list
}

// touched are the rows that a change updates or deletes, ascending.
func touched(c *storage.Change) []int {
	lists := [][]int{c.Delete}
	for _, u := range c.Update {
		lists = append(lists, u.Rows)
	}
	return union(lists...)
}

// union is the elements of ascending lists, ascending and each once.
func union(lists ...[]int) (out []int) {
	for _, list := range lists {
		if len(list) == 0 || len(out) > 0 && &list[0] == &out[0] && len(list) == len(out) { // an UPDATE's columns have the same rows
			continue
		}
		if len(out) == 0 {
			out = list
			continue
		}
		both := slices.Concat(out, list)
		slices.Sort(both)
		out = slices.Compact(both)
	}
	return out
}

// common is an element that two ascending lists have.
func common(a, b []int) (at int, found bool) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return a[0], true
		case a[0] < b[0]:
			n, _ := slices.BinarySearch(a, b[0])
			a = a[n:]
		default:
			n, _ := slices.BinarySearch(b, a[0])
			b = b[n:]
		}
	}
	return 0, false
}

// conflict is an [ErrConflict].
func conflict(format string, args ...any) error {
	return sqlstate.Also(sqlstate.Errorf(sqlstate.SerializationFailure, "could not serialize access due to concurrent update: "+format+": run the transaction again", args...), ErrConflict)
}

// merged are the transaction's changes for the tables as they are now, and the tables that they make. It is an [ErrConflict]
// where others have changed the same since it began. With tables.one of both.
func (tx *Tx) merged(ctx context.Context) (changes []storage.Change, next []newVersion, err error) {
	moves := map[string]*moved{} // of tables that others have changed
	for name, rows := range tx.base {
		m, err := tx.moved(ctx, name, rows)
		if err != nil {
			return nil, nil, err
		}
		if m != nil {
			moves[name] = m
			continue
		}
		n := newVersion{name: name}
		if e := tx.db.tables.Entry(name); e != nil && e.Open != nil {
			n.def, n.filed = e.Definition, true
			if n.apart, err = rowsOf(ctx, tx.of, tx.of.tables.Entry(name)); err != nil {
				return nil, nil, err
			}
		} else if e != nil {
			n.def, n.table = e.Definition, e.Table.Load()
		}
		next = append(next, n)
	}
	for _, c := range tx.changes {
		if m := moves[c.Table]; m != nil {
			c = m.change(c)
			if m.apart != nil {
				m.after, err = m.after.After(tx.of.tables.Entry(c.Table).Definition.Fields, &c)
			} else {
				m.table, err = c.Apply(m.table)
			}
			if err != nil {
				return nil, nil, err
			}
			m.changes = append(m.changes, c)
		}
		changes = append(changes, c)
	}
	for name, m := range moves {
		e := tx.of.tables.Entry(name)
		if err := tx.keys(ctx, name, e.Definition, m); err != nil {
			return nil, nil, err
		}
		next = append(next, newVersion{name: name, def: e.Definition, table: m.table, filed: m.apart != nil, apart: m.apart})
	}
	return changes, next, nil
}

// moved says where the rows that a transaction has changed are in the present table, which others have changed since.
type moved struct {
	base, now int   // how many rows it had when the transaction began, and has now
	from, to  []int // those that the transaction has changed, as they were numbered when it began, and are now
	before    *table.Table
	table     *table.Table // with
	// Of a table that is not in memory, in the place of before and table:
	apart, after *storage.Rows
	changes      []storage.Change // of the transaction as they are made to it
}

// moved is nil where nobody else has changed a table.
func (tx *Tx) moved(ctx context.Context, name string, base int) (*moved, error) {
	now := tx.of.tables.Entry(name)
	if base < 0 && now != nil {
		return nil, conflict("another transaction has created table %q", name)
	}
	tx.of.snapshots.Lock()
	others := tx.of.commits.since(tx.began, name)
	tx.of.snapshots.Unlock()
	if len(others) == 0 {
		return nil, nil
	}
	m := &moved{base: base}
	for i := range tx.changes {
		c := &tx.changes[i]
		switch {
		case c.Table != name && (c.Define == nil || c.Define.Name != name):
			continue
		case c.Drop || c.Define != nil:
			return nil, conflict("another transaction has changed table %q, which this one drops, truncates or redefines", name)
		}
		rows := touched(c)
		n, _ := slices.BinarySearch(rows, base)
		m.from = union(m.from, rows[:n])
	}
	m.to = m.from
	for _, of := range others {
		if of.whole {
			return nil, conflict("another transaction has dropped, truncated or redefined table %q", name)
		}
		if _, found := common(m.to, of.rows); found {
			return nil, conflict("another transaction has changed a row of table %q that this one changes", name)
		}
		m.to = renumbered(m.to, of.gone)
	}
	var err error
	if m.apart, err = tx.of.inFiles(ctx, now); err != nil {
		return nil, err
	}
	if m.apart != nil {
		m.after, m.now = m.apart, m.apart.Total()
		return m, nil
	}
	if m.before, err = tx.of.whole(ctx, name); err != nil {
		return nil, err
	}
	m.table, m.now = m.before, total(m.before)
	return m, nil
}

// renumbered are rows, ascending, as they are counted once others, ascending, are taken away; none of them is one of these.
func renumbered(rows, gone []int) []int {
	out, before := make([]int, len(rows)), 0
	for i, row := range rows {
		n, _ := slices.BinarySearch(gone[before:], row)
		before += n
		out[i] = row - before
	}
	return out
}

// change is a change of the transaction for the table as it is now.
func (m *moved) change(c storage.Change) storage.Change {
	rows := func(list []int) []int {
		out := make([]int, len(list))
		for i, row := range list {
			if row >= m.base { // which the transaction has added
				out[i] = row - m.base + m.now
				continue
			}
			at, _ := slices.BinarySearch(m.from, row)
			out[i] = m.to[at]
		}
		return out
	}
	c.Delete = rows(c.Delete)
	c.Update = slices.Clone(c.Update)
	for i := range c.Update {
		c.Update[i].Rows = rows(c.Update[i].Rows)
	}
	return c
}

// keys reports a key that the transaction has given to a row and another one, meanwhile, to another.
func (tx *Tx) keys(ctx context.Context, name string, def *storage.Definition, m *moved) error {
	of := &mutation{Statement: &Statement{db: tx.of}, Change: &sql.Change{Table: name}, def: def}
	defer of.unpin()
	if m.apart != nil {
		if err := tx.of.holdsApart(def, m.after.DeltaBytes(), tx.db.tables.Entry(name)); err != nil {
			return err
		}
	}
	for _, k := range def.Keys {
		added := storage.Change{Table: name}
		all := false // the rows that were added are no longer what they were, or others have other keys
		for i := range m.changes {
			c := &m.changes[i]
			added.Append, added.Delete = append(added.Append, c.Append...), union(added.Delete, c.Delete)
			n := len(c.Delete)
			all = all || n > 0 && c.Delete[n-1] >= m.now || changes(k, c)
		}
		rows := &table.Table{Name: newRows, Fields: def.Fields, Chunks: added.Append}
		if m.apart != nil {
			if all {
				rows = nil
			}
			if err := of.keyApart(ctx, k, rows, m.after); errors.Is(err, ErrDuplicateKey) {
				return conflict("%w", err)
			} else if err != nil {
				return err
			}
			continue
		}
		if all {
			rows.Chunks = m.table.Chunks
		} else if apart, err := of.apart(ctx, k, &added, m.before); apart || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := of.unique(ctx, k, rows, m.table); errors.Is(err, ErrDuplicateKey) {
			return conflict("%w", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}
