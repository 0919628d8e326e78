package bench

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/stencildb/stencildb/internal/numbers"
)

// section is a part of a report, which is shown as text and as HTML: a table, whose
// first row is its head, and what is said below it.
type section struct {
	Title string
	Rows  [][]string
	// Words is the number of columns after the first that stand to the left.
	Words int
	Notes []string
}

// add adds a line of the table.
func (s *section) add(cells ...string) { s.Rows = append(s.Rows, cells) }

// writeSections writes what there is for people: a section without lines is left out.
func writeSections(w io.Writer, list ...section) error {
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

// tabulate writes the table, numbers to the right.
func (s section) tabulate(w io.Writer) error {
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

// number writes two or three significant digits.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	case x >= 0.1:
		return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", x), "0"), ".0")
	}
	return fmt.Sprintf("%.2g", x)
}

// span writes an interval, with as many digits as tell its ends apart, up to four.
func span(lo, hi float64) string {
	from, to := number(lo), number(hi)
	if from == to {
		from, to = fmt.Sprintf("%.4g", lo), fmt.Sprintf("%.4g", hi)
	}
	return from + " – " + to
}

// orDash writes what was measured.
func orDash(x float64, write func(float64) string) string {
	if x == 0 {
		return "–"
	}
	return write(x)
}

// spread writes half the distance from the 5th to the 95th percentile, relative to
// the median; nothing where there were too few rounds.
func spread(median, p5, p95 float64) string {
	if p95 == 0 {
		return ""
	}
	return fmt.Sprintf(" ±%.0f%%", 50*(p95-p5)/median)
}

// device names the device and its driver.
func (r *Report) device() string {
	if r.Machine.Device == "" {
		return "none"
	}
	return r.Machine.Device + ", OpenGL " + r.Machine.Driver
}

// WriteText writes the report for people: the machine, the medians of each table,
// and the summary of the suite.
func (r *Report) WriteText(w io.Writer) error {
	list, err := r.sections()
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
	return writeSections(w, append(list, r.notRun())...)
}

// sections are the times, and what the suite is about.
func (r *Report) sections() (list []section, err error) {
	summary := (*Report).ratios
	if r.Suite == own {
		list = append(list, r.statements())
	} else if s, err := FindSuite(r.Suite); err == nil {
		summary = s.summary
	} else {
		return nil, err
	}
	switch {
	case r.Protocol == fresh:
		list = append(list, r.protocols()...)
	case !r.suite().Experiments(): // which have a table a figure
		list = append(list, r.grids("median ms ± half of the 5th to 95th percentile, of n runs", func(x *Result) string {
			return fmt.Sprintf("%s%s n%d%s", ms(x.MedianMS), spread(x.MedianMS, x.P5MS, x.P95MS), len(x.MS), x.helped())
		})...)
	}
	if r.Machine.Software && !r.suite().Experiments() { // the CPU does all the work
		list = append(list, r.grids("median processor time in ms, all threads together", func(x *Result) string { return ms(x.MedianCPU) })...)
	}
	if r.Suite == own && r.Protocol != fresh {
		list = append(list, r.cold()...)
	}
	if list = append(list, summary(r)...); len(r.Estimates) > 0 {
		list = append(list, r.estimated())
	}
	return list, nil
}

// grids are tables of cells for each number of rows: a line an operation, a column a
// system.
func (r *Report) grids(title string, cell func(*Result) string) (list []section) {
	rows := -1
	cases := r.cases()
	if r.Suite == own { // table by table
		slices.SortStableFunc(cases, func(a, b Case) int { return cmp.Compare(a.Rows, b.Rows) })
	}
	for _, c := range cases {
		if c.Rows != rows {
			rows = c.Rows
			list = append(list, section{Title: numbers.Count(rows, "row", "rows") + ", " + title, Rows: [][]string{append([]string{"operation"}, r.systems()...)}})
		}
		line := []string{c.Operation}
		for _, s := range r.systems() {
			text := "–"
			if x := r.find(c, s); x != nil {
				text = cell(x)
			}
			line = append(line, text)
		}
		list[len(list)-1].add(line...)
	}
	return list
}

// cold are the times with the upload of the columns, where there are some.
func (r *Report) cold() []section {
	colds := *r
	colds.Results = slices.DeleteFunc(slices.Clone(r.Results), func(x Result) bool { return x.ColdMS == 0 })
	return colds.grids("median ms with the upload of the columns, which the device has not seen", func(x *Result) string { return orDash(x.ColdMS, ms) })
}

