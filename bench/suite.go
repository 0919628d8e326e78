package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// Suite is a named set of cases.
type Suite struct {
	Name string
	Doc  string
	// Rows are the sizes of the tables where the user gives none.
	Rows func(Machine) []int
	// Backends and Peers are the systems where the user names none.
	Backends, Peers func() []string
	// Operations are the cases of each table.
	Operations []Operation
	// Summary writes what the suite is about, after the times.
	Summary func(io.Writer, *Report) error
	// Figures are those that the suite draws; nil for suites of another kind. Its
	// tables and the cases of each then come from them.
	Figures []Figure
}

// Suites lists the suites in the order in which to show them.
func Suites() []Suite { return []Suite{operationsSuite(), autoSuite(), targetsSuite(), paperSuite()} }

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

// Config says how to run a suite. What is empty takes the suite's own choice.
type Config struct {
	Rows     []int    // of the tables; of the suite paper one number is the largest of five
	Backends []string // of engine.Backends
	Peers    []string // of Peers; NoPeers for none
	NoPeers  bool
	Source   Source         // of the tables
	Rounds   int            // 0: what suits the work
	Engine   engine.Options // but for the backend
	Machine  Machine
	Command  string
	// Progress, when set, is told what is being done, in words.
	Progress func(what string)

	unnamed      bool // whether Peers are the suite's
	begun, cases int  // of all tables: those of the tables before, and all
}

