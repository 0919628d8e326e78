package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/numbers"
)

func newGen() *cobra.Command {
	var out string
	var rows int
	var seed uint64
	var names []string
	about := "Writes a table of synthetic data. The same name, rows and seed give the same\ndata on every machine. The format is the extension's: .csv or .tsv (also with .gz\nor .zst), .parquet, .arrow.\n"
	for _, g := range generate.All() {
		names = append(names, g.Name)
		about += fmt.Sprintf("\n  %-8s %s rows by default; %s", g.Name, numbers.Grouped(uint64(g.DefaultRows)), g.Doc)
	}
	c := &cobra.Command{
		Use:   "gen NAME [flags]",
		Short: "Generate data: " + strings.Join(names, ", "),
		Long:  about,
		Example: `  stencildb gen tcpip -o tcpip.parquet
  stencildb gen uniform --rows 16Mi --seed 7 -o uniform.parquet
  stencildb query --load tcpip.parquet 'SELECT MEDIAN(data_count) FROM tcpip'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d arguments: name what to generate, one of %s", len(args), strings.Join(names, ", "))
			}
			return nil
		},
		ValidArgs: names,
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		g, err := generate.Find(args[0])
		switch {
		case err != nil:
			return usageError{err}
		case out == "":
			return usagef("give the file to write with -o FILE")
		case !c.Flags().Changed("rows"):
			rows = g.DefaultRows
		}
		if err := ingest.CheckExtension(out); err != nil {
			return usageError{err}
		}
		if err := files.CheckPlace(out); err != nil {
			return err
		}
		if err := fits(rows, g); err != nil {
			return err
		}
		t, err := g.Generate(c.Context(), rows, seed, 0)
		if err != nil {
			return err
		}
		return ingest.WriteFile(c.Context(), out, t)
	})
	c.Flags().Var(&parsed[int]{&rows, "", "NUMBER", ingest.ParseRows}, "rows", "`NUMBER` of rows, e.g. 100k, 16M, 2^28 (default: the generator's)")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the random numbers")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write")
	return c
}

// fits refuses a table larger than the machine's memory, in which it is made:
// asking for more ends in a kill.
func fits(rows int, g generate.Generator) error {
	memory, err := memorySize()
	if err != nil {
		return err
	}
	if most := memory / g.RowBytes(); rows > most {
		return fmt.Errorf("--rows %d: the table is made in memory, and this machine's holds %s rows of %s at most", rows, numbers.Grouped(most), g.Name)
	}
	return nil
}

// memorySize is the machine's memory in bytes.
func memorySize() (int, error) {
	var machine unix.Sysinfo_t
	err := unix.Sysinfo(&machine)
	return int(machine.Totalram * uint64(machine.Unit)), err
}
