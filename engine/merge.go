package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// merge merges sorted runs of batches of a temporary file. Rows that are alike come run by run.
type merge struct {
	ctx    context.Context
	of     *spill.File
	keys   []mergeKey
	unique int   // keys, the first ones: of rows that are alike in these the first is given; 0: all rows
	first  int64 // rows that are wanted; -1 for all
	rows   int   // of a batch that is given
	atOnce int   // runs that are merged at a time
	places bool  // behind the columns of a batch come the rows' places
}

// mergeKey is a sort key, whose values are a column of the batches.
type mergeKey struct {
	expr.SortKey
	column int
}

// merges reports that runs of a Sort can be merged: no key has more digits than Arrow's numbers.
func merges(n *plan.Sort) bool {
	return !slices.ContainsFunc(n.Keys, func(k expr.SortKey) bool {
		return k.E.Type().Kind == table.Decimal && ingest.ArrowType(k.E.Type()).ID() == arrow.STRING
	})
}

// mergeOf is how about so many runs, of rows of so many bytes, are merged.
func mergeOf(ctx context.Context, of *spill.File, keys []mergeKey, budget int64, runs int, each int64) *merge {
	rows := budget / 4 / int64(min(max(runs, 1), mostRuns)) / each
	return &merge{ctx: ctx, of: of, keys: keys, first: -1, rows: int(min(1<<15, max(1<<8, rows))), atOnce: min(mostRuns, max(8, 2*runs))}
}

// sortMerge is mergeOf for a Sort.
func (x *execution) sortMerge(of *spill.File, n *plan.Sort, keys []mergeKey, budget int64, runs int, each int64) *merge {
	m := mergeOf(x.ctx, of, keys, budget, runs, each)
	m.unique, m.first = n.Unique, n.Limit
	return m
}

// runs sorts batches: what does not fit a part of the budget becomes runs in the temporary file.
type runs struct {
	*merge
	budget int64
	list   []computed
	bytes  int64 // of the list, with what sorting it takes
	runs   [][]spill.Extent
}

func (r *runs) add(rows computed) error {
	r.list = append(r.list, rows)
	r.bytes += int64(40+9*len(r.keys)) * int64(rows.Len())
	for _, c := range rows {
		r.bytes += int64(c.Data().SizeInBytes())
	}
	if r.bytes > r.budget/8 {
		return r.flush()
	}
	return nil
}

func (r *runs) flush() error {
	var run []spill.Extent
	for _, rows := range r.inOrder(r.list) {
		e, err := r.of.WriteBatch(rows)
		if err != nil {
			return err
		}
		run = append(run, e)
	}
	r.list, r.bytes, r.runs = nil, 0, append(r.runs, run)
	return nil
}

// sorted are all rows in their order, once the last batch has been added.
func (r *runs) sorted() (iter.Seq2[computed, error], error) {
	if r.runs != nil {
		err := r.flush()
		return r.all(r.runs), err
	}
	return func(yield func(computed, error) bool) {
		for _, rows := range r.inOrder(r.list) {
			if !yield(rows, nil) {
				return
			}
		}
	}, nil
}

// written is a run: items of rows of an execution's table that are in order.
func (m *merge) written(x *execution, rows placedRows, items []plan.Item) (run []spill.Extent, err error) {
	if m.first >= 0 && int64(len(rows.places)) > m.first {
		rows.places = rows.places[:m.first]
	}
	type piece struct {
		data []byte
		rows int
	}
	g := &gather{table: x.plan.Table, items: items, plain: true}
	whole := func(yield func(batch, error) bool) { yield(rows, nil) }
	for p, err := range inPieces(x, whole, m.rows, func(eval *vector.Evaluator, _ int, rows batch) (p piece, err error) {
		out, err := g.placed(eval, rows.(placedRows))
		if err != nil {
			return p, err
		}
		columns := out.(computed)
		if m.places {
			b := array.NewUint64Builder(memory.DefaultAllocator)
			defer b.Release()
			b.AppendValues(rows.(placedRows).places, nil)
			columns = append(columns, b.NewArray())
		}
		p.rows = columns.Len()
		p.data, err = spill.EncodeBatch(columns)
		return p, err
	}) {
		if err != nil {
			return nil, err
		}
		e, err := m.of.Write(p.data, p.rows)
		if err != nil {
			return nil, err
		}
		run = append(run, e)
	}
	return run, nil
}

