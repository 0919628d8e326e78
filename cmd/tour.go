package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// stop is one routine of the paper, with a query whose work it is.
type stop struct {
	routine string
	number  string // of the routine in the paper
	words   string
	sql     string
}

// stops are the routines, from one comparison to sums.
var stops = []stop{
	{"CopyToDepth", "4.1", "an attribute's texture is copied to the depth buffer; time is 32 bits wide, so it is copied in two parts",
		"SELECT COUNT(*) FROM flights WHERE time >= 22.5"},
	{"Compare", "4.1", "the depth test compares the attribute of every record with a constant, and an occlusion query counts those that pass",
		"SELECT COUNT(*), selectivity() FROM flights WHERE delay > 60"},
	{"Range", "4.4", "the depth bounds test evaluates both ends of a range at once (two comparisons where the device has no such test)",
		"SELECT COUNT(*) FROM flights WHERE distance BETWEEN 500 AND 1000"},
	{"Semilinear", "4.2", "a fragment program evaluates a linear combination of attributes and discards the records that fail",
		"SELECT COUNT(*) FROM flights WHERE 10 * delay - distance > 0"},
	{"EvalCNF", "4.3", "a boolean combination lives in the stencil buffer, one clause after the other",
		"SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10)"},
	{"KthLargest", "4.5", "the k-th largest value is found bit by bit from the top, one count a bit",
		"SELECT kth_largest(delay, 100), MEDIAN(delay), MAX(distance) FROM flights WHERE distance > 1000"},
	{"Accumulator", "4.6", "a sum is found by testing each bit of the attribute: the count times 2^i, added up",
		"SELECT SUM(distance), AVG(delay) FROM flights WHERE delay > 60"},
}

// tourBackends are the backends whose answers are compared.
var tourBackends = []string{"classic", "fused", "compute", "cpu"}

func newTour() *cobra.Command {
	var o common
	c := &cobra.Command{
		Use:   "tour",
		Short: "Run every routine of the paper on real data, on the graphics pipeline and on the CPU",
		Long: `Loads the embedded table of 200,000 US flights and runs one query for each routine
of the 2004 paper (CopyToDepth, Compare, Range, Semilinear, EvalCNF, KthLargest,
Accumulator) on classic, which is the paper, and on fused, compute and cpu. It
prints the SQL, the answers, the passes, the samples counted by occlusion queries
and the time (of a second run, with columns resident and programs compiled), and
fails if any two answers differ.`,
		Example: `  stencildb tour
  stencildb tour --device software`,
		Args: cobra.NoArgs,
	}
	c.RunE = run(func(c *cobra.Command, _ []string) (err error) {
		t, err := ingest.Load(c.Context(), flights.name, flights.Source, ingest.Options{})
		if err != nil {
			return err
		}
		var dbs []*engine.DB
		defer func() {
			for _, db := range dbs {
				err = errors.Join(err, db.Close())
			}
		}()
		for _, name := range tourBackends {
			o.options.Backend = name
			db, err := engine.Open(o.options)
			if err != nil {
				return err
			}
			dbs = append(dbs, db)
			if err := errors.Join(engine.Inspect(db).Ready(), db.Add(t)); err != nil {
				return err
			}
		}
		return tour(c.Context(), dbs, t, c.OutOrStdout())
	})
	o.registerGPU(c)
	return c
}

// tour runs all stops on each DB and reports answers that differ.
func tour(ctx context.Context, dbs []*engine.DB, t *table.Table, w io.Writer) error {
	fields := xslices.Map(t.Fields, func(f table.Field) string { return f.Name + " " + f.Type.String() })
	fmt.Fprintf(w, "Table %s: %s of %s\n", t.Name, numbers.Count(t.Rows(), "row", "rows"), strings.Join(fields, ", "))
	differ := 0
	for _, s := range stops {
		same, err := s.visit(ctx, dbs, w)
		if err != nil {
			return fmt.Errorf("%s: %w", s.routine, err)
		}
		if !same {
			differ++
		}
	}
	if err := mipmap(ctx, dbs[0], t, w); err != nil {
		return fmt.Errorf("mipmap: %w", err)
	}
	if differ > 0 {
		return fmt.Errorf("the answers of %s differ between %s", numbers.Count(differ, "query", "queries"), strings.Join(tourBackends, ", "))
	}
	_, err := fmt.Fprintf(w, "\nAll %d answers are the same on %s.\n", len(stops), strings.Join(tourBackends, ", "))
	return err
}

// mipmap shows the way to sum that the paper argues against, beside the exact sum.
func mipmap(ctx context.Context, db *engine.DB, t *table.Table, w io.Writer) error {
	const column = 1
	name := t.Fields[column].Name
	r, err := engine.Collect(db.Query(ctx, "SELECT SUM("+name+") FROM "+t.Name))
	if err != nil {
		return err
	}
	gpu, err := engine.Inspect(db).GPU(ctx)
	if err != nil {
		return err
	}
	sum, err := gpu.MipmapSum(ctx, t, column, nil)
	if err != nil {
		return err
	}
	exact, _ := new(big.Float).SetInt(r.Rows[0][0].Unscaled()).Float64()
	_, err = fmt.Fprintf(w, "\nFor comparison, a floating-point mipmap (section 4.3.3) gives SUM(%s) = %.0f; exact: %v, off by %.0f\n",
		name, sum, r.Rows[0][0], sum-exact)
	return err
}

// visit runs the query of one stop on each DB, describes that, and reports whether all
// answers are the same.
func (s stop) visit(ctx context.Context, dbs []*engine.DB, w io.Writer) (same bool, err error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s (routine %s): %s\n  %s\n", s.routine, s.number, s.words, s.sql)
	first, same := "", true
	for _, db := range dbs {
		// The first run uploads and compiles; the second is what is shown.
		for n := range 2 {
			r, err := engine.Collect(db.Query(ctx, s.sql))
			if err != nil {
				return false, err
			}
			answer := answerText(r)
			first = cmp.Or(first, answer)
			if same = same && answer == first; n == 1 {
				fmt.Fprintf(&b, "  %-8s %-44s %9s %11s samples %11s\n", r.Backend, answer, numbers.Count(r.Passes, "pass", "passes"), numbers.Grouped(r.Samples), duration(r.Elapsed))
			}
		}
	}
	if !same {
		b.WriteString("  DIFFERENT ANSWERS\n")
	}
	return same, writeOnce(w, &b)
}

// answerText writes the one row of an aggregate query: "count = 5".
func answerText(r *engine.Result) string {
	var parts []string
	for i, v := range r.Rows[0] {
		parts = append(parts, r.Columns[i].Name+" = "+v.String())
	}
	return strings.Join(parts, ", ")
}
