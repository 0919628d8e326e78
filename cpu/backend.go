package cpu

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Backend executes queries on goroutines. It has no state of its own and may be
// used by any number of goroutines at once.
type Backend struct {
	workers int
	kernels kernels.Set
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
	b := &Backend{workers: workers, kernels: kernels.Best()}
	for _, o := range options {
		o(b)
	}
	return b
}

// SIMD says which kernels run: "avx2", or "portable" for plain Go.
func (b *Backend) SIMD() string { return b.kernels.String() }

// Name returns "cpu".
func (b *Backend) Name() string { return "cpu" }

// Execute answers q: one value an aggregate. The first check, by chunk and then in
// order, that selects a row fails the query with its error. A rank out of range, a sum
// that its type cannot hold, and the end of ctx are errors too.
func (b *Backend) Execute(ctx context.Context, q *plan.Query) (*plan.Answer, error) {
	s, err := b.Select(ctx, q)
	if err != nil {
		return nil, err
	}
	values, err := plan.Finish(s, q)
	if err != nil {
		return nil, err
	}
	return &plan.Answer{Values: values}, nil
}

// block is a run of up to blockRows rows of a chunk; row is a multiple of
// blockRows.
type block struct {
	chunk  int
	row, n int
}

// chunkRun is a chunk with its predicates made ready.
type chunkRun struct {
	*table.Chunk
	where  *node
	checks []*node
	// selected is kept only for queries that look for a k-th value, which come
	// back to it; nil where all rows are selected.
	selected table.Bitmap
}

// execution is one query under way; it implements plan.Selection.
type execution struct {
	*Backend
	ctx    context.Context
	q      *plan.Query
	chunks []chunkRun
	blocks []block
	needs  []needs
	ranked bool                 // some aggregate looks for a k-th value
	orders map[int]*commonOrder // of the columns that they look in
	total  *partial             // once scanned
}

// Select prepares the selection of a query; its Check goes over all rows and gathers
// what the query's aggregates will ask for. The end of ctx is an error of its methods.
func (b *Backend) Select(ctx context.Context, q *plan.Query) (plan.Selection, error) {
	return b.execution(ctx, q)
}

func (b *Backend) execution(ctx context.Context, q *plan.Query) (*execution, error) {
	if len(q.Chunks) != len(q.Table.Chunks) {
		return nil, fmt.Errorf("cpu: plan of %d chunks for a table of %d", len(q.Chunks), len(q.Table.Chunks))
	}
	x := &execution{Backend: b, ctx: ctx, q: q, needs: columnNeeds(q.Aggs), orders: map[int]*commonOrder{}}
	for _, nd := range x.needs {
		if nd.col < 0 || nd.col >= len(q.Table.Fields) {
			return nil, fmt.Errorf("cpu: aggregate over column %d of a table of %d", nd.col, len(q.Table.Fields))
		}
		if f := q.Table.Fields[nd.col]; f.Unsupported != "" {
			return nil, fmt.Errorf("cpu: column %s cannot be used: %s", f.Name, f.Unsupported)
		}
	}
	for _, a := range q.Aggs {
		x.ranked = x.ranked || plan.IsRanked(a) && a.Kind != expr.Min && a.Kind != expr.Max
	}
	for i, c := range q.Table.Chunks {
		run := chunkRun{Chunk: c}
		var err error
		if run.where, err = prepare(q.Chunks[i].Pred, c); err != nil {
			return nil, err
		}
		for _, check := range q.Chunks[i].Checks {
			nd, err := prepare(check.Pred, c)
			if err != nil {
				return nil, err
			}
			run.checks = append(run.checks, nd)
		}
		if x.ranked && run.where.op != plan.True {
			run.selected = table.NewBitmap(c.Rows)
		}
		x.chunks = append(x.chunks, run)
		for row := 0; row < c.Rows; row += blockRows {
			x.blocks = append(x.blocks, block{i, row, min(blockRows, c.Rows-row)})
		}
	}
	return x, nil
}

