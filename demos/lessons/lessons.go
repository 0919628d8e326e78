// Package lessons is the list of all lessons, in their order.
package lessons

import (
	"github.com/stencildb/stencildb/demos/attributes"
	"github.com/stencildb/stencildb/demos/bounds"
	"github.com/stencildb/stencildb/demos/cnf"
	"github.com/stencildb/stencildb/demos/count"
	"github.com/stencildb/stencildb/demos/depth"
	"github.com/stencildb/stencildb/demos/join"
	"github.com/stencildb/stencildb/demos/kth"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/planes"
	"github.com/stencildb/stencildb/demos/predicate"
	"github.com/stencildb/stencildb/demos/semilinear"
	"github.com/stencildb/stencildb/demos/sort"
	"github.com/stencildb/stencildb/demos/sum"
)

// compare is the trace of the first three lessons.
var compare = lesson.Trace{Name: "predicate", Backend: "classic", SQL: "SELECT COUNT(*) FROM flights WHERE delay < 60"}

// All returns the lessons, the first one first.
func All() []*lesson.Lesson {
	return []*lesson.Lesson{
		{Number: 1, Name: "attributes", Title: "Attributes as textures", Run: attributes.Run, Solve: attributes.Solve, Exercises: attributes.Exercises,
			Trace: compare},
		{Number: 2, Name: "depth", Title: "Copy to depth, and why 24 bits", Run: depth.Run, Solve: depth.Solve, Exercises: depth.Exercises,
			Trace: compare},
		{Number: 3, Name: "predicate", Title: "A predicate is a depth test", Run: predicate.Run, Solve: predicate.Solve, Exercises: predicate.Exercises,
			Trace: compare},
		{Number: 4, Name: "bounds", Title: "A range by depth bounds", Run: bounds.Run, Solve: bounds.Solve, Exercises: bounds.Exercises,
			Trace: lesson.Trace{Name: "range", Backend: "classic", SQL: "SELECT COUNT(*) FROM flights WHERE distance BETWEEN 500 AND 1000"}},
		{Number: 5, Name: "semilinear", Title: "Semi-linear queries in a fragment program", Run: semilinear.Run, Solve: semilinear.Solve, Exercises: semilinear.Exercises,
			Trace: lesson.Trace{Name: "semilinear", Backend: "classic", SQL: "SELECT COUNT(*) FROM flights WHERE 10 * delay - distance > 0"}},
		{Number: 6, Name: "cnf", Title: "Boolean combinations in the stencil buffer", Run: cnf.Run, Solve: cnf.Solve, Exercises: cnf.Exercises,
			Trace: lesson.Trace{Name: "clauses", Backend: "classic", SQL: "SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10)"}},
		{Number: 7, Name: "count", Title: "COUNT by occlusion query", Run: count.Run, Solve: count.Solve, Exercises: count.Exercises,
			Trace: lesson.Trace{Name: "count", Backend: "classic", SQL: "SELECT COUNT(*) FROM flights WHERE delay > 60 AND distance > 1000"}},
		{Number: 8, Name: "kth", Title: "The k-th largest value, bit by bit", Run: kth.Run, Solve: kth.Solve, Exercises: kth.Exercises,
			Trace: lesson.Trace{Name: "kth", Backend: "classic", SQL: "SELECT kth_largest(delay, 100) FROM flights"}},
		{Number: 9, Name: "sum", Title: "SUM bit by bit, and why it was slow", Run: sum.Run, Solve: sum.Solve, Exercises: sum.Exercises,
			Trace: lesson.Trace{Name: "sum", Backend: "classic", SQL: "SELECT SUM(distance) FROM flights"}},
		{Number: 10, Name: "planes", Title: "Twenty years on: popcount on bit planes", Run: planes.Run, Solve: planes.Solve, Exercises: planes.Exercises,
			Trace: lesson.Trace{Name: "planes", Backend: "compute", SQL: "SELECT SUM(distance), kth_largest(delay, 100) FROM flights WHERE delay < 60"}},
		{Number: 11, Name: "sort", Title: "A sort: from the network to radix", Run: sort.Run, Solve: sort.Solve, Exercises: sort.Exercises,
			Trace: lesson.Trace{Name: "sort", Backend: "compute", SQL: "SELECT distance FROM flights ORDER BY distance, delay"}},
		{Number: 12, Name: "join", Title: "Group and join: codes as hash slots", Run: join.Run, Solve: join.Solve, Exercises: join.Exercises,
			Trace: lesson.Trace{Name: "join", Backend: "compute", SQL: "SELECT delay, COUNT(*) FROM flights WHERE delay > 60 GROUP BY delay"}},
	}
}
