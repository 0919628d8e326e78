package plan

// Pruned is a query that gives some of its columns only; one at least, and all where that takes more than leaving
// out select items, or the rule is off.
func Pruned(n Node, columns []int, off Off) Node {
	if off.has(prune) {
		return n
	}
	if len(columns) == 0 {
		columns = []int{0}
	}
	switch n := n.(type) {
	case *Project:
		if len(columns) >= len(n.Items) {
			return n
		}
		p := &Project{Input: n.Input}
		for _, c := range columns {
			p.Items = append(p.Items, n.Items[c])
		}
		return p
	case *Limit:
		if p, ok := n.Input.(*Project); ok {
			return n.With(Pruned(p, columns, off))
		}
	}
	return n
}
