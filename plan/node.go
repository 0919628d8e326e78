package plan

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Node is an operator of a statement's tree, over names and values. A tree does not
// change: what rewrites it makes new nodes.
type Node interface {
	// Inputs are the nodes whose rows it takes.
	Inputs() []Node
	// With is the same operator over other inputs, as many.
	With(inputs ...Node) Node
	// Fields are the columns that it gives, which the expressions of the node above
	// read by their index.
	Fields() []table.Field
	// String is the operator on one line, without its inputs.
	String() string
}

// Walk calls f for a node and all below it, with how deep each stands.
func Walk(n Node, f func(n Node, depth int)) { walk(n, 0, f) }

func walk(n Node, depth int, f func(Node, int)) {
	f(n, depth)
	for _, in := range n.Inputs() {
		walk(in, depth+1, f)
	}
}

// Rewrite is the tree with f applied to every node, inputs first. Nodes that f gives back stay, with those above them.
func Rewrite(n Node, f func(Node) Node) Node {
	var changed []Node
	inputs := n.Inputs()
	for i, in := range inputs {
		if out := Rewrite(in, f); out != in {
			if changed == nil {
				changed = slices.Clone(inputs)
			}
			changed[i] = out
		}
	}
	if changed != nil {
		n = n.With(changed...)
	}
	return f(n)
}

// call writes an operator with its arguments.
func call[T any](name string, args []T, text func(T) string) string {
	return name + "(" + listed(args, text) + ")"
}

func listed[T any](args []T, text func(T) string) string {
	parts := xslices.Map(args, text)
	return strings.Join(parts, ", ")
}

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
