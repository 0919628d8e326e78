package meter

import (
	"fmt"

	"github.com/stencildb/stencildb/internal/numbers"
)

// DifferError is the error of contenders that give different answers.
type DifferError struct {
	Trial *Trial
	// System gives Got where Other gives Want: rows, or how many there are.
	System, Other, Got, Want string
	// Peer says that System is another database.
	Peer bool
}

// reason is the difference as the reason of a [report.Skip].
func (e *DifferError) reason() string {
	return fmt.Sprintf("another answer: it gives %s, %s gives %s", e.Got, e.Other, e.Want)
}

func (e *DifferError) Error() string {
	text := fmt.Sprintf("%s over %s: %s gives %s, %s gives %s: %s", e.Trial.Operation, numbers.Count(e.Trial.Rows, "row", "rows"), e.System, e.Got, e.Other, e.Want, e.Trial.SQL)
	if e.Peer {
		text += "; where the two mean different things by it, write it otherwise, or leave " + e.System + " out with --peers"
	}
	return text
}
