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
	device Device
	q      *plan.Query
	rec    pass.Recorder
	result textures.Block
	words  int
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

// alloc reserves words of the result.
func (c *compiler) alloc(n int) int {
	c.words += n
	return c.words - n
}

// compile makes the passes of a query. It needs no device.
func compile(d Device, q *plan.Query) (*compiled, error) {
	c := &compiler{device: d, q: q, result: textures.ScratchBlock(&textures.Scratch{})}
	out := &compiled{q: q, device: d, result: c.result}
	for i := range q.Chunks {
		x, err := c.open(i)
		if err != nil {
			return nil, err
		}
		out.chunks = append(out.chunks, x)
	}
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
		if err := o.makePlanes(c); err != nil {
			return nil, err
		}
	}
	for _, x := range out.chunks {
		if err := c.chunk(x); err != nil {
			return nil, err
		}
	}
	for _, o := range out.orders {
		if err := o.passes(c); err != nil {
			return nil, err
		}
	}
	c.sideBySide()
	out.passes, out.words = c.rec.Passes, c.words
	return out, nil
}

// sideBySide lets passes begin before those before them are over, where they touch no
// working memory that these touched: counts are added to the result in any order, and only
// Decide reads them.
func (c *compiler) sideBySide() {
	touched := map[*textures.Scratch]bool{} // since the last pass that waits
	for i, p := range c.rec.Passes {
		d := p.Dispatch
		if _, reads := p.Op.(Decide); !reads {
			d.Beside = i > 0
		}
		for _, b := range d.Blocks {
			d.Beside = d.Beside && !(b.Scratch != nil && touched[b.Scratch])
		}
		if !d.Beside {
			clear(touched)
		}
		for _, b := range d.Blocks {
			if b.Scratch != nil && b != c.result {
				touched[b.Scratch] = true
			}
		}
	}
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
	return &evaluator{run: &c.rec, device: c.device, fields: c.q.Table.Attributes(), index: i, chunk: ch,
		windows: c.device.windowsOf(ch.Rows), fused: c.device.Fuse, compiler: c, valued: map[plan.Leaf]*node{},
		regional: !c.device.Software && c.device.Multiprocessors > 0 && ch.Rows >= c.device.RegionRows}, nil
}

// open prepares a chunk and its selection.
func (c *compiler) open(i int) (*chunk, error) {
	e, err := c.evaluator(i)
	if err != nil {
		return nil, err
	}
	x := &chunk{evaluator: e}
	for _, k := range c.q.Chunks[i].Checks {
		e.part.Check = true
		n, err := c.check(e, k.Pred)
		e.part.Check = false
		if err != nil {
			return nil, err
		}
		x.checks = append(x.checks, n)
	}
	pred := c.q.Chunks[i].Pred
	if countsOnly(c.q) {
		n, ok, err := c.countLeaf(e, pred)
		if ok || err != nil {
			x.selected = n
			return x, err
		}
	}
	tree, err := e.tree(pred)
	if err == nil {
		x.tree, err = c.fit(e, tree)
	}
	return x, err
}

// check counts the records of a predicate that must select none.
func (c *compiler) check(e *evaluator, p *plan.Pred) (count, error) {
	if n, ok, err := c.countLeaf(e, p); ok || err != nil {
		return n, err
	}
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
	s := sweep{op: func(r Result) pass.Op { return Check{r, tree.short()} }, tree: tree, selected: true, col: -1}
	g, err := s.run(c, e)
	e.release(tree)
	return counted(g.selected), err
}

// chunk queues the aggregates of a chunk; the first sweep evaluates the selection.
func (c *compiler) chunk(x *chunk) error {
	if x.selected.counted {
		return nil
	}
	if x.tree.op == plan.False {
		return nil
	}
	list := x.sweeps(slices.ContainsFunc(c.q.Aggs, func(a expr.Aggregate) bool { return a.Col < 0 }))
	if err := c.selection(x, list); err != nil {
		return err
	}
	for _, s := range list {
		g, err := s.run(c, x.evaluator)
		if err != nil {
			return err
		}
		x.took(s, g)
	}
	for _, y := range x.columns {
		if !y.n.known && !y.n.counted {
			y.n = x.selected
		}
		if y.float {
			var err error
			if y.floats, err = x.floatSum(y.col, x.selectionBlocks()); err != nil {
				return err
			}
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
		case tree.op == plan.IsLeaf && tree.leaf.test == marked:
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
