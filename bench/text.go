package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/stencildb/stencildb/internal/numbers"
)

// ms writes milliseconds with three or four significant digits.
func ms(x float64) string {
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

// WriteText writes the report for people: the machine, the medians of each table,
// and the summary of the suite.
func (r *Report) WriteText(w io.Writer) error {
	s, err := FindSuite(r.Suite)
	if err != nil {
		return err
	}
	m := r.Machine
	fmt.Fprintf(w, "Suite    %s\n", r.Suite)
	fmt.Fprintf(w, "Data     %v\n", r.Data)
	fmt.Fprintf(w, "Device   %s\n", r.device())
	fmt.Fprintf(w, "CPU      %s, %d cores, GOMAXPROCS %d, load average %.1f\n", m.CPU, m.Cores, m.GOMAXPROCS, m.LoadAverage)
	fmt.Fprintf(w, "Built    %s, %s, commit %s\n", m.Go, m.OS, m.Commit)
	fmt.Fprintf(w, "Run      %s, %s\n", r.Date.Format("2006-01-02 15:04 MST"), r.Command)
	if r.Interrupted {
		fmt.Fprintln(w, "\nThe run was interrupted; what was measured until then is complete.")
	}
	if err := r.writeTimes(w); err != nil {
		return err
	}
	if err := s.Summary(w, r); err != nil {
		return err
	}
	return r.writeSkipped(w)
}

// tabulate writes rows of cells in columns, all but the first to the right.
func tabulate(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		// Cells end in tabs; a first cell of equal widths stands to the left.
		fmt.Fprintf(t, "%-*s\t%s\t\n", width, row[0], strings.Join(row[1:], "\t"))
	}
	return t.Flush()
}

// grid writes one table a number of rows: a line an operation, a column a system.
func (r *Report) grid(w io.Writer, title string, cell func(*Result) string) error {
	systems := r.systems()
	var out [][]string
	rows := -1
	flush := func() error {
		if len(out) == 0 {
			return nil
		}
		fmt.Fprintf(w, "\n%s rows, %s\n", numbers.Grouped(rows), title)
		return tabulate(w, out)
	}
	for _, c := range r.cases() {
		if c.rows != rows {
			if err := flush(); err != nil {
				return err
			}
			rows, out = c.rows, [][]string{append([]string{"operation"}, systems...)}
		}
		line := []string{c.operation}
		for _, s := range systems {
			text := "–"
			if x := r.Find(c.operation, c.rows, s); x != nil {
				text = cell(x)
			}
			line = append(line, text)
		}
		out = append(out, line)
	}
	return flush()
}

// spread writes half the distance from the 5th to the 95th percentile, relative to
// the median; nothing where there were too few rounds.
func spread(median, p5, p95 float64) string {
	if p95 == 0 {
		return ""
	}
	return fmt.Sprintf("±%.0f%%", 50*(p95-p5)/median)
}

// writeTimes writes the medians, and where the CPU does all the work those of its
// time.
func (r *Report) writeTimes(w io.Writer) error {
	err := r.grid(w, "median ms ± half of the 5th to 95th percentile", func(x *Result) string {
		return strings.TrimSpace(ms(x.MedianMS) + " " + spread(x.MedianMS, x.P5MS, x.P95MS))
	})
	if err != nil || !r.Machine.Software {
		return err
	}
	return r.grid(w, "median processor time in ms, all threads together", func(x *Result) string { return ms(x.MedianCPU) })
}

// writeRatios writes every system's time over the reference's.
func writeRatios(w io.Writer, r *Report) error {
	return r.grid(w, "time over that of "+r.Reference+", median of rounds ± half of the 5th to 95th percentile", func(x *Result) string {
		switch {
		case x.Ratio == nil:
			return "?"
		case x.System == r.Reference:
			return "1"
		}
		return strings.TrimSpace(fmt.Sprintf("%.3f %s", x.Ratio.Median, spread(x.Ratio.Median, x.Ratio.P5, x.Ratio.P95)))
	})
}

// skips lists what was not run, one a table, system and reason: its Operation holds
// all of them.
func (r *Report) skips() []Skip {
	var list []Skip
	for _, s := range r.Skipped {
		i := slices.IndexFunc(list, func(l Skip) bool { return l.Rows == s.Rows && l.System == s.System && l.Reason == s.Reason })
		if i < 0 {
			list = append(list, s)
		} else {
			list[i].Operation += ", " + s.Operation
		}
	}
	return list
}

// writeSkipped lists what was not run.
func (r *Report) writeSkipped(w io.Writer) error {
	skips := r.skips()
	if len(skips) > 0 {
		fmt.Fprintln(w, "\nNot run")
	}
	for _, s := range skips {
		if _, err := fmt.Fprintf(w, "  %s, %s rows: %s: %s\n", s.System, numbers.Grouped(s.Rows), s.Operation, s.Reason); err != nil {
			return err
		}
	}
	return nil
}

// WriteGo writes the report in Go's benchmark format, a line a timed run, for
// benchstat.
func (r *Report) WriteGo(w io.Writer) error {
	goos, goarch, _ := strings.Cut(r.Machine.OS, "/")
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: github.com/stencildb/stencildb/bench\ncpu: %s\n", goos, goarch, r.Machine.CPU)
	if r.Machine.Device != "" {
		fmt.Fprintf(w, "device: %s\n", r.Machine.Device)
	}
	fmt.Fprintf(w, "commit: %s\n", r.Machine.Commit)
	for _, x := range r.Results {
		for _, t := range x.MS {
			_, err := fmt.Fprintf(w, "Benchmark%s/op=%s/rows=%d/system=%s-%d 1 %.0f ns/op\n",
				strings.ToUpper(r.Suite[:1])+r.Suite[1:], x.Operation, x.Rows, x.System, r.Machine.GOMAXPROCS, t*1e6)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
