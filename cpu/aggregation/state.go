package aggregation

import (
	"math/bits"
	"strings"

	"github.com/stencildb/stencildb/cpu/int128"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/table"
)

// State is what some aggregates need to know of the values of an input, for each group. Values
// may be added in any order, and states merged in any: what comes of them is the same.
type State interface {
	// Resize makes room for so many groups, never fewer than before.
	Resize(groups int)
	// Add takes in values, none of them NULL, and the groups that they belong to; y of
	// pairs only, and for COUNT(*) neither.
	Add(groups []uint32, x, y *expr.Vector)
	// Merge takes in another state of the same kind, whose group i is this one's to[i].
	Merge(o State, to []uint32)
	// Arrange is called once, when all has been added.
	Arrange()
	// Value is that of an aggregate, called for different groups at a time.
	Value(a expr.Aggregate, group uint32, t *table.Table) (table.Value, error)
}

// StateKind tells states apart.
type StateKind uint8

const (
	Counting StateKind = iota
	Summing
	Extremes
	Listing
	Gathering
	bitwise
	moments
)

// KindOf is the kind of state that an aggregate needs.
func KindOf(a expr.Aggregate) StateKind {
	switch a.Kind {
	case expr.CountAll, expr.Count, expr.Selectivity, expr.RegrCount:
		return Counting
	case expr.Sum, expr.Avg:
		return Summing
	case expr.Min, expr.Max, expr.BoolAnd, expr.BoolOr, expr.AnyValue:
		return Extremes
	case expr.StringAgg:
		return Gathering
	case expr.BitAnd, expr.BitOr, expr.BitXor:
		return bitwise
	case expr.Percentile, expr.PercentileCont, expr.KthLargest, expr.KthSmallest, expr.Mode:
		return Listing
	}
	return moments
}

// NewState is a state of a kind, for values of an expression.
func NewState(k StateKind, x expr.Expr) State {
	switch k {
	case Counting:
		return &counts{}
	case Summing:
		if x.Type().IsFloat() {
			return &floatSums{}
		}
		return &intSums{}
	case Gathering:
		return &texts{}
	case bitwise:
		return &bitSums{}
	case moments:
		if x.Type().IsFloat() {
			return &floatMoments{}
		}
		return &intMoments{}
	}
	if k == Extremes {
		switch {
		case x.Type().Kind == table.Interval:
			return intervalEnds()
		case x.Type().IsFloat():
			return ofSignedFloats.ends()
		}
		if _, column := x.(*expr.Column); !column && x.Type().Kind == table.Varchar { // texts that are made are in an arena
			return &ends[string]{by: ofTexts, keep: strings.Clone}
		}
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

func (s *counts) Resize(groups int) { s.n = resized(s.n, groups) }

func (s *counts) Add(groups []uint32, _, _ *expr.Vector) {
	for _, g := range groups {
		s.n[g]++
	}
}

func (s *counts) Merge(o State, to []uint32) {
	for i, n := range o.(*counts).n {
		s.n[to[i]] += n
	}
}

func (s *counts) Arrange() {}

func (s *counts) Value(a expr.Aggregate, group uint32, t *table.Table) (table.Value, error) {
	n := s.n[group]
	if a.Kind == expr.Selectivity {
		return partial.SelectivityOf(n, uint64(t.Rows())), nil
	}
	return table.Int(int64(n)), nil
}

// intSums are sums of integers and DECIMALs: of 64 bits as long as these cannot overflow.
type intSums struct {
	counts
	small []int64
	reach uint64       // how far from 0 any of small may be
	large []int128.Sum // what is not in small; nil for none
}

// MostReach is how far from 0 small sums may be.
const MostReach = 1 << 62

func (s *intSums) Resize(groups int) {
	s.counts.Resize(groups)
	s.small = resized(s.small, groups)
	if s.large != nil {
		s.large = resized(s.large, groups)
	}
}

// larger are the sums of more than 64 bits.
func (s *intSums) larger() []int128.Sum {
	if s.large == nil {
		s.large = make([]int128.Sum, len(s.small))
	}
	return s.large
}

// total is the sum of a group.
func (s *intSums) total(group uint32) (out int128.Sum) {
	if s.large != nil {
		out = s.large[group]
	}
	out.AddInt(s.small[group])
	return out
}

func (s *intSums) Add(groups []uint32, x, y *expr.Vector) {
	switch {
	case x.Highs != nil:
		s.counts.Add(groups, x, y)
		for i, g := range groups {
			s.larger()[g].AddInt128(x.Highs[i], x.Ints[i])
		}
	case s.reaches(x.Ints):
		n, small := s.n, s.small[:len(s.n)]
		for i, v := range x.Ints {
			g := groups[i]
			n[g]++
			small[g] += v
		}
	default:
		s.counts.Add(groups, x, y)
		for i, g := range groups {
			s.larger()[g].AddInt(x.Ints[i])
		}
	}
}

// reaches reports that the small sums have room for some values. Where there are fewer groups than values it makes
// room.
func (s *intSums) reaches(list []int64) bool {
	most := uint64(0)
	for _, v := range list {
		most |= uint64(v ^ v>>63)
	}
	over, more := bits.Mul64(most+1, uint64(len(list)))
	if over > 0 || more > MostReach {
		return false
	}
	if s.reach+more > MostReach {
		if len(s.small) > len(list) {
			return false
		}
		for g, v := range s.small {
			s.larger()[g].AddInt(v)
		}
		clear(s.small)
		s.reach = 0
	}
	s.reach += more
	return true
}

func (s *intSums) Merge(o State, to []uint32) {
	other := o.(*intSums)
	s.counts.Merge(&other.counts, to)
	if other.large == nil && s.reach+other.reach <= MostReach {
		s.reach += other.reach
		for i, v := range other.small {
			s.small[to[i]] += v
		}
		return
	}
	for i := range other.small {
		v := other.total(uint32(i))
		s.larger()[to[i]].Add(v.Lo, v.Mid, v.Hi)
	}
}

func (s *intSums) Value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	sum := s.total(group)
	if i, ok := sum.Int64(); ok && a.Kind == expr.Sum && s.n[group] > 0 { // most sums
		return table.Value{Type: a.Type(), I: i}, nil
	}
	total := partial.Sum{N: s.n[group]}
	sum.Into(&total.Int)
	return partial.FinishSum(a, &total)
}

// floatSums are exact sums of REAL and DOUBLE PRECISION.
type floatSums struct {
	counts
	sums []*partial.FloatSum // nil for none
}

func (s *floatSums) Resize(groups int) {
	s.counts.Resize(groups)
	s.sums = resized(s.sums, groups)
}

// of is the sum of a group.
func (s *floatSums) of(group uint32) *partial.FloatSum {
	if s.sums[group] == nil {
		s.sums[group] = &partial.FloatSum{}
	}
	return s.sums[group]
}

func (s *floatSums) Add(groups []uint32, x, _ *expr.Vector) {
	for i, f := range x.Floats {
		s.n[groups[i]]++
		s.of(groups[i]).Add(f)
	}
}

func (s *floatSums) Merge(o State, to []uint32) {
	other := o.(*floatSums)
	s.counts.Merge(&other.counts, to)
	for i, v := range other.sums {
		if v != nil {
			s.of(to[i]).Merge(v)
		}
	}
}

func (s *floatSums) Value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	total := partial.Sum{N: s.n[group]}
	if s.sums[group] != nil {
		total.Float = *s.sums[group]
	}
	return partial.FinishSum(a, &total)
}
