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
	return []*lesson.Lesson{attributes.Lesson, depth.Lesson, predicate.Lesson, bounds.Lesson, semilinear.Lesson,
		cnf.Lesson, count.Lesson, kth.Lesson, sum.Lesson, planes.Lesson}
}
