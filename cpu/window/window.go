package window

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Compute computes the functions of a [plan.Window] over the rows of its input, which are the rows of t. It returns a
// table of these rows with a column more for each function. Functions of the same partitions and order share a sort;
// partitions go to all cores.
func Compute(ctx context.Context, t *table.Table, n *plan.Window) (*table.Table, error) {
	t = t.Compacted()
	w := &windowing{ctx: ctx, t: t, rows: t.Rows(), spaces: map[int]*physical.CodeSpace{}, signed: map[int]*physical.CodeSpace{}}
	rows := 0
	for _, c := range t.Chunks {
		w.chunks = append(w.chunks, rows)
		rows += c.Rows
	}
	columns := make([]*windowColumn, len(n.Funcs))
	done := map[string]bool{}
	for i, f := range n.Funcs {
		spec := f.Spec()
		if columns[i] != nil || done[spec] {
			continue
		}
		done[spec] = true
		o, err := w.ordered(f)
		if err != nil {
			return nil, err
		}
		for k := i; k < len(n.Funcs); k++ {
			if n.Funcs[k].Spec() == spec {
				if columns[k], err = o.function(n.Funcs[k]); err != nil {
					return nil, err
				}
			}
		}
	}
	out := &table.Table{Name: t.Name, Fields: n.Fields()}
	builders := make([]*table.ColumnBuilder, len(columns))
	for i, c := range t.Chunks {
		segments := slices.Clone(c.Segments)
		for k, col := range columns {
			b := builders[k]
			if b == nil {
				b = table.NewBuilder("", []table.Field{{Type: n.Funcs[k].T}}, 0).Column(0)
			}
			s, err := col.segment(b, w.chunks[i], c.Rows)
			if err != nil {
				return nil, expr.ErrorAt(n.Funcs[k].P, err)
			}
			segments, builders[k] = append(segments, s), b.Next(s)
		}
		out.Chunks = append(out.Chunks, &table.Chunk{Rows: c.Rows, Segments: segments})
	}
	return out, ctx.Err()
}

// windowing is the rows of a table, by their places: numbers in the order of its chunks.
type windowing struct {
	ctx    context.Context
	t      *table.Table
	rows   int
	chunks []int // the place of each chunk's first row
	spaces map[int]*physical.CodeSpace
	signed map[int]*physical.CodeSpace // those in which -0 has a code of its own
}

// codes are those of a column in the space of all chunks, by the rows' places, and which rows are NULL; nil for none.
func (w *windowing) codes(col int) (s *physical.CodeSpace, codes []uint64, null []bool) {
	if s = w.spaces[col]; s == nil {
		s = physical.NewCodeSpace(w.t, col)
		w.spaces[col] = s
	}
	codes = make([]uint64, w.rows)
	for _, c := range w.t.Chunks {
		if c.Segments[col].Nulls > 0 {
			null = make([]bool, w.rows)
			break
		}
	}
	for i, c := range w.t.Chunks {
		seg := c.Segments[col]
		delta, ranks := s.Translation(seg)
		out := codes[w.chunks[i]:][:c.Rows]
		table.InParts(c.Rows, func(from, to int) {
			for r := from; r < to; r++ {
				if seg.Nulls > 0 && seg.IsNull(r) {
					null[w.chunks[i]+r] = true
					continue
				}
				if code := seg.Codes.At(r); ranks != nil {
					out[r] = uint64(ranks[code])
				} else {
					out[r] = code + delta
				}
			}
		})
	}
	return s, codes, null
}

// signedCodes is codes of values, not of keys: in a space in which -0 has a code of its own.
func (w *windowing) signedCodes(col int) (s *physical.CodeSpace, codes []uint64, null []bool) {
	if !physical.HasNegativeZeros(w.t, col) {
		return w.codes(col)
	}
	if s = w.signed[col]; s == nil {
		s = physical.NewSignedCodeSpace(w.t, col)
		w.signed[col] = s
	}
	var of *physical.CodeSpace
	of, codes, null = w.codes(col)
	shift := of.Segment().Base - s.Segment().Base
	for i := range codes {
		codes[i] += shift
	}
	for i, c := range w.t.Chunks {
		for _, r := range c.Segments[col].NegativeZeros.Rows() {
			codes[w.chunks[i]+int(r)]--
		}
	}
	return s, codes, null
}

