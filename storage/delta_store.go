package storage

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// delta is what the log changes of the rows of a table's files. It is kept apart from them, so that the table need not be in
// memory. Rows are added first, then values are written, then rows are deleted: these keep their numbers, among all rows.
type delta struct {
	chunks  []*table.Chunk
	update  []Update // one a column
	delete  []int
	columns *layout // nil where the table has the columns of its files
}

// with is the delta after one more change, which takes no deleted rows away. a is nil where there is no delta yet. fields are the table's,
// and files is the number of rows in its files.
func (a *delta) with(fields []table.Field, files int, c *Change) (*delta, error) {
	c.lend() // to all that read them
	out := &delta{}
	if a != nil {
		*out = delta{slices.Clone(a.chunks), slices.Clone(a.update), a.delete, a.columns}
	}
	if c.Define != nil {
		if err := out.alter(fields, c); err != nil {
			return nil, err
		}
		fields = c.Define.Fields
	}
	lists := [][]int{c.Delete}
	for _, u := range c.Update {
		lists = append(lists, u.Rows)
	}
	for _, rows := range lists {
		if n, total := len(rows), files+rowsIn(out.chunks); n > 0 && rows[n-1] >= total {
			return nil, fmt.Errorf("row %d of %d is changed", rows[n-1], total)
		}
	}
	for _, u := range c.Update {
		i := slices.IndexFunc(out.update, func(old Update) bool { return old.Column == u.Column })
		if i < 0 {
			out.update = append(out.update, u)
		} else {
			out.update[i] = out.update[i].then(u)
		}
	}
	if len(c.Delete) > 0 {
		out.delete = slices.Compact(slices.Sorted(slices.Values(slices.Concat(out.delete, c.Delete))))
	}
	var err error
	out.chunks, err = appended(fields, out.chunks, c.Append)
	for _, chunk := range out.chunks { // also such as are joined of others
		chunk.Lend()
	}
	return out, err
}

// then is an update with another one of the same column after it.
func (u Update) then(next Update) Update {
	out := Update{Column: u.Column}
	var values []table.Value
	add := func(of Update, i int) {
		out.Rows, values = append(out.Rows, of.Rows[i]), append(values, of.Values.Value(i))
	}
	i := 0
	for k, row := range next.Rows {
		for ; i < len(u.Rows) && u.Rows[i] < row; i++ {
			add(u, i)
		}
		if i < len(u.Rows) && u.Rows[i] == row {
			i++
		}
		add(next, k)
	}
	for ; i < len(u.Rows); i++ {
		add(u, i)
	}
	out.Values = table.SegmentOf(u.Values.Type, values...)
	return out
}

// total is how many rows the table has, deleted ones included.
func (k *kept) total() int {
	if k.amended != nil {
		return k.inFiles() + rowsIn(k.amended.chunks)
	}
	return rowsIn(k.table.Chunks)
}

// rowsIn is how many rows chunks have, deleted ones included.
func rowsIn(chunks []*table.Chunk) int {
	return xslices.Sum(chunks, func(c *table.Chunk) int { return c.Rows })
}

// bytes is what the delta takes in memory, about.
func (a *delta) bytes() (n int64) {
	if a == nil {
		return 0
	}
	for _, c := range a.chunks {
		for _, s := range c.Segments {
			n += int64(s.Bytes())
		}
	}
	for _, u := range a.update {
		n += 8*int64(len(u.Rows)) + int64(u.Values.Bytes())
	}
	if a.columns != nil {
		n += 64 * int64(len(a.columns.fields))
	}
	return n + 8*int64(len(a.delete))
}

// Bytes is what the rows of a change take in memory, about.
func (c *Change) Bytes() int64 {
	return (&delta{chunks: c.Append, update: c.Update, delete: c.Delete}).bytes()
}

// changes are the delta of a table as commits, each behind the one before.
func (a *delta) changes(name string) (list []Change) {
	if a == nil {
		return nil
	}
	if len(a.chunks) > 0 {
		list = append(list, Change{Table: name, Append: a.chunks})
	}
	if len(a.update)+len(a.delete) > 0 {
		list = append(list, Change{Table: name, Update: a.update, Delete: a.delete})
	}
	return list
}

