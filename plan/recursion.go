package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Recursion is WITH RECURSIVE. It gives the rows of its first input, then those of Step again and again,
// until no more come. The [Derived] of Last in Step gives the rows that came last. Without All, a row that
// was there before does not come again. It may end when Limit rows are there for which all of Where is TRUE.
type Recursion struct {
	First, Step Node
	Last        *Subplan // of First's fields; its tree is no rows
	All         bool
	Limit       int64 // -1 for none
	Where       []expr.Expr
}

// Inputs, With, Fields and String implement [Node].
func (r *Recursion) Inputs() []Node { return []Node{r.First, r.Step} }

func (r *Recursion) With(inputs ...Node) Node {
	return &Recursion{inputs[0], inputs[1], r.Last, r.All, r.Limit, r.Where}
}

func (r *Recursion) Fields() []table.Field { return r.First.Fields() }

func (r *Recursion) String() string {
	words := "UNION"
	if r.All {
		words = "UNION ALL"
	}
	return "Recursion(" + words + untilRows(r.Limit, r.Where) + ")"
}
