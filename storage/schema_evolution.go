package storage

import (
	"context"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// layout says how the columns of a table follow from those of its files: From and Fill of a [Change], of the files.
type layout struct {
	name   string // of the table
	fields []table.Field
	from   []int
	fill   []table.Value
}

// moved reports that the columns are not those of the files.
func (l *layout) moved() bool {
	return l != nil && l.from != nil
}

// keepsColumns reports that a change leaves the columns of a table with fields as they are.
func (c *Change) keepsColumns(fields []table.Field) bool {
	for i, from := range c.From {
		if from != i {
			return false
		}
	}
	return slices.Equal(fields, c.Define.Fields)
}

// alter is what a change of the definition does to the columns, which were fields.
func (a *delta) alter(fields []table.Field, c *Change) error {
	n := len(c.Define.Fields)
	if len(c.From) != n || len(c.Fill) != n || slices.ContainsFunc(c.From, func(from int) bool { return from >= len(fields) }) {
		return fmt.Errorf("a change of the columns of %s does not fit its table", c.Table)
	}
	next := &layout{name: c.Define.Name, fields: c.Define.Fields}
	if old := a.columns; old.moved() || !c.keepsColumns(fields) {
		for i, from := range c.From {
			fill := c.Fill[i]
			if from >= 0 && old.moved() {
				from, fill = old.from[from], old.fill[from]
			}
			next.from, next.fill = append(next.from, from), append(next.fill, fill)
		}
	}
	a.columns = next
	t, err := c.define(&table.Table{Name: c.Table, Fields: fields, Chunks: a.chunks})
	if err != nil {
		return err
	}
	a.chunks = t.Chunks
	var update []Update
	for i, from := range c.From {
		for _, u := range a.update {
			if u.Column == from {
				update = append(update, Update{i, u.Rows, u.Values})
			}
		}
	}
	a.update = update
	return nil
}

// evolvedFile is a file as a layout has its columns.
type evolvedFile struct {
	*ingest.File
	to *layout // nil for as they are
}

// Fields is how many columns there are.
func (f evolvedFile) Fields() int {
	if f.to == nil {
		return f.File.Fields()
	}
	return len(f.to.fields)
}

// inFile are those of the file's columns that some columns are.
func (f evolvedFile) inFile(columns []int) (list []int) {
	if !f.to.moved() {
		return columns
	}
	for _, col := range columns {
		if from := f.to.from[col]; from >= 0 && !slices.Contains(list, from) {
			list = append(list, from)
		}
	}
	return list
}

// table is a table of the file's columns with some columns as they are to be.
func (f evolvedFile) table(t *table.Table, columns []int) *table.Table {
	if f.to == nil {
		return t
	}
	out := &table.Table{Name: f.to.name, Fields: slices.Clone(f.to.fields), Version: t.Version}
	from := func(col int) int {
		if f.to.moved() {
			return f.to.from[col]
		}
		return col
	}
	for col := range out.Fields {
		if at := from(col); at >= 0 {
			out.Fields[col].Unsupported = t.Fields[at].Unsupported
		}
	}
	for _, c := range t.Chunks {
		chunk := &table.Chunk{Rows: c.Rows, Segments: make([]*table.Segment, len(out.Fields))}
		for _, col := range columns {
			if at := from(col); at >= 0 {
				chunk.Segments[col] = c.Segments[at]
			} else {
				chunk.Segments[col] = table.Constant(out.Fields[col].Type, f.to.fill[col], c.Rows)
			}
		}
		out.Chunks = append(out.Chunks, chunk)
	}
	return out
}

// ReadGroups is [ingest.File.ReadGroups].
func (f evolvedFile) ReadGroups(ctx context.Context, groups, columns []int, o ingest.Options) (*table.Table, error) {
	t, err := f.File.ReadGroups(ctx, groups, f.inFile(columns), o)
	if err != nil {
		return nil, err
	}
	return f.table(t, columns), nil
}

// ZoneMaps is [ingest.File.ZoneMaps].
func (f evolvedFile) ZoneMaps(columns []int) (*table.Table, bool) {
	t, ok := f.File.ZoneMaps(f.inFile(columns))
	if !ok {
		return nil, false
	}
	return f.table(t, columns), true
}

// Shape is [ingest.File.Shape].
func (f evolvedFile) Shape(columns []int) *table.Table {
	t := f.File.Shape(f.inFile(columns))
	if t == nil {
		return nil
	}
	return f.table(t, columns)
}

// GroupBytes is [ingest.File.GroupBytes].
func (f evolvedFile) GroupBytes(group int, columns []int) int64 {
	n := f.File.GroupBytes(group, f.inFile(columns))
	if f.to.moved() {
		for _, col := range columns {
			if f.to.from[col] < 0 {
				n += int64(f.File.GroupRows(group))
			}
		}
	}
	return n
}
