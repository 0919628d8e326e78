package cmd

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/engine"
)

func newQuery() *cobra.Command {
	var o common
	var text sqlText
	var keepGoing bool
	var out *choice
	c := &cobra.Command{
		Use:   "query [flags] ['SQL; SQL; ...']",
		Short: "Answer SQL",
		Long: `Answers SQL statements in order. The first that fails ends the run, unless
--keep-going is given. A statement's answer is printed when it is complete: one
that fails prints nothing but its error. A script without statements, such as a
file of comments, is no error: standard error says that it has none.

A statement is a SELECT of aggregates over one table, or EXPLAIN [ANALYZE] of one.
There are COUNT, SUM, AVG, MIN, MAX, MEDIAN(x), selectivity(), arithmetic over
them and

  percentile_disc(0.9) WITHIN GROUP (ORDER BY x)
  kth_largest(x, k), kth_smallest(x, k)

WHERE takes AND, OR, NOT, comparisons, BETWEEN, IN, LIKE, IS [NOT] NULL and
arithmetic over columns and constants. The meaning is PostgreSQL's.

Formats: table is for people. csv is one result set, with NULL an unquoted empty
field and "" an empty string. json is one line a statement: {"sql", "columns",
"rows", "backend", "passes", "ms", "load_ms"}; ms is the time of the execution,
load_ms what reading files and the first upload of columns took; integers beyond
2^53, decimals, dates, timestamps, NaN and Infinity are strings.

The exit status is 1 for what is wrong in data, files or SQL, 2 for flags and
arguments, 130 after Ctrl-C.` + commonHelp,
		Example: `  stencildb query 'SELECT COUNT(*) FROM flights WHERE delay > 60'
  stencildb query --backend classic 'SELECT MEDIAN(delay), SUM(distance) FROM flights'
  stencildb query --load t=trips.csv --format csv 'SELECT MIN(fare), MAX(fare) FROM t'
  echo 'SELECT AVG(delay) FROM flights' | stencildb query --format json -f -`,
		Args: atMostOneSQL,
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		script, err := text.read(c, args)
		if err != nil {
			return err
		}
		return o.withDB(c, func(ctx context.Context, db *engine.DB) error {
			return runScript(ctx, db, script, newFormat(out.value, c.OutOrStdout()), keepGoing, text.name(), c.ErrOrStderr())
		})
	})
	o.register(c)
	out = choiceFlag(c, "format", "how answers are printed", "table", "csv", "json")
	c.Flags().BoolVar(&keepGoing, "keep-going", false, "go on after a statement that fails (the exit status stays 1)")
	text.register(c)
	return c
}

// runScript answers the statements of a script that comes from source. Errors of
// statements go to stderr, one line each.
func runScript(ctx context.Context, db *engine.DB, text string, f format, keepGoing bool, source string, stderr io.Writer) error {
	failed, none := false, true
	for r, err := range db.Each(ctx, text) {
		none = false
		switch {
		case err == nil:
			if err := f.result(r); err != nil {
				return err
			}
		case ctx.Err() != nil || !keepGoing || isWrongDevice(err):
			return err
		default:
			failed = true
			reportError(stderr, err)
			if err := f.failed(r.SQL, err); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if none {
		note(stderr, "no statement in "+source)
	}
	return errors.Join(f.close(), failedIf(failed))
}

func failedIf(failed bool) error {
	if failed {
		return errReported
	}
	return nil
}