// protocols are the times of the fresh protocol: with new parameters, of the statement that is repeated, and of a first execution.
func (r *Report) protocols() (list []section) {
	for _, rows := range distinct(r.Results, func(x Result) int { return x.Rows }) {
		s := section{Title: numbers.Count(rows, "row", "rows") + ", median ms ± half of the 5th to 95th percentile",
			Notes: []string{"new: n texts with parameters that were not asked before, from the text to the last row. repeated: the prepared statement again, in the same rounds.",
				"cold: the first execution in a process, nothing on the device and no program compiled; of another database the first there."},
			Words: 1, Rows: [][]string{{"operation", "system", "new", "n", "repeated", "cold", "new / repeated"}}}
		compiled, runs := 0, 0
		var which []string
		for _, x := range r.Results {
			if x.Rows != rows {
				continue
			}
			again, times := "–", "–"
			if x.RepeatedMS > 0 {
				p5, p95 := spreadOf(x.Repeated)
				again, times = ms(x.RepeatedMS)+spread(x.RepeatedMS, p5, p95), number(x.MedianMS/x.RepeatedMS)
				runs += len(x.MS)
			}
			s.add(x.Operation, x.System+x.helped(), ms(x.MedianMS)+spread(x.MedianMS, x.P5MS, x.P95MS), strconv.Itoa(len(x.MS)), again, orDash(x.ColdMS, ms), times)
			if n := len(slices.DeleteFunc(slices.Clone(x.Compiled), func(n int) bool { return n == 0 })); n > 0 {
				compiled += n
				which = append(which, fmt.Sprintf("%s on %s in %d of %d", x.Operation, x.System, n, len(x.MS)))
			}
		}
		if compiled == 0 {
			s.Notes = append(s.Notes, "No draw that is counted made a GL program.")
		} else {
			s.Notes = append(s.Notes, fmt.Sprintf("%d of %s made GL programs, whose time is counted: %s.", compiled, numbers.Count(runs, "draw that is counted", "draws that are counted"), strings.Join(which, ", ")))
		}
		list = append(list, s)
	}
	return list
}

// newRatio and repeatedRatio are a result's ratio to the reference.
func newRatio(x *Result) *Ratio      { return x.Ratio }
func repeatedRatio(x *Result) *Ratio { return x.RepeatedRatio }

// ratios are every system's time over the reference's.
func (r *Report) ratios() []section {
	grid := func(title string, of func(*Result) *Ratio) []section {
		return r.grids(title+" over that of "+r.Reference+", median of rounds ± half of the 5th to 95th percentile", func(x *Result) string {
			ratio := of(x)
			switch {
			case ratio == nil:
				return "?"
			case x.System == r.Reference:
				return "1"
			}
			return fmt.Sprintf("%.3f%s", ratio.Median, spread(ratio.Median, ratio.P5, ratio.P95))
		})
	}
	if r.Protocol == fresh {
		return append(grid("new parameters, time", newRatio), grid("repeated, time", repeatedRatio)...)
	}
	return grid("time", newRatio)
}

// means are the ratios, and of each system their geometric mean and the largest.
func (r *Report) means() []section {
	list := r.ratios()
	s := section{Title: "of all these ratios", Rows: [][]string{{"system", "rows", "operations", "geometric mean", "largest", "which"}}}
	of := map[string]func(*Result) *Ratio{"": newRatio}
	kinds := []string{""}
	if r.Protocol == fresh {
		kinds, of = []string{"new", "repeated"}, map[string]func(*Result) *Ratio{"new": newRatio, "repeated": repeatedRatio}
		s.Words, s.Rows[0] = 1, slices.Insert(s.Rows[0], 1, "parameters")
	}
	for _, rows := range distinct(r.Results, func(x Result) int { return x.Rows }) {
		for _, system := range r.systems() {
			for _, kind := range kinds {
				n, logs, largest, which := 0, 0.0, 0.0, ""
				for i := range r.Results {
					x := &r.Results[i]
					ratio := of[kind](x)
					if x.Rows != rows || x.System != system || ratio == nil || system == r.Reference {
						continue
					}
					n, logs = n+1, logs+math.Log(ratio.Median)
					if ratio.Median > largest {
						largest, which = ratio.Median, x.Operation
					}
				}
				if n == 0 {
					continue
				}
				line := []string{system, numbers.Grouped(rows), strconv.Itoa(n), number(math.Exp(logs / float64(n))), number(largest), which}
				if kind != "" {
					line = slices.Insert(line, 1, kind)
				}
				s.add(line...)
			}
		}
	}
	return append(list, s)
}

// notRun lists what was not run, one a table, system and reason.
func (r *Report) notRun() section {
	type why struct {
		rows           int
		system, reason string
	}
	key := func(s Skip) why { return why{s.Rows, s.System, s.Reason} }
	list := section{Title: "Not run"}
	for _, k := range distinct(r.Skipped, key) {
		var operations []string
		for _, s := range r.Skipped {
			if key(s) == k {
				operations = append(operations, s.Operation)
			}
		}
		list.Notes = append(list.Notes, fmt.Sprintf("  %s, %s: %s: %s", k.system, numbers.Count(k.rows, "row", "rows"), strings.Join(operations, ", "), k.reason))
	}
	return list
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
		for _, of := range []struct {
			which string
			times []float64
		}{{"new", x.MS}, {"repeated", x.Repeated}} {
			parameters := ""
			if r.Protocol == fresh {
				parameters = "/parameters=" + of.which
			}
			for _, t := range of.times {
				_, err := fmt.Fprintf(w, "Benchmark%s/op=%s/rows=%d%s/system=%s-%d 1 %.0f ns/op\n", capital(r.Suite), x.Operation, x.Rows, parameters, x.System, r.Machine.GOMAXPROCS, t*1e6)
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
