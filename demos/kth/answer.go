package kth

import "github.com/stencildb/stencildb/demos/lesson"

// Solve marks the flights that are more than an hour late in the stencil buffer, and searches among them. The
// count of a quad is then of records that pass both tests.
func Solve(s *lesson.Stage) uint64 {
	s.Mark(s.Column("delay"), ">", 60)
	distance := s.Column("distance")
	s.CopyToDepth(distance)
	x := kthLargest(s, distance, 1000, lesson.Marked, func(decision) {})
	return x + uint64(distance.Min())
}
