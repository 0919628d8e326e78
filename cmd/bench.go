package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/bench"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/numbers"
)

// benchFlags are the flags of bench as they were given.
type benchFlags struct {
	common
	suite    *choice
	figure   int
	rows     []string
	backends []string
	peers    []string
	table    string
	seed     uint64
	rounds   int
	format   *choice
	out      string
}

// noPeers is the word for no peers at all.
const noPeers = "none"

func newBench() *cobra.Command {
	var o benchFlags
	var names []string
	suites := ""
	for _, s := range bench.Suites() {
		names = append(names, s.Name)
		suites += fmt.Sprintf("\n  %-11s %s", s.Name, s.Doc)
	}
	c := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Measure the backends beside each other and beside other databases",
		Long: `Runs a suite of statements over tables of several sizes on every backend, and on
the other databases that are built in, all in this process over the same data:
` + suites + `

Answers are compared before anything is timed; answers that differ are an error.
Times are wall times of a prepared statement with its columns resident, its answer
in hand. It goes case by case; within a case the systems take turns, round by round.

--suite paper, or --figure N for one of them, reruns the evaluation of the 2004 paper:
on tcpip data unless --table says otherwise, over tables of five sizes up to that of
--rows (one number; a list is taken as it is). With --out it draws each figure
(figure-NN.svg, .png, .csv) and writes report.html.

Tables: --table takes a generator (` + strings.Join(generatorNames(), ", ") + `), whose
tables have the sizes of --rows; or a table of --load, or flights, or flights-3m
(fetched by make data), of which --rows takes the first rows. Four columns are the
attributes: the first ones of integers, then of DECIMAL, of floating-point numbers, of
dates and timestamps; operations use those of a table with fewer up to twice.
Constants are chosen for the paper's selectivities (60 %; ranges from the 20th to the
80th percentile).

Peers are linked by build tag: go build -tags egl,duckdb,sqlite. Built in here: ` + orNone(bench.Peers()) + `.

--out writes SUITE.json, SUITE.txt and SUITE.bench (Go's benchmark format, for
benchstat) into a folder.`,
		Example: `  stencildb bench --rows 1M
  stencildb bench --rows 2^24 --backends compute,cpu --peers duckdb
  stencildb bench --suite auto --format json > auto.json
  stencildb bench --suite targets --out results
  stencildb bench --suite paper --out results
  stencildb bench --figure 8 --rows 16M
  stencildb bench --load t=trips.parquet --table t
  stencildb bench compare before.json after.json`,
		Args: benchArgs,
	}
	c.RunE = run(func(c *cobra.Command, _ []string) error { return o.run(c) })
	f := c.Flags()
	o.suite = choiceFlag(c, "suite", "what to measure", names...)
	f.IntVar(&o.figure, "figure", 0, "only this figure of the suite paper, 2 to 11")
	f.StringSliceVar(&o.rows, "rows", nil, "sizes of the tables, e.g. 1k,1M,16Mi,2^28 (default: the suite's)")
	f.StringSliceVar(&o.backends, "backends", nil, "backends to measure (default: all)")
	f.StringSliceVar(&o.peers, "peers", nil, "other databases to measure, or "+noPeers+" (default: those built in, where the suite has use for them)")
	f.StringVar(&o.table, "table", "uniform", "generator or loaded table to measure on (suite paper: tcpip)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the generator")
	f.IntVar(&o.rounds, "rounds", 0, "number of rounds (default: 20 to 320, more where they are short; fewer than 5 give no interval and no verdict)")
	o.format = choiceFlag(c, "format", "how the report is printed", "text", "json", "go")
	f.StringVar(&o.out, "out", "", "folder to write the report into, in all formats")
	f.StringArrayVar(&o.loads, "load", nil, "load a table: `NAME=PATH[?option&...]` (may be repeated)")
	o.registerDevice(c)
	f.Var(&o.gpuMemory, "gpu-memory", "budget for columns on the device, of each backend (default: a share of what is free)")
	f.Var(&o.hostMemory, "host-memory", "budget for tables in host memory (default: no limit)")
	completeList(c, "backends", engine.Backends())
	completeList(c, "peers", append(bench.Peers(), noPeers))
	completeList(c, "table", append(generatorNames(), flights.name, largeFlights.name))
	c.AddCommand(newBenchCompare())
	return c
}

