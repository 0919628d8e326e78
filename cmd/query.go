package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/files"
)

// queryFlags are those of the command query, and of stencildb itself.
type queryFlags struct {
	common
	keepGoing bool
	file      string // "" for standard output
	format    string
}

func newQuery() *cobra.Command {
	var o queryFlags
	c := &cobra.Command{
		Use:   "query [flags] ['SQL; SQL; ...']",
		Short: "Answer SQL",
		Long: `Answers SQL statements in order; without SQL and -f, those of standard input. The first
that fails ends the run, unless --keep-going is given. Rows are written as they come,
without ORDER BY in the order of the table; an error that only a later row raises ends them. A script without statements, such as a
file of comments, is no error: standard error says that it has none.

A statement is a SELECT over a table, or over tables that are joined ([INNER|LEFT|RIGHT|
FULL|CROSS] JOIN with ON, USING or NATURAL, or a list with WHERE), or EXPLAIN [ANALYZE] of
one: of columns and expressions over them, with DISTINCT [ON], ORDER BY, LIMIT and OFFSET, or of
aggregates, of all rows or of groups (GROUP BY, ROLLUP, CUBE, GROUPING SETS, HAVING). There are, of any expression,
COUNT, SUM, AVG, MIN, MAX, MEDIAN(x), stddev and variance (_pop, _samp), corr, covar_pop,
covar_samp, regr_slope(y, x) and its like, bool_and, bool_or, bit_and, bit_or, bit_xor,
any_value, string_agg(x, ', ' ORDER BY y), selectivity(), all with FILTER (WHERE ...),
those of one argument and string_agg with DISTINCT, and

  percentile_disc(0.9) WITHIN GROUP (ORDER BY x), percentile_cont, mode()
  percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY x), an array
  kth_largest(x, k), kth_smallest(x, k)

WHERE takes AND, OR, NOT, comparisons, BETWEEN, IN, LIKE, IS [NOT] NULL and
arithmetic over columns and constants. The meaning is PostgreSQL's.

SHOW TABLES lists the tables, SHOW FUNCTIONS the functions and aggregates, DESCRIBE the
columns of a table or of a SELECT, with their types; information_schema.tables and information_schema.columns are tables of
the same that a SELECT takes. SUMMARIZE t gives of each column how many values,
NULLs and different values it has, the smallest and the largest, and its quartiles
(percentile_disc); all of them are exact. SET name = value, RESET name and SHOW name are for
backend, disable_rule (of plans: SHOW RULES), host_memory, join (the algorithm) and
statement_timeout (SHOW ALL).
BEGIN starts a transaction, which COMMIT or ROLLBACK ends: it reads the tables as they were
when it began, with its own changes, and others see these once it is committed. Where another one
has changed the same rows meanwhile, COMMIT is an error. One that is open at the end of the script is
rolled back, and a note says so.
COPY t [(columns)] TO 'file', COPY (SELECT ...) TO 'file' and COPY t [(columns)] FROM 'file' write and read
files [WITH (FORMAT csv | parquet | arrow | json, HEADER, DELIMITER ';', NULL 'text', ENCODING 'latin1')]; the
extension names the format where FORMAT does not. json is an object a line, whose members are columns by their names. As in PostgreSQL a file of csv has a header only with HEADER, columns are taken by their places,
and a file that does not fit leaves the table as it was.
CREATE INDEX [name] ON t [USING sorted | hash] (column) makes an index, which cpu uses
where a condition selects few records; DROP INDEX name, SHOW INDEXES.

Formats: table is for people. csv is one result set, with NULL an unquoted empty
field and "" an empty string; text that looks like a number, a date or a word for NULL is quoted. json is one line a statement: {"sql", "columns",
"rows", "backend", "passes", "ms", "load_ms"}; ms is the time of the execution,
load_ms what reading files, the first upload of columns and compiling programs
took; integers beyond 2^53, decimals, dates, timestamps, NaN and Infinity are strings;
an error after the first rows ends the line as "error". jsonlines is one result set, an object a line,
and what -o writes to a file .json. arrow and parquet are one result set; arrow is
the IPC file format with -o, else the stream format.

The exit status is 1 for what is wrong in data, files or SQL, 2 for flags and
arguments, 130 after Ctrl-C.` + commonHelp,
		Example: `  stencildb query 'SELECT COUNT(*) FROM flights WHERE delay > 60'
  stencildb query --backend classic 'SELECT MEDIAN(delay), SUM(distance) FROM flights'
  stencildb query --load t=trips.csv --format csv 'SELECT id, fare * 2 AS twice FROM t WHERE fare > 50'
  stencildb query "SELECT AVG(fare) FROM 'trips.csv'"
  stencildb query "SELECT name, SUM(fare) FROM 'trips.csv' t JOIN 'zones.csv' z ON t.zone = z.id GROUP BY name"
  stencildb query --load t=trips.csv -o dear.parquet 'SELECT * FROM t WHERE fare > 50'
  echo 'SELECT AVG(delay) FROM flights' | stencildb query --format json`,
		Args: atMostOneSQL,
	}
	c.RunE = run(o.run)
	o.register(c)
	return c
}

