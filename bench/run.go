package bench

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
)

// Run runs the suite. Where ctx ends it, the report of what was measured until then
// comes with the error.
func (s Suite) Run(ctx context.Context, c Config) (*report.Report, error) {
	c = c.WithDefaults(s)
	r := &report.Report{
		Schema: report.Schema, Suite: s.Name, Command: c.Command, Date: time.Now().UTC().Truncate(time.Second),
		Machine: c.Machine, Data: dataOf(s.Sources(c)), Reference: c.reference(s), Order: report.CaseByCase,
		Results: []report.Result{}, Skipped: []report.Skip{},
	}
	if s.Fresh {
		r.Protocol = report.FreshProtocol
	}
	err := s.runTables(ctx, c, r)
	if err != nil && ctx.Err() == nil && !(s.tables != nil && errors.As(err, new(*meter.DifferError))) {
		return nil, err
	}
	r.Interrupted = err != nil && ctx.Err() != nil
	if s.Figures != nil {
		evaluation.Of(r).Finish()
	} else {
		r.SetRatios()
	}
	return r, err
}

// dataOf is what the tables hold.
func dataOf(list []workload.Source) report.Data {
	d := list[0].Data
	for _, s := range list[1:] {
		d.Name += ", " + s.Data.Name
	}
	return d
}

func (s Suite) runTables(ctx context.Context, c Config, r *report.Report) error {
	if s.experiments != nil {
		return s.runExperiments(ctx, c, r)
	}
	var fields []*tableRun
	var differs error // the first of statements of the user's, which goes beside the report
	cases, begun := 0, 0
	for _, from := range s.Sources(c) {
		for _, f := range s.fields(from, c) {
			fields = append(fields, f)
			cases += len(f.operations)
		}
	}
	for _, f := range fields {
		f.report = r
		f.tell = func(doing string, number int) {
			if number > 0 {
				number += begun
			}
			c.Progress(Progress{f.rows, doing, number, cases})
		}
		err := errors.Join(f.run(ctx), f.close())
		if f.own && errors.As(err, new(*meter.DifferError)) {
			differs, err = cmp.Or(differs, err), nil
		}
		if err != nil {
			return err
		}
		begun += len(f.operations)
	}
	return differs
}

// runExperiments runs the experiments over largest tables of each size.
func (s Suite) runExperiments(ctx context.Context, c Config, r *report.Report) error {
	done := 0
	for _, rows := range c.Rows {
		l := &experimentRun{Config: c, suite: s, rows: rows, report: r}
		l.tell = func(doing string, number int) {
			c.Progress(Progress{rows, doing, done + number, done + len(l.cases)})
		}
		err := l.open()
		if err == nil {
			err = l.run(ctx)
		}
		if err = errors.Join(err, l.close()); err != nil {
			return err
		}
		done += len(l.cases)
	}
	return nil
}

// fields are those over the tables of one source.
func (s Suite) fields(from workload.Source, c Config) (list []*tableRun) {
	if s.tables != nil {
		c.Source, c.Rows = from, c.Sizes(s, from)
	}
	tables := slices.Clone(c.Rows)
	if slices.ContainsFunc(s.Operations, func(o workload.Operation) bool { return o.Over == workload.RankedTable }) && !slices.Contains(tables, workload.RankedRows(c.Rows)) {
		tables = append(tables, workload.RankedRows(c.Rows))
	}
	if s.Graphics {
		slices.Sort(tables)
	}
	for _, rows := range tables {
		operations := slices.DeleteFunc(slices.Clone(s.Operations), func(o workload.Operation) bool {
			return o.From != "" && o.From != from.Data.Name || !o.RunsOver(rows, c.Rows)
		})
		list = append(list, &tableRun{Config: c, rows: rows, operations: operations, figures: s.Graphics, ofFiles: s.Files, own: s.tables != nil, gaps: s.Gaps, fresh: s.Fresh, estimates: s.Estimates})
	}
	return list
}
