package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// resolve is what INSERT ... ON CONFLICT changes of a table.
func (m *mutation) resolve(ctx context.Context, proposed *table.Table, ch storage.Change) ([]storage.Change, error) {
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
	of := m.Conflict
	gone, update, err := m.conflicting(ctx, proposed)
	if err != nil {
		return nil, err
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
		numbers, columns, err := update()
		for i, col := range of.Set {
			if err == nil {
				columns[i], err = fitted(m.def, col, columns[i])
			}
		}
		switch {
		case err != nil:
			return nil, err
		case len(numbers) > 0:
			for i, col := range of.Set[:of.Assigned] {
				ch.Update = append(ch.Update, storage.Update{Column: col, Rows: numbers, Values: columns[i]})
			}
			chunk := &table.Chunk{Rows: len(numbers), Segments: make([]*table.Segment, len(of.Set))}
			for i, col := range of.Set {
				chunk.Segments[col] = columns[i]
			}
			m.rows = added.With(append(added.Chunks[:len(added.Chunks):len(added.Chunks)], chunk)...)
			if m.changed += len(numbers); m.Returning != nil {
				if m.rows, err = m.asProposed(proposed, gone, chunk, columns[len(of.Set)]); err != nil {
					return nil, err
				}
			}
		}
	}
	if m.changed == 0 {
		return nil, nil
	}
	return []storage.Change{ch}, nil
}

// asProposed are the rows that are added and the rows of the table that are changed, in the order of the proposed rows. by has the numbers
// of the proposed rows for changed.
func (m *mutation) asProposed(proposed *table.Table, gone map[int]bool, changed *table.Chunk, by *table.Segment) (*table.Table, error) {
	of := map[int]int{}
	for row := range changed.Rows {
		of[int(by.Value(row).I)] = row
	}
	b := table.NewBuilder(m.Table, m.def.Fields, 0)
	first := 0
	for _, c := range proposed.Chunks {
		for row := range c.Rows {
			from, at := c, row
			if k, ok := of[first+row]; ok {
				from, at = changed, k
			} else if gone[first+row] { // which WHERE leaves
				continue
			}
			if err := addRow(b, from, at); err != nil {
				return nil, err
			}
		}
		first += c.Rows
	}
	return b.Table(), nil
}

// conflicting returns the proposed rows that conflict with a row of the table, and what DO UPDATE changes. That is the numbers of the
// table's rows, ascending, the columns of Set, and a column of the numbers of the proposed rows. Few rows are looked up by their keys, more
// are joined with the table.
func (m *mutation) conflicting(ctx context.Context, proposed *table.Table) (gone map[int]bool, update func() ([]int, []*table.Segment, error), err error) {
	now := settled(m.db.entry(m.Table))
	if n := proposed.Rows(); m.files == nil && now != nil && now.Has(now.All()) && (n <= fewKeys || n*keysPart <= total(now)) {
		if gone, update, err = m.conflictingFew(ctx, proposed, now); update != nil || err != nil {
			return gone, update, err
		}
	}
	view, err := m.numbered(ctx)
	if err != nil {
		return nil, nil, err
	}
	numbered, _ := proposed.Numbered(nil)
	e := catalog.NewEntry(sql.NewRows, nil)
	e.Table.Store(numbered)
	view.tables.Put(e.Name, e)
	m.unpins = append(m.unpins, m.db.pinned(numbered))
	gone = map[int]bool{}
	for _, tree := range m.Conflict.Hits {
		hits, err := m.collected(ctx, view, tree, []table.Field{table.NumberField})
		if err != nil {
			return nil, nil, err
		}
		for _, c := range hits.Chunks {
			for row := range c.Rows {
				gone[int(c.Segments[0].Value(row).I)] = true
			}
		}
	}
	return gone, func() (numbers []int, columns []*table.Segment, err error) {
		fields := []table.Field{table.NumberField}
		for _, col := range m.Conflict.Set {
			fields = append(fields, m.def.Fields[col])
		}
		fields = append(fields, table.Field{Name: sql.NewRows, Type: table.NumberField.Type})
		t, err := m.collected(ctx, view, m.Conflict.Update, fields)
		if err == nil {
			numbers, columns, err = byNumber(t)
		}
		if err == nil && len(numbers) < t.Rows() {
			err = errTwice
		}
		return numbers, columns, err
	}, nil
}

