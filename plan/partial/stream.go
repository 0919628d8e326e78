package partial

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Visit is a part of a query that is there for a while. First asks for all of the query's aggregates, Again only what
// a further digit of its order statistics takes.
type Visit struct{ First, Again *physical.Query }

// NewVisit is a visit of a part.
func NewVisit(part *physical.Query) Visit {
	again := *part
	again.Aggs = slices.DeleteFunc(slices.Clone(part.Aggs), func(a expr.Aggregate) bool { return !NeedsSearch(a) })
	again.Chunks = slices.Clone(part.Chunks)
	for i := range again.Chunks {
		again.Chunks[i].Checks, again.Chunks[i].Sums = nil, nil
	}
	return Visit{part, &again}
}

// NeedsSearch reports whether an aggregate is a k-th value but no MIN or MAX.
func NeedsSearch(a expr.Aggregate) bool {
	return physical.IsOrderStatistic(a) && !a.Null && a.Kind != expr.Min && a.Kind != expr.Max
}

// Visiting is how the parts of a query are visited one after the other, for want of memory.
type Visiting struct {
	Visits []Visit
	// Visit calls do while a visit's part is there; q is its First or its Again.
	Visit func(q *physical.Query, do func() error) error
	// Select calls do with the selection of a query over the chunks of the part that is there, a new one every time.
	Select func(q *physical.Query, do func(Selection) error) error
	// Near says of order statistics, by their aggregates, between which codes of the column's [physical.CodeSpace] they probably are. Rows
	// lists the records that a query over the present part selects of a chunk, and Find also counts those that another query selects. Where
	// Find is nil, Select counts them.
	Brackets map[int]predicate.Span
	Rows     func(q *physical.Query, chunk int) ([]physical.SelectedRows, error)
	Find     func(in, above *physical.Query, chunk int) (BracketRows, error)
	// Recorded says that answers are assumed: the order statistics are where they are near.
	Recorded bool
}

// Stream joins the selections of parts of a query that are visited one after the other.
//
// The first visit of the parts checks the records, and finds all counts, sums, MINs and MAXs. It also finds the first digits of the
// other order statistics, whose code spaces q's table has. Each further visit decides one digit of all of these (see [Selection]):
// codes of 64 bits take four visits where a digit has 16. Some order statistics are near known codes. For these the first visit counts
// the values above the codes and lists those between. The order statistic is one of the list, or else its digits are decided. Where q
// is itself a part of a query its order statistics are found together with the other parts', one visit a digit.
func Stream(q *physical.Query, v Visiting) Selection { return &streamedSelection{q: q, Visiting: v} }

// streamedSelection is the selected records of parts that are visited one after the other.
type streamedSelection struct {
	Visiting
	q    *physical.Query
	bits int // of a digit

	count     uint64
	values    map[int]uint64              // by column: how many are not NULL
	sums      map[int]*Sum                // by column
	sumsOf    map[int]*Sum                // by aggregate
	ends      map[end]table.Value         // of columns whose MIN or MAX is asked for
	spaces    map[int]*physical.CodeSpace // of columns with other order statistics
	first     map[int][]uint64            // by column: how many reach each threshold of the first digit
	bracketOf map[int]*bracket            // by aggregate
	searched  map[ranked]table.Value
}

type end struct {
	col     int
	largest bool
}

type ranked struct {
	end
	k uint64
}

