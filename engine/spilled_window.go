package engine

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/cpu/window"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/externalsort"
	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// windowSpilled computes the functions of a Window over rows that are spilled.
func (x *settling) windowSpilled(ctx context.Context, s *plan.Subplan, in *spilled, n *plan.Window) (*spilled, error) {
	budget, err := x.budget(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(n.Funcs, func(f *expr.Window) bool { return f.Kind != expr.RowNumber || len(f.Partition)+len(f.Order) > 0 }) {
		return x.numbered(ctx, in, n)
	}
	return x.windowsOf(ctx, s, in, n, budget, 0, false)
}

// commonPartition is what all functions of a Window partition by.
func commonPartition(n *plan.Window) []expr.Expr {
	keys := n.Funcs[0].Partition
	for _, f := range n.Funcs[1:] {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k expr.Expr) bool {
			return !slices.ContainsFunc(f.Partition, func(o expr.Expr) bool { return expr.Identity(o) == expr.Identity(k) })
		})
	}
	return keys
}

// windowsOf is windowSpilled of rows that were dealt so often before, by other bits of their hashes; alone: these are alike. The rows are
// dealt to buckets by what all functions partition by, and each bucket is a table of its own. Where that does not help, functions of the same partition
// and order go over the rows in that order, one such after the other.
func (x *settling) windowsOf(ctx context.Context, s *plan.Subplan, in *spilled, n *plan.Window, budget int64, level int, alone bool) (*spilled, error) {
	keys := commonPartition(n)
	last := len(keys) == 0 || level == mostLevels || alone
	takes := in.bytes() + rowBytes/2*int64(in.rows())
	out := x.leave(n.Fields(), all(plan.Width(n)))
	switch {
	case len(in.list) == 0:
		return out, nil
	case takes <= budget/2 || last && takes <= budget:
		t, err := in.ReadGroups(ctx, all(len(in.list)), in.columns, ingest.Options{})
		if err != nil {
			return nil, err
		}
		if t, err = x.window(ctx, s, t, n); err != nil {
			return nil, err
		}
		return out, out.addTable(t, pieceOf(t.Fields, budget))
	case !last:
		buckets, alone, err := x.dealt(ctx, in, keys, int(min(64, max(4, 4*takes/budget))), level)
		for i, b := range buckets {
			var some *spilled
			if err == nil {
				some, err = x.windowsOf(ctx, s, b, n, budget, level+1, alone[i])
			}
			if err == nil {
				err = out.addRows(some)
			}
		}
		return out, err
	}
	var specs []string
	for _, f := range n.Funcs {
		if spec := f.Spec(); !slices.Contains(specs, spec) {
			specs = append(specs, spec)
		}
	}
	if len(specs) == 1 {
		return out, x.windowInOrder(ctx, s, in, n, budget, out)
	}
	columns := all(plan.Width(n.Input))
	input := n.Input
	for _, spec := range specs {
		step := &plan.Window{Input: input}
		for i, f := range n.Funcs {
			if f.Spec() == spec {
				step.Funcs, columns = append(step.Funcs, f), append(columns, plan.Width(n.Input)+i)
			}
		}
		var err error
		if in, err = x.windowsOf(ctx, s, in, step, budget, 0, false); err != nil {
			return nil, err
		}
		input = step
	}
	in.fields, in.columns = n.Fields(), columns
	return in, nil
}

// windowInOrder adds the rows of a Window, whose functions have one partition and order, to out. Rows that are spilled are sorted by these,
// and then read in order.
func (x *settling) windowInOrder(ctx context.Context, s *plan.Subplan, in *spilled, n *plan.Window, budget int64, out *spilled) error {
	start := time.Now()
	defer func() {
		sum := x.stats[s]
		sum.Elapsed, sum.Backend = sum.Elapsed+time.Since(start), "cpu"
		x.stats[s], x.windows[s] = sum, &Executor{Backend: "cpu"}
	}()
	w, not := window.NewStream(ctx, n)
	if not == nil && int64(w.Before+w.After)*(in.bytes()/int64(in.rows())+rowBytes) > budget/8 {
		not = n.Funcs[0]
	}
	if not != nil {
		return needsMany(not, budget)
	}
	rows, sorts := in.batches(ctx), len(n.Funcs[0].Partition)+len(n.Funcs[0].Order) > 0
	if sorts {
		var err error
		if rows, err = x.inOrder(ctx, in, n.Funcs[0], budget); err != nil {
			return err
		}
	}
	piece := pieceOf(n.Fields(), budget)
	done := func(batch computed) error {
		released([]computed{batch})
		return nil
	}
	if w.Looks {
		kept, keep := in, done
		if sorts {
			kept = x.leave(in.fields, in.columns)
			keep = kept.write
		}
		for t, err := range in.tables(rows, piece, keep) {
			if err == nil {
				err = w.Look(t)
			}
			if err != nil {
				return err
			}
		}
		if err := w.Look(nil); err != nil {
			return err
		}
		rows = kept.batches(ctx)
	}
	var waiting []*table.Table // what is to be given, and which rows are behind it
	before, behind := &table.Table{Fields: in.fields}, 0
	give := func() error {
		t := waiting[0]
		waiting = waiting[1:]
		made, err := w.Give(before, t, rowsAt(0, w.After, waiting...))
		if err != nil {
			return err
		}
		both := before.Rows() + t.Rows()
		before = rowsAt(both-w.Before, both, before, t)
		if len(waiting) > 0 {
			behind -= waiting[0].Rows()
		}
		return out.addTable(made, piece)
	}
	for t, err := range in.tables(rows, piece, done) {
		if err != nil {
			return err
		}
		if waiting = append(waiting, t); len(waiting) > 1 {
			behind += t.Rows()
		}
		for len(waiting) > 0 && behind >= w.After && err == nil {
			err = give()
		}
		if err != nil {
			return err
		}
	}
	for len(waiting) > 0 {
		if err := give(); err != nil {
			return err
		}
	}
	return nil
}

