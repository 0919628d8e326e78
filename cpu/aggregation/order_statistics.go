package aggregation

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/big"
	"slices"
	"unsafe"

	"github.com/stencildb/stencildb/cpu/int128"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// ordering is how values of a type are compared: as what T they are, where they are equal
// only if they are the same T.
type ordering[T comparable] struct {
	get   func(x *expr.Vector, i int) T
	value func(v T, t table.Type) table.Value
	less  func(a, b T) bool
	// put appends a value to a vector.
	put func(x *expr.Vector, v T)
	// merge, where it is not nil, learns what another one knows of its values.
	merge func(o *ordering[T])
	spans map[int64]table.Span
}

// orderings by type: integers and the like order as they are. Floats order as integers (so that -0 is 0, and
// NaN above all). DECIMALs that are computed have 128 bits.
var (
	ofInts = &ordering[int64]{
		get:   func(x *expr.Vector, i int) int64 { return x.Ints[i] },
		value: func(v int64, t table.Type) table.Value { return table.Value{Type: t, I: v} },
		less:  cmp.Less[int64],
		put:   func(x *expr.Vector, v int64) { x.Ints = append(x.Ints, v) },
	}
	ofFloats = &ordering[int64]{
		get:   func(x *expr.Vector, i int) int64 { return table.IntFromOrdinal(table.OrdinalFloat64(x.Floats[i])) },
		value: func(v int64, t table.Type) table.Value { return table.Value{Type: t, F: floatOf(v)} },
		less:  cmp.Less[int64],
		put:   func(x *expr.Vector, v int64) { x.Floats = append(x.Floats, floatOf(v)) },
	}
	// ofSignedFloats has -0 below 0, for who wants one of the values and not to know which are equal.
	ofSignedFloats = &ordering[int64]{
		get: func(x *expr.Vector, i int) int64 {
			return table.IntFromOrdinal(table.SignedOrdinalFloat64(x.Floats[i]))
		},
		value: ofFloats.value,
		less:  cmp.Less[int64],
		put:   ofFloats.put,
	}
	ofTexts = &ordering[string]{
		get:   func(x *expr.Vector, i int) string { return x.Texts[i] },
		value: func(v string, _ table.Type) table.Value { return table.Str(v) },
		less:  cmp.Less[string],
		put:   func(x *expr.Vector, v string) { x.Texts = append(x.Texts, v) },
	}
	ofWides = &ordering[int128.Int]{
		get: func(x *expr.Vector, i int) int128.Int {
			if x.Highs == nil {
				return int128.Int{Hi: x.Ints[i] >> 63, Lo: uint64(x.Ints[i])}
			}
			return int128.Int{Hi: x.Highs[i], Lo: uint64(x.Ints[i])}
		},
		value: func(v int128.Int, t table.Type) table.Value { return table.Dec(t, v.Big()) },
		less:  func(a, b int128.Int) bool { return int128.Compare(a, b) < 0 },
		put: func(x *expr.Vector, v int128.Int) {
			x.Ints, x.Highs = append(x.Ints, int64(v.Lo)), append(x.Highs, v.Hi)
		},
	}
)

// ofIntervals orders by microseconds, and knows of each what else an interval of so many was.
func ofIntervals() *ordering[int64] {
	o := *ofInts
	o.spans = map[int64]table.Span{}
	o.get = func(x *expr.Vector, i int) int64 {
		v := x.Ints[i]
		if x.Spans != nil && x.Spans[i] != (table.Span{}) {
			o.spans[v] = x.Spans[i]
		}
		return v
	}
	o.value = func(v int64, _ table.Type) table.Value { return table.IntervalValue(v, o.spans[v]) }
	o.put = func(x *expr.Vector, v int64) { x.Ints, x.Spans = append(x.Ints, v), append(x.Spans, o.spans[v]) }
	o.merge = func(other *ordering[int64]) { maps.Copy(o.spans, other.spans) }
	return &o
}

// spanned is an interval whose extremes are looked for: microseconds in all, and what it has beside them.
type spanned struct {
	us int64
	table.Span
}

// intervalEnds are the smallest and the largest interval of each group.
func intervalEnds() State {
	return &ends[spanned]{by: &ordering[spanned]{
		get: func(x *expr.Vector, i int) (v spanned) {
			if v.us = x.Ints[i]; x.Spans != nil {
				v.Span = x.Spans[i]
			}
			return v
		},
		value: func(v spanned, _ table.Type) table.Value { return table.IntervalValue(v.us, v.Span) },
		less:  func(a, b spanned) bool { return a.us < b.us },
	}}
}

