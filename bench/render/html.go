package render

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/papers/lab"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"device": Page.device, "noise": Page.noise, "notRun": Page.notRun,
	"softwareNote": func() string { return softwareNote }, "gainTitle": func() string { return gainTitle },
	"headlines": Page.HeadlineTable, "gains": Page.gainTable, "floors": Page.floorTable,
	"figures": Page.Figures, "svg": Page.inlineSVG, "sentences": Page.sentences, "ties": Page.tiesIn,
	"times": Page.timesOf,
	"passes": func(r Page, f lab.Figure) report.Section {
		return r.passTable(func(x report.Result) bool { return shows(f, x) })
	},
	"heading": lab.Figure.Heading, "own": func(r Page) bool { return r.Suite == report.OwnStatements }, "asked": Page.ofStatements, "fresh": func(r Page) bool { return r.Protocol == report.FreshProtocol }, "sections": Page.sections,
	"published": Page.Published,
	"drawn":     func(r Page, f lab.Figure) bool { return len(r.Panels(f)) > 0 },
	"coldRuns":  func() int { return report.ColdRuns }, "profileRuns": func() int { return report.ProfileRuns },
	"json": func(r Page) (template.JS, error) {
		text, err := json.Marshal(r.Report) // escapes <, > and &
		return template.JS(text), err
	},
}).Parse(reportText))

// WriteHTML writes the report as one page that needs nothing else, with the figures in it, and the report as JSON. It does so for the
// paper's figures, a user's statements, and suites by the fresh protocol.
func (r Page) WriteHTML(w io.Writer) error { return reportTemplate.Execute(w, r) }

// inlineSVG is a figure without the declaration of XML.
func (r Page) inlineSVG(f lab.Figure) (template.HTML, error) {
	svg, err := report.Bytes(func(w io.Writer) error { return r.SVG(f, w) })
	return template.HTML(svg[max(0, bytes.Index(svg, []byte("<svg"))):]), err
}

// sentences are what is said of a figure.
func (r Page) sentences(f lab.Figure) (list []string) {
	for _, h := range r.Headlines {
		if h.Figure == f.Name {
			list = append(list, h.Sentence)
		}
	}
	for _, x := range r.Remarks() {
		if x.Figure == f.Name {
			list = append(list, x.Text)
		}
	}
	return list
}

// tiesIn names the cases of a figure over the largest table, each with its pairs of systems.
func (r Page) tiesIn(f lab.Figure) string {
	var list []string
	for _, x := range r.Results {
		if pairs := r.pairs(x.Case); shows(f, x) && r.IsLargest(x.Case) && pairs != "" {
			list = append(list, x.Operation+" ("+pairs+")")
		}
	}
	return strings.Join(slices.Compact(list), ", ")
}
