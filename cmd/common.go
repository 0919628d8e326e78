package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
)

// common holds the flags of the commands that run SQL.
type common struct {
	text    sqlText
	loads   []string
	options engine.Options
}

// commonHelp is the part of a command's help that is about them.
const commonHelp = `

Tables come from --load, once a table; without NAME= it has the file's name. The
format is the extension's: .csv, .tsv, .json (an object a line, or an array of objects),
.parquet, .arrow; .csv.gz and .csv.zst too.
With another extension the first bytes say what it is, and a note which.
The delimiter of a CSV, a missing header and words for NULL such as NA are found
out, and a note says what was taken. A column in which numbers are mixed with text is
text, and a note says which; --strict makes it an error. Options follow the path and
end the guessing (there is encoding=latin1, windows1252 or utf16, too):

  --load 't=trips.csv?header=false&delim=;&null=NA&types=a:numeric(12,2),b:text'

SQL reads a file by its path, with or without options, or by a function:

  FROM 'trips.csv'     FROM 'trips.csv?delim=;'
  FROM read_csv('trips.csv', header => false, types => 'column1:text') AS t
  FROM read_parquet('trips.dat')     FROM read_arrow('trips.dat')     FROM read_json('trips.dat')

Several files are one table by a pattern: --load 't=day-*.csv', FROM 'day-*.csv'.
A folder is a table of each file in it: --load ssb.

Without --load there is one table, flights: 200,000 US flights with delay
(minutes), distance (miles) and time (hour of the day).

Backends: classic is the 2004 paper on the graphics pipeline, fused the same
pipeline used the modern way, compute works on bit planes in compute shaders, and
cpu computes the same in Go; all give the same answers. auto takes for each
statement the one that is predicted to be the fastest on this machine: explain
shows the predictions, info --calibrate measures what they are made from.`

// register adds the flags of a command that runs a text of SQL, by default on that backend.
func (o *common) register(c *cobra.Command, backend string) {
	o.registerBackend(c, backend)
	c.Flags().StringVarP(&o.text.file, "file", "f", "", "read the SQL from `FILE`, - for standard input")
}

// registerBackend adds those of a command that runs SQL, wherever it comes from.
func (o *common) registerBackend(c *cobra.Command, backend string) {
	o.options.Backend = backend
	choiceFlag(c, &o.options.Backend, "backend", "what computes the answer", engine.Backends()...)
	o.registerData(c)
	c.Flags().DurationVar(&o.options.StatementTimeout, "statement-timeout", 0, "end a statement that takes longer, e.g. 500ms or 1m (default: no limit)")
}

// registerData adds those of tables and devices.
func (o *common) registerData(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.loads, "load", nil, "load a table, or those of a folder: `NAME=PATH[?option&...]` (may be repeated)")
	c.Flags().StringVar(&o.options.Folder, "db", "", "keep the tables that statements make in `DIR`, which is made where it is not there (default: they are gone at the end)")
	c.Flags().Var(&parsed[int64]{&o.options.HostMemory, "", "SIZE", glctx.ParseSize}, "host-memory", "budget for tables, and for sorting and grouping files beyond it, in host memory (default: none, until half of what is free has no room for a statement)")
	c.Flags().BoolVar(&o.options.Strict, "strict", false, "numbers mixed with text in a column of a CSV or JSON file are an error (default: the column is text, and a note says so)")
	o.registerGPU(c)
}

// registerGPU adds those of devices.
func (o *common) registerGPU(c *cobra.Command) {
	o.registerDevice(c)
	c.Flags().Var(&parsed[int64]{&o.options.GPUMemory, "", "SIZE", glctx.ParseSize}, "gpu-memory", "budget for columns on each device, e.g. 512MiB or 4G (default: a share of what is free)")
}

func (o *common) registerDevice(c *cobra.Command) {
	c.Flags().StringVar(&o.options.Device, "device", "", "OpenGL device: a number or kind from 'stencildb info', or several that share the chunks of each table: 0,1 or all (default: STENCILDB_DEVICE, else the first hardware device, else software)")
}

// context are the flags as a context without a DB takes them.
func (o *common) context() glctx.Options {
	return glctx.Options{Device: o.options.Device, Memory: o.options.GPUMemory}
}

// tableSource is a table of --load, or one that is built in.
type tableSource struct {
	name string
	ingest.Source
}

