package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	width "github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/sql"
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
	left := terminal.Visible(string(before))
	return head + left + terminal.Visible(string(behind)) + rest + "\n" + strings.Repeat(" ", width.StringWidth(head+left)) + "^\n"
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
	return terminal.Visible(s)
}

// note writes what a user may want to know about what was done, in one line.
func note(w io.Writer, text string) { fmt.Fprintf(w, "note: %s\n", oneLine(text)) }

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
