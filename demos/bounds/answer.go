package bounds

import "github.com/stencildb/stencildb/demos/lesson"

// Solve moves both ends inwards by one. Both ends of depth bounds belong to the range, and between two
// successive whole numbers there is none.
func Solve(s *lesson.Stage) uint64 {
	distance := s.Column("distance")
	s.CopyToDepth(distance)
	return count(s, distance, 501, 999, s.Run)
}
