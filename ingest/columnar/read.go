package columnar

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/dictionary"
)

// column is a column while it is read: first what has to be known of its codes, then these.
type column struct {
	table.Field
	index   int
	parts   [][]*part               // of each group
	frames  []*table.SegmentBuilder // of each chunk
	done    []*table.Segment        // of the chunks that have been read, in their order
	useless atomic.Pointer[arrays.Overflow]
}

// boundsStated reports whether the file states the bounds of the column in a group.
func (c *column) boundsStated(g Group) bool {
	lo, hi, ok := g.Stated(c.index).bounds()
	return ok && arrays.InRange(c.Type, lo, hi) == nil
}

// shareSpans has all parts of a column share what is known of its intervals.
func (c *column) shareSpans() {
	all := &arrays.Spans{}
	for _, of := range c.parts {
		for _, p := range of {
			for us, s := range p.spans.Of {
				if why := arrays.Overflow(""); errors.As(all.Add(us, s), &why) {
					c.useless.Store(&why)
				}
			}
			p.spans = all
		}
	}
	all.All = true
}

// part is the rows of a column that are in one group and in one chunk.
type part struct {
	chunk, at, rows int           // from row at of the chunk on
	lo, hi          uint64        // lo > hi: all rows are NULL
	nulls           bool          // some may be
	spans           *arrays.Spans // of intervals: its own, then those of the column
	// The rest is of text, whose codes are known when all words are.
	words dictionary.Builder
	text  []uint32 // numbers of words
	valid []byte   // nil: none is NULL
}

// keep takes the words of rows from row at on, and says what more memory they take.
func (p *part) keep(d *arrays.Decoded, at int) (bytes int) {
	if p.text == nil {
		p.text = make([]uint32, p.rows)
		bytes = 4 * p.rows
	}
	for i, k := range d.Ordinals {
		p.text[at+i] = uint32(k)
	}
	if d.Valid != nil {
		if p.valid == nil {
			p.valid = make([]byte, bitutil.BytesForBits(int64(p.rows)))
			bitutil.SetBitsTo(p.valid, 0, int64(p.rows), true)
			bytes += len(p.valid)
		}
		for i := range d.Ordinals {
			bitutil.SetBitTo(p.valid, at+i, !d.Null(i))
		}
	}
	bytes += p.words.Bytes
	p.words.Bytes = 0
	return bytes
}

// reading is columns on their way from a file to segments.
type reading struct {
	groups      Groups
	table       *table.Table // with what has been read before
	rows        int
	chunkRows   int
	ctx         context.Context
	opts        source.Options
	there       func(chunk, col int, s *table.Segment)
	held        atomic.Int64 // bytes of memory
	allowed     atomic.Int64 // of them
	mu          sync.Mutex
	done, total int64 // bytes of the file
}

// columns reads columns.
func (r *reading) columns(indexes []int) ([]*column, error) {
	defer source.LimitGarbage()()
	var columns []*column
	for _, i := range indexes {
		c := &column{Field: r.table.Fields[i], index: i}
		for _, g := range r.groups {
			r.total += g.Bytes(i)
			if c.Type.Kind != table.Varchar && !c.boundsStated(g) { // it is read twice
				r.total += g.Bytes(i)
			}
		}
		columns = append(columns, c)
	}
	for _, c := range columns {
		c.parts = r.parts()
	}
	if err := r.all(columns, r.findBounds, func(*column, int) {}); err != nil {
		return nil, err
	}
	for _, c := range columns {
		if err := r.frame(c); err != nil {
			return nil, err
		}
	}
	r.announce(columns)
	if err := r.all(columns, r.fill, r.end); err != nil {
		return nil, err
	}
	return columns, r.step(r.total)
}

// announce tells of the table that is coming.
func (r *reading) announce(columns []*column) {
	r.there = func(int, int, *table.Segment) {}
	if r.opts.Coming == nil {
		return
	}
	t := Snapshot(r.table)
	for _, c := range columns {
		nulls := make([]int, len(c.frames)) // 1 stands for some
		for _, p := range slices.Concat(c.parts...) {
			if p.nulls {
				nulls[p.chunk] = 1
			}
		}
		for i, f := range c.frames {
			t.Chunks[i].Segments[c.index] = f.ZoneMaps(nulls[i])
		}
	}
	r.there = r.opts.Coming(t)
}

