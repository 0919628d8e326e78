package compute

import (
	"fmt"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Select prepares the selection of a query. Its Check runs the passes of the checks, of
// the selection and of the query's aggregates.
func Select(run pass.Runner, d Profile, q *physical.Query) (partial.Selection, error) {
	c, err := d.compile(q)
	if err != nil {
		return nil, err
	}
	return &execution{compiled: c, run: run, histograms: map[int]*rankSearch{}}, nil
}

// execution is one run of a compiled query; it implements partial.Selection.
type execution struct {
	*compiled
	run        pass.Runner
	Words      []uint32            // of the result
	histograms map[int]*rankSearch // by column
}

// Execute runs the passes with a result block of their own, and reads it.
func (c *compiled) Execute(run pass.Runner) (*execution, error) {
	x := &execution{compiled: c, run: run, Words: make([]uint32, c.words)}
	result, err := c.Dispatch(run)
	if err != nil || len(c.passes) == 0 || c.words == 0 {
		return x, err
	}
	return x, run.Read(result, x.Words)
}

// Dispatch runs the passes with a result block of their own.
func (c *compiled) Dispatch(run pass.Runner) (result textures.Block, err error) {
	result = textures.ScratchBlock(&textures.Scratch{Words: max(1, c.words), Zero: true})
	for _, p := range c.passes {
		if p.Dispatch.Blocks[0] == c.result {
			p = withResult(p, result)
		}
		if _, err := run.Run(p); err != nil {
			return result, err
		}
	}
	return result, nil
}

// withResult is a pass that reports to another block.
func withResult(p *pass.Pass, result textures.Block) *pass.Pass {
	q, d := *p, *p.Dispatch
	d.Blocks = append([]textures.Block{result}, d.Blocks[1:]...)
	q.Dispatch = &d
	return &q
}

// Check implements partial.Selection.
func (x *execution) Check() error {
	done, err := x.Execute(x.run)
	if err != nil {
		return err
	}
	x.Words = done.Words
	for i, c := range x.Chunks {
		for j, n := range c.checks {
			switch n, err := n.read(x.Words, map[word]bool{}); {
			case err != nil:
				return err
			case n.Sign() > 0:
				return x.Q.CheckFailed(i, j)
			}
		}
	}
	return nil
}

// Count implements partial.Selection.
func (x *execution) Count() (uint64, error) {
	return x.total(func(c *ChunkWork) *number { return c.selected })
}

// CountNotNull implements partial.Selection.
func (x *execution) CountNotNull(col int) (uint64, error) { return x.values(col) }

// total adds a number of records up over all chunks.
func (x *execution) total(of func(*ChunkWork) *number) (n uint64, err error) {
	once := map[word]bool{}
	for _, c := range x.Chunks {
		k, err := of(c).read(x.Words, once)
		if err != nil {
			return 0, err
		}
		n += k.Uint64()
	}
	return n, nil
}

// values is the number of selected values of a column that are not NULL.
func (x *execution) values(col int) (uint64, error) {
	if o := x.order(col); o != nil && len(o.digits) > 0 {
		return uint64(x.Words[o.first]), nil
	}
	return x.total(func(c *ChunkWork) *number { return c.column(col).n })
}

// order returns what the order statistics of a column share; nil without any.
func (c *compiled) order(col int) *order {
	for _, o := range c.orders {
		if o.col == col {
			return o
		}
	}
	return nil
}

// Sum implements partial.Selection.
func (x *execution) Sum(col int) (sum partial.Sum, err error) {
	once, float := map[word]bool{}, false
	for _, c := range x.Chunks {
		y := c.column(col)
		if y.float {
			if at := (word{at: y.floats}); !once[at] {
				once[at], float = true, true
				addFloatSum(x.Words[y.floats:], &sum.Float)
			}
			continue
		}
		n, err := y.n.read(x.Words, once)
		if err != nil {
			return sum, err
		}
		codes, err := y.sum.read(x.Words, once)
		if err != nil {
			return sum, err
		}
		sum.AddCodes(c.Segment(col), codes, n.Uint64())
	}
	if float { // a search for ranks counts the values of all chunks together
		sum.N, err = x.values(col)
	}
	return sum, err
}

// Kth implements partial.Selection.
func (x *execution) Kth(col int, k uint64, largest bool) (table.Value, error) {
	n, err := x.values(col)
	if err != nil {
		return table.Value{}, err
	}
	if o := x.order(col); o != nil {
		for _, s := range o.searches {
			if rank, top, ok, err := physical.Rank(s.agg, n); err == nil && ok && rank == k && top == largest {
				if !largest {
					k = n - k + 1
				}
				return o.space.Value(s.code(o, x.Words, k)), nil
			}
		}
	}
	return table.Value{}, fmt.Errorf("compute: no aggregate of the query is value %d of %s", k, x.Q.Table.Fields[col].Name)
}