// benchArgs takes none: what comes first is the name of a subcommand.
func benchArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown argument %q: there are flags (see --help) and the subcommand compare", args[0])
	}
	return nil
}

func generatorNames() []string {
	var names []string
	for _, g := range generate.All() {
		names = append(names, g.Name)
	}
	return names
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// completeList completes the last of a flag's comma-separated words.
func completeList(c *cobra.Command, flag string, words []string) {
	// Completion cannot fail to register for a flag that was just added.
	_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		var list []cobra.Completion
		for _, w := range words {
			if !slices.Contains(strings.Split(before, ","), w) {
				list = append(list, before+w)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

func (o *benchFlags) run(c *cobra.Command) error {
	suite, err := o.findSuite(c)
	if err != nil {
		return err
	}
	config, err := o.config(c)
	if err != nil {
		return err
	}
	load, err := o.source(c)
	if err != nil {
		return err
	}
	if o.out != "" {
		tidy, err := outFolder(o.out)
		if err != nil {
			return err
		}
		defer tidy()
	}
	config.Machine, err = bench.ReadMachine(glctx.Options{Device: o.device, Memory: int64(o.gpuMemory)}, Version)
	if err != nil {
		return err
	}
	if config.Source, err = load(c.Context()); err != nil {
		return err
	}
	config = config.Settled(suite)
	if err := rowsFor(config, suite); err != nil {
		return err
	}
	status := &statusLine{w: c.ErrOrStderr(), terminal: isTerminal(c.ErrOrStderr())}
	config.Progress = status.update
	report, err := suite.Run(c.Context(), config)
	status.done()
	if err == nil || report != nil && len(report.Results) > 0 {
		// What was measured before an interruption is complete.
		err = errors.Join(o.report(c, report), err)
	}
	return err
}

// report writes a report as the flags ask.
func (o *benchFlags) report(c *cobra.Command, r *bench.Report) error {
	var b bytes.Buffer
	if err := benchFormats[o.format.value](r, &b); err != nil {
		return err
	}
	return errors.Join(writeOnce(c.OutOrStdout(), &b), o.write(r))
}

// findSuite finds the suite, or the one figure of it.
func (o *benchFlags) findSuite(c *cobra.Command) (bench.Suite, error) {
	one := c.Flags().Changed("figure")
	switch {
	case one && !c.Flags().Changed("suite"):
		o.suite.value = "paper"
	case one && o.suite.value != "paper":
		return bench.Suite{}, usagef("--figure is for --suite paper, not for %s", o.suite.value)
	}
	suite, err := bench.FindSuite(o.suite.value)
	if err != nil {
		return suite, usageError{err}
	}
	if suite.Figures == nil {
		return suite, nil
	}
	if !c.Flags().Changed("table") && !c.Flags().Changed("load") {
		o.table = "tcpip"
	}
	if slices.Contains(o.backends, "auto") {
		return suite, usagef("--backends: the figures have no auto; --suite auto has")
	}
	if !one {
		return suite, nil
	}
	figure, err := bench.FindFigure(o.figure)
	if err != nil {
		return suite, usagef("--figure: %w", err)
	}
	return suite.OneFigure(figure), nil
}

// config checks the flags and makes a run's configuration of them, the machine and the
// source left out.
func (o *benchFlags) config(c *cobra.Command) (bench.Config, error) {
	config := bench.Config{
		Backends: o.backends, Peers: o.peers, Rounds: o.rounds,
		Engine:  engine.Options{Device: o.device, GPUMemory: int64(o.gpuMemory), HostMemory: int64(o.hostMemory)},
		Command: "stencildb " + strings.Join(o.commandLine(c), " "),
	}
	for _, name := range o.backends {
		if !slices.Contains(engine.Backends(), name) {
			return config, usagef("--backends: no backend %q: there are %s", name, strings.Join(engine.Backends(), ", "))
		}
	}
	if slices.Equal(o.peers, []string{noPeers}) {
		config.Peers, config.NoPeers = nil, true
	}
	for _, name := range config.Peers {
		if err := bench.CheckPeer(name); err != nil {
			return config, usagef("--peers: %w", err)
		}
	}
	for _, text := range o.rows {
		n, err := ingest.ParseRows(text)
		if err == nil && n < 1 {
			err = fmt.Errorf("%q: a benchmark takes a row or more", text)
		}
		if err != nil {
			return config, usagef("--rows %w", err)
		}
		config.Rows = append(config.Rows, n)
	}
	for _, list := range []struct {
		flag  string
		words []string
	}{{"rows", texts(config.Rows)}, {"backends", o.backends}, {"peers", o.peers}} {
		if twice := repeated(list.words); twice != "" {
			return config, usagef("--%s: %s is given twice", list.flag, twice)
		}
	}
	if o.rounds < 0 {
		return config, usagef("--rounds %d: want 1 or more", o.rounds)
	}
	return config, nil
}

func texts(list []int) []string {
	var out []string
	for _, n := range list {
		out = append(out, fmt.Sprint(n))
	}
	return out
}

// repeated returns a word that occurs twice, or "".
func repeated(words []string) string {
	for i, w := range words {
		if slices.Contains(words[:i], w) {
			return w
		}
	}
	return ""
}

// commandLine is the words after the program's name, flags as they were given.
func (o *benchFlags) commandLine(c *cobra.Command) []string {
	words := []string{"bench"}
	c.Flags().Visit(func(f *pflag.Flag) {
		value := strings.Trim(f.Value.String(), "[]")
		words = append(words, "--"+f.Name, value)
	})
	return words
}

// largeFlights is the table that make data fetches.
var largeFlights = source{"flights-3m", ingest.Source{Path: "data/flights-3m.parquet"}}

// source finds what --table names: a table of --load, a generator, or a table of the
// flights. The function that it returns loads it.
func (o *benchFlags) source(c *cobra.Command) (func(context.Context) (bench.Source, error), error) {
	sources, err := o.sources()
	if err != nil {
		return nil, err
	}
	limit := ingest.Options{MemoryLimit: int64(o.hostMemory), Note: func(text string) { note(c.ErrOrStderr(), text) }}
	loaded := func(s source) func(context.Context) (bench.Source, error) {
		return func(ctx context.Context) (bench.Source, error) {
			t, err := ingest.Load(ctx, s.name, s.Source, limit)
			if err != nil {
				return nil, err
			}
			return bench.Loaded(t)
		}
	}
	for _, s := range sources {
		if s.name == o.table {
			return loaded(s), files.Readable(s.Path)
		}
	}
	switch {
	case c.Flags().Changed("load"):
		if !slices.Contains(generatorNames(), o.table) || !c.Flags().Changed("table") {
			return nil, usagef("--table %s: name one of the tables of --load", o.table)
		}
	case o.table == largeFlights.name:
		if _, err := os.Stat(largeFlights.Path); err != nil {
			return nil, fmt.Errorf("%w: fetch it with make data", err)
		}
		return loaded(largeFlights), nil
	case o.table == flights.name:
		return loaded(flights), nil
	}
	if _, err := generate.Find(o.table); err != nil {
		return nil, usagef("--table %s: it is neither a table of --load nor a generator (%s) nor %s nor %s", o.table, strings.Join(generatorNames(), ", "), flights.name, largeFlights.name)
	}
	return func(context.Context) (bench.Source, error) { return bench.Generated(o.table, o.seed), nil }, nil
}

// rowsFor refuses tables that are larger than their source, than this machine's memory
// holds, once for itself and once for each peer, or in figures than the device holds of
// what the systems on it read.
func rowsFor(c bench.Config, s bench.Suite) error {
	rows := slices.Max(c.Rows)
	if fixed := c.Source.FixedRows(); fixed > 0 && rows > fixed {
		return usagef("--rows %d: table %s has %s rows", rows, c.Source.Data().Name, numbers.Grouped(uint64(fixed)))
	}
	var machine unix.Sysinfo_t
	if err := unix.Sysinfo(&machine); err != nil {
		return err
	}
	copies := 1 + len(c.Peers)
	if c.Machine.Software {
		copies += len(c.Backends)
	}
	most, holder := int(machine.Totalram*uint64(machine.Unit)/uint64(bench.RowBytes*copies)), "this machine's memory"
	if s.Figures != nil && slices.ContainsFunc(c.Backends, func(b string) bool { return b != "cpu" }) {
		if c.Machine.Device == "" {
			return usagef("the figures need an OpenGL device, or --backends cpu: see stencildb info")
		}
		if onDevice := bench.LargestRows(c.Machine.Budget); onDevice < most {
			most, holder = onDevice, "the budget of the device, "+glctx.FormatSize(c.Machine.Budget)+","
		}
	}
	if rows > most {
		return usagef("--rows %d: %s holds %s rows at most for these systems", rows, holder, numbers.Grouped(uint64(most)))
	}
	return nil
}

// benchFormats write a report.
var benchFormats = map[string]func(*bench.Report, io.Writer) error{
	"text": (*bench.Report).WriteText,
	"json": (*bench.Report).WriteJSON,
	"go":   (*bench.Report).WriteGo,
}

// write writes the report into the folder of --out in all formats.
func (o *benchFlags) write(r *bench.Report) error {
	if o.out == "" {
		return nil
	}
	for format, extension := range map[string]string{"json": ".json", "text": ".txt", "go": ".bench"} {
		err := files.Write(filepath.Join(o.out, r.Suite+extension), func(w io.Writer) error { return benchFormats[format](r, w) })
		if err != nil {
			return err
		}
	}
	if r.HasFigures() {
		return r.WriteFigures(o.out)
	}
	return nil
}

// statusLine says what is being done: on a terminal in one line that is rewritten,
// with a bar, elsewhere a line each.
type statusLine struct {
	w        io.Writer
	terminal bool
}

func (s *statusLine) update(what string) {
	if !s.terminal {
		fmt.Fprintln(s.w, what)
		return
	}
	fmt.Fprint(s.w, "\r\x1b[K", caseBar(what), visible(what))
}

// caseBar is a bar of how far a table's cases are, where what tells of one.
func caseBar(what string) string {
	var number, of int
	i := strings.Index(what, "case ")
	if i < 0 {
		return ""
	}
	if n, err := fmt.Sscanf(what[i:], "case %d of %d", &number, &of); n != 2 || err != nil {
		return ""
	}
	full := barWidth * (number - 1) / of
	return "[" + strings.Repeat("#", full) + strings.Repeat(" ", barWidth-full) + "] "
}

func (s *statusLine) done() {
	if s.terminal {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
}

func newBenchCompare() *cobra.Command {
	var threshold float64
	c := &cobra.Command{
		Use:   "compare A.json B.json",
		Short: "Compare two reports: what became slower or faster beyond noise",
		Long: `Compares the cases that two reports (bench --format json, or --out) have in common:
the ratio of the medians, B over A, with its 95 % bootstrap interval. Slower and
faster are cases whose whole interval lies beyond the threshold. Reports of
different machines are compared too; what differs is said.`,
		Example: `  stencildb bench --format json > before.json
  stencildb bench --format json > after.json
  stencildb bench compare before.json after.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%d arguments: give two reports, A.json and B.json", len(args))
			}
			return nil
		},
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		if threshold < 0 {
			return usagef("--threshold %v: want 0 or more", threshold)
		}
		var reports []*bench.Report
		for _, path := range args {
			r, err := readReport(c.Context(), path)
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		var b bytes.Buffer
		if err := bench.Compare(reports[0], reports[1]).Write(&b, threshold/100); err != nil {
			return err
		}
		return writeOnce(c.OutOrStdout(), &b)
	})
	c.Flags().Float64Var(&threshold, "threshold", 5, "changes up to this many percent are not named")
	return c
}

func readReport(ctx context.Context, path string) (*bench.Report, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := bench.ReadJSON(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
