package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// batches are columns of a file that do not fit host memory. Some row groups are read at a time, processed,
// and dropped; the next ones are read meanwhile.
type batches struct {
	entry   *catalog.Entry
	columns []int
	groups  [][]int // of each batch
	without int     // row groups that have no record that is selected
	bytes   int64   // of the largest, about
	total   int64   // of all
	rows    int64
	budget  int64 // bytes of host memory for the statement
	tight   bool  // the file was known to take more than it tells

	mu   sync.Mutex
	last batchTimes // of the last execution
}

// batchTimes are what an execution took.
type batchTimes struct {
	sweeps                int
	reading, waited, work time.Duration // waited: for the reading, which goes on beside the work
	spilled               int64         // bytes that were written to a temporary file
}

// inBatches says how a fragment over a file goes over it in batches. It is nil where the file's columns fit the host memory
// budget, or the fragment cannot do that. Aggregates of columns without keys can, on all backends, and on cpu the trees that
// [spills] reports.
func (db *DB) inBatches(ctx context.Context, e *catalog.Entry, tree plan.Node, f *plan.Fragment) (*prunedScan, error) {
	columns := f.Reads()
	plain := len(f.Aggs) > 0 && f.Groups == nil && f.Fallback == nil
	if t := e.Table.Load(); t == nil || t.Has(columns) || !plain && !(db.onCPU() && spills(tree)) {
		return nil, nil
	}
	each := int64(0)
	if !plain { // what sorting or grouping a row takes
		each = rowBytes / 2
	}
	b, t, takes, err := db.batchesOf(ctx, e, columns, catalog.ConditionsOf(f), each, 0)
	if b == nil || takes <= b.budget {
		return nil, err
	}
	if db.now().hostMemory == 0 {
		db.adopt(b.budget)
	}
	if db.halfFull() && db.evict(ctx) {
		return db.inBatches(ctx, e, tree, f)
	}
	if plain && seeksTexts(f) && !(db.onCPU() && spills(tree)) {
		return nil, nil
	}
	return &prunedScan{Pruned: &catalog.Pruned{Table: t, Groups: len(t.Chunks), Left: len(t.Chunks)}, batches: b}, nil
}

// seeksTexts reports an order statistic of texts, whose codes say nothing outside of a batch.
func seeksTexts(f *plan.Fragment) bool {
	return slices.ContainsFunc(f.Aggs, func(a expr.Aggregate) bool { return partial.NeedsSearch(a) && a.Arg.Kind == table.Varchar })
}

// batchesOf are columns of a file in batches of a quarter of a budget; with 0 it is what is left of the DB's. It leaves out row groups that
// conditions rule out. It returns the file's shape, too, and what all columns would take, with each more bytes for each row. It is nil
// where the file is read as a whole.
func (db *DB) batchesOf(ctx context.Context, e *catalog.Entry, columns []int, where catalog.Conditions, each, budget int64) (*batches, *table.Table, int64, error) {
	type made struct {
		*batches
		shape *table.Table
		takes int64
	}
	out, err := whatIsRead(ctx, db, e, func(o ingest.Options) (*made, error) {
		if e.Source == nil || e.Source.Changed() || o.MemoryLimit == 0 {
			return nil, nil
		}
		t := e.Source.Shape(columns)
		if t == nil || slices.ContainsFunc(columns, func(col int) bool { return t.Fields[col].Unsupported != "" }) {
			return nil, nil
		}
		keep, told, err := catalog.KeptRowGroups(e.Source, where)
		if err != nil {
			return nil, err
		}
		if told != nil && len(keep) == 0 {
			keep = []int{0} // an answer has to come from some rows
		}
		out := &made{&batches{entry: e, columns: columns, budget: cmp.Or(budget, o.MemoryLimit), tight: e.OutOfMemory.Load()}, t, 0}
		size := int64(0)
		for i, c := range t.Chunks {
			held := e.Source.GroupBytes(i, columns)
			if out.tight {
				held *= tightTimes
			}
			n := held + each*int64(c.Rows)
			out.takes += n
			if told != nil && !slices.Contains(keep, i) {
				out.without++
				continue
			}
			out.rows, out.total = out.rows+int64(c.Rows), out.total+held
			if len(out.groups) == 0 || size+n > out.budget/4 {
				out.groups, size = append(out.groups, nil), 0
			}
			last := len(out.groups) - 1
			out.groups[last] = append(out.groups[last], i)
			size += n
			out.batches.bytes = max(out.batches.bytes, size)
		}
		return out, nil
	})
	if out == nil {
		return nil, nil, 0, err
	}
	return out.batches, out.shape, out.takes, err
}