// Settled is c with the suite's choices in place of what is empty.
func (c Config) Settled(s Suite) Config {
	if c.Source == nil {
		c.Source = Generated("uniform", 1)
	}
	if len(c.Rows) == 0 {
		if c.Rows = s.Rows(c.Machine); c.Source.FixedRows() > 0 {
			c.Rows = []int{c.Source.FixedRows()}
		}
	}
	if len(c.Rows) == 1 && s.Figures != nil {
		c.Rows = ladder(c.Rows[0])
	}
	if len(c.Backends) == 0 {
		c.Backends = s.Backends()
	}
	if len(c.Peers) == 0 && !c.NoPeers {
		c.Peers, c.unnamed = s.Peers(), true
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
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
		Machine: c.Machine, Data: c.Source.Data(), Reference: c.reference(), Order: byCase,
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
	for _, rows := range s.tables(c) {
		c.cases += len(s.operations(c, rows))
	}
	for _, rows := range s.tables(c) {
		if err := s.runTable(ctx, c, rows, r); err != nil {
			return err
		}
		c.begun += len(s.operations(c, rows))
	}
	return nil
}

// tables are the sizes of the tables, in order.
func (s Suite) tables(c Config) []int {
	list := slices.Clone(c.Rows)
	for _, f := range s.Figures {
		if n := f.fixedRows(c.Rows); n > 0 && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	if s.Figures != nil {
		slices.Sort(list)
	}
	return list
}

// operations are the cases of a table.
func (s Suite) operations(c Config, rows int) []Operation {
	if s.Figures == nil {
		return s.Operations
	}
	var list []Operation
	for _, f := range s.Figures {
		list = append(list, f.operations(c.Rows, rows)...)
	}
	return list
}

// runTable measures the cases over one table and adds them to r.
func (s Suite) runTable(ctx context.Context, c Config, rows int, r *Report) (err error) {
	what := numbers.Grouped(rows) + " rows: "
	c.Progress(what + "making the table")
	t, err := c.Source.Table(ctx, rows)
	if err != nil {
		return err
	}
	facts, err := survey(ctx, t)
	if err != nil {
		return err
	}
	r.Data.Attributes = nil
	for _, field := range t.Fields {
		r.Data.Attributes = append(r.Data.Attributes, field.Name)
	}
	f := &field{rows: rows, table: t, figures: s.Figures != nil}
	defer func() { err = errors.Join(err, f.close()) }()
	operations := s.operations(c, rows)
	for _, name := range append(s.systems(c.Backends), c.Peers...) {
		most := peers[name].most
		if s.Figures != nil {
			most /= 4 // there are more tables, and more cases
		}
		if c.unnamed && most > 0 && rows > most {
			r.Skipped = append(r.Skipped, without(operations, name, rows, fmt.Sprintf("beyond %s rows only where --peers names it", numbers.Grouped(most)))...)
			continue
		}
		if !slices.ContainsFunc(operations, func(op Operation) bool { return op.takes(name) }) {
			continue
		}
		c.Progress(what + "loading into " + name)
		if err := f.enter(ctx, name, c); err != nil {
			return err
		}
	}
	c.Progress(what + "measuring the floor of the device")
	if err := f.measureFloor(ctx, r); err != nil {
		return err
	}
	trials, skipped, err := f.trials(ctx, operations, facts)
	if err != nil {
		return err
	}
	r.Skipped = append(r.Skipped, skipped...)
	m := Meter{Rounds: c.Rounds, Progress: func(t *Trial, number int) {
		c.Progress(fmt.Sprintf("%scase %d of %d, %s", what, c.begun+number, c.cases, t.Operation))
	}}
	if f.figures {
		m.Least, m.Share, m.Together, m.ColdRuns = 2*fewest, 150*time.Millisecond, 250*time.Millisecond, 3
	}
	results, skipped, err := m.Measure(ctx, trials)
	r.Results = append(r.Results, results...)
	r.Skipped = append(r.Skipped, skipped...)
	if err != nil {
		return err
	}
	return f.measureFloor(ctx, r)
}

// measureFloor adds the floor of the device over the table, where one is used; the
// second time it keeps the smaller one.
func (f *field) measureFloor(ctx context.Context, r *Report) error {
	if f.rig == nil {
		return nil
	}
	floor, err := f.rig.floor(ctx, f.rows)
	if err != nil {
		return err
	}
	if last := len(r.Floors) - 1; last >= 0 && r.Floors[last].Rows == f.rows {
		r.Floors[last] = r.Floors[last].least(floor)
	} else {
		r.Floors = append(r.Floors, floor)
	}
	return nil
}

// allSystems is the system of a [Skip] that is of the table.
const allSystems = "all systems"

// without is the operations that a system does not run over a table.
func without(operations []Operation, system string, rows int, reason string) []Skip {
	var list []Skip
	for _, op := range operations {
		if op.takes(system) {
			list = append(list, Skip{op.Name, rows, system, reason})
		}
	}
	return list
}

// field is the systems that contend over one table.
type field struct {
	rows    int
	table   *table.Table
	figures bool // the systems are those of the paper's figures
	rig     *rig // which they share, where one of them needs it
	names   []string
	systems []System
}

// enter opens a system and loads the table into it.
func (f *field) enter(ctx context.Context, name string, c Config) error {
	s, err := f.open(name, c)
	if err != nil {
		return err
	}
	f.names, f.systems = append(f.names, name), append(f.systems, s)
	return s.Load(ctx, f.table)
}

func (f *field) open(name string, c Config) (System, error) {
	if p, ok := peers[name]; ok {
		return p.open()
	}
	if !f.figures {
		return openBackend(name, c.Engine)
	}
	switch name {
	case "cpu":
		return &cpuSystem{backend: cpu.New(0)}, nil
	case cpuScalar:
		return &cpuSystem{backend: cpu.New(0, cpu.WithoutSIMD)}, nil
	case quickSelect:
		return &quickselect{}, nil
	case mipmapSum:
		return openMipmap(c.Engine)
	}
	if algorithms[name] == nil && name != classicAlone {
		return nil, fmt.Errorf("the figures have no system %s: leave it out", name)
	}
	if f.rig == nil {
		var err error
		if f.rig, err = openRig(c.Engine); err != nil {
			return nil, err
		}
	}
	return &gpuSystem{rig: f.rig, name: name}, nil
}

func (f *field) close() error {
	var errs []error
	for _, s := range f.systems {
		errs = append(errs, s.Close())
	}
	if f.rig != nil {
		errs = append(errs, f.rig.close())
	}
	return errors.Join(errs...)
}

// trials prepares the operations that the table has attributes for.
func (f *field) trials(ctx context.Context, operations []Operation, facts *facts) ([]Trial, []Skip, error) {
	var list []Trial
	var skipped []Skip
	for _, op := range operations {
		t, skips, err := f.trial(ctx, op, facts)
		if err != nil {
			return nil, nil, err
		}
		skipped = append(skipped, skips...)
		if len(t.Contenders) > 0 {
			list = append(list, t)
		}
	}
	return list, skipped, nil
}

// trial prepares one operation on the systems that take it.
func (f *field) trial(ctx context.Context, op Operation, facts *facts) (t Trial, skipped []Skip, err error) {
	t = Trial{Operation: op.Name, Rows: f.rows, Figure: op.figure, X: float64(f.rows)}
	q := Query{Cannot: facts.lacks(op)}
	if q.Cannot == "" {
		q = op.query(facts)
	}
	if q.Cannot != "" {
		return t, []Skip{{op.Name, f.rows, allSystems, q.Cannot}}, nil
	}
	if t.SQL = q.SQL; op.x != nil {
		t.X = op.x(facts)
	}
	if t.Expected, err = expected(ctx, f.table, q); err != nil {
		if ctx.Err() != nil {
			return t, nil, err
		}
		return t, []Skip{{op.Name, f.rows, allSystems, err.Error()}}, nil // the data: a sum out of range, say
	}
	for i, s := range f.systems {
		if !op.takes(f.names[i]) {
			continue
		}
		skip := func(reason string) { skipped = append(skipped, Skip{op.Name, f.rows, f.names[i], reason}) }
		if _, ok := peers[f.names[i]]; ok && q.Alone != "" {
			skip(q.Alone)
			continue
		}
		st, err := s.Prepare(ctx, q)
		if errors.Is(err, ErrCannot) {
			skip(err.Error())
			continue
		}
		if err != nil {
			return t, nil, err
		}
		t.Contenders = append(t.Contenders, contender(f.names[i], st))
	}
	return t, skipped, nil
}

func contender(name string, st Statement) Contender {
	c := Contender{System: name, Run: st.Run, Near: name == mipmapSum}
	if cold, ok := st.(coldStatement); ok {
		c.Cold = cold.Cold
	}
	if p, ok := st.(profiledStatement); ok {
		c.Profile = p.Profile
	}
	return c
}

// expected is the answer of package cpu, without vector instructions.
func expected(ctx context.Context, t *table.Table, q Query) (Answer, error) {
	c := &cpuSystem{cpu.New(0, cpu.WithoutSIMD), t}
	st, err := c.Prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	out, err := st.Run(ctx)
	return out.Answer, err
}