// register adds the flags.
func (o *queryFlags) register(c *cobra.Command) {
	o.common.register(c, "auto")
	o.format = "table"
	choiceFlag(c, &o.format, "format", "how answers are written", formats...)
	c.Flags().StringVarP(&o.file, "output", "o", "", "write the answers to `FILE`, which appears when all is written (a pipe gets them as they come); without --format its extension says how, and .gz and .zst behind it pack it")
	c.Flags().BoolVar(&o.keepGoing, "keep-going", false, "go on after a statement that fails (the exit status stays 1)")
}

// run answers the SQL of the arguments, of -f, or of standard input.
func (o *queryFlags) run(c *cobra.Command, args []string) error {
	script, err := o.text.read(c, args)
	if err != nil {
		return err
	}
	name, codec := o.format, ""
	if o.file != "" {
		given := ""
		if c.Flags().Changed("format") {
			given = o.format
		}
		if name, codec, err = formatOf(o.file, given); err != nil {
			return usagef("-o: %v", err)
		}
	}
	const more = "give one statement, or use --format json"
	if err := checkSets(name, script, more); err != nil {
		return err
	}
	if o.text.file != "-" { // else that is the script
		o.options.Input = c.InOrStdin()
	}
	return o.withDB(c, func(ctx context.Context, db *engine.DB) error {
		session := db.Session()
		defer session.Close() // which says what it rolls back
		return runTo(ctx, o.file, c.OutOrStdout(), func(w io.Writer) error {
			v := &view{}
			if out, ok := w.(*terminal.Screen); ok {
				v.screen, _ = out.To.(*os.File)
			}
			f, err := packed(w, codec, func(w io.Writer) format {
				return newFormat(name, w, o.file != "", more, v)
			})
			if err != nil {
				return err
			}
			return shellsCommand(runScript(ctx, session, script, f, o.keepGoing, o.text.name(), c.ErrOrStderr()))
		})
	})
}

// shellsCommand is the error of a script, which says so where it is of a line that is one of the shell's commands.
func shellsCommand(err error) error {
	var of *engine.StatementError
	if !errors.As(err, &of) {
		return err
	}
	name, _ := cutCommand(of.At.Source)
	if commandNamed(name) == nil {
		return err
	}
	return fmt.Errorf("%w; %s is a command of the shell, which also reads what no terminal types: stencildb shell < FILE", err, name)
}

// runTo runs a script whose answers go to a file or a pipe; "" is standard output. The file appears under its
// name when all is written.
func runTo(ctx context.Context, path string, stdout io.Writer, script func(w io.Writer) error) error {
	if path == "" {
		return script(stdout)
	}
	f, err := files.Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Discard()
	var failed error
	err = f.Commit(func(w io.Writer) error {
		if failed = script(w); errors.Is(failed, errReported) { // what did not fail is kept
			return nil
		}
		return failed
	})
	if at := (*fs.PathError)(nil); errors.As(failed, &at) && at.Path == f.Name() { // a name that nobody has given
		return err
	}
	return cmp.Or(failed, err)
}
