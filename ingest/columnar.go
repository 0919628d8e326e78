package ingest

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/table"
)

// columnBatch is how many values of a column are decoded at a time.
const columnBatch = 1 << 14

// group is some of the rows of a file that has them column by column: a row group of a
// Parquet file, a record batch of Arrow. Its columns are read at the same time.
type group struct {
	rows int
	// column begins to read a column; next returns its next n rows as an array.
	column func(col int) (next func(n int) (arrow.Array, error), err error)
	// stated is what the file states about a column.
	stated func(col int) statistics
	bytes  func(col int) int64 // of the file
	path   string              // of the file, where there are several
	name   string              // in the file
	of     *largeGroup         // that it is a piece of, if it is one
	from   int                 // its first row there
}

// overflow is the error of a value beyond the range of its column's type: the column is
// left out, and naming it in a query is the error.
type overflow string

func (o overflow) Error() string { return string(o) }

func outOf(t table.Type) error { return overflow("a value out of range for " + t.String()) }

// column is a column while it is read: first what has to be known of its codes, then these.
type column struct {
	table.Field
	index   int
	parts   [][]*part        // of each group
	frames  []*table.Frame   // of each chunk
	done    []*table.Segment // of the chunks that have been read, in their order
	useless atomic.Pointer[overflow]
}

// part is the rows of a column that are in one group and in one chunk.
type part struct {
	chunk, at, rows int    // from row at of the chunk on
	lo, hi          uint64 // lo > hi: all rows are NULL
	nulls           bool   // some may be
	spans           *spans // of intervals: its own, then those of the column
	// The rest is of text, whose codes are known when all words are.
	words table.Words
	text  []uint32 // numbers of words
	valid []byte   // nil: none is NULL
}

// reading is columns on their way from a file to segments.
type reading struct {
	*File
	ctx         context.Context
	opts        Options
	there       func(chunk, col int, s *table.Segment)
	held        atomic.Int64 // bytes of memory
	allowed     atomic.Int64 // of them
	mu          sync.Mutex
	done, total int64 // bytes of the file
}

