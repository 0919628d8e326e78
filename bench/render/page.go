package render

import (
	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
)

// Page is a report as it is shown.
type Page struct{ evaluation.Evaluated }

// Of is the page of a report.
func Of(r *report.Report) Page { return Page{evaluation.Of(r)} }
