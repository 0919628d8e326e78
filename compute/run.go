package compute

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Run executes a query: all passes of its checks, selection and aggregates are
// queued, and their counts are read back at once; only order statistics over several
// chunks take further rounds. The values are those of q.Aggs, in order, each of its
// Type. With a runner that executes nothing the values mean nothing.
func Run(run pass.Runner, d Device, q *plan.Query) ([]table.Value, error) {
	s, err := Select(run, d, q)
	if err != nil {
		return nil, err
	}
	return plan.Finish(s, q)
}

// Select prepares the selection of a query. Its Check runs the passes of the checks, of
// the selection and of the query's aggregates.
func Select(run pass.Runner, d Device, q *plan.Query) (plan.Selection, error) {
	c, err := d.compile(q)
	if err != nil {
		return nil, err
	}
	return &execution{compiled: c, run: run}, nil
}

// execution is one run of a compiled query; it implements plan.Selection.
type execution struct {
	*compiled
	run     pass.Runner
	words   []uint32            // of the result
	found   map[int]table.Value // order statistics over several chunks, by aggregate
	reached map[int]plan.Reached
}

// execute runs the passes with a result block of their own, and reads it.
func (c *compiled) execute(run pass.Runner) (*execution, error) {
	x := &execution{compiled: c, run: run, words: make([]uint32, c.words)}
	if len(c.passes) == 0 {
		return x, nil
	}
	result := resultBlock(c.words)
	for _, p := range c.passes {
		if p.Dispatch.Blocks[0] == c.result {
			p = withResult(p, result)
		}
		if _, err := run.Run(p); err != nil {
			return nil, err
		}
	}
	if c.words == 0 {
		return x, nil
	}
	return x, run.Read(result, x.words)
}

// resultBlock is memory for counts, zero at first.
func resultBlock(words int) textures.Block {
	return textures.ScratchBlock(&textures.Scratch{Words: max(1, words), Zero: true})
}

// withResult is a pass that reports to another block.
func withResult(p *pass.Pass, result textures.Block) *pass.Pass {
	q, d := *p, *p.Dispatch
	d.Blocks = append([]textures.Block{result}, d.Blocks[1:]...)
	q.Dispatch = &d
	return &q
}

// Check implements plan.Selection.
func (x *execution) Check() error {
	done, err := x.execute(x.run)
	if err != nil {
		return err
	}
	x.words = done.words
	for i, c := range x.chunks {
		for j, n := range c.checks {
			if n.read(x.words) > 0 {
				return x.q.Failed(i, j)
			}
		}
	}
	return nil
}

// Count implements plan.Selection.
func (x *execution) Count() (n uint64, err error) {
	for _, c := range x.chunks {
		n += c.selected.read(x.words)
	}
	return n, nil
}

// CountNotNull implements plan.Selection.
func (x *execution) CountNotNull(col int) (uint64, error) { return x.values(col), nil }

// values is the number of selected values of a column that are not NULL.
func (x *execution) values(col int) (n uint64) {
	for _, c := range x.chunks {
		n += c.column(col).n.read(x.words)
	}
	return n
}

// Sum implements plan.Selection.
func (x *execution) Sum(col int) (sum plan.Sum, err error) {
	for _, c := range x.chunks {
		y := c.column(col)
		n := y.n.read(x.words)
		if y.float {
			words := make([]uint32, y.floats.words)
			if err := x.run.Read(y.floats.block, words); err != nil {
				return sum, err
			}
			addFloatSum(words, &sum.Float)
			sum.N += n
			continue
		}
		codes, term := new(big.Int), new(big.Int)
		for _, s := range y.sums {
			codes.Add(codes, term.Lsh(term.SetUint64(s.read(x.words)), s.shift))
		}
		sum.AddCodes(c.segment(col), codes, n)
	}
	return sum, nil
}

// Kth implements plan.Selection.
func (x *execution) Kth(col int, k uint64, largest bool) (table.Value, error) {
	null := table.Null(x.q.Table.Fields[col].Type)
	if x.found == nil && !x.q.IsPart() {
		var err error
		if x.found, err = x.rounds(); err != nil {
			return null, err
		}
	}
	for i, a := range x.q.Aggs {
		if a.Col != col || !plan.IsRanked(a) {
			continue
		}
		if rank, top, ok, err := plan.Rank(a, x.values(col)); err != nil || !ok || rank != k || top != largest {
			continue
		}
		if v, ok := x.found[i]; ok {
			return v, nil
		}
		if !slices.Contains(x.compiled.rounds, i) {
			return x.orderStatistic(i, a)
		}
	}
	return null, fmt.Errorf("compute: no aggregate of the query is value %d of %s", k, x.q.Table.Fields[col].Name)
}

// Histogram implements plan.Selection.
func (x *execution) Histogram(col int, space *plan.Space, lo uint64, shift, bits int) ([]uint64, error) {
	if x.reached == nil {
		x.reached = map[int]plan.Reached{}
	}
	if x.reached[col] == nil {
		x.reached[col] = plan.Reached{}
	}
	n := x.values(col)
	return x.reached[col].Histogram(n, space, lo, shift, bits, func(codes []uint64) ([]uint64, error) {
		below, err := x.below(col, nil, space, codes)
		for i := range below {
			below[i] = n - below[i]
		}
		return below, err
	})
}

// DigitBits implements plan.Selection.
func (x *execution) DigitBits() int { return digitBits }

// orderStatistic is the k-th value of the one chunk that has any, or the least or
// largest of every chunk's.
func (x *execution) orderStatistic(i int, a expr.Aggregate) (table.Value, error) {
	out := table.Null(a.Type())
	if _, _, ok, err := plan.Rank(a, x.values(a.Col)); err != nil || !ok {
		return out, err
	}
	for _, c := range x.chunks {
		y := c.column(a.Col)
		n := y.n.read(x.words)
		if n == 0 {
			continue
		}
		k, largest, _, err := plan.Rank(a, n)
		if err != nil {
			return out, err
		}
		if !largest {
			k = n - k + 1
		}
		seg := c.segment(a.Col)
		v := seg.Decode(y.search(i).code(x.words, storedOf(seg), k))
		if out.Null || (table.Compare(v, out) > 0) == (a.Kind == expr.Max) {
			out = v
		}
	}
	return out, nil
}

// search returns the search of an aggregate.
func (y *column) search(index int) *search {
	for _, s := range y.searches {
		if s.index == index {
			return s
		}
	}
	return nil
}