func floatOf(v int64) float64 { return table.Float64FromOrdinal(table.OrdinalInt(v)) }

// isWide reports DECIMALs that may have more than 64 bits.
func isWide(t table.Type) bool { return t.Kind == table.Decimal && t.Precision > 18 }

// order makes what compares the values of a type.
type order interface {
	ends() State
	lists() State
	distinct() distinctValues
}

// mergeOrdering is merge.
func (o *ordering[T]) mergeOrdering(other *ordering[T]) {
	if o.merge != nil {
		o.merge(other)
	}
}

func (o *ordering[T]) ends() State              { return &ends[T]{by: o} }
func (o *ordering[T]) lists() State             { return &lists[T]{by: o} }
func (o *ordering[T]) distinct() distinctValues { return &distinct[T]{by: o, ids: map[T]uint32{}} }

func orderOf(t table.Type) order {
	switch {
	case t.IsFloat():
		return ofFloats
	case t.Kind == table.Varchar:
		return ofTexts
	case isWide(t):
		return ofWides
	case t.Kind == table.Interval:
		return ofIntervals()
	}
	return ofInts
}

// ends are the smallest and the largest value of each group.
type ends[T comparable] struct {
	by     *ordering[T]
	some   []bool
	lo, hi []T
	keep   func(T) T // makes a value one that stays; nil where all do
}

func (s *ends[T]) Resize(groups int) {
	s.some, s.lo, s.hi = resized(s.some, groups), resized(s.lo, groups), resized(s.hi, groups)
}

func (s *ends[T]) Add(groups []uint32, x, _ *expr.Vector) {
	if len(s.some) == 1 && x.Len() > 0 && x.Highs == nil { // of all rows
		two := endsOf(x)
		s.take(0, s.by.get(&two, 0), s.by.get(&two, 1))
		return
	}
	if e, ok := any(s).(*ends[int64]); ok && x.Ints != nil && x.Spans == nil {
		for i, v := range x.Ints {
			if g := groups[i]; e.some[g] {
				e.lo[g], e.hi[g] = min(e.lo[g], v), max(e.hi[g], v)
			} else {
				e.some[g], e.lo[g], e.hi[g] = true, v, v
			}
		}
		return
	}
	for i, g := range groups {
		v := s.by.get(x, i)
		s.take(g, v, v)
	}
}

// firstBytes are the first eight bytes of a text as a number, with zeros behind the text's end. Of two texts with different numbers, the
// one with the smaller number is smaller.
func firstBytes(s string) (first uint64) {
	b := unsafe.Slice(unsafe.StringData(s), len(s)) // which nobody writes to
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	if len(b) >= 4 {
		return uint64(binary.BigEndian.Uint32(b))<<32 | uint64(binary.BigEndian.Uint32(b[len(b)-4:]))<<(8*(8-len(b)))
	}
	for i, c := range b {
		first |= uint64(c) << (56 - 8*i)
	}
	return first
}

// endsOf is the smallest and the largest value of a vector that has some.
func endsOf(x *expr.Vector) (two expr.Vector) {
	lo, hi := 0, 0
	switch {
	case x.Floats != nil:
		least, most := x.Floats[0], x.Floats[0]
		for _, f := range x.Floats {
			if f >= least && f <= most {
				continue
			}
			if f < least || least != least {
				least = f
			}
			if f > most || f != f { // NaN is above all others
				most = f
			}
		}
		return expr.Vector{Floats: []float64{least, most}}
	case x.Texts != nil:
		least, most := x.Texts[0], x.Texts[0]
		from, to := firstBytes(least), firstBytes(most)
		for _, t := range x.Texts {
			switch first := firstBytes(t); {
			case first > from && first < to: // as most are
			case t < least:
				least, from = t, first
			case t > most:
				most, to = t, first
			}
		}
		return expr.Vector{Texts: []string{least, most}}
	case x.Spans != nil:
		for i, v := range x.Ints {
			if v < x.Ints[lo] {
				lo = i
			}
			if v > x.Ints[hi] {
				hi = i
			}
		}
		return expr.Vector{Ints: []int64{x.Ints[lo], x.Ints[hi]}, Spans: []table.Span{x.Spans[lo], x.Spans[hi]}}
	}
	least, most := x.Ints[0], x.Ints[0]
	for _, v := range x.Ints {
		if v < least { // both are rare
			least = v
		}
		if v > most {
			most = v
		}
	}
	return expr.Vector{Ints: []int64{least, most}}
}

