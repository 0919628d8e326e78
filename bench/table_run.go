package bench

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// tableRun is the systems that contend over one table, and the operations in which they do.
type tableRun struct {
	Config
	rows       int
	operations []workload.Operation
	figures    bool // the systems are those of the paper's figures
	ofFiles    bool // the systems are processes
	own        bool // the statements are the user's
	gaps       bool // of [Suite], as the next two
	fresh      bool
	estimates  bool
	report     *report.Report
	tell       func(doing string, number int) // of progress

	table   *table.Table
	tables  []*table.Table // it and those beside it
	folder  string         // of its files, where systems are processes
	device  *timedDevice   // which systems share, where one of them needs it
	systems []meter.System
}

// loadTrial is the loading as a case. stencildb loads under cpu, or else the first backend: its backends
// share the codes in host memory. So do the peers that read files.
func (f *tableRun) loadTrial(ctx context.Context, op workload.Operation, _ *workload.TableProfile) (t meter.Trial, err error) {
	l := f.Source.FileLoad
	if f.rows < f.Source.Rows {
		if l.Format() == "" {
			f.skip(op, allSystems, "the name of "+l.From.Path+" says no format that its first rows could be written in")
			return t, nil
		}
		if f.folder == "" {
			if f.folder, err = os.MkdirTemp("", "stencildb-load-"); err != nil {
				return t, err
			}
		}
		if l, err = l.FirstRows(ctx, f.rows, f.folder); err != nil {
			return t, err
		}
	}
	t = meter.Trial{Case: report.Case{Operation: op.Name, Rows: f.rows}, SQL: "load " + f.Source.FileLoad.From.Path, Expected: answer.Answer{{table.Int(int64(f.rows))}}}
	system := f.Backends[0]
	if slices.Contains(f.Backends, "cpu") {
		system = "cpu"
	}
	t.Contenders = append(t.Contenders, meter.Contender{System: system, Run: l.Run})
	for _, s := range f.systems {
		p, ok := peer.Registry[s.Name]
		switch {
		case !ok:
		case p.Read == nil:
			f.skip(op, s.Name, "it reads no files")
		default:
			c, err := p.Read(l)
			if errors.Is(err, meter.ErrCannot) {
				f.skip(op, s.Name, err.Error())
				continue
			}
			if err != nil {
				return t, err
			}
			c.System, c.Peer = s.Name, true
			t.Contenders = append(t.Contenders, c)
		}
	}
	return t, nil
}

// estimate explains a statement on cpu.
func (f *tableRun) estimate(ctx context.Context, op workload.Operation, q meter.Query) (err error) {
	o := f.Engine
	o.Backend = "cpu"
	db, err := engine.Open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, t := range f.tables {
		if err := db.Add(t); err != nil {
			return err
		}
	}
	x, err := db.Explain(ctx, q.SQL, engine.ExplainOptions{Analyze: true})
	if err != nil {
		return err
	}
	e := report.Estimates{Case: report.Case{Operation: op.Name, Rows: f.rows}}
	list := x.QErrors()
	slices.SortStableFunc(list, func(a, b engine.QError) int { return cmp.Compare(a.Factor(), b.Factor()) })
	for _, of := range list {
		e.QErrors = append(e.QErrors, report.Rounded(of.Factor()))
		e.Worst = fmt.Sprintf("%s: %s, %s expected", of.Of, numbers.Count(of.Rows, "row", "rows"), numbers.Grouped(of.Expected))
	}
	if len(list) > 0 {
		f.report.Estimates = append(f.report.Estimates, e)
	}
	return nil
}

// measureFloor adds the floor of the device over the table, where one is used. The second time it keeps the
// smaller times, since a disturbance of the machine only adds time.
func (f *tableRun) measureFloor(ctx context.Context) error {
	if f.device == nil {
		return nil
	}
	floor, err := f.device.floor(ctx, f.rows)
	if err != nil {
		return err
	}
	list := &f.report.Floors
	if last := len(*list) - 1; last >= 0 && (*list)[last].Rows == f.rows {
		old := (*list)[last]
		floor = report.Floor{Rows: f.rows, DrawMS: min(old.DrawMS, floor.DrawMS), EachMS: min(old.EachMS, floor.EachMS), BareMS: min(old.BareMS, floor.BareMS),
			DispatchMS: min(old.DispatchMS, floor.DispatchMS), CopyMS: min(old.CopyMS, floor.CopyMS), Runs: min(old.Runs, floor.Runs)}
		*list = (*list)[:last]
	}
	*list = append(*list, floor)
	return nil
}

