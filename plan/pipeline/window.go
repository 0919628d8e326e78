package pipeline

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Window leaves the rows with a column more for each window function.
type Window struct {
	Funcs   []*expr.Window // whose operands are over the layout
	Columns []int          // of the layout, that it leaves before them
}

// Fields, Exprs and String implement [Sink].
func (w *Window) Fields(in []table.Field) []table.Field {
	list := at(in, w.Columns)
	for _, f := range w.Funcs {
		list = append(list, table.Field{Name: f.String(), Type: f.T})
	}
	return list
}

func (w *Window) Exprs() (list []expr.Expr) {
	for _, f := range w.Funcs {
		list = append(list, f.Operands()...)
	}
	return list
}

func (w *Window) String() string {
	return "Window(" + texts(w.Funcs, (*expr.Window).String) + ")"
}
