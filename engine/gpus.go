package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// gpus are several devices that share the chunks of each table. A query runs on those
// that have some, each on its GL thread, and their selections are merged.
type gpus struct {
	list     []*GPU
	backends map[string]backend
	turn     *semaphore.Weighted // of 1: one query at a time holds several GL threads

	mu      sync.Mutex
	split   []*division // of the queries that ran last, the last one first
	seen    []*content  // of each device, and what they are together
	current *content
}

// openGPUs opens the devices that o picks.
func openGPUs(o Options) (device, error) {
	options := glctx.Options{Device: o.Device, Memory: o.GPUMemory}
	if o.Calibrations != "" {
		options.Programs = filepath.Join(o.Calibrations, "programs")
	}
	contexts, err := glctx.OpenAll(options)
	if err != nil {
		return nil, err
	}
	s := &gpus{turn: semaphore.NewWeighted(1), backends: map[string]backend{}, current: nothing}
	for i, c := range contexts {
		g, err := prepareGPU(&GPU{Context: c})
		if err != nil {
			for _, c := range contexts[i+1:] {
				err = errors.Join(err, c.Close())
			}
			return nil, errors.Join(err, s.Close())
		}
		s.list = append(s.list, g)
	}
	if len(s.list) == 1 {
		return s.list[0], nil
	}
	for name := range selectors {
		s.backends[name] = &spread{s, name}
	}
	return s, nil
}

func (s *gpus) backend(name string) backend { return s.backends[name] }

func (s *gpus) key() cost.Key { return s.list[0].key() }

func (s *gpus) drop(segments []*table.Segment) {
	for _, g := range s.list {
		g.drop(segments)
	}
}

// Close closes every device.
func (s *gpus) Close() error {
	errs := make([]error, len(s.list))
	for i, g := range s.list {
		errs[i] = g.Close()
	}
	return errors.Join(errs...)
}

func (s *gpus) content() *content {
	s.mu.Lock()
	defer s.mu.Unlock()
	var seen []*content
	for _, g := range s.list {
		seen = append(seen, g.content())
	}
	if slices.Equal(seen, s.seen) {
		return s.current
	}
	var list []textures.Residency
	var usage textures.Usage
	for _, c := range seen {
		list = append(list, c.list...)
		usage.Budget += c.usage.Budget
		usage.Used += c.usage.Used
		usage.Working += c.usage.Working
	}
	s.seen, s.current = seen, newContent(list, usage)
	return s.current
}

// place says on which of n devices each chunk of a table is: on the one that has the
// fewest rows of those before it. So the rows are balanced, and chunks stay where they
// are when others are added behind them.
func place(t *table.Table, n int) [][]int {
	chunks, rows := make([][]int, n), make([]int, n)
	for i, c := range t.Chunks {
		least := 0
		for d := range rows {
			if rows[d] < rows[least] {
				least = d
			}
		}
		chunks[least] = append(chunks[least], i)
		rows[least] += c.Rows
	}
	return chunks
}

// run predicts what a backend takes on the devices together, in seconds: what it takes
// on the one that takes longest.
func (s *gpus) run(b cost.Backend, w *cost.Work, t *table.Table) (longest float64) {
	for _, chunks := range place(t, len(s.list)) {
		longest = max(longest, b.Run(w.Over(chunks)))
	}
	return longest
}

// division is a query in parts for the devices; nil for one that has no chunk.
type division struct {
	q     *plan.Query
	parts []*plan.Query
}

const maxDivisions = 64

// divide returns the parts of a query, the same ones every time: backends keep what
// they prepare for them.
func (s *gpus) divide(q *plan.Query) *division {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.split, func(d *division) bool { return d.q == q })
	var d *division
	if i >= 0 {
		d = s.split[i]
		s.split = slices.Delete(s.split, i, i+1)
	} else {
		d = &division{q: q}
		for _, chunks := range place(q.Table, len(s.list)) {
			var part *plan.Query
			if len(chunks) > 0 {
				part = q.Part(chunks)
			}
			d.parts = append(d.parts, part)
		}
	}
	s.split = slices.Insert(s.split, 0, d)
	s.split = s.split[:min(len(s.split), maxDivisions)]
	return d
}

