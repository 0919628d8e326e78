package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	width "github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/storage"
)

// Version is the version that --version prints; the build sets it.
var Version = "dev"

// The exit statuses.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// failure is an error that a command met while running. Errors of other types
// are cobra's and pflag's, about flags and arguments.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// usageError is an error in flags and arguments that a command found itself.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// errReported is a failure whose error lines have already been written.
var errReported = errors.New("statements failed")

// Execute runs one command line and returns its exit status. It stops when ctx
// ends.
func Execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(append([]string{}, args...)) // nil would be those of the process
	root.SetIn(stdin)
	var below *console
	if isTerminal(stderr) {
		below = &console{w: stderr}
		stderr = below
	}
	if isTerminal(stdout) {
		stdout = &terminal{w: stdout, below: below} // files and pipes get the bytes as they are
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

// isFailure tells what went wrong in a command, or in writing the text of cobra's
// own ones, from errors about flags and arguments.
func isFailure(err error) bool {
	if isWrongDevice(err) {
		return false
	}
	var f failure
	var io *fs.PathError
	return errors.As(err, &f) || errors.As(err, &io)
}

// isWrongDevice reports whether err is about a --device or STENCILDB_DEVICE that does not exist. It is the
// error of an argument, though only opening the device finds it.
func isWrongDevice(err error) bool {
	var wish *glctx.WishError
	return errors.As(err, &wish)
}

// reportError writes an error in one line. Of one in SQL of several lines it shows that line below, with a mark where it is.
func reportError(w io.Writer, err error) {
	text := "error: " + message(err) + "\n"
	if of := (*engine.StatementError)(nil); errors.As(err, &of) && of.At.Lines > 1 {
		text += excerpt(of.At)
	}
	io.WriteString(w, text)
}

// excerpt is the line of a place, or as much of it as has room, and a mark below the place.
func excerpt(p sql.Place) string {
	if p.Line == 0 {
		return ""
	}
	const most = 60 // characters before and behind the place
	line := []rune(strings.NewReplacer("\t", " ", "\r", "").Replace(p.Source))
	at := min(p.Column-1, len(line))
	before, behind := line[:at], line[at:]
	head := fmt.Sprintf("LINE %d: ", p.Line)
	if len(before) > most {
		head, before = head+"…", before[len(before)-most:]
	}
	rest := ""
	if len(behind) > most {
		behind, rest = behind[:most], "…"
	}
	left := visible(string(before))
	return head + left + visible(string(behind)) + rest + "\n" + strings.Repeat(" ", width.StringWidth(head+left)) + "^\n"
}

// packages matches the names that errors of packages begin with.
var packages = regexp.MustCompile(`^(?:(?:bench|compute|cost|debugger|engine|glctx|lesson|pass|shaders|storage|textures|trace): )+`)

// message is err for a user: one line, without the names of packages that err and those that it wraps begin with.
func message(err error) string {
	text := err.Error()
	for ; err != nil; err = errors.Unwrap(err) {
		if before, ok := strings.CutSuffix(text, err.Error()); ok {
			text = before + packages.ReplaceAllString(err.Error(), "")
		}
	}
	return oneLine(text)
}

// oneLine joins the lines of a message; control characters in it (from data or
// file names) are written as escapes.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " ")
	return visible(s)
}

// run wraps a command's function so that its errors count as failures, save for
// those it calls usage errors.
func run(fn func(c *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		err := fn(c, args)
		if u := (usageError{}); err == nil || errors.As(err, &u) {
			return err
		}
		return failure{err}
	}
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

// onTerminal reports whether a person sits before the command.
func onTerminal(c *cobra.Command) bool {
	_, shown := c.OutOrStdout().(*terminal)
	return shown && c.InOrStdin() == os.Stdin && isTerminal(os.Stdin)
}

// flagError words what is wrong with the value of a flag; for numbers pflag has the words
// of strconv.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	what := map[string]string{"int": "a whole number", "intSlice": "whole numbers with commas between them", "uint64": "a whole number that is not negative", "float64": "a number", "bool": "true or false"}
	f := invalid.GetFlag()
	switch kind, ok := what[f.Value.Type()]; {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("--%s %s: the number is out of range", f.Name, invalid.GetValue())
	case ok:
		return fmt.Errorf("--%s %s: give %s", f.Name, invalid.GetValue(), kind)
	}
	return fmt.Errorf("--%s %q: %w", f.Name, invalid.GetValue(), invalid.Unwrap())
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
	var shells []string
	for _, s := range c.Commands() {
		shells = append(shells, s.Name())
	}
	return fmt.Errorf("no completion for %q: take one of %s", args[0], strings.Join(shells, ", "))
}
