package render

import (
	"strings"

	"github.com/stencildb/stencildb/bench/report"
)

// Operators are those of a plan that may run elsewhere than the scan below them, with what they do to rows.
var Operators = map[string]string{"Aggregate": "groups", "Sort": "sorts", "Join": "joins", "Window": "windows", "Filter": "filters"}

// helped says what cpu does for the system, in brackets; "" where that is nothing.
func helped(r *report.Result) string {
	var words []string
	for _, name := range r.OnCPU {
		if does, ok := Operators[name]; ok {
			words = append(words, does)
		} else {
			words = append(words, strings.ToLower(name))
		}
	}
	if words == nil {
		return ""
	}
	return " (cpu " + strings.Join(words, ", ") + ")"
}