func needsMany(f *expr.Window, budget int64) error {
	return expr.Coded(sqlstate.OutOfMemory, f.P, "the rows of a partition take more than the host memory budget of %s, and %s needs many of them at once: raise it (--host-memory)", size(budget), f)
}

// refused is the error of windowSpilled, before anything is read, where a function needs all rows of a file at once.
func (x *settling) refused(ctx context.Context, n *plan.Window) error {
	p, ok := n.Input.(*plan.Project)
	if !ok || !x.mayLeave() {
		return nil
	}
	scan, ok := p.Input.(*plan.Scan)
	if !ok {
		return nil
	}
	for _, f := range n.Funcs {
		_, not := window.NewStream(ctx, &plan.Window{Input: n.Input, Funcs: []*expr.Window{f}})
		if not == nil || len(f.Partition) > 0 {
			continue
		}
		var columns []int
		for _, item := range p.Items {
			expr.Walk(item.E, func(e expr.Expr) {
				if c, ok := e.(*expr.Column); ok && !slices.Contains(columns, c.Index) {
					columns = append(columns, c.Index)
				}
			})
		}
		b, _, takes, err := x.db.batchesOf(ctx, x.entry(scan.Table), columns, catalog.Conditions{}, rowBytes/2, 0)
		if err == nil && b != nil && takes > b.budget {
			err = needsMany(f, b.budget)
		}
		return err
	}
	return nil
}

// rowsAt are the rows from a number on to before another one of tables of the same fields, one behind the other.
func rowsAt(from, to int, of ...*table.Table) *table.Table {
	out := &table.Table{}
	for _, t := range of {
		out.Name, out.Fields = t.Name, t.Fields
		for _, c := range t.Chunks {
			if first, end := max(0, from), min(c.Rows, to); first < end {
				rows := radixsort.UpTo[uint32](end)[first:]
				some := &table.Chunk{Rows: len(rows)}
				for _, s := range c.Segments {
					some.Segments = append(some.Segments, s.Of(rows))
				}
				out.Chunks = append(out.Chunks, some)
			}
			from, to = from-c.Rows, to-c.Rows
		}
	}
	return out
}

// inOrder are rows in the order of a function's partition and order.
func (x *settling) inOrder(ctx context.Context, in *spilled, f *expr.Window, budget int64) (iter.Seq2[computed, error], error) {
	var keys []sortkey.Key
	key := func(k expr.SortKey) {
		keys = append(keys, sortkey.Key{SortKey: k, Column: slices.Index(in.columns, k.E.(*expr.Column).Index)})
	}
	for _, e := range f.Partition {
		key(expr.SortKey{E: e})
	}
	for _, k := range f.Order {
		key(k)
	}
	r := externalsort.NewRuns(externalsort.NewMerge(ctx, in.of, keys, budget, externalsort.MaxRuns, in.bytes()/int64(in.rows())+int64(16*len(keys)+16)), budget)
	for rows, err := range in.batches(ctx) {
		if err == nil {
			err = r.Add(rows)
		}
		if err != nil {
			return nil, err
		}
	}
	out, err := r.Sorted()
	return batchesIn(out), err
}

// numbered are all columns of rows that are spilled, with the number of the row for each function of a Window. The functions are
// row_number() OVER (), which random() and TABLESAMPLE use, too.
func (x *settling) numbered(ctx context.Context, in *spilled, n *plan.Window) (*spilled, error) {
	out := x.leave(n.Fields(), all(plan.Width(n)))
	first := int64(1)
	for _, e := range in.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := in.of.ReadBatch(e)
		if err != nil {
			return nil, err
		}
		for range n.Funcs {
			b := array.NewInt64Builder(memory.DefaultAllocator)
			for i := range e.Rows {
				b.Append(first + int64(i))
			}
			rows = append(rows, b.NewArray())
			b.Release()
		}
		if err := out.write(rows); err != nil {
			return nil, err
		}
		first += int64(e.Rows)
	}
	return out, nil
}

// dealt deals rows to n buckets by a hash of keys; alone are those whose rows have one.
func (x *settling) dealt(ctx context.Context, in *spilled, keys []expr.Expr, n, level int) (out []*spilled, alone []bool, err error) {
	out, alone = make([]*spilled, n), make([]bool, n)
	first := make([]uint64, n)
	for i := range out {
		out[i] = x.leave(in.fields, in.columns)
	}
	hasher := aggregation.Hasher{Keys: keys}
	for g := range in.list {
		t, err := in.ReadGroups(ctx, []int{g}, in.columns, ingest.Options{})
		if err != nil {
			return nil, nil, err
		}
		for i, c := range t.Chunks {
			hashes, err := hasher.Rows(c, table.Block{Chunk: i, N: c.Rows})
			if err != nil {
				return nil, nil, err
			}
			lists := make([][]uint32, n)
			for row, h := range hashes {
				at := h >> (8 * level) % uint64(n)
				lists[at] = append(lists[at], uint32(row))
				switch {
				case len(lists[at]) == 1 && len(out[at].list) == 0:
					first[at], alone[at] = h, true
				case h != first[at]:
					alone[at] = false
				}
			}
			for at, list := range lists {
				if len(list) == 0 {
					continue
				}
				if err := out[at].write(columnsOf(c, table.Block{Chunk: i, Rows: list}, in.columns)); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return out, alone, nil
}
