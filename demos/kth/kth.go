// Package kth is lesson 8: the k-th largest value, bit by bit.
package kth

import (
	"fmt"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
)

// k is the rank that is looked for: the 100th largest delay.
const k = 100

// decision is one step of the search.
type decision struct {
	bit   int
	tried uint64 // x + 2^bit
	count uint64 // records with codes from there on
	set   bool
	x     uint64 // afterwards
}

// kthLargest is the paper's routine 4.5 over the depth buffer, which holds an attribute's
// codes, and over the records that pass a stencil test. It finds the k-th
// largest code, and tells look each step.
func kthLargest(s *lesson.Stage, c lesson.Column, k uint64, test pass.Stencil, look func(decision)) uint64 {
	var x uint64
	for i := c.Segment.Bits - 1; i >= 0; i-- {
		tried := x + 1<<i
		quad := s.Compare(c, ">=", int64(tried)+c.Min())
		quad.Stencil = test
		count := s.Run(quad)
		set := count > k-1
		if set {
			x = tried
		}
		look(decision{i, tried, count, set, x})
	}
	return x
}

// medianRank returns which of n values, the largest first, is their median: the one in
// the middle, or the smaller of the two there.
func medianRank(n uint64) uint64 { return n/2 + 1 }

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	delay := s.Column("delay")
	bits := delay.Segment.Bits
	s.Say("Which delay is the %dth largest of %s? Codes of delay have %d bits: code = delay + %d.", k, numbers.Grouped(s.Table.Rows()), bits, -delay.Min())
	s.CopyToDepth(delay)
	s.Say("One copy to depth, then one quad and one count a bit, from the top. If at least %d codes are x + 2^i or more, "+
		"then so is the answer, and bit i is set.", k)
	s.Row("bit   x + 2^i    as delay   how many >=   at least %d?   x so far", k)
	var steps []decision
	x := kthLargest(s, delay, k, pass.Stencil{}, func(d decision) {
		steps = append(steps, d)
		yes := "no"
		if d.set {
			yes = "yes"
		}
		s.Row("%3d   %7d   %9d   %11s   %13s   %0*b", d.bit, d.tried, int64(d.tried)+delay.Min(), numbers.Grouped(d.count), yes, bits, d.x)
	})
	s.Say("The code is %d, the delay %d minutes. %d passes, whatever k is and however the delays are spread.", x, int64(x)+delay.Min(), bits)
	s.Agree(uint64(int64(x)+delay.Min()), fmt.Sprintf("SELECT kth_largest(delay, %d) FROM flights", k))

	middle := medianRank(uint64(s.Table.Rows()))
	median := int64(kthLargest(s, delay, middle, pass.Stencil{}, func(decision) {})) + delay.Min()
	s.Say("With k = %s the same passes find the median, of the two delays in the middle the smaller one: %d minutes. MAX is k = 1, MIN is k = %s.",
		numbers.Grouped(middle), median, numbers.Grouped(s.Table.Rows()))
	s.Agree(uint64(median), "SELECT MEDIAN(delay) FROM flights")

	s.Say("Look at the picture: each count halves the interval in which the answer lies, though not a single record is moved or copied.")
	s.Picture("bits", &draw.Sheet{Title: fmt.Sprintf("The %dth largest delay in %d counts", k, bits), Columns: 1, Width: 1000, Panels: []draw.Panel{{
		Title: fmt.Sprintf("Are there k = %d flights or more from the mark on? Then the answer is there, too, and the bit is 1.", k),
		Draw:  draw.Scaled{Bars: halving(steps, delay.Min()), Axis: draw.Axis{Name: "delay in minutes", Lo: float64(delay.Min()), Hi: float64(delay.Min() + 1<<bits)}},
		Legend: []draw.Entry{{Index: draw.Stencil + 2, Text: "the delays that can still be the answer, before the count"},
			{Index: draw.Mark, Text: "the mark, x + 2^i as a delay: the quad of this count"}},
	}}})
}

// halving draws, a row a step, the interval of codes that is left before it, and says what
// the count decides.
func halving(steps []decision, least int64) (bars draw.Bars) {
	from := uint64(0)
	for _, d := range steps {
		to := from + 1<<(d.bit+1)
		bit := 0
		if d.set {
			bit = 1
		}
		bars = append(bars, draw.Bar{Label: fmt.Sprintf("bit %d", d.bit), From: float64(from), To: float64(to), At: float64(d.tried),
			Text: fmt.Sprintf("%s from %d on: %d", numbers.Grouped(d.count), int64(d.tried)+least, bit)})
		from = d.x
	}
	return bars
}
