package compute

import (
	"fmt"
	"math"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// compiler queues the passes of a query, which leave all their counts in one block.
type compiler struct {
	device  Device
	q       *plan.Query
	result  textures.Block
	words   int
	pieces  [][]piece          // by chunk
	units   int                // of all pieces
	ends    []int              // the units of each section of pieces
	places  map[string]int     // of counts that chunks share, by what they are of
	pending [][][]*kernel      // by chunk: stages
	arenas  [][]textures.Block // working memory that pieces share: one a section
	marked  []int              // how many of them each chunk has
	passes  []*pass.Pass
	waits   []bool // for the passes before
	first   []int  // the first pass of each one's stage
}

// compiled is a query as a list of passes and what their counts mean. It does not
// change: it may run any number of times.
type compiled struct {
	q      *plan.Query
	device Device
	passes []*pass.Pass
	result textures.Block // stands for the result of one execution
	words  int
	init   []uint32 // the first words of the result
	chunks []*chunk
	orders []*order // of the columns with order statistics
}

// newCompiler lays out the pieces of a table.
func newCompiler(d Device, q *plan.Query) *compiler {
	if d.cache == nil {
		d.cache = &cache{}
	}
	n := len(q.Table.Chunks)
	c := &compiler{device: d, q: q, result: textures.ScratchBlock(&textures.Scratch{}), pieces: make([][]piece, n), places: map[string]int{},
		pending: make([][][]*kernel, n), marked: make([]int, n), ends: []int{0}}
	most := int(min(1<<31-1, 8*d.MaxBlock)) / textures.GroupRows * textures.UnitsPerGroup // of a section: limbs of float sums, and bitmaps
	for i, ch := range q.Table.Chunks {
		for _, w := range d.windowsOf(ch.Rows) {
			last := len(c.ends) - 1
			units := textures.Units(w.Rows)
			if c.ends[last] > 0 && c.ends[last]+units > most {
				last, c.ends = last+1, append(c.ends, 0)
			}
			p := piece{Window: w, section: last}
			if d.Together > 1 {
				p.from = c.ends[last]
			}
			c.pieces[i] = append(c.pieces[i], p)
			c.ends[last] += units
			c.units += units
		}
	}
	return c
}

// alloc reserves words of the result.
func (c *compiler) alloc(n int) int {
	c.words += n
	return c.words - n
}

// place is alloc for counts that chunks have in common.
func (c *compiler) place(of string, n int) int {
	at, ok := c.places[of]
	if !ok {
		at = c.alloc(n)
		c.places[of] = at
	}
	return at
}

// newMarks names bitmaps of a chunk's windows, not yet written. Where programs go over several
// pieces they are parts of others that all chunks share.
func (e *evaluator) newMarks() *marks {
	c, m := e.compiler, &marks{}
	if c.device.Together <= 1 {
		for _, p := range e.pieces {
			m.blocks = append(m.blocks, bitmap(p.Rows))
		}
		return m
	}
	k := c.marked[e.index]
	if c.marked[e.index]++; k == len(c.arenas) {
		var list []textures.Block
		for _, units := range c.ends {
			list = append(list, textures.ScratchBlock(&textures.Scratch{Words: 4 * units}))
		}
		c.arenas = append(c.arenas, list)
	}
	m.shared = true
	for _, p := range e.pieces {
		m.blocks = append(m.blocks, c.arenas[k][p.section])
	}
	return m
}

// compile makes the passes of a query. It needs no device.
func compile(d Device, q *plan.Query) (*compiled, error) {
	c := newCompiler(d, q)
	out := &compiled{q: q, device: d, result: c.result}
	for i := range q.Chunks {
		x, err := c.open(i)
		if err != nil {
			return nil, err
		}
		out.chunks = append(out.chunks, x)
	}
	c.flush()
	for _, a := range q.Aggs {
		for _, x := range out.chunks {
			x.ask(a, plan.IsRanked(a) && out.byHistogram(a))
		}
	}
	for _, x := range out.chunks {
		x.settle()
	}
	for i, a := range q.Aggs {
		if err := out.search(c, i, a); err != nil {
			return nil, err
		}
	}
	for _, o := range out.orders {
		o.makePlanes(c)
	}
	c.flush()
	for _, x := range out.chunks {
		if err := out.sweep(c, x); err != nil {
			return nil, err
		}
	}
	c.flush()
	for _, o := range out.orders {
		o.passes(c)
	}
	c.sideBySide()
	out.passes, out.words = c.passes, c.words
	return out, nil
}

// byHistogram reports whether an order statistic is searched for over several devices.
func (o *compiled) byHistogram(a expr.Aggregate) bool {
	return o.q.IsPart() && a.Kind != expr.Min && a.Kind != expr.Max
}

// search adds the search of an aggregate.
func (o *compiled) search(c *compiler, i int, a expr.Aggregate) error {
	if !plan.IsRanked(a) || a.Null || o.byHistogram(a) {
		return nil
	}
	at := slices.IndexFunc(o.orders, func(x *order) bool { return x.col == a.Col })
	if at < 0 {
		if n := o.q.Table.Rows(); int64(n) > math.MaxUint32 {
			return &plan.Declined{Why: fmt.Sprintf("%d rows are more than 32 bits count", n)}
		}
		x := newOrder(a.Col, plan.NewSpace(o.q.Table, a.Col), o.chunks)
		if len(x.digits) > 0 {
			x.first = c.alloc(1 << digitBits)
		}
		for _, ch := range x.chunks {
			ch.column(a.Col).order = x
		}
		at, o.orders = len(o.orders), append(o.orders, x)
	}
	x := o.orders[at]
	x.searches = append(x.searches, &search{index: i, agg: a, of: a.String(), rank: rankArgs(a)})
	return nil
}

// evaluator prepares a chunk.
func (c *compiler) evaluator(i int) (*evaluator, error) {
	ch := c.q.Table.Chunks[i]
	if int64(ch.Rows) > math.MaxUint32 {
		return nil, &plan.Declined{Why: fmt.Sprintf("a chunk of %d rows is more than 32 bits count", ch.Rows)}
	}
	rows := ch.Rows
	if c.device.Together > 1 {
		rows = c.q.Table.Rows()
	}
	return &evaluator{device: c.device, fields: c.q.Table.Attributes(), index: i, chunk: ch,
		pieces: c.pieces[i], fused: c.device.Fuse, compiler: c, valued: map[plan.Leaf]*node{},
		regional: !c.device.Software && c.device.Multiprocessors > 0 && rows >= c.device.RegionRows}, nil
}

// open prepares a chunk and its selection.
func (c *compiler) open(i int) (*chunk, error) {
	e, err := c.evaluator(i)
	if err != nil {
		return nil, err
	}
	x := &chunk{evaluator: e}
	if e.chunk.Rows == 0 {
		x.tree, x.checks = none, slices.Repeat([]count{knownCount(0)}, len(c.q.Chunks[i].Checks))
		return x, nil
	}
	for _, k := range c.q.Chunks[i].Checks {
		e.part.Check = true
		n, err := c.check(e, k.Pred)
		e.part.Check = false
		if err != nil {
			return nil, err
		}
		x.checks = append(x.checks, n)
	}
	tree, err := e.tree(c.q.Chunks[i].Pred)
	if err == nil && slices.ContainsFunc(c.q.Aggs, func(a expr.Aggregate) bool { return a.Col >= 0 }) {
		tree, err = c.plain(e, tree)
	}
	if err == nil {
		x.tree, err = c.fit(e, tree)
	}
	return x, err
}

// check counts the records of a predicate that must select none.
func (c *compiler) check(e *evaluator, p *plan.Pred) (count, error) {
	tree, err := e.tree(p)
	if err == nil {
		tree, err = c.fit(e, tree)
	}
	switch {
	case err != nil:
		return count{}, err
	case tree.op == plan.False:
		return knownCount(0), nil
	case tree.op == plan.True:
		return knownCount(e.chunk.Rows), nil
	}
	s := sweep{op: tree.named(func(r Result) pass.Op { return Check{r, tree.short()} }), tree: tree, selected: true, col: -1}
	g, err := s.run(c, e, "")
	e.release(tree)
	return counted(g.selected), err
}

// sweep queues the aggregates of a chunk; the first sweep evaluates the selection.
func (o *compiled) sweep(c *compiler, x *chunk) error {
	if x.tree.op == plan.False {
		return nil
	}
	list := x.sweeps(slices.ContainsFunc(c.q.Aggs, func(a expr.Aggregate) bool { return a.Col < 0 }))
	if err := c.selection(x, list); err != nil {
		return err
	}
	shared := fmt.Sprintln(x.pieces[0].section)
	for _, y := range x.columns {
		if y.sum { // what code 0 stands for is added for each value
			shared += fmt.Sprintln(y.col, x.segment(y.col).Base)
		}
	}
	for _, s := range list {
		g, err := s.run(c, x.evaluator, shared)
		if err != nil {
			return err
		}
		x.took(s, g)
	}
	for _, y := range x.columns {
		if !y.n.known && y.n.in == nil {
			y.n = x.selected
		}
		if y.float {
			y.floats = c.place(fmt.Sprintln("floats", x.pieces[0].section, y.col), floatWords)
			x.floatSum(y.col, x.keep, y.floats)
		}
	}
	return nil
}

// selection gives the sweeps their trees: the first one evaluates the selection and
// keeps it, when others need it.
func (c *compiler) selection(x *chunk, list []*sweep) error {
	tree := x.tree
	if x.needsBitmap(list) {
		switch {
		case tree.op == plan.Simple && tree.leaf.test == marked:
			x.keep = tree.leaf.marks
		case len(list) == 0 || !x.fused:
			m, err := c.mark(x.evaluator, tree)
			if err != nil {
				return err
			}
			tree, x.keep = m, m.leaf.marks
		default:
			x.keep = x.newMarks()
			list[0].keep = x.keep
		}
	}
	for i, s := range list {
		s.tree = tree
		if i > 0 && x.keep != nil {
			s.tree = markedNode(x.keep, x.tree.String())
		}
	}
	return nil
}
