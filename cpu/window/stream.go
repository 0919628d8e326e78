package window

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Stream computes the functions of a [plan.Window], all of one partition and order. Its rows come in that order, piece by piece, and a few
// words of each function go from piece to piece. Where one looks to the end of a row's peers or of its partition, the pieces are looked at
// first.
type Stream struct {
	// Before and After are how many rows before and behind a piece its rows look at.
	Before, After int
	// Looks reports that all pieces are to be looked at before the first is given.
	Looks bool

	ctx   context.Context
	node  *plan.Window
	funcs []*streamed // of the functions that near does not have
	near  plan.Window // those that look at some rows around each
	keys  []int       // columns, first those of the partition
	parts int         // how many of them are

	at   streamPlace
	ends [][2]*streamEnd // by piece that is yet to be given: of the peers and the partition that its last row is in
	open [2]*streamEnd   // those that pieces end in, and which go on
}

// streamPlace is where the rows go on.
type streamPlace struct {
	last             [][]byte // by key, its value in the row before; nil before the first row
	row, peer, group int64    // of the row that comes next its place in the partition; of the peers before it that of the first, and their number
}

// streamEnd is where peers or a partition end.
type streamEnd struct {
	rows   int64         // of the partition that stand before it
	values []streamValue // by function: of those that look there
}

// streamValue is what a function gives.
type streamValue struct {
	of  table.Value
	err error
}

// streamed is a function whose value in a row comes of the rows from the partition's first one on.
type streamed struct {
	*expr.Window
	to    int   // its place among the functions of the node
	until int   // where its frame ends: atRow, or a place in a pair of ends
	by    int64 // rows behind the row; of atRow

	added int64             // rows of the partition
	state aggregation.State // of an aggregate
	value table.Value       // of the others, so far
}

const (
	atPeers = iota
	atPartition
	atRow
)

// NewStream begins the functions of a Window; or it gives one that has to know more rows.
func NewStream(ctx context.Context, n *plan.Window) (w *Stream, not *expr.Window) {
	w = &Stream{ctx: ctx, node: n, near: plan.Window{Input: n.Input}}
	for _, e := range n.Funcs[0].Partition {
		w.keys = append(w.keys, e.(*expr.Column).Index)
	}
	w.parts = len(w.keys)
	for _, k := range n.Funcs[0].Order {
		w.keys = append(w.keys, k.E.(*expr.Column).Index)
	}
	for i, f := range n.Funcs {
		if before, after, ok := nearOf(f); ok {
			w.Before, w.After, w.near.Funcs = max(w.Before, before), max(w.After, after), append(w.near.Funcs, f)
			continue
		}
		s := &streamed{Window: f, to: i}
		if !s.streams() {
			return nil, f
		}
		if s.until == atRow {
			w.Before, w.After = max(w.Before, int(-s.by)), max(w.After, int(s.by))
		}
		w.Looks = w.Looks || s.until != atRow
		w.funcs = append(w.funcs, s)
	}
	return w, nil
}

// mostNear is how far a function may look at other rows.
const mostNear = 1 << 20

// nearOf are how many rows before and behind each a function looks at, where these are constants.
func nearOf(f *expr.Window) (before, after int, ok bool) {
	rows := func(e expr.Expr) (int, bool) {
		k, ok := e.(*expr.Const)
		if !ok || k.V.I != min(max(k.V.I, -mostNear), mostNear) {
			return 0, false
		}
		return int(k.V.I), true
	}
	switch f.Kind {
	case expr.Lag, expr.Lead:
		n := 1
		if len(f.Args) > 1 {
			if n, ok = rows(f.Args[1]); !ok {
				return 0, 0, false
			}
		}
		if f.Kind == expr.Lag {
			n = -n
		}
		return max(0, -n), max(0, n), true
	case expr.FirstValue, expr.LastValue, expr.NthValue, expr.OfAggregate:
	default:
		return 0, 0, false
	}
	at := func(b expr.Bound) (n int, ok bool) {
		switch b.Kind {
		case expr.CurrentRow:
			return 0, true
		case expr.Preceding:
			n, ok = rows(b.Offset)
			return -n, ok
		case expr.Following:
			return rows(b.Offset)
		}
		return 0, false
	}
	from, ok := at(f.Frame.Start)
	to, some := at(f.Frame.End)
	return max(0, -from, -to), max(0, from, to), ok && some && f.Frame.Mode == expr.FrameRows
}

