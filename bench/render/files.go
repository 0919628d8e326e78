package render

import (
	"cmp"
	"encoding/csv"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/papers/lab"
)

// WriteFigures writes figure-NN.svg, .png and .csv for each figure that was measured (of statements
// SUITE.svg, and q1.svg, ... over tables of several sizes),
// and report.html, into a folder; of a report without figures nothing.
func (r Page) WriteFigures(dir string) error {
	figures := r.Figures()
	if len(figures) == 0 {
		return nil
	}
	for _, f := range figures {
		for _, file := range []struct {
			extension string
			write     func(io.Writer) error
		}{
			{"svg", func(w io.Writer) error { return r.SVG(f, w) }},
			{"png", func(w io.Writer) error { return r.PNG(f, w) }},
			{"csv", func(w io.Writer) error { return r.CSV(f, w) }},
		} {
			if file.extension != "csv" && len(r.Panels(f)) == 0 { // a table
				continue
			}
			if err := files.Write(filepath.Join(dir, f.File()+"."+file.extension), file.write); err != nil {
				return err
			}
		}
	}
	return files.Write(filepath.Join(dir, "report.html"), r.WriteHTML)
}

// CSV writes every point of a figure, a line a system and case.
func (r Page) CSV(f lab.Figure, out io.Writer) error {
	w := csv.NewWriter(out)
	lines := [][]string{{"figure", "operation", "x", "rows", "system", "runs", "median_ms", "p5_ms", "p95_ms", "min_ms",
		"median_cpu_ms", "median_gpu_ms", "median_cold_ms", "cold_runs", "over_floor", "error", "wrong", "median_repeated_ms", "on_cpu", "work", "unit", "sections and counters"}}
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	for _, x := range r.Results {
		if !shows(f, x) {
			continue
		}
		off, wrong := "", ""
		if x.Error != nil {
			off = strconv.FormatFloat(*x.Error, 'g', 3, 64)
		}
		if x.Wrong != nil {
			wrong = strconv.Itoa(*x.Wrong)
		}
		lines = append(lines, []string{cmp.Or(string(x.Figure), "0"), x.Operation, strconv.FormatFloat(cmp.Or(x.X, float64(x.Rows)), 'f', -1, 64), strconv.Itoa(x.Rows), x.System,
			strconv.Itoa(len(x.MS)), number(x.MedianMS), number(x.P5MS), number(x.P95MS), number(x.MinMS),
			number(x.MedianCPU), number(x.MedianGPU), number(x.ColdMS), strconv.Itoa(len(x.Cold)), number(x.OfFloor), off, wrong, number(x.RepeatedMS), strings.Join(x.OnCPU, " "),
			number(x.Work), x.Unit, details(&x)})
	}
	return w.WriteAll(lines)
}

// counters are those of a result, "reads 24, steps 8".
func counters(r *report.Result) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(r.Counters)) {
		list = append(list, name+" "+strconv.FormatFloat(r.Counters[name], 'g', 6, 64))
	}
	return strings.Join(list, "; ")
}
