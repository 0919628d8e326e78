package cmd

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

func newGen() *cobra.Command {
	g := genFlags{scale: 1}
	var names []string
	about := "Writes synthetic data. The same name, size and seed give the same data on every\nmachine. The format of a table is the extension's: .csv or .tsv (also with .gz\nor .zst), .parquet, .arrow.\n"
	for _, g := range generate.All() {
		names = append(names, g.Name)
		about += fmt.Sprintf("\n  %-9s %s rows by default; %s", g.Name, numbers.Grouped(uint64(g.DefaultRows)), g.Doc)
	}
	about += "\n\nSeveral tables that belong together, of a size that --scale says, are written into a\nfolder, a Parquet file each; --load FOLDER loads them.\n"
	for _, d := range generate.Databases() {
		names = append(names, d.Name)
		about += fmt.Sprintf("\n  %-9s %s", d.Name, d.Doc)
	}
	c := &cobra.Command{
		Use:   "gen NAME [flags]",
		Short: "Generate data: " + strings.Join(names, ", "),
		Long:  about,
		Example: `  stencildb gen tcpip -o tcpip.parquet
  stencildb gen uniform --rows 16Mi --seed 7 -o uniform.parquet
  stencildb query --load tcpip.parquet 'SELECT MEDIAN(data_count) FROM tcpip'
  stencildb gen ssb --scale 0.1 -o ssb
  stencildb query --load ssb 'SELECT d_year, COUNT(*) FROM date GROUP BY d_year'
  stencildb gen tpch --scale 10 -o tpch`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d arguments: name what to generate, one of %s", len(args), strings.Join(names, ", "))
			}
			return nil
		},
		ValidArgs: names,
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		if !slices.Contains(names, args[0]) {
			return usagef("no generator %q: there are %s", args[0], strings.Join(names, ", "))
		}
		if g.out == "" {
			return usagef("give what to write, with -o FILE, of several tables with -o FOLDER")
		}
		for _, d := range generate.Databases() {
			if d.Name == args[0] {
				return g.folder(c, d)
			}
		}
		return g.file(c, args[0])
	})
	c.Flags().Var(&parsed[int]{&g.rows, "", "NUMBER", ingest.ParseRows}, "rows", "`NUMBER` of rows of one table, e.g. 100k, 16M, 2^28 (default: the generator's)")
	c.Flags().Float64Var(&g.scale, "scale", g.scale, "scale factor of several tables")
	c.Flags().Uint64Var(&g.seed, "seed", 1, "seed of the random numbers")
	c.Flags().StringVarP(&g.out, "output", "o", "", "`FILE` or folder to write")
	return c
}

// genFlags are the flags of gen.
type genFlags struct {
	out   string
	rows  int
	scale float64
	seed  uint64
}

// file writes the table of a generator.
func (f genFlags) file(c *cobra.Command, name string) error {
	g, err := generate.Find(name)
	switch {
	case err != nil:
		return err
	case c.Flags().Changed("scale"):
		return usagef("--scale: %s is one table, whose size is --rows", name)
	case !c.Flags().Changed("rows"):
		f.rows = g.DefaultRows
	}
	if err := ingest.CheckExtension(f.out); err != nil {
		return usageError{err}
	}
	if err := files.CheckPlace(f.out); err != nil {
		return err
	}
	if err := fits(f.rows, g); err != nil {
		return err
	}
	t, err := g.Generate(c.Context(), f.rows, f.seed, 0)
	if err != nil {
		return err
	}
	return ingest.WriteFile(c.Context(), f.out, t)
}

// folder writes the tables of a database.
func (f genFlags) folder(c *cobra.Command, d generate.Database) error {
	if c.Flags().Changed("rows") {
		return usagef("--rows: %s is several tables, whose size is --scale", d.Name)
	}
	tables, err := d.Tables(f.scale)
	if err != nil {
		return usageError{err}
	}
	tidy, err := outFolder("-o", f.out)
	if err != nil {
		return err
	}
	defer tidy()
	for _, g := range tables {
		chunks := shown(c, g, g.Chunks(c.Context(), g.DefaultRows, f.seed, streamedRows))
		if err := parquet.WriteChunks(c.Context(), filepath.Join(f.out, g.Name+".parquet"), g.Fields(), chunks); err != nil {
			return err
		}
	}
	return nil
}

// streamedRows is how many rows a core makes at a time of tables that go to files as they are made.
const streamedRows = 1 << 18

// shown shows on a console how many rows of a table are made.
func shown(c *cobra.Command, g generate.Generator, chunks iter.Seq2[*table.Chunk, error]) iter.Seq2[*table.Chunk, error] {
	show := terminal.ProgressOn(c.ErrOrStderr(), "generating")
	if show == nil {
		return chunks
	}
	return func(yield func(*table.Chunk, error) bool) {
		at := terminal.Progress{Total: int64(g.DefaultRows)}
		for ch, err := range chunks {
			if !yield(ch, err) || err != nil {
				break
			}
			at.Done += int64(ch.Rows)
			at.Words = ", " + numbers.Grouped(uint64(at.Done)) + " rows"
			show(g.Name, at)
		}
		show(g.Name, terminal.Progress{Done: at.Total, Total: at.Total})
	}
}

// fits refuses a table larger than the machine's memory, in which it is made:
// asking for more ends in a kill.
func fits(rows int, g generate.Generator) error {
	memory, err := memorySize()
	if err != nil {
		return err
	}
	if most := memory / g.RowBytes(); rows > most {
		return fmt.Errorf("%d rows: the table is made in memory, and this machine's holds %s rows of %s at most", rows, numbers.Grouped(most), g.Name)
	}
	return nil
}

// memorySize is the machine's memory in bytes.
func memorySize() (int, error) {
	var machine unix.Sysinfo_t
	err := unix.Sysinfo(&machine)
	return int(machine.Totalram * uint64(machine.Unit)), err
}
