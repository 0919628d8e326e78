package render

import (
	"slices"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
)

// statements are the texts of the cases, with the rows of their answers.
func (r Page) statements() report.Section {
	s := report.Section{Title: "Statements", Words: 1, Rows: [][]string{{"", "SQL", "rows of the answer"}}}
	asked, loads := r.ownNames()
	for _, name := range slices.Concat(asked, loads) {
		x := r.Results[slices.IndexFunc(r.Results, func(x report.Result) bool { return x.Operation == name })]
		s.Add(name, report.OneLine(x.SQL), numbers.Grouped(x.RowsOfAnswer()))
	}
	return s
}