// orderedRows are the rows in the order of their partitions, and within these in that of a window.
type orderedRows struct {
	*windowing
	place      []uint64 // of each row
	partitions []int    // where each begins, and the end
	peers      []int    // where each group of peers begins, and the end
}

// ordered sorts the rows for a function, and for those that have its partitions and order.
func (w *windowing) ordered(f *expr.Window) (*orderedRows, error) {
	o := &orderedRows{windowing: w}
	keys := xslices.Map(f.Partition, func(e expr.Expr) expr.SortKey { return expr.SortKey{E: e} })
	columns, widths, partition := [][]uint64{}, []int{}, 0 // of these codes that of the partition
	for i, k := range slices.Concat(keys, f.Order) {
		s, codes, null := w.codes(k.E.(*expr.Column).Index)
		if k.Desc {
			for r := range codes {
				codes[r] = s.Max() - codes[r]
			}
		}
		if null != nil {
			flags := make([]uint64, w.rows)
			for r, is := range null {
				if is {
					codes[r] = 0
				}
				if is != k.NullsFirst {
					flags[r] = 1
				}
			}
			columns, widths = append(columns, flags), append(widths, 1)
		}
		columns, widths = append(columns, codes), append(widths, s.Bits())
		if i < len(f.Partition) {
			partition = len(columns)
		}
	}
	if err := o.sort(columns, widths); err != nil {
		return nil, err
	}
	begins := make([]bool, w.rows) // a partition, then a group of peers
	if w.rows > 0 {
		begins[0] = true
	}
	o.partitions = o.starts(begins, columns[:partition])
	o.peers = o.partitions
	if len(f.Order) > 0 {
		o.peers = o.starts(begins, columns[partition:])
	}
	return o, w.ctx.Err()
}

// starts are the rows that begin something, or whose codes differ from those of the row before, which then do; and the end.
func (o *orderedRows) starts(begins []bool, columns [][]uint64) []int {
	const piece = 1 << 14 // parts begin at least so many rows apart
	parts := make([][]int, o.rows/piece+1)
	table.InParts(o.rows, func(from, to int) {
		for _, codes := range columns {
			last := codes[o.place[max(from-1, 0)]]
			for i := from; i < to; i++ {
				code := codes[o.place[i]]
				begins[i] = begins[i] || code != last
				last = code
			}
		}
		var list []int
		for i := from; i < to; i++ {
			if begins[i] {
				list = append(list, i)
			}
		}
		parts[from/piece] = list
	})
	return append(slices.Concat(parts...), o.rows)
}

// sort puts the places in the order of codes, and where these are alike in their own.
func (o *orderedRows) sort(columns [][]uint64, widths []int) error {
	o.place = radixsort.UpTo[uint64](o.rows)
	if len(columns) == 0 || o.rows == 0 {
		return nil
	}
	workers := runtime.GOMAXPROCS(0)
	sorter, ok := radixsort.New(workers, radixsort.Spec{KeyBits: widths, PlaceBits: radixsort.Width(uint64(o.rows - 1)), First: -1})
	if !ok {
		return expr.Coded(sqlstate.ProgramLimitExceeded, -1, "PARTITION BY and ORDER BY have too many keys: name fewer columns")
	}
	var next atomic.Int64
	var work parallel.Group
	const piece = 1 << 16
	for worker := range workers {
		work.Go(func() {
			for {
				from := int(next.Add(piece)) - piece
				if from >= o.rows {
					return
				}
				to := min(from+piece, o.rows)
				part := make([][]uint64, 0, len(columns)+1)
				for _, c := range columns {
					part = append(part, slices.Clone(c[from:to]))
				}
				sorter.Add(worker, append(part, slices.Clone(o.place[from:to])))
			}
		})
	}
	work.Wait()
	places, err := sorter.Places(o.ctx)
	o.place = places
	return err
}

// partition is some rows of an [orderedRows].
type partition struct {
	from, to int
	peers    []int // where its groups of peers begin, and the end
}

