package workload

import (
	"context"
	"fmt"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// uses is how often an operation may use one attribute where the table has fewer than
// it takes.
const uses = 2

// Source gives the tables of a run.
type Source struct {
	Data report.Data
	// Rows is the number of rows of a source with one table, else 0.
	Rows int
	// Table returns a table of that many rows, with up to four columns, the attributes;
	// of a source with one table its first rows.
	Table func(ctx context.Context, rows int) (*table.Table, error)
	// Beside, where not nil, are the other tables that statements over one of that many rows name.
	Beside func(ctx context.Context, rows int) ([]*table.Table, error)
	// Whole, where not nil, is Table with all columns.
	Whole func(ctx context.Context, rows int) (*table.Table, error)
	// RowBytes is the memory, of host and device together, that a row takes in one system.
	RowBytes int
	FileLoad *FileLoad // of a file, where that is measured
}

// Generated is tables of a generator of package generate.
func Generated(name string, seed uint64) Source {
	whole := func(ctx context.Context, rows int) (*table.Table, error) {
		gen, err := generate.Find(name)
		if err != nil {
			return nil, err
		}
		return gen.Generate(ctx, rows, seed, 0)
	}
	return Source{Data: report.Data{Name: name, Seed: seed}, RowBytes: 4 * report.MaxAttributes, Whole: whole, Table: func(ctx context.Context, rows int) (*table.Table, error) {
		gen, err := generate.Find(name)
		if err != nil {
			return nil, err
		}
		sample, err := gen.Generate(ctx, 1, seed, 0)
		if err != nil {
			return nil, err
		}
		names := xslices.Map(attributeColumns(sample), func(i int) string { return sample.Fields[i].Name })
		return gen.Generate(ctx, rows, seed, 0, names...)
	}}
}

// Loaded is one table that is in memory. One without rows, or without columns to
// measure on, is an error.
func Loaded(t *table.Table) (Source, error) {
	columns := attributeColumns(t)
	if t.Rows() == 0 {
		return Source{}, fmt.Errorf("table %s has no rows to measure on", t.Name)
	}
	if len(columns) == 0 {
		return Source{}, fmt.Errorf("table %s has no column of numbers, dates or timestamps to measure on", t.Name)
	}
	all := Project(t, columns)
	return Source{Data: report.Data{Name: t.Name}, RowBytes: 4 * report.MaxAttributes, Rows: t.Rows(), Table: func(_ context.Context, rows int) (*table.Table, error) {
		return FirstRows(all, rows)
	}}, nil
}

// Project is a table with some of its columns.
func Project(t *table.Table, columns []int) *table.Table {
	out := &table.Table{Name: t.Name}
	for _, i := range columns {
		out.Fields = append(out.Fields, t.Fields[i])
	}
	for _, c := range t.Compacted().Chunks {
		part := &table.Chunk{Rows: c.Rows}
		for _, i := range columns {
			part.Segments = append(part.Segments, c.Segments[i])
		}
		out.Chunks = append(out.Chunks, part)
	}
	return out
}

// FirstRows is the first rows of a table.
func FirstRows(t *table.Table, rows int) (*table.Table, error) {
	var chunks []*table.Chunk
	for _, c := range t.Chunks {
		if rows < c.Rows {
			b := table.NewBuilder("", t.Fields, rows)
			for i, s := range c.Segments {
				for row := range rows {
					b.Column(i).Value(s.Value(row))
				}
			}
			if err := b.EndRows(rows); err != nil {
				return nil, err
			}
			c = b.Table().Chunks[0]
		}
		chunks = append(chunks, c)
		if rows -= c.Rows; rows == 0 {
			break
		}
	}
	return t.With(chunks...), nil
}

// attributeColumns are the columns to measure on, at most four: the first ones of
// integers, then of DECIMAL, of floating-point numbers, of dates and timestamps.
func attributeColumns(t *table.Table) []int {
	var list []int
	for _, fits := range []func(table.Type) bool{
		table.Type.IsInteger,
		func(t table.Type) bool { return t.Kind == table.Decimal },
		table.Type.IsFloat,
		func(t table.Type) bool { return t.Kind == table.Date || t.Kind == table.Timestamp },
	} {
		for i, f := range t.Fields {
			if fits(f.Type) && f.Unsupported == "" && len(list) < report.MaxAttributes {
				list = append(list, i)
			}
		}
	}
	return list
}

// LastRow stands in a statement of a suite for the number of the last row, from 0.
const LastRow = "{last}"
