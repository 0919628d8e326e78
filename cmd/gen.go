package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/ingest"
)

func newGen() *cobra.Command {
	var out string
	var rows int
	var seed uint64
	var names []string
	about := "Writes a table of synthetic data. The same name, rows and seed give the same\ndata on every machine. The format is the extension's: .csv or .tsv (also with .gz\nor .zst), .parquet, .arrow.\n"
	for _, g := range ingest.Generators() {
		names = append(names, g.Name)
		about += fmt.Sprintf("\n  %-8s %s rows by default; %s", g.Name, grouped(uint64(g.DefaultRows)), g.Doc)
	}
	c := &cobra.Command{
		Use:   "gen NAME [flags]",
		Short: "Generate data: " + strings.Join(names, ", "),
		Long:  about,
		Example: `  stencildb gen tcpip -o tcpip.parquet
  stencildb gen uniform --rows 16777216 --seed 7 -o uniform.parquet
  stencildb query --load tcpip.parquet 'SELECT MEDIAN(data_count) FROM tcpip'`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		g, err := ingest.FindGenerator(args[0])
		switch {
		case err != nil:
			return usageError{err}
		case out == "":
			return usagef("give the file to write with -o FILE")
		case !c.Flags().Changed("rows"):
			rows = g.DefaultRows
		case rows < 0:
			return usagef("--rows %d: a table has 0 rows or more", rows)
		}
		if err := ingest.CheckExtension(out); err != nil {
			return usageError{err}
		}
		t, err := g.Generate(rows, seed, 0)
		if err != nil {
			return err
		}
		if err := c.Context().Err(); err != nil {
			return err
		}
		return ingest.WriteFile(out, t)
	})
	c.Flags().IntVar(&rows, "rows", 0, "number of rows (default: the generator's)")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the random numbers")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write")
	return c
}
