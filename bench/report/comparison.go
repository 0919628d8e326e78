package report

import (
	"cmp"
	"fmt"
	"io"

	"github.com/stencildb/stencildb/internal/numbers"
)

// Change is what became of one system's time in one case from one report to another.
type Change struct {
	Case
	System string
	A, B   float64 // medians in ms
	Ratio  float64 // B / A
	Lo, Hi float64 // 95 % interval of Ratio; 0, 0 where a report has too few rounds for one
}

// Comparison sets two reports beside each other.
type Comparison struct {
	Differ       []string // what differs about the runs: "CPU: A, B"
	Changes      []Change
	OnlyA, OnlyB []Result // cases that only one report has
}

// Compare compares the cases that both reports have.
func Compare(a, b *Report) Comparison {
	c := Comparison{Differ: Differences(a, b)}
	for i := range a.Results {
		x := &a.Results[i]
		y := b.FindCase(x.Case, x.System)
		if y == nil {
			c.OnlyA = append(c.OnlyA, *x)
			continue
		}
		lo, hi := RatioInterval(x.MS, y.MS)
		c.Changes = append(c.Changes, Change{x.Case, x.System, x.MedianMS, y.MedianMS, y.MedianMS / x.MedianMS, lo, hi})
	}
	for _, y := range b.Results {
		if a.FindCase(y.Case, y.System) == nil {
			c.OnlyB = append(c.OnlyB, y)
		}
	}
	return c
}

// Differences says what else than the program's commit differs between the runs.
func Differences(a, b *Report) []string {
	var list []string
	for _, x := range []struct{ what, a, b string }{
		{"device", a.Machine.Device, b.Machine.Device},
		{"driver", a.Machine.Driver, b.Machine.Driver},
		{"CPU", a.Machine.CPU, b.Machine.CPU},
		{"GOMAXPROCS", fmt.Sprint(a.Machine.GOMAXPROCS), fmt.Sprint(b.Machine.GOMAXPROCS)},
		{"Go", a.Machine.Go, b.Machine.Go},
		{"data", fmt.Sprint(a.Data), fmt.Sprint(b.Data)},
		{"protocol", cmp.Or(a.Protocol, "repeated"), cmp.Or(b.Protocol, "repeated")},
	} {
		if x.a != x.b {
			list = append(list, fmt.Sprintf("%s: %s, %s", x.what, x.a, x.b))
		}
	}
	return list
}

// Verdict says in a word what changed by more than the threshold, a fraction, beyond noise. It is "slower",
// "faster" or "" ("too few rounds" where that cannot be said).
func (c Change) Verdict(threshold float64) string {
	switch {
	case c.Hi == 0:
		return TooFewRounds
	case c.Lo > 1+threshold:
		return "slower"
	case c.Hi < 1/(1+threshold):
		return "faster"
	}
	return ""
}

// Write writes the comparison for people. Changes within the threshold, a fraction,
// or within noise are not named.
func (c Comparison) Write(w io.Writer, threshold float64) error {
	for _, d := range c.Differ {
		fmt.Fprintf(w, "differs in %s\n", d)
	}
	verdicts := map[string]int{}
	s := Section{Rows: [][]string{{"operation", "rows", "system", "A ms", "B ms", "B / A", "95 % interval", ""}}}
	for _, x := range c.Changes {
		verdict, interval := x.Verdict(threshold), "–"
		verdicts[verdict]++
		if verdict != TooFewRounds {
			interval = fmt.Sprintf("%.3f–%.3f", x.Lo, x.Hi)
		}
		s.Add(x.Operation, numbers.Grouped(x.Rows), x.System, FormatMS(x.A), FormatMS(x.B), fmt.Sprintf("%.3f", x.Ratio), interval, verdict)
	}
	if err := s.tabulate(w); err != nil {
		return err
	}
	for _, only := range []struct {
		file string
		list []Result
	}{{"A", c.OnlyA}, {"B", c.OnlyB}} {
		for _, x := range only.list {
			fmt.Fprintf(w, "only in %s: %s, %s rows, %s\n", only.file, x.Operation, numbers.Grouped(x.Rows), x.System)
		}
	}
	_, err := fmt.Fprintf(w, "\n%d cases: %d slower, %d faster by more than %.0f %% beyond noise.\n", len(c.Changes), verdicts["slower"], verdicts["faster"], 100*threshold)
	if n := verdicts[TooFewRounds]; err == nil && n > 0 {
		_, err = fmt.Fprintf(w, "%s with fewer than %d rounds in one of the reports: nothing can be said.\n", numbers.Count(n, "case", "cases"), MinRounds)
	}
	return err
}
