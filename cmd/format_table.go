package cmd

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/numbers"
)

// tableFormat writes tables for people, each with a line below it that says what
// the answer took.
type tableFormat struct {
	*view
	w     *bufio.Writer
	began bool
}

// view says how tables look.
type view struct {
	expanded bool // a line for each value
	untimed  bool // below a table stands the number of rows alone
}

func newTable(w io.Writer, v *view) format {
	f := &tableFormat{view: v, w: newOut(w)}
	return format{rows: f.rows, close: f.w.Flush, out: f.w}
}

// widthRows is the number of rows that the widths of a table are found from.
const widthRows = 1000

func (f *tableFormat) rows(r *engine.Rows) error {
	if f.began {
		f.w.WriteByte('\n')
	}
	f.began = true
	n := 0
	switch {
	case len(r.Columns()) == 0:
	case f.expanded:
		n = f.records(r)
	default:
		n = f.table(r)
	}
	switch {
	case r.Err() != nil:
	case f.untimed:
		f.w.WriteString(counts(len(r.Columns()) > 0, n, r.Stats().Changed) + "\n")
	default:
		f.w.WriteString(footer(len(r.Columns()) > 0, n, r.Stats()) + "\n")
	}
	return f.w.Flush()
}

// records writes a line for each value, and returns the number of rows.
func (f *tableFormat) records(r *engine.Rows) (n int) {
	width := 0
	var names []string
	for _, c := range r.Columns() {
		names = append(names, visible(c.Name))
		width = max(width, text.StringWidth(names[len(names)-1]))
	}
	for r.Next() {
		n++
		fmt.Fprintf(f.w, "─ row %s ─\n", numbers.Grouped(n))
		for i, value := range cells(r) {
			if _, err := f.w.WriteString(text.AlignLeft.Apply(names[i], width) + " │ " + value + "\n"); err != nil {
				return n
			}
		}
	}
	return n
}

// table draws the answer, numbers to the right, and returns the number of rows. Cells
// of later rows that are wider than their column stick out.
func (f *tableFormat) table(r *engine.Rows) (n int) {
	g := grid{w: f.w}
	var header []string
	for _, c := range r.Columns() {
		align := text.AlignLeft
		if c.Type.IsNumeric() {
			align = text.AlignRight
		}
		g.aligns = append(g.aligns, align)
		header = append(header, visible(c.Name))
	}
	first := [][]string{header}
	for len(first) <= widthRows && r.Next() {
		first = append(first, cells(r))
	}
	g.fit(first)
	g.line("┌─", "─┬─", "─┐")
	g.row(header)
	g.line("├─", "─┼─", "─┤")
	for _, row := range first[1:] {
		g.row(row)
	}
	for n = len(first) - 1; r.Next(); n++ {
		if g.row(cells(r)) != nil {
			break
		}
	}
	g.line("└─", "─┴─", "─┘")
	return n
}

func cells(r *engine.Rows) []string {
	var list []string
	for _, v := range r.Values() {
		list = append(list, visible(v.String()))
	}
	return list
}

// grid draws a table line by line. Its writer keeps its error.
type grid struct {
	w      *bufio.Writer
	aligns []text.Align
	widths []int
}

// fit makes the columns as wide as their cells.
func (g *grid) fit(rows [][]string) {
	g.widths = make([]int, len(g.aligns))
	for _, row := range rows {
		for i, c := range row {
			g.widths[i] = max(g.widths[i], text.StringWidth(c))
		}
	}
}

func (g *grid) line(left, middle, right string) {
	var parts []string
	for _, w := range g.widths {
		parts = append(parts, strings.Repeat("─", w))
	}
	g.w.WriteString(left + strings.Join(parts, middle) + right + "\n")
}

func (g *grid) row(cells []string) error {
	for i, c := range cells {
		g.w.WriteString("│ ")
		g.w.WriteString(g.aligns[i].Apply(c, g.widths[i]))
		g.w.WriteByte(' ')
	}
	_, err := g.w.WriteString("│\n")
	return err
}

// counts says how many rows an answer has and a statement has changed: "3 rows", "2 rows changed", or "done".
func counts(table bool, n, changed int) string {
	var parts []string
	if table {
		parts = append(parts, numbers.Count(n, "row", "rows"))
	}
	if changed > 0 {
		parts = append(parts, numbers.Count(changed, "row changed", "rows changed"))
	}
	return cmp.Or(strings.Join(parts, ", "), "done")
}

// footer says what an answer of n rows took: "1 row, classic, 2 passes, 1,234 samples
// counted, 0.412 ms (loading 31.0 ms)".
func footer(table bool, n int, st engine.Stats) string {
	parts := []string{counts(table, n, st.Changed)}
	if st.Backend != "" {
		parts = append(parts, st.Backend)
	}
	if st.Passes > 0 {
		parts = append(parts, numbers.Count(st.Passes, "pass", "passes"), numbers.Count(st.Samples, "sample", "samples")+" counted")
	}
	s := strings.Join(append(parts, duration(st.Elapsed)), ", ")
	if st.Load > 0 {
		s += " (loading " + duration(st.Load) + ")"
	}
	return s
}

func duration(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/1e6)
}