// byteKeys are the keys of some rows as bytes that order as the rows do.
type byteKeys struct {
	bytes       []byte
	ends, wants []int // by row: where its bytes end, and those of the keys that are unique
}

func (k *byteKeys) of(row int) []byte {
	if row == 0 {
		return k.bytes[:k.ends[0]]
	}
	return k.bytes[k.ends[row-1]:k.ends[row]]
}

// uniqueOf is the part of a row's bytes that is unique.
func (k *byteKeys) uniqueOf(row int) []byte {
	of := k.of(row)
	return of[:len(of)-(k.ends[row]-k.wants[row])]
}

// start is the first bytes of a row's keys as a number.
func start(key []byte) (x uint64) {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	for i, b := range key {
		x |= uint64(b) << (56 - 8*i)
	}
	return x
}

// keysOf are the keys of a batch's rows.
func (m *merge) keysOf(rows computed) *byteKeys {
	n := rows.Len()
	out := &byteKeys{bytes: make([]byte, 0, 9*len(m.keys)*n), ends: make([]int, n), wants: make([]int, n)}
	of := make([]func([]byte, int) []byte, len(m.keys))
	for i, k := range m.keys {
		of[i] = keyBytes(rows[k.column], k.E.Type())
	}
	for row := range n {
		for i, k := range m.keys {
			if i == m.unique {
				out.wants[row] = len(out.bytes)
			}
			null := rows[k.column].IsNull(row)
			flag := byte(0)
			if null != k.NullsFirst {
				flag = 1
			}
			out.bytes = append(out.bytes, flag)
			if null {
				continue
			}
			at := len(out.bytes)
			out.bytes = of[i](out.bytes, row)
			if k.Desc {
				for j := at; j < len(out.bytes); j++ {
					out.bytes[j] = ^out.bytes[j]
				}
			}
		}
		out.ends[row] = len(out.bytes)
		if m.unique == len(m.keys) {
			out.wants[row] = len(out.bytes)
		}
	}
	return out
}

// keyBytes appends the value of an element of an array that is not NULL as bytes, which order as the values do; none of these is
// the beginning of another one's.
func keyBytes(a arrow.Array, t table.Type) func(out []byte, i int) []byte {
	number := func(out []byte, v int64) []byte { return binary.BigEndian.AppendUint64(out, table.OrdinalInt(v)) }
	switch a := a.(type) {
	case *array.Int64:
		return func(out []byte, i int) []byte { return number(out, a.Value(i)) }
	case *array.Float64:
		return func(out []byte, i int) []byte {
			return binary.BigEndian.AppendUint64(out, table.OrdinalFloat64(a.Value(i)))
		}
	case *array.Decimal128:
		return func(out []byte, i int) []byte { return append128(out, a.Value(i)) }
	case *array.Decimal256:
		return func(out []byte, i int) []byte { return append256(out, a.Value(i)) }
	}
	value := ingest.ArrowValues(a, t)
	return func(out []byte, i int) []byte {
		v := value(i)
		switch {
		case t.Kind == table.Varchar:
			for at := 0; at < len(v.S); at++ {
				if out = append(out, v.S[at]); v.S[at] == 0 {
					out = append(out, 1)
				}
			}
			return append(out, 0, 0)
		case t.IsFloat():
			return binary.BigEndian.AppendUint64(out, table.OrdinalFloat64(v.F))
		}
		return number(out, v.I+int64(v.Months)*table.MicrosPerMonth)
	}
}

func append128(out []byte, v decimal128.Num) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(out, table.OrdinalInt(v.HighBits())), v.LowBits())
}

