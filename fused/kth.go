package fused

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Kth implements partial.Selection. The first and the last value are extremes, one
// reduction; others are searched for from the top bit down (paper, routine 4.5 and lemma
// 1). On attributes that are kept as depths a pass decides a bit, as in the paper: do
// enough values reach x + 2^i? A reduction decides two: how many of x + j * 2^i,
// j = 1, 2, 3, do enough values reach?
func (s *selection) Kth(col int, k uint64, largest bool) (table.Value, error) {
	n, err := s.CountNotNull(col)
	if err != nil {
		return table.Value{}, err
	}
	s.Serve(s.AggregatesOfRank(col, n, k, largest))
	defer s.Serve(nil)
	if k == 1 || k == n {
		return s.extreme(col, largest == (k == 1))
	}
	if !largest {
		k = n - k + 1
	}
	digit := s.DigitBits(n)
	if live := s.live(col); len(live) > 0 && s.device.Software && live[0].few() && keepsDepth(live, col) {
		digit = 1
	}
	space := physical.NewCodeSpace(s.Table, col)
	return partial.KthLargest(space, k, n, func(uint64) int { return digit }, func(d partial.Digit) ([]uint64, error) { return s.countAtLeast(col, space, d, digit) })
}

// live are the parts that have a value of a column to search for, which has been counted.
func (s *selection) live(col int) (live []*part) {
	for _, p := range s.List {
		if n, err := p.CountNotNull(col).Wait(); err != nil || n > 0 {
			live = append(live, p)
		}
	}
	return live
}

// extreme returns the largest or the smallest value. A reduction finds both, so that the other one takes none.
func (s *selection) extreme(col int, largest bool) (table.Value, error) {
	best := table.Null(s.Table.Fields[col].Type)
	var unknown []*part
	live := s.live(col)
	for _, p := range live {
		if _, ok := p.extremes[col]; !ok {
			unknown = append(unknown, p)
			p.measure(extremes(Extreme{p.of(col), largest}, textures.Parts(p.chunk.Segments[col]) == 2), col)
		}
	}
	for _, p := range unknown {
		e, err := p.ends()
		if err != nil {
			return best, err
		}
		p.extremes[col] = e
	}
	for _, p := range live {
		e := p.extremes[col]
		if e.lo > e.hi { // none is selected
			continue
		}
		if largest {
			e.lo = e.hi
		}
		if v := p.chunk.Segments[col].Decode(e.lo); best.Null || (table.Compare(v, best) > 0) == largest {
			best = v
		}
	}
	return best, nil
}

// reaching starts the counts of the selected records at or above each of some codes, or of one by the depth test.
func (p *part) reaching(step KthLargest, codes []uint64, depth bool) func() ([thresholds]uint64, error) {
	step.Of = p.of(step.Col)
	if depth {
		c := p.countAtLeast(step, codes[0])
		return func() (n [thresholds]uint64, err error) {
			n[0], err = c.Wait()
			return n, err
		}
	}
	p.measure(atLeast(step, textures.Parts(p.chunk.Segments[step.Col]) == 2, codes), step.Col)
	return func() (n [thresholds]uint64, err error) {
		counts, err := p.counts()
		copy(n[:len(codes)], counts[:])
		return n, err
	}
}

// CountAtLeast implements partial.Selection.
func (s *selection) CountAtLeast(col int, space *physical.CodeSpace, d partial.Digit) ([]uint64, error) {
	n, err := s.CountNotNull(col)
	if err != nil {
		return nil, err
	}
	if d.N > 0 {
		return s.countAtLeast(col, space, d, s.DigitBits(n))
	}
	return s.countDigit(col, space, d)
}

// countDigit counts a digit by itself: all its thresholds at once where each part's codes have them a digit apart, else from the lowest on.
func (s *selection) countDigit(col int, space *physical.CodeSpace, d partial.Digit) ([]uint64, error) {
	all := d.Thresholds(space)
	step := KthLargest{Of: Of{Attribute: pass.Attribute{Col: col}}, Top: d.Shift + d.Bits - 1, Low: d.Shift, Code: d.Lo, Bits: d.Bits}
	if parts := s.spaced(col, space, d, all); parts != nil {
		return s.countDigits(step, parts, len(all))
	}
	for at := 0; at < len(all); at += thresholds {
		counts, err := s.reach(col, space, step, all[at:min(at+thresholds, len(all))], false)
		if err != nil {
			return nil, err
		}
		copy(all[at:], counts)
	}
	return all, nil
}

// countAtLeast is CountAtLeast by a pass that decides so many bits, one by the depth test. All chunks are asked
// before the first is waited for.
func (s *selection) countAtLeast(col int, space *physical.CodeSpace, d partial.Digit, bits int) ([]uint64, error) {
	return s.reach(col, space, KthLargest{Of: Of{Attribute: pass.Attribute{Col: col}}, Top: (space.Bits() - 1) / bits * bits, Low: d.Shift, Code: d.Lo, Bits: bits}, d.Thresholds(space), bits == 1)
}

// reach counts the values at or above each of some codes, which it replaces, or of one by the depth test.
func (s *selection) reach(col int, space *physical.CodeSpace, step KthLargest, reach []uint64, depth bool) ([]uint64, error) {
	var queue []func() ([thresholds]uint64, error)
	for _, p := range s.live(col) {
		var local []uint64
		for _, t := range reach {
			if c, ok := space.Local(p.chunk.Segments[col], t); ok {
				local = append(local, c)
			}
		}
		if len(local) > 0 {
			queue = append(queue, p.reaching(step, local, depth))
		}
	}
	clear(reach)
	for _, wait := range queue {
		counts, err := wait()
		if err != nil {
			return nil, err
		}
		for j := range reach {
			reach[j] += counts[j]
		}
	}
	return reach, nil
}

// DigitBits implements partial.Selection.
func (s *selection) DigitBits(uint64) int { return 2 }

// VisitBits implements partial.Selection.
func (s *selection) VisitBits() int { return visitBits }
