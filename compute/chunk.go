package compute

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// ChunkWork is what is asked of one chunk of a query; it queues the passes.
//
// A compiled query is a list of passes, which runs as often as the query does. So nothing
// of a pass may depend on what an earlier one computes, and nothing is read back while
// passes are queued.
type ChunkWork struct {
	*Compiler
	*table.Chunk
	Index    int // in the table
	part     pass.Part
	Pieces   []piece
	pending  [][]*kernel // stages
	Regional bool        // each multiprocessor has a region of the units (units.glsl)
	bitmaps  int         // parts of the compiler's arenas that it has
	free     []*Marks    // bitmaps that nothing needs any more
	valued   map[predicate.Leaf]*Node

	checks   []*number
	Tree     *Node
	keep     *Marks  // the selection, where something needs it as a bitmap
	selected *number // records
	columns  []*column
	joints   []*multiSum
	grouping *Grouping
	reserved int // storage blocks that its sweeps may need beside those of a tree
}

// column is what is asked of one column of a chunk's selection.
type column struct {
	col    int
	n      *number // values that are not NULL; that of the selected records where there are no NULLs
	sum    *number // of the codes, where it is asked for
	float  bool    // the sum is of REALs or DOUBLEs
	floats int     // where the result has it
	order  *order  // when order statistics are searched for
	asked  bool    // for histograms, which need the selection
}

// number is what passes count or add up: what is known beforehand, and words of the result.
type number struct {
	set   bool // it is known, or something counts it
	known uint64
	words []word
}

// word is a word of the result, in units of 2^shift.
type word struct {
	at    int
	shift uint
}

func known(n int) *number { return &number{set: true, known: uint64(n)} }

// read returns the number. Each word is read once: chunks may share it.
func (n *number) read(words []uint32, before map[word]bool) (*big.Int, error) {
	if !n.set {
		return nil, errors.New("compute: no pass counts the records that are asked for")
	}
	total, term := new(big.Int).SetUint64(n.known), new(big.Int)
	for _, w := range n.words {
		if !before[w] {
			before[w] = true
			total.Add(total, term.Lsh(term.SetUint64(uint64(words[w.at])), w.shift))
		}
	}
	return total, nil
}

// column returns what is asked of a column; nil when nothing is.
func (x *ChunkWork) column(col int) *column {
	if i := slices.IndexFunc(x.columns, func(y *column) bool { return y.col == col }); i >= 0 {
		return x.columns[i]
	}
	return nil
}

// ask notes what an aggregate needs of the chunk; histogram says that it is searched for
// over several devices.
func (x *ChunkWork) ask(a expr.Aggregate, histogram bool) {
	if a.Col < 0 {
		return
	}
	y := x.column(a.Col)
	if y == nil {
		y = &column{col: a.Col}
		x.columns = append(x.columns, y)
	}
	y.asked = y.asked || histogram
	switch {
	case a.Kind != expr.Sum && a.Kind != expr.Avg:
	case a.Arg.IsFloat():
		y.float = true
	default:
		y.sum = &number{}
	}
}

// settle notes the numbers that are known beforehand.
func (x *ChunkWork) settle() {
	x.selected = &number{}
	switch x.Tree.Op {
	case predicate.False:
		x.selected = known(0)
	case predicate.True:
		x.selected = known(x.Rows)
	}
	for _, y := range x.columns {
		switch seg := x.Segment(y.col); {
		case x.Tree.Op == predicate.False || seg.NonNull() == 0:
			*y = column{col: y.col, n: known(0), sum: known(0)}
		case x.Tree.Op == predicate.True:
			y.n = known(seg.NonNull())
		case seg.Nulls == 0:
			y.n = x.selected
		default:
			y.n = &number{}
		}
	}
	for _, j := range x.joints {
		x.settleMultiSum(j)
	}
}

// adds reports whether passes add the codes up.
func (y *column) adds() bool { return y.sum != nil && !y.sum.set }

