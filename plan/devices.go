package plan

import (
	"errors"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Part is the query over some chunks of its table, for one of several devices whose
// selections [Merge] joins.
func (q *Query) Part(chunks []int) *Query {
	p := &Query{Where: q.Where, Aggs: q.Aggs, Columns: q.Columns, places: []int{}}
	var list []*table.Chunk
	for _, i := range chunks {
		list = append(list, q.Table.Chunks[i])
		p.Chunks = append(p.Chunks, q.Chunks[i])
		p.places = append(p.places, q.place(i))
	}
	p.Table = q.Table.With(list...)
	return p
}

// IsPart reports whether the query is over some chunks only: its order statistics,
// but for MIN and MAX, are found by histograms.
func (q *Query) IsPart() bool { return q.places != nil }

// place is a chunk's place in the whole table.
func (q *Query) place(chunk int) int {
	if q.places == nil {
		return chunk
	}
	return q.places[chunk]
}

// Failed returns the error of a check that selected a record of a chunk.
func (q *Query) Failed(chunk, check int) error {
	return &CheckError{Chunk: q.place(chunk), Check: check, Err: q.Chunks[chunk].Checks[check].Err}
}

// Merge joins the selections of n > 0 parts of a query, which together have all its
// chunks, in any order. start has do called with the selection of part i, and gives what waits for
// that and returns its error; all parts are started before one is waited for.
func Merge(q *Query, n int, start func(i int, do func(Selection) error) (wait func() error)) Selection {
	return &merged{q: q, parts: n, start: start, values: map[int][]uint64{}, spaces: map[int]*Space{}}
}

// merged is the selected records of several devices.
type merged struct {
	q      *Query
	parts  int
	start  func(i int, do func(Selection) error) (wait func() error)
	values map[int][]uint64 // by column: of each part, how many are not NULL
	spaces map[int]*Space
}

// each calls do for every part at once and returns the first part's error that is no
// check's, else the error of the first check. After an error a part may be at work yet.
func (m *merged) each(do func(i int, s Selection) error) error {
	waits := make([]func() error, m.parts)
	for i := range waits {
		waits[i] = m.start(i, func(s Selection) error { return do(i, s) })
	}
	var first *CheckError
	for _, wait := range waits {
		failed := (*CheckError)(nil)
		switch err := wait(); {
		case err == nil:
		case !errors.As(err, &failed):
			return err
		case first == nil || failed.before(first):
			first = failed
		}
	}
	if first == nil {
		return nil
	}
	return first
}

func (m *merged) Check() error {
	return m.each(func(_ int, s Selection) error { return s.Check() })
}

// count adds what every part counts.
func (m *merged) count(one func(Selection) (uint64, error)) (total uint64, each []uint64, err error) {
	each = make([]uint64, m.parts)
	err = m.each(func(i int, s Selection) (err error) {
		each[i], err = one(s)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	for _, n := range each {
		total += n
	}
	return total, each, nil
}

func (m *merged) Count() (uint64, error) {
	n, _, err := m.count(Selection.Count)
	return n, err
}

func (m *merged) CountNotNull(col int) (uint64, error) {
	n, each, err := m.count(func(s Selection) (uint64, error) { return s.CountNotNull(col) })
	m.values[col] = each
	return n, err
}

func (m *merged) Sum(col int) (total Sum, err error) {
	sums := make([]Sum, m.parts)
	err = m.each(func(i int, s Selection) (err error) {
		sums[i], err = s.Sum(col)
		return err
	})
	if err != nil {
		return total, err
	}
	for i := range sums {
		total.Add(&sums[i])
	}
	return total, nil
}

// Kth implements Selection. The code is found digit by digit from the top: the parts
// count their values by a digit, and the sums of these counts decide it.
func (m *merged) Kth(col int, k uint64, largest bool) (table.Value, error) {
	if k == 1 && slices.ContainsFunc(m.q.Aggs, func(a expr.Aggregate) bool {
		return a.Col == col && (largest && a.Kind == expr.Max || !largest && a.Kind == expr.Min)
	}) {
		return m.extreme(col, largest)
	}
	if largest {
		n := uint64(0)
		for _, v := range m.values[col] {
			n += v
		}
		k = n - k + 1
	}
	space := m.spaces[col]
	if space == nil {
		space = NewSpace(m.q.Table, col)
		m.spaces[col] = space
	}
	return space.Kth(k, m.DigitBits(), func(lo uint64, shift, bits int) ([]uint64, error) { return m.Histogram(col, space, lo, shift, bits) })
}

// extreme is the largest or smallest value of the parts that have any.
func (m *merged) extreme(col int, largest bool) (table.Value, error) {
	each := make([]table.Value, m.parts)
	err := m.each(func(i int, s Selection) (err error) {
		if m.values[col][i] > 0 {
			each[i], err = s.Kth(col, 1, largest)
		}
		return err
	})
	best := table.Null(m.q.Table.Fields[col].Type)
	if err != nil {
		return best, err
	}
	for i, v := range each {
		if m.values[col][i] > 0 && (best.Null || (table.Compare(v, best) > 0) == largest) {
			best = v
		}
	}
	return best, nil
}

func (m *merged) Histogram(col int, space *Space, lo uint64, shift, bits int) ([]uint64, error) {
	each := make([][]uint64, m.parts)
	err := m.each(func(i int, s Selection) (err error) {
		if m.values[col][i] > 0 {
			each[i], err = s.Histogram(col, space, lo, shift, bits)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	total := make([]uint64, 1<<bits)
	for _, counts := range each {
		for i, n := range counts {
			total[i] += n
		}
	}
	return total, nil
}

// DigitBits implements Selection. Where a part fails, the next call tells why.
func (m *merged) DigitBits() int {
	each := make([]int, m.parts)
	err := m.each(func(i int, s Selection) error {
		each[i] = s.DigitBits()
		return nil
	})
	if err != nil {
		return 1
	}
	return slices.Min(each)
}

// Reached makes histograms of a column's values from counts of those that reach
// thresholds: of the values at or above a code. It keeps these, since the next digit's
// ends are thresholds of the digit before.
type Reached map[uint64]uint64

// Histogram is [Selection].Histogram of n values; count counts those at or above each of
// some codes.
func (r Reached) Histogram(n uint64, s *Space, lo uint64, shift, bits int, count func(codes []uint64) ([]uint64, error)) ([]uint64, error) {
	r[0] = n
	ends := make([]uint64, 0, 1<<bits+1)
	var ask []uint64
	for i := range uint64(1)<<bits + 1 {
		code := lo + i<<shift
		if code > s.Max() || i > 0 && code <= lo { // beyond 64 bits
			break
		}
		ends = append(ends, code)
		if _, ok := r[code]; !ok {
			ask = append(ask, code)
		}
	}
	if len(ask) > 0 {
		counts, err := count(ask)
		if err != nil {
			return nil, err
		}
		for i, c := range ask {
			r[c] = counts[i]
		}
	}
	h := make([]uint64, 1<<bits)
	for i := range h {
		if i < len(ends) {
			h[i] = r[ends[i]]
		}
		if i+1 < len(ends) {
			h[i] -= r[ends[i+1]]
		}
	}
	return h, nil
}
