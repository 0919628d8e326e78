// Package storage has what changes tables. A commit is a list of changes, each of one table. It is data, so that it
// can be applied to a snapshot, checked against what others have changed, and written to a log. It knows nothing of SQL
// text and of GL.
package storage

import (
	"fmt"
	"slices"
	"sort"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Definition is what CREATE TABLE says of a table besides its rows.
type Definition struct {
	Name    string
	Fields  []table.Field
	Columns []Column // one for each of Fields
	Checks  []Check
	Keys    []Key
	// View is the query of a view, whose rows these are; "" for a table. Fields have its columns' names alone, for their types
	// are those that the query has by then.
	View string
	Temp bool // it is not kept in a folder

	Comment string // of COMMENT ON
}

// Column is what is said of one column.
type Column struct {
	NotNull bool
	Default string // an expression in SQL; "" for NULL
	// Counter gives rows without a value their numbers, in the place of Default; nil for most columns.
	Sequence *Sequence
	// Length is the most characters of VARCHAR(n) and CHAR(n); 0 for any. Padded is CHAR, whose values have no blanks at their end.
	Length  int
	Padded  bool
	Comment string
}

// TypeName is the type of a column as SQL has it, with its length.
func (c Column) TypeName(t table.Type) string {
	name := t.String()
	if c.Padded {
		name = "character"
	}
	if c.Length > 0 {
		name += fmt.Sprintf("(%d)", c.Length)
	}
	return name
}

// Check is a condition that no row may make FALSE.
type Check struct {
	Name string
	SQL  string // an expression over the table's columns
}

// Key is a set of columns of which no two rows have the same values. Rows with a NULL in one of them are not compared.
type Key struct {
	Name    string
	Columns []int
	Primary bool
	Index   bool // CREATE UNIQUE INDEX has made it
}

// Change is what a commit does to one table. The parts that are set are applied in the order in which they stand here.
// Rows are counted over all chunks of the table, deleted rows included, from 0; a row keeps its number until the
// table is compacted.
type Change struct {
	Table string

	// Define creates the table, or changes its definition. From has the old column of each new one. It is negative
	// for an added column, in which all rows have the value of Fill.
	Define *Definition
	From   []int
	Fill   []table.Value
	Drop   bool // the table is no more

	Sequences []SequenceValue // what was taken of the counters of columns

	Update []Update
	Delete []int          // rows, ascending, each once
	Append []*table.Chunk // without deleted rows
	// Compact takes the deleted rows away. It counts the rows anew.
	Compact bool
}

// Update sets a column of rows: Values has a row for each.
type Update struct {
	Column int
	Rows   []int // ascending, each once
	Values *table.Segment
}

// Keeps reports that the rows of the table keep their numbers, and that there are such: it is not made, dropped or compacted.
func (c *Change) Keeps() bool { return (c.Define == nil || c.From != nil) && !c.Drop && !c.Compact }

// Apply returns the next snapshot of a table; nil where the change drops it. t is nil where the change creates it.
func (c *Change) Apply(t *table.Table) (*table.Table, error) { return c.Take(t, nil) }

// Written reports that the change only writes to rows that are there, and Fits that it fits the table, so that [Change.Take]
// succeeds.
func (c *Change) Written() bool {
	return c.Define == nil && !c.Drop && len(c.Append) == 0 && !c.Compact
}

// Fits returns why rows that the change writes to are not those of a table.
func (c *Change) Fits(t *table.Table) error {
	rows := xslices.Sum(t.Chunks, func(ch *table.Chunk) int { return ch.Rows })
	within := func(list []int) error {
		if n := len(list); n > 0 && (list[0] < 0 || list[n-1] >= rows || !sort.IntsAreSorted(list)) {
			return fmt.Errorf("storage: rows of %s are changed out of order, or behind its last", c.Table)
		}
		return nil
	}
	for _, u := range c.Update {
		if u.Column < 0 || u.Column >= len(t.Fields) || u.Values == nil || u.Values.Rows() != len(u.Rows) || u.Values.Type != t.Fields[u.Column].Type || !t.Has([]int{u.Column}) {
			return fmt.Errorf("storage: an update of %s does not fit its table", c.Table)
		}
		if err := within(u.Rows); err != nil {
			return err
		}
	}
	return within(c.Delete)
}

// Take is Apply that takes over the codes of segments that are free, so that t must not be read any more.
func (c *Change) Take(t *table.Table, free table.Free) (*table.Table, error) {
	if c.Drop {
		return nil, nil
	}
	var err error
	if c.Define != nil {
		if t, err = c.define(t); err != nil {
			return nil, err
		}
	}
	if t == nil {
		return nil, fmt.Errorf("storage: there is no table %s to change", c.Table)
	}
	c.lend()
	chunks := slices.Clone(t.Chunks)
	for _, u := range c.Update {
		if u.Column < 0 || u.Column >= len(t.Fields) || u.Values == nil || u.Values.Rows() != len(u.Rows) {
			return nil, fmt.Errorf("storage: an update of %s does not fit its table", c.Table)
		}
		err := eachChunk(chunks, u.Rows, func(i int, rows []int, from int) (err error) {
			chunks[i], err = chunks[i].Patch(u.Column, rows, u.Values, from, free)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = eachChunk(chunks, c.Delete, func(i int, rows []int, _ int) (err error) {
		chunks[i], err = chunks[i].Strike(rows, free)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, ch := range c.Append {
		if ch.Deleted > 0 || len(ch.Segments) != len(t.Fields) {
			return nil, fmt.Errorf("storage: rows for %s do not fit their table", c.Table)
		}
	}
	chunks, err = appended(t.Fields, chunks, c.Append)
	if err != nil {
		return nil, err
	}
	t = t.With(chunks...)
	if c.Compact {
		t = t.Compacted()
	}
	return t, nil
}

// lend lends the segments that the change has. They may be the table's own, as those of SET a = b are, or another table's. The
// change may be kept, so an update of the table in place must not change them.
func (c *Change) lend() {
	for _, u := range c.Update {
		if u.Values != nil {
			u.Values.Lend()
		}
	}
	for _, chunk := range c.Append {
		chunk.Lend()
	}
}

// define is the table with the definition's fields.
func (c *Change) define(t *table.Table) (*table.Table, error) {
	d := c.Define
	if t == nil {
		return &table.Table{Name: d.Name, Fields: d.Fields}, nil
	}
	if len(c.From) != len(d.Fields) || len(c.Fill) != len(d.Fields) {
		return nil, fmt.Errorf("storage: a change of the columns of %s does not fit its table", t.Name)
	}
	var chunks []*table.Chunk
	for _, old := range t.Chunks {
		chunk := &table.Chunk{Rows: old.Rows, Deleted: old.Deleted}
		for i, f := range d.Fields {
			if from := c.From[i]; from >= 0 && from < len(t.Fields) {
				if s := old.Segments[from]; s != nil && slices.Contains(c.From[:i], from) { // two columns have it from now on
					s.Lend()
				}
				chunk.Segments = append(chunk.Segments, old.Segments[from])
			} else {
				chunk.Segments = append(chunk.Segments, table.Constant(f.Type, c.Fill[i], old.Rows))
			}
		}
		if old.Deleted > 0 {
			chunk.Segments = append(chunk.Segments, old.Segments[len(t.Fields)])
		}
		chunks = append(chunks, chunk)
	}
	out := t.With(chunks...)
	out.Name, out.Fields = d.Name, d.Fields
	return out, nil
}

// eachChunk deals ascending rows to their chunks, by their places there; from is the first's place among all.
func eachChunk(chunks []*table.Chunk, rows []int, do func(chunk int, rows []int, from int) error) error {
	first, from := 0, 0
	for i, ch := range chunks {
		n := sort.SearchInts(rows[from:], first+ch.Rows)
		if n > 0 {
			places := rows[from : from+n]
			if first > 0 {
				places = make([]int, n)
				for k, r := range rows[from : from+n] {
					places[k] = r - first
				}
			}
			if err := do(i, places, from); err != nil {
				return err
			}
		}
		first, from = first+ch.Rows, from+n
	}
	if from < len(rows) {
		return fmt.Errorf("storage: row %d is changed of a table of %d rows", rows[from], first)
	}
	return nil
}

// mergedRows is the most rows of a chunk that is made of smaller ones.
const mergedRows = 1 << 24

// appended are chunks with more behind them. A chunk that has grown to the size of the one before it is joined to
// that. So a table that grows by single rows has few chunks, and each row is copied few times.
func appended(fields []table.Field, chunks, more []*table.Chunk) ([]*table.Chunk, error) {
	for _, ch := range more {
		if ch.Rows == 0 {
			continue
		}
		chunks = append(chunks, ch)
		for n := len(chunks); n > 1 && chunks[n-1].Rows >= chunks[n-2].Rows && chunks[n-1].Rows+chunks[n-2].Rows <= mergedRows; n = len(chunks) {
			one, err := table.Joined(fields, chunks[n-2], chunks[n-1])
			if err != nil {
				return nil, err
			}
			chunks = append(chunks[:n-2], one)
		}
	}
	return chunks, nil
}
