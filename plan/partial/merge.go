package partial

import (
	"errors"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Merge joins the selections of n > 0 parts of a query, which together have all its
// chunks, in any order. start has do called with the selection of part i, and gives what waits for
// that and returns its error; all parts are started before one is waited for.
func Merge(q *physical.Query, n int, start func(i int, do func(Selection) error) (wait func() error)) Partial {
	return &merged{q: q, parts: n, start: start, values: map[int][]uint64{}, spaces: map[int]*physical.Space{}}
}

// merged is the selected records of several devices.
type merged struct {
	q      *physical.Query
	parts  int
	start  func(i int, do func(Selection) error) (wait func() error)
	values map[int][]uint64 // by column: of each part, how many are not NULL
	spaces map[int]*physical.Space
}

func (m *merged) Check() error {
	_, err := each(m, func(_ int, s Selection) (struct{}, error) { return struct{}{}, s.Check() })
	return err
}

func (m *merged) Count() (uint64, error) {
	counts, err := each(m, func(_ int, s Selection) (uint64, error) { return s.Count() })
	return total(counts), err
}

func (m *merged) CountNotNull(col int) (uint64, error) {
	counts, err := each(m, func(_ int, s Selection) (uint64, error) { return s.CountNotNull(col) })
	m.values[col] = counts
	return total(counts), err
}

func (m *merged) Sum(col int) (total Sum, err error) {
	sums, err := each(m, func(_ int, s Selection) (Sum, error) { return s.Sum(col) })
	for i := range sums {
		total.Add(&sums[i])
	}
	return total, err
}

// SumOf implements [ExpressionSums] where all parts do.
func (m *merged) SumOf(agg int) (total Sum, err error) {
	sums, err := each(m, func(_ int, s Selection) (Sum, error) { return s.(ExpressionSums).SumOf(agg) })
	for i := range sums {
		total.Add(&sums[i])
	}
	return total, err
}

// Kth implements Partial. The code is found digit by digit from the top: the parts
// count the values that reach a digit's thresholds, and the sums of these counts decide it.
func (m *merged) Kth(col int, k uint64, largest bool) (table.Value, error) {
	if k == 1 && slices.ContainsFunc(m.q.Aggs, func(a expr.Aggregate) bool {
		return a.Col == col && (largest && a.Kind == expr.Max || !largest && a.Kind == expr.Min)
	}) {
		return m.extreme(col, largest)
	}
	n := total(m.values[col])
	if !largest {
		k = n - k + 1
	}
	space := m.spaces[col]
	if space == nil {
		space = physical.NewSpace(m.q.Table, col)
		m.spaces[col] = space
	}
	parts, err := each(m, func(_ int, s Selection) (Selection, error) { return s, nil })
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
func (m *merged) countAtLeast(col int, space *physical.Space, d Digit) ([]uint64, error) {
	parts, err := each(m, func(i int, s Selection) ([]uint64, error) {
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
func (m *merged) extreme(col int, largest bool) (table.Value, error) {
	null := table.Null(m.q.Table.Fields[col].Type)
	ends, err := each(m, func(i int, s Selection) (table.Value, error) {
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

// each asks all parts at once; of the error see [First].
func each[T any](m *merged, do func(i int, s Selection) (T, error)) ([]T, error) {
	answers, waits := make([]T, m.parts), make([]func() error, m.parts)
	for i := range waits {
		waits[i] = m.start(i, func(s Selection) (err error) {
			answers[i], err = do(i, s)
			return err
		})
	}
	if err := First(waits); err != nil {
		return nil, err
	}
	return answers, nil
}

// First waits for all. The error is the first one's that is no check's, else that of the first check. After
// an error some may be at work yet.
func First(waits []func() error) error {
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

func total(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}