// sweeps lists the sweeps over the chunk: one for each column and kind of sum or search. Every number of rows
// that is not known is counted in one of them.
func (x *ChunkWork) sweeps(countAll bool) []*sweep {
	var list []*sweep
	for _, y := range x.columns {
		of, before := x.attribute(y.col), len(list)
		digits := y.order != nil && len(y.order.digits) > 0
		// The counts by a digit are those of all chunks: of each one only where it is alone.
		if digits && len(y.order.chunks) == 1 && !y.n.set {
			*y.n = number{set: true, words: []word{{at: y.order.first}}}
		}
		own := !y.n.set && y.n != x.selected // the values are to be counted here
		if y.adds() {
			list = append(list, &sweep{op: func(r Result) pass.Op { return Accumulate{r, of} }, aggs: x.Q.AggregatesOfSum(y.col), cols: []int{y.col}, sums: []*columnSum{{[]int{y.col}, y.sum}}})
		}
		if digits {
			list = append(list, y.order.sweep(of))
		}
		switch {
		case !own:
			countAll = countAll || y.n == x.selected && (y.adds() || !digits)
		case len(list) == before:
			list = append(list, &sweep{op: func(r Result) pass.Op { return Popcount{Result: r, Column: of.Name} }, cols: []int{y.col}, values: y.n})
		case y.adds():
			list[before].values = y.n
		}
	}
	for _, j := range x.joints {
		list = append(list, x.multiSumSweeps(j)...)
		countAll = countAll || j.n == x.selected
	}
	if !countAll || x.selected.set {
		return list
	}
	if i := slices.IndexFunc(list, func(s *sweep) bool { return s.order == nil }); i >= 0 {
		list[i].selected = x.selected
		return list
	}
	return append(list, &sweep{op: x.Tree.named(func(r Result) pass.Op { return Popcount{Result: r, Where: x.Tree.short()} }), selected: x.selected})
}

// needsBitmap reports whether the selection is needed as a bitmap.
func (x *ChunkWork) needsBitmap(list []*sweep) bool {
	if x.Tree.Op == predicate.True || x.Tree.Op == predicate.False {
		return false
	}
	return len(list) > 1 || slices.ContainsFunc(x.columns, func(y *column) bool {
		return y.float || y.asked || y.order != nil && len(y.order.digits) > 1
	})
}

// Segment returns a column of the chunk.
func (x *ChunkWork) Segment(col int) *table.Segment { return x.Segments[col] }

// attribute names a column.
func (x *ChunkWork) attribute(col int) pass.Attribute {
	return pass.Attribute{Name: expr.Ident(x.Q.Table.Field(col).Name), Col: col}
}

// Block names what the device has of a column's window.
func (x *ChunkWork) Block(col int, content textures.Content, part int, w textures.Window) textures.Block {
	return textures.Block{Chunk: x.Chunk, Col: col, Content: content, Part: part, Window: w}
}

// newMarks names bitmaps of the windows, not yet written. Where programs go over several
// pieces they are parts of others that all chunks share.
func (x *ChunkWork) newMarks() *Marks {
	c, m := x.Compiler, &Marks{shared: x.Device.Together > 1}
	if m.shared {
		if x.bitmaps++; x.bitmaps > len(c.arenas) {
			var list []textures.Block
			for _, units := range c.ends {
				list = append(list, bitmap(units))
			}
			c.arenas = append(c.arenas, list)
		}
	}
	for _, p := range x.Pieces {
		if m.shared {
			m.Blocks = append(m.Blocks, c.arenas[x.bitmaps-1][p.section])
		} else {
			m.Blocks = append(m.Blocks, bitmap(p.units()))
		}
	}
	return m
}

// bitmap is working memory for one bit a record of some units.
func bitmap(units int) textures.Block {
	return textures.ScratchBlock(&textures.Scratch{Words: 4 * units})
}

// Stage queues passes that may run beside each other.
func (x *ChunkWork) Stage(list ...*kernel) {
	for _, k := range list {
		k.chunk, k.part = x.Index, x.part
	}
	x.pending = append(x.pending, list)
}

