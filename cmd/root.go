package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/sql"
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
	switch {
	case len(args) > 0:
	case isTerminal(stdin) && isTerminal(stdout):
		args = []string{"shell"}
	default:
		args = []string{"query"}
	}
	root.SetArgs(args)
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

// isWrongDevice reports whether err is about a --device or STENCILDB_DEVICE that is
// not there: an argument, though it comes to light only when a device is opened.
func isWrongDevice(err error) bool {
	var wish *glctx.WishError
	return errors.As(err, &wish)
}

func reportError(w io.Writer, err error) {
	fmt.Fprintln(w, "error:", message(err))
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
	root := &cobra.Command{
		Use:   "stencildb",
		Short: "A database engine that runs on the graphics pipeline",
		Long: `stencildb answers SQL on the graphics pipeline: an attribute is a texture, a
predicate is a depth test, a boolean combination lives in the stencil buffer,
COUNT is an occlusion query, and the k-th largest value and SUM are found bit by
bit. It needs no display and no GPU: Mesa's software rasteriser will do.

Without arguments it opens the shell on a terminal, and elsewhere answers the SQL of
its standard input.`,
		Example: `  stencildb tour
  stencildb shell --load t=trips.csv
  stencildb query 'SELECT COUNT(*), MEDIAN(delay) FROM flights WHERE distance > 1000'
  stencildb query --load t=trips.csv --backend cpu 'SELECT AVG(fare) FROM t'
  stencildb explain 'SELECT MAX(delay) FROM flights'
  stencildb info`,
		Version:       Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("stencildb {{.Version}}\n")
	root.AddCommand(newQuery(), newShell(), newExplain(), newTrace(), newDemo(), newBench(), newGen(), newInfo(), newCheck(), newTour())
	return root
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
