package cnf

import (
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/pass"
)

// Solve adds a third clause. It is odd, so the valid value is 1 again, and in the end
// the selected records hold 2.
func Solve(s *lesson.Stage) uint64 {
	third := []predicate{{"distance", ">=", 500}, {"delay", ">", 30}}
	evalCNF(s, append(clauses, third), func(*pass.Pass, uint64) {})
	var selected uint64
	for _, v := range s.Stencil() {
		if v == 2 {
			selected++
		}
	}
	return selected
}
