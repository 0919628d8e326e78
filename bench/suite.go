package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/papers/lab"
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
	// Figures are those of the paper that the suite repeats; nil for suites of another kind. Title stands above its report,
	// Hardware is what the paper measured on.
	Figures         []lab.Figure
	Title, Hardware string
	// Notes say how its experiments were made: sizes, and what the paper leaves open.
	Notes []string
	// Table is the one that is measured on where the user names none; "" for uniform.
	Table string
	// Graphics says that the systems on the device share one context, and that the clock goes on its thread: those of the 2004
	// paper.
	Graphics bool
	// Files says that the systems are processes, from their start to their end, which read
	// the table from files.
	Files bool
	// Gaps says that a statement that stencildb refuses runs on the peers only.
	Gaps bool
	// Fresh says that each execution has parameters that were not asked before, where the operations can draw some; the prepared
	// statement that is repeated is measured beside it.
	Fresh bool
	// Estimates says that each statement is explained on cpu, too, for the estimates of its plan.
	Estimates bool
	// summary is what the suite is about, after the times.
	summary func(*Report) []section
	paper   int                    // the number of rows of the paper's tables; 0 for none
	counted string                 // what a row is called there: "records"
	systems []lab.System           // in the order of the legend, those that have no look of their own
	claims  []claim                // what the paper says
	remarks func(*Report) []remark // what is said beside
	ladder  func(rows int) []int   // the sizes of the tables up to one of so many rows; nil: that one alone

	experiments *lab.Paper // in the place of operations
	beside      besides    // their ways that are ours
	tables      []Source   // that its statements are written for; nil: that of the run
}

// Sources are the tables of a run of the suite.
func (s Suite) Sources(c Config) []Source {
	if s.tables != nil {
		return s.tables
	}
	return []Source{c.Source}
}

// Suites lists the suites in the order in which to show them.
func Suites() []Suite {
	listed.Do(func() { suites = listSuites() })
	return slices.Clone(suites)
}

// The suites are made once: reports ask for theirs often.
var (
	listed sync.Once
	suites []Suite
)

