package semilinear

import "github.com/stencildb/stencildb/demos/lesson"

// solve compares two attributes: delay > distance is 1*delay - 1*distance > 0.
func solve(s *lesson.Stage) uint64 { return s.Run(semilinear(s, query{1, -1, 0})) }