// each calls do for each partition, those at the same time for different workers.
func (o *orderedRows) each(do func(worker int, p partition) error) error {
	n := len(o.partitions) - 1
	errs := make([]error, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	share := max(1, min(1<<10, n/len(errs)/8))
	var work parallel.Group
	for worker := range errs {
		work.Go(func() {
			for errs[worker] == nil && o.ctx.Err() == nil {
				from := int(next.Add(int64(share))) - share
				if from >= n {
					return
				}
				first, _ := slices.BinarySearch(o.peers, o.partitions[from])
				for i := from; i < min(n, from+share) && errs[worker] == nil; i++ {
					last := first
					for o.peers[last] < o.partitions[i+1] {
						last++
					}
					errs[worker] = do(worker, partition{o.partitions[i], o.partitions[i+1], o.peers[first : last+1]})
					first = last
				}
			}
		})
	}
	work.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return o.ctx.Err()
}

// windowColumn is what a function gives for each row, by the rows' places; one of the lists is not nil.
type windowColumn struct {
	ints   []int64
	floats []float64
	values []table.Value
	codes  []uint64 // of a space
	space  *physical.CodeSpace
	null   []bool                 // nil for none
	others map[uint64]table.Value // of rows that have no code
	mu     sync.Mutex             // of others
}

// segment is some rows of the column as a segment.
func (c *windowColumn) segment(b *table.ColumnBuilder, from, rows int) (*table.Segment, error) {
	for i := from; i < from+rows; i++ {
		switch {
		case c.null != nil && c.null[i]:
			b.Null()
		case c.others != nil && other(c.others, uint64(i), b):
		case c.ints != nil:
			b.Int(c.ints[i])
		case c.floats != nil:
			b.Float(c.floats[i])
		case c.codes != nil:
			b.Value(c.space.Value(c.codes[i]))
		default:
			b.Value(c.values[i])
		}
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	return b.Segment(), nil
}

// other appends the value of a row, if it is there.
func other(list map[uint64]table.Value, i uint64, b *table.ColumnBuilder) bool {
	v, ok := list[i]
	if ok {
		b.Value(v)
	}
	return ok
}

// function computes a function of the rows.
func (o *orderedRows) function(f *expr.Window) (*windowColumn, error) {
	switch f.Kind {
	case expr.RowNumber, expr.Rank, expr.DenseRank, expr.Ntile:
		return o.number(f)
	case expr.PercentRank, expr.CumeDist:
		return o.share(f)
	case expr.OfAggregate:
		return o.aggregate(f)
	}
	return o.row(f)
}

// number computes the functions that number rows.
func (o *orderedRows) number(f *expr.Window) (*windowColumn, error) {
	c := &windowColumn{ints: make([]int64, o.rows)}
	parts := func(int) (int64, bool, error) { return 0, true, nil }
	if f.Kind == expr.Ntile {
		c.null = make([]bool, o.rows)
		parts = o.integers(f.Args[0])
	}
	return c, o.each(func(_ int, p partition) error {
		switch f.Kind {
		case expr.RowNumber:
			for i := p.from; i < p.to; i++ {
				c.ints[o.place[i]] = int64(i - p.from + 1)
			}
			return nil
		case expr.Ntile: // the number of the partition's first row counts
			n, known, err := parts(p.from)
			if err == nil && known && n < 1 {
				err = expr.Coded(sqlstate.InvalidArgumentForNtile, f.P, "argument of ntile must be greater than zero")
			}
			if err != nil {
				return err
			}
			rows := int64(p.to - p.from)
			for i := p.from; i < p.to; i++ {
				if place := o.place[i]; known {
					c.ints[place] = tileOf(int64(i-p.from), rows, n)
				} else {
					c.null[place] = true
				}
			}
			return nil
		}
		for g := range p.peers[1:] {
			n := int64(p.peers[g] - p.from + 1)
			if f.Kind == expr.DenseRank {
				n = int64(g + 1)
			}
			for i := p.peers[g]; i < p.peers[g+1]; i++ {
				c.ints[o.place[i]] = n
			}
		}
		return nil
	})
}

// share computes percent_rank and cume_dist.
func (o *orderedRows) share(f *expr.Window) (*windowColumn, error) {
	c := &windowColumn{floats: make([]float64, o.rows)}
	return c, o.each(func(_ int, p partition) error {
		rows := p.to - p.from
		for g := range p.peers[1:] {
			x := float64(p.peers[g+1]-p.from) / float64(rows)
			if f.Kind == expr.PercentRank {
				x = float64(p.peers[g]-p.from) / float64(max(1, rows-1))
			}
			for i := p.peers[g]; i < p.peers[g+1]; i++ {
				c.floats[o.place[i]] = x
			}
		}
		return nil
	})
}

// integers gives the value of an operand in a row; known is false where it is NULL.
func (o *orderedRows) integers(e expr.Expr) func(i int) (n int64, known bool, err error) {
	if k, ok := e.(*expr.Const); ok {
		return func(int) (int64, bool, error) { return k.V.I, !k.V.Null, nil }
	}
	s, codes, null := o.codes(e.(*expr.Column).Index)
	return func(i int) (int64, bool, error) {
		place := o.place[i]
		if null != nil && null[place] || s.Max() == 0 && len(codes) == 0 {
			return 0, false, nil
		}
		return s.Value(codes[place]).I, true, nil
	}
}

// row computes the functions that give a value of another row.
func (o *orderedRows) row(f *expr.Window) (*windowColumn, error) {
	c := &windowColumn{null: make([]bool, o.rows)}
	value := o.valueOf(f.Args[0], c)
	offset := func(int) (int64, bool, error) { return 1, true, nil }
	if len(f.Args) > 1 {
		offset = o.integers(f.Args[1])
	}
	other := func(_ int, to uint64) { c.null[to] = true }
	if len(f.Args) > 2 {
		other = o.otherOf(f.Args[2], c)
	}
	distance := o.distanceOf(f)
	return c, o.each(func(_ int, p partition) error {
		frames := frameOf(f, p, distance.copied())
		for i := p.from; i < p.to; i++ {
			to := o.place[i]
			n, known, err := offset(i)
			if err != nil {
				return err
			}
			if f.Kind == expr.NthValue && known && n < 1 {
				return expr.Coded(sqlstate.InvalidArgumentForNthValue, f.P, "argument of nth_value must be greater than zero")
			}
			if !known {
				c.null[to] = true
				continue
			}
			from := -1
			switch f.Kind {
			case expr.Lag, expr.Lead:
				if f.Kind == expr.Lag {
					n = -n
				}
				if n >= int64(p.from-i) && n < int64(p.to-i) {
					from = i + int(n)
				}
				if from < 0 {
					other(i, to)
					continue
				}
			default:
				list, err := frames.of(i)
				if err != nil {
					return err
				}
				from = list.row(f.Kind, n)
			}
			if from < 0 {
				c.null[to] = true
			} else {
				value(from, to)
			}
		}
		return nil
	})
}

// valueOf sets row to of a column to the value of an operand in the i-th row.
func (o *orderedRows) valueOf(e expr.Expr, c *windowColumn) func(i int, to uint64) {
	if k, ok := e.(*expr.Const); ok {
		c.values = make([]table.Value, o.rows)
		return func(_ int, to uint64) { c.values[to] = k.V }
	}
	s, codes, null := o.signedCodes(e.(*expr.Column).Index)
	c.space, c.codes = s, make([]uint64, o.rows)
	return func(i int, to uint64) {
		from := o.place[i]
		c.codes[to] = codes[from]
		if null != nil && null[from] {
			c.null[to] = true
		}
	}
}

// otherOf sets row to to the value of another operand in the i-th row. The column becomes one of values.
func (o *orderedRows) otherOf(e expr.Expr, c *windowColumn) func(i int, to uint64) {
	var value func(i int) table.Value
	if k, ok := e.(*expr.Const); ok {
		value = func(int) table.Value { return k.V }
	} else {
		s, codes, null := o.signedCodes(e.(*expr.Column).Index)
		value = func(i int) table.Value {
			if from := o.place[i]; null == nil || !null[from] {
				return s.Value(codes[from])
			}
			return table.Value{Null: true}
		}
	}
	c.others = map[uint64]table.Value{}
	return func(i int, to uint64) {
		c.mu.Lock()
		c.others[to] = value(i)
		c.mu.Unlock()
	}
}
