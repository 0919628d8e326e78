package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/papers/lab"
)

// Figures are those that have results.
func (r Page) Figures() []lab.Figure {
	list := r.ownFigures()
	if f := r.Paper.Figures; f != nil {
		list = slices.Clone(f)
	}
	return slices.DeleteFunc(list, func(f lab.Figure) bool { return len(r.Panels(f))+len(r.Published(f)) == 0 })
}

// titleLength is how much of a statement stands above its figure, in characters.
const titleLength = 90

// panelsOf are panels of the times that there are: with what is warm, repeated and cold.
func (r Page) panelsOf(p lab.Panel) (list []lab.Panel) {
	kinds := []struct {
		title string
		of    lab.Timing
	}{{"columns resident", lab.Warm}, {"with the upload of the columns", lab.Cold}}
	if r.Protocol == report.FreshProtocol {
		kinds[0].title, kinds[1].title = "new parameters, from the text to the last row", "cold: the first execution in a process"
		kinds = slices.Insert(kinds, 1, kinds[0])
		kinds[1].title, kinds[1].of = "repeated: the prepared statement again", lab.Repeated
	}
	for _, k := range kinds {
		p.Title, p.Of = k.title, k.of
		list = append(list, p)
	}
	return list
}

// ofStatements reports whether the report is of statements, whose plots and tables a page has: a user's, or those of the fresh protocol.
func (r Page) ofStatements() bool {
	return r.Suite == report.OwnStatements || r.Protocol == report.FreshProtocol
}

// ownFigures are those of statements: all of them over the largest tables, and each
// over the number of records where there are several tables.
func (r Page) ownFigures() (list []lab.Figure) {
	if !r.ofStatements() {
		return nil
	}
	asked, loads := r.ownNames()
	title := "Statements"
	if r.Suite != report.OwnStatements {
		title = "Suite " + r.Suite
	}
	load := lab.Panel{Title: "from a file to a table", Operations: loads, Names: loads, Largest: true}
	largest := r.panelsOf(lab.Panel{Operations: asked, Names: asked, Largest: true})
	list = append(list, lab.Figure{Title: title + " over the largest tables", Path: r.Suite, Panels: append(largest, load)})
	for _, name := range slices.Concat(asked, loads) {
		sizes := map[int]bool{}
		text := name + ": "
		for _, x := range r.Results {
			if x.Operation == name {
				sizes[x.Rows] = true
				if text = report.OneLine(x.SQL); slices.Contains(asked, name) {
					text = name + ": " + text
				}
			}
		}
		if len(sizes) < 2 {
			continue
		}
		if short := []rune(text); len(short) > titleLength {
			text = string(short[:titleLength]) + "..."
		}
		if slices.Contains(loads, name) {
			list = append(list, lab.Figure{Title: text, Path: name, Panels: []lab.Panel{evaluation.OverRecords(load.Title, name)}})
			continue
		}
		list = append(list, lab.Figure{Title: text, Path: name, Panels: r.panelsOf(evaluation.OverRecords("", name))})
	}
	return list
}

// ownNames are those of the cases: of the statements, and of the loading of files.
func (r Page) ownNames() (asked, loads []string) {
	names := report.Distinct(r.Results, func(x report.Result) string { return x.Operation })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	for _, n := range names {
		if strings.HasPrefix(n, report.LoadCase) {
			loads = append(loads, n)
		} else {
			asked = append(asked, n)
		}
	}
	return asked, loads
}