// tookMore reports that the batches have turned out to take more memory than was reckoned.
func (b *batches) tookMore() bool { return !b.tight && b.entry.OutOfMemory.Load() }

// tightTimes is the factor by which the estimate of the file's columns is raised if it was too small: short texts take more memory.
const tightTimes = 4

// loaded is a batch that has been read.
type loaded struct {
	table *table.Table
	took  time.Duration
	err   error
}

// read begins to read a batch.
func (b *batches) read(ctx context.Context, db *DB, batch int) chan loaded {
	out := make(chan loaded, 1)
	parallel.Go(func() {
		var l loaded
		start := time.Now()
		read := func() (*table.Table, error) {
			return whatIsRead(ctx, db, b.entry, func(o ingest.Options) (*table.Table, error) {
				if b.entry.Spool.Load() == nil { // of CSV it is that of the conversion
					o.Progress = nil
				}
				return b.entry.Source.ReadGroups(ctx, b.groups[batch], b.columns, o)
			})
		}
		l.table, l.err = read()
		if errors.As(l.err, new(*ingest.MemoryError)) && db.evict(ctx) {
			l.table, l.err = read()
		}
		l.took = time.Since(start)
		b.entry.Loading.Add(-int64(l.took)) // it is told apart
		out <- l
	}, func(p *parallel.Panic) { out <- loaded{err: p} })
	return out
}

// reader reads batches, the next one while one is worked on.
type reader struct {
	*batches
	ctx    context.Context
	cancel context.CancelFunc
	db     *DB
	times  *batchTimes
	coming chan loaded // nil where none is
}

// reader begins to read the first batch. It has to be closed.
func (b *batches) reader(ctx context.Context, db *DB, times *batchTimes) *reader {
	r := &reader{batches: b, db: db, times: times}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.coming = b.read(r.ctx, db, 0)
	return r
}

// close waits for what is being read.
func (r *reader) close() {
	r.cancel()
	if r.coming != nil {
		<-r.coming
	}
}

// get is a batch; batches are asked for in order, the first again after the last.
func (r *reader) get(batch int) (*table.Table, error) {
	if batch == 0 {
		r.times.sweeps++
	}
	begun := time.Now()
	if r.coming == nil {
		r.coming = r.read(r.ctx, r.db, batch)
	}
	l := <-r.coming
	r.coming = nil
	r.times.waited += time.Since(begun)
	r.times.reading += l.took
	if l.err != nil {
		return nil, l.err
	}
	if batch+1 < len(r.groups) {
		r.coming = r.read(r.ctx, r.db, batch+1)
	}
	for _, col := range r.columns {
		if why := l.table.Fields[col].Unsupported; why != "" {
			return nil, fmt.Errorf("column %s of %s has %s", l.table.Fields[col].Name, l.table.Name, why)
		}
	}
	return l.table, nil
}

// ended notes what an execution took, which began at start.
func (b *batches) ended(times batchTimes, start time.Time, took *querystats.Collector) {
	times.work = time.Since(start) - times.waited
	took.Add(0, 0, Loading{Reading: times.waited}, 0)
	b.mu.Lock()
	b.last = times
	b.mu.Unlock()
}

