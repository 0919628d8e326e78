package partial

import (
	"errors"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Merge joins the selections of n > 0 parts of a query, which together have all its chunks, in any order.
// start calls do with the selection of part i, and returns a function that waits for that and returns its
// error. All parts are started before one is waited for.
func Merge(q *physical.Query, n int, start func(i int, do func(Selection) error) (wait func() error)) Partial {
	return &mergedSelection{q: q, parts: n, start: start, values: map[int][]uint64{}, spaces: map[int]*physical.CodeSpace{}}
}

// mergedSelection is the selected records of several devices.
type mergedSelection struct {
	q      *physical.Query
	parts  int
	start  func(i int, do func(Selection) error) (wait func() error)
	values map[int][]uint64 // by column: of each part, how many are not NULL
	spaces map[int]*physical.CodeSpace
}

func (m *mergedSelection) Check() error {
	_, err := eachPart(m, func(_ int, s Selection) (struct{}, error) { return struct{}{}, s.Check() })
	return err
}

func (m *mergedSelection) Count() (uint64, error) {
	counts, err := eachPart(m, func(_ int, s Selection) (uint64, error) { return s.Count() })
	return sumCounts(counts), err
}

func (m *mergedSelection) CountNotNull(col int) (uint64, error) {
	counts, err := eachPart(m, func(_ int, s Selection) (uint64, error) { return s.CountNotNull(col) })
	m.values[col] = counts
	return sumCounts(counts), err
}

func (m *mergedSelection) Sum(col int) (total Sum, err error) {
	sums, err := eachPart(m, func(_ int, s Selection) (Sum, error) { return s.Sum(col) })
	for i := range sums {
		total.Add(&sums[i])
	}
	return total, err
}

// SumOf implements [ExpressionSums] where all parts do.
func (m *mergedSelection) SumOf(agg int) (total Sum, err error) {
	sums, err := eachPart(m, func(_ int, s Selection) (Sum, error) { return s.(ExpressionSums).SumOf(agg) })
	for i := range sums {
		total.Add(&sums[i])
	}
	return total, err
}

// Kth implements Partial. The code is found digit by digit from the top. The parts count the values that
// reach a digit's thresholds, and the sums of these counts decide it.
func (m *mergedSelection) Kth(col int, k uint64, largest bool) (table.Value, error) {
	if k == 1 && slices.ContainsFunc(m.q.Aggs, func(a expr.Aggregate) bool {
		return a.Col == col && (largest && a.Kind == expr.Max || !largest && a.Kind == expr.Min)
	}) {
		return m.extreme(col, largest)
	}
	n := sumCounts(m.values[col])
	if !largest {
		k = n - k + 1
	}
	space := m.spaces[col]
	if space == nil {
		space = physical.NewCodeSpace(m.q.Table, col)
		m.spaces[col] = space
	}
	parts, err := eachPart(m, func(_ int, s Selection) (Selection, error) { return s, nil })
	if err != nil {
		return table.Value{}, err
	}
	most := func(left uint64) int {
		bits := 32
		for _, s := range parts {
			bits = min(bits, s.DigitBits(left))
		}
		return bits
	}
	return KthLargest(space, k, n, most, func(d Digit) ([]uint64, error) { return m.countAtLeast(col, space, d) })
}

// countAtLeast adds up what the parts that have values count.
func (m *mergedSelection) countAtLeast(col int, space *physical.CodeSpace, d Digit) ([]uint64, error) {
	parts, err := eachPart(m, func(i int, s Selection) ([]uint64, error) {
		if m.values[col][i] == 0 {
			return nil, nil
		}
		return s.CountAtLeast(col, space, d)
	})
	sums := make([]uint64, len(d.Thresholds(space)))
	for _, counts := range parts {
		for i, n := range counts {
			sums[i] += n
		}
	}
	return sums, err
}

// extreme is the largest or smallest value of the parts that have any.
func (m *mergedSelection) extreme(col int, largest bool) (table.Value, error) {
	null := table.Null(m.q.Table.Fields[col].Type)
	ends, err := eachPart(m, func(i int, s Selection) (table.Value, error) {
		if m.values[col][i] == 0 {
			return null, nil
		}
		return s.Kth(col, 1, largest)
	})
	best := null
	for _, v := range ends {
		if !v.Null && (best.Null || (table.Compare(v, best) > 0) == largest) {
			best = v
		}
	}
	return best, err
}

// eachPart asks all parts at once; of the error see [WaitAll].
func eachPart[T any](m *mergedSelection, do func(i int, s Selection) (T, error)) ([]T, error) {
	answers, waits := make([]T, m.parts), make([]func() error, m.parts)
	for i := range waits {
		waits[i] = m.start(i, func(s Selection) (err error) {
			answers[i], err = do(i, s)
			return err
		})
	}
	if err := WaitAll(waits); err != nil {
		return nil, err
	}
	return answers, nil
}

// WaitAll waits for all. The error is the first one's that is no check's, else that of the first check. After
// an error some may be at work yet.
func WaitAll(waits []func() error) error {
	var first *physical.CheckError
	for _, wait := range waits {
		failed := (*physical.CheckError)(nil)
		switch err := wait(); {
		case err == nil:
		case !errors.As(err, &failed):
			return err
		case first == nil || failed.Before(first):
			first = failed
		}
	}
	if first != nil {
		return first
	}
	return nil
}

func sumCounts(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}
