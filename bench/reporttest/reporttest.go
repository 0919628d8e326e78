package reporttest

import (
	"slices"
	"time"

	"github.com/stencildb/stencildb/bench/report"
)

// Report makes a report with a result for each of systems, whose times are those of
// ms.
func Report(suite, operation string, rows int, ms map[string][]float64) *report.Report {
	r := &report.Report{
		Schema: report.Schema, Suite: suite, Command: "stencildb bench", Date: time.Date(2004, 6, 13, 0, 0, 0, 0, time.UTC),
		Machine: report.Machine{CPU: "a CPU", Cores: 2, GOMAXPROCS: 2, Go: "go1.26", OS: "linux/amd64", Commit: "abc", Software: true},
		Data:    report.Data{Name: "uniform", Seed: 1}, Reference: "cpu", Results: []report.Result{}, Skipped: []report.Skip{},
	}
	var names []string
	for name := range ms {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		x := report.Result{Case: report.Case{Operation: operation, Rows: rows}, SQL: "SELECT 1", System: name, Answer: []string{"1"}, Stride: 1, MS: ms[name], CPU: ms[name]}
		x.Summarise()
		r.Results = append(r.Results, x)
	}
	r.SetRatios()
	return r
}

// Add adds the results of another case.
func Add(r *report.Report, operation string, rows int, times map[string][]float64) {
	r.Results = append(r.Results, Report("paper", operation, rows, times).Results...)
}

// Five is a time of five rounds.
func Five(ms float64) []float64 { return slices.Repeat([]float64{ms}, report.MinRounds) }

// Batches is a report of two systems in batches of two sizes, and of the steps of a run.
func Batches() *report.Report {
	r := Report("paper", "search_16", 1_000_000, map[string][]float64{"cpu": Five(0.5), "classic": Five(2), "launch": Five(0.25), "copied": Five(1)})
	Add(r, "search_1024", 1_000_000, map[string][]float64{"cpu": Five(8), "classic": Five(4), "launch": Five(0.25), "copied": Five(3)})
	for i := range r.Results {
		x := &r.Results[i]
		x.Figure, x.Unit, x.Work, x.X = "6", "searches", 16, 16
		if x.Operation == "search_1024" {
			x.Work, x.X = 1024, 1024
		}
		x.Counters = map[string]float64{"reads": 3 * x.Work}
		x.Sections = []report.SectionTime{{Name: "Scan", MS: Five(3), MedianMS: 3}, {Name: "Copy", MS: Five(1), MedianMS: 1}}
	}
	return r
}