// on returns the one device that has all of the query; nil where several have some.
func (d *division) on(s *gpus) (one *GPU) {
	one = s.list[0]
	for i, n := 0, 0; i < len(d.parts); i++ {
		if d.parts[i] == nil {
			continue
		}
		if one = s.list[i]; n > 0 {
			return nil
		}
		n++
	}
	return one
}

// numbers names the devices that have something of a query: ", devices 0, 1".
func (s *gpus) numbers(q *plan.Query) string {
	var list []string
	for i, part := range s.divide(q).parts {
		if part != nil {
			list = append(list, strconv.Itoa(s.list[i].Context.Device().Index))
		}
	}
	return ", devices " + strings.Join(list, ", ")
}

// spread is a backend on several devices.
type spread struct {
	*gpus
	name string
}

// Name implements backend.
func (b *spread) Name() string { return b.name }

// Close implements backend: the devices are the DB's.
func (b *spread) Close() error { return nil }

// Execute implements backend.
func (b *spread) Execute(ctx context.Context, q *plan.Query) (*plan.Answer, error) {
	d := b.divide(q)
	if one := d.on(b.gpus); one != nil {
		return one.backends[b.name].Execute(ctx, q)
	}
	return b.execute(ctx, d, func(g *GPU) pass.Runner { return g.GL })
}