// streams finds where the frame ends; it reports that the function needs no more than the rows before that, one after the other.
func (s *streamed) streams() bool {
	switch s.until = atRow; s.Kind {
	case expr.RowNumber, expr.Rank, expr.DenseRank:
		return true
	case expr.PercentRank, expr.CumeDist, expr.Ntile:
		s.until = atPartition
		return true
	case expr.Lag, expr.Lead:
		return false
	case expr.NthValue:
		if _, ok := s.Args[1].(*expr.Const); !ok {
			return false
		}
	case expr.OfAggregate:
		if k := aggregation.KindOf(s.Agg); k == aggregation.Listing || k == aggregation.Gathering || s.Agg.Distinct {
			return false
		}
	}
	if s.Frame.Start.Kind != expr.UnboundedPreceding || s.Frame.Exclude != expr.ExcludeNoOthers {
		return false
	}
	switch end := s.Frame.End; {
	case end.Kind == expr.UnboundedFollowing:
		s.until = atPartition
	case s.Frame.Mode != expr.FrameRows:
		s.until = atPeers
		return end.Kind == expr.CurrentRow
	case end.Kind != expr.CurrentRow:
		if s.by = end.Offset.(*expr.Const).V.I; end.Kind == expr.Preceding {
			s.by = -s.by
		}
		return s.by == min(max(s.by, -mostNear), mostNear)
	}
	return true
}

// streamSpan is rows of a piece that are in one partition.
type streamSpan struct {
	from, to int
	peers    []int // where its groups of peers begin, and the end
	begins   bool  // the partition does
	row      int64 // of the first row, its place in the partition
	rest     int   // rows of the partition that are known behind the span
}

// What begins with a row.
const (
	nothing = iota
	newPeers
	newPartition
)

// marks says for each row of a table whether it begins a partition or a group of peers. The keys of the piece before decide for its
// first row. last has the keys of the row before stop.
func (w *Stream) marks(t *table.Table, stop int) (marks []uint8, last [][]byte) {
	marks = make([]uint8, 0, t.Rows())
	before := w.at.last
	for _, c := range t.Chunks {
		if c.Rows == 0 {
			continue
		}
		from := len(marks)
		marks = marks[:from+c.Rows]
		if before == nil {
			marks[from] = newPartition
		}
		ends := make([][]byte, len(w.keys))
		for k, col := range w.keys {
			mark := uint8(newPartition)
			if k >= w.parts {
				mark = newPeers
			}
			s := c.Segments[col]
			if before != nil && string(before[k]) != string(aggregation.AppendKey(nil, s.Value(0))) {
				marks[from] = max(marks[from], mark)
			}
			for r := 1; r < c.Rows; r++ {
				if s.Codes.At(r) != s.Codes.At(r-1) || s.Nulls > 0 && s.IsNull(r) != s.IsNull(r-1) {
					marks[from+r] = max(marks[from+r], mark)
				}
			}
			ends[k] = aggregation.AppendKey(nil, s.Value(c.Rows-1))
			if stop > from && stop <= from+c.Rows {
				last = append(last, aggregation.AppendKey(nil, s.Value(stop-from-1)))
			}
		}
		before = ends
	}
	if last == nil {
		last = [][]byte{}
	}
	return marks, last
}

// spans are those of a piece's rows: the marks from first to end.
func (w *Stream) spans(marks []uint8, first, end int) (list []streamSpan) {
	n := end - first
	for i, mark := range marks[first:end] {
		if i == 0 || mark == newPartition {
			if k := len(list) - 1; k >= 0 {
				list[k].to, list[k].peers = i, append(list[k].peers, i)
			}
			s := streamSpan{from: i, to: n, begins: mark == newPartition}
			if !s.begins {
				s.row = w.at.row
			}
			list = append(list, s)
		}
		if k := len(list) - 1; i == list[k].from || mark == newPeers {
			list[k].peers = append(list[k].peers, i)
		}
	}
	k := len(list) - 1
	list[k].peers = append(list[k].peers, n)
	for _, mark := range marks[end:] {
		if mark == newPartition {
			break
		}
		list[k].rest++
	}
	return list
}

