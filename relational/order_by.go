package relational

import (
	"cmp"
	"slices"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Order finds the selected rows of each window in the order of q.Order. The selection becomes a bitmap, its rows' keys are gathered from
// the planes, and a radix sort orders them. Where few rows are wanted, an order statistic of the first key says first which rows may be
// among them. Each window returns at most as many rows as are wanted in all. The device computes keys that are expressions, if
// [plan.Sort.ByColumns] has not made columns of them. The order is a [plan.Declined] where [lower.ComputeCodes] cannot say how, or a row
// raises an error.
func Order(run pass.Runner, d compute.Profile, q *physical.Query) (list []physical.SortedRun, err error) {
	chunks, made := q.Chunks, false
	for i, k := range q.Order.Keys {
		if _, ok := k.E.(*expr.Column); ok {
			continue
		}
		made = made || i == 0
		if err := canCompute(run, d, q, k.E); err != nil {
			return nil, err
		}
	}
	if first := q.Order.Limit; !made && first >= 0 && first < int64(q.Table.Rows()/topShare) {
		if likely := likelyFirst(q, first); likely != nil && !d.Software {
			if list, err := sortedRows(run, d, q, likely); err != nil || len(list) == 1 && int64(list[0].Passed+len(list[0].Rows)) == first {
				return list, err
			}
		}
		if chunks, err = topSelections(run, d, q, uint64(first)); err != nil {
			return nil, err
		}
	}
	return sortedRows(run, d, q, chunks)
}

// likelyFirst is a selection that by a sample has the first n rows and few others. It needs a table of one chunk of which all
// rows are wanted, and is nil where the sample says nothing.
func likelyFirst(q *physical.Query, n int64) []physical.ChunkPlan {
	k := q.Order.Keys[0]
	col := k.E.(*expr.Column)
	if q.Where != nil || len(q.Table.Chunks) != 1 || q.Chunks[0].Pred.Op != predicate.True || n == 0 {
		return nil
	}
	seg := q.Table.Chunks[0].Segments[col.Index]
	ranked := seg.Ranked()
	at := 3 + int(2*float64(n)/float64(max(1, seg.Rows()))*float64(len(ranked)))
	if seg.Nulls > 0 || at >= len(ranked) {
		return nil
	}
	bound := &expr.Compare{Op: expr.LE, L: col, R: &expr.Const{V: seg.Decode(ranked[at]), P: -1}, P: -1}
	if k.Desc {
		bound.Op, bound.R = expr.GE, &expr.Const{V: seg.Decode(ranked[len(ranked)-1-at]), P: -1}
	}
	few, err := physical.NewQuery(q.Table, &plan.Fragment{Table: q.Table.Name, Where: bound})
	if err != nil {
		return nil
	}
	return few.Chunks
}

// sortedRows sorts the rows that chunks select.
func sortedRows(run pass.Runner, d compute.Profile, q *physical.Query, chunks []physical.ChunkPlan) (list []physical.SortedRun, err error) {
	found, err := selections(run, d, q, chunks)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		for j := range f.Pieces {
			s := f.sorting(j)
			if len(q.Table.Chunks) == 1 && len(f.Pieces) == 1 && !q.IsPart() {
				s.passed = int(q.Order.Offset)
			}
			rows, err := s.rows()
			if err != nil {
				return nil, err
			}
			list = append(list, physical.SortedRun{Chunk: q.ChunkID(f.Index), Rows: rows, Passed: s.passed})
		}
	}
	return list, nil
}

// selected is the selection of a chunk as a bitmap, which is written when it is first asked for where all records are selected.
type selected struct {
	*compute.ChunkWork
	run  pass.Runner
	all  bool // every record is selected
	tree *compute.Node
}

// selections are those of the chunks but for those that select nothing.
func selections(run pass.Runner, d compute.Profile, q *physical.Query, chunks []physical.ChunkPlan) (list []*selected, err error) {
	d.Together = 1
	c, err := compute.NewCompiler(d, q)
	if err != nil {
		return nil, err
	}
	for i, x := range c.Chunks {
		if x.Rows == 0 {
			continue
		}
		n, err := x.Node(chunks[i].Pred)
		if err != nil {
			return nil, err
		}
		if n.Op == predicate.False {
			continue
		}
		f := &selected{ChunkWork: x, run: run, all: n.Op == predicate.True, tree: n}
		if !f.all {
			if f.tree, err = x.Mark(n); err != nil {
				return nil, err
			}
			c.Flush()
		}
		list = append(list, f)
	}
	_, err = c.Dispatch(run)
	return list, err
}

