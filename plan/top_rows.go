package plan

import "math"

// TopRows tells a [Sort] below a [Limit], with or without a [Project] between them, how many
// rows are wanted of it: it then keeps no more than these.
func TopRows(n Node) Node {
	l, ok := n.(*Limit)
	if !ok || l.Count < 0 || l.Offset > math.MaxInt64-l.Count {
		return n
	}
	switch in := l.Input.(type) {
	case *Sort:
		return l.With(&Sort{in.Input, in.Keys, l.Offset + l.Count, in.Unique})
	case *Project:
		if s, ok := in.Input.(*Sort); ok {
			return l.With(in.With(&Sort{s.Input, s.Keys, l.Offset + l.Count, s.Unique}))
		}
	}
	return n
}