// open prepares the selection of a chunk and its checks.
func (x *ChunkWork) open(q physical.ChunkPlan) (err error) {
	if x.Rows == 0 {
		x.Tree, x.checks = none, slices.Repeat([]*number{known(0)}, len(q.Checks))
		return nil
	}
	for _, k := range q.Checks {
		x.part.Check = true
		n, err := x.check(k.Pred)
		x.part.Check = false
		if err != nil {
			return err
		}
		x.checks = append(x.checks, n)
	}
	x.reserve(q.Sums)
	x.Tree, err = x.Node(q.Pred)
	if err == nil && slices.ContainsFunc(x.Q.Aggs, func(a expr.Aggregate) bool { return a.Argument() != nil }) {
		x.Tree, err = x.plain(x.Tree)
	}
	if err == nil {
		x.Tree, err = x.fit(x.Tree)
	}
	if err == nil && x.crowded(x.Tree) {
		x.Tree, err = x.Mark(x.Tree)
	}
	return err
}

// check counts the records of a predicate that must select none.
func (x *ChunkWork) check(p *predicate.Pred) (*number, error) {
	tree, err := x.Node(p)
	if err == nil {
		tree, err = x.fit(tree)
	}
	switch {
	case err != nil:
		return nil, err
	case tree.Op == predicate.False:
		return known(0), nil
	case tree.Op == predicate.True:
		return known(x.Rows), nil
	}
	n := &number{}
	s := sweep{op: tree.named(func(r Result) pass.Op { return Check{r, tree.short()} }), tree: tree, selected: n}
	err = s.run(x, "")
	x.release(tree)
	return n, err
}

// gather queues the aggregates of the chunk; the first sweep evaluates the selection.
func (x *ChunkWork) gather() error {
	if x.Tree.Op == predicate.False {
		return nil
	}
	list := x.sweeps(slices.ContainsFunc(x.Q.Aggs, func(a expr.Aggregate) bool { return a.Argument() == nil }))
	if err := x.selection(list); err != nil {
		return err
	}
	shared := fmt.Sprintln(x.Pieces[0].section) // chunks in which this differs have counts of their own
	for _, y := range x.columns {
		if shared += fmt.Sprintln(y.col, y.n == x.selected); y.adds() { // what code 0 stands for is added for each value
			shared += fmt.Sprintln(x.Segment(y.col).Base)
		}
	}
	for _, j := range x.joints { // as for a column, and what a sum is multiplied with depends on them
		for _, col := range j.cols {
			shared += fmt.Sprintln(col, x.Segment(col).Base)
		}
	}
	for i, s := range list { // those of one chunk never share: SUM(a) and SUM(2 * a) have the same program
		if err := s.run(x, fmt.Sprint(shared, i, " ")); err != nil {
			return err
		}
	}
	for _, y := range x.columns {
		if y.float {
			y.floats = x.place(fmt.Sprintln("floats", x.Pieces[0].section, y.col), floatWords)
			x.floatSum(y.col, x.keep, y.floats)
		}
	}
	return nil
}

// selection gives the sweeps their trees: the first one evaluates the selection and
// keeps it, when others need it.
func (x *ChunkWork) selection(list []*sweep) error {
	tree := x.Tree
	if x.needsBitmap(list) {
		switch {
		case tree.Op == predicate.Simple && tree.Leaf.test == marked:
			x.keep = tree.Leaf.Marks
		case len(list) == 0 || !x.Device.Fuse:
			m, err := x.Mark(tree)
			if err != nil {
				return err
			}
			tree, x.keep = m, m.Leaf.Marks
		default:
			x.keep = x.newMarks()
			list[0].keep = x.keep
		}
	}
	for i, s := range list {
		s.tree = tree
		if i > 0 && x.keep != nil {
			s.tree = markedNode(x.keep, x.Tree.String())
		}
	}
	return nil
}
