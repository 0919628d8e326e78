package semilinear

import "github.com/stencildb/stencildb/demos/lesson"

// Solve compares two attributes: delay > distance is 1*delay - 1*distance > 0.
func Solve(s *lesson.Stage) uint64 { return s.Run(semilinear(s, query{1, -1, 0})) }
