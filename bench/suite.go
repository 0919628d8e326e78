package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// Suite is a named set of cases.
type Suite struct {
	Name string
	Doc  string
	// Rows are the sizes of the tables where the user gives none.
	Rows func(Machine) []int
	// Backends are the systems where the user names none, and Alone says that no peers
	// run beside them then.
	Backends []string
	Alone    bool
	// Operations are the cases of each table.
	Operations []Operation
	// Figures are those that the suite draws; nil for suites of another kind.
	Figures []Figure
	// Files says that the systems are processes, from their start to their end, which read
	// the table from files.
	Files bool
	// summary is what the suite is about, after the times.
	summary func(*Report) []section
}

// Suites lists the suites in the order in which to show them.
func Suites() []Suite {
	small := func(Machine) []int { return []int{1_000, 100_000, 1_000_000, 16_000_000} }
	return []Suite{{
		Name: "operations", Doc: "the paper's operations over up to four attributes, on every backend and peer",
		Rows: small, Backends: allBackends(), Operations: operations, summary: (*Report).ratios,
	}, {
		Name: "auto", Doc: "the backend auto beside the best of the others, case by case",
		Rows: small, Backends: allBackends(), Alone: true, Operations: operations, summary: (*Report).choices,
	}, {
		Name: "targets", Doc: "the speeds that the project has set itself (H200; two cores with DuckDB), beside those measured",
		Rows: func(m Machine) []int {
			if m.Software {
				return []int{softwareRows}
			}
			return []int{smallHardwareRows, hardwareRows}
		},
		Backends: allBackends(), Operations: slices.DeleteFunc(slices.Clone(operations), func(o Operation) bool {
			return !slices.ContainsFunc(Targets(), func(t Target) bool { return t.Operation == o.Name })
		}),
		summary: (*Report).targets,
	}, {
		Name: "paper", Doc: "the evaluation of the 2004 paper: its figures 2 to 10, and 11 for selectivities",
		Rows: func(m Machine) []int {
			if m.Software {
				return ladder(1_000_000)
			}
			return ladder(1 << 28)
		},
		Backends: []string{classic, "fused", "compute", "cpu"}, Operations: figureOperations, Figures: figures,
		summary: (*Report).evaluation,
	}, {
		Name: "load", Doc: "whole processes, from their start to their end, that read a file and answer",
		Rows: func(m Machine) []int {
			if m.Software {
				return []int{1_000_000, softwareRows}
			}
			return []int{120_000_000}
		},
		Backends: []string{"cpu", "compute", "auto"}, Operations: loadOperations, Files: true, summary: (*Report).ratios,
	}}
}

// FindSuite returns the suite of that name.
func FindSuite(name string) (Suite, error) {
	var names []string
	for _, s := range Suites() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Suite{}, fmt.Errorf("no suite %q: there are %s", name, strings.Join(names, ", "))
}

// allBackends lists the backends with auto last.
func allBackends() []string {
	return append(slices.DeleteFunc(engine.Backends(), func(s string) bool { return s == "auto" }), "auto")
}

// OneFigure is the suite with only the figure of that number.
func (s Suite) OneFigure(number int) (Suite, error) {
	s.Figures = slices.DeleteFunc(slices.Clone(s.Figures), func(f Figure) bool { return f.Number != number })
	s.Operations = slices.DeleteFunc(slices.Clone(s.Operations), func(o Operation) bool { return o.figure != number })
	if len(s.Figures) == 0 {
		return s, fmt.Errorf("no figure %d: there are 2 to 11", number)
	}
	return s, nil
}

// Config says how to run a suite. What is empty takes the suite's own choice.
type Config struct {
	Rows     []int          // of the tables; of the suite paper one number is the largest of five
	Backends []string       // of engine.Backends
	Peers    []string       // of Peers; nil for the suite's choice
	Source   Source         // of the tables
	Rounds   int            // 0: what suits the work
	Engine   engine.Options // but for the backend
	Program  string         // the path of stencildb, which suites of files run
	Machine  Machine
	Command  string
	// Progress, when set, is told what is being done.
	Progress func(Progress)

	unnamed bool // whether Peers are the suite's
}

// Progress says what a run does at the moment.
type Progress struct {
	Rows  int    // of the table
	Doing string // "loading into cpu"; of a case its operation
	// Case is its number, from 1, of the Cases of all tables; 0 before the cases of a table.
	Case, Cases int
}

func (p Progress) String() string {
	what := numbers.Grouped(p.Rows) + " rows: "
	if p.Case > 0 {
		what += fmt.Sprintf("case %d of %d, ", p.Case, p.Cases)
	}
	return what + p.Doing
}

