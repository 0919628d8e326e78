package bench

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"device": (*Report).device, "noise": (*Report).noise, "notRun": (*Report).notRun,
	"softwareNote": func() string { return softwareNote }, "gainTitle": func() string { return gainTitle },
	"headlines": (*Report).headlineTable, "gains": (*Report).gainTable, "floors": (*Report).floorTable,
	"figures": (*Report).figures, "svg": (*Report).inlineSVG, "sentences": (*Report).sentences, "ties": (*Report).tiesIn,
	"times":   func(r *Report, f Figure) section { return r.timeTable(f.has) },
	"passes":  func(r *Report, f Figure) section { return r.passTable(f.has) },
	"heading": Figure.heading, "own": func(r *Report) bool { return r.Suite == own }, "asked": (*Report).asked, "fresh": func(r *Report) bool { return r.Protocol == fresh }, "sections": (*Report).sections,
	"coldRuns": func() int { return coldRuns }, "profileRuns": func() int { return profileRuns },
	"json": func(r *Report) (template.JS, error) {
		text, err := json.Marshal(r) // escapes <, > and &
		return template.JS(text), err
	},
}).Parse(reportText))

// WriteHTML writes the report of the paper's figures, of a user's statements, or of a suite by the fresh protocol, as one page that needs nothing
// else: the figures are in it, and the report as JSON.
func (r *Report) WriteHTML(w io.Writer) error { return reportTemplate.Execute(w, r) }

// inlineSVG is a figure without the declaration of XML.
func (r *Report) inlineSVG(f Figure) (template.HTML, error) {
	svg, err := render(func(w io.Writer) error { return r.SVG(f, w) })
	return template.HTML(svg[max(0, bytes.Index(svg, []byte("<svg"))):]), err
}

// sentences are what is said of a figure.
func (r *Report) sentences(f Figure) (list []string) {
	for _, h := range r.Headlines {
		if h.Figure == f.Number {
			list = append(list, h.Sentence)
		}
	}
	for _, x := range r.remarks() {
		if x.figure == f.Number {
			list = append(list, x.text)
		}
	}
	return list
}

// tiesIn names the cases of a figure over the largest table, each with its pairs of systems.
func (r *Report) tiesIn(f Figure) string {
	var list []string
	for _, x := range r.Results {
		if pairs := r.pairs(x.Case); f.has(x) && r.isLargest(x.Case) && pairs != "" {
			list = append(list, x.Operation+" ("+pairs+")")
		}
	}
	return strings.Join(slices.Compact(list), ", ")
}
