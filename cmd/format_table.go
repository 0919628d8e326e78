package cmd

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
)

// tableFormat writes tables: for people, each with a line below it that says what the answer took, or in Markdown.
type tableFormat struct {
	*view
	w        *bufio.Writer
	began    bool
	markdown bool
}

// view says how answers look.
type view struct {
	expanded display
	untimed  bool     // below a table stands the number of rows alone
	headless bool     // without the names of columns
	screen   *os.File // the terminal that shows them; nil for none
}

// display says when an answer has a line for each value, instead of a table.
type display string

// The displays.
const (
	displayOff  display = "off"
	displayOn   display = "on"
	displayAuto display = "auto" // where the table is wider than the terminal
)

var displays = []display{displayOff, displayOn, displayAuto}

// width is how many characters have room in a line of the terminal; 0 for no limit.
func (v *view) width() int {
	if v.screen == nil {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(v.screen.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

func newTable(w io.Writer, v *view, markdown bool) format {
	f := &tableFormat{view: v, w: newOut(w), markdown: markdown}
	return format{rows: f.rows, close: f.w.Flush, out: f.w}
}

// widthRows is the number of rows that the widths of a table are found from.
const widthRows = 1000

func (f *tableFormat) rows(r *engine.Rows) error {
	columns := len(r.Columns()) > 0
	if f.markdown && !columns {
		return nil
	}
	if f.began {
		f.w.WriteByte('\n')
	}
	f.began = true
	n, cut := 0, ""
	switch {
	case !columns:
	case f.expanded == displayOn && !f.markdown:
		n = f.records(r, nil)
	default:
		n, cut = f.table(r)
	}
	switch {
	case r.Err() != nil || f.markdown:
	case f.untimed:
		f.w.WriteString(counts(columns, n, r.Stats().Changed) + cut + "\n")
	default:
		f.w.WriteString(footer(columns, n, r.Stats()) + cut + "\n")
	}
	return f.w.Flush()
}

// records writes a line for each value of the first rows, and of those that are left, and returns their number.
func (f *tableFormat) records(r *engine.Rows, first [][]string) (n int) {
	width := 0
	var names []string
	for _, c := range r.Columns() {
		names = append(names, f.cell(c.Name))
		width = max(width, text.StringWidth(names[len(names)-1]))
	}
	for {
		var row []string
		switch {
		case n < len(first):
			row = first[n]
		case r.Next():
			row = f.cells(r)
		default:
			return n
		}
		n++
		fmt.Fprintf(f.w, "─ row %s ─\n", numbers.Grouped(n))
		for i, value := range row {
			if !f.headless {
				value = text.AlignLeft.Apply(names[i], width) + " │ " + value
			}
			if _, err := f.w.WriteString(value + "\n"); err != nil {
				return n
			}
		}
	}
}

// table draws the answer, numbers to the right, and returns the number of rows, and what is cut of it in words. Cells
// of later rows that are wider than their column stick out, but those of columns that have been cut to the terminal's width.
func (f *tableFormat) table(r *engine.Rows) (n int, cut string) {
	g := grid{w: f.w, markdown: f.markdown}
	var names []string
	for _, c := range r.Columns() {
		align := text.AlignLeft
		if c.Type.IsNumeric() {
			align = text.AlignRight
		}
		g.aligns = append(g.aligns, align)
		names = append(names, f.cell(c.Name))
	}
	first := [][]string{}
	for len(first) < widthRows && r.Next() {
		first = append(first, f.cells(r))
	}
	g.fit(names, first)
	if room := f.width(); room > 0 && g.width() > room && !f.markdown {
		if f.expanded == displayAuto {
			return f.records(r, first), ""
		}
		g.shrink(room, first)
	}
	g.line("┌─", "─┬─", "─┐")
	if !f.headless {
		g.row(names, true)
		g.line("├─", "─┼─", "─┤")
	}
	for _, row := range first {
		g.row(row, false)
	}
	for n = len(first); r.Next(); n++ {
		if g.row(f.cells(r), false) != nil {
			break
		}
	}
	g.line("└─", "─┴─", "─┘")
	return n, g.cut(names)
}

func (f *tableFormat) cells(r *engine.Rows) []string {
	var list []string
	for _, v := range r.Values() {
		list = append(list, f.cell(v.String()))
	}
	return list
}

// cell is a value or a name as it is written.
func (f *tableFormat) cell(s string) string {
	if f.markdown {
		s = strings.NewReplacer("\r\n", "<br>", "\n", "<br>", `\`, `\\`, "|", `\|`).Replace(s)
	}
	return terminal.Visible(s)
}

// grid draws a table line by line, or one in Markdown. Its writer keeps its error.
type grid struct {
	w        *bufio.Writer
	aligns   []text.Align
	widths   []int
	limits   []int  // the widths that cells of columns are cut to; 0 for none; nil where none is cut
	lost     []bool // that cells of columns have been cut
	markdown bool
}

// fit makes the columns as wide as their cells.
func (g *grid) fit(names []string, rows [][]string) {
	g.widths = make([]int, len(g.aligns))
	for i, name := range names {
		g.widths[i] = text.StringWidth(name)
		if g.markdown {
			g.widths[i] = max(g.widths[i], 3) // dashes
		}
	}
	for _, row := range rows {
		for i, c := range row {
			g.widths[i] = max(g.widths[i], text.StringWidth(c))
		}
	}
}

// width is that of a line.
func (g *grid) width() int {
	n := 1
	for _, w := range g.widths {
		n += w + 3
	}
	return n
}

// leastWidth is the width that no column of text is cut below.
const leastWidth = 6

// shrink cuts columns of text, the widest first, so that a line has room, as far as that goes. Numbers are never cut, but the names
// above them.
func (g *grid) shrink(room int, rows [][]string) {
	g.limits, g.lost = make([]int, len(g.widths)), make([]bool, len(g.widths))
	least := make([]int, len(g.widths))
	for i, w := range g.widths {
		least[i] = min(w, leastWidth)
		if g.aligns[i] == text.AlignRight {
			for _, row := range rows {
				least[i] = max(least[i], text.StringWidth(row[i]))
			}
		}
	}
	for over := g.width() - room; over > 0; over-- {
		widest := -1
		for i, w := range g.widths {
			if w > least[i] && (widest < 0 || w > g.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		g.widths[widest]--
		g.limits[widest] = g.widths[widest]
	}
}

// cut says which columns have been cut; "" for none.
func (g *grid) cut(names []string) string {
	var list []string
	for i, lost := range g.lost {
		if lost {
			list = append(list, g.short(names[i], 20))
		}
	}
	if len(list) == 0 {
		return ""
	}
	const most = 4
	if len(list) > most {
		list = append(list[:most], "...")
	}
	return "; cut to the width of the screen: " + strings.Join(list, ", ")
}

// short is the beginning of a text that has room in so many characters.
func (g *grid) short(s string, width int) string {
	if text.StringWidth(s) <= width {
		return s
	}
	n := 0
	for i, r := range s {
		if n += text.RuneWidth(r); n > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

func (g *grid) line(left, middle, right string) {
	if g.markdown {
		if left == "├─" {
			g.rule()
		}
		return
	}
	parts := xslices.Map(g.widths, func(w int) string { return strings.Repeat("─", w) })
	g.w.WriteString(left + strings.Join(parts, middle) + right + "\n")
}

// rule is the line of Markdown that divides names and values, and says where numbers are.
func (g *grid) rule() {
	for i, w := range g.widths {
		end := "-"
		if g.aligns[i] == text.AlignRight {
			end = ":"
		}
		g.w.WriteString("| " + strings.Repeat("-", w-1) + end + " ")
	}
	g.w.WriteString("|\n")
}

// row writes cells, or the names above them.
func (g *grid) row(cells []string, names bool) error {
	bar := "│"
	if g.markdown {
		bar = "|"
	}
	for i, c := range cells {
		if g.limits != nil && g.limits[i] > 0 && text.StringWidth(c) > g.limits[i] && (names || g.aligns[i] == text.AlignLeft) {
			c = g.short(c, g.limits[i])
			g.lost[i] = true
		}
		g.w.WriteString(bar + " ")
		g.w.WriteString(g.aligns[i].Apply(c, g.widths[i]))
		g.w.WriteByte(' ')
	}
	_, err := g.w.WriteString(bar + "\n")
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
