package plan

import (
	"fmt"

	"github.com/stencildb/stencildb/table"
)

// Concat gives the rows of its inputs, one after the other: UNION ALL. All have the types of the first.
type Concat struct{ Of []Node }

// Inputs, With, Fields and String implement [Node].
func (c *Concat) Inputs() []Node { return c.Of }

func (c *Concat) With(inputs ...Node) Node { return &Concat{inputs} }

func (c *Concat) Fields() []table.Field { return c.Of[0].Fields() }

func (c *Concat) String() string { return fmt.Sprintf("Concat(%d inputs)", len(c.Of)) }