// forBlocks calls do for every block, in ascending order but on several workers
// at once, each numbered from 0. It ends early when ctx does.
func (x *execution) forBlocks(do func(worker int, b block)) error {
	var next atomic.Int64
	work := func(w int) {
		for x.ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(x.blocks) {
				return
			}
			do(w, x.blocks[i])
		}
	}
	var wg sync.WaitGroup
	for w := range x.teamSize() - 1 {
		wg.Go(func() { work(1 + w) })
	}
	work(0)
	wg.Wait()
	return x.ctx.Err()
}

// teamSize is the number of workers that forBlocks uses.
func (x *execution) teamSize() int { return max(1, min(x.workers, len(x.blocks))) }

// newScratches returns one a worker.
func (x *execution) newScratches() []scratch {
	out := make([]scratch, x.teamSize())
	for i := range out {
		out[i].kernels = x.kernels
	}
	return out
}

// scan selects the rows of every block and gathers what the aggregates need of
// them.
func (x *execution) scan() (*partial, error) {
	fail := newFirstFailure()
	parts := make([]partial, x.teamSize())
	scratches := x.newScratches()
	for i := range parts {
		parts[i].cols = make([]columnPartial, len(x.needs))
	}
	err := x.forBlocks(func(w int, b block) {
		s := &scratches[w]
		if c := &x.chunks[b.chunk]; !fail.before(b.chunk) && c.passes(s, b, fail) {
			x.scanBlock(s, &parts[w], c, b)
		}
	})
	if err != nil {
		return nil, err
	}
	if chunk, check, ok := fail.get(); ok {
		return nil, x.q.Failed(chunk, check)
	}
	for i := range parts[1:] {
		parts[0].merge(&parts[1+i])
	}
	return &parts[0], nil
}

// scanBlock adds the selected rows of one block to p.
func (x *execution) scanBlock(s *scratch, p *partial, c *chunkRun, b block) {
	if len(x.needs) == 0 {
		p.rows += c.where.count(s, b.row, b.n)
		return
	}
	words := (b.n + 63) / 64
	among, sel := s.get(words), s.get(words)
	setFirst(among, b.n)
	c.where.eval(s, sel, among, b.row, b.n)
	p.rows += countBits(sel)
	if c.selected != nil {
		copy(c.selected[b.row/64:], sel)
	}
	for i, nd := range x.needs {
		seg := c.Segments[nd.col]
		values := sel
		if seg.Valid != nil {
			values = among
			copy(values, sel)
			andValid(values, seg, b.row)
		}
		p.cols[i].add(s.kernels, nd, seg, values, b.row, b.n)
	}
	s.put(among)
	s.put(sel)
}

// passes runs the checks of a block and reports whether no row failed one.
func (c *chunkRun) passes(s *scratch, b block, fail *firstFailure) bool {
	if len(c.checks) == 0 {
		return true
	}
	words := (b.n + 63) / 64
	among, bad := s.get(words), s.get(words)
	defer func() { s.put(among); s.put(bad) }()
	setFirst(among, b.n)
	for i, check := range c.checks {
		check.eval(s, bad, among, b.row, b.n)
		if anyBit(bad) {
			fail.record(b.chunk, i)
			return false
		}
	}
	return true
}

// firstFailure is the smallest (chunk, check) that selected a row.
type firstFailure struct{ at atomic.Uint64 }

func newFirstFailure() *firstFailure {
	f := &firstFailure{}
	f.at.Store(^uint64(0))
	return f
}

func (f *firstFailure) record(chunk, check int) {
	v := uint64(chunk)<<32 | uint64(check)
	for old := f.at.Load(); v < old && !f.at.CompareAndSwap(old, v); {
		old = f.at.Load()
	}
}

// before reports a failure in a chunk before this one.
func (f *firstFailure) before(chunk int) bool { return f.at.Load()>>32 < uint64(chunk) }

func (f *firstFailure) get() (chunk, check int, ok bool) {
	v := f.at.Load()
	return int(v >> 32), int(v & (1<<32 - 1)), v != ^uint64(0)
}
