package engine

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// takeNumbers takes the next n numbers of a counted column, n > 0, as a segment; c notes it.
func (db *DB) takeNumbers(c *storage.Change, def *storage.Definition, col, n int) (*table.Segment, error) {
	of, f := def.Columns[col].Sequence, def.Fields[col]
	first, err := of.Take(n, f.Type)
	if err != nil {
		return nil, fmt.Errorf("%w; ALTER TABLE %s ALTER COLUMN %s TYPE bigint, or another MAXVALUE, makes room", err, expr.Ident(def.Name), expr.Ident(f.Name))
	}
	db.drawn.Store(true)
	c.Sequences = append(slices.DeleteFunc(c.Sequences, func(o storage.SequenceValue) bool { return o.Column == col }), storage.SequenceValue{Column: col, Last: first + int64(n-1)*of.Step})
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = first + int64(i)*of.Step
	}
	b := table.NewBuilder("", []table.Field{f}, max(n, 1))
	b.Column(0).Ints(numbers)
	if err := b.EndRows(n); err != nil {
		return nil, err
	}
	return b.Table().Chunks[0].Segments[0], nil
}

// setSequences gives rows for the table, which c will append, the numbers of their counted columns.
func (m *mutation) setSequences(c *storage.Change, t *table.Table) (*table.Table, error) {
	if t.Rows() == 0 || len(m.Sequences) == 0 {
		return t, nil
	}
	for _, of := range m.Sequences {
		rows := of.Rows
		if rows != nil {
			values, err := m.db.takeNumbers(c, m.def, of.Column, len(rows))
			if err != nil {
				return nil, err
			}
			u := storage.Change{Table: m.Table, Update: []storage.Update{{Column: of.Column, Rows: rows, Values: values}}}
			if t, err = u.Apply(t); err != nil {
				return nil, err
			}
			continue
		}
		var chunks []*table.Chunk
		for _, chunk := range t.Chunks {
			s, err := m.db.takeNumbers(c, m.def, of.Column, chunk.Rows)
			if err != nil {
				return nil, err
			}
			out := &table.Chunk{Rows: chunk.Rows, Segments: slices.Clone(chunk.Segments)}
			out.Segments[of.Column] = s
			chunks = append(chunks, out)
		}
		t = t.With(chunks...)
	}
	return t, nil
}

// setAddedSequences gives the rows of a table that is altered the numbers of counted columns that are new.
func (m *mutation) setAddedSequences(c *storage.Change, t *table.Table) error {
	var rows []int
	first := 0
	for _, chunk := range t.Chunks {
		for at := range chunk.Rows {
			if chunk.IsLive(at) {
				rows = append(rows, first+at)
			}
		}
		first += chunk.Rows
	}
	for col, from := range c.From {
		if from >= 0 || c.Define.Columns[col].Sequence == nil || slices.Contains(m.Set, col) || len(rows) == 0 {
			continue
		}
		values, err := m.db.takeNumbers(c, c.Define, col, len(rows))
		if err != nil {
			return err
		}
		c.Update = append(c.Update, storage.Update{Column: col, Rows: rows, Values: values})
	}
	return nil
}

// restartedSequences is a definition whose counters begin anew.
func restartedSequences(d *storage.Definition) *storage.Definition {
	out := *d
	out.Columns = slices.Clone(d.Columns)
	for i, c := range out.Columns {
		if c.Sequence != nil {
			out.Columns[i].Sequence = c.Sequence.Fresh()
		}
	}
	return &out
}
