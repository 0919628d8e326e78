package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// batch is some rows on their way through a tree: [blockRows] or [rowIDs] of the fragment's table, [intermediate], [passedRows], [computed] or
// [valueRows].
type batch interface {
	Len() int
	// cut is the rows from i to before j.
	cut(i, j int) batch
}

// stream yields batches, then perhaps an error.
type stream iter.Seq2[batch, error]

// collected gives the batches of a stream that is computed as a whole, at the first call.
func (s stream) collected() func() (batch, error, bool) {
	type given struct {
		batch
		err error
	}
	all := sync.OnceValue(func() (list []given) {
		for b, err := range s {
			list = append(list, given{b, err})
		}
		return list
	})
	n := 0
	return func() (b batch, err error, more bool) {
		if list := all(); n < len(list) {
			b, err, more = list[n].batch, list[n].err, true
			n++
		}
		return b, err, more
	}
}

// execution is a statement that runs: what stands above its fragment is done here.
type execution struct {
	*planned
	ctx    context.Context
	rows   *Rows  // what is told what it takes
	atMost int64  // rows that will be asked for; -1 for all
	on     string // the backend to take; "" for the one that suits
	// execute asks a backend for the values of the fragment's aggregates.
	execute func(backends.Backend, *querystats.Collector) ([]table.Value, error)
	// states asks a backend for the groups of the fragment's rows. order asks for these rows in their order:
	// [rowIDs], or an [intermediate] of their keys alone. A [plan.Declined] leaves that to cpu.
	states    backends.Finder
	order     func(backends.Backend, *querystats.Collector) (batch, error)
	rowCounts *querystats.RowCounts // what is told the rows of nodes; nil for nobody
	beyond    *beyond               // what has the fragment's rows, where the host memory budget has no room for them; else nil
}

// stream is what a node gives.
func (x *execution) stream(n plan.Node) stream {
	out := x.measured(n, x.streamOf(n))
	switch n.(type) {
	case *plan.Filter, *plan.GroupingSets, *plan.Distinct:
		return through(x.rowCounts, n, out)
	}
	return out
}

func (x *execution) streamOf(n plan.Node) stream {
	switch n := n.(type) {
	case *plan.Fragment:
		if len(n.Aggs) > 0 {
			return x.aggregates
		}
		return x.selected
	case *plan.Values:
		return x.values(n)
	case *plan.CountDistinct:
		return each(x.stream(n.Input), n.Input.Fields(), func(_ int, row []table.Value) ([]table.Value, error) {
			for _, c := range n.Columns {
				count, err := aggregation.CountDistinct(x.ctx, x.plan.Table, c.Index)
				if err != nil {
					return nil, err
				}
				row = append(row, table.Int(count))
			}
			return row, nil
		})
	case *plan.Repeat:
		return x.repeated(n)
	case *plan.SeriesOfEach:
		return x.seriesOfEach(n)
	case *plan.Filter:
		if a, ok := n.Input.(*plan.Aggregate); ok && len(a.Keys) > 0 {
			having := *a
			having.Having = n.Where
			having.Found = x.rowCounts.Setter(a)
			return x.groups(&having)
		}
		return each(x.stream(n.Input), n.Input.Fields(), func(_ int, row []table.Value) ([]table.Value, error) {
			keep, err := expr.Eval(n.Where, envOf(row))
			if err != nil || keep.Null || keep.I == 0 {
				return nil, err
			}
			return row, nil
		})
	case *plan.Aggregate:
		if n.Found == nil && x.rowCounts != nil {
			counted := *n
			counted.Found = x.rowCounts.Setter(n)
			n = &counted
		}
		return x.groups(n)
	case *plan.GroupingSets:
		return x.groupingSets(n)
	case *plan.Project:
		if selects(n.Input) {
			if x.beyond != nil {
				return x.beyond.project(n)
			}
			return x.gather(n)
		}
		return x.project(n)
	case *plan.Sort:
		if selects(n.Input) {
			return x.sorted(n)
		}
		if a, ok := n.Input.(*plan.Aggregate); ok && n.Limit >= 0 && n.Unique == 0 {
			first := *a
			first.TopN, first.Found = n, x.rowCounts.Setter(a)
			n = n.With(&first).(*plan.Sort)
		}
		if x.beyond != nil {
			return x.beyond.sortedValues(n)
		}
		return x.sortedValues(n, false)
	case *plan.Distinct:
		if x.beyond != nil {
			return x.beyond.sortedValues(different(n))
		}
		return x.sortedValues(different(n), true)
	case *plan.Limit:
		if n.Count >= 0 && n.Offset <= math.MaxInt64-n.Count {
			x.atMost = n.Offset + n.Count
		}
		return limit(x.stream(n.Input), n.Offset, n.Count)
	}
	return func(yield func(batch, error) bool) { yield(nil, fmt.Errorf("engine: there is no execution of %s", n)) }
}