// enter goes to the first row of a span.
func (w *Stream) enter(s *streamSpan, mark uint8) {
	switch {
	case s.begins:
		w.at.row, w.at.peer, w.at.group = 0, 0, 0
		for _, f := range w.funcs {
			f.reset()
		}
	case mark == newPeers:
		w.at.peer, w.at.group = w.at.row, w.at.group+1
	}
}

// leave goes on behind a span.
func (w *Stream) leave(s *streamSpan) {
	if more := len(s.peers) - 2; more > 0 {
		w.at.peer, w.at.group = s.row+int64(s.peers[more]-s.from), w.at.group+int64(more)
	}
	w.at.row = s.row + int64(s.to-s.from)
}

// streamInput is what a function takes of a table's rows.
type streamInput struct {
	rows  *windowInput // of an aggregate
	x, y  expr.Vector
	value func(i int) table.Value // of the others
}

// inputs are those of the functions, of a table's rows in their order.
func (w *Stream) inputs(t *table.Table) []*streamInput {
	o := &orderedRows{windowing: &windowing{ctx: w.ctx, t: t, rows: t.Rows(), spaces: map[int]*physical.CodeSpace{}, signed: map[int]*physical.CodeSpace{}}, place: radixsort.UpTo[uint64](t.Rows())}
	rows := 0
	for _, c := range t.Chunks {
		o.chunks = append(o.chunks, rows)
		rows += c.Rows
	}
	list := make([]*streamInput, len(w.funcs))
	for i, f := range w.funcs {
		in := &streamInput{}
		switch f.Kind {
		case expr.OfAggregate:
			in.rows = o.inputs(f.Agg)
			in.x, in.y = o.vector(f.Agg.Argument(), in.rows), o.vector(f.Agg.Y, in.rows)
		case expr.FirstValue, expr.LastValue, expr.NthValue, expr.Ntile:
			in.value = o.values(f.Args[0])
		}
		list[i] = in
	}
	return list
}

// values gives an operand's value in the i-th row.
func (o *orderedRows) values(e expr.Expr) func(i int) table.Value {
	if k, ok := e.(*expr.Const); ok {
		return func(int) table.Value { return k.V }
	}
	s, codes, null := o.signedCodes(e.(*expr.Column).Index)
	return func(i int) table.Value {
		if from := o.place[i]; null == nil || !null[from] {
			return s.Value(codes[from])
		}
		return table.Null(e.Type())
	}
}

// reset begins a partition.
func (s *streamed) reset() {
	s.added, s.value = 0, table.Null(s.T)
	if s.Kind == expr.OfAggregate {
		s.state = aggregation.NewState(aggregation.KindOf(s.Agg), s.Agg.Argument())
		s.state.Resize(1)
	}
}

// groupOfAll is a group number of each of some rows.
var groupOfAll = make([]uint32, vector.PieceRows)

// add takes in rows of the partition that follow those before.
func (s *streamed) add(in *streamInput, from, to int) {
	if from >= to {
		return
	}
	before := s.added
	s.added += int64(to - from)
	at := -1
	switch s.Kind {
	case expr.OfAggregate:
		for from, to := in.rows.before[from], in.rows.before[to]; from < to; from += vector.PieceRows {
			until := min(to, from+vector.PieceRows)
			x, y := stretch(&in.x, from, until), stretch(&in.y, from, until)
			s.state.Add(groupOfAll[:until-from], &x, &y)
		}
		return
	case expr.FirstValue, expr.Ntile:
		if before == 0 {
			at = from
		}
	case expr.LastValue:
		at = to - 1
	case expr.NthValue:
		if n := s.Args[1].(*expr.Const).V; !n.Null && before < n.I && n.I <= s.added {
			at = from + int(n.I-before) - 1
		}
	}
	if at >= 0 {
		s.value = in.value(at)
		s.value.S = strings.Clone(s.value.S) // not the memory of a whole dictionary
	}
}

// now is the value of the rows so far.
func (s *streamed) now() (table.Value, error) {
	switch s.Kind {
	case expr.OfAggregate:
		v, err := s.state.Value(s.Agg, 0, nil)
		if err == nil && v.Big != nil {
			if !v.Big.IsInt64() {
				return v, fmt.Errorf("%s: %s takes more than 64 bits", s, v)
			}
			v.I, v.Big = v.Big.Int64(), nil
		}
		return v, err
	case expr.NthValue:
		if n := s.Args[1].(*expr.Const).V; !n.Null && n.I < 1 {
			return s.value, expr.Coded(sqlstate.InvalidArgumentForNthValue, s.P, "argument of nth_value must be greater than zero")
		}
	}
	return s.value, nil
}