// end ends the segments of a column whose last rows are in a group.
func (r *reading) end(c *column, g int) {
	for _, p := range c.parts[g] {
		if f := c.frames[p.chunk]; p.at+p.rows == f.Rows() && c.useless.Load() == nil {
			s := f.Segment()
			c.done = append(c.done, s)
			r.there(p.chunk, c.index, s)
		}
	}
}

// parts cuts the groups at the ends of chunks.
func (r *reading) parts() (list [][]*part) {
	row := 0
	for _, g := range r.groups {
		var of []*part
		for left := g.Rows; left > 0; {
			p := &part{chunk: row / r.chunkRows, at: row % r.chunkRows, lo: ^uint64(0), spans: &arrays.Spans{}}
			p.rows = min(left, r.chunkRows-p.at)
			row, left, of = row+p.rows, left-p.rows, append(of, p)
		}
		list = append(list, of)
	}
	return list
}

// all calls do for every group of every column, and then, in their order, after. The error is that
// of the first that has one.
func (r *reading) all(columns []*column, do func(c *column, g int, d *arrays.Decoded) error, after func(c *column, g int)) error {
	type task struct {
		*column
		group int
		err   error
	}
	workers := runtime.GOMAXPROCS(0)
	scratch := make([]arrays.Decoded, workers)
	tasks := func(yield func(task) bool) {
		for _, c := range columns {
			for g := range r.groups {
				if !yield(task{c, g, nil}) {
					return
				}
			}
		}
	}
	for t := range ordered.Map(workers, tasks, func(w int, t task) task {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of a mapped file that is cut
		t.err = do(t.column, t.group, &scratch[w])
		if why := arrays.Overflow(""); errors.As(t.err, &why) {
			t.useless.Store(&why)
			t.err = nil
		}
		return t
	}) {
		if t.err != nil {
			return t.err
		}
		after(t.column, t.group)
	}
	return nil
}

// batches decodes the values of a column in a group. It passes on the part that the values are in and the row
// of it at which they begin.
func (r *reading) batches(c *column, g int, d *arrays.Decoded, of func(p *part, at int) error) error {
	next, err := r.groups[g].Column(c.index)
	if err != nil {
		return err
	}
	row, rows, bytes := 0, r.groups[g].Rows, r.groups[g].Bytes(c.index)
	batch := func(p *part, at, n int) error {
		a, err := next(n)
		if err == nil {
			defer a.Release()
			d.Spans = p.spans
			err = d.Decode(c.Type, a, &p.words)
		}
		if why := arrays.Overflow(""); errors.As(err, &why) {
			return why
		} else if err != nil {
			first, of := 1+row+r.groups[g].from, r.groups[g].Path
			for _, before := range r.groups[:g] {
				if before.Path == of {
					first += before.Rows
				}
			}
			if of != "" {
				of += ": "
			}
			return source.Damaged(err, "%scolumn %s, %s, rows %d to %d", of, source.ShowName(c.Name), r.groups[g].Name, first, first+n-1)
		}
		return of(p, at)
	}
	for _, p := range c.parts[g] {
		for at := 0; at < p.rows && c.useless.Load() == nil; {
			n := min(columnBatch, p.rows-at)
			if err := batch(p, at, n); err != nil {
				return err
			}
			done := bytes * int64(row) / int64(rows)
			at, row = at+n, row+n
			if err := r.step(bytes*int64(row)/int64(rows) - done); err != nil {
				return err
			}
		}
	}
	return nil
}

// findBounds finds the bounds of a column in a group, and the words of text.
func (r *reading) findBounds(c *column, g int, d *arrays.Decoded) error {
	if c.boundsStated(r.groups[g]) && c.Type.Kind != table.Varchar {
		stated := r.groups[g].Stated(c.index)
		n, counted := stated.NullCount()
		for _, p := range c.parts[g] {
			p.lo, p.hi, _ = stated.bounds()
			p.nulls = !counted || n > 0
		}
		return nil
	}
	err := r.batches(c, g, d, func(p *part, at int) error {
		lo, hi := d.Extent()
		lo, hi = c.Type.Unsigned(lo), c.Type.Unsigned(hi)
		p.lo, p.hi, p.nulls = min(p.lo, lo), max(p.hi, hi), p.nulls || d.Valid != nil
		if err := arrays.InRange(c.Type, lo, hi); err != nil {
			return err
		}
		if c.Type.Kind == table.Varchar {
			return r.hold(p.keep(d, at))
		}
		return nil
	})
	for _, p := range c.parts[g] {
		p.words.Order() // by this goroutine
	}
	return err
}

