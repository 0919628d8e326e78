// Package planes is lesson 10: the same algorithms on bit planes.
package planes

import (
	"fmt"
	"math/bits"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/textures"
)

// popcount counts the bits that are set: the occlusion query's place.
func popcount(words []uint32) (n uint64) {
	for _, w := range words {
		n += uint64(bits.OnesCount32(w))
	}
	return n
}

// less returns the records with code < c (the paper's Compare). It walks the planes from
// the top with two masks: the records found less, and those equal so far.
func less(p lesson.Planes, c uint64) []uint32 {
	lt := make([]uint32, len(p.Rows))
	for w, eq := range p.Rows {
		for i := len(p.Bits) - 1; i >= 0 && eq != 0; i-- {
			plane := p.Bits[i][w]
			if c>>i&1 == 1 {
				lt[w] |= eq &^ plane
				eq &= plane
			} else {
				eq &^= plane
			}
		}
	}
	return lt
}

// kthLargest finds the k-th largest code (the paper's KthLargest). It counts the candidates with bit i; if
// there are enough, they are the candidates that are left.
func kthLargest(p lesson.Planes, k uint64, look func(i int, count uint64, set bool)) (x uint64) {
	candidates := append([]uint32(nil), p.Rows...)
	for i := len(p.Bits) - 1; i >= 0; i-- {
		var n uint64
		for w, c := range candidates {
			n += uint64(bits.OnesCount32(c & p.Bits[i][w]))
		}
		set := n >= k
		look(i, n, set)
		if set {
			x |= 1 << i
		} else {
			k -= n
		}
		for w, plane := range p.Bits[i] {
			if set {
				candidates[w] &= plane
			} else {
				candidates[w] &^= plane
			}
		}
	}
	return x
}

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	delay, distance := s.Planes(s.Column("delay")), s.Planes(s.Column("distance"))
	rows := uint64(s.Table.Rows())
	s.Say("Bit plane i holds bit i of 32 records in a word. distance has %d planes, cut on the device by a compute shader and read back. "+
		"%s records fill %s words of a plane. They are kept in groups of %s, the last one filled up: %s words. "+
		"The device keeps whole runs of %d groups, %s words: in all %.2f MB, where floats take %.2f MB.",
		len(distance.Bits), numbers.Grouped(rows), numbers.Grouped((rows+31)/32), numbers.Grouped(textures.GroupRows), numbers.Grouped(len(distance.Rows)),
		textures.UnitsPerRun/textures.UnitsPerGroup, numbers.Grouped(distance.Kept), float64(4*len(distance.Bits)*distance.Kept)/1e6, float64(4*rows)/1e6)

	s.Say("SUM. Lesson 9 drew a pass a bit, and an occlusion query counted fragments. The count of plane i is the number of its bits that are set (popcount), 32 records an instruction:")
	sum := rows * uint64(distance.Min)
	for i, plane := range distance.Bits {
		n := popcount(plane)
		sum += n << i
		s.Row("popcount(plane %2d) = %7s   * 2^%d", i, numbers.Grouped(n), i)
	}
	s.Agree(sum, "SELECT SUM(distance) FROM flights")

	s.Say("COUNT. Lesson 3 compared depths. Here a comparison walks the planes from the top: a record is less where its first bit that differs from the constant's is 0.")
	s.Agree(popcount(less(delay, delay.Code(60))), "SELECT COUNT(*) FROM flights WHERE delay < 60")

	s.Say("The 100th largest delay. Lesson 8 drew a quad for each tentative value. Here a bitmap of candidates shrinks:")
	s.Row("bit   candidates that have it   enough for k?")
	x := kthLargest(delay, 100, func(i int, n uint64, set bool) { s.Row("%3d %25s   %v", i, numbers.Grouped(n), set) })
	s.Agree(uint64(int64(x)+delay.Min), "SELECT kth_largest(delay, 100) FROM flights")

	s.Say("Backend compute does this in compute shaders: 128 records a thread at a time, all bits of a sum in one pass, three bits of a search in each. Beside the passes of 2004 (%s):", s.Device())
	s.Row("%-48s %18s %18s", "", "classic", "compute")
	s.Row("%-48s %6s %11s %6s %11s", "", "passes", "time", "passes", "time")
	queries := []string{"SELECT COUNT(*) FROM flights WHERE delay < 60", "SELECT SUM(distance) FROM flights", "SELECT kth_largest(delay, 100) FROM flights"}
	classic, compute := s.Backend("classic", queries...), s.Backend("compute", queries...)
	for i, q := range queries {
		a, b := classic[i], compute[i]
		s.Row("%-48s %6d %11s %6d %11s", q, a.Passes, lesson.Milliseconds(a.Took), b.Passes, lesson.Milliseconds(b.Took))
		if a.N != b.N {
			s.Fail(fmt.Errorf("%s: classic has %d, compute %d", q, a.N, b.N))
		}
	}
	s.Say("Look at the picture: distance grows to the right, so the upper planes have broad bands. Each plane has twice as many as the one above it, half as wide, and the lowest looks like noise. A comparison with 1000 reads from the top and can stop where no record is equal any more.")
	s.Picture("bits", picture(s, distance))
}

// picture shows some planes, a pixel a record.
func picture(s *lesson.Stage, p lesson.Planes) *draw.Sheet {
	sheet := &draw.Sheet{Title: "Bit planes of distance", Columns: 3, Width: 341}
	for _, i := range []int{11, 10, 9, 8, 6, 0} {
		set, n := p.Records(p.Bits[i]), popcount(p.Bits[i])
		sheet.Panels = append(sheet.Panels, draw.Panel{Title: fmt.Sprintf("plane %d, worth %d", i, 1<<i),
			Draw: draw.Records{Shape: s.Target.Shape, Colors: draw.Chosen(len(set), func(r int) bool { return set[r] })},
			Legend: []draw.Entry{{Index: draw.Ink, Text: numbers.Grouped(n) + " flights have the bit"},
				{Index: draw.Stencil, Text: numbers.Grouped(uint64(len(set))-n) + " have not"}}})
	}
	return sheet
}
