package bench

import (
	"context"
	"fmt"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/table"
)

// attributes is how many columns a suite uses: the paper's tables have four
// attributes.
const attributes = 4

// uses is how often an operation may use one attribute where the table has fewer than
// it takes.
const uses = 2

// Source gives the tables of a run.
type Source interface {
	// Table returns a table of that many rows, with up to four columns, the attributes;
	// of a source with one table its first rows.
	Table(ctx context.Context, rows int) (*table.Table, error)
	// FixedRows is the number of rows of a source with one table, else 0.
	FixedRows() int
	Data() Data
}

// Generated is tables of a generator of package ingest.
func Generated(name string, seed uint64) Source { return generated{name, seed} }

type generated struct {
	name string
	seed uint64
}

// Table implements Source.
func (g generated) Table(ctx context.Context, rows int) (*table.Table, error) {
	gen, err := generate.Find(g.name)
	if err != nil {
		return nil, err
	}
	sample, err := gen.Generate(ctx, 1, g.seed, 0)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, i := range attributeColumns(sample) {
		names = append(names, sample.Fields[i].Name)
	}
	return gen.Generate(ctx, rows, g.seed, 0, names...)
}

// FixedRows implements Source.
func (g generated) FixedRows() int { return 0 }

// Data implements Source.
func (g generated) Data() Data { return Data{Name: g.name, Seed: g.seed} }

// Loaded is one table that is in memory. One without rows, or without columns to
// measure on, is an error.
func Loaded(t *table.Table) (Source, error) {
	if t.Rows() == 0 {
		return nil, fmt.Errorf("table %s has no rows to measure on", t.Name)
	}
	if len(attributeColumns(t)) == 0 {
		return nil, fmt.Errorf("table %s has no column of numbers, dates or timestamps to measure on", t.Name)
	}
	return loaded{t}, nil
}

type loaded struct{ t *table.Table }

// Table implements Source.
func (l loaded) Table(_ context.Context, rows int) (*table.Table, error) {
	columns := attributeColumns(l.t)
	out := &table.Table{Name: l.t.Name}
	for _, i := range columns {
		out.Fields = append(out.Fields, l.t.Fields[i])
	}
	for _, c := range l.t.Compacted().Chunks {
		part := &table.Chunk{Rows: c.Rows}
		for _, i := range columns {
			part.Segments = append(part.Segments, c.Segments[i])
		}
		if rows < c.Rows {
			b := table.NewBuilder("", out.Fields, rows)
			for i, s := range part.Segments {
				for row := range rows {
					b.Column(i).Value(s.Value(row))
				}
			}
			if err := b.EndRows(rows); err != nil {
				return nil, err
			}
			part = b.Table().Chunks[0]
		}
		out.Chunks = append(out.Chunks, part)
		if rows -= part.Rows; rows == 0 {
			break
		}
	}
	return out, nil
}

// FixedRows implements Source.
func (l loaded) FixedRows() int { return l.t.Rows() }

// Data implements Source.
func (l loaded) Data() Data { return Data{Name: l.t.Name} }

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
			if fits(f.Type) && f.Unsupported == "" && len(list) < attributes {
				list = append(list, i)
			}
		}
	}
	return list
}

// RowBytes is the memory, of host and device together, that a row takes in one
// system: four attributes of four bytes.
const RowBytes = 4 * attributes