// writeFiles writes the table for the systems, into a folder of its own.
func (f *tableRun) writeFiles(ctx context.Context) (err error) {
	if f.folder, err = os.MkdirTemp("", "stencildb-load-"); err != nil {
		return err
	}
	f.tell("writing files", 0)
	err = files.Write(f.path(meter.ParquetFile), func(w io.Writer) error {
		buf := bufio.NewWriterSize(w, 1<<20)
		return errors.Join(parquet.WriteUncompressed(buf, f.table), buf.Flush())
	})
	if err == nil && f.rows <= maxCSVRows {
		err = ingest.WriteFile(ctx, f.path(meter.CSVFile), f.table)
	}
	return err
}

func (f *tableRun) path(of meter.FileFormat) string {
	return filepath.Join(f.folder, "table"+string(of))
}

// process is a system whose runs are processes.
func (f *tableRun) process(name string) meter.System {
	return meter.System{Prepare: func(_ context.Context, q meter.Query) (meter.Contender, error) {
		path, args := f.path(q.File), []string(nil)
		if q.File == meter.CSVFile && f.rows > maxCSVRows {
			return meter.Contender{}, fmt.Errorf("%w: CSV is written up to %s rows", meter.ErrCannot, numbers.Grouped(maxCSVRows))
		}
		if p, ok := peer.Registry[name]; ok {
			if p.Script == nil {
				return meter.Contender{}, fmt.Errorf("%w: it reads no files", meter.ErrCannot)
			}
			args = append([]string{"bench", "peer", name}, fromFile(q, f.table, path)...)
		} else {
			args = []string{"query", "--backend", name, "--format", "csv", "--load", f.table.Name + "=" + path}
			if f.Engine.Device != "" {
				args = append(args, "--device", f.Engine.Device)
			}
			for flag, bytes := range map[string]int64{"--gpu-memory": f.Engine.GPUMemory, "--host-memory": f.Engine.HostMemory} {
				if bytes > 0 {
					args = append(args, flag, strconv.FormatInt(bytes, 10))
				}
			}
			args = append(args, q.SQL)
		}
		return meter.Contender{Run: func(ctx context.Context) (meter.Outcome, error) {
			out, err := exec.CommandContext(ctx, f.Program, args...).Output()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				err = fmt.Errorf("%w: %s", meter.ErrCannot, strings.TrimSpace(string(exit.Stderr)))
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			return meter.Outcome{Answer: answer.OfText(strings.Split(strings.TrimSpace(lines[len(lines)-1]), ",")...)}, err
		}}, nil
	}}
}

