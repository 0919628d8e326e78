package engine

import (
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/externalsort"
	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/plan"
)

// sortMerge is mergeOf for a Sort.
func (x *execution) sortMerge(of *spill.File, n *plan.Sort, keys []sortkey.Key, budget int64, runs int, each int64) *externalsort.Merge {
	m := externalsort.NewMerge(x.ctx, of, keys, budget, runs, each)
	m.Unique, m.First = n.Unique, n.Limit
	return m
}

// writtenRun is a run: items of rows of the execution's table, in order. With places, the rows' places come behind the items.
func (x *execution) writtenRun(m *externalsort.Merge, rows rowIDs, items []plan.Item, places bool) (run []spill.Extent, err error) {
	if m.First >= 0 && int64(len(rows.ids)) > m.First {
		rows.ids = rows.ids[:m.First]
	}
	type piece struct {
		data []byte
		rows int
	}
	g := &gather{table: x.plan.Table, items: items, plain: true}
	whole := func(yield func(batch, error) bool) { yield(rows, nil) }
	for p, err := range inPieces(x, whole, m.Rows, func(eval *vector.Evaluator, _ int, rows batch) (p piece, err error) {
		out, err := g.byRowID(eval, rows.(rowIDs))
		if err != nil {
			return p, err
		}
		columns := out.(computed)
		if places {
			b := array.NewUint64Builder(memory.DefaultAllocator)
			defer b.Release()
			b.AppendValues(rows.(rowIDs).ids, nil)
			columns = append(columns, b.NewArray())
		}
		p.rows = columns.Len()
		p.data, err = spill.EncodeBatch(columns)
		return p, err
	}) {
		if err != nil {
			return nil, err
		}
		e, err := m.File.Write(p.data, p.rows)
		if err != nil {
			return nil, err
		}
		run = append(run, e)
	}
	return run, nil
}

// batchesIn are batches of columns as batches of rows.
func batchesIn(list iter.Seq2[[]arrow.Array, error]) iter.Seq2[computed, error] {
	return func(yield func(computed, error) bool) {
		for rows, err := range list {
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

func released(list []computed) {
	for _, rows := range list {
		for _, c := range rows {
			c.Release()
		}
	}
}