// read reads columns, on all cores, one after the other.
func (f *File) read(ctx context.Context, indexes []int, o Options) ([]*column, error) {
	in := *f
	in.groups = joined(f.groups)
	f = &in
	r := &reading{File: f, ctx: ctx, opts: o}
	defer collect()()
	var columns []*column
	for _, i := range indexes {
		c := &column{Field: f.fields[i], index: i}
		for _, g := range f.groups {
			r.total += g.bytes(i)
			if c.Type.Kind != table.Varchar && !c.known(g) { // it is read twice
				r.total += g.bytes(i)
			}
		}
		columns = append(columns, c)
	}
	for _, c := range columns {
		c.parts = f.parts()
	}
	if err := r.all(columns, r.learn, func(*column, int) {}); err != nil {
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
	t := r.next()
	for _, c := range columns {
		nulls := make([]int, len(c.frames)) // 1 stands for some
		for _, p := range slices.Concat(c.parts...) {
			if p.nulls {
				nulls[p.chunk] = 1
			}
		}
		for i, f := range c.frames {
			t.Chunks[i].Segments[c.index] = f.Outline(nulls[i])
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

// known reports whether the file states the bounds of the column in a group.
func (c *column) known(g group) bool {
	lo, hi, ok := g.stated(c.index).bounds()
	return ok && inRange(c.Type, lo, hi) == nil
}

// parts cuts the groups at the ends of chunks.
func (f *File) parts() (list [][]*part) {
	row := 0
	for _, g := range f.groups {
		var of []*part
		for left := g.rows; left > 0; {
			p := &part{chunk: row / f.chunkRows, at: row % f.chunkRows, lo: ^uint64(0), spans: &spans{}}
			p.rows = min(left, f.chunkRows-p.at)
			row, left, of = row+p.rows, left-p.rows, append(of, p)
		}
		list = append(list, of)
	}
	return list
}

// all calls do for every group of every column, and then, in their order, after. The error is that
// of the first that has one.
func (r *reading) all(columns []*column, do func(c *column, g int, d *decoded) error, after func(c *column, g int)) error {
	type task struct {
		*column
		group int
		err   error
	}
	workers := runtime.GOMAXPROCS(0)
	scratch := make([]decoded, workers)
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
		if why := overflow(""); errors.As(t.err, &why) {
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

// batches decodes the values of a column in a group, and gives them with the part that they
// are in and the row of it at which they begin.
func (r *reading) batches(c *column, g int, d *decoded, of func(p *part, at int) error) error {
	next, err := r.groups[g].column(c.index)
	if err != nil {
		return err
	}
	row, rows, bytes := 0, r.groups[g].rows, r.groups[g].bytes(c.index)
	batch := func(p *part, at, n int) error {
		a, err := next(n)
		if err == nil {
			defer a.Release()
			d.spans = p.spans
			err = d.decode(c.Type, a, &p.words)
		}
		if why := overflow(""); errors.As(err, &why) {
			return why
		} else if err != nil {
			first, of := 1+row+r.groups[g].from, r.groups[g].path
			for _, before := range r.groups[:g] {
				if before.path == of {
					first += before.rows
				}
			}
			if of != "" {
				of += ": "
			}
			return damaged(err, "%scolumn %s, %s, rows %d to %d", of, show(c.Name), r.groups[g].name, first, first+n-1)
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

// learn finds the bounds of a column in a group, and the words of text.
func (r *reading) learn(c *column, g int, d *decoded) error {
	if c.known(r.groups[g]) && c.Type.Kind != table.Varchar {
		stated := r.groups[g].stated(c.index)
		n, counted := stated.nullCount()
		for _, p := range c.parts[g] {
			p.lo, p.hi, _ = stated.bounds()
			p.nulls = !counted || n > 0
		}
		return nil
	}
	err := r.batches(c, g, d, func(p *part, at int) error {
		lo, hi := d.extent()
		p.lo, p.hi, p.nulls = min(p.lo, lo), max(p.hi, hi), p.nulls || d.valid != nil
		if err := inRange(c.Type, lo, hi); err != nil {
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

// keep takes the words of rows from row at on, and says what more memory they take.
func (p *part) keep(d *decoded, at int) (bytes int) {
	if p.text == nil {
		p.text = make([]uint32, p.rows)
		bytes = 4 * p.rows
	}
	for i, k := range d.ordinals {
		p.text[at+i] = uint32(k)
	}
	if d.valid != nil {
		if p.valid == nil {
			p.valid = make([]byte, bitutil.BytesForBits(int64(p.rows)))
			bitutil.SetBitsTo(p.valid, 0, int64(p.rows), true)
			bytes += len(p.valid)
		}
		for i := range d.ordinals {
			bitutil.SetBitTo(p.valid, at+i, !d.null(i))
		}
	}
	bytes += p.words.Bytes
	p.words.Bytes = 0
	return bytes
}

// errChanged is that of values which are not those that were read first.
var errChanged = damagef("other values when it is read again")

// unite has all parts of a column share what is known of its intervals.
func (c *column) unite() {
	all := &spans{}
	for _, of := range c.parts {
		for _, p := range of {
			for us, s := range p.spans.of {
				if why := overflow(""); errors.As(all.add(us, s), &why) {
					c.useless.Store(&why)
				}
			}
			p.spans = all
		}
	}
	all.all = true
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
	c.unite()
	for _, parts := range chunks {
		rows, lo, hi := 0, ^uint64(0), uint64(0)
		for _, p := range parts {
			rows, lo, hi = rows+p.rows, min(lo, p.lo), max(hi, p.hi)
		}
		var dict []string
		if c.Type.Kind == table.Varchar {
			var words []*table.Words
			for _, p := range parts {
				words = append(words, &p.words)
			}
			dict = table.Dictionary(words)
			lo, hi = 0, uint64(max(len(dict)-1, 0))
		}
		if lo > hi {
			lo, hi = 0, 0
		}
		if err := r.hold(rows * table.CodeWidth(hi-lo)); err != nil {
			return err
		}
		c.frames = append(c.frames, table.NewFrame(c.Type, rows, lo, hi, dict, parts[0].spans.of))
	}
	return nil
}

// fill writes the codes of a column in a group.
func (r *reading) fill(c *column, g int, d *decoded) error {
	put := func(p *part, at int) error {
		if !d.put(c.frames[p.chunk], p.at+at) {
			return errChanged
		}
		return nil
	}
	if c.Type.Kind != table.Varchar {
		return r.batches(c, g, d, put)
	}
	for _, p := range c.parts[g] {
		rank := p.words.Ranks(c.frames[p.chunk].Dict())
		d.ordinals, d.raw, d.valid, d.offset = slices.Grow(d.ordinals[:0], p.rows)[:p.rows], nil, p.valid, 0
		for i, k := range p.text {
			if d.ordinals[i] = 0; !d.null(i) {
				d.ordinals[i] = rank[k]
			}
		}
		_ = put(p, 0)
		p.text, p.words = nil, table.Words{}
	}
	return nil
}

// hold counts memory that is needed from now on.
func (r *reading) hold(bytes int) error {
	held := r.held.Add(int64(bytes))
	if more := held - r.allowed.Load(); more > slack/4 && r.allowed.CompareAndSwap(held-more, held) {
		allow(more)
	}
	if r.opts.MemoryLimit > 0 && held > r.opts.MemoryLimit {
		return &MemoryError{r.opts.MemoryLimit}
	}
	return nil
}

// step is called now and then, with the bytes of the file done since.
func (r *reading) step(bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = min(r.done+bytes, r.total)
	if r.opts.Progress != nil {
		p := Progress{Done: r.done, Total: r.total, Rows: int64(r.rows)}
		if r.total > 0 {
			p.Rows = int64(float64(r.rows) * float64(r.done) / float64(r.total))
		}
		r.opts.Progress(p)
	}
	return r.ctx.Err()
}