// Look takes note of where the peers and the partition end that the last row of a piece is in. After the last piece, t is nil.
func (w *Stream) Look(t *table.Table) error {
	if t == nil {
		w.close(atPeers)
		w.close(atPartition)
		w.at = streamPlace{}
		return w.ctx.Err()
	}
	n := t.Rows()
	marks, last := w.marks(t, n)
	in := w.inputs(t)
	for _, s := range w.spans(marks, 0, n) {
		if marks[s.from] != nothing {
			w.close(atPeers)
		}
		if s.begins {
			w.close(atPartition)
		}
		w.enter(&s, marks[s.from])
		from, first := s.from, s.peers[1]
		for _, to := range []int{first, s.to} {
			for i, f := range w.funcs {
				if f.until != atRow {
					f.add(in[i], from, to)
				}
			}
			w.at.row += int64(to - from)
			if from = to; to < s.to {
				w.close(atPeers)
			}
		}
		w.leave(&s)
	}
	w.at.last = last
	for i, end := range w.open {
		if end == nil {
			w.open[i] = &streamEnd{values: make([]streamValue, len(w.funcs))}
		}
	}
	w.ends = append(w.ends, w.open)
	return w.ctx.Err()
}

// close notes the end of peers, or of a partition, that some piece ends in.
func (w *Stream) close(at int) {
	end := w.open[at]
	if end == nil {
		return
	}
	w.open[at], end.rows = nil, w.at.row
	for i, f := range w.funcs {
		if f.until == at {
			end.values[i].of, end.values[i].err = f.now()
		}
	}
}

// Give computes the functions of a piece's rows: a table of these with a column more for each. The rows before and behind are those of the
// other pieces that its rows look at, or all that there are.
func (w *Stream) Give(before, t, behind *table.Table) (*table.Table, error) {
	first, n := before.Rows(), t.Rows()
	all := &table.Table{Name: t.Name, Fields: t.Fields, Chunks: slices.Concat(before.Chunks, t.Chunks, behind.Chunks)}
	if err := all.UniteSpans(); err != nil {
		return nil, err
	}
	columns := make([]*windowColumn, len(w.node.Funcs)) // nil of those that near has
	if len(w.funcs) > 0 {
		var ends [2]*streamEnd
		if w.Looks {
			ends, w.ends = w.ends[0], w.ends[1:]
		}
		marks, last := w.marks(all, first+n)
		in := w.inputs(all)
		for _, f := range w.funcs {
			columns[f.to] = f.column(n)
		}
		for _, s := range w.spans(marks, first, first+n) {
			w.enter(&s, marks[first+s.from])
			for i, f := range w.funcs {
				if err := w.over(&s, f, in[i], first, n, ends, i, columns[f.to]); err != nil {
					return nil, err
				}
			}
			w.leave(&s)
		}
		w.at.last = last
	}
	var near *table.Table
	if len(w.near.Funcs) > 0 {
		var err error
		if near, err = Compute(w.ctx, all, &w.near); err != nil {
			return nil, err
		}
	}
	out := &table.Table{Name: t.Name, Fields: w.node.Fields()}
	from := 0
	for k, c := range t.Chunks {
		segments := slices.Clone(c.Segments)
		next := len(segments) // of near
		for i, column := range columns {
			if column == nil {
				segments, next = append(segments, near.Chunks[len(before.Chunks)+k].Segments[next]), next+1
				continue
			}
			f := w.node.Funcs[i]
			s, err := column.segment(table.NewBuilder("", []table.Field{{Type: f.T}}, 0).Column(0), from, c.Rows)
			if err != nil {
				return nil, expr.ErrorAt(f.P, err)
			}
			segments = append(segments, s)
		}
		out.Chunks = append(out.Chunks, &table.Chunk{Rows: c.Rows, Segments: segments})
		from += c.Rows
	}
	return out, w.ctx.Err()
}

