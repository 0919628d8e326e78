package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// resolve is what INSERT ... ON CONFLICT changes of a table whose rows have numbers in db.
func (m *modifying) resolve(ctx context.Context, db *DB, proposed *table.Table, ch storage.Change) ([]storage.Change, error) {
	var all []changedColumn
	for _, c := range proposed.Chunks {
		for i, s := range c.Segments {
			all = append(all, changedColumn{i, s})
		}
	}
	m.rows = proposed
	if err := m.hold(ctx, all); err != nil || len(all) == 0 { // also rows that conflict must be such as the table may have
		return nil, err
	}
	numbered, _ := proposed.Numbered(nil)
	view := m.view(map[string]*table.Table{m.Table: db.entry(m.Table).table.Load(), sql.NewRows: numbered})
	of := m.Conflict
	gone := map[int]bool{} // proposed rows that are not added
	for _, tree := range of.Hits {
		hits, err := m.collected(ctx, view, tree, []table.Field{table.NumberField})
		if err != nil {
			return nil, err
		}
		for _, c := range hits.Chunks {
			for row := range c.Rows {
				gone[int(c.Segments[0].Value(row).I)] = true
			}
		}
	}
	if err := m.twice(proposed, gone); err != nil {
		return nil, err
	}
	added, err := without(proposed, gone)
	if err != nil {
		return nil, err
	}
	ch.Append = added.Chunks
	m.rows, m.changed = added, added.Rows()
	if of.Update != nil {
		fields := []table.Field{table.NumberField}
		for _, col := range of.Set {
			fields = append(fields, m.def.Fields[col])
		}
		t, err := m.collected(ctx, view, of.Update, fields)
		if err != nil {
			return nil, err
		}
		numbers, columns, err := byNumber(t)
		for i, col := range of.Set {
			if err == nil {
				columns[i], err = fitted(m.def, col, columns[i])
			}
		}
		switch {
		case err != nil:
			return nil, err
		case len(numbers) < t.Rows():
			return nil, errTwice
		case len(numbers) > 0:
			for i, col := range of.Set[:of.Assigned] {
				ch.Update = append(ch.Update, storage.Update{Column: col, Rows: numbers, Values: columns[i]})
			}
			chunk := &table.Chunk{Rows: len(numbers), Segments: make([]*table.Segment, len(of.Set))}
			for i, col := range of.Set {
				chunk.Segments[col] = columns[i]
			}
			m.rows = added.With(append(added.Chunks[:len(added.Chunks):len(added.Chunks)], chunk)...)
			m.changed += len(numbers)
		}
	}
	if m.changed == 0 {
		return nil, nil
	}
	return []storage.Change{ch}, nil
}

var errTwice = errors.New("ON CONFLICT DO UPDATE command cannot affect row a second time: rows to insert have the same key; let one of them remain")

// twice finds the proposed rows, of those that are not gone, that conflict with an earlier one, and adds them to these: with DO UPDATE
// that is an error.
func (m *modifying) twice(proposed *table.Table, gone map[int]bool) error {
	seen := make([]map[string]bool, len(m.Conflict.Keys))
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	keys := make([]string, len(seen))
	first := 0
	for _, c := range proposed.Chunks {
		for row := range c.Rows {
			if gone[first+row] {
				continue
			}
			conflicts := false
			for i, k := range m.Conflict.Keys {
				keys[i] = keyOf(c, k.Columns, row)
				conflicts = conflicts || seen[i][keys[i]]
			}
			switch {
			case conflicts && m.Conflict.Update != nil:
				return errTwice
			case conflicts:
				gone[first+row] = true
				continue
			}
			for i := range keys {
				if keys[i] != "" {
					seen[i][keys[i]] = true
				}
			}
		}
		first += c.Rows
	}
	return nil
}

// keyOf is a row's values of a key as one text; "" where one is NULL, which conflicts with nothing.
func keyOf(c *table.Chunk, columns []int, row int) string {
	var b strings.Builder
	for _, col := range columns {
		v := c.Segments[col].Value(row)
		if v.Null {
			return ""
		}
		text := v.String()
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteByte(' ')
		b.WriteString(text)
	}
	return b.String()
}

// without is a table that has no deleted rows, without some of its rows.
func without(t *table.Table, gone map[int]bool) (*table.Table, error) {
	if len(gone) == 0 {
		return t, nil
	}
	var chunks []*table.Chunk
	first := 0
	for _, c := range t.Chunks {
		var rows []int
		for row := range c.Rows {
			if gone[first+row] {
				rows = append(rows, row)
			}
		}
		first += c.Rows
		switch {
		case len(rows) == c.Rows:
			continue
		case len(rows) > 0:
			var err error
			if c, err = c.Delete(rows); err != nil {
				return nil, err
			}
		}
		chunks = append(chunks, c)
	}
	return t.With(chunks...).Compacted(), nil
}

// collected are the rows of a plan as a table with fields.
func (m *modifying) collected(ctx context.Context, db *DB, tree plan.Node, fields []table.Field) (*table.Table, error) {
	rows, err := db.answer(ctx, m.Statement, tree, m.params)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return (&settling{Statement: rows.of}).collect(rows, &table.Table{Name: m.Table, Fields: fields}, all(len(fields)))
}
