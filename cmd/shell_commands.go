package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/trace"
)

// command is one of a line, beside SQL.
type command struct {
	name, args, help string
	do               func(s *shell, ctx context.Context, args string) error
}

// commands lists what there is. It is filled here, since \? leads back to it.
var commands []command

func init() {
	commands = []command{
		{`\d`, "[TABLE]", "list the tables, or the columns of one", (*shell).describe},
		{`\df`, "", "list the functions", func(s *shell, ctx context.Context, _ string) error {
			return runScript(ctx, s.session, "SHOW FUNCTIONS", s.format(), false, "", s.stderr)
		}},
		{`\load`, "NAME=PATH[?option&...]", "open a file as a table, as --load does, or open it again", (*shell).load},
		{`\backend`, "[NAME]", "take another backend, or say which it is", (*shell).backend},
		{`\explain`, "[SQL]", "list the passes of a statement, or of the one before", (*shell).explain},
		{`\trace`, "FILE [SQL]", "write a page of its passes with their pictures", (*shell).trace},
		{`\x`, "[on|off]", "a line for each value, instead of a table", func(s *shell, _ context.Context, args string) error {
			return s.toggle(&s.view.expanded, "expanded display", args)
		}},
		{`\timing`, "[on|off]", "what an answer took, below it; without, the number of rows alone", func(s *shell, _ context.Context, args string) error {
			timed := !s.view.untimed
			err := s.toggle(&timed, "timing", args)
			s.view.untimed = !timed
			return err
		}},
		{`\pager`, "[on|off]", "turn pages of answers that are longer than the screen", func(s *shell, _ context.Context, args string) error {
			on := !s.pages.off
			err := s.toggle(&on, "pager", args)
			s.pages.off = !on
			return err
		}},
		{`\o`, "[FILE]", "write answers to a file, in the format of its extension; without FILE the file is complete", (*shell).redirect},
		{`.read`, "FILE", "answer the statements of a file", (*shell).readFile},
		{`\?`, "", "list the commands", func(s *shell, _ context.Context, _ string) error {
			_, err := fmt.Fprint(s.out, commandsHelp())
			return err
		}},
		{`\q`, "", "leave, as exit, quit and Ctrl-D do", (*shell).leave},
	}
}

// commandsHelp lists the commands, one a line.
func commandsHelp() string {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-31s %s\n", strings.TrimRight(c.name+" "+c.args, " "), c.help)
	}
	return b.String()
}

// isCommand reports a line that is no SQL.
func isCommand(line string) bool {
	return line == "exit" || line == "quit" || strings.HasPrefix(line, `\`) || strings.HasPrefix(line, ".")
}

// command does what such a line says.
func (s *shell) command(line string) {
	if line == "exit" || line == "quit" {
		line = `\q`
	}
	name, args, _ := strings.Cut(line, " ")
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		s.report(fmt.Errorf(`there is no command %s: \? lists them`, name))
		return
	}
	s.interruptible(func(ctx context.Context) error { return commands[i].do(s, ctx, strings.TrimSpace(args)) })
}

func (s *shell) leave(context.Context, string) error {
	s.over = true
	return nil
}

func (s *shell) describe(ctx context.Context, args string) error {
	text := "SHOW TABLES"
	if args != "" {
		text = "DESCRIBE " + args
	}
	err := runScript(ctx, s.session, text, s.format(), false, "", s.stderr)
	if of := (*engine.StatementError)(nil); errors.As(err, &of) { // its place is in a text that nobody has typed
		return of.Unwrap()
	}
	return err
}

func (s *shell) load(ctx context.Context, args string) error {
	specs, err := ingest.InFolder(args)
	for _, spec := range specs {
		name, source, wrong := ingest.ParseLoad(spec)
		if wrong == nil {
			wrong = s.db.OpenFile(ctx, name, source)
		}
		err = errors.Join(err, wrong)
	}
	return err
}

func (s *shell) backend(_ context.Context, args string) error {
	if args == "" {
		_, err := fmt.Fprintln(s.out, s.session.DB().Backend())
		return err
	}
	return s.session.SetBackend(args)
}

// statement is the one of a command's arguments, or else the one before.
func (s *shell) statement(args string) (string, error) {
	if args == "" && s.last == "" {
		return "", fmt.Errorf("there is no statement before: write one behind the command")
	}
	if args == "" {
		return s.last, nil
	}
	return args, nil
}

func (s *shell) explain(ctx context.Context, args string) error {
	text, err := s.statement(args)
	if err != nil {
		return err
	}
	return explainTo(ctx, s.out, s.session.DB(), text, engine.ExplainOptions{})
}

func (s *shell) trace(ctx context.Context, args string) error {
	path, text, _ := strings.Cut(args, " ")
	if path == "" {
		return fmt.Errorf(`name the page to write: \trace FILE.html`)
	}
	if s.session.DB().Backend() == "cpu" {
		return fmt.Errorf(`backend cpu runs no passes to look at: take another one first: \backend classic`)
	}
	text, err := s.statement(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	page, err := files.Create(ctx, path)
	if err != nil {
		return err
	}
	defer page.Discard()
	t, err := traceOn(ctx, s.stderr, s.session.DB(), text, trace.Options{})
	if err != nil {
		return err
	}
	return writePage(s.stderr, page, path, []*trace.Trace{t})
}

// toggle turns a setting on, off or round, and says so.
func (s *shell) toggle(setting *bool, what, args string) error {
	switch args {
	case "":
		*setting = !*setting
	case "on", "off":
		*setting = args == "on"
	default:
		return fmt.Errorf("%q is neither on nor off", args)
	}
	state := "off"
	if *setting {
		state = "on"
	}
	_, err := fmt.Fprintf(s.out, "%s is %s\n", what, state)
	return err
}

// redirect completes the file that answers went to, and begins another one.
func (s *shell) redirect(ctx context.Context, path string) error {
	if err := s.commit(); err != nil || path == "" {
		return err
	}
	name, codec, err := formatOf(path, "")
	if err != nil {
		return err
	}
	f, err := files.Create(ctx, path)
	if err != nil {
		return err
	}
	to, err := packed(f, codec, func(w io.Writer) format {
		if name == "table" {
			return newTable(w, &s.view)
		}
		return newFormat(name, w, true, `\o FILE begins another one, and a file of the extension .json or .txt holds several`)
	})
	if err != nil {
		f.Discard()
		return err
	}
	s.to = &sink{f, to}
	return nil
}

func (s *shell) readFile(ctx context.Context, path string) error {
	if path == "" {
		return fmt.Errorf("name the file to read: .read FILE.sql")
	}
	text, err := readSQL(ctx, path)
	if err != nil {
		return err
	}
	return runScript(ctx, s.session, text, s.format(), false, path, s.stderr)
}
