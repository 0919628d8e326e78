package trace

import (
	"fmt"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/relational"
)

// join shows a pass that finds the pairs of a join. There are no records of the result yet, and no pictures,
// but how many matches it has counted.
func (t *tracer) join(l *look) (after func()) {
	return func() {
		m, ok := l.pass.Op.(relational.Matches)
		if !ok {
			return
		}
		pairs, large := m.Found(t.block(l.pass.Dispatch.Blocks[0], relational.ReportWords))
		l.Results = append(l.Results, numbers.Count(pairs, "match", "matches")+" counted by the program")
		if large[1] > 0 {
			l.Results = append(l.Results, fmt.Sprintf("partitions that are too large have %s of one side and %s of the other",
				numbers.Count(uint64(large[0]), "row", "rows"), numbers.Grouped(uint64(large[1]))))
		}
	}
}

// follow puts the passes of a tracer before those of this one.
func (t *tracer) follow(before *tracer) {
	t.looks, t.programs = before.looks, before.programs
	t.trace.Passes, t.trace.Programs = before.trace.Passes, before.trace.Programs
	t.Profiles = before.Profiles
	t.fail(before.err)
}
