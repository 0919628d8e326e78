package compute

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// thresholds is how many are counted in a round of a small and of a large table: a
// round costs a wait, a threshold a scan.
const (
	manyThresholds = 15
	fewThresholds  = 3
	largeTable     = 1 << 24 // rows
)

// quantile is an order statistic over several chunks on its way: the k-th smallest
// value lies in lo..hi of the chunks' common code space.
type quantile struct {
	agg    expr.Aggregate
	space  *plan.Space
	k      uint64
	lo, hi uint64
	asked  []uint64 // the thresholds of this round
}

// rounds finds the order statistics that are spread over several chunks: a vector of
// thresholds goes out, the vector of how many values are below each comes back.
func (x *execution) rounds() (map[int]table.Value, error) {
	found := map[int]table.Value{}
	open := map[int]*quantile{}
	for _, i := range x.compiled.rounds {
		a := x.q.Aggs[i]
		n := x.values(a.Col)
		k, largest, ok, err := plan.Rank(a, n)
		if err != nil {
			return nil, err
		}
		if !ok {
			found[i] = table.Null(a.Type())
			continue
		}
		if largest {
			k = n - k + 1
		}
		space := plan.NewSpace(x.q.Table, a.Col)
		open[i] = &quantile{agg: a, space: space, k: k, hi: space.Max()}
	}
	for {
		if err := x.round(open); err != nil {
			return nil, err
		}
		busy := false
		for i, q := range open {
			if q.lo == q.hi {
				found[i] = q.space.Value(q.lo)
				delete(open, i)
			} else {
				busy = true
			}
		}
		if !busy {
			return found, nil
		}
	}
}

// round counts the thresholds of all quantiles and narrows them.
func (x *execution) round(open map[int]*quantile) error {
	for _, i := range x.compiled.rounds {
		q := open[i]
		if q == nil || q.lo == q.hi {
			continue
		}
		q.asked = Thresholds(q.lo, q.hi, x.q.Table.Rows())
		below, err := x.below(q.agg.Col, []int{i}, q.space, q.asked)
		if err != nil {
			return err
		}
		q.narrow(func(i int) uint64 { return below[i] })
	}
	return nil
}

// below counts the selected values of a column below each of some codes, for some
// aggregates.
func (x *execution) below(col int, aggs []int, space *plan.Space, codes []uint64) ([]uint64, error) {
	c := &compiler{device: x.device, q: x.q, result: textures.ScratchBlock(&textures.Scratch{})}
	counts := make([][]count, len(codes))
	for i, t := range codes {
		for _, ch := range x.chunks {
			n, err := x.countBelow(c, ch, col, aggs, space, t)
			if err != nil {
				return nil, err
			}
			counts[i] = append(counts[i], n)
		}
	}
	step, err := (&compiled{passes: c.rec.Passes, result: c.result, words: c.words}).execute(x.run)
	if err != nil {
		return nil, err
	}
	below := make([]uint64, len(codes))
	for i, each := range counts {
		for _, n := range each {
			below[i] += n.read(step.words)
		}
	}
	return below, nil
}

// Thresholds spreads the thresholds of a round over first+1..last, the codes that the
// answer may have being first..last, in a table of so many rows.
func Thresholds(first, last uint64, rows int) []uint64 {
	n := uint64(manyThresholds)
	if rows >= largeTable {
		n = fewThresholds
	}
	var list []uint64
	width := last - first // candidates less one
	if width <= n {
		for i := range width {
			list = append(list, first+1+i)
		}
		return list
	}
	for i := range n {
		list = append(list, first+(i+1)*(width/(n+1)))
	}
	return list
}

// narrow applies the counts: the answer is the largest code with less than k values
// below it.
func (q *quantile) narrow(below func(i int) uint64) {
	for i, t := range q.asked {
		if below(i) >= q.k {
			q.hi = t - 1
			return
		}
		q.lo = t
	}
}

// countBelow counts the selected values of a chunk below a code of the common space.
func (x *execution) countBelow(c *compiler, ch *chunk, col int, aggs []int, space *plan.Space, code uint64) (count, error) {
	y := ch.column(col)
	every := count{known: true, n: y.n.read(x.words)}
	if every.n == 0 {
		return every, nil
	}
	local, ok := space.Local(ch.segment(col), code)
	if !ok {
		return every, nil
	}
	t, all := storedOf(ch.segment(y.col)).threshold(local)
	switch {
	case all:
		return every, nil
	case t == 0:
		return knownCount(0), nil
	}
	of := Below{Attribute: ch.attribute(col), Code: code, Value: (&expr.Const{V: space.Value(code)}).String()}
	tree := ch.below(y.col, t, false, false, of.Name+" < "+of.Value)
	if ch.keep != nil {
		tree = junction(plan.And, []*node{markedNode(ch.keep, "selected"), tree})
	}
	e := *ch.evaluator
	e.run = &c.rec
	op := func(r Result) pass.Op {
		of.Result = r
		return of
	}
	s := sweep{op: op, aggs: aggs, tree: tree, selected: true, col: -1}
	g, err := s.run(c, &e)
	return counted(g.selected), err
}
