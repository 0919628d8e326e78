package plan

// Width is the number of columns that a node gives, of which it makes no list.
func Width(n Node) int {
	switch n := n.(type) {
	case *Scan:
		return len(n.Columns)
	case *Join:
		if n.Kind.LeftOnly() {
			return Width(n.Left)
		}
		return Width(n.Left) + Width(n.Right)
	case *Filter:
		return Width(n.Input)
	case *Project:
		return len(n.Items)
	}
	return len(n.Fields())
}
