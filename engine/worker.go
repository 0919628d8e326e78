package engine

import (
	"context"
	"errors"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// together runs the parts of a query at the same time. The first error stops them all.
func (b *passes) together(ctx context.Context, q *plan.Query, parts []part, runner func(*GPU) pass.Runner) (*plan.Answer, error) {
	if err := b.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer b.turn.Release(1)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers []*worker
	var selections []plan.Selection
	took := &took{}
	for _, p := range parts {
		w := &worker{part: p, name: b.name, ctx: inner, cancel: cancel, work: make(chan func()), ended: make(chan struct{})}
		go w.serve(runner(p.g), took)
		workers, selections = append(workers, w), append(selections, w)
	}
	values, err := plan.Finish(plan.Merge(q, selections), q)
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
	s := took.now()
	return &plan.Answer{Values: values, Passes: s.Passes, Samples: s.Samples, Load: s.Load, Devices: s.Devices}, nil
}

// worker is the selection of a part of a query on one device, whose GL thread it holds
// from the first call to the end of the query. It implements plan.Selection.
type worker struct {
	part
	name   string          // of the backend
	ctx    context.Context // ends with the first error of any device
	cancel context.CancelCauseFunc
	sel    plan.Selection // on the GL thread

	work  chan func() // for the GL thread; closed at the end of the query
	ended chan struct{}
}

// serve does the work on the GL thread until there is no more, or an error.
func (w *worker) serve(run pass.Runner, took *took) {
	defer close(w.ended)
	err := w.g.metered(w.ctx, w.q, run, took, func(m pass.Runner) (err error) {
		if w.sel, err = algorithms[w.name].selection(m, w.g, w.q); err != nil {
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
