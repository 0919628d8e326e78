package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
)

// besides are the ways of a case that are ours, and that a paper's package does not import.
type besides func(ctx context.Context, s *lab.Setting, c *lab.Case) ([]lab.Way, error)

// ofPaper is the suite of a paper's experiments.
func ofPaper(p lab.Paper, beside besides) Suite {
	s := Suite{
		Name: p.Name, Doc: p.Doc, Title: p.Title, Hardware: p.Hardware, Notes: p.Notes, Figures: p.Figures, Alone: true,
		Rows: func(m Machine) []int {
			if m.Software {
				return []int{p.Software}
			}
			return []int{p.Here}
		},
		paper: p.Rows, counted: p.Counted, systems: p.Systems, summary: (*Report).repeated, experiments: &p, beside: beside,
	}
	for _, c := range p.Claims {
		s.claims = append(s.claims, claim{Claim: c})
	}
	return s
}

// Experiments reports whether the suite is a paper's experiments, which have data, systems and sizes of their own.
func (s Suite) Experiments() bool { return s.experiments != nil }

// LargestRows is the number of rows up to which the device and so many bytes of host memory hold what the suite measures on, and which of
// both bounds it; 0 where nothing does.
func (s Suite) LargestRows(m Machine, memory int64) (rows int, holder string) {
	switch {
	case s.experiments != nil:
		return s.experiments.Most(m.Caps, memory)
	case s.Graphics:
		return largestRows(m.Budget), "the budget of the device, " + glctx.FormatSize(m.Budget) + ","
	}
	return 0, ""
}

// laboratory is the experiments of a paper over a largest table of some rows: what a [field] is to statements.
type laboratory struct {
	Config
	suite  Suite
	rows   int
	report *Report
	tell   func(doing string, number int)

	setting *lab.Setting
	cases   []lab.Case
}

// enter opens the devices and lists the cases.
func (l *laboratory) enter() error {
	o := glctx.Options{Device: l.Engine.Device, Memory: l.Engine.GPUMemory}
	devices, err := lab.Open(o)
	if err != nil {
		return err
	}
	l.setting = &lab.Setting{Rows: l.rows, Seed: l.Source.Data.Seed, Devices: devices, Options: o, Local: lab.LocalMemory, Asked: func(n lab.Name) bool {
		return slices.ContainsFunc(l.suite.Figures, func(f lab.Figure) bool { return f.Name == n })
	}}
	if l.cases, err = l.suite.experiments.Cases(l.setting); err != nil {
		return err
	}
	l.cases = slices.DeleteFunc(l.cases, func(c lab.Case) bool { return c.Rows < l.From })
	if len(l.cases) == 0 {
		return fmt.Errorf("no case of the suite %s has a table of %d rows or more", l.suite.Name, l.From)
	}
	return nil
}

// run measures the cases, one after the other, and adds them to the report.
func (l *laboratory) run(ctx context.Context) error {
	m := Meter{Rounds: l.Rounds, Fixed: paperRuns, Hardware: !l.report.Machine.Software}
	for i := range l.cases {
		c := &l.cases[i]
		l.tell(c.Name, i+1)
		if err := errors.Join(l.measure(ctx, &m, c), closed(c)); err != nil {
			return err
		}
	}
	return nil
}

func closed(c *lab.Case) error {
	if c.Close == nil {
		return nil
	}
	return c.Close()
}

// measure measures a case.
func (l *laboratory) measure(ctx context.Context, m *Meter, c *lab.Case) error {
	ways, err := c.Open(ctx)
	if err == nil && l.suite.beside != nil {
		var ours []lab.Way
		ours, err = l.suite.beside(ctx, l.setting, c)
		ways = append(ways, ours...)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	t := Trial{Case: Case{c.Name, c.Rows}, SQL: c.Doing, Figure: c.Figure, X: c.X, Work: c.Work, Unit: c.Unit}
	for _, w := range ways {
		if w.Cannot != "" {
			l.report.Skipped = append(l.report.Skipped, Skip{t.Case, w.System, w.Cannot})
			continue
		}
		t.Contenders = append(t.Contenders, contender(w))
	}
	results, skipped, err := m.Measure(ctx, []Trial{t})
	l.report.Results, l.report.Skipped = append(l.report.Results, results...), append(l.report.Skipped, skipped...)
	return err
}

// contender is a way as the meter takes it: its answer is the digest of its output.
func contender(w lab.Way) Contender {
	c := Contender{System: w.System, Device: w.Device, Apart: w.Partial, Check: w.Check, Counters: w.Counters, Sections: w.Sections, Run: func(ctx context.Context) (Outcome, error) {
		out, err := w.Run(ctx)
		return Outcome{Answer: oneText(out.Digest.String()), Wall: out.Wall, GPU: out.Device}, cannot(err)
	}}
	return c
}

func (l *laboratory) close() error {
	if l.setting == nil {
		return nil
	}
	return lab.Close(l.setting.Devices)
}
