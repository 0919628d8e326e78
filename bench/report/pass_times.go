package report

import (
	"slices"

	"github.com/stencildb/stencildb/pass"
)

// PassTime is what one pass of a query took by itself, the device idle before and
// after; together they take longer than the query.
type PassTime struct {
	Pass    string  `json:"pass"`
	Routine string  `json:"routine"` // what passes are grouped by
	MS      float64 `json:"ms"`
}

// IsOf reports whether the pass is one of some routines.
func (p PassTime) IsOf(routines ...pass.Op) bool {
	return slices.ContainsFunc(routines, func(o pass.Op) bool { return pass.Routine(o) == p.Routine })
}
