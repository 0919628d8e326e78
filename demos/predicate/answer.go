package predicate

import (
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/pass"
)

// Solve counts 15 <= delay < 60 with two quads over one copy. Every flight below 15 is also below 60, so the
// difference is the number between.
func Solve(s *lesson.Stage) uint64 {
	delay := s.Column("delay")
	s.CopyToDepth(delay)
	below60 := s.Run(compare(s, "delay < 60", pass.Greater, delay.Depth(60)))
	below15 := s.Run(compare(s, "delay < 15", pass.Greater, delay.Depth(15)))
	return below60 - below15
}
