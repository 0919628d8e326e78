package render

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/internal/numbers"
)

// device names the device and its driver.
func (r Page) device() string {
	if r.Machine.Device == "" {
		return "none"
	}
	return r.Machine.Device + ", OpenGL " + r.Machine.Driver
}

// WriteText writes the report for people: the machine, the medians of each table,
// and the summary of the suite.
func (r Page) WriteText(w io.Writer) error {
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
	return report.WriteSections(w, append(list, r.notRun())...)
}

// sections are the times, and what the suite is about.
func (r Page) sections() (list []report.Section, err error) {
	if r.Suite == report.OwnStatements {
		list = append(list, r.statements())
	} else if _, err := evaluation.Find(r.Suite); err != nil {
		return nil, err
	}
	switch {
	case r.Protocol == report.FreshProtocol:
		list = append(list, r.protocols()...)
	case !r.Paper.Experiments: // which have a table a figure
		list = append(list, r.grids("median ms ± half of the 5th to 95th percentile, of n runs", func(x *report.Result) string {
			return fmt.Sprintf("%s%s n%d%s", report.FormatMS(x.MedianMS), report.FormatSpread(x.MedianMS, x.P5MS, x.P95MS), len(x.MS), helped(x))
		})...)
	}
	if r.Machine.Software && !r.Paper.Experiments { // the CPU does all the work
		list = append(list, r.grids("median processor time in ms, all threads together", func(x *report.Result) string { return report.FormatMS(x.MedianCPU) })...)
	}
	if r.Suite == report.OwnStatements && r.Protocol != report.FreshProtocol {
		list = append(list, r.cold()...)
	}
	if list = append(list, r.summary()...); len(r.Estimates) > 0 {
		list = append(list, r.estimated())
	}
	return list, nil
}

// summary is what the suite is about, after the times.
func (r Page) summary() []report.Section {
	switch r.Suite {
	case "auto":
		return r.choices()
	case "targets":
		return r.targets()
	case "functions", "ssb", "tpch":
		return r.ratioMeans()
	}
	switch {
	case r.Paper.Graphics:
		return r.evaluation()
	case r.Paper.Experiments:
		return r.repeated()
	}
	return r.ratios()
}

// grids are tables of cells for each number of rows: a line an operation, a column a
// system.
func (r Page) grids(title string, cell func(*report.Result) string) (list []report.Section) {
	rows := -1
	cases := r.Cases()
	if r.Suite == report.OwnStatements { // table by table
		slices.SortStableFunc(cases, func(a, b report.Case) int { return cmp.Compare(a.Rows, b.Rows) })
	}
	for _, c := range cases {
		if c.Rows != rows {
			rows = c.Rows
			list = append(list, report.Section{Title: numbers.Count(rows, "row", "rows") + ", " + title, Rows: [][]string{append([]string{"operation"}, r.Systems()...)}})
		}
		line := []string{c.Operation}
		for _, s := range r.Systems() {
			text := "–"
			if x := r.FindCase(c, s); x != nil {
				text = cell(x)
			}
			line = append(line, text)
		}
		list[len(list)-1].Add(line...)
	}
	return list
}

// cold are the times with the upload of the columns, where there are some.
func (r Page) cold() []report.Section {
	colds := *r.Report
	colds.Results = slices.DeleteFunc(slices.Clone(r.Results), func(x report.Result) bool { return x.ColdMS == 0 })
	return Of(&colds).grids("median ms with the upload of the columns, which the device has not seen", func(x *report.Result) string { return report.OrDash(x.ColdMS, report.FormatMS) })
}

// protocols are the times of the fresh protocol: with new parameters, of the statement that is repeated, and of a first execution.
func (r Page) protocols() (list []report.Section) {
	for _, rows := range report.Distinct(r.Results, func(x report.Result) int { return x.Rows }) {
		s := report.Section{Title: numbers.Count(rows, "row", "rows") + ", median ms ± half of the 5th to 95th percentile",
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
				p5, p95 := report.Percentiles(x.Repeated)
				again, times = report.FormatMS(x.RepeatedMS)+report.FormatSpread(x.RepeatedMS, p5, p95), report.FormatNumber(x.MedianMS/x.RepeatedMS)
				runs += len(x.MS)
			}
			s.Add(x.Operation, x.System+helped(&x), report.FormatMS(x.MedianMS)+report.FormatSpread(x.MedianMS, x.P5MS, x.P95MS), strconv.Itoa(len(x.MS)), again, report.OrDash(x.ColdMS, report.FormatMS), times)
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
func newRatio(x *report.Result) *report.Ratio      { return x.Ratio }
func repeatedRatio(x *report.Result) *report.Ratio { return x.RepeatedRatio }

// ratios are every system's time over the reference's.
func (r Page) ratios() []report.Section {
	grid := func(title string, of func(*report.Result) *report.Ratio) []report.Section {
		return r.grids(title+" over that of "+r.Reference+", median of rounds ± half of the 5th to 95th percentile", func(x *report.Result) string {
			ratio := of(x)
			switch {
			case ratio == nil:
				return "?"
			case x.System == r.Reference:
				return "1"
			}
			return fmt.Sprintf("%.3f%s", ratio.Median, report.FormatSpread(ratio.Median, ratio.P5, ratio.P95))
		})
	}
	if r.Protocol == report.FreshProtocol {
		return append(grid("new parameters, time", newRatio), grid("repeated, time", repeatedRatio)...)
	}
	return grid("time", newRatio)
}

// ratioMeans are the ratios, and of each system their geometric mean and the largest.
func (r Page) ratioMeans() []report.Section {
	list := r.ratios()
	s := report.Section{Title: "of all these ratios", Rows: [][]string{{"system", "rows", "operations", "geometric mean", "largest", "which"}}}
	of := map[string]func(*report.Result) *report.Ratio{"": newRatio}
	kinds := []string{""}
	if r.Protocol == report.FreshProtocol {
		kinds, of = []string{"new", "repeated"}, map[string]func(*report.Result) *report.Ratio{"new": newRatio, "repeated": repeatedRatio}
		s.Words, s.Rows[0] = 1, slices.Insert(s.Rows[0], 1, "parameters")
	}
	for _, rows := range report.Distinct(r.Results, func(x report.Result) int { return x.Rows }) {
		for _, system := range r.Systems() {
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
				line := []string{system, numbers.Grouped(rows), strconv.Itoa(n), report.FormatNumber(math.Exp(logs / float64(n))), report.FormatNumber(largest), which}
				if kind != "" {
					line = slices.Insert(line, 1, kind)
				}
				s.Add(line...)
			}
		}
	}
	return append(list, s)
}

// notRun lists what was not run, one a table, system and reason.
func (r Page) notRun() report.Section {
	type why struct {
		rows           int
		system, reason string
	}
	key := func(s report.Skip) why { return why{s.Rows, s.System, s.Reason} }
	list := report.Section{Title: "Not run"}
	for _, k := range report.Distinct(r.Skipped, key) {
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
func (r Page) WriteGo(w io.Writer) error {
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
			if r.Protocol == report.FreshProtocol {
				parameters = "/parameters=" + of.which
			}
			for _, t := range of.times {
				_, err := fmt.Fprintf(w, "Benchmark%s/op=%s/rows=%d%s/system=%s-%d 1 %.0f ns/op\n", report.Capitalise(r.Suite), x.Operation, x.Rows, parameters, x.System, r.Machine.GOMAXPROCS, t*1e6)
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
