package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/peterh/liner"
	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sql"
)

// shellFlags are those of the shell.
type shellFlags struct {
	common
	mode      string // how answers are written at first
	withoutRC bool
}

func newShell() *cobra.Command {
	o := shellFlags{mode: "table"}
	c := &cobra.Command{
		Use:   "shell [flags]",
		Short: "Answer SQL as it is typed",
		Long: `Answers SQL as it is typed, over several lines up to a semicolon. stencildb without
arguments opens it where it runs on a terminal.

The tab key completes keywords, functions, tables, and columns of tables that a
statement has named; in quotes and behind commands that take one the paths of files.
Statements are kept, each as one line, in stencildb/history of the
state folder ($XDG_STATE_HOME, or ~/.local/state); the up key gives them back, Ctrl-R
searches them. Ctrl-C ends the statement, or drops what has been typed; Ctrl-D leaves.
An error ends a statement and nothing else. An answer that is longer than the screen
goes to $PAGER, or to less; columns of text of one that is wider are cut, which a line
below it says. On a terminal the lines of stencildb/rc of the configuration folder
($XDG_CONFIG_HOME, or ~/.config) come first, if there is such a file: commands such as
\timing off, and SQL.

Besides SQL there are commands of one line:

` + commandsHelp() + `
What does not come from a terminal is read without prompts, and an error makes the exit
status 1.` + commonHelp,
		Example: `  stencildb shell
  stencildb shell --load t=trips.csv --backend cpu`,
		Args: cobra.NoArgs,
	}
	c.RunE = run(o.run)
	o.registerBackend(c, "auto")
	registerRC(c, &o.withoutRC)
	return c
}

// registerRC adds the flag that leaves out the file of settings.
func registerRC(c *cobra.Command, without *bool) {
	c.Flags().BoolVar(without, "no-rc", false, "do not read stencildb/rc of the configuration folder")
}

func (o *shellFlags) run(c *cobra.Command, _ []string) error {
	return o.withDB(c, func(ctx context.Context, db *engine.DB) error {
		s := &shell{db: db, session: db.Session(), ctx: ctx, out: c.OutOrStdout(), stderr: c.ErrOrStderr(), form: o.mode, view: view{expanded: displayOff},
			kept: func(string) {}, aside: func(do func()) { do() }}
		defer s.discard()
		defer s.session.Close() // which says what it rolls back
		if onTerminal(c) {
			return s.interact(s.out.(*terminal.Screen), !o.withoutRC)
		}
		return s.script(c.InOrStdin())
	})
}

// shell is a session in which SQL and commands are typed.
type shell struct {
	db          *engine.DB
	session     *engine.Session
	ctx         context.Context
	out, stderr io.Writer
	form        string            // how answers are written, one of modes
	view        view              // of answers
	pages       terminal.Pager    // of those on a terminal
	to          *sink             // where they go; nil for out
	typed       []byte            // of a statement that no semicolon has ended
	kept        func(text string) // is told of what was typed
	aside       func(do func())   // does something that has the terminal to itself
	before      string            // the statements before, as they were typed
	last        string            // the last of them, without EXPLAIN
	where       string            // what is taken comes from, before a message; "" for what is typed
	files       int               // that .read is reading, one in another
	over        bool
	ended       error // what a script ends with
}

// interact reads lines from the terminal until it is left; rc says whether those of the settings' file come first.
func (s *shell) interact(screen *terminal.Screen, rc bool) error {
	// A signal ends the statement that runs, and is nothing while none does.
	s.ctx = context.WithoutCancel(s.ctx)
	passed := make(chan os.Signal, 1)
	signal.Notify(passed, os.Interrupt)
	defer signal.Stop(passed)
	if rc {
		s.settings()
	}
	e := newEditor(s)
	defer e.close()
	s.kept, s.aside = e.keep, e.aside
	fmt.Fprintf(s.out, "stencildb %s, backend %s. A semicolon ends a statement; \\? lists commands, \\q leaves.\n", Version, s.session.DB().Backend())
	s.pages.Screen = screen.To.(*os.File)
	s.view.screen = s.pages.Screen
	s.out = &terminal.Screen{To: &s.pages, Below: screen.Below}
	for !s.over {
		line, err := e.Prompt(s.prompt())
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			s.kept(string(s.typed))
			s.typed = nil
		case errors.Is(err, io.EOF):
			fmt.Fprintln(screen)
			s.over = true
		case err != nil:
			return err
		default:
			s.take(line)
		}
	}
	s.report(s.commit())
	return nil
}

func (s *shell) prompt() string {
	if len(s.typed) > 0 {
		return "       ..> "
	}
	if s.session.Begun() {
		return "stencildb*> "
	}
	return "stencildb> "
}

// script takes the lines of what is no terminal, each as it comes.
func (s *shell) script(in io.Reader) error {
	mark := true
	for line, err := range files.Lines(s.ctx, in, "standard input", maxText) {
		if err != nil {
			return err
		}
		if mark {
			line, mark = withoutMark(line), false
		}
		if s.take(line); s.over {
			break
		}
		if len(s.typed) > maxText {
			return fmt.Errorf("standard input: a statement of more than %d MiB", maxText>>20)
		}
	}
	if !s.over {
		s.query(string(s.typed)) // what no semicolon ends
	}
	s.report(s.commit())
	return s.ended
}