// run measures the cases over the table and adds them to the report.
func (f *tableRun) run(ctx context.Context) (err error) {
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
	facts := &workload.TableProfile{Rows: f.rows}
	if !f.own {
		if facts, err = workload.NewTableProfile(ctx, f.table); err != nil {
			return err
		}
		f.report.Data.Attributes = nil
		for _, field := range f.table.Fields {
			f.report.Data.Attributes = append(f.report.Data.Attributes, field.Name)
		}
	}
	if err := f.openSystems(ctx); err != nil {
		return err
	}
	if !f.ofFiles {
		f.tell("measuring the floor of the device", 0)
		if err := f.measureFloor(ctx); err != nil {
			return err
		}
	}
	var trials []meter.Trial
	for _, op := range f.operations {
		f.tell("preparing "+op.Name, 0)
		prepare := f.trial
		if op.Loads {
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
	m := meter.Meter{Rounds: f.Rounds, Hardware: !f.report.Machine.Software, Progress: func(t *meter.Trial, number int) { f.tell(t.Operation, number) }}
	if f.figures {
		m.Fixed, m.ColdRuns = report.PaperRuns, report.ColdRuns
	}
	if f.ofFiles {
		m.Least, m.Processor = 2*report.MinRounds, report.ChildProcessorTime
	}
	if f.own {
		m.ColdRuns, m.Apart = report.ColdRuns, true
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
func (f *tableRun) skip(op workload.Operation, system, reason string) {
	f.report.Skipped = append(f.report.Skipped, report.Skip{Case: report.Case{Operation: op.Name, Rows: f.rows}, System: system, Reason: reason})
}

// openSystems opens the systems that have something to run, which load the table.
func (f *tableRun) openSystems(ctx context.Context) error {
	names := f.Backends
	if f.figures {
		names = report.SystemsOfFigures(names)
	}
	if f.ofFiles {
		if err := f.writeFiles(ctx); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(names, f.Peers) {
		theirs := slices.DeleteFunc(slices.Clone(f.operations), func(op workload.Operation) bool { return !op.Takes(name) })
		most := peer.Registry[name].MaxRows
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

func (f *tableRun) open(ctx context.Context, name string) (meter.System, error) {
	if f.ofFiles {
		return f.process(name), nil
	}
	if p, ok := peer.Registry[name]; ok {
		return p.Open(ctx, f.tables)
	}
	if !f.figures {
		return openBackend(name, f.Engine, f.tables)
	}
	switch name {
	case "cpu":
		return overPlans(f.table, onCPU()), nil
	case report.CpuScalar:
		return overPlans(f.table, onCPU(cpu.WithoutSIMD)), nil
	case report.Quickselect:
		return overPlans(f.table, quickselect), nil
	}
	if report.BackendsOfFigures[name] == "" {
		return meter.System{}, fmt.Errorf("the figures have no system %s: leave it out", name)
	}
	if f.device == nil {
		gpu, err := devicepool.Open(glctx.Options{Device: f.Engine.Device, Memory: f.Engine.GPUMemory})
		if err != nil {
			return meter.System{}, err
		}
		f.device = &timedDevice{gpu}
	}
	return overPlans(f.table, f.device.prepare(name)), nil
}

func (f *tableRun) close() (err error) {
	for _, s := range f.systems {
		if s.Close != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if f.device != nil {
		err = errors.Join(err, f.device.Close())
	}
	if f.folder != "" {
		err = errors.Join(err, os.RemoveAll(f.folder))
	}
	return err
}

// trial prepares one operation on the systems that take it; it has no contenders where
// the table does not do for it.
func (f *tableRun) trial(ctx context.Context, op workload.Operation, facts *workload.TableProfile) (t meter.Trial, err error) {
	t = meter.Trial{Case: report.Case{Operation: op.Name, Rows: f.rows}, Figure: op.Figure, X: float64(f.rows)}
	var q meter.Query
	if !f.own {
		q.Cannot = facts.Lacks(op)
	}
	if q.Cannot == "" {
		q = op.Query(facts)
	}
	if q.Cannot != "" {
		f.skip(op, allSystems, q.Cannot)
		return t, nil
	}
	q.SQL = strings.ReplaceAll(q.SQL, workload.LastRow, strconv.Itoa(max(0, f.rows-1)))
	if t.SQL = q.SQL; op.X != nil {
		t.X = op.X(facts)
	}
	if f.fresh && op.Draws != nil {
		t.Draws = op.Draws(facts, max(f.Rounds, meter.MostRounds))
		t.ShapeOf = func(text string) answer.Shape {
			_, shape, _ := answer.Describe(text, f.tables) // of a text that only peers take any order does
			return shape
		}
	}
	if q.Reads, t.Shape, err = answer.Describe(q.SQL, f.tables); err != nil && !f.gaps {
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
		return t, t.Fail("cpu", err)
	case refused:
		f.skip(op, allSystems, err.Error()) // the data: a sum out of range, say
		return t, nil
	}
	for _, s := range f.systems {
		_, peer := peer.Registry[s.Name]
		if !op.Takes(s.Name) || refused && !peer {
			continue
		}
		c, err := s.Prepare(ctx, q)
		switch {
		case errors.Is(err, meter.ErrCannot):
			f.skip(op, s.Name, err.Error())
		case err != nil:
			return t, err
		case t.Draws != nil && c.Fresh == nil:
			f.skip(op, s.Name, "it takes no statement that is not prepared")
		default:
			c.System, c.Peer = s.Name, peer
			t.Contenders = append(t.Contenders, c)
		}
	}
	return t, nil
}

// expected is the answer of package cpu; of suites without vector instructions.
func (f *tableRun) expected(ctx context.Context, q meter.Query) (a answer.Answer, err error) {
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

// Systems of a [report.Skip]: of the table, and of a statement that stencildb refuses.
const (
	allSystems = "all systems"
	refusing   = "all backends"
)
