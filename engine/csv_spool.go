package engine

import (
	"context"
	"fmt"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// csvSpool is a CSV file that can be read in parts. One pass over the text converts the columns that are needed into a temporary file. That
// file is kept until the CSV file has changed or the DB is closed. What is read as a whole comes from the text. It implements
// [catalog.Source].
type csvSpool struct {
	*ingest.File
	name    string
	fields  []table.Field
	columns [][]spill.Extent // of each column its parts; nil of those that have not been converted
	of      *spill.File
}

// sourceOf is the source of an entry: its file, of which CSV can be converted.
func (db *DB) sourceOf(e *catalog.Entry, f *ingest.File) catalog.Source {
	if f.Parts() == nil {
		return f
	}
	c := &csvSpool{File: f, name: e.Name, fields: f.ColumnFields(), of: spill.NewFile(db.newTemporary)}
	c.columns = make([][]spill.Extent, len(c.fields))
	e.Spool.Store(c.of)
	return c
}

// convert writes columns, at least one, to the temporary file.
func (c *csvSpool) convert(ctx context.Context, columns []int, o ingest.Options) error {
	of := func(part *table.Chunk) ([][]byte, error) {
		out := make([][]byte, len(columns))
		for k := range columns {
			data, err := spill.EncodeBatch(columnsOf(part, table.Block{N: part.Rows}, []int{k}))
			if err != nil {
				return nil, err
			}
			out[k] = data
		}
		return out, nil
	}
	rows, lists := c.Parts(), make([][]spill.Extent, len(columns))
	then := func(part int, data [][]byte) error {
		for k := range columns {
			e, err := c.of.Write(data[k], rows[part])
			if err != nil {
				return err
			}
			lists[k] = append(lists[k], e)
		}
		return nil
	}
	before := c.of.Size()
	if err := ingest.ConvertParts(ctx, c.File, columns, o, of, then); err != nil {
		c.of.Truncate(before)
		return err
	}
	for k, i := range columns {
		c.columns[i] = lists[k]
	}
	return nil
}

// ReadGroups implements [catalog.Source]: it converts columns first that are asked for the first time.
func (c *csvSpool) ReadGroups(ctx context.Context, groups, columns []int, o ingest.Options) (*table.Table, error) {
	var missing []int
	for _, i := range columns {
		if c.columns[i] == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		if err := c.convert(ctx, missing, o); err != nil {
			return nil, err
		}
	}
	fields := fieldsAt(c.fields, columns)
	b := table.NewBuilder(c.name, fields, o.ChunkRows)
	for _, g := range groups {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.appendPart(b, g, columns, fields); err != nil {
			return nil, err
		}
		if o.MemoryLimit > 0 && int64(b.Bytes()) > o.MemoryLimit {
			return nil, fmt.Errorf("%s: %w", c.Path(), &ingest.MemoryError{Limit: o.MemoryLimit})
		}
	}
	return widened(b.Table(), c.fields, columns), nil
}

// appendPart appends columns of a part.
func (c *csvSpool) appendPart(b *table.Builder, part int, columns []int, fields []table.Field) error {
	if len(columns) == 0 {
		return appendAll(b, make(valueRows, c.Parts()[part]), nil)
	}
	var rows computed
	defer func() { released([]computed{rows}) }()
	for _, i := range columns {
		column, err := c.of.ReadBatch(c.columns[i][part])
		if err != nil {
			return err
		}
		rows = append(rows, column...)
	}
	return appendAll(b, rows, fields)
}

// GroupBytes and Shape implement [catalog.Source], whose row groups are the parts.
func (c *csvSpool) GroupBytes(part int, columns []int) int64 { return c.PartBytes(part, columns) }
func (c *csvSpool) Shape(columns []int) *table.Table {
	return shapeOf(c.name, c.fields, c.Parts(), columns)
}
