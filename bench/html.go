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

var reportTemplate = template.Must(template.New("report").Parse(reportText))

// page is what report.html shows.
type page struct {
	*Report
	Device, Noise, GainTitle string
	// SoftwareNote is shown where a software rasteriser draws.
	SoftwareNote                    string
	Headlined, Gains, Floor, NotRun section
	Figures                         []pageFigure
	JSON                            template.JS
}

// pageFigure is a figure of it.
type pageFigure struct {
	Figure
	SVG       template.HTML
	Sentences []string
	Times     section // over the largest table
	Passes    section
	Ties      string // over the largest table: the cases and their pairs of systems
}

// WriteHTML writes the report of the paper's figures as one page that needs nothing
// else: the figures are in it, and the report as JSON.
func (r *Report) WriteHTML(w io.Writer) error {
	p := page{Report: r, Device: r.device(), Noise: r.noise(), GainTitle: gainTitle, SoftwareNote: softwareNote,
		Headlined: r.headlineTable(), Gains: r.gainTable(), Floor: r.floorTable(), NotRun: r.notRun()}
	for _, f := range r.figures() {
		pf, err := r.pageFigure(f)
		if err != nil {
			return err
		}
		p.Figures = append(p.Figures, pf)
	}
	text, err := json.Marshal(r) // escapes <, > and &
	if err != nil {
		return err
	}
	p.JSON = template.JS(text)
	return reportTemplate.Execute(w, p)
}

func (r *Report) pageFigure(f Figure) (pageFigure, error) {
	its := func(x Result) bool { return x.Figure == f.Number }
	p := pageFigure{Figure: f, Times: r.timeTable(its), Passes: r.passTable(its)}
	svg, err := render(func(w io.Writer) error { return r.SVG(f, w) })
	if err != nil {
		return p, err
	}
	if i := bytes.Index(svg, []byte("<svg")); i > 0 { // without the declaration of XML
		svg = svg[i:]
	}
	p.SVG = template.HTML(svg)
	for _, h := range r.Headlines {
		if h.Figure == f.Number {
			p.Sentences = append(p.Sentences, h.Sentence)
		}
	}
	if s := r.mipmapSentence(); f.Number == mipmapFigure && s != "" {
		p.Sentences = append(p.Sentences, s)
	}
	var ties []string
	for _, x := range r.Results {
		if pairs := r.pairs(x.Case); its(x) && r.isLargest(x.Case) && pairs != "" {
			ties = append(ties, x.Operation+" ("+pairs+")")
		}
	}
	p.Ties = strings.Join(slices.Compact(ties), ", ")
	return p, nil
}