// settings takes the lines of the settings' file, if there is one. It says nothing but what is wrong with them.
func (s *shell) settings() {
	path, err := rcFile()
	if err != nil {
		return // there is no home, and no such file
	}
	text, err := readSQL(s.ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		s.report(err)
		return
	}
	out := s.out
	defer func() { s.out, s.where = out, "" }()
	s.out = io.Discard
	for i, line := range strings.Split(text, "\n") {
		s.where = fmt.Sprintf("%s, line %d: ", path, i+1)
		s.take(strings.TrimSuffix(line, "\r"))
	}
	s.query(string(s.typed)) // what no semicolon ends
	s.typed = nil
}

// rcFile is the path of the settings' file.
func rcFile() (string, error) {
	folder := os.Getenv("XDG_CONFIG_HOME")
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "stencildb", "rc"), nil
}

// take takes one line: a command, or a part of a statement. Statements that it ends run. Behind a part of a statement a
// command begins with a backslash; in quotes it is a part, too.
func (s *shell) take(line string) {
	begun := len(s.typed) > 0
	if command := strings.TrimSpace(line); isCommand(command) && (!begun || command[0] == '\\' && sql.Endable(string(s.typed))) {
		s.kept(line + "\n")
		s.command(command)
		return
	}
	s.answerTyped(line, begun)
}

// answerTyped takes a line of a statement, of which a part may stand before it.
func (s *shell) answerTyped(line string, begun bool) {
	s.typed = append(append(s.typed, line...), '\n')
	if begun && !strings.Contains(line, ";") && line != `\.` { // which ends nothing
		return
	}
	text := string(s.typed)
	end, begun := sql.Complete(text)
	if s.typed = s.typed[:0]; begun {
		s.typed = append(s.typed, text[end:]...)
	} else {
		s.kept(text)
	}
	s.query(text[:end])
}

// query answers statements.
func (s *shell) query(text string) {
	list, err := sql.Parse(text)
	if err == nil && len(list) == 0 {
		return
	}
	if err == nil {
		s.before, s.last = strings.TrimSpace(text), list[len(list)-1].Select()
	}
	s.interruptible(func(ctx context.Context) error { return s.answer(ctx, text) })
}

// answer answers statements.
func (s *shell) answer(ctx context.Context, text string) error {
	return runScript(ctx, s.session, text, s.format(), false, "what was typed", s.stderr)
}

// say says what a command did.
func (s *shell) say(format string, args ...any) error {
	_, err := fmt.Fprintln(s.out, oneLine(fmt.Sprintf(format, args...)))
	return err
}

// format is how the next answer is written.
func (s *shell) format() format {
	if s.to != nil {
		return s.to.format
	}
	f := newFormat(s.form, s.out, false, "", &s.view)
	rows := f.rows
	f.rows = func(r *engine.Rows) error { return s.pages.Release(rows(r)) }
	return f
}

// interruptible does something that Ctrl-C ends, and reports what fails.
func (s *shell) interruptible(do func(context.Context) error) {
	ctx, stop := signal.NotifyContext(s.ctx, os.Interrupt)
	defer stop()
	err := do(ctx)
	err = s.pages.Release(err)
	switch {
	case err == nil, errors.Is(err, terminal.ErrPagerLeft):
	case s.ctx.Err() != nil, errors.Is(err, syscall.EPIPE): // there is nobody to go on for
		s.over, s.ended = true, err
	case ctx.Err() != nil:
		s.report(errors.New("interrupted"))
	default:
		s.report(err)
	}
}

// report writes an error, if there is one.
func (s *shell) report(err error) {
	if err != nil {
		s.ended = errReported
		if errors.Is(err, source.ErrChanged) {
			err = fmt.Errorf(`%w with \load NAME=PATH`, err)
		}
		if s.where != "" {
			err = fmt.Errorf("%s%w", s.where, err)
		}
		reportError(s.stderr, err)
		if of := (*engine.StatementError)(nil); errors.As(err, &of) && of.At.Lines == 1 { // of more it is shown anyhow
			io.WriteString(s.stderr, excerpt(of.At))
		}
	}
}

// sink is a file that answers go to. It appears under its name when it is complete.
type sink struct {
	*files.File
	path string
	format
}

// commit completes the file of \o, if there is one.
func (s *shell) commit() error {
	if s.to == nil {
		return nil
	}
	defer s.discard()
	if err := s.to.Commit(func(io.Writer) error { return s.to.format.close() }); err != nil {
		return err
	}
	size := ""
	if st, err := os.Stat(s.to.path); err == nil && st.Mode().IsRegular() {
		size = ", " + glctx.FormatSize(st.Size())
	}
	return s.say("%s is complete%s", s.to.path, size)
}

func (s *shell) discard() {
	if s.to != nil {
		s.to.Discard()
		s.to = nil
	}
}
