package sum

import "github.com/stencildb/stencildb/demos/lesson"

// Solve marks the flights that are more than an hour late, counting them, and adds up
// the distances of those that are marked.
func Solve(s *lesson.Stage) uint64 {
	n := s.Mark(s.Column("delay"), ">", 60)
	return accumulator(s, s.Column("distance"), n, lesson.Marked, func(int, uint64) {})
}