func append256(out []byte, v decimal256.Num) []byte {
	words := v.Array()
	out = binary.BigEndian.AppendUint64(out, table.OrdinalInt(int64(words[3])))
	for i := 2; i >= 0; i-- {
		out = binary.BigEndian.AppendUint64(out, words[i])
	}
	return out
}

// inOrder are batches in the order of their keys, cut to pieces of so many rows: a run. They are released.
func (m *merge) inOrder(list []computed) (run []computed) {
	type row struct {
		start     uint64
		part, row int
	}
	var rows []row
	keys := make([]*byteKeys, len(list))
	for p, part := range list {
		keys[p] = m.keysOf(part)
		for i := range part.Len() {
			rows = append(rows, row{start(keys[p].of(i)), p, i})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if c := cmp.Compare(a.start, b.start); c != 0 {
			return c
		}
		return cmp.Or(bytes.Compare(keys[a.part].of(a.row), keys[b.part].of(b.row)), cmp.Compare(a.part, b.part), cmp.Compare(a.row, b.row))
	})
	if m.unique > 0 {
		rows = slices.CompactFunc(rows, func(a, b row) bool {
			return bytes.Equal(keys[a.part].uniqueOf(a.row), keys[b.part].uniqueOf(b.row))
		})
	}
	if m.first >= 0 && int64(len(rows)) > m.first {
		rows = rows[:m.first]
	}
	for piece := range slices.Chunk(rows, m.rows) {
		of, at := make([]int, len(piece)), make([]int, len(piece))
		for i, r := range piece {
			of[i], at[i] = r.part, r.row
		}
		run = append(run, interleaved(list, of, at))
	}
	released(list)
	return run
}

func released(list []computed) {
	for _, rows := range list {
		for _, c := range rows {
			c.Release()
		}
	}
}

// mostRuns is how many runs are merged at a time, at most.
const mostRuns = 1 << 7

