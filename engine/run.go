package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// batch is some rows on their way through a tree: [blockRows], [computed] or [valueRows].
type batch interface {
	Len() int
	// cut is the rows from i to before j.
	cut(i, j int) batch
}

// stream yields batches, then perhaps an error.
type stream iter.Seq2[batch, error]

// execution is a statement that runs: what stands above its fragment is done here.
type execution struct {
	*Statement
	ctx    context.Context
	rows   *Rows  // what is told what it takes
	atMost int64  // rows that will be asked for; -1 for all
	on     string // the backend to take; "" for the one that suits
	// execute asks a backend for the values of the fragment's aggregates.
	execute func(backend, *took) ([]table.Value, error)

	ran    bool  // few, whose error is behind its rows
	failed error // or nil
}

// stream is what a node above rows of a table gives.
func (x *execution) stream(n plan.Node) stream {
	switch n := n.(type) {
	case *plan.Fragment:
		return x.selected
	case *plan.Project:
		return x.gather(n)
	case *plan.Limit:
		if n.Count >= 0 && n.Offset <= math.MaxInt64-n.Count {
			x.atMost = n.Offset + n.Count
		}
		return limit(x.stream(n.Input), n.Offset, n.Count)
	}
	return func(yield func(batch, error) bool) { yield(nil, notDone(n)) }
}

func notDone(n plan.Node) error { return fmt.Errorf("engine: there is no execution of %s", n) }

// few computes a node that gives few rows, of aggregates or written out: those before an
// error, and the error.
func (x *execution) few(n plan.Node) (out valueRows, err error) {
	var in valueRows
	switch n := n.(type) {
	case *plan.Fragment:
		return x.aggregates()
	case *plan.Values:
		for _, items := range n.Rows {
			row := make([]table.Value, len(items))
			for i, e := range items {
				if row[i], err = expr.Eval(e, envOf(nil)); err != nil {
					return out, err
				}
			}
			out = append(out, row)
		}
	case *plan.Filter:
		in, err = x.few(n.Input)
		for _, row := range in {
			keep, failed := expr.Eval(n.Where, envOf(row))
			if failed != nil {
				return out, failed
			}
			if !keep.Null && keep.I != 0 {
				out = append(out, row)
			}
		}
	case *plan.Project:
		in, err = x.few(n.Input)
		for i, row := range in {
			env, items := envOf(row), make([]table.Value, len(n.Items))
			for k, item := range n.Items {
				var failed error
				if items[k], failed = expr.Eval(item.E, env); failed != nil {
					return in[:i], failed
				}
			}
			in[i] = items
		}
		return in, err
	case *plan.Limit:
		if n.Count == 0 {
			return nil, nil
		}
		in, err = x.few(n.Input)
		out = in[min(n.Offset, int64(len(in))):]
		if n.Count > 0 && int64(len(out)) >= n.Count {
			return out[:n.Count], nil
		}
	default:
		return nil, notDone(n)
	}
	return out, err
}

// envOf is what expressions read of a row: DECIMALs are as wide as they need to be.
func envOf(row []table.Value) *expr.Env {
	at := func(i int) table.Value { return row[i] }
	return &expr.Env{Column: at, Agg: at}
}

// next is few as [Rows] takes it.
func (x *execution) next() (batch, error, bool) {
	var rows valueRows
	if !x.ran {
		x.ran = true
		rows, x.failed = x.few(x.tree)
	}
	if len(rows) > 0 {
		return rows, nil, true
	}
	err := x.failed
	x.failed = nil
	return nil, err, err != nil
}

// selects reports whether a node gives rows of a table.
func selects(n plan.Node) bool {
	if l, ok := n.(*plan.Limit); ok {
		return selects(l.Input)
	}
	f, ok := n.(*plan.Fragment)
	return ok && len(f.Aggs) == 0
}

// stopsEarly reports whether a LIMIT ends a selection of rows before all are found: cpu
// looks at no more of a table than it needs to.
func (s *Statement) stopsEarly() bool {
	stops := false
	plan.Walk(s.tree, func(n plan.Node, _ int) {
		l, ok := n.(*plan.Limit)
		stops = stops || ok && l.Count >= 0 && selects(l)
	})
	return stops
}

