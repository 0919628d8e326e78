package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/trace"
)

func newTrace() *cobra.Command {
	var o common
	var out string
	var most int
	c := &cobra.Command{
		Use:   "trace [flags] -o FILE.html 'SQL'",
		Short: "Write a page that shows every pass of a statement with its pictures",
		Long: `Runs a statement and writes one HTML page: the SQL, the plan, then every pass in
order with its name in the paper, the pipeline state, the GLSL, the samples that
passed, the time, and pictures of the attribute texture, the depth buffer and the
stencil buffer before and after; for backend compute of the bit planes and bitmaps.
Pointing at a picture shows the record: its row, values, code, depth and stencil.
The page needs no network and opens from disk.

The backend is classic unless another one is named; cpu has no passes to show.` + commonHelp,
		Example: `  stencildb trace -o cnf.html 'SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND time >= 6'
  stencildb trace --backend compute -o median.html 'SELECT MEDIAN(delay) FROM flights WHERE distance > 1000'`,
		Args: oneSQL,
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		switch {
		case out == "" || out == "-":
			return usagef("give the page to write with -o FILE.html")
		case most < 1:
			return usagef("--max-passes %d: a page has 1 pass or more", most)
		}
		if err := ingest.CheckPlace(out); err != nil {
			return err
		}
		page, err := files.Create(out)
		if err != nil {
			return err
		}
		defer page.Discard()
		return o.withOrdered(c, func(ctx context.Context, db *engine.DB, order string) error {
			t, err := trace.Run(ctx, db, args[0], trace.Options{MaxPasses: most, Order: order})
			if err != nil {
				return err
			}
			return page.Commit(t.WriteHTML)
		})
	})
	o.register(c)
	o.backend.value, c.Flags().Lookup("backend").DefValue = "classic", "classic"
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write")
	c.Flags().IntVar(&most, "max-passes", trace.DefaultMaxPasses, "the most passes that the page may have; a statement of more is an error")
	return c
}
