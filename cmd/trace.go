package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/trace"
)

func newTrace() *cobra.Command {
	var o common
	var out string
	var most int
	var both []string
	c := &cobra.Command{
		Use:   "trace [flags] -o FILE.html ['SQL']",
		Short: "Write a page that shows every pass of a statement with its pictures",
		Long: `Runs a statement and writes one HTML page: the SQL, the plan, then every pass in
order with its name in the paper, the pipeline state, the GLSL, the samples that
passed, the time, and pictures of the attribute texture, the depth buffer and the
stencil buffer before and after; for backend compute of the bit planes and bitmaps.
Pointing at a picture shows the record: its row, values, code, depth and stencil.
For viewing, records are laid out sorted by the first two attributes, or in row order;
the page switches between the two, and begins in row order where the table is ordered.
The page needs no network and opens from disk.

The backend is classic unless another one is named; cpu has no passes to show. The
statement is a SELECT of aggregates, on compute also of groups, or one of rows with ORDER BY:
on classic the steps of a sorting network, of a few thousand records best.
--against shows the passes of two backends side by side, with the points where both
have the same selection, the same candidates for a k-th value, or the same sum.` + commonHelp,
		Example: `  stencildb trace -o cnf.html 'SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND time >= 6'
  stencildb trace --backend compute -o median.html 'SELECT MEDIAN(delay) FROM flights WHERE distance > 1000'
  stencildb trace --load t.parquet -o sort.html 'SELECT a FROM t WHERE b > 5 ORDER BY a DESC'
  stencildb trace --against classic,compute -o both.html 'SELECT MEDIAN(delay) FROM flights WHERE distance > 1000'`,
		Args: atMostOneSQL,
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		switch {
		case out == "" || out == "-":
			return usagef("give the page to write with -o FILE.html")
		case most < 1:
			return usagef("--max-passes %d: a page has 1 pass or more", most)
		case o.options.Backend == "cpu":
			return usagef("--backend cpu: it runs no passes to look at: take classic, fused or compute")
		}
		if c.Flags().Changed("against") {
			if err := checkBoth(c, both); err != nil {
				return err
			}
		} else {
			both = []string{o.options.Backend}
		}
		statement, err := o.text.read(c, args)
		if err != nil {
			return err
		}
		page, err := files.Create(c.Context(), out)
		if err != nil {
			return err
		}
		defer page.Discard()
		var traces []*trace.Trace
		for _, backend := range both {
			o.options.Backend = backend
			if err := o.withOrdered(c, func(ctx context.Context, db *engine.DB, order func(*table.Table) string) error {
				t, err := traceOn(ctx, c.ErrOrStderr(), db, statement, trace.Options{MaxPasses: most, Order: order})
				traces = append(traces, t)
				return err
			}); err != nil {
				return err
			}
		}
		return writePage(c.ErrOrStderr(), page, out, traces)
	})
	o.register(c, "classic")
	c.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write")
	c.Flags().IntVar(&most, "max-passes", trace.DefaultMaxPasses, "the most passes that the page may have; a statement of more is an error")
	c.Flags().StringSliceVar(&both, "against", nil, "two backends whose passes are shown side by side, as `classic,compute`")
	return c
}

// checkBoth checks what --against names.
func checkBoth(c *cobra.Command, both []string) error {
	passes := []string{"classic", "fused", "compute"}
	if c.Flags().Changed("backend") {
		return usagef("--against names both backends: leave --backend out")
	}
	if len(both) != 2 || both[0] == both[1] || !slices.Contains(passes, both[0]) || !slices.Contains(passes, both[1]) {
		return usagef("--against %s: name two of classic, fused and compute, as classic,compute", strings.Join(both, ","))
	}
	return nil
}

// traceOn traces a statement, and says on stderr how far it is.
func traceOn(ctx context.Context, stderr io.Writer, db *engine.DB, statement string, o trace.Options) (*trace.Trace, error) {
	if show := terminal.ProgressOn(stderr, "tracing"); show != nil {
		o.Progress = func(done, all int) { show("passes", terminal.Progress{Done: int64(done), Total: int64(all)}) }
		defer show("passes", terminal.Progress{Done: 1, Total: 1}) // wipes what an error has left
	}
	return trace.Run(ctx, db, statement, o)
}

// writePage completes the page of a trace, or of two.
func writePage(stderr io.Writer, page *files.File, path string, traces []*trace.Trace) error {
	write, passes := traces[0].WriteHTML, len(traces[0].Passes)
	if len(traces) == 2 {
		write = func(w io.Writer) error { return trace.WriteAgainst(w, traces[0], traces[1]) }
		passes += len(traces[1].Passes)
	}
	if err := page.Commit(write); err != nil {
		return err
	}
	return remarkSize(stderr, path, passes, largePage)
}

// largePage is the size in bytes above which a page is said to be large.
const largePage = 5_000_000

// remarkSize says when a page is larger than so many bytes.
func remarkSize(w io.Writer, path string, passes int, most int64) error {
	st, err := os.Stat(path)
	if err != nil || st.Size() <= most {
		return err
	}
	note(w, fmt.Sprintf("%s has %.1f MB and %d passes: a browser may take long to open it", path, float64(st.Size())/1e6, passes))
	return nil
}
