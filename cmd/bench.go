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
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencildb/stencildb/bench"
	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/bench/render"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
)

// benchFlags are the flags of bench as they were given.
type benchFlags struct {
	common
	config bench.Config
	suite  string
	figure []string
	table  string
	seed   uint64
	fresh  bool
	format string
	out    string
}

// noPeers is the word for no peers at all.
const noPeers = "none"

func newBench() *cobra.Command {
	o := benchFlags{suite: "operations"}
	var names []string
	suites := ""
	for _, s := range bench.Suites() {
		names = append(names, s.Name)
		suites += fmt.Sprintf("\n  %-11s %s", s.Name, s.Doc)
	}
	c := &cobra.Command{
		Use:   "bench [flags] ['SQL; SQL; ...']",
		Short: "Measure the backends beside each other and beside other databases",
		Long: `Runs statements on every backend, and on the other databases that are built in, all
in this process over the same data: those that you give, each a SELECT over tables
of --load, a file (FROM 'trips.csv') or the flights; or a suite of statements over
tables of several sizes:
` + suites + `

Answers are compared before anything is timed. Answers that differ are an error: in a suite
at once, with your own statements at the end, beside the report of all that agrees.
Times are wall times of a prepared statement with its columns resident, its answer
in hand. It goes case by case; within a case the systems take turns, round by round.

The suites ssb and tpch, and your own statements with --fresh, give each execution
parameters that were not asked before, the same for all systems, and time it from the SQL
text to the last row. Beside that new time stand the one of the prepared statement that is
repeated and, as cold, that of the first execution in a process; GL programs that a new
text makes are counted and named. --fresh=false repeats prepared statements alone.
TPC-H's parameters are those of its rules. In statements of your own write
  {x:1..100}                  an integer
  {x:0.01..0.09}              a number with as many decimals
  {x:1993-01-01..1997-12-31}  a date
  {x:a|b|c}                   one of a list
The same name twice, or {x}, has the same value. Inside of quotes the value stands as it is.

Your own statements are q1, q2, ... in the report. The right answer is that of the
backend cpu. Rows are compared in the order of ORDER BY, rows alike in its keys in any
order, and all rows in any order without it; of rows that a LIMIT leaves out which ones
is free. Other databases may have floating-point numbers that differ in the last digits.
What a backend declines, or another database cannot say, is left out, with the reason.
--rows takes the first rows of the tables; --table NAME adds that generator's table.
Beside the times with the columns resident there are those of backends on the device
with the upload of columns that it has not seen, and, as load, the time from a file to a
table, of stencildb and of DuckDB: of first rows from a file that holds them alone. What
cpu did for a backend that was named, such as grouping for classic, stands in its cell. With --out the statements are drawn
(statements.svg, .png, .csv; over several sizes q1.svg and so on) and put on a page,
report.html.

--suite load runs stencildb and the peers that read files as processes: the file
written before, from the start to the answer. On lineorder data unless --table says
otherwise.

--suite relational, --suite ssb and --suite tpch make tables of their own, of --rows: for
sorts, groups and joins, the Star Schema Benchmark, and TPC-H.

--suite paper, or --figure N for one of them (--figure 7,8 for several), reruns the
evaluation of the 2004 paper: on tcpip data unless --table says otherwise, over tables
of five sizes up to that of --rows (one number; a list is taken as it is), each case a
hundred times as in the paper, fifteen where a run takes more than 0.1 s. With --out it
draws each figure (figure-NN.svg, .png, .csv) and writes report.html. A long run may be
made in parts; bench merge makes one report of them.

Tables: --table takes a generator (` + strings.Join(generatorNames(), ", ") + `), whose
tables have the sizes of --rows; or a table of --load, or flights, or flights-3m
(fetched by make data), of which --rows takes the first rows. Four columns are the
attributes: the first ones of integers, then of DECIMAL, of floating-point numbers, of
dates and timestamps; operations use those of a table with fewer up to twice.
Constants are chosen for the paper's selectivities (60 %; ranges from the 20th to the
80th percentile).

Peers are linked by build tag: go build -tags egl,duckdb,sqlite. Built in here: ` + orNone(peer.BuiltIn()) + `.

--out writes SUITE.json, SUITE.txt and SUITE.bench (Go's benchmark format, for
benchstat) into a folder.`,
		Example: `  stencildb bench 'SELECT AVG(delay) FROM flights WHERE distance > 1000'
  stencildb bench --load t=trips.parquet --rows 1Mi,4Mi 'SELECT zone, SUM(fare) FROM t GROUP BY zone; SELECT MAX(fare) FROM t'
  stencildb bench "SELECT COUNT(*) FROM 'trips.csv' WHERE fare > 50" --backends cpu,compute --peers none
  stencildb bench --table lineorder --rows 1M,4M -f queries.sql --out results
  stencildb bench --fresh 'SELECT AVG(delay) FROM flights WHERE distance > {d:500..1500}'
  stencildb bench --suite ssb --rows 6M --peers duckdb --out results
  stencildb bench --rows 1M
  stencildb bench --rows 2^24 --backends compute,cpu --peers duckdb
  stencildb bench --suite auto --format json > auto.json
  stencildb bench --suite targets --out results
  stencildb bench --suite paper --out results
  stencildb bench --figure 8 --rows 16M
  stencildb bench merge a/paper.json b/paper.json --out results
  stencildb bench --load t=trips.parquet --table t
  stencildb bench compare before.json after.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] != "" && !strings.ContainsFunc(args[0], unicode.IsSpace) { // what comes first may be the name of a subcommand
				return fmt.Errorf("unknown argument %q: there are SQL in quotes, flags (see --help) and the subcommand compare", args[0])
			}
			return atMostOneSQL(c, args)
		},
	}
	c.RunE = run(func(c *cobra.Command, args []string) error { return o.run(c, args) })
	f := c.Flags()
	choiceFlag(c, &o.suite, "suite", "what to measure", names...)
	f.StringSliceVar(&o.figure, "figure", nil, "only these figures of a suite that has some ("+strings.Join(evaluation.WithFigures(), ", ")+"; without --suite of paper)")
	f.Var(&parsed[[]int]{&o.config.Rows, "", "LIST", listOf(someRows)}, "rows", "sizes of the tables, e.g. 1k,1M,16Mi,2^28 (default: the suite's)")
	f.Var(&parsed[int]{&o.config.From, "", "NUMBER", ingest.ParseRows}, "from", "leave out tables of fewer than this `NUMBER` of rows: of the suites "+strings.Join(evaluation.WithExperiments(), ", "))
	f.Var(&parsed[[]string]{&o.config.Backends, "", "LIST", listOf(oneOf("no backend of that name: there are ", engine.Backends()))}, "backends", "backends to measure (default: all)")
	f.Var(&parsed[[]string]{&o.config.Peers, "", "LIST", listOf(knownPeer)}, "peers", "other databases to measure, or "+noPeers+" (default: those built in, where the suite has use for them)")
	f.StringVar(&o.table, "table", "uniform", "generator or loaded table to measure on (suite paper: tcpip)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the generator")
	f.IntVar(&o.config.Rounds, "rounds", 0, "number of rounds (default: 20 to 320, more where they are short, and 100 of the suite paper; fewer than 5 give no interval and no verdict)")
	f.BoolVar(&o.fresh, "fresh", false, "draw new parameters for each execution: of ssb and tpch unless --fresh=false; of your SQL those written as {x:1..100}")
	o.registerReport(c)
	c.Flags().StringVarP(&o.text.file, "file", "f", "", "read the SQL from `FILE`, - for standard input")
	o.registerData(c)
	completeList(c, "backends", engine.Backends())
	completeList(c, "peers", append(peer.BuiltIn(), noPeers))
	completeList(c, "table", append(generatorNames(), flights.name, largeFlights.name))
	c.AddCommand(newBenchCompare(), newBenchMerge(), newBenchPeer())
	return c
}

func generatorNames() []string {
	return xslices.Map(generate.All(), func(g generate.Generator) string { return g.Name })
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func (o *benchFlags) run(c *cobra.Command, args []string) error {
	config, err := o.settings(c, args)
	if err != nil {
		return err
	}
	prepare := o.prepareSuite
	if len(args) > 0 || c.Flags().Changed("file") {
		prepare = o.prepareStatements
	}
	load, err := prepare(c, args)
	if err != nil {
		return err
	}
	tidy, err := outFolder("--out", o.out)
	if err != nil {
		return err
	}
	defer tidy()
	if config.Machine, err = report.ReadMachine(o.context(), Version); err != nil {
		return err
	}
	suite, err := load(&config)
	if err != nil {
		return err
	}
	config = config.WithDefaults(suite)
	if err := rowsFor(config, suite); err != nil {
		return err
	}
	var wipe func()
	config.Progress, wipe = statusLine(c.ErrOrStderr())
	report, err := suite.Run(c.Context(), config)
	wipe()
	if err == nil || report != nil && len(report.Results) > 0 {
		// What was measured before an interruption is complete.
		err = errors.Join(o.report(c, report), err)
	}
	return err
}

// prepareSuite sees to the flags of a suite; load reads its table.
func (o *benchFlags) prepareSuite(c *cobra.Command, _ []string) (load func(*bench.Config) (bench.Suite, error), err error) {
	suite, err := o.findSuite(c)
	if err != nil {
		return nil, err
	}
	from, err := o.source(c)
	return func(config *bench.Config) (_ bench.Suite, err error) {
		config.Source, err = o.load(c, from)
		return suite, err
	}, err
}

// prepareStatements sees to the flags of statements of the user's; load opens their tables.
func (o *benchFlags) prepareStatements(c *cobra.Command, args []string) (load func(*bench.Config) (bench.Suite, error), err error) {
	for _, flag := range []string{"suite", "figure", "from"} {
		if c.Flags().Changed(flag) {
			return nil, usagef("--%s is for suites, which have statements of their own: leave it out, or the SQL", flag)
		}
	}
	text, err := o.text.read(c, args)
	if err != nil {
		return nil, err
	}
	catalog := bench.Catalog{Seed: o.seed, Options: o.reading(c)}
	files, err := o.sources()
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		files = []tableSource{flights}
	}
	for _, s := range files {
		if s.Data == nil {
			if _, err := ingest.Files(s.Path); err != nil {
				return nil, err
			}
		}
		catalog.Files = append(catalog.Files, bench.NamedFile{Name: s.name, Source: s.Source})
	}
	if c.Flags().Changed("table") {
		if !slices.Contains(generatorNames(), o.table) {
			return nil, usagef("--table %s: beside SQL it takes a generator (%s); the SQL names tables of --load", o.table, strings.Join(generatorNames(), ", "))
		}
		catalog.Generator = o.table
	}
	return func(*bench.Config) (bench.Suite, error) { return bench.Statements(c.Context(), text, catalog, o.fresh) }, nil
}

// reading is how files are read.
func (o *benchFlags) reading(c *cobra.Command) ingest.Options {
	options := ingest.Options{MemoryLimit: o.options.HostMemory, Note: func(text string) { note(c.ErrOrStderr(), text) }}
	if show := loadingOn(c.ErrOrStderr()); show != nil {
		options.Progress = func(p ingest.Progress) { show("table", p) }
	}
	return options
}

// benchFormats write a report, into a folder as the suite's name and an extension.
var benchFormats = map[string]struct {
	extension string
	write     func(*report.Report, io.Writer) error
}{
	"text": {".txt", func(r *report.Report, w io.Writer) error { return render.Of(r).WriteText(w) }}, "json": {".json", (*report.Report).WriteJSON}, "go": {".bench", func(r *report.Report, w io.Writer) error { return render.Of(r).WriteGo(w) }},
}

// report writes a report as the flags ask, and into the folder of --out in all formats.
func (o benchFlags) report(c *cobra.Command, r *report.Report) error {
	var b bytes.Buffer
	if err := benchFormats[o.format].write(r, &b); err != nil {
		return err
	}
	err := writeOnce(c.OutOrStdout(), &b)
	if o.out == "" {
		return err
	}
	for _, f := range benchFormats {
		err = errors.Join(err, files.Write(filepath.Join(o.out, r.Suite+f.extension), func(w io.Writer) error { return f.write(r, w) }))
	}
	return errors.Join(err, render.Of(r).WriteFigures(o.out))
}

// findSuite finds the suite, or the one figure of it.
func (o *benchFlags) findSuite(c *cobra.Command) (bench.Suite, error) {
	one := c.Flags().Changed("figure")
	switch {
	case one && !c.Flags().Changed("suite"):
		o.suite = "paper"
	}
	suite, err := bench.FindSuite(o.suite)
	if named := c.Flags().Changed("table") || c.Flags().Changed("load"); !named && suite.Table != "" {
		o.table = suite.Table
	}
	for _, flag := range []string{"backends", "peers", "table", "load", "fresh"} {
		if err == nil && suite.Experiments() && c.Flags().Changed(flag) {
			return suite, usagef("--%s: the suite %s has data and systems of its own; it takes --rows, --from, --figure, --seed and --rounds", flag, suite.Name)
		}
	}
	if err == nil && !suite.Experiments() && c.Flags().Changed("from") {
		return suite, usagef("--from: the suite %s has the sizes of --rows; %s take it", suite.Name, strings.Join(evaluation.WithExperiments(), ", "))
	}
	for _, flag := range []string{"table", "load", "seed"} {
		if err == nil && suite.OwnTables() && c.Flags().Changed(flag) {
			return suite, usagef("--%s: the suite %s has tables of its own, whose size is --rows", flag, suite.Name)
		}
	}
	switch given := c.Flags().Changed("fresh"); {
	case err != nil:
		return suite, err
	case given && o.fresh && !suite.Draws():
		return suite, usagef("--fresh: the suite %s repeats its statements; ssb, tpch and statements of your own draw parameters", suite.Name)
	case given:
		suite.Fresh = o.fresh
	}
	if suite.Graphics && slices.Contains(o.config.Backends, "auto") {
		return suite, usagef("--backends: the figures have no auto; --suite auto has")
	}
	if one {
		if suite, err = suite.OnlyFigures(o.figure...); err != nil {
			return suite, usagef("--figure: %w", err)
		}
	}
	return suite, nil
}

// someRows and knownPeer read words of the flags --rows and --peers.
func someRows(text string) (int, error) {
	n, err := ingest.ParseRows(text)
	if err == nil && n < 1 {
		err = errors.New("a benchmark takes a row or more")
	}
	return n, err
}

func knownPeer(name string) (string, error) {
	if name == noPeers {
		return name, nil
	}
	return name, peer.Check(name)
}

// settings are the run's configuration but for the machine and the source.
func (o *benchFlags) settings(c *cobra.Command, args []string) (bench.Config, error) {
	config := o.config
	config.Engine, config.Command = o.options, commandLine(c, args)
	var err error
	if config.Program, err = os.Executable(); err != nil {
		return config, err
	}
	if slices.Contains(o.config.Peers, noPeers) {
		if config.Peers = []string{}; len(o.config.Peers) > 1 {
			return config, usagef("--peers: %s is given with others", noPeers)
		}
	}
	if config.Rounds < 0 {
		return config, usagef("--rounds %d: want 1 or more", config.Rounds)
	}
	return config, nil
}

// commandLine is the command, flags and SQL as they were given.
func commandLine(c *cobra.Command, args []string) string {
	line := "stencildb bench"
	for _, text := range args {
		line += " '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		between := " "
		if f.Value.Type() == "bool" {
			between = "="
		}
		line += " --" + f.Name + between + strings.Trim(f.Value.String(), "[]")
	})
	return line
}

// largeFlights is the table that make data fetches.
var largeFlights = tableSource{"flights-3m", ingest.Source{Path: "data/flights-3m.parquet"}}

// source finds what --table names: a table of --load, or else of the flights; a generator,
// which has no path.
func (o *benchFlags) source(c *cobra.Command) (tableSource, error) {
	tables, err := o.sources()
	if err != nil {
		return tableSource{}, err
	}
	if len(tables) == 0 {
		tables = []tableSource{flights, largeFlights}
	}
	if i := slices.IndexFunc(tables, func(s tableSource) bool { return s.name == o.table }); i >= 0 {
		if tables[i].Data == nil {
			_, err = ingest.Files(tables[i].Path)
		}
		if err != nil && len(o.loads) == 0 {
			err = fmt.Errorf("%w: fetch it with make data", err)
		}
		return tables[i], err
	}
	generator := slices.Contains(generatorNames(), o.table)
	switch {
	case generator && (len(o.loads) == 0 || c.Flags().Changed("table")):
		return tableSource{name: o.table}, nil
	case len(o.loads) > 0:
		return tableSource{}, usagef("--table %s: name one of the tables of --load", o.table)
	}
	return tableSource{}, usagef("--table %s: it is neither a table of --load nor a generator (%s) nor %s nor %s", o.table, strings.Join(generatorNames(), ", "), flights.name, largeFlights.name)
}

func (o *benchFlags) load(c *cobra.Command, s tableSource) (workload.Source, error) {
	if s.Path == "" {
		return workload.Generated(s.name, o.seed), nil
	}
	t, err := ingest.Load(c.Context(), s.name, s.Source, o.reading(c))
	if err != nil {
		return workload.Source{}, err
	}
	return workload.Loaded(t)
}

// rowsFor refuses tables that are too large. A table must not be larger than its source. This machine's
// memory must hold it, once for itself and once for each peer. For figures the device must hold what the
// systems on it read.
func rowsFor(c bench.Config, s bench.Suite) error {
	for _, from := range s.Sources(c) {
		sizes := c.Sizes(s, from)
		if len(sizes) == 0 {
			return usagef("--rows %d: table %s has %s", slices.Min(c.Rows), from.Data.Name, numbers.Count(from.Rows, "row", "rows"))
		}
		if c.From > slices.Max(sizes) {
			return usagef("--from %d: the largest table has %s", c.From, numbers.Count(slices.Max(sizes), "row", "rows"))
		}
		if err := sized(slices.Max(sizes), from, c, s); err != nil {
			return err
		}
	}
	return nil
}

func sized(rows int, from workload.Source, c bench.Config, s bench.Suite) error {
	if fixed := from.Rows; fixed > 0 && rows > fixed {
		return usagef("--rows %d: table %s has %s", rows, from.Data.Name, numbers.Count(fixed, "row", "rows"))
	}
	memory, err := memorySize()
	if err != nil {
		return err
	}
	copies := 1 + len(c.Peers)
	if c.Machine.Software {
		copies += len(c.Backends)
	}
	most, holder := memory/(from.RowBytes*copies), "this machine's memory"
	switch onDevice := s.Graphics && slices.ContainsFunc(c.Backends, func(b string) bool { return b != "cpu" }); {
	case onDevice && c.Machine.Device == "":
		return usagef("the figures need an OpenGL device, or --backends cpu: see stencildb info")
	case s.Experiments() && c.Machine.Device == "":
		return usagef("the suite %s needs an OpenGL device: see stencildb info", s.Name)
	case s.Experiments():
		most, holder = s.LargestRows(c.Machine, int64(memory))
	case onDevice:
		if n, by := s.LargestRows(c.Machine, int64(memory)); n < most {
			most, holder = n, by
		}
	}
	if rows > most {
		return usagef("--rows %d: %s holds %s at most for these systems", rows, holder, numbers.Count(most, "row", "rows"))
	}
	return nil
}

// newBenchPeer is how --suite load runs another database in a process of its own.
func newBenchPeer() *cobra.Command {
	c := &cobra.Command{Use: "peer NAME SQL...", Short: "Run statements on another database", Hidden: true, Args: cobra.MinimumNArgs(2)}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		answer, err := peer.Run(c.Context(), args[0], args[1:])
		if err == nil {
			_, err = fmt.Fprintln(c.OutOrStdout(), strings.Join(answer, ","))
		}
		return err
	})
	return c
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
				return fmt.Errorf("%s: give two reports, A.json and B.json", numbers.Count(len(args), "argument", "arguments"))
			}
			return nil
		},
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		if threshold < 0 {
			return usagef("--threshold %v: want 0 or more", threshold)
		}
		reports, err := readReports(c.Context(), args)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := report.Compare(reports[0], reports[1]).Write(&b, threshold/100); err != nil {
			return err
		}
		return writeOnce(c.OutOrStdout(), &b)
	})
	c.Flags().Float64Var(&threshold, "threshold", 5, "changes up to this many percent are not named")
	return c
}

func newBenchMerge() *cobra.Command {
	o := benchFlags{}
	c := &cobra.Command{
		Use:   "merge PART.json ...",
		Short: "Make one report of the parts of a run of a suite that has figures",
		Long: `Makes one report of several of a suite that has figures, of one machine, commit and
data: a long run in parts, by the sizes of the tables or by figures. What the paper's
headlines say is judged again over all of them, and of one report by this program. A
case that several parts have is that of the first.`,
		Example: `  stencildb bench --suite paper --rows 1M,16Mi --out a
  stencildb bench --suite paper --rows 256Mi --out b
  stencildb bench merge a/paper.json b/paper.json --out results`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no parts: give the JSON of one report or more")
			}
			return nil
		},
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		parts, err := readReports(c.Context(), args)
		if err != nil {
			return err
		}
		report, err := evaluation.Merge(parts...)
		if err != nil {
			return err
		}
		tidy, err := outFolder("--out", o.out)
		if err != nil {
			return err
		}
		defer tidy()
		return o.report(c, report)
	})
	o.registerReport(c)
	return c
}

// registerReport registers the flags of where a report goes.
func (o *benchFlags) registerReport(c *cobra.Command) {
	o.format = "text"
	choiceFlag(c, &o.format, "format", "how the report is printed", "text", "json", "go")
	c.Flags().StringVar(&o.out, "out", "", "folder to write the report into, in all formats")
}

func readReports(ctx context.Context, paths []string) (list []*report.Report, err error) {
	return xslices.TryMap(paths, func(path string) (*report.Report, error) { return readReport(ctx, path) })
}

func readReport(ctx context.Context, path string) (*report.Report, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := report.ReadJSON(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
