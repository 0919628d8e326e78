package fused

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Kth implements plan.Selection. The first and the last value are extremes, one
// reduction; others are searched for from the top bit down (paper, routine 4.5 and lemma
// 1). On attributes that are kept as depths a pass decides a bit, as in the paper: do
// enough values reach x + 2^i? A reduction decides two: how many of x + j * 2^i,
// j = 1, 2, 3, do enough values reach?
func (s *selection) Kth(col int, k uint64, largest bool) (table.Value, error) {
	n, err := s.CountNotNull(col)
	if err != nil {
		return table.Value{}, err
	}
	s.serves = s.q.Ranked(col, n, k, largest)
	defer func() { s.serves = nil }()
	if k == 1 || k == n {
		return s.extreme(col, largest == (k == 1))
	}
	if !largest {
		k = n - k + 1
	}
	digit := s.DigitBits()
	if live := s.live(col); len(live) > 0 && s.device.Software && keepsDepth(live, col) {
		digit = 1
	}
	space := plan.NewSpace(s.table, col)
	return space.KthLargest(k, digit, func(d plan.Digit) ([]uint64, error) { return s.countAtLeast(col, space, d, digit) })
}

// live are the parts that have a value of a column to search for.
func (s *selection) live(col int) []*part {
	var live []*part
	for _, p := range s.parts {
		column := col
		if p.chunk.Segments[col].Nulls == 0 {
			column = none
		}
		if n, ok := p.known[column]; p.chunk.Segments[col].NonNull() > 0 && (!ok || n > 0) {
			live = append(live, p)
		}
	}
	return live
}

// extreme returns the largest or the smallest value.
func (s *selection) extreme(col int, largest bool) (table.Value, error) {
	best := table.Null(s.table.Fields[col].Type)
	live := s.live(col)
	for _, p := range live {
		m := extremes(textures.Parts(p.chunk.Segments[col]) == 2)
		m.op = Extreme{p.of(col), largest}
		if err := p.measure(&m, col); err != nil {
			return best, err
		}
	}
	for _, p := range live {
		lo, hi, ok, err := p.ends()
		if err != nil {
			return best, err
		}
		if !ok {
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

// reach counts the values at or above each of some codes of the space, at most
// thresholds. All chunks are asked before the first is waited for.
func (s *selection) reach(step KthLargest, space *plan.Space, live []*part, codes []uint64) (n [thresholds]uint64, err error) {
	var queue []func() ([thresholds]uint64, error)
	for _, p := range live {
		var local []uint64
		for _, t := range codes {
			c, ok := space.Local(p.chunk.Segments[step.Col], t)
			if !ok {
				break
			}
			local = append(local, c)
		}
		if len(local) == 0 {
			continue
		}
		step.Of = p.of(step.Col)
		wait, err := p.reaching(step, local)
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

// reaching starts the count of the selected records at or above each of some codes.
func (p *part) reaching(step KthLargest, codes []uint64) (func() (n [thresholds]uint64, err error), error) {
	if step.Bits == 1 {
		c, err := p.countAtLeast(step, codes[0])
		return func() (n [thresholds]uint64, err error) {
			n[0], err = c.Wait()
			return n, err
		}, err
	}
	var t [thresholds]uint64
	copy(t[:], codes)
	m := atLeast(textures.Parts(p.chunk.Segments[step.Col]) == 2, t)
	m.op = step
	return func() (n [thresholds]uint64, err error) {
		counts, err := p.counts()
		copy(n[:len(codes)], counts[:])
		return n, err
	}, p.measure(&m, step.Col)
}

// CountAtLeast implements plan.Selection.
func (s *selection) CountAtLeast(col int, space *plan.Space, d plan.Digit) ([]uint64, error) {
	if _, err := s.CountNotNull(col); err != nil {
		return nil, err
	}
	return s.countAtLeast(col, space, d, s.DigitBits())
}

// countAtLeast is CountAtLeast by a pass that decides so many bits.
func (s *selection) countAtLeast(col int, space *plan.Space, d plan.Digit, bits int) ([]uint64, error) {
	codes := d.Thresholds(space)
	step := KthLargest{Of: Of{Attribute: pass.Attribute{Col: col}}, Top: (space.Bits() - 1) / bits * bits, Low: d.Shift, Code: d.Lo, Bits: bits}
	n, err := s.reach(step, space, s.live(col), codes)
	return n[:len(codes)], err
}

// DigitBits implements plan.Selection.
func (s *selection) DigitBits() int { return 2 }