// frame begins the column's segments.
func (r *reading) frame(c *column) error {
	chunks := make([][]*part, (r.rows+r.chunkRows-1)/r.chunkRows)
	for _, of := range c.parts {
		for _, p := range of {
			chunks[p.chunk] = append(chunks[p.chunk], p)
		}
	}
	c.frames, c.done = nil, nil
	c.shareSpans()
	for _, parts := range chunks {
		rows, lo, hi := 0, ^uint64(0), uint64(0)
		for _, p := range parts {
			rows, lo, hi = rows+p.rows, min(lo, p.lo), max(hi, p.hi)
		}
		var dict []string
		if c.Type.Kind == table.Varchar {
			words := xslices.Map(parts, func(p *part) *dictionary.Builder { return &p.words })
			dict = dictionary.Merge(words)
			lo, hi = 0, uint64(max(len(dict)-1, 0))
		}
		if lo > hi {
			lo, hi = 0, 0
		}
		if err := r.hold(rows * table.CodeWidth(hi-lo)); err != nil {
			return err
		}
		c.frames = append(c.frames, table.NewSegmentBuilder(c.Type, rows, lo, hi, dict, parts[0].spans.Of))
	}
	return nil
}

// fill writes the codes of a column in a group.
func (r *reading) fill(c *column, g int, d *arrays.Decoded) error {
	put := func(p *part, at int) error {
		if !d.Put(c.frames[p.chunk], p.at+at) {
			return arrays.ErrValuesChanged
		}
		return nil
	}
	if c.Type.Kind != table.Varchar {
		return r.batches(c, g, d, put)
	}
	for _, p := range c.parts[g] {
		rank := p.words.Ranks(c.frames[p.chunk].Dict())
		d.Begin(p.rows, p.valid)
		for i, k := range p.text {
			if d.Ordinals[i] = 0; !d.Null(i) {
				d.Ordinals[i] = rank[k]
			}
		}
		_ = put(p, 0)
		p.text, p.words = nil, dictionary.Builder{}
	}
	return nil
}

// hold counts memory that is needed from now on.
func (r *reading) hold(bytes int) error {
	held := r.held.Add(int64(bytes))
	if more := held - r.allowed.Load(); more > source.GarbageSlack/4 && r.allowed.CompareAndSwap(held-more, held) {
		source.RaiseGarbageLimit(more)
	}
	if r.opts.MemoryLimit > 0 && held > r.opts.MemoryLimit {
		return &source.MemoryError{Limit: r.opts.MemoryLimit}
	}
	return nil
}

// step is called now and then, with the bytes of the file done since.
func (r *reading) step(bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = min(r.done+bytes, r.total)
	if r.opts.Progress != nil {
		p := source.Progress{Done: r.done, Total: r.total, Rows: int64(r.rows)}
		if r.total > 0 {
			p.Rows = int64(float64(r.rows) * float64(r.done) / float64(r.total))
		}
		r.opts.Progress(p)
	}
	return r.ctx.Err()
}

// Read reads columns of the rows of a table, on all cores, one after the other. It returns the table's next snapshot, which has them.
func (list Groups) Read(ctx context.Context, t *table.Table, chunkRows int, indexes []int, o source.Options) (*table.Table, error) {
	r := &reading{groups: joined(list), table: t, chunkRows: chunkRows, ctx: ctx, opts: o}
	for _, g := range r.groups {
		r.rows += g.Rows
	}
	columns, err := r.columns(indexes)
	if err != nil {
		return nil, err
	}
	next := Snapshot(t)
	for _, col := range columns {
		if why := col.useless.Load(); why != nil {
			next.Fields[col.index].Unsupported = string(*why)
			continue
		}
		for i, c := range next.Chunks {
			c.Segments[col.index] = col.done[i]
		}
	}
	return next, nil
}

// Snapshot is a table's next one, to which columns are added.
func Snapshot(t *table.Table) *table.Table {
	next := &table.Table{Name: t.Name, Fields: slices.Clone(t.Fields), Version: t.Version + 1}
	for _, c := range t.Chunks {
		next.Chunks = append(next.Chunks, &table.Chunk{Rows: c.Rows, Segments: slices.Clone(c.Segments)})
	}
	return next
}