// execute gives the values of the aggregates of q, which is the fragment over the outline of all of the file.
func (b *batches) execute(ctx context.Context, db *DB, f *plan.Fragment, q *physical.Query, on backends.Backend, took *querystats.Collector) ([]table.Value, error) {
	type visit struct {
		batch int
		again bool
	}
	var times batchTimes
	start := time.Now()
	which, visits := map[*physical.Query]visit{}, make([]partial.Visit, len(b.groups))
	for i := range visits {
		visits[i] = partial.Visit{First: &physical.Query{}, Again: &physical.Query{}}
		which[visits[i].First], which[visits[i].Again] = visit{i, false}, visit{i, true}
	}
	r := b.reader(ctx, db, &times)
	defer r.close()
	var part *physical.Query // of the batch that is there
	signed := false          // one of them has zeros that codes do not tell apart
	v := partial.Visiting{Visits: visits,
		Visit: func(of *physical.Query, do func() error) error {
			v := which[of]
			t, err := r.get(v.batch)
			if err != nil {
				return err
			}
			unpin := db.pinned(t)
			defer unpin()
			if part, err = physical.NewQuery(t, f); err != nil {
				return err
			}
			if signed = signed || hasSignedZeros(f, t); v.again {
				part = partial.NewVisit(part).Again
			}
			return do()
		},
		Select: func(_ *physical.Query, do func(partial.Selection) error) error {
			return onSelection(ctx, on, part, took, do)
		}}
	values, err := partial.Finish(partial.Stream(q, v), q)
	if err == nil && signed {
		err = signZeros(ctx, f, values, b.tables(ctx, db, &times))
	}
	b.ended(times, start, took)
	return values, err
}

// tables are the batches, one after the other.
func (b *batches) tables(ctx context.Context, db *DB, times *batchTimes) iter.Seq2[*table.Table, error] {
	return func(yield func(*table.Table, error) bool) {
		r := b.reader(ctx, db, times)
		defer r.close()
		for batch := range b.groups {
			t, err := r.get(batch)
			unpin := func() {}
			if err == nil {
				unpin = db.pinned(t)
			}
			more := yield(t, err)
			if unpin(); !more {
				return
			}
		}
	}
}

// onSelection calls do with the selection of a query on a backend: on the first of several devices.
func onSelection(ctx context.Context, on backends.Backend, q *physical.Query, took *querystats.Collector, do func(partial.Selection) error) error {
	var b *backends.Passes
	switch v := on.(type) {
	case *backends.Passes:
		b = v
	case backends.CPU:
		s, err := v.Select(ctx, q)
		if err == nil {
			err = do(s)
		}
		return err
	default:
		return &plan.Declined{Why: on.Name() + " does not go over a file in batches"}
	}
	p := backends.Part{Part: devicepool.Part{GPU: b.GPUs[0], Query: q}}
	if s := b.Stream(q); s != nil && len(b.GPUs) == 1 {
		p = s.Parts[0]
	}
	return p.GPU.Start(ctx, q, p.GPU.GL, took, func(m pass.Runner) error {
		s, err := p.Selection(b.Name(), m)
		if err == nil {
			err = do(s)
		}
		return err
	})()
}

// step says how the file is gone over, and what that took where it has been.
func (b *batches) step() Step {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := Step{Pass: fmt.Sprintf("ReadGroups(batches %d of at most %s)", len(b.groups), size(b.bytes))}
	if s.Counts = "the columns do not fit the host memory budget: row groups are read, worked on and dropped"; b.entry.Spool.Load() != nil {
		s.Counts = "the columns do not fit the host memory budget: they are converted, once, into a temporary file, of which parts are read, worked on and dropped"
	}
	if b.without > 0 {
		s.Counts += fmt.Sprintf("; without %s, which have no record that is selected", numbers.Count(int64(b.without), "row group", "row groups"))
	}
	if t := b.last; t.sweeps > 0 {
		s.Counts += fmt.Sprintf("; sweeps %d, reading %s of which %s were waited for, work %s", t.sweeps, numbers.Milliseconds(t.reading.Seconds()), numbers.Milliseconds(t.waited.Seconds()), numbers.Milliseconds(t.work.Seconds()))
		if t.spilled > 0 {
			s.Counts += fmt.Sprintf("; spilled %s to a temporary file", size(t.spilled))
		}
	}
	return s
}
