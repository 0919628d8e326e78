package bench

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"ms": ms, "grouped": numbers.Grouped[int], "number": number, "orDash": orDash, "class": class, "gain": gainCell,
	"label": func(system string) string { return lookOf(system).label },
	"spread": func(x Result) string {
		if x.P95MS == 0 {
			return "–"
		}
		return ms(x.P5MS) + " – " + ms(x.P95MS)
	},
	"msOrDash": msOrDash, "join": func(list []string) string { return strings.Join(list, ", ") },
	"percent": func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) },
	"wrong": func(v *float64) string {
		if v == nil {
			return ""
		}
		return fmt.Sprintf("relative error %.1e", *v)
	},
}).Parse(reportText))

func gainCell(v float64) string {
	if v == 0 {
		return "–"
	}
	return number(v) + " (" + class(v) + ")"
}

// page is what report.html shows.
type page struct {
	*Report
	Gains   []Gain
	Figures []pageFigure
	Medium  float64
	High    float64
	Noise   string
	Skips   []Skip
	Device  string
	JSON    template.JS
	// SoftwareNote is shown where a software rasteriser draws.
	SoftwareNote string
}

// pageFigure is a figure of it.
type pageFigure struct {
	Figure
	SVG       template.HTML
	Headlines []Headline
	Results   []Result // over the largest table
	Passes    []pagePasses
	Ties      []string // over the largest table: the case and its pairs of systems
	Mipmap    string
}

// pagePasses is the breakdown of a query of classic.
type pagePasses struct {
	Operation string
	Rows      int
	Routines  []routineTime
}

// WriteHTML writes the report of the paper's figures as one page that needs nothing
// else: the figures are in it, and the report as JSON.
func (r *Report) WriteHTML(w io.Writer) error {
	p := page{Report: r, Gains: r.gains(), Medium: mediumGain, High: highGain, Noise: r.noise(), Skips: r.skips(), Device: r.device(), SoftwareNote: softwareNote}
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

// device names the device and its driver.
func (r *Report) device() string {
	if r.Machine.Device == "" {
		return "none"
	}
	return r.Machine.Device + ", OpenGL " + r.Machine.Driver
}

func (r *Report) pageFigure(f Figure) (pageFigure, error) {
	p := pageFigure{Figure: f}
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
			p.Headlines = append(p.Headlines, h)
		}
	}
	for _, x := range r.Results {
		if x.Figure != f.Number || x.Rows != r.largestRows(x.Operation) {
			continue
		}
		p.Results = append(p.Results, x)
		if x.brokenDown() {
			p.Passes = append(p.Passes, pagePasses{x.Operation, x.Rows, x.routines()})
		}
	}
	for _, c := range r.cases() {
		shown := slices.ContainsFunc(p.Results, func(x Result) bool { return x.Operation == c.operation && x.Rows == c.rows })
		if pairs := r.pairs(c); shown && pairs != "" {
			p.Ties = append(p.Ties, c.operation+" ("+pairs+")")
		}
	}
	if f.Number == mipmapFigure {
		p.Mipmap = r.mipmapSentence()
	}
	return p, nil
}

// largestRows is the size of the largest table over which an operation was measured.
func (r *Report) largestRows(operation string) (rows int) {
	for _, x := range r.Results {
		if x.Operation == operation {
			rows = max(rows, x.Rows)
		}
	}
	return rows
}
