package cpu

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Backend executes queries on goroutines. It has no state of its own and may be
// used by any number of goroutines at once.
type Backend struct {
	workers int
	kernels kernels.Set
	indexes func(*table.Segment) []*index.Index // nil for none
	// The cost of one row that an index finds, in rows that are scanned, and that of one more span of codes. An index
	// pays in a chunk that has more rows than its cost.
	leastPart, spanRows int
}

// Option changes a new [Backend].
type Option func(*Backend)

// WithoutSIMD makes a backend that runs no vector instructions, for comparison.
func WithoutSIMD(b *Backend) { b.kernels = kernels.Portable }

// New returns a backend of that many workers a query; 0 or less means
// GOMAXPROCS. It runs the fastest kernels that the machine has.
func New(workers int, options ...Option) *Backend {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	b := &Backend{workers: workers, kernels: kernels.Best(), leastPart: 64, spanRows: 256}
	for _, o := range options {
		o(b)
	}
	return b
}

// SIMD says which kernels run: "avx2", or "portable" for plain Go.
func (b *Backend) SIMD() string { return b.kernels.String() }

// Workers is how many work on a query.
func (b *Backend) Workers() int { return b.workers }

// Name returns "cpu".
func (b *Backend) Name() string { return "cpu" }

// Execute answers q: one value an aggregate. The first check, by chunk and then in
// order, that selects a row fails the query with its error. A rank out of range, a sum
// that its type cannot hold, and the end of ctx are errors too.
func (b *Backend) Execute(ctx context.Context, q *physical.Query) ([]table.Value, error) {
	s, err := b.Select(ctx, q)
	if err != nil {
		return nil, err
	}
	return partial.Finish(s, q)
}

// Select prepares the selection of a query; its Check goes over all rows and gathers
// what the query's aggregates will ask for. The end of ctx is an error of its methods.
func (b *Backend) Select(ctx context.Context, q *physical.Query) (partial.Selection, error) {
	return b.execution(ctx, q, false)
}

// block is a run of up to BlockRows rows of a chunk; row is a multiple of
// BlockRows.
type block struct {
	chunk  int
	row, n int
}

// segment is one of a column, with the kernels for its codes.
type segment struct {
	*table.Segment
	kernels.Codes
}

// chunkRun is a chunk with its predicates made ready.
type chunkRun struct {
	where   *node
	checks  []*node
	columns []segment // of the needs, in their order
	// selected is kept only for queries that look for a k-th value, which come
	// back to it; nil where all rows are selected.
	selected table.Bitmap
}

// execution is one query under way; it implements partial.Selection.
type execution struct {
	*Backend
	ctx      context.Context
	q        *physical.Query
	chunks   []chunkRun
	blocks   []block
	workers  int // at most one a block
	needs    []needs
	found    [][]uint32           // by chunk the rows that an index has found, which q is narrowed to; nil for all
	total    *workerShare         // once scanned
	orders   map[int]*commonOrder // of the columns in which a rank was looked for
	searches map[int]*searched    // of those in which one is looked for together with others
}

// execution begins a query, whose rows are listed or only aggregated.
func (b *Backend) execution(ctx context.Context, q *physical.Query, listed bool) (*execution, error) {
	if len(q.Chunks) != len(q.Table.Chunks) {
		return nil, fmt.Errorf("cpu: plan of %d chunks for a table of %d", len(q.Chunks), len(q.Table.Chunks))
	}
	if err := q.RequireColumns(); err != nil {
		return nil, err
	}
	x := &execution{Backend: b, ctx: ctx, needs: columnNeeds(q.Aggs), orders: map[int]*commonOrder{}, searches: map[int]*searched{}}
	ranked := false // some aggregate looks for a k-th value
	for _, nd := range x.needs {
		if nd.col < 0 || nd.col >= len(q.Table.Fields) {
			return nil, fmt.Errorf("cpu: aggregate over column %d of a table of %d", nd.col, len(q.Table.Fields))
		}
		if f := q.Table.Fields[nd.col]; f.Unsupported != "" {
			return nil, fmt.Errorf("cpu: column %s cannot be used: %s", f.Name, f.Unsupported)
		}
	}
	if uses := b.IndexesOf(q); uses != nil {
		q, x.found = narrowed(q, uses, listed)
	}
	x.q = q
	for _, a := range q.Aggs {
		ranked = ranked || physical.IsOrderStatistic(a) && a.Kind != expr.Min && a.Kind != expr.Max
	}
	for i, c := range q.Table.Chunks {
		run := chunkRun{}
		var err error
		if run.where, err = prepare(q.Chunks[i].Pred, c, b.kernels); err != nil {
			return nil, err
		}
		for _, check := range q.Chunks[i].Checks {
			nd, err := prepare(check.Pred, c, b.kernels)
			if err != nil {
				return nil, err
			}
			run.checks = append(run.checks, nd)
		}
		for _, nd := range x.needs {
			run.columns = append(run.columns, newSegment(c.Segments[nd.col], b.kernels))
		}
		if ranked && run.where.op != predicate.True {
			run.selected = table.NewBitmap(c.Rows)
		}
		x.chunks = append(x.chunks, run)
		for row := 0; row < c.Rows; row += vector.BlockRows {
			x.blocks = append(x.blocks, block{i, row, min(vector.BlockRows, c.Rows-row)})
		}
	}
	x.workers = max(1, min(b.workers, len(x.blocks)))
	return x, nil
}