func (o *common) sources() ([]tableSource, error) {
	var list []tableSource
	names := map[string]bool{}
	var specs []string
	for _, spec := range o.loads {
		some, err := ingest.InFolder(spec)
		if err != nil {
			return nil, err
		}
		specs = append(specs, some...)
	}
	for _, spec := range specs {
		name, s, err := ingest.ParseLoad(spec)
		if err != nil {
			return nil, usageError{err}
		}
		if names[name] {
			return nil, usagef("--load: there are two tables named %s: give each its own name", name)
		}
		names[name] = true
		list = append(list, tableSource{name, s})
	}
	return list, nil
}

// flights is the embedded table.
var flights = tableSource{"flights", ingest.Source{Path: "flights-200k.parquet", Data: testdata.Flights200k}}

// withDB runs fn on the DB that the flags describe and closes it. Files are looked for now
// and read when a statement first names their table.
func (o *common) withDB(c *cobra.Command, fn func(context.Context, *engine.DB) error) error {
	tables, err := o.sources()
	if err != nil {
		return err
	}
	for _, s := range tables {
		if _, err := ingest.Files(s.Path); err != nil {
			return err
		}
	}
	if len(tables) == 0 && o.options.Folder == "" {
		tables = []tableSource{flights}
	}
	return o.withTables(c, fn, func(db *engine.DB) (err error) {
		for _, s := range tables {
			err = errors.Join(err, db.Attach(s.name, s.Source))
		}
		return err
	})
}

func (o *common) withTables(c *cobra.Command, fn func(context.Context, *engine.DB) error, fill func(*engine.DB) error) (err error) {
	o.options.Note = func(text string) { note(c.ErrOrStderr(), text) }
	o.options.Progress = loadingOn(c.ErrOrStderr())
	db, err := engine.Open(o.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := fill(db); err != nil {
		return err
	}
	return fn(c.Context(), db)
}

// flightsOrder says how the flights of withOrdered lie.
const flightsOrder = "The flights are sorted by delay into lines, each line by distance: delay grows downwards, distance to the right."

// withOrdered is withDB for pictures. The embedded flights are in an order that makes regions visible; order
// names it for their table, and is "" for others.
func (o *common) withOrdered(c *cobra.Command, fn func(ctx context.Context, db *engine.DB, order func(*table.Table) string) error) error {
	if len(o.loads) > 0 || o.options.Folder != "" { // there are no flights
		return o.withDB(c, func(ctx context.Context, db *engine.DB) error { return fn(ctx, db, nil) })
	}
	t, err := lesson.Flights(math.MaxInt)
	if err != nil {
		return err
	}
	ordered := func(read *table.Table) string {
		if slices.Equal(read.Chunks, t.Chunks) {
			return flightsOrder
		}
		return ""
	}
	return o.withTables(c, func(ctx context.Context, db *engine.DB) error { return fn(ctx, db, ordered) }, func(db *engine.DB) error { return db.Add(t) })
}

// outFolder makes the folder that a flag names, and sees that it can be written to before any
// work. tidy has to follow: of the folders that were made it removes the empty ones.
// Without a path there is nothing to do.
func outFolder(flag, path string) (tidy func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	made := missing(path)
	tidy = func() {
		for _, dir := range made {
			os.Remove(dir) // which leaves one that holds something
		}
	}
	if err := files.MakeFolder(path); err != nil {
		tidy()
		return nil, fmt.Errorf("%s %w", flag, err)
	}
	return tidy, nil
}

// lockFolder sees that no other run that locks it writes to the folder of --out. The
// lock is on the open folder: nothing lies in it, and it ends with the process. Where
// the file system has no such locks, there is none.
func lockFolder(path string) (unlock func(), err error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", path, err)
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		dir.Close()
		return nil, fmt.Errorf("--out %s: another run is writing there: wait until it ends, or take another folder", path)
	}
	return func() { dir.Close() }, nil
}

// missing returns a folder and those around it that are not there, the innermost first.
func missing(path string) (list []string) {
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return list
		}
		list = append(list, dir)
	}
}

// Version is the version that --version prints; the build sets it.
var Version = "dev"

// onTerminal reports whether a person sits before the command.
func onTerminal(c *cobra.Command) bool {
	_, shown := c.OutOrStdout().(*terminal.Screen)
	return shown && c.InOrStdin() == os.Stdin && terminal.Is(os.Stdin)
}