// pair is a row of a table and a proposed one with the same key.
type pair struct {
	number, new int // in the table, and of the proposed rows
	chunk, by   *table.Chunk
	row, at     int // in chunk and in by
}

// conflictingFew is conflicting that looks for each key; update is nil where that is not to be done.
func (m *mutation) conflictingFew(ctx context.Context, proposed, now *table.Table) (gone map[int]bool, update func() ([]int, []*table.Segment, error), err error) {
	of := m.Conflict
	var where expr.Expr
	var items []plan.Item
	if of.Update != nil {
		p, ok := of.Update.(*plan.Project)
		if !ok {
			return nil, nil, nil
		}
		in := p.Input
		if f, ok := in.(*plan.Filter); ok {
			in, where = f.Input, f.Where
		}
		j, ok := in.(*plan.Join)
		if !ok || where != nil && !ofRow(where) || slices.ContainsFunc(p.Items, func(i plan.Item) bool { return !ofRow(i.E) }) {
			return nil, nil, nil
		}
		for _, side := range j.Inputs() {
			if s, ok := side.(*plan.Scan); !ok || s.Of != nil {
				return nil, nil, nil
			}
		}
		items = p.Items[1:] // the number is known
	}
	gone = map[int]bool{}
	var pairs []pair // of the first key, which is the one of DO UPDATE
	for i := range of.Keys {
		k := &of.Keys[i]
		first := 0
		for _, c := range proposed.Chunks {
			for at := range c.Rows {
				values := valuesOfKey(k, func(col int) table.Value { return c.Segments[col].Value(at) })
				if values == nil {
					continue
				}
				base := 0
				for _, chunk := range now.Chunks {
					rows, ok, err := m.db.rowsOfKey(ctx, k, values, chunk)
					if err != nil || !ok {
						return nil, nil, err
					}
					for _, row := range rows {
						gone[first+at] = true
						if i == 0 {
							pairs = append(pairs, pair{base + int(row), first + at, chunk, c, int(row), at})
						}
					}
					base += chunk.Rows
				}
			}
			first += c.Rows
		}
	}
	return gone, func() (numbers []int, columns []*table.Segment, err error) {
		slices.SortStableFunc(pairs, func(a, b pair) int { return a.number - b.number })
		values := make([][]table.Value, len(items)) // by columns
		for _, p := range pairs {
			value := func(col int) table.Value {
				switch n := len(m.def.Fields); {
				case col < n:
					return p.chunk.Segments[col].Value(p.row)
				case col == n: // of [table.NumberField]
					return table.Int(int64(p.number))
				case col == 2*n+1:
					return table.Int(int64(p.new))
				default:
					return p.by.Segments[col-n-1].Value(p.at)
				}
			}
			if where != nil {
				if holds, err := expr.Eval(where, &expr.Env{Column: value}); err != nil || holds.Null || holds.I == 0 {
					if err != nil {
						return nil, nil, err
					}
					continue
				}
			}
			if n := len(numbers); n > 0 && numbers[n-1] == p.number {
				return nil, nil, errTwice
			}
			numbers = append(numbers, p.number)
			if err := appendItems(values, items, value); err != nil {
				return nil, nil, err
			}
		}
		return numbers, segmentsOf(items, values), nil
	}, nil
}

var errTwice = sqlstate.Errorf(sqlstate.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time: rows to insert have the same key; let one of them remain")

// twice finds the proposed rows that conflict with an earlier proposed one, and adds them to gone; rows of gone are skipped. With DO
// UPDATE such a row is an error.
func (m *mutation) twice(proposed *table.Table, gone map[int]bool) error {
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
func (m *mutation) collected(ctx context.Context, db *DB, tree plan.Node, fields []table.Field) (*table.Table, error) {
	rows, err := db.answer(ctx, m.Statement, tree, m.params)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	t, _, err := (&settling{Statement: rows.of, into: "table " + m.Table}).collect(ctx, rows, &table.Table{Name: m.Table, Fields: fields}, all(len(fields)), false)
	return t, err
}
