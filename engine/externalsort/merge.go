package externalsort

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/table"
)

// Merge merges sorted runs of batches of a temporary file. Rows that are alike come run by run.
type Merge struct {
	ctx    context.Context
	File   *spill.File
	keys   []sortkey.Key
	Unique int   // keys, the first ones: of rows that are alike in these the first is given; 0: all rows
	First  int64 // rows that are wanted; -1 for all
	Rows   int   // of a batch that is given
	atOnce int   // runs that are merged at a time
}

// Supports reports that rows can be merged by keys: none has more digits than Arrow's numbers.
func Supports(keys []expr.SortKey) bool {
	return !slices.ContainsFunc(keys, func(k expr.SortKey) bool {
		return k.E.Type().Kind == table.Decimal && arrays.TypeOf(k.E.Type()).ID() == arrow.STRING
	})
}

// NewMerge is how about so many runs, of rows of so many bytes, are merged.
func NewMerge(ctx context.Context, of *spill.File, keys []sortkey.Key, budget int64, runs int, each int64) *Merge {
	rows := budget / 4 / int64(min(max(runs, 1), MaxRuns)) / each
	return &Merge{ctx: ctx, File: of, keys: keys, First: -1, Rows: int(min(1<<15, max(1<<8, rows))), atOnce: min(MaxRuns, max(8, 2*runs))}
}

// sorted are batches in the order of their keys, cut to pieces of so many rows: a run. They are released.
func (m *Merge) sorted(list [][]arrow.Array) (run [][]arrow.Array) {
	type row struct {
		start     uint64
		part, row int
	}
	var rows []row
	keys := make([]*sortkey.Bytes, len(list))
	for p, part := range list {
		keys[p] = sortkey.BytesOf(part, m.keys, m.Unique)
		for i := range part[0].Len() {
			rows = append(rows, row{sortkey.Prefix(keys[p].Of(i)), p, i})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if c := cmp.Compare(a.start, b.start); c != 0 {
			return c
		}
		return cmp.Or(bytes.Compare(keys[a.part].Of(a.row), keys[b.part].Of(b.row)), cmp.Compare(a.part, b.part), cmp.Compare(a.row, b.row))
	})
	if m.Unique > 0 {
		rows = slices.CompactFunc(rows, func(a, b row) bool {
			return bytes.Equal(keys[a.part].UniqueOf(a.row), keys[b.part].UniqueOf(b.row))
		})
	}
	if m.First >= 0 && int64(len(rows)) > m.First {
		rows = rows[:m.First]
	}
	for piece := range slices.Chunk(rows, m.Rows) {
		of, at := make([]int, len(piece)), make([]int, len(piece))
		for i, r := range piece {
			of[i], at[i] = r.part, r.row
		}
		run = append(run, interleave(list, of, at))
	}
	release(list...)
	return run
}

// release releases batches.
func release(list ...[]arrow.Array) {
	for _, rows := range list {
		for _, c := range rows {
			c.Release()
		}
	}
}

// MaxRuns is how many runs are merged at a time, at most.
const MaxRuns = 1 << 7

// All merges runs, those of neighbours first where there are many.
func (m *Merge) All(runs [][]spill.Extent) iter.Seq2[[]arrow.Array, error] {
	return func(yield func([]arrow.Array, error) bool) {
		for len(runs) > m.atOnce {
			var out [][]spill.Extent
			for part := range slices.Chunk(runs, m.atOnce) {
				var run []spill.Extent
				for rows, err := range m.merged(part) {
					var e spill.Extent
					if err == nil {
						e, err = m.File.WriteBatch(rows)
					}
					if err != nil {
						yield(nil, err)
						return
					}
					run = append(run, e)
				}
				out = append(out, run)
			}
			runs = out
		}
		m.merged(runs)(yield)
	}
}

// cursor is a run that is read.
type cursor struct {
	left  []spill.Extent
	keys  *sortkey.Bytes
	row   int
	n     int    // rows of the batch
	start uint64 // of the row's keys
	part  int    // the batch, among those that the merge holds
}

// merged merges runs at once.
func (m *Merge) merged(runs [][]spill.Extent) iter.Seq2[[]arrow.Array, error] {
	return func(yield func([]arrow.Array, error) bool) {
		var held [][]arrow.Array // of which rows are yet to be given
		var of, at []int         // of the rows to be given: the batch and the row in it
		defer func() { release(held...) }()
		cursors := make([]cursor, len(runs))
		// next goes to the next row of a run that is not empty.
		next := func(c *cursor) (more bool, err error) {
			if c.row++; c.row >= c.n {
				if len(c.left) == 0 {
					return false, nil
				}
				rows, err := m.File.ReadBatch(c.left[0])
				if err != nil {
					return false, err
				}
				c.left, c.keys, c.row, c.n, c.part = c.left[1:], sortkey.BytesOf(rows, m.keys, m.Unique), 0, rows[0].Len(), len(held)
				held = append(held, rows)
			}
			c.start = sortkey.Prefix(c.keys.Of(c.row))
			return true, nil
		}
		less := func(a, b int) bool {
			x, y := &cursors[a], &cursors[b]
			if x.start != y.start {
				return x.start < y.start
			}
			if c := bytes.Compare(x.keys.Of(x.row), y.keys.Of(y.row)); c != 0 {
				return c < 0
			}
			return a < b
		}
		var live []int // runs that have rows left
		for i, run := range runs {
			cursors[i] = cursor{left: run}
			more, err := next(&cursors[i])
			if err != nil {
				yield(nil, err)
				return
			}
			if more {
				live = append(live, i)
			}
		}
		h := NewHeap(live, less)
		var last []byte // the unique keys of the last row
		given, some := int64(0), false
		flush := func() bool {
			out := interleave(held, of, at)
			of, at = of[:0], at[:0]
			var kept [][]arrow.Array // that cursors are in
			for _, i := range h.of {
				kept = append(kept, held[cursors[i].part])
			}
			for p, rows := range held {
				if !slices.ContainsFunc(h.of, func(i int) bool { return cursors[i].part == p }) {
					release(rows)
				}
			}
			for k, i := range h.of {
				cursors[i].part = k
			}
			held = kept
			return yield(out, nil)
		}
		for len(h.of) > 0 && (m.First < 0 || given < m.First) {
			c := &cursors[h.of[0]]
			if key := []byte(nil); m.Unique > 0 {
				if key = c.keys.UniqueOf(c.row); !some || !bytes.Equal(key, last) {
					last, some = append(last[:0], key...), true
					of, at = append(of, c.part), append(at, c.row)
					given++
				}
			} else {
				of, at = append(of, c.part), append(at, c.row)
				given++
			}
			more, err := next(c)
			if err != nil {
				yield(nil, err)
				return
			}
			h.Next(more)
			if len(of) == m.Rows {
				if err := m.ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !flush() {
					return
				}
			}
		}
		if len(of) > 0 {
			flush()
		}
	}
}
