package rules

import (
	"math"

	"github.com/stencildb/stencildb/plan"
)

// TopN tells a [plan.Sort] below a [plan.Limit] how many rows are wanted; a [plan.Project] may stand between
// them. The sort then keeps no more than these.
func TopN(n plan.Node) plan.Node {
	l, ok := n.(*plan.Limit)
	if !ok || l.Count < 0 || l.Offset > math.MaxInt64-l.Count {
		return n
	}
	switch in := l.Input.(type) {
	case *plan.Sort:
		return l.With(&plan.Sort{Input: in.Input, Keys: in.Keys, Limit: l.Offset + l.Count, Unique: in.Unique})
	case *plan.Project:
		if s, ok := in.Input.(*plan.Sort); ok {
			return l.With(in.With(&plan.Sort{Input: s.Input, Keys: s.Keys, Limit: l.Offset + l.Count, Unique: s.Unique}))
		}
	}
	return n
}
