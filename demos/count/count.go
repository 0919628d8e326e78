// Package count is lesson 7: COUNT by occlusion query.
package count

import (
	"fmt"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
)

// Run is the program of the lesson.
func Run(s *lesson.Stage) {
	delay, distance := s.Column("delay"), s.Column("distance")
	s.Say("An occlusion query counts the samples that pass all tests between its beginning and its end; a sample is a fragment's texel, so a record. A quad without any test counts all:")
	all := s.Show(&pass.Pass{Op: pass.RenderQuad{}, Target: s.Target, Count: true})

	s.Say("With a depth test it is COUNT(*) with a predicate; divided by the number of records, the selectivity:")
	s.CopyToDepth(delay)
	late := s.Show(s.Compare(delay, ">", 60))
	s.Agree(late, "SELECT COUNT(*) FROM flights WHERE delay > 60")
	s.Row("selectivity %s / %s = %.4f", numbers.Grouped(late), numbers.Grouped(all), float64(late)/float64(all))

	s.Say("With a stencil test too, only records that are marked are counted. Flights over more than 1000 miles are marked with 1, and the same quad again:")
	s.Mark(distance, ">", 1000)
	s.CopyToDepth(delay)
	lateAndFar := s.Compare(delay, ">", 60)
	lateAndFar.Stencil = lesson.Marked
	n := s.Show(lateAndFar)
	s.Agree(n, "SELECT COUNT(*) FROM flights WHERE delay > 60 AND distance > 1000")

	const lo, hi, step = -40, 120, 10
	s.Say("A count is on its way until it is waited for. %d quads count the delays below %d, %d, ... %d: all are started before the first is waited for.",
		(hi-lo)/step+1, lo, lo+step, hi)
	below := make([]uint64, (hi-lo)/step+1)
	inFlight := func() {
		counts := make([]pass.Count, len(below))
		for i := range counts {
			counts[i] = s.Start(s.Compare(delay, "<", int64(lo+i*step)))
		}
		for i, c := range counts {
			below[i] = s.Wait(c)
		}
	}
	oneByOne := func() {
		for i := range below {
			s.Run(s.Compare(delay, "<", int64(lo+i*step)))
		}
	}
	took := s.Times(inFlight, oneByOne)
	s.Row("all in flight      %v", took[0])
	s.Row("one after another  %v", took[1])
	s.Row("medians of runs in turns, with the fastest and the slowest, on %s", s.Device())

	s.Say("Neighbours subtracted, that is a histogram:")
	var bars draw.Bars
	for i := range len(below) - 1 {
		n := below[i+1] - below[i]
		from := lo + i*step
		bars = append(bars, draw.Bar{Label: fmt.Sprintf("%d to %d", from, from+step-1), To: float64(n), Text: numbers.Grouped(n)})
		s.Row("%4d to %4d minutes %8s", from, from+step-1, numbers.Grouped(n))
	}
	s.Agree(below[5]-below[4], "SELECT COUNT(*) FROM flights WHERE delay BETWEEN 0 AND 9")
	s.Say("Look at the picture: it was drawn from 17 numbers. No record left the device.")
	s.Picture("histogram", &draw.Sheet{Title: "Delays, by 17 occlusion queries", Columns: 1, Width: 900, Panels: []draw.Panel{
		{Title: "Flights by delay in minutes", Draw: bars, Note: "A bar is the difference of two counts."}}})
}
