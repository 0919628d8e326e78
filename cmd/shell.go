package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/peterh/liner"
	"github.com/spf13/cobra"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sql"
)

func newShell() *cobra.Command {
	var o common
	c := &cobra.Command{
		Use:   "shell [flags]",
		Short: "Answer SQL as it is typed",
		Long: `Answers SQL as it is typed, over several lines up to a semicolon. stencildb without
arguments opens it where it runs on a terminal.

The tab key completes keywords, functions, tables, and columns of tables that a
statement has named; in quotes and behind \load, \o, \trace and .read it completes
the paths of files. Statements are kept, each as one line, in stencildb/history of the
state folder ($XDG_STATE_HOME, or ~/.local/state); the up key gives them back, Ctrl-R
searches them. Ctrl-C ends the statement, or drops what has been typed; Ctrl-D leaves.
An error ends a statement and nothing else. An answer that is longer than the screen
goes to $PAGER, or to less.

Besides SQL there are commands of one line:

` + commandsHelp() + `
What does not come from a terminal is read without prompts, and an error makes the exit
status 1.` + commonHelp,
		Example: `  stencildb shell
  stencildb shell --load t=trips.csv --backend cpu`,
		Args: cobra.NoArgs,
	}
	c.RunE = run(func(c *cobra.Command, _ []string) error {
		return o.withDB(c, func(ctx context.Context, db *engine.DB) error {
			s := &shell{db: db, session: db.Session(), ctx: ctx, out: c.OutOrStdout(), stderr: c.ErrOrStderr(), kept: func(string) {}}
			defer s.discard()
			defer s.session.Close() // which says what it rolls back
			if screen, shown := s.out.(*terminal); shown && c.InOrStdin() == os.Stdin && isTerminal(os.Stdin) {
				return s.interact(screen)
			}
			return s.script(c.InOrStdin())
		})
	})
	o.registerBackend(c, "auto")
	return c
}

// shell is a session in which SQL and commands are typed.
type shell struct {
	db          *engine.DB
	session     *engine.Session
	ctx         context.Context
	out, stderr io.Writer
	view        view              // of answers
	pages       pager             // of those on a terminal
	to          *sink             // where they go; nil for out
	typed       []byte            // of a statement that no semicolon has ended
	kept        func(text string) // is told of what was typed
	last        string            // the statement before
	over        bool
	ended       error // what a script ends with
}

// interact reads lines from the terminal until it is left.
func (s *shell) interact(screen *terminal) error {
	// A signal ends the statement that runs, and is nothing while none does.
	s.ctx = context.WithoutCancel(s.ctx)
	passed := make(chan os.Signal, 1)
	signal.Notify(passed, os.Interrupt)
	defer signal.Stop(passed)
	e := newEditor(s)
	defer e.close()
	s.kept = e.keep
	fmt.Fprintf(s.out, "stencildb %s, backend %s. A semicolon ends a statement; \\? lists commands, \\q leaves.\n", Version, s.session.DB().Backend())
	s.pages.screen = screen.w.(*os.File)
	s.out = &terminal{w: &s.pages, below: screen.below}
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

// take takes one line: a command, or a part of a statement. Statements that it ends run.
func (s *shell) take(line string) {
	begun := len(s.typed) > 0
	if command := strings.TrimSpace(line); !begun && isCommand(command) {
		s.kept(line + "\n")
		s.command(command)
		return
	}
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
		s.last = list[len(list)-1].Select()
	}
	s.interruptible(func(ctx context.Context) error {
		return runScript(ctx, s.session, text, s.format(), false, "what was typed", s.stderr)
	})
}

// format is how the next answer is written.
func (s *shell) format() format {
	if s.to != nil {
		return s.to.format
	}
	f := newTable(s.out, &s.view)
	rows := f.rows
	f.rows = func(r *engine.Rows) error { return s.pages.release(rows(r)) }
	return f
}

// interruptible does something that Ctrl-C ends, and reports what fails.
func (s *shell) interruptible(do func(context.Context) error) {
	ctx, stop := signal.NotifyContext(s.ctx, os.Interrupt)
	defer stop()
	err := do(ctx)
	err = s.pages.release(err)
	switch {
	case err == nil, errors.Is(err, errPagerLeft):
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
		if errors.Is(err, ingest.ErrChanged) {
			err = fmt.Errorf(`%w with \load NAME=PATH`, err)
		}
		reportError(s.stderr, err)
	}
}

// sink is a file that answers go to. It appears under its name when it is complete.
type sink struct {
	*files.File
	format
}

// commit completes the file of \o, if there is one.
func (s *shell) commit() error {
	if s.to == nil {
		return nil
	}
	defer s.discard()
	return s.to.Commit(func(io.Writer) error { return s.to.format.close() })
}

func (s *shell) discard() {
	if s.to != nil {
		s.to.Discard()
		s.to = nil
	}
}
