package depth

import "github.com/stencildb/stencildb/demos/lesson"

// Solve copies distance with 8 of its 13 bits, and counts what is missing.
func Solve(s *lesson.Stage) uint64 {
	distance := s.Column("distance")
	var count [2]uint64
	for i, drop := range []int{0, distance.Segment.Bits - 8} {
		s.Run(copyToDepth(s, distance, drop))
		count[i] = below(s, distance, 700, drop)
	}
	return count[0] - count[1]
}
