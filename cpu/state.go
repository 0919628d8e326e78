package cpu

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// state is what some aggregates need to know of the values of an input, for each group. Values
// may be added in any order, and states merged in any: what comes of them is the same.
type state interface {
	// resize makes room for so many groups, never fewer than before.
	resize(groups int)
	// add takes in values, none of them NULL, and the groups that they belong to; y of
	// pairs only, and for COUNT(*) neither.
	add(groups []uint32, x, y *Vector)
	// merge takes in another state of the same kind, whose group i is this one's to[i].
	merge(o state, to []uint32)
	// arrange is called once, when all has been added.
	arrange()
	// value is that of an aggregate, called for different groups at a time.
	value(a expr.Aggregate, group uint32, t *table.Table) (table.Value, error)
}

// stateKind tells states apart.
type stateKind uint8

const (
	counting stateKind = iota
	summing
	extremes
	listing
	gathering
	bitwise
	moments
)

// stateOf is the kind of state that an aggregate needs.
func stateOf(a expr.Aggregate) stateKind {
	switch a.Kind {
	case expr.CountAll, expr.Count, expr.Selectivity, expr.RegrCount:
		return counting
	case expr.Sum, expr.Avg:
		return summing
	case expr.Min, expr.Max, expr.BoolAnd, expr.BoolOr, expr.AnyValue:
		return extremes
	case expr.StringAgg:
		return gathering
	case expr.BitAnd, expr.BitOr, expr.BitXor:
		return bitwise
	case expr.Percentile, expr.PercentileCont, expr.KthLargest, expr.KthSmallest, expr.Mode:
		return listing
	}
	return moments
}

// newState is a state of a kind, for values of an expression.
func newState(k stateKind, x expr.Expr) state {
	switch k {
	case counting:
		return &counts{}
	case summing:
		if x.Type().IsFloat() {
			return &floatSums{}
		}
		return &intSums{}
	case gathering:
		return &texts{}
	case bitwise:
		return &bitSums{}
	case moments:
		if x.Type().IsFloat() {
			return &floatMoments{}
		}
		return &intMoments{}
	}
	if k == extremes {
		return orderOf(x.Type()).ends()
	}
	return orderOf(x.Type()).lists()
}

// counts are numbers of values, or of rows.
type counts struct{ n []uint64 }

func resized[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n > cap(s) {
		s = append(make([]T, 0, max(n, 2*cap(s))), s...)
	}
	return s[:n]
}

func (s *counts) resize(groups int) { s.n = resized(s.n, groups) }

func (s *counts) add(groups []uint32, _, _ *Vector) {
	for _, g := range groups {
		s.n[g]++
	}
}

func (s *counts) merge(o state, to []uint32) {
	for i, n := range o.(*counts).n {
		s.n[to[i]] += n
	}
}

func (s *counts) arrange() {}

func (s *counts) value(a expr.Aggregate, group uint32, t *table.Table) (table.Value, error) {
	n := s.n[group]
	if a.Kind == expr.Selectivity {
		return plan.SelectivityOf(n, uint64(t.Rows())), nil
	}
	return table.Int(int64(n)), nil
}

// intSums are sums of integers and DECIMALs.
type intSums struct {
	counts
	sums []sum
}

func (s *intSums) resize(groups int) {
	s.counts.resize(groups)
	s.sums = resized(s.sums, groups)
}

func (s *intSums) add(groups []uint32, x, _ *Vector) {
	if x.Highs != nil {
		for i, g := range groups {
			s.n[g]++
			s.sums[g].addWide(x.Highs[i], x.Ints[i])
		}
		return
	}
	for i, v := range x.Ints {
		g := groups[i]
		s.n[g]++
		s.sums[g].addInt(v)
	}
}

func (s *intSums) merge(o state, to []uint32) {
	other := o.(*intSums)
	s.counts.merge(&other.counts, to)
	for i, v := range other.sums {
		s.sums[to[i]].add(v.lo, v.mid, v.hi)
	}
}

func (s *intSums) value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	if i, ok := s.sums[group].int64(); ok && a.Kind == expr.Sum && s.n[group] > 0 { // most sums
		return table.Value{Type: a.Type(), I: i}, nil
	}
	total := plan.Sum{N: s.n[group]}
	s.sums[group].into(&total.Int)
	return plan.FinishSum(a, &total)
}

// floatSums are exact sums of REAL and DOUBLE PRECISION.
type floatSums struct {
	counts
	sums []*plan.FloatSum // nil for none
}

func (s *floatSums) resize(groups int) {
	s.counts.resize(groups)
	s.sums = resized(s.sums, groups)
}

// of is the sum of a group.
func (s *floatSums) of(group uint32) *plan.FloatSum {
	if s.sums[group] == nil {
		s.sums[group] = &plan.FloatSum{}
	}
	return s.sums[group]
}

func (s *floatSums) add(groups []uint32, x, _ *Vector) {
	for i, f := range x.Floats {
		s.n[groups[i]]++
		s.of(groups[i]).Add(f)
	}
}

func (s *floatSums) merge(o state, to []uint32) {
	other := o.(*floatSums)
	s.counts.merge(&other.counts, to)
	for i, v := range other.sums {
		if v != nil {
			s.of(to[i]).Merge(v)
		}
	}
}

func (s *floatSums) value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	total := plan.Sum{N: s.n[group]}
	if s.sums[group] != nil {
		total.Float = *s.sums[group]
	}
	return plan.FinishSum(a, &total)
}
