package compute

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/textures"
)

// rankSearch is a search that several devices do together. Its passes are those of an order's search. But the
// digits are decided outside, from the counts of all devices. Each device counts some digits ahead, as its
// own values would decide them, so that there are fewer rounds. If that was wrong, it begins again with the
// bits that are decided.
type rankSearch struct {
	*order
	search
	last  counted   // the digit that was asked for last
	above uint64    // values above those that it was counted among
	ahead []counted // digits that follow it
}

// counted is how many values have each value of a digit.
type counted struct {
	partial.Digit
	counts []uint64
}

// DigitBits implements partial.Selection.
func (x *execution) DigitBits(left uint64) int {
	if left <= x.Device.Few {
		return wideBits
	}
	return digitBits
}

// CountAtLeast implements partial.Selection, by a histogram of a digit's bits. A digit of a space has the
// bits behind the digit before, or the highest bits.
func (x *execution) CountAtLeast(col int, space *physical.CodeSpace, d partial.Digit) ([]uint64, error) {
	if d.N == 0 {
		return x.countDigit(col, space, d)
	}
	h := x.histograms[col]
	switch first := d.Shift+d.Bits == space.Bits(); {
	case first:
		h = &rankSearch{order: newOrder(col, space, x.Chunks)}
		x.histograms[col] = h
		if err := h.lookAhead(x, d); err != nil {
			return nil, err
		}
	case h == nil || h.space != space || h.last.Shift != d.Shift+d.Bits:
		return nil, fmt.Errorf("compute: a histogram of bits %d..%d does not follow the one before", d.Shift+d.Bits-1, d.Shift)
	default:
		for _, n := range h.last.counts[h.last.value(d.Lo)+1:] {
			h.above += n
		}
	}
	if len(h.ahead) == 0 || h.ahead[0].Lo != d.Lo || h.ahead[0].Bits != d.Bits {
		if err := h.step(x, d); err != nil {
			return nil, err
		}
	}
	h.last, h.ahead = h.ahead[0], h.ahead[1:]
	reach := d.Thresholds(space)
	n := h.above
	for v := len(reach); v > 0; v-- {
		n += h.last.counts[v]
		reach[v-1] = n
	}
	return reach, nil
}

// value is what a digit of a code is.
func (d counted) value(code uint64) uint64 { return code >> d.Shift & (1<<d.Bits - 1) }

// bitsOf is the planes of a digit.
func bitsOf(d partial.Digit) digit {
	list := digit{part: d.Shift / textures.PartBits}
	for b := range d.Bits {
		list.at = append(list.at, d.Shift+b)
	}
	return list
}

// start begins the search with the values of which bits are decided to be in a digit, which
// may have none.
func (h *rankSearch) start(decided digit, rank ...int32) {
	h.digits = []digit{decided}
	h.search = search{of: "the value searched for", rank: append(rank, make([]int32, 3-len(rank))...), parts: make([]candidates, len(h.chunks)), bases: []int{0}}
}

// step counts a digit among the values that have those before it.
func (h *rankSearch) step(x *execution, d partial.Digit) error {
	c, err := NewCompiler(x.Device, x.Q)
	if err != nil {
		return err
	}
	now := bitsOf(d)
	switch above := d.Shift + d.Bits; {
	case above == h.space.Bits():
		h.start(digit{part: now.part})
		h.digits = append(h.digits, now)
		h.makePlanes(c)
	case len(h.ahead) > 0: // the candidates have other digits
		h.start(bitsOf(partial.Digit{Shift: above, Bits: h.space.Bits() - above}), int32(d.Lo>>above))
		h.digits = append(h.digits, now)
	default:
		h.rank = []int32{int32(h.last.value(d.Lo)), 0, 0}
		h.digits = append(h.digits, now)
	}
	h.outside, h.bases = true, append(h.bases, c.Alloc(1<<now.room()))
	h.decide(c, h.order, len(h.digits)-1, d.Shift > 0, false)
	c.SideBySide()
	done, err := c.Execute(x.run)
	if err != nil {
		return err
	}
	counts := make([]uint64, 1<<d.Bits)
	for v := range counts {
		counts[v] = uint64(done.Words[h.bases[len(h.bases)-1]+v])
	}
	h.ahead = []counted{{d, counts}}
	return nil
}

// lookAhead counts the first digit and, where many values are left then, those that follow.
func (h *rankSearch) lookAhead(x *execution, d partial.Digit) error {
	list, bits := []partial.Digit{d}, d.Bits
	for d.Shift > 0 && x.Device.Few > 0 && d.N>>bits > x.Device.Few && bits <= wideBits && (d.Shift-1)/textures.PartBits == d.Shift/textures.PartBits {
		d.Bits = partial.DigitBits(d.Shift, digitBits)
		d.Shift -= d.Bits
		list, bits = append(list, d), bits+d.Bits
	}
	if len(list) == 1 || list[0].Bits > digitBits {
		return nil
	}
	c, err := NewCompiler(x.Device, x.Q)
	if err != nil {
		return err
	}
	share := math.Float64bits(float64(d.K) / float64(d.N))
	h.start(bitsOf(list[0]), 2, int32(uint32(share)), int32(uint32(share>>32))) // rankArgs
	for _, d := range list[1:] {
		h.digits = append(h.digits, bitsOf(d))
	}
	h.makePlanes(c)
	h.first, h.searches = c.Alloc(1<<digitBits), []*search{&h.search}
	for _, ch := range h.chunks {
		s := h.sweep(ch.attribute(h.col))
		if s.tree = ch.Tree; ch.keep != nil {
			s.tree = markedNode(ch.keep, "selected")
		}
		if err := s.run(c.Chunks[ch.Index], ""); err != nil {
			return err
		}
	}
	c.Flush()
	h.passes(c)
	c.SideBySide()
	done, err := c.Execute(x.run)
	if err != nil {
		return err
	}
	left, lo := uint64(done.Words[h.first]), uint64(0)
	k := uint64(min(max(math.Ceil(math.Float64frombits(share)*float64(left)), 1), float64(left))) // rank in kth.comp
	for i, d := range list {
		counts := make([]uint64, 1<<digitBits)
		counts[0] = left
		v := uint64(0)
		for w := uint64(len(counts) - 1); w > 0; w-- {
			counts[w] = uint64(done.Words[h.bases[i]+int(w)])
			counts[0] -= counts[w]
			if v == 0 && k <= counts[w] {
				v = w
			} else if v == 0 {
				k -= counts[w]
			}
		}
		d.Lo = lo
		h.ahead = append(h.ahead, counted{d, counts[:1<<d.Bits]})
		lo, left = lo|v<<d.Shift, counts[v]
	}
	return nil
}