// bitmap is the selection of a window.
func (f *selected) bitmap(window int) (textures.Block, error) {
	if f.tree.Op == predicate.True {
		c := f.Compiler
		c.Begin()
		n, err := f.Write(f.tree)
		if err != nil {
			return textures.Block{}, err
		}
		f.tree = n
		c.Flush()
		if _, err := c.Dispatch(f.run); err != nil {
			return textures.Block{}, err
		}
	}
	return f.tree.Leaf.Marks.Blocks[window], nil
}

// sorting sorts the selected records of a window.
func (f *selected) sorting(window int) *sorting {
	return &sorting{ChunkWork: f.ChunkWork, run: f.run, Window: f.Pieces[window].Window, of: f, window: window}
}

// topShare is how much of the rows is worth an order statistic: one part in so many, or less.
const topShare = 8

// topSelections are the selections of those rows that may be among the first n.
func topSelections(run pass.Runner, d compute.Profile, q *physical.Query, n uint64) ([]physical.ChunkPlan, error) {
	k := q.Order.Keys[0]
	col := k.E.(*expr.Column)
	kth := expr.Aggregate{Kind: expr.KthSmallest, Col: col.Index, Name: col.Name, Arg: col.T, K: int64(n)}
	if k.Desc {
		kth.Kind = expr.KthLargest
	}
	narrowed := func(where expr.Expr, aggs ...expr.Aggregate) (*physical.Query, error) {
		return physical.NewQuery(q.Table, &plan.Fragment{Table: q.Table.Name, Where: where, Aggs: aggs})
	}
	all, err := narrowed(q.Where, expr.Aggregate{Kind: expr.CountAll, Col: -1}, expr.Aggregate{Kind: expr.Count, Col: col.Index, Name: col.Name}, kth)
	if err != nil || n == 0 {
		return q.Chunks, err
	}
	s, err := compute.Select(run, d, all)
	if plan.IsDeclined(err) {
		return q.Chunks, nil
	}
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.Count()
	if err != nil {
		return nil, err
	}
	values, err := s.CountNotNull(col.Index)
	if err != nil {
		return nil, err
	}
	var where expr.Expr = &expr.IsNull{X: col}
	switch nulls := rows - values; {
	case k.NullsFirst && nulls >= n:
	case values < n:
		return q.Chunks, nil
	default:
		v, err := s.Kth(col.Index, n, k.Desc)
		if err != nil {
			return nil, err
		}
		upTo := &expr.Compare{Op: expr.LE, L: col, R: &expr.Const{V: v, P: -1}, P: -1}
		if k.Desc {
			upTo.Op = expr.GE
		}
		if where = upTo; k.NullsFirst && nulls > 0 {
			where = &expr.Or{Kids: []expr.Expr{&expr.IsNull{X: col}, upTo}}
		}
	}
	if q.Where != nil {
		where = &expr.And{Kids: []expr.Expr{q.Where, where}}
	}
	top, err := narrowed(where)
	if err != nil {
		return nil, err
	}
	return top.Chunks, nil
}

// sorting sorts the records of a window that are marked in a bitmap.
type sorting struct {
	*compute.ChunkWork
	run pass.Runner
	textures.Window
	of     *selected
	window int               // of the chunk
	before primitives.Vector // positions, once they are asked for
	all    bool              // every record is marked
	n      int               // marked records
	passed int               // of the first rows in order: nobody reads them
	words  []primitives.Word // of their keys, the lowest first
	lent   bool              // the last of these is a column's block, which is not to be written to
}

// rows are those of the chunk.
func (s *sorting) rows() ([]uint32, error) {
	if err := s.count(); err != nil || s.n == 0 {
		s.passed = 0
		return nil, err
	}
	first := s.n
	if f := s.Q.Order.Limit; f >= 0 && f < int64(first) {
		first = int(f)
	}
	s.passed = min(s.passed, first)
	if first > 0 && s.n <= fewRows && !s.Device.Software && s.Q.Order.KeysAreColumns() {
		rows, err := s.few(first)
		if err != nil {
			return nil, err
		}
		return rows[s.passed:], nil
	}
	if err := s.keys(); err != nil {
		return nil, err
	}
	_, ids, err := s.sorted(first)
	if err != nil {
		return nil, err
	}
	if ids = ids.First(first); s.passed > 0 {
		if ids, err = s.behind(ids); err != nil || ids.N == 0 {
			return nil, err
		}
	}
	rows, err := ids.Read(s.run)
	if err != nil || s.From == 0 {
		return rows, err
	}
	for i := range rows {
		rows[i] += uint32(s.From)
	}
	return rows, nil
}

