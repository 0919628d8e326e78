package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Section is a part of a report, which is shown as text and as HTML. It has a table, whose first row is its
// head, and remarks below it.
type Section struct {
	Title string
	Rows  [][]string
	// Words is the number of columns after the first that stand to the left.
	Words int
	Notes []string
}

// Add adds a line of the table.
func (s *Section) Add(cells ...string) { s.Rows = append(s.Rows, cells) }

// tabulate writes the table, numbers to the right.
func (s Section) tabulate(w io.Writer) error {
	left := make([]int, s.Words+1)
	for _, row := range s.Rows {
		for i := range left {
			left[i] = max(left[i], len([]rune(row[i])))
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range s.Rows {
		for i, cell := range row { // cells of equal widths stand to the left
			if i < len(left) {
				cell = fmt.Sprintf("%-*s", left[i], cell)
			}
			fmt.Fprint(t, cell, "\t")
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// WriteSections writes what there is for people: a section without lines is left out.
func WriteSections(w io.Writer, list ...Section) error {
	for _, s := range list {
		if len(s.Rows) <= 1 {
			s.Rows = nil
		}
		if len(s.Rows)+len(s.Notes) == 0 {
			continue
		}
		fmt.Fprintln(w)
		if s.Title != "" {
			fmt.Fprintln(w, s.Title)
		}
		if err := s.tabulate(w); err != nil {
			return err
		}
		if len(s.Rows) > 0 && len(s.Notes) > 0 {
			fmt.Fprintln(w)
		}
		for _, n := range s.Notes {
			if _, err := fmt.Fprintln(w, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// FormatMS writes milliseconds with three or four significant digits.
func FormatMS(x float64) string {
	switch {
	case x < 0.1:
		return fmt.Sprintf("%.4f", x)
	case x < 10:
		return fmt.Sprintf("%.3f", x)
	case x < 1000:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// FormatNumber writes two or three significant digits.
func FormatNumber(x float64) string {
	switch {
	case x < 0:
		return "-" + FormatNumber(-x)
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	case x >= 0.1:
		return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", x), "0"), ".0")
	}
	return fmt.Sprintf("%.2g", x)
}

// FormatInterval writes an interval, with as many digits as tell its ends apart, up to four.
func FormatInterval(lo, hi float64) string {
	from, to := FormatNumber(lo), FormatNumber(hi)
	if from == to {
		from, to = fmt.Sprintf("%.4g", lo), fmt.Sprintf("%.4g", hi)
	}
	return from + " – " + to
}

// OrDash writes what was measured.
func OrDash(x float64, write func(float64) string) string {
	if x == 0 {
		return "–"
	}
	return write(x)
}

// FormatSpread writes half the distance from the 5th to the 95th percentile, relative to
// the median; nothing where there were too few rounds.
func FormatSpread(median, p5, p95 float64) string {
	if p95 == 0 {
		return ""
	}
	return fmt.Sprintf(" ±%.0f%%", 50*(p95-p5)/median)
}

func Capitalise(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// OneLine is a statement as a line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
