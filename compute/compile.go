package compute

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// compiled is a query as a list of passes and what their counts mean. It does not
// change: it may run any number of times.
type compiled struct {
	Q      *physical.Query
	Device Profile
	passes []*pass.Pass   // leave all their counts in one block
	result textures.Block // stands for that of one execution
	words  int
	Chunks []*ChunkWork
	orders []*order // of the columns with order statistics
}

// Compiler makes the passes.
type Compiler struct {
	compiled
	Units  int                // of all pieces
	ends   []int              // the units of each section of pieces
	places map[string]int     // of counts that chunks share, by what they are of
	arenas [][]textures.Block // working memory that pieces share: one a section
	waits  []bool             // for the passes before
	first  []int              // the first pass of each one's stage
}

// NewCompiler lays out the pieces of a table.
func NewCompiler(d Profile, q *physical.Query) (*Compiler, error) {
	if err := q.RequireNoScalar(); err != nil {
		return nil, err
	}
	if d.cache == nil {
		d.cache = newCache()
	}
	c := &Compiler{compiled: compiled{Q: q, Device: d, result: textures.ScratchBlock(&textures.Scratch{})}, places: map[string]int{}, ends: []int{0}}
	most := int(min(1<<31-1, 8*d.MaxBlock)) / textures.GroupRows * textures.UnitsPerGroup // of a section: limbs of float sums, and bitmaps
	for i, ch := range q.Table.Chunks {
		if int64(ch.Rows) > math.MaxUint32 {
			return nil, &plan.Declined{Why: fmt.Sprintf("a chunk of %d rows is more than 32 bits count", ch.Rows)}
		}
		rows := ch.Rows
		if d.Together > 1 {
			rows = q.Table.Rows()
		}
		x := &ChunkWork{Compiler: c, Chunk: ch, Index: i, valued: map[predicate.Leaf]*Node{}, reserved: reserved,
			Regional: !d.Software && d.Multiprocessors > 0 && rows >= d.RegionRows}
		for _, w := range d.WindowsOf(ch.Rows) {
			last := len(c.ends) - 1
			units := textures.Units(w.Rows)
			if c.ends[last] > 0 && c.ends[last]+units > most {
				last, c.ends = last+1, append(c.ends, 0)
			}
			p := piece{Window: w, section: last}
			if d.Together > 1 {
				p.from = c.ends[last]
			}
			x.Pieces = append(x.Pieces, p)
			c.ends[last] += units
			c.Units += units
		}
		c.Chunks = append(c.Chunks, x)
	}
	return c, nil
}

// Alloc reserves words of the result.
func (c *Compiler) Alloc(n int) int {
	c.words += n
	return c.words - n
}

// place is alloc for counts that chunks have in common.
func (c *Compiler) place(of string, n int) int {
	at, ok := c.places[of]
	if !ok {
		at = c.Alloc(n)
		c.places[of] = at
	}
	return at
}

// compile makes the passes of a query. It needs no device.
func compile(d Profile, q *physical.Query) (*compiled, error) {
	c, err := NewCompiler(d, q)
	if err != nil {
		return nil, err
	}
	for i, x := range c.Chunks {
		if err := x.open(q.Chunks[i]); err != nil {
			return nil, err
		}
		for k, a := range q.Aggs {
			if a.X != nil {
				if err := x.askSum(k, q.Chunks[i].Sums[k]); err != nil {
					return nil, err
				}
				continue
			}
			x.ask(a, physical.IsOrderStatistic(a) && c.byHistogram(a))
		}
		x.settle()
	}
	c.Flush()
	for i, a := range q.Aggs {
		if err := c.search(i, a); err != nil {
			return nil, err
		}
	}
	for _, o := range c.orders {
		o.makePlanes(c)
	}
	c.Flush()
	for _, x := range c.Chunks {
		if err := x.gather(); err != nil {
			return nil, err
		}
		if q.Groups != nil {
			if err := x.group(); err != nil {
				return nil, err
			}
		}
	}
	c.Flush()
	for _, o := range c.orders {
		o.passes(c)
	}
	c.SideBySide()
	return &c.compiled, nil
}

// byHistogram reports whether an order statistic is searched for over several devices.
func (c *compiled) byHistogram(a expr.Aggregate) bool {
	return c.Q.IsPart() && a.Kind != expr.Min && a.Kind != expr.Max
}

// search adds the search of an aggregate.
func (c *Compiler) search(i int, a expr.Aggregate) error {
	if !physical.IsOrderStatistic(a) || a.Null {
		return nil
	}
	if n := c.Q.Table.Rows(); int64(n) > math.MaxUint32 {
		return &plan.Declined{Why: fmt.Sprintf("%d rows are more than 32 bits count", n)}
	}
	if c.byHistogram(a) {
		return nil
	}
	o := c.order(a.Col)
	if o == nil {
		o = newOrder(a.Col, physical.NewCodeSpace(c.Q.Table, a.Col), c.Chunks)
		if len(o.digits) > 0 {
			o.first = c.Alloc(1 << digitBits)
		}
		for _, x := range o.chunks {
			x.column(a.Col).order = o
		}
		c.orders = append(c.orders, o)
	}
	o.searches = append(o.searches, &search{aggs: []int{i}, agg: a, of: a.String(), rank: rankArgs(a)})
	return nil
}
