package aggregates

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
)

// Supported returns a [plan.Declined] for the first aggregate that the
// graphics pipeline does not compute: the paper's accumulator is for integers and
// fixed point.
func Supported(q *plan.Query) error {
	for _, a := range q.Aggs {
		if (a.Kind == expr.Sum || a.Kind == expr.Avg) && a.Arg.IsFloat() {
			return &plan.Declined{Why: fmt.Sprintf("%v adds floating-point numbers, the accumulator of the graphics pipeline "+
				"adds integers and fixed point (load the column as numeric(p,s) for that)", a)}
		}
	}
	return nil
}

// Run executes a query: first the checks, then the selection and every aggregate.
// The values are those of q.Aggs, in order, each of its Type. With a runner that
// executes nothing the values mean nothing.
func Run(run pass.Runner, device predicates.Device, q *plan.Query) ([]table.Value, error) {
	if err := Supported(q); err != nil {
		return nil, err
	}
	g := NewGroup(run, device, q, needsStencil(q))
	if err := g.Checks(q); err != nil {
		return nil, err
	}
	m := &memo{Group: g, sums: map[int]sum{}}
	out := make([]table.Value, len(q.Aggs))
	for _, i := range order(q.Aggs) {
		v, err := m.aggregate(q.Aggs[i])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	if len(q.Aggs) == 0 && len(g.parts) > 0 { // only constants are selected: errors of rows still count
		_, err := g.Count()
		return out, err
	}
	return out, nil
}

// order puts aggregates that visit each chunk once before the k-th searches, which
// go round all chunks for every bit.
func order(aggs []expr.Aggregate) []int {
	var first, last []int
	for i, a := range aggs {
		switch a.Kind {
		case expr.Min, expr.Max, expr.Percentile, expr.KthLargest, expr.KthSmallest:
			last = append(last, i)
		default:
			first = append(first, i)
		}
	}
	return append(first, last...)
}

// memo keeps the sums that several aggregates share.
type memo struct {
	*Group
	sums map[int]sum
}

func (m *memo) aggregate(a expr.Aggregate) (table.Value, error) {
	switch a.Kind {
	case expr.CountAll, expr.Selectivity:
		n, err := m.Count()
		if err != nil {
			return table.Value{}, err
		}
		if a.Kind == expr.CountAll {
			return table.Int(int64(n)), nil
		}
		return plan.FinishSelectivity(a, n, uint64(m.table.Rows())), nil
	case expr.Count:
		n, _, err := m.CountNotNull(a.Col)
		return table.Int(int64(n)), err
	case expr.Sum, expr.Avg:
		return m.finishSum(a)
	}
	n, _, err := m.CountNotNull(a.Col)
	if err != nil {
		return table.Value{}, err
	}
	return m.ranked(a, n)
}

func (m *memo) finishSum(a expr.Aggregate) (table.Value, error) {
	s, ok := m.sums[a.Col]
	if !ok {
		total, n, err := m.Accumulator(a.Col)
		if err != nil {
			return table.Value{}, err
		}
		s = sum{total, n}
		m.sums[a.Col] = s
	}
	if a.Kind == expr.Avg {
		return plan.FinishAvg(a, s.total, s.n), nil
	}
	return plan.FinishSum(a, s.total, s.n)
}

// ranked is every aggregate that is a k-th value among n.
func (m *memo) ranked(a expr.Aggregate, n uint64) (table.Value, error) {
	k, largest, ok := uint64(1), a.Kind == expr.Max || a.Kind == expr.KthLargest, n > 0
	var err error
	switch {
	case !m.run.Executes():
		ok = true
	case a.Null:
		ok = false
	case a.Kind == expr.Percentile:
		k, largest, ok = plan.PercentileRank(a, n)
	case a.Kind == expr.KthLargest, a.Kind == expr.KthSmallest:
		k, ok, err = uint64(a.K), true, plan.CheckRank(a, n)
	}
	if err != nil || !ok {
		return table.Null(a.Type()), err
	}
	if largest {
		return m.KthLargest(a.Col, k)
	}
	return m.KthSmallest(a.Col, k)
}