// behind are the rows in order behind those that are passed over.
func (s *sorting) behind(rows primitives.Vector) (primitives.Vector, error) {
	d, n := s.Device.Primitives, rows.N-s.passed
	if n == 0 {
		return primitives.Vector{}, nil
	}
	places, out := primitives.New(n), primitives.New(n)
	if err := primitives.Map(s.run, d, primitives.Func{Expr: "i + c0", Constants: []uint32{uint32(s.passed)}}, places); err != nil {
		return out, err
	}
	return out, primitives.Gather(s.run, d, rows, places, out)
}

// fewRows is up to how many rows the host sorts, in less time than a sort's passes take.
const fewRows = 1 << 13

// few returns the first of the marked rows, which the host finds. It sorts as soon as it has kept twice as many rows as are
// wanted. From then on it keeps only rows that come before the last wanted one.
func (s *sorting) few(first int) ([]uint32, error) {
	ids, err := s.rowsAt(primitives.Vector{}, s.n)
	if err != nil {
		return nil, err
	}
	rows, err := ids.First(s.n).Read(s.run)
	if err != nil {
		return nil, err
	}
	segments := make([]*table.Segment, len(s.Q.Order.Keys))
	for i, k := range s.Q.Order.Keys {
		segments[i] = s.Segment(k.E.(*expr.Column).Index)
	}
	compare := func(a, b uint32) int {
		for i := range s.Q.Order.Keys {
			if c := compareKeys(&s.Q.Order.Keys[i], segments[i], int(a), int(b)); c != 0 {
				return c
			}
		}
		return cmp.Compare(a, b)
	}
	kept, most := make([]uint32, 0, min(len(rows), 2*first+64)), 2*first+64
	bounded := false // by the row at first-1: what comes behind it is not wanted
	for _, row := range rows {
		row += uint32(s.From)
		if bounded && compare(row, kept[first-1]) > 0 {
			continue
		}
		if kept = append(kept, row); len(kept) == most {
			slices.SortFunc(kept, compare)
			kept, bounded = kept[:first], true
		}
	}
	slices.SortFunc(kept, compare)
	return kept[:min(first, len(kept))], nil
}

// compareKeys compares two rows of a segment as a key of ORDER BY has them.
func compareKeys(k *expr.SortKey, seg *table.Segment, a, b int) int {
	switch x, y := seg.IsNull(a), seg.IsNull(b); {
	case x && y:
		return 0
	case x == k.NullsFirst && x != y:
		return -1
	case x != y:
		return 1
	case k.Desc:
		a, b = b, a
	}
	return cmp.Compare(seg.Codes.At(a), seg.Codes.At(b))
}

// count finds how many records are marked.
func (s *sorting) count() error {
	if s.all, s.n = s.of.all, s.Window.Rows; s.all {
		return nil
	}
	_, before, err := s.positions()
	if err != nil {
		return err
	}
	counts, err := before.Read(s.run)
	s.n = int(counts[primitives.Groups(s.Window.Rows)])
	return err
}

// positions are the bitmap and the number of marked records before each group of it, with the number of all at the end: see
// [primitives.CountGroups].
func (s *sorting) positions() (bitmap textures.Block, before primitives.Vector, err error) {
	if bitmap, err = s.of.bitmap(s.window); err != nil || !s.before.None() {
		return bitmap, s.before, err
	}
	s.before = primitives.New(primitives.Groups(s.Window.Rows) + 1)
	return bitmap, s.before, primitives.CountGroups(s.run, s.Device.Primitives, bitmap, s.Window.Rows, s.before)
}

// codes writes a word of planes of each marked record.
func (s *sorting) codes(planes textures.Block, stored uint32, out primitives.Vector) error {
	bitmap, before, err := s.positions()
	if err != nil {
		return err
	}
	return primitives.RowCodes(s.run, s.Device.Primitives, bitmap, s.Window.Rows, before, planes, stored, out)
}

// ids writes the rows of the marked records, of which the window's first one has a number.
func (s *sorting) ids(first int, out primitives.Vector) error {
	bitmap, before, err := s.positions()
	if err != nil {
		return err
	}
	return primitives.RowIDs(s.run, s.Device.Primitives, bitmap, s.Window.Rows, first, before, out)
}