func newSegment(s *table.Segment, set kernels.Set) segment { return segment{s, set.Of(s.Codes)} }

// forBlocks calls do for every block, in ascending order but on several workers
// at once, each numbered from 0. It ends early when ctx does.
func (x *execution) forBlocks(do func(worker int, s *scratch, b block)) error {
	var next atomic.Int64
	var wg parallel.Group
	work := func(w int) {
		s := takeScratch()
		defer s.release()
		for i := int(next.Add(1)) - 1; i < len(x.blocks) && x.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			do(w, s, x.blocks[i])
		}
	}
	for w := 1; w < x.workers; w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
	return x.ctx.Err()
}

// sweep runs the checks of every block and calls do, unless it is nil, for those of which
// no row fails one. It goes on to the first check that fails.
func (x *execution) sweep(do func(worker int, s *scratch, b block)) error {
	const none = 1<<64 - 1
	var first atomic.Uint64 // the chunk, in the upper half, and the check
	first.Store(none)
	err := x.forBlocks(func(w int, s *scratch, b block) {
		if first.Load()>>32 < uint64(b.chunk) {
			return
		}
		for i, check := range x.chunks[b.chunk].checks {
			bad := check.all(s, b.row, b.n)
			failed := anyBit(bad)
			s.put(bad)
			if failed {
				at := uint64(b.chunk)<<32 | uint64(i)
				for old := first.Load(); at < old && !first.CompareAndSwap(old, at); {
					old = first.Load()
				}
				return
			}
		}
		if do != nil {
			do(w, s, b)
		}
	})
	if at := first.Load(); err == nil && at != none {
		return x.failed(int(at>>32), int(at&(1<<32-1)))
	}
	return err
}

// failed is the error of a check: that of the first row that it selects.
func (x *execution) failed(chunk, check int) error {
	c, s := x.q.Table.Chunks[chunk], takeScratch()
	defer s.release()
	for row := 0; row < c.Rows; row += vector.BlockRows {
		bad := x.chunks[chunk].checks[check].all(s, row, min(vector.BlockRows, c.Rows-row))
		for w, m := range bad {
			if m != 0 {
				return x.q.CheckFailedAt(chunk, check, row+64*w+bits.TrailingZeros64(m))
			}
		}
		s.put(bad)
	}
	return fmt.Errorf("cpu: check %d of chunk %d selects no row", check, chunk)
}

// Check implements partial.Selection: it selects the rows of every block and gathers what the
// aggregates need of them.
func (x *execution) Check() error {
	parts := make([]workerShare, x.workers)
	for i := range parts {
		parts[i].cols = make([]gathered, len(x.needs))
	}
	err := x.sweep(func(w int, s *scratch, b block) { x.gather(&parts[w], s, b) })
	for i := range parts[1:] {
		parts[0].merge(&parts[1+i])
	}
	x.total = &parts[0]
	return err
}

// gather adds the selected rows of one block to p.
func (x *execution) gather(p *workerShare, s *scratch, b block) {
	c := &x.chunks[b.chunk]
	if len(x.needs) == 0 && c.where.op == predicate.True {
		p.rows += uint64(b.n)
		return
	}
	sel := c.where.all(s, b.row, b.n)
	p.rows += uint64(sel.Count())
	if c.selected != nil {
		copy(c.selected[b.row/64:], sel)
	}
	for i, col := range c.columns {
		values := sel
		if col.Valid != nil {
			values = s.get(len(sel))
			copy(values, sel)
			andValid(values, col.Segment, b.row)
		}
		p.cols[i].add(x.needs[i], col, s, values, b.row)
		if col.Valid != nil {
			s.put(values)
		}
	}
	s.put(sel)
}

func (x *execution) Count() (uint64, error) { return x.total.rows, nil }

// column is what was gathered of a column, and its place among the needs.
func (x *execution) column(col int) (int, *gathered, error) {
	for i, nd := range x.needs {
		if nd.col == col {
			return i, &x.total.cols[i], nil
		}
	}
	return 0, &gathered{}, fmt.Errorf("cpu: no aggregate of the query is over column %d", col)
}

func (x *execution) CountNotNull(col int) (uint64, error) {
	_, c, err := x.column(col)
	return c.N, err
}

func (x *execution) Sum(col int) (partial.Sum, error) {
	_, c, err := x.column(col)
	return c.Sum, err
}

func (x *execution) Kth(col int, k uint64, largest bool) (table.Value, error) {
	i, c, err := x.column(col)
	switch extreme := k == 1 && err == nil && x.needs[i].extreme; {
	case err != nil:
		return table.Value{}, err
	case extreme && largest:
		return c.hi, nil
	case extreme:
		return c.lo, nil
	case largest:
		return x.smallest(col, c.N-k)
	}
	return x.smallest(col, k-1)
}