// different is a Distinct as a Sort of which the first of equal rows is taken.
func different(n *plan.Distinct) *plan.Sort {
	keys := make([]expr.SortKey, plan.Width(n))
	for i, f := range n.Fields() {
		keys[i].E = &expr.Column{Index: i, Name: f.Name, T: f.Type, P: -1}
	}
	return &plan.Sort{Input: n.Input, Keys: keys, Limit: -1, Unique: len(keys)}
}

// groupingSets are the groups of each set of keys, one set after the other.
func (x *execution) groupingSets(n *plan.GroupingSets) stream {
	return func(yield func(batch, error) bool) {
		var opening time.Duration
		err := x.backend(&opening, func(b backends.Backend) error {
			x.rows.collector = &querystats.Collector{}
			x.rows.collector.Start(b.Name(), opening)
			states, err := x.statesOfSets(b, x.rows.collector)
			if err != nil {
				return backends.Explained(b.Name(), err)
			}
			sets, err := aggregation.GroupSets(x.ctx, x.plan.Table, n, func() iter.Seq2[table.Block, error] { return b.Rows(x.ctx, x.plan, x.rows.collector) }, states)
			if err != nil {
				return err
			}
			for i, groups := range sets {
				for g, err := range groups {
					if err != nil {
						return err
					}
					var out batch
					if g.Chunk != nil {
						out = intermediateOf(n.Chunk(i, g.Chunk))
					} else {
						rows := valueRows(g.Values)
						for k, row := range rows {
							rows[k] = n.Row(i, row)
						}
						out = rows
					}
					if !yield(out, nil) {
						return errStopped
					}
				}
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// statesOfSets is what a device finds of the groups of the finest of some sets of keys, in the order of their chunks. It is nil where cpu
// finds them of the rows.
func (x *execution) statesOfSets(b backends.Backend, took *querystats.Collector) ([]physical.GroupStates, error) {
	if v, ok := b.(*backends.Coprocessing); ok && v.Assign(v.Divide(x.plan), x.plan) == cost.OnDevice {
		b = v.Passes
	}
	if x.plan.Groups == nil || x.star != nil || x.away != nil || x.supports(b) != nil {
		return nil, nil
	}
	states, err := x.states(x.ctx, b, x.plan, took)
	if plan.IsDeclined(err) {
		return nil, nil
	}
	slices.SortStableFunc(states, func(a, b physical.GroupStates) int { return cmp.Compare(a.Chunk, b.Chunk) })
	if states == nil { // no row is selected
		states = []physical.GroupStates{}
	}
	return states, err
}

// values gives rows of expressions over one row, or over none.
func (x *execution) values(n *plan.Values) stream {
	return func(yield func(batch, error) bool) {
		var over []table.Value
		if n.Input != nil {
			for b, err := range x.stream(n.Input) {
				if err != nil {
					yield(nil, err)
					return
				}
				if rows := valuesOf(b, n.Input.Fields()); len(rows) > 0 { // none comes before an error
					over = rows[0]
				}
			}
		}
		var out valueRows
		for _, list := range n.Rows {
			row, err := evaluate(list, func(e expr.Expr) expr.Expr { return e }, over)
			if err != nil {
				if yield(out, nil) {
					yield(nil, err)
				}
				return
			}
			out = append(out, row)
		}
		yield(out, nil)
	}
}

// each computes rows of values from others, which have fields, none where of gives nil. The rows before an
// error come first.
func each(in stream, fields []table.Field, of func(i int, row []table.Value) ([]table.Value, error)) stream {
	return func(yield func(batch, error) bool) {
		for b, err := range in {
			var rows valueRows
			if b != nil {
				rows = valuesOf(b, fields)
			}
			out := make(valueRows, 0, len(rows))
			for i := 0; i < len(rows) && err == nil; i++ {
				var row []table.Value
				if row, err = of(i, rows[i]); err == nil && row != nil {
					out = append(out, row)
				}
			}
			if !yield(out, nil) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// evaluate computes expressions of a row: DECIMALs are as wide as they need to be.
func evaluate[T any](list []T, expression func(T) expr.Expr, row []table.Value) (out []table.Value, err error) {
	out = make([]table.Value, len(list))
	for i := range list {
		if out[i], err = valueIn(row, expression(list[i])); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// valueIn computes an expression of a row; most name one of its values.
func valueIn(row []table.Value, e expr.Expr) (table.Value, error) {
	if i := named(e); i >= 0 {
		return row[i], nil
	}
	return expr.Eval(e, envOf(row))
}

// named is the place of the value of a row that an expression is; negative for others.
func named(e expr.Expr) int {
	switch e := e.(type) {
	case *expr.Column:
		return e.Index
	case *expr.AggRef:
		return e.Index
	}
	return -1
}

// unchanged reports that items are the values of a row, one after the other.
func unchanged(items []plan.Item) bool {
	for i := range items {
		if named(items[i].E) != i {
			return false
		}
	}
	return true
}

func envOf(row []table.Value) *expr.Env {
	at := func(i int) table.Value { return row[i] }
	return &expr.Env{Column: at, Agg: at}
}

// selects reports whether a node gives rows of a table.
func selects(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Limit:
		return selects(n.Input)
	case *plan.Sort:
		return selects(n.Input)
	case *plan.Fragment:
		return len(n.Aggs) == 0
	}
	return false
}

// stopsEarly reports whether a LIMIT ends a selection of rows before all are found. Then cpu reads no more of
// a table than it needs.
func (s *Statement) stopsEarly() bool {
	stops := false
	plan.Walk(s.tree, func(n plan.Node, _ int) {
		if l, ok := n.(*plan.Limit); ok && l.Count >= 0 {
			_, once := l.Input.(*plan.Fragment)
			stops = stops || once && selects(l)
		}
	})
	return stops
}

// aggregates runs the fragment for the values of its aggregates, one row.
func (x *execution) aggregates(yield func(batch, error) bool) {
	var opening time.Duration
	var row []table.Value
	err := x.backend(&opening, func(b backends.Backend) (err error) {
		x.rows.collector = &querystats.Collector{} // nothing of a backend before it
		x.rows.collector.Start(b.Name(), opening)
		row, err = x.execute(b, x.rows.collector)
		return err
	})
	if err != nil {
		yield(nil, err)
		return
	}
	yield(valueRows{row}, nil)
}

// answer is what a backend gives for the fragment's aggregates, or for the groups of its rows. Where it
// cannot add up the expressions that aggregates are of, cpu does so above the rows that it selects.
func (s *planned) answer(ctx context.Context, b backends.Backend, took *querystats.Collector) ([]table.Value, error) {
	if b.Name() != "compute" {
		if err := settle(ctx, s.tables); err != nil {
			return nil, err
		}
	}
	if s.star != nil {
		return s.answerOfStar(ctx, b, took)
	}
	if s.plan.Groups != nil {
		return inOneRow(s.groupsOf(ctx, b, s.plan.Groups, took, backends.InGroups))
	}
	if s.otherwise != s.plan {
		var values []table.Value
		err := s.supports(b)
		if err == nil {
			values, err = b.Execute(ctx, s.plan, took)
		}
		if s.fallsBack(err) {
			now, done, err := s.fetchToHost(ctx)
			if err != nil {
				return nil, err
			}
			defer done()
			return now.answer(ctx, b, took)
		}
		if err == nil && hasSignedZeros(s.fragment, s.plan.Table) {
			err = signZeros(ctx, s.fragment, values, func(yield func(*table.Table, error) bool) { yield(s.plan.Table, nil) })
		}
		if s.otherwise == nil || !plan.IsDeclined(err) {
			return values, err
		}
	}
	return inOneRow(aggregation.Group(ctx, s.plan.Table, s.fragment.Fallback, b.Rows(ctx, s.otherwise, took)))
}

// answerOfStar is answer of aggregates of a star without keys.
func (s *planned) answerOfStar(ctx context.Context, b backends.Backend, took *querystats.Collector) ([]table.Value, error) {
	now, done, err := s.adapt(ctx, b, took)
	if err != nil {
		return nil, err
	}
	defer done()
	if now.star == nil {
		return now.answer(ctx, b, took)
	}
	return inOneRow(now.groupsOf(ctx, b, s.grouped(), took, backends.InGroups))
}

func inOneRow(groups iter.Seq2[aggregation.GroupRows, error]) (values []table.Value, err error) {
	for rows, err := range aggregation.InValues(groups) {
		if err != nil {
			return nil, err
		}
		values = append(values, slices.Concat(rows...)...)
	}
	return values, nil
}

// backend calls do with the backend that suits.
func (x *execution) backend(opening *time.Duration, do func(backends.Backend) error) error {
	if x.on == "" {
		return x.try(x.ctx, opening, do)
	}
	return x.db.view().On(x.ctx, x.on, opening, do)
}

// selected runs the fragment for its rows. The next backend goes on where one cannot: all give
// the rows in the same order.
func (x *execution) selected(yield func(batch, error) bool) {
	var opening time.Duration
	x.rows.collector = &querystats.Collector{}
	given := 0
	err := x.backend(&opening, func(b backends.Backend) error {
		x.rows.collector.Start(b.Name(), opening)
		opening = 0
		if x.plan.Order != nil && given == 0 {
			rows, err := x.order(b, x.rows.collector)
			if err == nil {
				yield(rows, nil)
				return nil
			}
			if !plan.IsDeclined(err) {
				return backends.Explained(b.Name(), err)
			}
		}
		skip := given
		for rows, err := range b.Rows(x.ctx, x.plan, x.rows.collector) {
			if given > 0 && errors.Is(err, glctx.ErrClosed) && !x.db.backends.IsClosed() { // no second time from the start
				return sqlstate.Errorf(sqlstate.SerializationFailure, "engine: the device was closed while rows were read: %v", err)
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

// gather computes select items of selected rows.
func (x *execution) gather(p *plan.Project) stream {
	in := x.stream(p.Input)
	g := &gather{table: x.plan.Table, items: p.Items}
	var keys *gather // of a table of sorted keys alone
	var once sync.Once
	most := max(1<<10, min(1<<16, 1<<19/max(1, len(p.Items)))) // rows: some MiB
	if x.atMost >= 0 {
		most = int(min(int64(most), max(1, x.atMost)))
	}
	return func(yield func(batch, error) bool) {
		for b, err := range inPieces(x, in, most, func(eval *vector.Evaluator, _ int, rows batch) (batch, error) {
			switch rows := rows.(type) {
			case rowIDs:
				return g.byRowID(eval, rows)
			case intermediate:
				once.Do(func() { keys = &gather{table: rows.of, items: p.Items} })
				return keys.batch(eval, rows.batch.(blockRows).Block)
			}
			return g.batch(eval, rows.(blockRows).Block)
		}) {
			if b != nil && !yield(b, nil) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// inPieces calls do for the rows of a stream, at most so many at a time, on all cores and a
// few pieces ahead. Each worker has a number from 0, and what it remembers. The results come in
// the order of the rows, up to the first that has an error.
func inPieces[T any](x *execution, in stream, most int, do func(eval *vector.Evaluator, worker int, rows batch) (T, error)) iter.Seq2[T, error] {
	var failed error // of the input; read when all pieces are done
	pieces := func(yield func(batch) bool) {
		for b, err := range in {
			if failed = err; err != nil {
				return
			}
			for i, n := 0, b.Len(); i < n; i += most { // a block may be a whole chunk
				if failed = x.ctx.Err(); failed != nil || !yield(b.cut(i, min(n, i+most))) {
					return
				}
			}
		}
	}
	type result struct {
		of  T
		err error
	}
	workers := runtime.GOMAXPROCS(0)
	evals := make([]vector.Evaluator, workers)
	return func(yield func(T, error) bool) {
		for r := range ordered.Map(workers, pieces, func(w int, rows batch) (r result) {
			r.of, r.err = do(&evals[w], w, rows)
			return r
		}) {
			if !yield(r.of, r.err) || r.err != nil {
				return
			}
		}
		if failed != nil {
			yield(*new(T), failed)
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

type valueRows [][]table.Value

func (v valueRows) Len() int           { return len(v) }
func (v valueRows) cut(i, j int) batch { return v[i:j] }
