package cmd

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/numbers"
)

// tableFormat writes tables for people, each with a line below it that says what
// the answer took.
type tableFormat struct {
	w     io.Writer
	began bool
}

func (f *tableFormat) result(r *engine.Result) error {
	var b bytes.Buffer
	if f.began {
		b.WriteByte('\n')
	}
	f.began = true
	if len(r.Columns) > 0 {
		b.WriteString(renderTable(r))
		b.WriteByte('\n')
	}
	b.WriteString(footer(r))
	b.WriteByte('\n')
	return writeOnce(f.w, &b)
}

func (f *tableFormat) failed(string, error) error { return nil }
func (f *tableFormat) close() error               { return nil }

// renderTable draws the answer, numbers to the right.
func renderTable(r *engine.Result) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	var header table.Row
	var configs []table.ColumnConfig
	for i, c := range r.Columns {
		header = append(header, visible(c.Name))
		align := text.AlignLeft
		if c.Type.IsNumeric() {
			align = text.AlignRight
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for _, row := range r.Rows {
		var cells table.Row
		for _, v := range row {
			cells = append(cells, visible(v.String()))
		}
		t.AppendRow(cells)
	}
	return t.Render()
}

// footer says what an answer took: "1 row, classic, 2 passes, 1,234 samples
// counted, 0.412 ms (loading 31.0 ms)".
func footer(r *engine.Result) string {
	var parts []string
	if len(r.Columns) > 0 {
		parts = append(parts, numbers.Count(len(r.Rows), "row", "rows"))
	}
	if r.Backend != "" {
		parts = append(parts, r.Backend)
	}
	if r.Passes > 0 {
		parts = append(parts, numbers.Count(r.Passes, "pass", "passes"), numbers.Count(r.Samples, "sample", "samples")+" counted")
	}
	s := strings.Join(append(parts, duration(r.Elapsed)), ", ")
	if r.Load > 0 {
		s += " (loading " + duration(r.Load) + ")"
	}
	return s
}

// duration writes milliseconds with three significant decimals.
func duration(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/1e6)
}
