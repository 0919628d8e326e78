package planes

import "github.com/stencildb/stencildb/demos/lesson"

// Solve counts bit 0. Codes are distance - 30, and 30 is even: a code is odd where the
// distance is.
func Solve(s *lesson.Stage) uint64 { return popcount(s.Planes(s.Column("distance")).Bits[0]) }