// sorted puts the first of the marked records in the order of the words. order has their numbers among the
// marked ones; it is none where there are no words. ids has their rows in the window.
func (s *sorting) sorted(first int) (order, ids primitives.Vector, err error) {
	d := s.Device.Primitives
	if len(s.words) > 0 {
		order = primitives.New(s.n)
		if err := primitives.SortBy(s.run, d, s.words, order); err != nil || s.all {
			return order, order, err
		}
	}
	ids, err = s.rowsAt(order, first)
	return order, ids, err
}

// rowsAt are the rows in the window of the first of the marked records in an order. Without an order they are in that of the
// window.
func (s *sorting) rowsAt(order primitives.Vector, first int) (primitives.Vector, error) {
	d, ids := s.Device.Primitives, primitives.New(s.n)
	if err := s.ids(0, ids); err != nil || order.None() {
		return ids, err
	}
	sorted := primitives.New(first)
	return sorted, primitives.Gather(s.run, d, ids, order.First(first), sorted)
}

// keys gathers the keys of the marked records into words. A key's lowest part comes first. Above the key, a
// bit tells NULLs from values. A descending key has all bits of its codes inverted.
func (s *sorting) keys() error {
	keys := s.Q.Order.Keys
	for i := len(keys) - 1; i >= 0; i-- {
		k := keys[i]
		var err error
		if c, ok := k.E.(*expr.Column); ok {
			err = s.key(c.Index, k.Desc, k.NullsFirst)
		} else {
			err = s.computedKey(k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// key adds a column above the keys that the words have.
func (s *sorting) key(col int, desc, nullsFirst bool) error {
	seg := s.Segment(col)
	for part := range textures.Parts(seg) {
		width := min(seg.Bits-textures.PartBits*part, textures.PartBits)
		planes := s.Block(col, textures.Planes, part, s.Window)
		if width <= 0 || planes.Stored() == 0 {
			continue
		}
		var codes primitives.Vector // where there is a word of each record already
		if s.all && textures.Parts(seg) == 1 && textures.CodeBytes(seg) == 4 {
			codes = primitives.Vector{Block: s.Block(col, textures.Codes, 0, s.Window), N: s.n}
		}
		if err := s.field(codes, planes, planes.Stored(), width, desc); err != nil {
			return err
		}
	}
	if seg.Nulls > 0 {
		return s.field(primitives.Vector{}, s.Block(col, textures.Validity, 0, s.Window), 1, 1, !nullsFirst)
	}
	return nil
}

// computedKey adds the codes of an expression above the keys that the words have.
func (s *sorting) computedKey(k expr.SortKey) error {
	m, err := computedCodesOf(s.ChunkWork, k.E)
	if err != nil || m.Val == nil { // NULL in all records
		return err
	}
	codes, err := s.compute(k.E, m, nil)
	if err != nil {
		return err
	}
	for part, of := range []primitives.Vector{codes.low, codes.high} {
		if width := min(m.Bits()-textures.PartBits*part, textures.PartBits); width > 0 {
			if err := s.field(of, textures.Block{}, 0, width, k.Desc); err != nil {
				return err
			}
		}
	}
	if codes.valid.None() {
		return nil
	}
	return s.field(codes.valid, textures.Block{}, 0, 1, !k.NullsFirst)
}

// field adds bits of each record above those that the words have: codes, or those of planes where there are none.
func (s *sorting) field(codes primitives.Vector, planes textures.Block, stored uint32, width int, inverted bool) error {
	d, mask, lent := s.Device.Primitives, uint32(0), !codes.None()
	if inverted {
		mask = 1<<width - 1
	}
	if !lent {
		codes = primitives.New(s.n)
		if err := s.codes(planes, stored, codes); err != nil {
			return err
		}
	}
	last := len(s.words) - 1
	if last >= 0 && s.words[last].Bits+width <= 32 {
		w := &s.words[last]
		fn := primitives.Func{Expr: "x | (y ^ c1) << c0", Constants: []uint32{uint32(w.Bits), mask}}
		w.Bits += width
		low := w.Words
		if s.lent {
			w.Words, s.lent = primitives.New(s.n), false
		}
		return primitives.Map(s.run, d, fn, w.Words, low, codes)
	}
	out := codes
	if s.lent = lent && !inverted; lent && inverted {
		out = primitives.New(s.n)
	}
	s.words = append(s.words, primitives.Word{Words: out, Bits: width})
	if !inverted {
		return nil
	}
	return primitives.Map(s.run, d, primitives.Func{Expr: "x ^ c0", Constants: []uint32{mask}}, out, codes)
}