// aggregates runs the fragment for the values of its aggregates, one row.
func (x *execution) aggregates() (valueRows, error) {
	var opening time.Duration
	var row []table.Value
	err := x.backend(&opening, func(b backend) (err error) {
		x.rows.took = &took{} // nothing of a backend before it
		x.rows.took.start(b.Name(), opening)
		row, err = x.execute(b, x.rows.took)
		return err
	})
	if err != nil {
		return nil, err
	}
	return valueRows{row}, nil
}

// backend calls do with the backend that suits.
func (x *execution) backend(opening *time.Duration, do func(backend) error) error {
	if x.on == "" {
		return x.try(x.ctx, opening, do)
	}
	return x.db.on(x.ctx, x.on, opening, do)
}

// selected runs the fragment for its rows. The next backend goes on where one cannot: all give
// the rows in the same order.
func (x *execution) selected(yield func(batch, error) bool) {
	var opening time.Duration
	x.rows.took = &took{}
	given := 0
	err := x.backend(&opening, func(b backend) error {
		x.rows.took.start(b.Name(), opening)
		opening = 0
		skip := given
		for rows, err := range b.Rows(x.ctx, x.plan, x.rows.took) {
			if given > 0 && errors.Is(err, glctx.ErrClosed) { // no second time from the start
				return fmt.Errorf("engine: the device was closed while rows were read: %v", err)
			}
			if err != nil {
				return err
			}
			n := rows.Len()
			if skip >= n {
				skip -= n
				continue
			}
			rows = rows.Cut(skip, n)
			skip = 0
			if given += rows.Len(); !yield(blockRows{rows}, nil) {
				return errStopped
			}
		}
		return nil
	})
	if err != nil && err != errStopped {
		yield(nil, err)
	}
}

var errStopped = errors.New("engine: no more rows are wanted")

// gather computes select items of selected rows, on all cores and a few batches ahead.
func (x *execution) gather(p *plan.Project) stream {
	in := x.stream(p.Input)
	g := &gather{table: x.plan.Table, items: p.Items}
	most := max(1<<10, min(1<<16, 1<<19/max(1, len(p.Items)))) // rows: some MiB
	if x.atMost >= 0 {
		most = int(min(int64(most), max(1, x.atMost)))
	}
	var failed error // of the input; read when all pieces are done
	pieces := func(yield func(table.Block) bool) {
		for b, err := range in {
			if failed = err; err != nil {
				return
			}
			rows := b.(blockRows).Block
			for i, n := 0, rows.Len(); i < n; i += most { // a block may be a whole chunk
				if failed = x.ctx.Err(); failed != nil || !yield(rows.Cut(i, min(n, i+most))) {
					return
				}
			}
		}
	}
	type result struct {
		batch
		err error
	}
	workers := runtime.GOMAXPROCS(0)
	memos := make([]memo, workers)
	for i := range memos {
		memos[i] = memo{}
	}
	return func(yield func(batch, error) bool) {
		for r := range ordered.Map(workers, pieces, func(w int, rows table.Block) (r result) {
			r.batch, r.err = g.batch(memos[w], rows)
			return r
		}) {
			if r.batch != nil && !yield(r.batch, nil) {
				return
			}
			if r.err != nil {
				yield(nil, r.err)
				return
			}
		}
		if failed != nil {
			yield(nil, failed)
		}
	}
}

// limit passes over offset rows and ends after count more; -1 for all.
func limit(in stream, offset, count int64) stream {
	return func(yield func(batch, error) bool) {
		if count == 0 {
			return
		}
		skip, left := offset, count
		for b, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			n := int64(b.Len())
			if skip >= n {
				skip -= n
				continue
			}
			end := n
			if left >= 0 {
				end = skip + min(n-skip, left)
				left -= end - skip
			}
			if !yield(b.cut(int(skip), int(end)), nil) || left == 0 {
				return
			}
			skip = 0
		}
	}
}

// blockRows is rows of the fragment's table.
type blockRows struct{ table.Block }

func (s blockRows) cut(i, j int) batch { return blockRows{s.Block.Cut(i, j)} }

// valueRows is rows of values.
type valueRows [][]table.Value

// Len implements batch.
func (v valueRows) Len() int           { return len(v) }
func (v valueRows) cut(i, j int) batch { return v[i:j] }
