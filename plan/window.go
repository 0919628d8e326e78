package plan

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Window gives the rows of its input with a column more for each function. The operands of the functions are
// columns of the input; arguments of those that are no aggregates may be constants.
type Window struct {
	Input Node
	Funcs []*expr.Window
}

// Inputs, With, Fields and String implement [Node].
func (w *Window) Inputs() []Node           { return []Node{w.Input} }
func (w *Window) With(inputs ...Node) Node { return &Window{inputs[0], w.Funcs} }
func (w *Window) Fields() []table.Field {
	list := slices.Clone(w.Input.Fields())
	for _, f := range w.Funcs {
		list = append(list, table.Field{Name: f.String(), Type: f.T})
	}
	return list
}
func (w *Window) String() string {
	texts := xslices.Map(w.Funcs, (*expr.Window).String)
	return "Window(" + strings.Join(texts, ", ") + ")"
}
