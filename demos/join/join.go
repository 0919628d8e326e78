// Package join is lesson 12: groups and joins, with codes as hash slots.
package join

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
)

// perSlot counts records in an array: the code of the key is the slot.
func perSlot(codes []uint64, n int) []uint64 {
	slots := make([]uint64, n)
	for _, c := range codes {
		slots[c]++
	}
	return slots
}

// boundaries sorts keys and counts those that differ from the one before: the groups.
func boundaries(keys []uint64) (groups int) {
	keys = slices.Sorted(slices.Values(keys))
	for i, k := range keys {
		if i == 0 || k != keys[i-1] {
			groups++
		}
	}
	return groups
}

// perfect is a perfect hash: a bitmap of the keys, and for each word how many keys are before it.
type perfect struct {
	words []uint32
	ranks []int
}

func newPerfect(slots []uint64) (p perfect) {
	p.words = make([]uint32, (len(slots)+31)/32)
	for code, n := range slots {
		if n > 0 {
			p.words[code/32] |= 1 << (code % 32)
		}
	}
	keys := 0
	for _, w := range p.words {
		p.ranks = append(p.ranks, keys)
		keys += bits.OnesCount32(w)
	}
	return p
}

// find returns the place of a key among all keys, in their order.
func (p perfect) find(code uint64) (place int, ok bool) {
	w, bit := p.words[code/32], uint32(1)<<(code%32)
	return p.ranks[code/32] + bits.OnesCount32(w&(bit-1)), w&bit != 0
}

// dimension groups the values of a key from..to-1 into runs of a width.
type dimension struct {
	column          string
	from, to, width int64
}

func (d dimension) groups() int64 { return (d.to - d.from) / d.width }

// group is the array that the key's code is looked up in: a group, or -1 where the filter leaves the row out.
func (d dimension) group(c lesson.Column) []int64 {
	out := make([]int64, 1<<c.Segment.Bits)
	for code := range out {
		out[code] = -1
		if v := int64(code) + c.Min(); v >= d.from && v < d.to {
			out[code] = (v - d.from) / d.width
		}
	}
	return out
}

// star looks each record's codes up in both arrays and returns its slot, or -1.
func star(s *lesson.Stage, a, b dimension) []int64 {
	ca, cb := s.Column(a.column), s.Column(b.column)
	ga, gb, slots := a.group(ca), b.group(cb), ca.Codes()
	out := make([]int64, len(slots))
	for i, code := range cb.Codes() {
		out[i] = -1
		if x, y := ga[slots[i]], gb[code]; x >= 0 && y >= 0 {
			out[i] = x*b.groups() + y
		}
	}
	return out
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	delay, distance := s.Column("delay"), s.Column("distance")
	ds, xs := delay.Codes(), distance.Codes()
	slots := perSlot(ds, 1<<delay.Segment.Bits)
	p := newPerfect(slots)
	groups := p.ranks[len(p.ranks)-1] + bits.OnesCount32(p.words[len(p.words)-1])
	s.Say("GROUP BY delay. A code has %d bits, so an array of %s slots has one for each group there can be. No hash function, no collision. Slots in use:", delay.Segment.Bits, numbers.Grouped(len(slots)))
	s.Agree(uint64(groups), "SELECT COUNT(DISTINCT delay) FROM flights")

	s.Say("GROUP BY delay, distance. Both codes together have %d bits: %s slots for %s flights. So the keys are sorted (lesson 11), and a group begins where a key differs from the one before:",
		delay.Segment.Bits+distance.Segment.Bits, numbers.Grouped(1<<(delay.Segment.Bits+distance.Segment.Bits)), numbers.Grouped(len(ds)))
	keys := make([]uint64, len(ds))
	for i := range keys {
		keys[i] = ds[i]<<distance.Segment.Bits | xs[i]
	}
	s.Agree(uint64(boundaries(keys)), "SELECT COUNT(DISTINCT delay * 10000 + distance) FROM flights")

	s.Say("A join of late flights with late flights as far. The keys of one side are bits of a bitmap. The rank of a bit is the place of its key; there the rows of the key are counted:")
	var late []uint64
	for i, x := range xs {
		if ds[i] > delay.Code(60) {
			late = append(late, x)
		}
	}
	p = newPerfect(perSlot(late, 1<<distance.Segment.Bits))
	rows, pairs := make([]uint64, len(late)), uint64(0)
	for _, x := range late {
		at, _ := p.find(x)
		rows[at]++
	}
	for _, x := range late {
		at, _ := p.find(x)
		pairs += rows[at]
	}
	s.Agree(pairs, "SELECT COUNT(*) FROM flights a JOIN flights b ON a.distance = b.distance WHERE a.delay > 60 AND b.delay > 60")

	a, b := dimension{"delay", 0, 60, 15}, dimension{"distance", 500, 2500, 500}
	s.Say("A star. One dimension has the quarters of an hour, one ranges of 500 miles. Each becomes an array by its key's code: the group, or that its filter leaves the row out. The groups are digits of the slot:")
	found := star(s, a, b)
	counts := make([]uint64, a.groups()*b.groups())
	for _, slot := range found {
		if slot >= 0 {
			counts[slot]++
		}
	}
	s.Row("slots 0 to %d have %d flights", len(counts)-1, counts)
	s.Agree(counts[6], "SELECT COUNT(*) FROM flights WHERE delay BETWEEN 15 AND 29 AND distance BETWEEN 1500 AND 1999")
	s.Say("Look at the picture: the records that are left have the shade of their slot. Delay grows downwards and distance to the right, so a group is a block.")
	s.Picture("slots", &draw.Sheet{Title: "Slots of a star", Columns: 1, Width: 512, Panels: []draw.Panel{{Title: fmt.Sprintf("%d slots", len(counts)),
		Note: "The darkest records have none.", Draw: draw.Records{Shape: s.Target.Shape, Colors: draw.Ramp(found)}}}})
}
