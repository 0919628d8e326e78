package fused

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Kth implements plan.Selection. The first and the last value are extremes,
// one reduction; others are searched for.
func (s *selection) Kth(col int, k uint64, largest bool) (table.Value, error) {
	n, err := s.CountNotNull(col)
	if err != nil {
		return table.Value{}, err
	}
	if k == 1 || k == n {
		return s.extreme(col, largest == (k == 1))
	}
	if !largest {
		k = n - k + 1
	}
	return s.search(col, k)
}

// live are the parts that have a value of a column to search for.
func (s *selection) live(col int) []*part {
	var live []*part
	for _, p := range s.parts {
		column := col
		if p.chunk.Segments[col].Nulls == 0 {
			column = none
		}
		if n, ok := p.known[column]; p.chunk.Segments[col].NonNull() > 0 && (!ok || n > 0 || !s.run.Executes()) {
			live = append(live, p)
		}
	}
	return live
}

// extreme returns the largest or the smallest value.
func (s *selection) extreme(col int, largest bool) (table.Value, error) {
	best := table.Null(s.table.Fields[col].Type)
	routine := "Min"
	if largest {
		routine = "Max"
	}
	live := s.live(col)
	for _, p := range live {
		m := extremes(textures.Parts(p.chunk.Segments[col]) == 2)
		m.name, m.says = p.title(routine, col), "the smallest and the largest of the selected codes"
		if err := p.measure(&m, col, false); err != nil {
			return best, err
		}
	}
	for _, p := range live {
		lo, hi, ok, err := p.ends()
		if err != nil {
			return best, err
		}
		if !ok || !s.run.Executes() {
			continue
		}
		seg := p.chunk.Segments[col]
		v := seg.Decode(lo)
		if largest {
			v = seg.Decode(hi)
		}
		if best.Null || (table.Compare(v, best) > 0) == largest {
			best = v
		}
	}
	return best, nil
}

// search returns the k-th largest value: the largest x that at least k values
// reach, found from the top bit down (paper, routine 4.5 and lemma 1). On attributes
// that are kept as depths a pass decides a bit, as in the paper: do k values reach
// x + 2^i? A reduction decides two: how many of x + j * 2^i, j = 1, 2, 3, do k values
// reach?
func (s *selection) search(col int, k uint64) (table.Value, error) {
	space, live, bits := plan.NewSpace(s.table, col), s.live(col), 2
	if len(live) > 0 && s.device.Software && keepsDepth(live, col) {
		bits = 1
	}
	if !s.run.Executes() {
		return table.Null(s.table.Fields[col].Type), s.explain(col, space, live, bits)
	}
	var x uint64
	for i := (space.Bits()+bits-1)/bits*bits - bits; i >= 0; i -= bits {
		var codes []uint64
		for j := range uint64(1<<bits - 1) {
			if t := x + (j+1)<<i; t >= x { // within 64 bits
				codes = append(codes, t)
			}
		}
		n, err := s.reach(col, space, live, i, 1<<bits-1, codes)
		if err != nil {
			return table.Value{}, err
		}
		for j := thresholds; j >= 1; j-- {
			if n[j-1] >= k {
				x += uint64(j) << i
				break
			}
		}
	}
	return space.Value(x), nil
}

// reach counts the values at or above each of up to most codes of the space. All
// chunks are asked before the first is waited for.
func (s *selection) reach(col int, space *plan.Space, live []*part, i, most int, codes []uint64) (n [thresholds]uint64, err error) {
	var queue []func() ([thresholds]uint64, error)
	for _, p := range live {
		var local []uint64
		for _, t := range codes {
			c, ok := space.Local(p.chunk.Segments[col], t)
			if !ok {
				break
			}
			local = append(local, c)
		}
		if len(local) == 0 {
			continue
		}
		wait, err := p.reaching(col, i, most, local)
		if err != nil {
			return n, err
		}
		queue = append(queue, wait)
	}
	for _, wait := range queue {
		counts, err := wait()
		if err != nil {
			return n, err
		}
		for j, c := range counts {
			n[j] += c
		}
	}
	return n, nil
}

// reaching starts the count of the selected records at or above each of up to most
// codes.
func (p *part) reaching(col, bit, most int, codes []uint64) (func() (n [thresholds]uint64, err error), error) {
	name := fmt.Sprintf("%s bit %d", p.title("KthLargest", col), bit)
	if most == 1 {
		c, err := p.countAtLeast(name, col, codes[0])
		return func() (n [thresholds]uint64, err error) {
			n[0], err = c.Wait()
			return n, err
		}, err
	}
	var t [thresholds]uint64
	copy(t[:], codes)
	m := atLeast(textures.Parts(p.chunk.Segments[col]) == 2, t)
	m.name, m.says = fmt.Sprintf("%s, %d", name, bit+1), "selected records that reach each of three tentative values"
	return func() (n [thresholds]uint64, err error) {
		counts, err := p.counts()
		copy(n[:len(codes)], counts[:])
		return n, err
	}, p.measure(&m, col, false)
}

// Histogram implements plan.Selection.
func (s *selection) Histogram(col int, space *plan.Space, lo uint64, shift, bits int) ([]uint64, error) {
	n, err := s.CountNotNull(col)
	if err != nil {
		return nil, err
	}
	if s.reached[col] == nil {
		s.reached[col] = plan.Reached{}
	}
	return s.reached[col].Histogram(n, space, lo, shift, bits, func(codes []uint64) (counts []uint64, err error) {
		for ; len(codes) > 0 && err == nil; codes = codes[min(len(codes), thresholds):] {
			var n [thresholds]uint64
			some := codes[:min(len(codes), thresholds)]
			n, err = s.reach(col, space, s.live(col), shift, thresholds, some)
			counts = append(counts, n[:len(some)]...)
		}
		return counts, err
	})
}

// DigitBits implements plan.Selection.
func (s *selection) DigitBits() int { return 2 }

// explain records a search as one symbolic pass a chunk.
func (s *selection) explain(col int, space *plan.Space, live []*part, bits int) error {
	name, top := expr.Ident(s.table.Fields[col].Name), (space.Bits()+bits-1)/bits*bits-bits
	for _, p := range live {
		title := p.title("KthLargest", col)
		if bits == 2 {
			m := atLeast(textures.Parts(p.chunk.Segments[col]) == 2, [thresholds]uint64{})
			m.name = fmt.Sprintf("%s: Count(%s >= x + j * 2^i, j = 1..3), i = %d, %d..0", title, name, top, top-2)
			m.says = "selected records that reach each of three tentative values; they decide two bits of x"
			if err := p.measure(&m, col, true); err != nil {
				return err
			}
			continue
		}
		test, err := p.mark(col)
		if err != nil {
			return err
		}
		c := p.compare(fmt.Sprintf("%s: Compare(%s >= x + 2^i), i = %d..0", title, name, top), col, expr.GE, 0, test)
		c.Counts, c.Symbolic = "selected records that reach the tentative value; each count decides bit i of x", true
		if _, err := s.run.Run(c); err != nil {
			return err
		}
	}
	return nil
}
