package plan

import "github.com/stencildb/stencildb/table"

// Arrays makes arrays of columns that lie side by side. It is the root of a tree, which stands for the answer
// of a statement. Whoever returns the rows below makes the arrays, by [Arrays.Of].
type Arrays struct {
	Input Node
	// Sizes are how many columns of the input each column is an array of; 0 for a column as it is.
	Sizes []int
}

// Inputs, With, Fields and String implement [Node].
func (a *Arrays) Inputs() []Node           { return []Node{a.Input} }
func (a *Arrays) With(inputs ...Node) Node { return &Arrays{inputs[0], a.Sizes} }
func (a *Arrays) Fields() []table.Field {
	var list []table.Field
	of, at := a.Input.Fields(), 0
	for _, size := range a.Sizes {
		f := of[at]
		if size > 0 {
			f.Type = table.ArrayOf(f.Type)
		}
		list, at = append(list, f), at+max(1, size)
	}
	return list
}

func (a *Arrays) String() string { return "Arrays" }
