package plan

import "github.com/stencildb/stencildb/table"

// Repeat gives each row of its input several times: as often as the last column, a count, says. It
// leaves out that column.
type Repeat struct{ Input Node }

// Inputs, With, Fields and String implement [Node].
func (r *Repeat) Inputs() []Node { return []Node{r.Input} }

func (r *Repeat) With(inputs ...Node) Node { return &Repeat{inputs[0]} }

func (r *Repeat) Fields() []table.Field {
	list := r.Input.Fields()
	return list[:len(list)-1]
}

func (r *Repeat) String() string { return "Repeat" }
