package plan

import (
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Selection is the selected records of all chunks, by what aggregates need to know
// of them. Columns are field indexes.
type Selection interface {
	// Count returns the number of selected records.
	Count() (uint64, error)
	// CountNotNull returns how many of them have a value of a column.
	CountNotNull(col int) (uint64, error)
	// Sum returns the exact sum of a column, unscaled, and how many values it has.
	Sum(col int) (*big.Int, uint64, error)
	// Kth returns the k-th largest or smallest of the n values that CountNotNull
	// has told; 1 <= k <= n.
	Kth(col int, k uint64, largest bool) (table.Value, error)
}

// Finish computes every aggregate of a query from a selection. With executes false
// the selection's numbers mean nothing and everything is asked for.
func Finish(s Selection, q *Query, executes bool) ([]table.Value, error) {
	m := &memo{Selection: s, table: q.Table, executes: executes, sums: map[int]sum{}}
	out := make([]table.Value, len(q.Aggs))
	for _, i := range order(q.Aggs) {
		v, err := m.aggregate(q.Aggs[i])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	if len(q.Aggs) == 0 && len(q.Chunks) > 0 { // only constants are selected: errors of rows still count
		_, err := s.Count()
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
	Selection
	table    *table.Table
	executes bool
	sums     map[int]sum
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
		return FinishSelectivity(a, n, uint64(m.table.Rows())), nil
	case expr.Count:
		n, err := m.CountNotNull(a.Col)
		return table.Int(int64(n)), err
	case expr.Sum, expr.Avg:
		return m.finishSum(a)
	}
	n, err := m.CountNotNull(a.Col)
	if err != nil {
		return table.Value{}, err
	}
	return m.ranked(a, n)
}

func (m *memo) finishSum(a expr.Aggregate) (table.Value, error) {
	s, ok := m.sums[a.Col]
	if !ok {
		total, n, err := m.Sum(a.Col)
		if err != nil {
			return table.Value{}, err
		}
		s = sum{total, n}
		m.sums[a.Col] = s
	}
	if a.Kind == expr.Avg {
		return FinishAvg(a, s.total, s.n), nil
	}
	return FinishSum(a, s.total, s.n)
}

// ranked is every aggregate that is a k-th value among n.
func (m *memo) ranked(a expr.Aggregate, n uint64) (table.Value, error) {
	k, largest, ok := uint64(1), a.Kind == expr.Max || a.Kind == expr.KthLargest, n > 0
	var err error
	switch {
	case !m.executes:
		if ok = true; a.Kind != expr.Min && a.Kind != expr.Max {
			k = 2 // not the first
		}
	case a.Null:
		ok = false
	case a.Kind == expr.Percentile:
		k, largest, ok = PercentileRank(a, n)
	case a.Kind == expr.KthLargest, a.Kind == expr.KthSmallest:
		k, ok, err = uint64(a.K), true, CheckRank(a, n)
	}
	if err != nil || !ok {
		return table.Null(a.Type()), err
	}
	return m.Kth(a.Col, k, largest)
}

// sum is an exact sum, unscaled, and the number of values in it.
type sum struct {
	total *big.Int
	n     uint64
}
