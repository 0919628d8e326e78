package compute

import (
	"fmt"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// histogram is a search that several devices do together: its passes are those of an
// order's search, but which digit is decided comes from outside.
type histogram struct {
	*order
	search
	left   int // the bits that are not decided or counted yet
	counts []uint64
	above  uint64 // values above those counted
}

// DigitBits implements plan.Selection.
func (x *execution) DigitBits() int { return digitBits }

// CountAtLeast implements plan.Selection, by a histogram of a digit's bits: each of a space is of
// the bits behind those of the one before, or of the highest bits.
func (x *execution) CountAtLeast(col int, space *plan.Space, d plan.Digit) ([]uint64, error) {
	shift, width := d.Shift, d.Bits
	c, err := newCompiler(x.device, x.q)
	if err != nil {
		return nil, err
	}
	now, h := digit{part: shift / textures.PartBits}, x.histograms[col]
	for b := range width {
		now.at = append(now.at, shift+b)
	}
	from, to := c.alloc(1<<digitBits), c.alloc(1<<digitBits)
	init := make([]uint32, 1<<digitBits)
	var total uint64
	switch first := shift+width == space.Bits(); {
	case first:
		if h == nil || h.space != space {
			h = &histogram{order: newOrder(col, space, x.chunks)}
			x.histograms[col] = h
			h.makePlanes(c)
		}
		h.first, h.digits, h.above = to, []digit{now}, 0
		h.search = search{of: "the value searched for", rank: []int32{0, 1, 0}, bases: []int{to}, parts: make([]candidates, len(h.chunks))}
		for _, ch := range h.chunks {
			s := h.sweep(ch.attribute(col))
			if s.tree = ch.tree; ch.keep != nil {
				s.tree = markedNode(ch.keep, "selected")
			}
			if err := s.run(c.chunks[ch.index], ""); err != nil {
				return nil, err
			}
		}
	case h == nil || h.space != space || h.left != shift+width:
		return nil, fmt.Errorf("compute: a histogram of bits %d..%d does not follow the one before", shift+width-1, shift)
	default:
		before := h.digits[len(h.digits)-1]
		v := d.Lo >> h.left & (1<<len(before.at) - 1)
		total = h.counts[v]
		for _, n := range h.counts[v+1:] {
			h.above += n
		}
		init[v], init[0] = 1, 1 // the device takes the digit with the first of the values
		h.bases[len(h.bases)-1] = from
		h.digits, h.bases = append(h.digits, now), append(h.bases, to)
		h.decide(c, h.order, len(h.digits)-1, shift > 0, false)
	}
	c.flush()
	c.sideBySide()
	c.init = init
	step, err := c.execute(x.run)
	if err != nil {
		return nil, err
	}
	if len(h.digits) == 1 {
		total = uint64(step.words[to])
	}
	h.left, h.counts = shift, make([]uint64, 1<<width)
	h.counts[0] = total // less those of the other values
	for v := 1; v < len(h.counts); v++ {
		h.counts[v] = uint64(step.words[to+v])
		h.counts[0] -= h.counts[v]
	}
	reach := d.Thresholds(space)
	n := h.above
	for v := len(reach); v > 0; v-- {
		n += h.counts[v]
		reach[v-1] = n
	}
	return reach, nil
}