func (s *ends[T]) take(g uint32, lo, hi T) {
	first := !s.some[g]
	s.some[g] = true
	if first || s.by.less(lo, s.lo[g]) {
		s.lo[g] = s.copied(lo)
	}
	if first || s.by.less(s.hi[g], hi) {
		s.hi[g] = s.copied(hi)
	}
}

func (s *ends[T]) copied(v T) T {
	if s.keep == nil {
		return v
	}
	return s.keep(v)
}

func (s *ends[T]) Merge(o State, to []uint32) {
	other := o.(*ends[T])
	s.by.mergeOrdering(other.by)
	for i, some := range other.some {
		if some {
			s.take(to[i], other.lo[i], other.hi[i])
		}
	}
}

func (s *ends[T]) Arrange() {}

func (s *ends[T]) Value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	switch {
	case !s.some[group]:
		return table.Null(a.Type()), nil
	case a.Kind == expr.Max || a.Kind == expr.BoolOr:
		return s.by.value(s.hi[group], a.Type()), nil
	}
	return s.by.value(s.lo[group], a.Type()), nil
}

// lists are all values of each group.
type lists[T comparable] struct {
	by     *ordering[T]
	groups []uint32 // of each value, in the order in which they came
	values []T      // and, once arranged, group by group
	ends   []int    // of each group, once arranged
	sorted []bool   // of each group
}

func (s *lists[T]) Resize(groups int) { s.ends = resized(s.ends, groups) }

func (s *lists[T]) Add(groups []uint32, x, _ *expr.Vector) {
	s.groups = append(s.groups, groups...)
	for i := range groups {
		s.values = append(s.values, s.by.get(x, i))
	}
}

func (s *lists[T]) Merge(o State, to []uint32) {
	other := o.(*lists[T])
	s.by.mergeOrdering(other.by)
	for _, g := range other.groups {
		s.groups = append(s.groups, to[g])
	}
	s.values = append(s.values, other.values...)
}

// Arrange puts the values of each group beside one another.
func (s *lists[T]) Arrange() {
	s.sorted = make([]bool, len(s.ends))
	if len(s.ends) == 1 {
		s.ends[0] = len(s.values)
		return
	}
	for _, g := range s.groups {
		s.ends[g]++
	}
	n := 0
	for g, count := range s.ends {
		s.ends[g] = n // where the group begins
		n += count
	}
	values := make([]T, n)
	for i, g := range s.groups {
		values[s.ends[g]] = s.values[i]
		s.ends[g]++
	}
	s.groups, s.values = nil, values
}

// of are the values of a group.
func (s *lists[T]) of(group uint32) []T {
	from := 0
	if group > 0 {
		from = s.ends[group-1]
	}
	return s.values[from:s.ends[group]]
}

// sort sorts the values of a group.
func (s *lists[T]) sort(group uint32) []T {
	list := s.of(group)
	if !s.sorted[group] {
		s.sorted[group] = true
		sortBy(list, s.by.less)
	}
	return list
}

// nth moves the value of rank k, from 0, of a group to its place and returns it. No value before it is
// larger, and none after it is smaller.
func (s *lists[T]) nth(group uint32, k int) T {
	list := s.of(group)
	if !s.sorted[group] {
		radixsort.Quickselect(list, k, s.by.less)
	}
	return list[k]
}

func sortBy[T comparable](list []T, less func(a, b T) bool) {
	switch l := any(list).(type) {
	case []int64:
		slices.Sort(l)
	case []string:
		slices.Sort(l)
	default:
		slices.SortFunc(list, func(a, b T) int {
			switch {
			case a == b:
				return 0
			case less(a, b):
				return -1
			}
			return 1
		})
	}
}

func (s *lists[T]) Value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	n := len(s.of(group))
	if a.Kind != expr.Mode {
		return orderStatistic(a, n, func(i int) table.Value { return s.by.value(s.nth(group, i), a.Arg) })
	}
	if n == 0 {
		return table.Null(a.Type()), nil
	}
	return s.by.value(mode(s.sort(group), a.Desc), a.Arg), nil
}

// mode is the most frequent of sorted values, of equally frequent ones the smallest, or the
// largest.
func mode[T comparable](list []T, largest bool) T {
	best, most := list[0], 0
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && list[j] == list[i] {
			j++
		}
		if j-i > most || largest && j-i == most {
			best, most = list[i], j-i
		}
		i = j
	}
	return best
}

// doubleOf is a number rounded to the nearest double.
func doubleOf(v table.Value) float64 {
	if v.Type.IsFloat() {
		return v.F
	}
	f, _ := new(big.Rat).SetFrac(v.Unscaled(), table.Pow10(v.Type.Scale)).Float64()
	return f
}
