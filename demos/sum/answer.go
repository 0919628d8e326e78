package sum

import (
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/pass"
)

// Solve marks the flights that are more than an hour late, counting them, and adds up
// the distances of those that are marked.
func Solve(s *lesson.Stage) uint64 {
	delay := s.Column("delay")
	s.CopyToDepth(delay)
	n := s.Run(&pass.Pass{Op: pass.Compare{Text: "delay > 60"}, Target: s.Target, Clear: &pass.Clear{Mask: 0xff},
		Quad:    delay.Depth(60),
		Depth:   pass.Depth{Test: true, Func: pass.Less},
		Stencil: pass.Stencil{Test: true, Func: pass.Always, Ref: 1, Mask: 0xff, Pass: pass.Replace, WriteMask: 0xff},
		Count:   true})
	late := pass.Stencil{Test: true, Func: pass.Equal, Ref: 1, Mask: 0xff}
	return accumulator(s, s.Column("distance"), n, late, func(int, uint64) {})
}