// WithFigures names the suites that have figures.
func WithFigures() (names []string) {
	for _, s := range Suites() {
		if s.Figures != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// OfPapers names the suites that are experiments of papers.
func OfPapers() (names []string) {
	for _, s := range Suites() {
		if s.Experiments() {
			names = append(names, s.Name)
		}
	}
	return names
}

// suite is that of the report; of a user's statements a suite without anything.
func (r *Report) suite() Suite {
	s, _ := FindSuite(r.Suite)
	return s
}

// reference is the number of rows over which claims are judged.
func (s Suite) reference() int { return cmp.Or(s.paper, 1) }

// records is what a row is called.
func (s Suite) records() string { return cmp.Or(s.counted, "records") }

func listSuites() []Suite {
	return append([]Suite{{
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
		Backends: []string{classic, "fused", "compute", "cpu"}, Operations: figureOperations, Graphics: true, Table: "tcpip",
		Figures: figures, Title: "Fast Computation of Database Operations using Graphics Processors (2004): the evaluation, run again",
		paper: paperRows, ladder: ladder, claims: paperClaims(), remarks: (*Report).paperRemarks, summary: (*Report).evaluation,
	}, {
		Name: "load", Doc: "whole processes, from their start to their end, that read a file and answer",
		Rows: func(m Machine) []int {
			if m.Software {
				return []int{1_000_000, softwareRows}
			}
			return []int{120_000_000}
		},
		Backends: []string{"cpu", "compute", "auto"}, Operations: loadOperations, Files: true, Table: "lineorder", summary: (*Report).ratios,
	}, {
		Name: "relational", Doc: "sorts, groups and joins over tables of --rows each",
		Rows: func(m Machine) []int {
			if m.Software {
				return []int{1_000_000, 16_000_000}
			}
			return []int{1 << 20, 1 << 24, 1 << 26}
		},
		Backends: []string{"cpu", "compute", "auto"}, Operations: relationalOperations(), tables: []Source{relationalSource()}, summary: (*Report).ratios,
	}, {
		Name: "functions", Doc: "every scalar function over --rows values that hardly repeat",
		Rows:     func(Machine) []int { return []int{1_000_000} },
		Backends: []string{"cpu"}, Fresh: true, Gaps: true, Operations: functionOperations(), tables: []Source{functionsSource()}, summary: (*Report).means,
	}, {
		Name: "ssb", Doc: "the thirteen queries of the Star Schema Benchmark; --rows are those of lineorder, 6M at scale 1",
		Rows: func(m Machine) []int {
			if m.Software {
				return []int{ssbLines}
			}
			return []int{20 * ssbLines}
		},
		Backends: []string{"cpu", "compute", "auto"}, Fresh: true, Operations: ssbOperations(), tables: []Source{ssbSource()}, summary: (*Report).means,
	}, {
		Name: "tpch", Doc: "the 22 queries of TPC-H; --rows are those of lineitem, 6M at scale 1",
		Rows: func(m Machine) []int {
			if m.Software {
				return []int{tpchLines}
			}
			return []int{10 * tpchLines}
		},
		Backends: []string{"cpu", "compute", "auto"}, Fresh: true, Gaps: true, Estimates: true, Operations: tpchOperations(), tables: []Source{tpchSource()}, summary: (*Report).means,
	}}, parySuite(), wisconsinSuite())
}

// lastRow stands in a statement of a suite for the number of the last row, from 0.
const lastRow = "{last}"

// OwnTables reports whether the suite is over tables of its own.
func (s Suite) OwnTables() bool { return s.tables != nil }

// small are the sizes of tables of which nobody says how large they are.
func small(Machine) []int { return []int{1_000, 100_000, 1_000_000, 16_000_000} }

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

// allBackends lists the backends with auto last, without both: that is compute and cpu, which are there.
func allBackends() []string {
	return append(slices.DeleteFunc(engine.Backends(), func(s string) bool { return s == "auto" || s == "both" }), "auto")
}

// OnlyFigures is the suite with only the figures of these names.
func (s Suite) OnlyFigures(names ...string) (Suite, error) {
	if s.Figures == nil {
		return s, fmt.Errorf("the suite %s has no figures to choose among: %s have", s.Name, strings.Join(WithFigures(), ", "))
	}
	named := func(f lab.Name) bool { return slices.Contains(names, string(f)) }
	var all []string
	for _, f := range s.Figures {
		all = append(all, string(f.Name))
	}
	for _, n := range names {
		if !slices.Contains(all, n) {
			return s, fmt.Errorf("the suite %s has no figure %s: there are %s", s.Name, n, strings.Join(all, ", "))
		}
	}
	s.Figures = slices.DeleteFunc(slices.Clone(s.Figures), func(f lab.Figure) bool { return !named(f.Name) })
	s.Operations = slices.DeleteFunc(slices.Clone(s.Operations), func(o Operation) bool { return !named(o.figure) })
	return s, nil
}

// Config says how to run a suite. What is empty takes the suite's own choice.
type Config struct {
	Rows     []int          // of the tables; of the suite paper one number is the largest of five
	From     int            // leaves out smaller tables of a paper's experiments
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
	if s.experiments != nil {
		c.Source.Data.Name, c.Source.Rows = s.experiments.Counted+" of the paper", 0
	}
	if s.Files && c.Source.Whole != nil {
		c.Source.Table = c.Source.Whole
	}
	if s.tables == nil {
		c.Rows = c.Sizes(s, c.Source)
	}
	if len(c.Rows) == 1 && s.ladder != nil {
		c.Rows = s.ladder(c.Rows[0])
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

// Sizes are those of the tables of a source. One that the user's table does not have is left out
// where there are several tables.
func (c Config) Sizes(s Suite, from Source) []int {
	switch {
	case len(c.Rows) == 0 && from.Rows > 0:
		return []int{from.Rows}
	case len(c.Rows) == 0:
		return s.Rows(c.Machine)
	case len(s.tables) > 1 && from.Rows > 0:
		return slices.DeleteFunc(slices.Clone(c.Rows), func(n int) bool { return n > from.Rows })
	}
	return c.Rows
}

// reference is the system that ratios are to: the first peer, of a user's statements, which it
// may not know, none; else cpu, else the first backend.
func (c Config) reference(s Suite) string {
	switch {
	case s.experiments != nil: // their tables have the ratios
		return ""
	case len(c.Peers) > 0 && s.Name != own:
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
		Machine: c.Machine, Data: dataOf(s.Sources(c)), Reference: c.reference(s), Order: byCase,
		Results: []Result{}, Skipped: []Skip{},
	}
	if s.Fresh {
		r.Protocol = fresh
	}
	err := s.runTables(ctx, c, r)
	if err != nil && ctx.Err() == nil && !(s.tables != nil && errors.As(err, new(*DifferError))) {
		return nil, err
	}
	r.Interrupted = err != nil && ctx.Err() != nil
	if s.Figures != nil {
		r.finishFigures()
	} else {
		r.setRatios()
	}
	return r, err
}

// dataOf is what the tables hold.
func dataOf(list []Source) Data {
	d := list[0].Data
	for _, s := range list[1:] {
		d.Name += ", " + s.Data.Name
	}
	return d
}

func (s Suite) runTables(ctx context.Context, c Config, r *Report) error {
	if s.experiments != nil {
		return s.runExperiments(ctx, c, r)
	}
	var fields []*field
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
		if f.own && errors.As(err, new(*DifferError)) {
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
func (s Suite) runExperiments(ctx context.Context, c Config, r *Report) error {
	done := 0
	for _, rows := range c.Rows {
		l := &laboratory{Config: c, suite: s, rows: rows, report: r}
		l.tell = func(doing string, number int) {
			c.Progress(Progress{rows, doing, done + number, done + len(l.cases)})
		}
		err := l.enter()
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
func (s Suite) fields(from Source, c Config) (list []*field) {
	if s.tables != nil {
		c.Source, c.Rows = from, c.Sizes(s, from)
	}
	tables := slices.Clone(c.Rows)
	if slices.ContainsFunc(s.Operations, func(o Operation) bool { return o.over == rankedTable }) && !slices.Contains(tables, rankedRows(c.Rows)) {
		tables = append(tables, rankedRows(c.Rows))
	}
	if s.Graphics {
		slices.Sort(tables)
	}
	for _, rows := range tables {
		operations := slices.DeleteFunc(slices.Clone(s.Operations), func(o Operation) bool {
			return o.from != "" && o.from != from.Data.Name || !o.runsOver(rows, c.Rows)
		})
		list = append(list, &field{Config: c, rows: rows, operations: operations, figures: s.Graphics, ofFiles: s.Files, own: s.tables != nil, gaps: s.Gaps, fresh: s.Fresh, estimates: s.Estimates})
	}
	return list
}

// Systems of a [Skip]: of the table, and of a statement that stencildb refuses.
const (
	allSystems = "all systems"
	refusing   = "all backends"
)

// field is the systems that contend over one table, and the operations in which they do.
type field struct {
	Config
	rows       int
	operations []Operation
	figures    bool // the systems are those of the paper's figures
	ofFiles    bool // the systems are processes
	own        bool // the statements are the user's
	gaps       bool // of [Suite], as the next two
	fresh      bool
	estimates  bool
	report     *Report
	tell       func(doing string, number int) // of progress

	table   *table.Table
	tables  []*table.Table // it and those beside it
	folder  string         // of its files, where systems are processes
	rig     *rig           // which systems share, where one of them needs it
	systems []System
}

// run measures the cases over the table and adds them to the report.
func (f *field) run(ctx context.Context) (err error) {
	f.tell("making the table", 0)
	if f.table, err = f.Source.Table(ctx, f.rows); err != nil {
		return err
	}
	f.tables = []*table.Table{f.table}
	if f.Source.Beside != nil {
		others, err := f.Source.Beside(ctx, f.rows)
		if err != nil {
			return err
		}
		f.tables = append(f.tables, others...)
	}
	facts := &facts{rows: f.rows}
	if !f.own {
		if facts, err = survey(ctx, f.table); err != nil {
			return err
		}
		f.report.Data.Attributes = nil
		for _, field := range f.table.Fields {
			f.report.Data.Attributes = append(f.report.Data.Attributes, field.Name)
		}
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
		f.tell("preparing "+op.Name, 0)
		prepare := f.trial
		if op.loads {
			prepare = f.loadTrial
		}
		t, err := prepare(ctx, op, facts)
		if err != nil {
			return err
		}
		if len(t.Contenders) > 0 {
			trials = append(trials, t)
		}
	}
	m := Meter{Rounds: f.Rounds, Hardware: !f.report.Machine.Software, Progress: func(t *Trial, number int) { f.tell(t.Operation, number) }}
	if f.figures {
		m.Fixed, m.ColdRuns = paperRuns, coldRuns
	}
	if f.ofFiles {
		m.Least, m.cpu = 2*fewest, childrenTime
	}
	if f.own {
		m.ColdRuns, m.Apart = coldRuns, true
	}
	if f.fresh {
		m.ColdRuns = 1
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
		return p.open(ctx, f.tables)
	}
	if !f.figures {
		return openBackend(name, f.Engine, f.tables)
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
		gpu, err := devicepool.Open(glctx.Options{Device: f.Engine.Device, Memory: f.Engine.GPUMemory})
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
	var q Query
	if !f.own {
		q.Cannot = facts.lacks(op)
	}
	if q.Cannot == "" {
		q = op.query(facts)
	}
	if q.Cannot != "" {
		f.skip(op, allSystems, q.Cannot)
		return t, nil
	}
	q.SQL = strings.ReplaceAll(q.SQL, lastRow, strconv.Itoa(max(0, f.rows-1)))
	if t.SQL = q.SQL; op.x != nil {
		t.X = op.x(facts)
	}
	if f.fresh && op.draws != nil {
		t.Draws = op.draws(facts, max(f.Rounds, mostRounds))
		t.ShapeOf = func(text string) Shape {
			_, shape, _ := readBy(text, f.tables) // of a text that only peers take any order does
			return shape
		}
	}
	if q.Reads, t.Shape, err = readBy(q.SQL, f.tables); err != nil && !f.gaps {
		return t, err
	}
	if err == nil {
		t.Expected, err = f.expected(ctx, q)
	}
	if err == nil && f.estimates {
		err = f.estimate(ctx, op, q)
	}
	refused := err != nil
	switch {
	case ctx.Err() != nil:
		return t, ctx.Err()
	case refused && f.gaps:
		f.skip(op, refusing, err.Error())
	case refused && f.own:
		return t, t.fail("cpu", err)
	case refused:
		f.skip(op, allSystems, err.Error()) // the data: a sum out of range, say
		return t, nil
	}
	for _, s := range f.systems {
		if _, peer := peers[s.Name]; !op.takes(s.Name) || refused && !peer {
			continue
		}
		c, err := s.Prepare(ctx, q)
		switch {
		case errors.Is(err, ErrCannot):
			f.skip(op, s.Name, err.Error())
		case err != nil:
			return t, err
		case t.Draws != nil && c.Fresh == nil:
			f.skip(op, s.Name, "it takes no statement that is not prepared")
		default:
			c.System = s.Name
			t.Contenders = append(t.Contenders, c)
		}
	}
	return t, nil
}

// expected is the answer of package cpu; of suites without vector instructions.
func (f *field) expected(ctx context.Context, q Query) (a Answer, err error) {
	cpus := overPlans(f.table, onCPU(cpu.WithoutSIMD))
	if f.own {
		if cpus, err = openBackend("cpu", f.Engine, f.tables); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, cpus.Close()) }()
	}
	c, err := cpus.Prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	out, err := c.Run(ctx)
	return out.Answer, err
}
