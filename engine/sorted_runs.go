package engine

import (
	"context"
	"slices"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/externalsort"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// inOrder asks a backend for the rows of a query in their order. Each device sorts the rows of its chunks, and
// host memory merges the runs.
func inOrder(ctx context.Context, db *DB, b backends.Backend, q *physical.Query, took *querystats.Collector) (rows batch, err error) {
	q, of, runs, err := backends.SortedRuns(ctx, b, q, took)
	if err != nil {
		return nil, err
	}
	budget, err := db.hostBudget()
	if err == nil && q.Order.Limit < 0 {
		rows := int64(0)
		for _, r := range runs {
			rows += int64(len(r.Rows))
		}
		bytes := 4 + 8 // a number in the chunk, and a place
		if isWhole(q, of, runs) {
			bytes = 4
		}
		if sortFits(rows, bytes, budget) != nil {
			err = backends.OrderOfCPU
		}
	}
	if err != nil {
		return nil, err
	}
	return inRuns(q, of, runs)
}

// inRuns is the rows of a query in their order, from runs of the rows of another cut of it.
func inRuns(q, of *physical.Query, runs []physical.SortedRun) (batch, error) {
	switch {
	case len(runs) == 1 && runs[0].Keys != nil:
		return keysAlone(q, runs[0].Keys), nil
	case isWhole(q, of, runs):
		return ofRun(q, runs[0]), nil
	}
	out, err := merged(of, runs)
	if err != nil {
		return nil, err
	}
	out.starts, _ = chunkStarts(q.Table)
	return out.firsts(q)
}

// keysAlone is the values of a query's one key as rows of a table like its own, which has no other column.
func keysAlone(q *physical.Query, keys *table.Segment) intermediate {
	c := &table.Chunk{Rows: keys.Rows(), Segments: make([]*table.Segment, len(q.Table.Fields))}
	c.Segments[q.Order.Keys[0].E.(*expr.Column).Index] = keys
	return intermediate{q.Table.With(c), blockRows{table.Block{N: c.Rows}}}
}

// isWhole reports that the rows of a query are those of one run, whose numbers are of the query's own chunks.
func isWhole(q, of *physical.Query, runs []physical.SortedRun) bool {
	return len(runs) == 1 && q.Order.Unique == 0 && of == q
}

// ofRun is the rows of a run that has all of them, as the device has given them.
func ofRun(q *physical.Query, run physical.SortedRun) batch {
	rows := run.Rows
	if f := q.Order.Limit; f >= 0 && f < int64(run.Passed+len(rows)) {
		rows = rows[:f-int64(run.Passed)]
	}
	if rows == nil {
		rows = []uint32{}
	}
	out := intermediate{q.Table, blockRows{table.Block{Chunk: run.Chunk, Rows: rows}}}
	if run.Passed > 0 {
		return passedRows{run.Passed, out}
	}
	return out
}

// passedRows is rows behind some that are not there: the [plan.Limit] above passes over them.
type passedRows struct {
	passed int
	batch
}

// Len implements batch.
func (p passedRows) Len() int { return p.passed + p.batch.Len() }

func (p passedRows) cut(i, j int) batch { return p.batch.cut(i-p.passed, j-p.passed) }

// firsts are rows in the order of a query of which no two are alike in its Unique keys: the first of each.
func (p rowIDs) firsts(q *physical.Query) (rowIDs, error) {
	if q.Order.Unique == 0 || len(p.ids) == 0 {
		return p, nil
	}
	blocks, of := p.blocks()
	columns, err := keyColumns(q, q.Order.Keys[:q.Order.Unique], blocks)
	if err != nil {
		return p, err
	}
	last, row := 0, 0 // of the row before: its block, and its number there
	next := make([]int, len(blocks))
	places := p.ids[:0]
	for i, place := range p.ids {
		b := of[i]
		at := next[b]
		next[b]++
		alike := i > 0
		for k := 0; alike && k < len(columns[b]); k++ {
			alike = columns[b][k][at] == columns[last][k][row]
		}
		if last, row = b, at; !alike {
			places = append(places, place)
		}
	}
	return rowIDs{places, p.starts}, nil
}

// keyColumns are, of each of some blocks of a query's table, the columns of codes by which its rows come in the order of keys. Those of expressions
// are computed on the host.
func keyColumns(q *physical.Query, keys []expr.SortKey, blocks []table.Block) ([][][]uint64, error) {
	columns := make([][][]uint64, len(blocks))
	eval := &vector.Evaluator{}
	for _, k := range keys {
		if c, ok := k.E.(*expr.Column); ok {
			key := sortkey.OfColumn(k, q.Table, c.Index)
			for i, b := range blocks {
				columns[i] = append(columns[i], key.Arrange(key.Column.Codes(q.Table.Chunks[b.Chunk], b))...)
			}
			continue
		}
		key := sortkey.OfValues(k)
		pieces, texts := make([]sortkey.Piece, len(blocks)), make([][]string, len(blocks))
		for i, b := range blocks {
			x, err := eval.Vector(k.E, q.Table.Chunks[b.Chunk], b)
			if err != nil {
				return nil, err
			}
			key.Add(&pieces[i], x)
			texts[i] = x.Texts
		}
		if key.Ranked {
			for i, codes := range sortkey.Ranks(texts) {
				pieces[i].Columns = key.Arrange(codes, pieces[i].Ranked[0].Valid)
			}
		}
		for i, p := range pieces {
			columns[i] = append(columns[i], p.Columns...)
		}
	}
	return columns, nil
}

// merged is the rows of runs in order, no more than are wanted. Of rows that are alike those of an earlier run come first.
func merged(q *physical.Query, runs []physical.SortedRun) (out rowIDs, err error) {
	slices.SortStableFunc(runs, func(a, b physical.SortedRun) int { return a.Chunk - b.Chunk })
	runs = slices.DeleteFunc(runs, func(r physical.SortedRun) bool { return len(r.Rows) == 0 })
	out.starts, _ = chunkStarts(q.Table)
	total := 0
	for _, r := range runs {
		total += len(r.Rows)
	}
	if f := q.Order.Limit; f >= 0 && f < int64(total) {
		total = int(f)
	}
	out.ids = make([]uint64, 0, total)
	switch len(runs) {
	case 0:
		return out, nil
	case 1:
		for _, row := range runs[0].Rows[:total] {
			out.ids = append(out.ids, out.starts[runs[0].Chunk]+uint64(row))
		}
		return out, nil
	}
	var blocks []table.Block
	for _, r := range runs {
		blocks = append(blocks, table.Block{Chunk: r.Chunk, Rows: r.Rows})
	}
	columns, err := keyColumns(q, q.Order.Keys, blocks)
	if err != nil {
		return out, err
	}
	heads := make([]*head, len(runs))
	for i, r := range runs {
		heads[i] = &head{run: i, start: out.starts[r.Chunk], rows: r.Rows, columns: columns[i]}
	}
	for h := externalsort.NewHeap(heads, (*head).before); len(out.ids) < total; {
		first := h.First()
		out.ids = append(out.ids, first.start+uint64(first.rows[first.at]))
		first.at++
		h.Next(first.at < len(first.rows))
	}
	return out, nil
}

// head is the first row of a run that has not been taken yet.
type head struct {
	run, at int
	start   uint64 // of the run's chunk
	rows    []uint32
	columns [][]uint64 // of the keys
}

// before reports whether a row comes before another: of those that are alike that of the earlier run.
func (h *head) before(o *head) bool {
	for k := range h.columns {
		if x, y := h.columns[k][h.at], o.columns[k][o.at]; x != y {
			return x < y
		}
	}
	return h.run < o.run
}