// Check implements Partial: the first visit. After a failed check the other parts are looked at for an earlier one.
func (m *streamedSelection) Check() error {
	m.count, m.values, m.sums, m.sumsOf = 0, map[int]uint64{}, map[int]*Sum{}, map[int]*Sum{}
	m.ends, m.spaces, m.first, m.searched = map[end]table.Value{}, map[int]*physical.CodeSpace{}, map[int][]uint64{}, nil
	m.bracketOf = map[int]*bracket{}
	for i, span := range m.Brackets {
		col := m.q.Aggs[i].Col
		m.bracketOf[i] = newBracket(m.q.Table, col, m.space(col), span)
	}
	defer func() {
		for _, b := range m.bracketOf {
			b.listing.Wait()
		}
	}()
	var failed *physical.CheckError
	for _, v := range m.Visits {
		err := m.Visit(v.First, func() error {
			err := m.Select(v.First, func(s Selection) error {
				if err := s.Check(); err != nil || failed != nil {
					return err
				}
				m.bits = s.VisitBits()
				return m.gather(s)
			})
			for _, i := range slices.Sorted(maps.Keys(m.bracketOf)) {
				if err == nil && failed == nil {
					err = m.bracketOf[i].visit(m, v.First)
				}
			}
			return err
		})
		if one := (*physical.CheckError)(nil); errors.As(err, &one) {
			if failed == nil || one.Before(failed) {
				failed = one
			}
		} else if err != nil {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	return nil
}

// revisit visits all parts once more.
func (m *streamedSelection) revisit(do func(s Selection) error) error {
	for _, v := range m.Visits {
		err := m.Visit(v.Again, func() error {
			return m.Select(v.Again, func(s Selection) error {
				if err := s.Check(); err != nil {
					return err
				}
				m.bits = s.VisitBits()
				return do(s)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gather adds what the aggregates need to know of a part.
func (m *streamedSelection) gather(s Selection) error {
	var err error
	v := &partVisit{streamedSelection: m, Selection: s, values: map[int]uint64{}, summed: map[int]bool{}, begun: map[int]bool{}}
	for i := 0; i < len(m.q.Aggs) && err == nil; i++ {
		switch a := m.q.Aggs[i]; {
		case a.X != nil:
			err = v.addExpression(i)
		case a.Kind == expr.Sum || a.Kind == expr.Avg:
			err = v.addSum(a.Col)
		case a.Kind == expr.Count:
			_, err = v.addValues(a.Col)
		case !physical.IsOrderStatistic(a):
			err = v.addCount()
		case physical.IsOrderStatistic(a) && !a.Null:
			err = v.addRanked(i, a)
		}
	}
	return err
}

// partVisit is the first visit of a part.
type partVisit struct {
	*streamedSelection
	Selection
	values        map[int]uint64 // by column: that are not NULL
	summed, begun map[int]bool   // columns whose sum, and whose first digit, has been added
	counted       bool           // the records have been
}

func (v *partVisit) addCount() error {
	if v.counted {
		return nil
	}
	v.counted = true
	n, err := v.Selection.Count()
	v.count += n
	return err
}

func (v *partVisit) addValues(col int) (n uint64, err error) {
	n, known := v.values[col]
	if !known {
		n, err = v.Selection.CountNotNull(col)
		v.values[col] = n
		v.streamedSelection.values[col] += n
	}
	return n, err
}

func (v *partVisit) addSum(col int) error {
	if v.summed[col] {
		return nil
	}
	v.summed[col] = true
	sum, err := v.Selection.Sum(col)
	addTo(v.sums, col, &sum)
	return err
}

func (v *partVisit) addExpression(agg int) error {
	x, ok := v.Selection.(ExpressionSums)
	if !ok {
		return v.q.RequireColumns()
	}
	sum, err := x.SumOf(agg)
	addTo(v.sumsOf, agg, &sum)
	return err
}

func addTo(sums map[int]*Sum, at int, sum *Sum) {
	if sums[at] == nil {
		sums[at] = &Sum{}
	}
	sums[at].Add(sum)
}

// addRanked adds an end, or the counts of the first digit of an order statistic.
func (v *partVisit) addRanked(agg int, a expr.Aggregate) error {
	n, err := v.addValues(a.Col)
	if err != nil || n == 0 {
		return err
	}
	if a.Kind == expr.Min || a.Kind == expr.Max {
		e := end{a.Col, a.Kind == expr.Max}
		of, err := v.Selection.Kth(a.Col, 1, e.largest)
		if best, known := v.ends[e]; err == nil && (!known || (table.Compare(of, best) > 0) == e.largest) {
			v.ends[e] = of
		}
		return err
	}
	if v.q.IsPart() || v.begun[a.Col] || v.bracketOf[agg] != nil {
		return nil
	}
	v.begun[a.Col] = true
	space := v.space(a.Col)
	if space.Bits() == 0 {
		return nil
	}
	counts, err := v.Selection.CountAtLeast(a.Col, space, newDigitSearch(space, 0, 0).widest(v.bits))
	v.first[a.Col] = addCounts(v.first[a.Col], counts)
	return err
}

// addCounts adds counts to those of other parts; either may be nil.
func addCounts(all, counts []uint64) []uint64 {
	if all == nil {
		return slices.Clone(counts)
	}
	for i, n := range counts {
		all[i] += n
	}
	return all
}

func (m *streamedSelection) space(col int) *physical.CodeSpace {
	if m.spaces[col] == nil {
		m.spaces[col] = physical.NewCodeSpace(m.q.Table, col)
	}
	return m.spaces[col]
}

// Count implements Partial.
func (m *streamedSelection) Count() (uint64, error) { return m.count, nil }

// CountNotNull implements Partial.
func (m *streamedSelection) CountNotNull(col int) (uint64, error) { return m.values[col], nil }

// Sum implements Partial.
func (m *streamedSelection) Sum(col int) (sum Sum, err error) {
	if s := m.sums[col]; s != nil {
		sum.Add(s)
	}
	return sum, nil
}

// SumOf implements [ExpressionSums].
func (m *streamedSelection) SumOf(agg int) (sum Sum, err error) {
	if s := m.sumsOf[agg]; s != nil {
		sum.Add(s)
	}
	return sum, nil
}

// Kth implements Partial.
func (m *streamedSelection) Kth(col int, k uint64, largest bool) (table.Value, error) {
	if v, known := m.ends[end{col, largest}]; known && k == 1 {
		return v, nil
	}
	if m.searched == nil {
		if err := m.searchAll(); err != nil {
			return table.Value{}, err
		}
	}
	v, known := m.searched[ranked{end{col, largest}, k}]
	if !known {
		return v, fmt.Errorf("plan: no aggregate of the query is value %d of column %d", k, col)
	}
	return v, nil
}

// searchAll finds all order statistics together, one visit a digit.
func (m *streamedSelection) searchAll() error {
	m.searched = map[ranked]table.Value{}
	searches := map[ranked]*digitSearch{}
	for i, a := range m.q.Aggs {
		if !NeedsSearch(a) {
			continue
		}
		n := m.values[a.Col]
		k, largest, ok, err := physical.Rank(a, n)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		x := newDigitSearch(m.space(a.Col), k, n)
		if !largest {
			x.k = n - k + 1
		}
		if first := m.first[a.Col]; x.shift > 0 && first != nil {
			x.decide(x.widest(m.bits), first)
		}
		if b := m.bracketOf[i]; b != nil {
			if code, ok := b.kth(x.k); ok || m.Recorded && !b.incomplete {
				x.code, x.shift = code, 0
			}
			b.Free()
		}
		searches[ranked{end{a.Col, largest}, k}] = x
	}
	for {
		digits, counts := map[ranked]Digit{}, map[ranked][]uint64{}
		for r, x := range searches {
			if x.shift > 0 {
				digits[r] = x.widest(m.bits)
			}
		}
		if len(digits) == 0 {
			break
		}
		err := m.revisit(func(s Selection) error { return m.countDigits(s, digits, counts) })
		if err != nil {
			return err
		}
		for r, d := range digits {
			searches[r].decide(d, counts[r])
		}
	}
	for r, x := range searches {
		m.searched[r] = m.space(r.col).Value(x.code)
	}
	return nil
}

// countDigits adds the counts of a part for the digits of several searches, in the order of the columns.
func (m *streamedSelection) countDigits(s Selection, digits map[ranked]Digit, counts map[ranked][]uint64) error {
	order := slices.SortedFunc(maps.Keys(digits), func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.col, b.col), cmp.Compare(a.k, b.k), cmp.Compare(digits[a].Lo, digits[b].Lo))
	})
	for _, r := range order {
		n, err := s.CountNotNull(r.col)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		reach, err := s.CountAtLeast(r.col, m.space(r.col), digits[r])
		if err != nil {
			return err
		}
		counts[r] = addCounts(counts[r], reach)
	}
	return nil
}

// CountAtLeast implements Selection: one visit.
func (m *streamedSelection) CountAtLeast(col int, space *physical.CodeSpace, d Digit) (reach []uint64, err error) {
	err = m.revisit(func(s Selection) error {
		n, err := s.CountNotNull(col)
		if err != nil || n == 0 {
			return err
		}
		counts, err := s.CountAtLeast(col, space, Digit{Lo: d.Lo, Shift: d.Shift, Bits: d.Bits})
		reach = addCounts(reach, counts)
		return err
	})
	if reach == nil {
		reach = make([]uint64, len(d.Thresholds(space)))
	}
	return reach, err
}

// DigitBits implements Selection.
func (m *streamedSelection) DigitBits(uint64) int { return m.bits }

// VisitBits implements Selection.
func (m *streamedSelection) VisitBits() int { return m.bits }
