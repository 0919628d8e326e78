package compute

import (
	"fmt"
	"math/big"

	"github.com/stencildb/stencildb/cpu"
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
//
// The error of the first check that selects a record, of a rank outside the
// selection, and of a sum that its type cannot hold are those of package plan.
func Run(run pass.Runner, d Device, q *plan.Query) ([]table.Value, error) {
	c, err := d.compile(q)
	if err != nil {
		return nil, err
	}
	x, err := c.execute(run)
	if err != nil {
		return nil, err
	}
	if !run.Executes() {
		return make([]table.Value, len(q.Aggs)), x.explainRounds()
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	found, err := x.rounds()
	if err != nil {
		return nil, err
	}
	out := make([]table.Value, len(q.Aggs))
	for i, a := range q.Aggs {
		if v, ok := found[i]; ok {
			out[i] = v
			continue
		}
		if out[i], err = x.value(i, a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// execution is one run of a compiled query.
type execution struct {
	*compiled
	run   pass.Runner
	words []uint32 // of the result
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

// check returns the error of the first check that selects a record.
func (x *execution) check() error {
	for i, c := range x.chunks {
		for j, n := range c.checks {
			if n.read(x.words) > 0 {
				return x.q.Chunks[i].Checks[j].Err
			}
		}
	}
	return nil
}

// selected is the number of selected records.
func (x *execution) selected() uint64 {
	var n uint64
	for _, c := range x.chunks {
		n += c.selected.read(x.words)
	}
	return n
}

// values is the number of selected values of a column that are not NULL.
func (x *execution) values(col int) uint64 {
	var n uint64
	for _, c := range x.chunks {
		n += c.column(col).n.read(x.words)
	}
	return n
}

// value finishes aggregate i.
func (x *execution) value(i int, a expr.Aggregate) (table.Value, error) {
	switch a.Kind {
	case expr.CountAll:
		return table.Int(int64(x.selected())), nil
	case expr.Selectivity:
		return plan.FinishSelectivity(a, x.selected(), uint64(x.q.Table.Rows())), nil
	case expr.Count:
		return table.Int(int64(x.values(a.Col))), nil
	case expr.Sum, expr.Avg:
		if a.Arg.IsFloat() {
			return x.floatSum(a)
		}
		if a.Kind == expr.Avg {
			return plan.FinishAvg(a, x.sum(a.Col), x.values(a.Col)), nil
		}
		return plan.FinishSum(a, x.sum(a.Col), x.values(a.Col))
	}
	return x.orderStatistic(i, a)
}

// sum is the exact sum of a column, unscaled: each record adds its code and the
// value of code 0 (frame of reference).
func (x *execution) sum(col int) *big.Int {
	total, term := new(big.Int), new(big.Int)
	for _, c := range x.chunks {
		y := c.column(col)
		for _, s := range y.sums {
			total.Add(total, term.Lsh(term.SetUint64(s.read(x.words)), s.shift))
		}
		term.SetUint64(y.n.read(x.words))
		total.Add(total, term.Mul(term, big.NewInt(table.IntFromOrdinal(c.segment(col).Base))))
	}
	return total
}

// floatSum is SUM and AVG of REAL and DOUBLE: the exact sum, rounded once.
func (x *execution) floatSum(a expr.Aggregate) (table.Value, error) {
	v := table.Value{Type: a.Type()}
	n := x.values(a.Col)
	if n == 0 {
		return table.Null(v.Type), nil
	}
	var sum cpu.FloatSum
	for _, c := range x.chunks {
		y := c.column(a.Col)
		if !y.float {
			continue
		}
		words := make([]uint32, y.floats.words)
		if err := x.run.Read(y.floats.block, words); err != nil {
			return v, err
		}
		y.floats.add(words, &sum)
	}
	var err error
	switch {
	case a.Kind == expr.Avg:
		v.F, err = sum.Mean(n)
	case a.Arg.Kind == table.Real:
		var f float32
		f, err = sum.Float32()
		v.F = float64(f)
	default:
		v.F, err = sum.Float64()
	}
	if err != nil {
		return table.Value{}, fmt.Errorf("%v: %w", a, err)
	}
	return v, nil
}

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
