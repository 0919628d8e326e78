package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/engine"
)

func newQuery() *cobra.Command {
	var o common
	var file string
	var keepGoing bool
	var out *choice
	c := &cobra.Command{
		Use:   "query [flags] ['SQL; SQL; ...']",
		Short: "Answer SQL",
		Long: `Answers SQL statements in order. The first that fails ends the run, unless
--keep-going is given. A statement's answer is printed when it is complete: one
that fails prints nothing but its error.

Formats: table is for people. csv is one result set, with NULL an unquoted empty
field and "" an empty string. json is one line a statement: {"sql", "columns",
"rows", "backend", "passes", "ms", "load_ms"}; ms is the time of the execution,
load_ms what reading files and the first upload of columns took; integers beyond
2^53, decimals, dates, timestamps, NaN and Infinity are strings.` + commonHelp,
		Example: `  stencildb query 'SELECT COUNT(*) FROM flights WHERE delay > 60'
  stencildb query --backend classic 'SELECT MEDIAN(delay), SUM(distance) FROM flights'
  stencildb query --load t=trips.csv --format csv 'SELECT MIN(fare), MAX(fare) FROM t'
  echo 'SELECT AVG(delay) FROM flights' | stencildb query --format json -f -`,
		Args: cobra.MaximumNArgs(1),
	}
	c.RunE = run(func(c *cobra.Command, args []string) error {
		text, err := script(c, args, file)
		if err != nil {
			return err
		}
		return o.withDB(c, func(ctx context.Context, db *engine.DB) error {
			return runScript(ctx, db, text, newFormat(out.value, c.OutOrStdout()), keepGoing, c.ErrOrStderr())
		})
	})
	o.register(c)
	out = choiceFlag(c, "format", "how answers are printed", "table", "csv", "json")
	c.Flags().BoolVar(&keepGoing, "keep-going", false, "go on after a statement that fails (the exit status stays 1)")
	c.Flags().StringVarP(&file, "file", "f", "", "read the SQL from `FILE`, - for standard input")
	return c
}

// script returns the SQL text: the argument, or the content of the file.
func script(c *cobra.Command, args []string, file string) (string, error) {
	given := c.Flags().Changed("file")
	switch {
	case given && len(args) > 0:
		return "", usagef("give SQL as an argument or with -f, not both")
	case given && file == "-":
		data, err := io.ReadAll(c.InOrStdin())
		if err != nil {
			return "", fmt.Errorf("reading standard input: %w", err)
		}
		return string(data), nil
	case given:
		if err := readable(file); err != nil {
			return "", err
		}
		data, err := os.ReadFile(file)
		return string(data), err
	case len(args) == 0:
		return "", usagef("no SQL: give it as an argument, or with -f FILE (-f - reads standard input)")
	}
	return args[0], nil
}

// runScript answers the statements of a script. Errors of statements go to
// stderr, one line each.
func runScript(ctx context.Context, db *engine.DB, text string, f format, keepGoing bool, stderr io.Writer) error {
	failed := false
	for r, err := range db.Each(ctx, text) {
		switch {
		case err == nil:
			if err := f.result(r); err != nil {
				return err
			}
		case ctx.Err() != nil || !keepGoing:
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
	return errors.Join(f.close(), failedIf(failed))
}

func failedIf(failed bool) error {
	if failed {
		return errReported
	}
	return nil
}
