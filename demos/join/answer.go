package join

import "github.com/stencildb/stencildb/demos/lesson"

// Solve counts the pairs of late flights of one delay: a slot of n has n * n.
func Solve(s *lesson.Stage) (pairs uint64) {
	delay := s.Column("delay")
	for _, n := range perSlot(delay.Codes(), 1<<delay.Segment.Bits)[delay.Code(61):] {
		pairs += n * n
	}
	return pairs
}
