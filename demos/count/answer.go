package count

import (
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/pass"
)

// Solve counts the late flights that the mask leaves out: those that fail the stencil
// test distance > 1000, with the test the other way round.
func Solve(s *lesson.Stage) uint64 {
	s.Mark(s.Column("distance"), ">", 1000)
	delay := s.Column("delay")
	s.CopyToDepth(delay)
	late := s.Compare(delay, ">", 60)
	late.Stencil = lesson.Marked
	late.Stencil.Func = pass.NotEqual
	return s.Run(late)
}
