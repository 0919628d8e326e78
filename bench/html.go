package bench

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/papers/lab"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"device": (*Report).device, "noise": (*Report).noise, "notRun": (*Report).notRun,
	"softwareNote": func() string { return softwareNote }, "gainTitle": func() string { return gainTitle },
	"headlines": (*Report).headlineTable, "gains": (*Report).gainTable, "floors": (*Report).floorTable,
	"figures": (*Report).figures, "svg": (*Report).inlineSVG, "sentences": (*Report).sentences, "ties": (*Report).tiesIn,
	"times":   (*Report).timesOf,
	"passes":  func(r *Report, f lab.Figure) section { return r.passTable(func(x Result) bool { return shows(f, x) }) },
	"heading": lab.Figure.Heading, "own": func(r *Report) bool { return r.Suite == own }, "asked": (*Report).asked, "fresh": func(r *Report) bool { return r.Protocol == fresh }, "sections": (*Report).sections,
	"suite": (*Report).suite, "published": (*Report).published,
	"drawn":    func(r *Report, f lab.Figure) bool { return len(r.panels(f)) > 0 },
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
func (r *Report) inlineSVG(f lab.Figure) (template.HTML, error) {
	svg, err := render(func(w io.Writer) error { return r.SVG(f, w) })
	return template.HTML(svg[max(0, bytes.Index(svg, []byte("<svg"))):]), err
}

// sentences are what is said of a figure.
func (r *Report) sentences(f lab.Figure) (list []string) {
	for _, h := range r.Headlines {
		if h.Figure == f.Name {
			list = append(list, h.Sentence)
		}
	}
	for _, x := range r.said() {
		if x.figure == f.Name {
			list = append(list, x.text)
		}
	}
	return list
}

// tiesIn names the cases of a figure over the largest table, each with its pairs of systems.
func (r *Report) tiesIn(f lab.Figure) string {
	var list []string
	for _, x := range r.Results {
		if pairs := r.pairs(x.Case); shows(f, x) && r.isLargest(x.Case) && pairs != "" {
			list = append(list, x.Operation+" ("+pairs+")")
		}
	}
	return strings.Join(slices.Compact(list), ", ")
}
