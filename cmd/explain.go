package cmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/engine"
)

func newExplain() *cobra.Command {
	var o common
	var analyze, glsl, pipelines bool
	c := &cobra.Command{
		Use:   "explain [flags] ['SQL']",
		Short: "List the passes of a statement, by their names in the paper",
		Long: `Lists the passes that answer a statement, with the paper's routine names, and
says in words what each counts. Nothing runs: passes that depend on the counts of
earlier ones are written with the bit that varies, as in
Compare(delay >= x + 2^i), i = 10..0. Below the passes stands what each backend is
predicted to take with the columns resident, and what bringing the others to the
device would take: the backend auto goes by that. With --analyze the statement is
executed, first to upload columns and compile programs, then
pass by pass, then as a whole, and the numbers are shown: the time beside the
prediction, what loading took, in parts (reading, opening the device, uploading,
compiling), and what is on the device afterwards. Of INSERT, UPDATE, DELETE and
CREATE TABLE AS the query that finds the rows is shown; with --analyze they are
done. With --pipelines the physical plan is shown instead: the pipelines that the
planner makes, each a source, steps and a sink, with the rows that are expected.
In SQL the same is EXPLAIN [ANALYZE] and EXPLAIN (PIPELINES).` + commonHelp,
		Example: `  stencildb explain --backend classic 'SELECT MEDIAN(delay) FROM flights'
  stencildb explain --backend classic --analyze 'SELECT COUNT(*) FROM flights WHERE delay BETWEEN 10 AND 60'
  stencildb explain --backend classic --glsl 'SELECT COUNT(*) FROM flights WHERE 2*delay > distance'`,
		Args: atMostOneSQL,
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		statement, err := o.text.read(c, args)
		if err != nil {
			return err
		}
		return o.withDB(c, func(ctx context.Context, db *engine.DB) error {
			return explainTo(ctx, c.OutOrStdout(), db, statement, engine.ExplainOptions{Analyze: analyze, GLSL: glsl, Pipelines: pipelines})
		})
	})
	o.register(c, "auto")
	c.Flags().BoolVar(&analyze, "analyze", false, "execute the statement and show what each pass counted and took")
	c.Flags().BoolVar(&pipelines, "pipelines", false, "show the physical plan: sources, steps and sinks")
	c.Flags().BoolVar(&glsl, "glsl", false, "show the fragment programs")
	return c
}

// explainTo writes how a statement is answered.
func explainTo(ctx context.Context, w io.Writer, db *engine.DB, statement string, o engine.ExplainOptions) error {
	x, err := db.Explain(ctx, statement, o)
	if err != nil {
		return err
	}
	return x.WriteText(w)
}
