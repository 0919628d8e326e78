package engine

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// spilled are the rows of a subplan that the host memory budget has no room for: batches in the temporary file of the statement, which
// it goes over as over the row groups of a file. It implements [source].
type spilled struct {
	name    string
	fields  []table.Field
	columns []int // those of the fields that the rows have
	of      *spill
	list    []extent
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
		rows, err := a.of.read(e)
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
	e, err := a.of.add(rows)
	if err == nil {
		a.list = append(a.list, e)
	}
	return err
}

// rows is how many there are.
func (a *spilled) rows() (n int) {
	for _, e := range a.list {
		n += e.rows
	}
	return n
}

// bytes is what they take in the file.
func (a *spilled) bytes() (n int64) {
	for _, e := range a.list {
		n += e.bytes
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
			c.Segments[i] = ingest.Unknown(fields[i].Type, none[:n])
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t
}

// ReadGroups implements [source].
func (a *spilled) ReadGroups(ctx context.Context, groups, columns []int, _ ingest.Options) (*table.Table, error) {
	fields := fieldsAt(a.fields, columns)
	b := table.NewBuilder(a.name, fields, 0)
	for _, g := range groups {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := a.of.read(a.list[g])
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

// Read implements [source]: of all rows, where they fit the memory after all.
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

// Groups, GroupBytes, Outline, Shape and Changed implement [source].
func (a *spilled) Groups() int { return len(a.list) }
func (a *spilled) GroupBytes(group int, columns []int) int64 {
	return a.list[group].bytes * int64(len(columns)) / int64(max(1, len(a.columns)))
}
func (a *spilled) Outline([]int) (*table.Table, bool) { return nil, false }
func (a *spilled) Changed() bool                      { return false }
func (a *spilled) Shape(columns []int) *table.Table {
	var rows []int
	for _, e := range a.list {
		rows = append(rows, e.rows)
	}
	return shapeOf(a.name, a.fields, rows, columns)
}

// entry is the rows as a table that statements read.
func (a *spilled) entry() *entry {
	e := newEntry(a.name, func(context.Context, ingest.Options) (source, error) { return a, nil })
	e.file = a
	e.table.Store(a.Shape(nil))
	return e
}

// leave begins the rows of a subplan that are spilled, of columns of fields; the file goes when the statement ends.
func (x *settling) leave(fields []table.Field, columns []int) *spilled {
	if x.spill == nil {
		x.spill = &spill{open: x.db.newTemporary}
		x.unpins = append(x.unpins, x.spill.close)
	}
	return &spilled{name: x.name(), fields: fields, columns: columns, of: x.spill}
}

// mayLeave reports that the rows of subplans may go to a temporary file: there is a budget for the host's memory.
func (x *settling) mayLeave() bool { return x.db.now().hostMemory > 0 }

// pieceOf is how many rows of a subplan are written at a time.
func pieceOf(fields []table.Field, budget int64) int {
	return int(min(1<<16, max(1<<10, budget/64/int64(16*max(1, len(fields))))))
}

// windowSpilled computes the functions of a Window over rows that are spilled: these are dealt to buckets by what all functions partition
// by, and each bucket is a table of its own.
func (x *settling) windowSpilled(ctx context.Context, s *plan.Subplan, in *spilled, n *plan.Window) (*spilled, error) {
	budget, err := x.budget(ctx)
	if err != nil {
		return nil, err
	}
	keys := n.Funcs[0].Partition
	for _, f := range n.Funcs[1:] {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k expr.Expr) bool {
			return !slices.ContainsFunc(f.Partition, func(o expr.Expr) bool { return expr.Identity(o) == expr.Identity(k) })
		})
	}
	if !slices.ContainsFunc(n.Funcs, func(f *expr.Window) bool { return f.Kind != expr.RowNumber || len(f.Partition)+len(f.Order) > 0 }) {
		return x.numbered(ctx, in, n)
	}
	if len(keys) == 0 {
		return nil, expr.Errorf(n.Funcs[0].P, "the rows of window functions without a PARTITION BY in common take more than %s, which is what is left of the host memory budget: raise it (--host-memory)", size(budget))
	}
	out := x.leave(n.Fields(), all(len(n.Fields())))
	return out, x.windowsOf(ctx, s, in, n, keys, budget, 0, false, out)
}

// numbered are all columns of rows that are spilled, with the number of the row for each function of a Window: row_number() OVER (), which random()
// and TABLESAMPLE stand on, too.
func (x *settling) numbered(ctx context.Context, in *spilled, n *plan.Window) (*spilled, error) {
	out := x.leave(n.Fields(), all(len(n.Fields())))
	first := int64(1)
	for _, e := range in.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := in.of.read(e)
		if err != nil {
			return nil, err
		}
		for range n.Funcs {
			b := array.NewInt64Builder(memory.DefaultAllocator)
			for i := range e.rows {
				b.Append(first + int64(i))
			}
			rows = append(rows, b.NewArray())
			b.Release()
		}
		if err := out.write(rows); err != nil {
			return nil, err
		}
		first += int64(e.rows)
	}
	return out, nil
}

// windowsOf is windowSpilled of rows that were dealt so often before, by other bits of their hashes; alone: and one bucket had all of them.
func (x *settling) windowsOf(ctx context.Context, s *plan.Subplan, in *spilled, n *plan.Window, keys []expr.Expr, budget int64, level int, alone bool, out *spilled) error {
	takes := in.bytes() + rowBytes/2*int64(in.rows())
	last := level == mostLevels || alone
	if takes > budget/2 && !(last && takes <= budget) {
		if last {
			return expr.Errorf(n.Funcs[0].P, "the rows of a partition take more than the host memory budget of %s: raise it (--host-memory)", size(budget))
		}
		buckets, err := x.dealt(ctx, in, keys, int(min(64, max(4, 4*takes/budget))), level)
		for _, b := range buckets {
			if err == nil {
				err = x.windowsOf(ctx, s, b, n, keys, budget, level+1, b.rows() == in.rows(), out)
			}
		}
		return err
	}
	if len(in.list) == 0 {
		return nil
	}
	t, err := in.ReadGroups(ctx, all(len(in.list)), in.columns, ingest.Options{})
	if err != nil {
		return err
	}
	if t, err = x.window(ctx, s, t, n); err != nil {
		return err
	}
	return out.addTable(t, pieceOf(t.Fields, budget))
}

// dealt deals rows to n buckets by a hash of keys.
func (x *settling) dealt(ctx context.Context, in *spilled, keys []expr.Expr, n, level int) ([]*spilled, error) {
	out := make([]*spilled, n)
	for i := range out {
		out[i] = x.leave(in.fields, in.columns)
	}
	hasher := cpu.Hasher{Keys: keys}
	for g := range in.list {
		t, err := in.ReadGroups(ctx, []int{g}, in.columns, ingest.Options{})
		if err != nil {
			return nil, err
		}
		for i, c := range t.Chunks {
			hashes, err := hasher.Rows(c, table.Block{Chunk: i, N: c.Rows})
			if err != nil {
				return nil, err
			}
			lists := make([][]uint32, n)
			for row, h := range hashes {
				at := h >> (8 * level) % uint64(n)
				lists[at] = append(lists[at], uint32(row))
			}
			for at, list := range lists {
				if len(list) == 0 {
					continue
				}
				if err := out[at].write(columnsOf(c, table.Block{Chunk: i, Rows: list}, in.columns)); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}