// Settled is c with the suite's choices in place of what is empty.
func (c Config) Settled(s Suite) Config {
	if c.Source.Table == nil {
		c.Source = Generated("uniform", 1)
	}
	if s.Files && c.Source.Whole != nil {
		c.Source.Table = c.Source.Whole
	}
	if len(c.Rows) == 0 {
		if c.Rows = s.Rows(c.Machine); c.Source.Rows > 0 {
			c.Rows = []int{c.Source.Rows}
		}
	}
	if len(c.Rows) == 1 && s.Figures != nil {
		c.Rows = ladder(c.Rows[0])
	}
	if len(c.Backends) == 0 {
		c.Backends = s.Backends
	}
	if c.Peers == nil && !s.Alone {
		c.Peers, c.unnamed = Peers(), true
	}
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	return c
}

// reference is the system that ratios are to: the first peer, else cpu, else the
// first backend.
func (c Config) reference() string {
	switch {
	case len(c.Peers) > 0:
		return c.Peers[0]
	case slices.Contains(c.Backends, "cpu"):
		return "cpu"
	}
	return c.Backends[0]
}

// Run runs the suite. Where ctx ends it, the report of what was measured until then
// comes with the error.
func (s Suite) Run(ctx context.Context, c Config) (*Report, error) {
	c = c.Settled(s)
	r := &Report{
		Schema: Schema, Suite: s.Name, Command: c.Command, Date: time.Now().UTC().Truncate(time.Second),
		Machine: c.Machine, Data: c.Source.Data, Reference: c.reference(), Order: byCase,
		Results: []Result{}, Skipped: []Skip{},
	}
	err := s.runTables(ctx, c, r)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	r.Interrupted = err != nil
	if s.Figures != nil {
		r.finishFigures()
	} else {
		r.setRatios()
	}
	return r, err
}

func (s Suite) runTables(ctx context.Context, c Config, r *Report) error {
	tables := slices.Clone(c.Rows)
	if n := rankedRows(c.Rows); !slices.Contains(tables, n) && slices.ContainsFunc(s.Operations, func(o Operation) bool { return o.over == rankedTable }) {
		tables = append(tables, n)
	}
	if s.Figures != nil {
		slices.Sort(tables)
	}
	operations := func(rows int) []Operation {
		return slices.DeleteFunc(slices.Clone(s.Operations), func(o Operation) bool { return !o.runsOver(rows, c.Rows) })
	}
	cases, begun := 0, 0
	for _, rows := range tables {
		cases += len(operations(rows))
	}
	for _, rows := range tables {
		f := &field{Config: c, rows: rows, operations: operations(rows), figures: s.Figures != nil, ofFiles: s.Files, report: r}
		f.tell = func(doing string, number int) {
			if number > 0 {
				number += begun
			}
			c.Progress(Progress{rows, doing, number, cases})
		}
		if err := errors.Join(f.run(ctx), f.close()); err != nil {
			return err
		}
		begun += len(f.operations)
	}
	return nil
}

// allSystems is the system of a [Skip] that is of the table.
const allSystems = "all systems"

// field is the systems that contend over one table, and the operations in which they do.
type field struct {
	Config
	rows       int
	operations []Operation
	figures    bool // the systems are those of the paper's figures
	ofFiles    bool // the systems are processes
	report     *Report
	tell       func(doing string, number int) // of progress

	table   *table.Table
	folder  string // of its files, where systems are processes
	rig     *rig   // which systems share, where one of them needs it
	systems []System
}

// run measures the cases over the table and adds them to the report.
func (f *field) run(ctx context.Context) (err error) {
	f.tell("making the table", 0)
	if f.table, err = f.Source.Table(ctx, f.rows); err != nil {
		return err
	}
	facts, err := survey(ctx, f.table)
	if err != nil {
		return err
	}
	f.report.Data.Attributes = nil
	for _, field := range f.table.Fields {
		f.report.Data.Attributes = append(f.report.Data.Attributes, field.Name)
	}
	if err := f.enter(ctx); err != nil {
		return err
	}
	if !f.ofFiles {
		f.tell("measuring the floor of the device", 0)
		if err := f.measureFloor(ctx); err != nil {
			return err
		}
	}
	var trials []Trial
	for _, op := range f.operations {
		t, err := f.trial(ctx, op, facts)
		if err != nil {
			return err
		}
		if len(t.Contenders) > 0 {
			trials = append(trials, t)
		}
	}
	m := Meter{Rounds: f.Rounds, Progress: func(t *Trial, number int) { f.tell(t.Operation, number) }}
	if f.figures {
		m.Least, m.Share, m.Together, m.ColdRuns = 2*fewest, 150*time.Millisecond, 250*time.Millisecond, 3
	}
	if f.ofFiles {
		m.Least, m.cpu = 2*fewest, childrenTime
	}
	results, skipped, err := m.Measure(ctx, trials)
	f.report.Results, f.report.Skipped = append(f.report.Results, results...), append(f.report.Skipped, skipped...)
	if err != nil || f.ofFiles {
		return err
	}
	return f.measureFloor(ctx)
}