// all merges runs, those of neighbours first where there are many.
func (m *merge) all(runs [][]spill.Extent) iter.Seq2[computed, error] {
	return func(yield func(computed, error) bool) {
		for len(runs) > m.atOnce {
			var out [][]spill.Extent
			for part := range slices.Chunk(runs, m.atOnce) {
				var run []spill.Extent
				for rows, err := range m.merged(part) {
					var e spill.Extent
					if err == nil {
						e, err = m.of.WriteBatch(rows)
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
	keys  *byteKeys
	row   int
	n     int    // rows of the batch
	start uint64 // of the row's keys
	part  int    // the batch, among those that the merge holds
}

// merged merges runs at once.
func (m *merge) merged(runs [][]spill.Extent) iter.Seq2[computed, error] {
	return func(yield func(computed, error) bool) {
		var held []computed // of which rows are yet to be given
		var of, at []int    // of the rows to be given: the batch and the row in it
		defer func() { released(held) }()
		cursors := make([]cursor, len(runs))
		// next goes to the next row of a run that is not empty.
		next := func(c *cursor) (more bool, err error) {
			if c.row++; c.row >= c.n {
				if len(c.left) == 0 {
					return false, nil
				}
				rows, err := m.of.ReadBatch(c.left[0])
				if err != nil {
					return false, err
				}
				c.left, c.keys, c.row, c.n, c.part = c.left[1:], m.keysOf(rows), 0, computed(rows).Len(), len(held)
				held = append(held, rows)
			}
			c.start = start(c.keys.of(c.row))
			return true, nil
		}
		less := func(a, b int) bool {
			x, y := &cursors[a], &cursors[b]
			if x.start != y.start {
				return x.start < y.start
			}
			if c := bytes.Compare(x.keys.of(x.row), y.keys.of(y.row)); c != 0 {
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
		h := newHeap(live, less)
		var last []byte // the unique keys of the last row
		given, some := int64(0), false
		flush := func() bool {
			out := interleaved(held, of, at)
			of, at = of[:0], at[:0]
			var kept []computed // that cursors are in
			for _, i := range h.of {
				kept = append(kept, held[cursors[i].part])
			}
			for p, rows := range held {
				if !slices.ContainsFunc(h.of, func(i int) bool { return cursors[i].part == p }) {
					released([]computed{rows})
				}
			}
			for k, i := range h.of {
				cursors[i].part = k
			}
			held = kept
			return yield(out, nil)
		}
		for len(h.of) > 0 && (m.first < 0 || given < m.first) {
			c := &cursors[h.of[0]]
			if key := []byte(nil); m.unique > 0 {
				if key = c.keys.uniqueOf(c.row); !some || !bytes.Equal(key, last) {
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
			h.next(more)
			if len(of) == m.rows {
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

// heap has runs that are merged, first the one whose row is the next (Knuth, vol. 3, 5.4.1).
type heap[T any] struct {
	of   []T
	less func(a, b T) bool
}

func newHeap[T any](of []T, less func(a, b T) bool) *heap[T] {
	h := &heap[T]{of, less}
	for i := len(of)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h
}

// next finds the first run again when the one that was has gone to its next row, or has none: more is false then.
func (h *heap[T]) next(more bool) {
	if !more {
		last := len(h.of) - 1
		h.of[0] = h.of[last]
		h.of = h.of[:last]
	}
	h.down(0)
}

// down puts a run in its place among those below it.
func (h *heap[T]) down(i int) {
	for {
		k := 2*i + 1
		if k >= len(h.of) {
			return
		}
		if k+1 < len(h.of) && h.less(h.of[k+1], h.of[k]) {
			k++
		}
		if !h.less(h.of[k], h.of[i]) {
			return
		}
		h.of[i], h.of[k] = h.of[k], h.of[i]
		i = k
	}
}

// interleaved is the rows of which row i is row rows[i] of batch of[i].
func interleaved(parts []computed, of, rows []int) (out computed) {
	for k := range parts[0] {
		column := make([]arrow.Array, len(parts))
		for p := range parts {
			column[p] = parts[p][k]
		}
		out = append(out, interleavedColumn(column, of, rows))
	}
	return out
}

func interleavedColumn(parts []arrow.Array, of, rows []int) arrow.Array {
	t := parts[0].DataType()
	if t.ID() == arrow.STRING {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.Reserve(len(rows))
		for i, row := range rows {
			if a := parts[of[i]].(*array.String); a.IsNull(row) {
				b.AppendNull()
			} else {
				b.Append(a.Value(row))
			}
		}
		return b.NewArray()
	}
	if t.ID() == arrow.NULL {
		return array.NewNull(len(rows))
	}
	nulls, buffers := 0, make([][]byte, len(parts))
	for p, a := range parts {
		nulls += a.NullN()
		buffers[p] = a.Data().Buffers()[1].Bytes()
	}
	var values []byte
	switch width := t.(arrow.FixedWidthDataType).BitWidth(); {
	case width == 1:
		values = make([]byte, bitutil.BytesForBits(int64(len(rows))))
		for i, row := range rows {
			if parts[of[i]].(*array.Boolean).Value(row) {
				bitutil.SetBit(values, i)
			}
		}
	case width == 64:
		values = make([]byte, 8*len(rows))
		for i, row := range rows {
			at := 8 * (parts[of[i]].Data().Offset() + row)
			binary.LittleEndian.PutUint64(values[8*i:], binary.LittleEndian.Uint64(buffers[of[i]][at:]))
		}
	default:
		w := width / 8
		values = make([]byte, w*len(rows))
		for i, row := range rows {
			at := w * (parts[of[i]].Data().Offset() + row)
			copy(values[w*i:w*i+w], buffers[of[i]][at:at+w])
		}
	}
	var valid *memory.Buffer
	if nulls > 0 {
		bits := make([]byte, bitutil.BytesForBits(int64(len(rows))))
		nulls = 0
		for i, row := range rows {
			if parts[of[i]].IsNull(row) {
				nulls++
			} else {
				bitutil.SetBit(bits, i)
			}
		}
		valid = memory.NewBufferBytes(bits)
	}
	data := array.NewData(t, len(rows), []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
