package harness

import (
	"fmt"

	"github.com/stencildb/stencildb/table"
)

// Tally counts statements.
type Tally struct {
	Queries                int // drawn
	none                   int // selecting no record
	some                   int
	all                    int
	Failed                 int // that raise an error
	Refused                int // that the engine does not support
	Declined               int // that a backend on the GPU leaves to others
	Inexpressible          int // that the peer cannot say, or fails at where the engine need not look
	Compared               int // with the peer
	pushed                 int // that group rows before they are joined
	several, made, chained int // joins by several keys, by keys that are computed, and of the rows of a join, whose pairs compute has found
}

func (n *Tally) String() string {
	return fmt.Sprintf("%d queries, %d of them compared with the peer (%d it cannot say); selecting none %d, some %d, all %d; "+
		"errors %d; refused by the engine %d; declined by a backend %d",
		n.Queries, n.Compared, n.Inexpressible, n.none, n.some, n.all, n.Failed, n.Refused, n.Declined)
}

// Selected counts a statement that selects n rows of a table.
func (h *Harness) Selected(n int64, tab *table.Table) {
	switch n {
	case 0:
		h.none++
	case int64(tab.Rows()):
		h.all++
	default:
		h.some++
	}
}