// between are those of ascending rows from first to before end, and where they begin among all.
func between(rows []int, first, end int) (some []int, from int) {
	from = sort.SearchInts(rows, first)
	to := sort.SearchInts(rows, end)
	some = make([]int, to-from)
	for i, r := range rows[from:to] {
		some[i] = r - first
	}
	return some, from
}

// write writes the values of some columns to chunks, whose rows are those from first on.
func (a *delta) write(chunks []*table.Chunk, first int, columns []int) error {
	end := first + rowsIn(chunks)
	for _, u := range a.update {
		if !slices.Contains(columns, u.Column) || len(chunks) == 0 || chunks[0].Segments[u.Column] == nil {
			continue
		}
		rows, at := between(u.Rows, first, end)
		err := eachChunk(chunks, rows, func(i int, rows []int, from int) (err error) {
			chunks[i], err = chunks[i].Assign(u.Column, rows, u.Values, at+from)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// strike deletes rows of chunks, whose rows are those from first on.
func (a *delta) strike(chunks []*table.Chunk, first int) error {
	rows, _ := between(a.delete, first, first+rowsIn(chunks))
	return eachChunk(chunks, rows, func(i int, rows []int, _ int) (err error) {
		chunks[i], err = chunks[i].Delete(rows)
		return err
	})
}

// Rows are those of the files of a table with what the log changes of them. Columns, and parts of them, are read as of an
// [ingest.File]: the rows that the log adds are groups behind those of the files.
type Rows struct {
	evolvedFile
	fresh  *ingest.File // the same, of which nobody reads anything
	one    *sync.Mutex  // held while the files are read, which others may share
	of     *delta       // nil where the files are the table
	starts []int        // the first row of each group, and the end
	table  *table.Table // as far as it has been read, where there is a delta
}

func newRows(f *ingest.File, one *sync.Mutex, of *delta) *Rows {
	r := &Rows{evolvedFile: evolvedFile{File: f.Unread()}, fresh: f, one: one, of: of, starts: []int{0}}
	add := func(n int) { r.starts = append(r.starts, r.starts[len(r.starts)-1]+n) }
	for i := range f.Groups() {
		add(f.GroupRows(i))
	}
	if of != nil {
		r.to = of.columns
		for _, c := range of.chunks {
			add(c.Rows)
		}
	}
	return r
}

// With are the rows of the same files with what the log changes of a table that has them by now.
func (r *Rows) With(t *Saved) *Rows { return r.with(t.amended) }

// with are the rows of the same files with a delta. Nothing has been read of them.
func (r *Rows) with(of *delta) *Rows { return newRows(r.fresh, r.one, of) }

// Unread are the same rows; nothing has been read of them.
func (r *Rows) Unread() *Rows { return r.with(r.of) }

// After are the rows, of a table with fields, after a change that takes no deleted rows away. These rows stay as they are.
func (r *Rows) After(fields []table.Field, c *Change) (*Rows, error) {
	of, err := r.of.with(fields, r.starts[r.File.Groups()], c)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return r.with(of), nil
}

// Total is how many rows there are, deleted ones included.
func (r *Rows) Total() int { return r.starts[len(r.starts)-1] }

// DeltaBytes is what the memory takes that keeps what changes the rows of the files apart from these; 0 for nothing.
func (r *Rows) DeltaBytes() int64 { return r.of.bytes() }

// Groups is how many groups [Rows.ReadGroups] reads alone.
func (r *Rows) Groups() int { return len(r.starts) - 1 }

// withColumns are chunks with some of their columns alone.
func withColumns(chunks []*table.Chunk, columns []int) (list []*table.Chunk) {
	for _, c := range chunks {
		out := &table.Chunk{Rows: c.Rows, Segments: make([]*table.Segment, len(c.Segments))}
		for _, col := range columns {
			out.Segments[col] = c.Segments[col]
		}
		list = append(list, out)
	}
	return list
}

// Read is [ingest.File.Read] of the rows as the log has left them.
func (r *Rows) Read(ctx context.Context, columns []int, o ingest.Options) (*table.Table, error) {
	if r.of == nil {
		r.one.Lock()
		defer r.one.Unlock()
		return r.File.Read(ctx, columns, o)
	}
	old := r.table
	fresh := slices.DeleteFunc(slices.Clone(columns), func(col int) bool { return old != nil && old.Has([]int{col}) })
	if old != nil && len(fresh) == 0 {
		return old, ctx.Err()
	}
	var groups []int
	for i := range r.Groups() {
		groups = append(groups, i)
	}
	t, err := r.ReadGroups(ctx, groups, fresh, o)
	if err != nil {
		return nil, err
	}
	if old != nil {
		fields, chunks := slices.Clone(old.Fields), []*table.Chunk(nil)
		for i, before := range old.Chunks {
			c := &table.Chunk{Rows: before.Rows, Deleted: before.Deleted, Segments: slices.Clone(before.Segments)}
			for _, col := range fresh {
				fields[col], c.Segments[col] = t.Fields[col], t.Chunks[i].Segments[col]
			}
			chunks = append(chunks, c)
		}
		t = old.With(chunks...)
		t.Fields = fields
	}
	r.table = t
	return t, nil
}

// ReadGroups is [ingest.File.ReadGroups] of the rows as the log has left them.
func (r *Rows) ReadGroups(ctx context.Context, groups, columns []int, o ingest.Options) (t *table.Table, err error) {
	r.one.Lock()
	defer r.one.Unlock()
	if r.of == nil || len(groups) == 0 { // none have fields, too
		return r.evolvedFile.ReadGroups(ctx, groups, columns, o)
	}
	o.Coming = nil // what comes is not yet what it will be
	var all []*table.Chunk
	for len(groups) > 0 {
		n, inFile := 1, 0 // of the first groups that follow one another
		for n < len(groups) && groups[n] == groups[n-1]+1 {
			n++
		}
		for inFile < n && groups[inFile] < r.File.Groups() {
			inFile++
		}
		if inFile > 0 || t == nil { // its fields
			if t, err = r.evolvedFile.ReadGroups(ctx, groups[:inFile], columns, o); err != nil {
				return nil, err
			}
		}
		var chunks []*table.Chunk
		if inFile > 0 {
			chunks = t.Chunks
		}
		for _, g := range groups[inFile:n] {
			chunks = append(chunks, withColumns(r.of.chunks[g-r.File.Groups():][:1], columns)...)
		}
		if err = r.of.write(chunks, r.starts[groups[0]], columns); err == nil {
			err = r.of.strike(chunks, r.starts[groups[0]])
		}
		if err != nil {
			return nil, err
		}
		for _, chunk := range chunks {
			chunk.Lend() // transactions that read these rows have them as they are
		}
		all, groups = append(all, chunks...), groups[n:]
	}
	return t.With(all...), nil
}

// ZoneMaps is [ingest.File.ZoneMaps]; what the log changes is not told.
func (r *Rows) ZoneMaps(columns []int) (t *table.Table, ok bool) {
	if a := r.of; a != nil && (len(a.chunks)+len(a.delete) > 0 || slices.ContainsFunc(a.update, func(u Update) bool { return slices.Contains(columns, u.Column) })) {
		return nil, false
	}
	r.one.Lock()
	defer r.one.Unlock()
	return r.evolvedFile.ZoneMaps(columns)
}

// Shape is [ingest.File.Shape] of all groups.
func (r *Rows) Shape(columns []int) *table.Table {
	r.one.Lock()
	defer r.one.Unlock()
	t := r.evolvedFile.Shape(columns)
	if t == nil || r.of == nil {
		return t
	}
	for _, u := range r.of.update {
		if slices.Contains(columns, u.Column) {
			for _, c := range t.Chunks {
				c.Segments[u.Column] = columnar.Unknown(t.Fields[u.Column].Type, make([]uint8, c.Rows))
			}
		}
	}
	behind := withColumns(r.of.chunks, columns)
	err := r.of.write(behind, r.starts[r.File.Groups()], columns)
	t.Chunks = append(t.Chunks, behind...)
	if err == nil {
		err = r.of.strike(t.Chunks, 0)
	}
	if err != nil { // of reading it, too
		return nil
	}
	return t
}

// GroupBytes is [ingest.File.GroupBytes].
func (r *Rows) GroupBytes(group int, columns []int) (n int64) {
	if group < r.File.Groups() {
		return r.evolvedFile.GroupBytes(group, columns)
	}
	return xslices.Sum(columns, func(col int) int64 { return int64(r.of.chunks[group-r.File.Groups()].Segments[col].Bytes()) })
}
