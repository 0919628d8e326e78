package count

import (
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/pass"
)

// Solve counts the late flights that the mask leaves out: those that fail the stencil
// test distance > 1000, with the test the other way round.
func Solve(s *lesson.Stage) uint64 {
	delay := s.Column("delay")
	mark(s, s.Column("distance"), 1000)
	s.CopyToDepth(delay)
	unmarked := marked
	unmarked.Func = pass.NotEqual
	return s.Run(compare(s, delay, ">", pass.Less, 60, unmarked))
}
