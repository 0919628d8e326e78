package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/wisconsin"
	"github.com/stencildb/stencildb/table"
)

// maxColumnRows is the number of tuples up to which the queries run as SQL, too. Three of the table's columns are texts that hardly repeat.
// Their dictionaries of a hundred million take longer to make than all else.
const maxColumnRows = 10_000_000

// wisconsinSuite repeats Hristov 2010; the same queries as SQL run beside it, on columns that are resident or, cold, uploaded.
func wisconsinSuite() Suite {
	shared := &wisconsinTables{}
	return suiteOfPaper(wisconsin.Paper(), func(ctx context.Context, s *lab.Setting, c *lab.Case) ([]lab.Way, error) {
		q, ok := c.Data.(*wisconsin.Question)
		if !ok {
			return nil, nil
		}
		w := &wisconsinQuery{q: q}
		end := c.Close
		c.Close = func() error { return errors.Join(end(), w.close()) }
		var list []lab.Way
		for _, backend := range []struct {
			system, name string
			cold         bool
		}{{wisconsin.SQLCompute, "compute", false}, {wisconsin.SQLComputeCold, "compute", true}, {wisconsin.SQLCPU, "cpu", false}} {
			if q.First > maxColumnRows {
				list = append(list, lab.Way{System: backend.system, Cannot: fmt.Sprintf("columns are made of %d tuples at most", maxColumnRows)})
				continue
			}
			tables, err := shared.of(ctx, q)
			if err != nil {
				return nil, err
			}
			way, err := w.way(ctx, s, tables, backend.system, backend.name, backend.cold)
			if err != nil {
				return nil, err
			}
			list = append(list, way)
		}
		return list, nil
	})
}

// wisconsinTables are the tables of the last size as columns, which cases of one size share.
type wisconsinTables struct {
	first, second int
	seed          uint64
	tables        []*table.Table
}

// of gives the tables of a question.
func (w *wisconsinTables) of(ctx context.Context, q *wisconsin.Question) ([]*table.Table, error) {
	if w.tables != nil && w.first == q.First && w.second == q.Second && w.seed == q.Seed {
		return w.tables, nil
	}
	g, err := generate.Find("wisconsin")
	if err != nil {
		return nil, err
	}
	w.tables = nil
	var tables []*table.Table
	for i, rows := range []int{q.First, q.Second} {
		t, err := g.Generate(ctx, rows, q.Seed+uint64(i), 0)
		if err != nil {
			return nil, err
		}
		t.Name = fmt.Sprintf("t%d", i+1)
		tables = append(tables, t)
	}
	*w = wisconsinTables{q.First, q.Second, q.Seed, tables}
	return tables, nil
}

// wisconsinQuery is a query in databases of its own.
type wisconsinQuery struct {
	q    *wisconsin.Question
	open []*engine.DB
}

func (w *wisconsinQuery) close() (err error) {
	for _, db := range w.open {
		err = errors.Join(err, db.Close())
	}
	w.open = nil
	return err
}

// way is the query on a backend; a cold run is the first in a database that was opened before its clock starts.
func (w *wisconsinQuery) way(ctx context.Context, s *lab.Setting, tables []*table.Table, system, backend string, cold bool) (way lab.Way, err error) {
	o := engine.Options{Backend: backend, Device: s.Options.Device, GPUMemory: s.Options.Memory}
	execute := func(ctx context.Context) (meter.Outcome, error) {
		return firstExecution(ctx, backend, o, tables, w.q.SQL)
	}
	if !cold {
		db, err := engine.Open(o)
		if err != nil {
			return way, err
		}
		w.open = append(w.open, db)
		err = engine.Inspect(db).Ready()
		for _, t := range tables {
			err = errors.Join(err, db.Add(t))
		}
		if err != nil {
			return way, err
		}
		execute = func(ctx context.Context) (out meter.Outcome, err error) {
			took, err := lab.Timed(func() (err error) {
				out, err = executeText(ctx, db, w.q.SQL)
				return err
			})
			out.Wall = took.Wall
			return out, err
		}
	}
	run := func(ctx context.Context) (first []float64, took lab.Outcome, err error) {
		out, err := execute(ctx)
		took.Wall = out.Wall
		for _, row := range out.Answer {
			v := row[0]
			switch {
			case v.Null:
				first = append(first, w.q.Nothing())
			case v.Type.Kind == table.Real || v.Type.Kind == table.Double:
				first = append(first, v.F)
			default:
				first = append(first, float64(v.I))
			}
		}
		return first, took, err
	}
	check := func(ctx context.Context) (out lab.Outcome, err error) {
		first, out, err := run(ctx)
		if err == nil {
			err = w.q.Compare(first)
		}
		out.Digest = w.q.Digest()
		return out, err
	}
	return lab.Way{System: system, Device: backend != "cpu", Run: check, Check: func(ctx context.Context) error {
		_, err := check(ctx)
		return err
	}}, nil
}
