package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
)

// ourWays are the ways of a case that are ours, and that a paper's package does not import.
type ourWays func(ctx context.Context, s *lab.Setting, c *lab.Case) ([]lab.Way, error)

// suiteOfPaper is the suite of a paper's experiments.
func suiteOfPaper(p lab.Paper, beside ourWays) Suite {
	return Suite{
		Name: p.Name, Doc: p.Doc, Figures: p.Figures, Alone: true,
		Rows: func(m report.Machine) []int {
			if m.Software {
				return []int{p.Software}
			}
			return []int{p.Here}
		},
		experiments: &p, beside: beside,
	}
}

// Experiments reports whether the suite is a paper's experiments, which have data, systems and sizes of their own.
func (s Suite) Experiments() bool { return s.experiments != nil }

// LargestRows is the number of rows up to which the device and so many bytes of host memory hold what the suite measures on. holder says
// which of both bounds it. It is 0 where nothing does.
func (s Suite) LargestRows(m report.Machine, memory int64) (rows int, holder string) {
	switch {
	case s.experiments != nil:
		return s.experiments.Most(m.Caps, memory)
	case s.Graphics:
		return workload.LargestRows(m.Budget), "the budget of the device, " + glctx.FormatSize(m.Budget) + ","
	}
	return 0, ""
}

// experimentRun is the experiments of a paper over a largest table of some rows: what a [tableRun] is to statements.
type experimentRun struct {
	Config
	suite  Suite
	rows   int
	report *report.Report
	tell   func(doing string, number int)

	setting *lab.Setting
	cases   []lab.Case
}

// open opens the devices and lists the cases.
func (l *experimentRun) open() error {
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
func (l *experimentRun) run(ctx context.Context) error {
	m := meter.Meter{Rounds: l.Rounds, Fixed: report.PaperRuns, Hardware: !l.report.Machine.Software}
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
func (l *experimentRun) measure(ctx context.Context, m *meter.Meter, c *lab.Case) error {
	ways, err := c.Open(ctx)
	if err == nil && l.suite.beside != nil {
		var ours []lab.Way
		ours, err = l.suite.beside(ctx, l.setting, c)
		ways = append(ways, ours...)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	t := meter.Trial{Case: report.Case{Operation: c.Name, Rows: c.Rows}, SQL: c.Doing, Figure: c.Figure, X: c.X, Work: c.Work, Unit: c.Unit}
	for _, w := range ways {
		if w.Cannot != "" {
			l.report.Skipped = append(l.report.Skipped, report.Skip{Case: t.Case, System: w.System, Reason: w.Cannot})
			continue
		}
		t.Contenders = append(t.Contenders, contender(w))
	}
	results, skipped, err := m.Measure(ctx, []meter.Trial{t})
	l.report.Results, l.report.Skipped = append(l.report.Results, results...), append(l.report.Skipped, skipped...)
	return err
}

// contender is a way as the meter takes it: its answer is the digest of its output.
func contender(w lab.Way) meter.Contender {
	c := meter.Contender{System: w.System, Device: w.Device, Apart: w.Partial, Check: w.Check, Counters: w.Counters, Sections: w.Sections, Run: func(ctx context.Context) (meter.Outcome, error) {
		out, err := w.Run(ctx)
		return meter.Outcome{Answer: answer.OfText(out.Digest.String()), Wall: out.Wall, GPU: out.Device}, markUnsupported(err)
	}}
	return c
}

func (l *experimentRun) close() error {
	if l.setting == nil {
		return nil
	}
	return errors.Join(l.setting.End(), lab.Close(l.setting.Devices))
}