// skip notes that a system does not run an operation.
func (f *field) skip(op Operation, system, reason string) {
	f.report.Skipped = append(f.report.Skipped, Skip{Case{op.Name, f.rows}, system, reason})
}

// enter opens the systems that have something to run, which load the table.
func (f *field) enter(ctx context.Context) error {
	names := f.Backends
	if f.figures {
		names = figureSystems(names)
	}
	if f.ofFiles {
		if err := f.writeFiles(ctx); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(names, f.Peers) {
		theirs := slices.DeleteFunc(slices.Clone(f.operations), func(op Operation) bool { return !op.takes(name) })
		most := peers[name].most
		if f.figures {
			most /= 4 // there are more tables, and more cases
		}
		if f.unnamed && most > 0 && f.rows > most {
			for _, op := range theirs {
				f.skip(op, name, fmt.Sprintf("beyond %s rows only where --peers names it", numbers.Grouped(most)))
			}
			continue
		}
		if len(theirs) == 0 {
			continue
		}
		f.tell("loading into "+name, 0)
		s, err := f.open(ctx, name)
		if err != nil {
			return err
		}
		s.Name = name
		f.systems = append(f.systems, s)
	}
	return nil
}

func (f *field) open(ctx context.Context, name string) (System, error) {
	if f.ofFiles {
		return f.process(name), nil
	}
	if p, ok := peers[name]; ok {
		return p.open(ctx, f.table)
	}
	if !f.figures {
		return openBackend(name, f.Engine, f.table)
	}
	switch name {
	case "cpu":
		return overPlans(f.table, onCPU()), nil
	case cpuScalar:
		return overPlans(f.table, onCPU(cpu.WithoutSIMD)), nil
	case quickSelect:
		return overPlans(f.table, quickselect), nil
	}
	if figureBackends[name] == "" {
		return System{}, fmt.Errorf("the figures have no system %s: leave it out", name)
	}
	if f.rig == nil {
		gpu, err := engine.OpenGPU(glctx.Options{Device: f.Engine.Device, Memory: f.Engine.GPUMemory})
		if err != nil {
			return System{}, err
		}
		f.rig = &rig{gpu}
	}
	return overPlans(f.table, f.rig.prepare(name)), nil
}

func (f *field) close() (err error) {
	for _, s := range f.systems {
		if s.Close != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if f.rig != nil {
		err = errors.Join(err, f.rig.Close())
	}
	if f.folder != "" {
		err = errors.Join(err, os.RemoveAll(f.folder))
	}
	return err
}

// trial prepares one operation on the systems that take it; it has no contenders where
// the table does not do for it.
func (f *field) trial(ctx context.Context, op Operation, facts *facts) (t Trial, err error) {
	t = Trial{Case: Case{op.Name, f.rows}, Figure: op.figure, X: float64(f.rows)}
	q := Query{Cannot: facts.lacks(op)}
	if q.Cannot == "" {
		q = op.query(facts)
	}
	if q.Cannot != "" {
		f.skip(op, allSystems, q.Cannot)
		return t, nil
	}
	if t.SQL = q.SQL; op.x != nil {
		t.X = op.x(facts)
	}
	if t.Expected, err = expected(ctx, f.table, q); ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		f.skip(op, allSystems, err.Error()) // the data: a sum out of range, say
		return t, nil
	}
	for _, s := range f.systems {
		if !op.takes(s.Name) {
			continue
		}
		if _, ok := peers[s.Name]; ok && q.Alone != "" {
			f.skip(op, s.Name, q.Alone)
			continue
		}
		c, err := s.Prepare(ctx, q)
		switch {
		case errors.Is(err, ErrCannot):
			f.skip(op, s.Name, err.Error())
		case err != nil:
			return t, err
		default:
			c.System = s.Name
			t.Contenders = append(t.Contenders, c)
		}
	}
	return t, nil
}

// expected is the answer of package cpu, without vector instructions.
func expected(ctx context.Context, t *table.Table, q Query) (Answer, error) {
	c, err := overPlans(t, onCPU(cpu.WithoutSIMD)).Prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	out, err := c.Run(ctx)
	return out.Answer, err
}
