package fused

import (
	"github.com/stencildb/stencildb/pass"
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
	s.serves = s.q.Ranked(col, n, k, largest)
	defer func() { s.serves = nil }()
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
	var x uint64
	top := (space.Bits()+bits-1)/bits*bits - bits
	for i := top; i >= 0; i -= bits {
		var codes []uint64
		for j := range uint64(1<<bits - 1) {
			if t := x + (j+1)<<i; t >= x { // within 64 bits
				codes = append(codes, t)
			}
		}
		step := KthLargest{Of: Of{Attribute: pass.Attribute{Col: col}}, Top: top, Low: i, Code: x, Bits: bits}
		n, err := s.reach(step, space, live, codes)
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

// Histogram implements plan.Selection.
func (s *selection) Histogram(col int, space *plan.Space, lo uint64, shift, bits int) ([]uint64, error) {
	n, err := s.CountNotNull(col)
	if err != nil {
		return nil, err
	}
	if s.reached[col] == nil {
		s.reached[col] = plan.Reached{}
	}
	step := KthLargest{Of: Of{Attribute: pass.Attribute{Col: col}}, Top: space.Bits() - bits, Low: shift, Code: lo, Bits: 2}
	return s.reached[col].Histogram(n, space, lo, shift, bits, func(codes []uint64) (counts []uint64, err error) {
		for ; len(codes) > 0 && err == nil; codes = codes[min(len(codes), thresholds):] {
			var n [thresholds]uint64
			some := codes[:min(len(codes), thresholds)]
			n, err = s.reach(step, space, s.live(col), some)
			counts = append(counts, n[:len(some)]...)
		}
		return counts, err
	})
}

// DigitBits implements plan.Selection.
func (s *selection) DigitBits() int { return 2 }
