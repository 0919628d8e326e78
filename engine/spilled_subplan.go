package engine

import (
	"context"
	"iter"
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/table"
)

// spilled are the rows of a subplan that do not fit the host memory budget. They are batches in the temporary file of the statement,
// which it reads like the row groups of a file. It implements [catalog.Source].
type spilled struct {
	name    string
	fields  []table.Field
	columns []int // those of the fields that the rows have
	of      *spill.File
	list    []spill.Extent
}

// add writes rows, which have the columns.
func (a *spilled) add(rows batch, piece int) error {
	fields := fieldsAt(a.fields, a.columns)
	for i := 0; i < rows.Len(); i += piece {
		part, err := arrowOf(rows.cut(i, min(rows.Len(), i+piece)), fields, nil)
		if err != nil {
			return err
		}
		if err := a.write(part); err != nil {
			return err
		}
	}
	return nil
}

// addTable writes the rows of a table of the fields.
func (a *spilled) addTable(t *table.Table, piece int) error {
	for i, c := range t.Compacted().Chunks {
		for at := 0; at < c.Rows; at += piece {
			if err := a.write(columnsOf(c, table.Block{Chunk: i, First: at, N: min(piece, c.Rows-at)}, a.columns)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addRows adds rows that are in the same file.
func (a *spilled) addRows(other *spilled) error {
	if slices.Equal(a.columns, other.columns) {
		a.list = append(a.list, other.list...)
		return nil
	}
	for _, e := range other.list {
		rows, err := a.of.ReadBatch(e)
		if err != nil {
			return err
		}
		some := make(computed, len(a.columns))
		for k, i := range a.columns {
			some[k] = rows[slices.Index(other.columns, i)]
			some[k].Retain()
		}
		err = a.write(some)
		released([]computed{rows})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *spilled) write(rows computed) error {
	e, err := a.of.WriteBatch(rows)
	if err == nil {
		a.list = append(a.list, e)
	}
	return err
}

// rows is how many there are.
func (a *spilled) rows() (n int) {
	for _, e := range a.list {
		n += e.Rows
	}
	return n
}

// bytes is what they take in the file.
func (a *spilled) bytes() (n int64) {
	for _, e := range a.list {
		n += e.Bytes
	}
	return n
}

// shapeOf is a table of chunks of so many rows, of which nothing is known; columns that are not asked for are nil.
func shapeOf(name string, fields []table.Field, rows []int, columns []int) *table.Table {
	t := &table.Table{Name: name, Fields: fields}
	none := make([]uint8, slices.Max(append([]int{0}, rows...)))
	for _, n := range rows {
		c := &table.Chunk{Rows: n, Segments: make([]*table.Segment, len(fields))}
		for _, i := range columns {
			c.Segments[i] = columnar.Unknown(fields[i].Type, none[:n])
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t
}

// ReadGroups implements [catalog.Source].
func (a *spilled) ReadGroups(ctx context.Context, groups, columns []int, _ ingest.Options) (*table.Table, error) {
	fields := fieldsAt(a.fields, columns)
	b := table.NewBuilder(a.name, fields, 0)
	for _, g := range groups {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := a.of.ReadBatch(a.list[g])
		if err != nil {
			return nil, err
		}
		some := make(computed, len(columns))
		for k, i := range columns {
			some[k] = rows[slices.Index(a.columns, i)]
		}
		if len(columns) == 0 {
			some = rows // how many there are
		}
		err = appendAll(b, some, fields)
		released([]computed{rows})
		if err != nil {
			return nil, err
		}
	}
	return widened(b.Table(), a.fields, columns), nil
}

// batches are the rows as they were written. They are to be released.
func (a *spilled) batches(ctx context.Context) iter.Seq2[computed, error] {
	return func(yield func(computed, error) bool) {
		for _, e := range a.list {
			rows, err := a.of.ReadBatch(e)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// tables are batches of its columns as tables of about so many rows; done has each batch that is in one.
func (a *spilled) tables(rows iter.Seq2[computed, error], most int, done func(computed) error) iter.Seq2[*table.Table, error] {
	return func(yield func(*table.Table, error) bool) {
		fields := fieldsAt(a.fields, a.columns)
		b := table.NewBuilder(a.name, fields, 0)
		for batch, err := range rows {
			if err == nil {
				err = appendAll(b, batch, fields)
			}
			if err == nil {
				err = done(batch)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if b.Rows() >= most {
				if !yield(widened(b.Table(), a.fields, a.columns), nil) {
					return
				}
				b = table.NewBuilder(a.name, fields, 0)
			}
		}
		if b.Rows() > 0 {
			yield(widened(b.Table(), a.fields, a.columns), nil)
		}
	}
}

// Read implements [catalog.Source]: of all rows, where they fit the memory after all.
func (a *spilled) Read(ctx context.Context, columns []int, o ingest.Options) (*table.Table, error) {
	groups, bytes := all(len(a.list)), int64(0)
	for g := range groups {
		bytes += a.GroupBytes(g, columns)
	}
	if o.MemoryLimit > 0 && bytes > o.MemoryLimit {
		return nil, overBudget(aSubquery, o.MemoryLimit)
	}
	return a.ReadGroups(ctx, groups, columns, o)
}

// Groups, GroupBytes, ZoneMaps, Shape and Changed implement [catalog.Source].
func (a *spilled) Groups() int { return len(a.list) }
func (a *spilled) GroupBytes(group int, columns []int) int64 {
	return a.list[group].Bytes * int64(len(columns)) / int64(max(1, len(a.columns)))
}
func (a *spilled) ZoneMaps([]int) (*table.Table, bool) { return nil, false }
func (a *spilled) Changed() bool                       { return false }
func (a *spilled) Shape(columns []int) *table.Table {
	var rows []int
	for _, e := range a.list {
		rows = append(rows, e.Rows)
	}
	return shapeOf(a.name, a.fields, rows, columns)
}

// entry is the rows as a table that statements read.
func (a *spilled) entry() *catalog.Entry {
	e := catalog.NewEntry(a.name, func(context.Context, ingest.Options) (catalog.Source, error) { return a, nil })
	e.Source = a
	e.Table.Store(a.Shape(nil))
	return e
}

// leave begins the rows of a subplan that are spilled, of columns of fields; the file goes when the statement ends.
func (x *settling) leave(fields []table.Field, columns []int) *spilled {
	if x.spill == nil {
		x.spill = spill.NewFile(x.db.newTemporary)
		x.unpins = append(x.unpins, x.spill.Close)
	}
	return &spilled{name: x.name(), fields: fields, columns: columns, of: x.spill}
}

// mayLeave reports that the rows of subplans may go to a temporary file: there is a budget for the host's memory.
func (x *settling) mayLeave() bool { return x.db.now().hostMemory > 0 }

// pieceOf is how many rows of a subplan are written at a time.
func pieceOf(fields []table.Field, budget int64) int {
	return int(min(1<<16, max(1<<10, budget/64/int64(16*max(1, len(fields))))))
}
