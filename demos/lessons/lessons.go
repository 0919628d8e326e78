// Package lessons is the list of all lessons, in their order.
package lessons

import (
	"github.com/stencildb/stencildb/demos/attributes"
	"github.com/stencildb/stencildb/demos/bounds"
	"github.com/stencildb/stencildb/demos/cnf"
	"github.com/stencildb/stencildb/demos/count"
	"github.com/stencildb/stencildb/demos/depth"
	"github.com/stencildb/stencildb/demos/kth"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/planes"
	"github.com/stencildb/stencildb/demos/predicate"
	"github.com/stencildb/stencildb/demos/semilinear"
	"github.com/stencildb/stencildb/demos/sum"
)

// All returns the lessons, the first one first.
func All() []*lesson.Lesson {
	return []*lesson.Lesson{
		{Number: 1, Name: "attributes", Title: "Attributes as textures", Run: attributes.Run, Solve: attributes.Solve,
			Question: "SELECT MAX(distance) - MIN(distance) FROM flights"},
		{Number: 2, Name: "depth", Title: "Copy to depth, and why 24 bits", Run: depth.Run, Solve: depth.Solve,
			Question: "SELECT COUNT(*) FROM flights WHERE distance >= 990 AND distance < 1000"},
		{Number: 3, Name: "predicate", Title: "A predicate is a depth test", Run: predicate.Run, Solve: predicate.Solve,
			Question: "SELECT COUNT(*) FROM flights WHERE delay >= 15 AND delay < 60"},
		{Number: 4, Name: "bounds", Title: "A range by depth bounds", Run: bounds.Run, Solve: bounds.Solve,
			Question: "SELECT COUNT(*) FROM flights WHERE distance > 500 AND distance < 1000"},
		{Number: 5, Name: "semilinear", Title: "Semi-linear queries in a fragment program", Run: semilinear.Run, Solve: semilinear.Solve,
			Question: "SELECT COUNT(*) FROM flights WHERE delay > distance"},
		{Number: 6, Name: "cnf", Title: "Boolean combinations in the stencil buffer", Run: cnf.Run, Solve: cnf.Solve,
			Question: "SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10) AND (distance >= 500 OR delay > 30)"},
		{Number: 7, Name: "count", Title: "COUNT by occlusion query", Run: count.Run, Solve: count.Solve,
			Question: "SELECT COUNT(*) FROM flights WHERE delay > 60 AND distance <= 1000"},
		{Number: 8, Name: "kth", Title: "The k-th largest value, bit by bit", Run: kth.Run, Solve: kth.Solve,
			Question: "SELECT kth_largest(distance, 1000) FROM flights WHERE delay > 60"},
		{Number: 9, Name: "sum", Title: "SUM bit by bit, and why it was slow", Run: sum.Run, Solve: sum.Solve,
			Question: "SELECT SUM(distance) FROM flights WHERE delay > 60"},
		{Number: 10, Name: "planes", Title: "Twenty years on: popcount on bit planes", Run: planes.Run, Solve: planes.Solve,
			Question: "SELECT COUNT(*) FROM flights WHERE distance % 2 = 1"},
	}
}
