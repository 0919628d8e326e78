package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/storage"
)

// The exit statuses.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// Execute runs one command line and returns its exit status. It stops when ctx
// ends.
func Execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(append([]string{}, args...)) // nil would be those of the process
	root.SetIn(stdin)
	var below *terminal.Console
	if terminal.Is(stderr) {
		below = &terminal.Console{To: stderr}
		stderr = below
	}
	if terminal.Is(stdout) {
		stdout = &terminal.Screen{To: stdout, Below: below} // files and pipes get the bytes as they are
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	addCompletion(root)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK
	case ctx.Err() != nil:
		reportError(stderr, errors.New("interrupted"))
		return exitInterrupted
	case errors.Is(err, errReported):
		return exitFailure
	}
	reportError(stderr, err)
	if isFailure(err) {
		return exitFailure
	}
	return exitUsage
}

// version() of SQL is that of the program.
func init() { sql.Version = Version }

func newRoot() *cobra.Command {
	var o queryFlags
	var text string
	var rc bool
	root := &cobra.Command{
		Use:   "stencildb [flags] [FILE ...] ['SQL; SQL; ...']",
		Short: "A database engine that runs on the graphics pipeline",
		Long: `stencildb answers SQL on the graphics pipeline: an attribute is a texture, a
predicate is a depth test, a boolean combination lives in the stencil buffer,
COUNT is an occlusion query, and the k-th largest value and SUM are found bit by
bit. It needs no display and no GPU: Mesa's software rasteriser will do.

With SQL it answers that, as the command query does. Without SQL it opens the shell on a
terminal, and elsewhere answers the SQL of its standard input. A FILE is loaded as a
table, as --load does; a folder that --db has made is opened as --db does.`,
		Example: `  stencildb tour
  stencildb trips.csv
  stencildb 'SELECT COUNT(*), MEDIAN(delay) FROM flights WHERE distance > 1000'
  stencildb trips.csv 'SELECT AVG(fare) FROM trips'
  stencildb --db tables -c 'CREATE TABLE t (n int)'
  stencildb query --load t=trips.csv --backend cpu 'SELECT AVG(fare) FROM t'
  stencildb explain 'SELECT MAX(delay) FROM flights'
  stencildb info`,
		Version:       Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,

		SuggestionsMinimumDistance: 2,
	}
	root.RunE = run(func(c *cobra.Command, args []string) error {
		args, err := o.take(c, args)
		given := c.Flags().Changed("command")
		switch {
		case err != nil:
			return err
		case given && len(args) > 0:
			return usagef("give SQL as an argument or with -c, not both")
		case given:
			return o.run(c, []string{text})
		case len(args) > 0 || c.Flags().Changed("file") || !onTerminal(c):
			return o.run(c, args)
		case o.file != "":
			return usagef("-o %s: give the SQL whose answers go there; in the shell \\o writes to a file", o.file)
		case !slices.Contains(modes, o.format):
			return usagef("--format %s: give the SQL whose answers it is for; the shell has %s", o.format, strings.Join(modes, ", "))
		}
		s := shellFlags{common: o.common, mode: o.format, withoutRC: rc}
		return s.run(c, nil)
	})
	o.register(root)
	root.Flags().StringVarP(&text, "command", "c", "", "answer this `SQL`, as if it were the last argument")
	registerRC(root, &rc)
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("stencildb {{.Version}}\n")
	root.AddCommand(newQuery(), newShell(), newExplain(), newTrace(), newDemo(), newBench(), newGen(), newInfo(), newCheck(), newTour())
	return root
}

// take adds the files and folders among the arguments of stencildb itself to the tables that are loaded. It
// returns the other arguments: the SQL, or nothing.
func (o *queryFlags) take(c *cobra.Command, args []string) (rest []string, err error) {
	for i, arg := range args {
		switch kind := argumentOf(arg); {
		case kind == isDatabase && o.options.Folder == "":
			o.options.Folder = arg
		case kind == isDatabase:
			return nil, usagef("%s: there is one folder of tables, and %s is given: load its files, or open it by itself", arg, o.options.Folder)
		case kind == isData:
			o.loads = append(o.loads, arg)
		case kind == isScript:
			return nil, usagef("%s holds SQL and no rows: stencildb -f %s answers it", arg, arg)
		case i < len(args)-1:
			return nil, usagef("%q is no file, and not the last argument: put SQL in quotes, behind the files", arg)
		case kind == isMissing:
			return nil, fmt.Errorf("there is no file %s, and it is no SQL", arg)
		case kind == isWord:
			return nil, unknownCommand(c, arg)
		default:
			rest = []string{arg}
		}
	}
	return rest, nil
}

// argument is what an argument of stencildb itself is.
type argument int

const (
	isSQL argument = iota
	isData
	isDatabase // a folder that --db has made
	isScript   // a file of SQL
	isMissing  // the path of a file that is not there
	isWord     // none of these: a command that is written wrongly
)

// argumentOf finds out what an argument is. Files go first: SQL that is the name of a file is rare.
func argumentOf(arg string) argument {
	_, source, err := ingest.ParseLoad(arg)
	if err == nil {
		_, err = ingest.Files(source.Path)
	}
	st, missing := os.Stat(arg)
	switch {
	case missing == nil && st.IsDir() && storage.Holds(arg):
		return isDatabase
	case missing == nil && st.IsDir():
		return isData // what it lacks loading it says
	case err == nil && strings.EqualFold(filepath.Ext(source.Path), ".sql"):
		return isScript
	case err == nil:
		return isData
	case arg == "" || strings.ContainsAny(arg, " \t\r\n;("):
		return isSQL
	case slices.Contains(sql.Keywords, strings.ToUpper(arg)):
		return isSQL
	case strings.ContainsAny(arg, "./=*"):
		return isMissing
	}
	return isWord
}

// unknownCommand is the error for a word that is no command, with those that it may stand for.
func unknownCommand(c *cobra.Command, word string) error {
	text := fmt.Sprintf("unknown command %q", word)
	if near := c.SuggestionsFor(word); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, " or ") + "?"
	} else {
		text += ", and no file: stencildb --help lists the commands"
	}
	return usageError{errors.New(text)}
}

// addCompletion adds cobra's command now, rather than when it runs, to give it an
// answer to a shell that has no script. Its output is the root's at this moment.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = completionShell, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

// completionShell refuses a shell that has no completion script; cobra would show
// the help as if all were well.
func completionShell(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	shells := xslices.Map(c.Commands(), (*cobra.Command).Name)
	return fmt.Errorf("no completion for %q: take one of %s", args[0], strings.Join(shells, ", "))
}
