package kth

import (
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/pass"
)

// Solve marks the flights that are more than an hour late in the stencil buffer, and
// searches among them: the count of a quad is then of records that pass both tests.
func Solve(s *lesson.Stage) uint64 {
	delay, distance := s.Column("delay"), s.Column("distance")
	s.CopyToDepth(delay)
	s.Run(&pass.Pass{Op: pass.Compare{Text: "delay > 60"}, Target: s.Target, Clear: &pass.Clear{Mask: 0xff},
		Quad:    delay.Depth(60),
		Depth:   pass.Depth{Test: true, Func: pass.Less},
		Stencil: pass.Stencil{Test: true, Func: pass.Always, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff}})
	s.CopyToDepth(distance)
	marked := pass.Stencil{Test: true, Func: pass.Equal, Ref: 1, Mask: 0xff}
	x := kthLargest(s, distance.Segment.Bits, 1000, marked, func(decision) {})
	return x + uint64(distance.Min())
}