// column is what the function gives of n rows.
func (s *streamed) column(n int) *windowColumn {
	switch s.Kind {
	case expr.RowNumber, expr.Rank, expr.DenseRank:
		return &windowColumn{ints: make([]int64, n)}
	case expr.PercentRank, expr.CumeDist:
		return &windowColumn{floats: make([]float64, n)}
	}
	return &windowColumn{values: make([]table.Value, n)}
}

// over computes a function, one of those that look to ends by its number, of a span of a piece's n rows. The first of these is a row of the table that in is of.
func (w *Stream) over(s *streamSpan, f *streamed, in *streamInput, first, n int, ends [2]*streamEnd, number int, c *windowColumn) error {
	if f.Kind == expr.RowNumber {
		for i := s.from; i < s.to; i++ {
			c.ints[i] = s.row + int64(i-s.from) + 1
		}
		return nil
	}
	if f.until == atRow && c.values != nil {
		return f.overRows(s, in, first, c)
	}
	rows := s.row + int64(s.to-s.from) // of the partition
	if s.to == n && w.Looks {
		rows = ends[atPartition].rows
	}
	if f.until == atPartition && c.values != nil {
		f.add(in, first+s.from, first+s.to)
		v := f.at(ends[atPartition], s.to == n, number)
		if v.err == nil && f.Kind == expr.Ntile {
			return f.tiles(s, v.of, rows, c)
		}
		for i := s.from; i < s.to; i++ {
			c.values[i] = v.of
		}
		return v.err
	}
	for g, from := range s.peers[:len(s.peers)-1] {
		to := s.peers[g+1]
		start, end := s.row+int64(from-s.from), s.row+int64(to-s.from)
		if g == 0 {
			start = w.at.peer
		}
		if to == n && w.Looks {
			end = ends[atPeers].rows
		}
		var v streamValue
		if f.until == atPeers {
			f.add(in, first+from, first+to)
			if v = f.at(ends[atPeers], to == n, number); v.err != nil {
				return v.err
			}
		}
		for i := from; i < to; i++ {
			switch f.Kind {
			case expr.Rank:
				c.ints[i] = start + 1
			case expr.DenseRank:
				c.ints[i] = w.at.group + int64(g) + 1
			case expr.PercentRank:
				c.floats[i] = float64(start) / float64(max(1, rows-1))
			case expr.CumeDist:
				c.floats[i] = float64(end) / float64(rows)
			default:
				c.values[i] = v.of
			}
		}
	}
	return nil
}

// at is the value of the rows so far. Where the peers or the partition go on behind the piece, it is the value at their
// end, which end has by the function's number.
func (s *streamed) at(end *streamEnd, goOn bool, number int) (v streamValue) {
	if goOn {
		return end.values[number]
	}
	v.of, v.err = s.now()
	return v
}

// overRows is over of a function whose frames end so many rows behind each row.
func (f *streamed) overRows(s *streamSpan, in *streamInput, first int, c *windowColumn) error {
	known := s.row + int64(s.to-s.from+s.rest)
	var v table.Value
	for i := s.from; i < s.to; i++ {
		until := min(s.row+int64(i-s.from)+f.by+1, known)
		if i == s.from || until > f.added {
			if until > f.added {
				at := first + s.from - int(s.row-f.added)
				f.add(in, at, at+int(until-f.added))
			}
			var err error
			if v, err = f.now(); err != nil {
				return err
			}
		}
		c.values[i] = v
	}
	return nil
}

// tiles is over of ntile of so many tiles, where the partition has so many rows.
func (f *streamed) tiles(s *streamSpan, v table.Value, rows int64, c *windowColumn) error {
	if !v.Null && v.I < 1 {
		return expr.Coded(sqlstate.InvalidArgumentForNtile, f.P, "argument of ntile must be greater than zero")
	}
	for i := s.from; i < s.to; i++ {
		c.values[i] = table.Value{Type: f.T, Null: v.Null}
		if !v.Null {
			c.values[i].I = tileOf(s.row+int64(i-s.from), rows, v.I)
		}
	}
	return nil
}

// tileOf is the tile, from 1 on, of a row, from 0 on. So many rows are divided among n tiles, and the first tiles have a row more.
func tileOf(at, rows, n int64) int64 {
	size, more := rows/n, rows%n
	if at < more*(size+1) {
		return at/(size+1) + 1
	}
	return more + (at-more*(size+1))/max(size, 1) + 1
}
