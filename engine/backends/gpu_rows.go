package backends

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"

	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// checked reports whether something may be wrong with a chunk's records: compute has no
// checks but the plan's.
func (b *Passes) checked(c physical.ChunkPlan) bool { return b.name != "compute" || len(c.Checks) > 0 }

// check runs the checks of a chunk.
func (b *Passes) check(run pass.Runner, g *devicepool.GPU, q *physical.Query, chunk int) error {
	part := q.Part([]int{chunk})
	part.Groups = nil
	s, err := devicepool.Algorithms[b.name].Selection(run, g, part)
	if err != nil {
		return err
	}
	return s.Check()
}

// FindAll hands run the passes that find the rows of a query.
func (b *Passes) FindAll(run pass.Runner, g *devicepool.GPU, q *physical.Query) error {
	if done, err := b.FindGroups(run, g, q); done || err != nil {
		return err
	}
	if q.Order != nil {
		if _, err := b.order(run, g, q); !plan.IsDeclined(err) {
			return err
		}
	}
	for i, c := range q.Chunks {
		if b.checked(c) {
			if err := b.check(run, g, q, i); err != nil {
				return err
			}
		}
		if _, err := devicepool.Algorithms[b.name].Rows(run, g, q, i); err != nil {
			return err
		}
	}
	return nil
}

// rowsInBlock is the most rows of a block that are not neighbours.
const rowsInBlock = 1 << 14

// Found is the selected rows of a chunk.
type Found struct {
	Chunk int
	Rows  []physical.SelectedRows
	err   error
}

// Rows implements backend. A chunk's rows are found as a whole on its device and held in host memory, at most
// a bit a record. The device is free between two chunks. It processes the next chunk while the caller has
// this one.
func (b *Passes) Rows(ctx context.Context, q *physical.Query, took *querystats.Collector) iter.Seq2[table.Block, error] {
	if s := b.Stream(q); s != nil {
		return b.rowsInWindows(ctx, q, s, took)
	}
	on := make([]*devicepool.GPU, len(q.Chunks))
	for d, chunks := range devicepool.Place(q.Table, len(b.GPUs)) {
		for _, i := range chunks {
			on[i] = b.GPUs[d]
		}
	}
	return b.rowsOn(ctx, q, on, took)
}

// rowsOn is Rows where each chunk is on its device.
func (b *Passes) rowsOn(ctx context.Context, q *physical.Query, on []*devicepool.GPU, took *querystats.Collector) iter.Seq2[table.Block, error] {
	return func(yield func(table.Block, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		chunks := func(yield func(int) bool) {
			for i := 0; i < len(on) && ctx.Err() == nil && yield(i); i++ {
			}
		}
		do := func(i int, f func(pass.Runner) error) error { return on[i].Start(ctx, q, on[i].GL, took, f)() }
		var err error
		for i, c := range q.Chunks {
			if !b.checked(c) {
				continue
			}
			if err = do(i, func(run pass.Runner) error { return b.check(run, on[i], q, i) }); err != nil {
				yield(table.Block{}, Explained(b.name, err))
				return
			}
		}
		find := func(_ int, i int) Found {
			var rows []physical.SelectedRows
			err := do(i, func(run pass.Runner) (err error) {
				rows, err = devicepool.Algorithms[b.name].Rows(run, on[i], q, i)
				return err
			})
			if err != nil { // the GL thread may be at its pass yet
				return Found{Chunk: i, err: err}
			}
			return Found{Chunk: i, Rows: rows}
		}
		devices := slices.Compact(slices.Clone(on))
		for f := range ordered.Map(min(max(1, len(devices)), 4), chunks, find) {
			if err = f.err; err != nil {
				cancel()
				break
			}
			for rows := range f.Blocks {
				if !yield(rows, nil) {
					cancel()
					return
				}
			}
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			yield(table.Block{}, Explained(b.name, err))
		}
	}
}

// Blocks yields the rows in order; bits become row numbers on all cores.
func (f Found) Blocks(yield func(table.Block) bool) {
	parts := func(yield func(physical.SelectedRows) bool) {
		for _, m := range f.Rows {
			for p := range m.Parts(32 * rowsInBlock) {
				if !yield(p) {
					return
				}
			}
		}
	}
	listed := ordered.Map(runtime.GOMAXPROCS(0), parts, func(_ int, m physical.SelectedRows) (list []table.Block) {
		for _, c := range m.Values {
			list = append(list, table.Block{Chunk: f.Chunk, N: c.Rows, Values: c})
		}
		if m.All {
			return []table.Block{{Chunk: f.Chunk, First: m.First, N: m.N}}
		}
		for rows := range m.Lists(rowsInBlock) {
			list = append(list, table.Block{Chunk: f.Chunk, Rows: rows})
		}
		return list
	})
	for list := range listed {
		for _, b := range list {
			if !yield(b) {
				return
			}
		}
	}
}