// Analyze implements analyzer: the passes of each device in turn.
func (b *spread) Analyze(ctx context.Context, q *plan.Query) (*plan.Answer, []Step, error) {
	d := b.divide(q)
	if one := d.on(b.gpus); one != nil {
		return one.backends[b.name].(analyzer).Analyze(ctx, q)
	}
	profilers := map[*GPU]*pass.Profiler{}
	for _, g := range b.list {
		p := &pass.Profiler{Runner: g.GL, Uploaded: g.Store.Uploaded}
		err := g.Context.Do(ctx, func() error {
			p.Timer = g.Context.NewTimer()
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		defer func() {
			_ = g.Context.Do(context.Background(), func() error { p.Timer.(*glctx.Timer).Delete(); return nil })
		}()
		profilers[g] = p
	}
	a, err := b.execute(ctx, d, func(g *GPU) pass.Runner { return profilers[g] })
	if err != nil {
		return nil, nil, err
	}
	var steps []Step
	for _, g := range b.list {
		steps = append(steps, g.profiled(profilers[g])...)
	}
	return a, steps, nil
}

// Explain implements backend: the passes of each device in turn.
func (b *spread) Explain(q *plan.Query) ([]Step, error) {
	var steps []Step
	d := b.divide(q)
	if one := d.on(b.gpus); one != nil {
		return one.backends[b.name].Explain(q)
	}
	if len(q.Aggs) == 0 { // each device finds the rows of its chunks by itself
		for i, part := range d.parts {
			if part == nil {
				continue
			}
			list, err := b.list[i].backends[b.name].Explain(part)
			if err != nil {
				return nil, err
			}
			steps = append(steps, list...)
		}
		return steps, nil
	}
	recorders := make([]*pass.Recorder, len(d.parts))
	var parts []plan.Selection
	for i, part := range d.parts {
		if part == nil {
			continue
		}
		recorders[i] = &pass.Recorder{}
		p, err := selectors[b.name](recorders[i], b.list[i], part)
		if err != nil {
			return nil, explained(b.name, err)
		}
		parts = append(parts, p)
	}
	if _, err := plan.Finish(plan.Merge(d.q, parts), d.q); err != nil {
		return nil, explained(b.name, err)
	}
	for i, r := range recorders {
		if r == nil {
			continue
		}
		for _, p := range r.Plan() {
			steps = append(steps, b.list[i].step(p))
		}
	}
	return steps, nil
}

// Watch implements watcher. The runner is one device's: the first has the whole table
// for it.
func (b *spread) Watch(ctx context.Context, q *plan.Query, wrap func(Stage) pass.Runner) (*plan.Answer, error) {
	return b.list[0].backends[b.name].(watcher).Watch(ctx, q, wrap)
}

// execute runs the parts of a query at the same time. The first error stops them all.
func (b *spread) execute(ctx context.Context, d *division, runner func(*GPU) pass.Runner) (*plan.Answer, error) {
	if err := b.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer b.turn.Release(1)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers []*worker
	var parts []plan.Selection
	for i, part := range d.parts {
		if part == nil {
			continue
		}
		w := &worker{g: b.list[i], name: b.name, q: part, ctx: inner, cancel: cancel,
			work: make(chan func()), meter: &pass.Meter{Runner: runner(b.list[i])}, ended: make(chan struct{})}
		go w.serve()
		workers, parts = append(workers, w), append(parts, w)
	}
	values, err := plan.Finish(plan.Merge(d.q, parts), d.q)
	if err != nil {
		cancel(err)
	}
	for _, w := range workers {
		close(w.work)
		select {
		case <-w.ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if cause := context.Cause(inner); cause != nil { // a GL thread may be at its pass yet
		return nil, explained(b.name, cause)
	}
	a := &plan.Answer{Values: values}
	for _, w := range workers {
		a.Passes += w.meter.Passes
		a.Samples += w.meter.Samples
		a.Load = max(a.Load, w.load)
		a.Devices = append(a.Devices, w.g.Context.Device().Index)
	}
	return a, nil
}

// worker is the selection of a part of a query on one device, whose GL thread it holds
// from the first call to the end of the query. It implements plan.Selection.
type worker struct {
	g      *GPU
	name   string // of the backend
	q      *plan.Query
	ctx    context.Context // ends with the first error of any device
	cancel context.CancelCauseFunc
	meter  *pass.Meter
	sel    plan.Selection // on the GL thread

	work  chan func() // for the GL thread; closed at the end of the query
	ended chan struct{}
	load  time.Duration
}

// serve does the work on the GL thread until there is no more, or an error.
func (w *worker) serve() {
	defer close(w.ended)
	err := w.g.query(w.ctx, func() (err error) {
		w.g.Store.Name(w.q.Table.Attributes())
		before := w.g.Store.Uploaded()
		defer func() {
			w.load = w.g.Store.Uploaded() - before
			w.g.look(w.load > 0)
		}()
		if w.sel, err = selectors[w.name](w.meter, w.g, w.q); err != nil {
			return err
		}
		for {
			select {
			case f, ok := <-w.work:
				if !ok {
					return nil
				}
				f()
			case <-w.ctx.Done():
				return w.ctx.Err()
			}
		}
	})
	if err != nil {
		w.cancel(err)
	}
}

// ask has f run on the worker's GL thread. An error that is no check's stops every
// device.
func ask[T any](w *worker, f func(plan.Selection) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	select {
	case w.work <- func() {
		v, err := f(w.sel)
		done <- answer{v, err}
	}:
	case <-w.ctx.Done():
		return *new(T), context.Cause(w.ctx)
	}
	select {
	case a := <-done:
		if failed := (*plan.CheckError)(nil); a.err != nil && !errors.As(a.err, &failed) {
			w.cancel(a.err)
		}
		return a.v, a.err
	case <-w.ctx.Done():
		return *new(T), context.Cause(w.ctx)
	}
}

// Check implements plan.Selection.
func (w *worker) Check() error {
	_, err := ask(w, func(s plan.Selection) (struct{}, error) { return struct{}{}, s.Check() })
	return err
}

// Count implements plan.Selection.
func (w *worker) Count() (uint64, error) { return ask(w, plan.Selection.Count) }

// CountNotNull implements plan.Selection.
func (w *worker) CountNotNull(col int) (uint64, error) {
	return ask(w, func(s plan.Selection) (uint64, error) { return s.CountNotNull(col) })
}

// Sum implements plan.Selection.
func (w *worker) Sum(col int) (plan.Sum, error) {
	return ask(w, func(s plan.Selection) (plan.Sum, error) { return s.Sum(col) })
}

// Kth implements plan.Selection.
func (w *worker) Kth(col int, k uint64, largest bool) (table.Value, error) {
	return ask(w, func(s plan.Selection) (table.Value, error) { return s.Kth(col, k, largest) })
}

// Histogram implements plan.Selection.
func (w *worker) Histogram(col int, space *plan.Space, lo uint64, shift, bits int) ([]uint64, error) {
	return ask(w, func(s plan.Selection) ([]uint64, error) { return s.Histogram(col, space, lo, shift, bits) })
}

// DigitBits implements plan.Selection.
func (w *worker) DigitBits() int {
	n, err := ask(w, func(s plan.Selection) (int, error) { return s.DigitBits(), nil })
	if err != nil {
		return 1 // the next call tells the error
	}
	return n
}
