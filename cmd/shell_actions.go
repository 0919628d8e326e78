package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/trace"
)

// help lists the commands, or those of one name, with or without what names begin with.
func (s *shell) help(_ context.Context, args string) error {
	text := commandsHelp()
	if args != "" {
		text = ""
		for _, c := range commands {
			if slices.ContainsFunc(c.names, func(name string) bool { return strings.TrimLeft(name, `.\`) == strings.TrimLeft(args, `.\`) }) {
				text += c.usage()
			}
		}
		if text == "" {
			return unknown(args)
		}
	}
	_, err := io.WriteString(s.out, text)
	return err
}

func (s *shell) leave(context.Context, string) error {
	s.over = true
	return nil
}

// of answers a statement that a command stands for. An error has no place: the text is one that nobody has typed.
func (s *shell) of(ctx context.Context, text string) error {
	err := s.answer(ctx, text)
	if of := (*engine.StatementError)(nil); errors.As(err, &of) {
		return of.Unwrap()
	}
	return err
}

func (s *shell) describe(ctx context.Context, args string) error {
	if args == "" {
		return s.of(ctx, "SHOW TABLES")
	}
	return s.of(ctx, "DESCRIBE "+args)
}

func (s *shell) tables(ctx context.Context, args string) error {
	if args == "" {
		return s.of(ctx, "SHOW TABLES")
	}
	pattern := strings.NewReplacer("*", "%", "?", "_", "_", `\_`, `\`, `\\`).Replace(args)
	return s.of(ctx, "SELECT table_name FROM information_schema.tables WHERE table_name ILIKE "+expr.Quote(pattern)+" ORDER BY table_name")
}

func (s *shell) schema(ctx context.Context, args string) error {
	name := args
	if n := len(name); n > 1 && name[0] == '"' && name[n-1] == '"' {
		name = strings.ReplaceAll(name[1:n-1], `""`, `"`)
	}
	list, err := s.session.DB().Definitions(ctx, name)
	for _, d := range list {
		if _, err := fmt.Fprintln(s.out, d.SQL); err != nil {
			return err
		}
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
		if wrong == nil {
			wrong = s.loaded(ctx, name, source.Path)
		}
		err = errors.Join(err, wrong)
	}
	return err
}

// loaded says what a table has that a file was opened as.
func (s *shell) loaded(ctx context.Context, name, path string) error {
	list, err := s.db.Definitions(ctx, name)
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.Name == name {
			return s.say("%s has %s and %s, of %s", expr.Ident(name), numbers.Count(len(d.Columns), "column", "columns"), numbers.Count(d.Rows, "row", "rows"), path)
		}
	}
	return nil
}

// importFile adds the rows of a file to a table, or makes the table of them.
func (s *shell) importFile(ctx context.Context, args string) error {
	at := strings.LastIndexFunc(args, unicode.IsSpace)
	if at < 0 {
		return errors.New("name a file and a table: .import FILE TABLE")
	}
	path, name := unquoted(strings.TrimSpace(args[:at])), args[at+1:]
	db := s.session.DB()
	text := "CREATE TABLE " + name + " AS SELECT * FROM " + expr.Quote(path)
	if slices.ContainsFunc(db.Names(ctx, "").Tables, func(have string) bool { return strings.EqualFold(have, name) }) {
		text = "INSERT INTO " + name + " SELECT * FROM " + expr.Quote(path)
	}
	stats, err := s.session.Exec(ctx, text)
	if of := (*engine.StatementError)(nil); errors.As(err, &of) {
		err = of.Unwrap()
	}
	if err != nil {
		return err
	}
	return s.say("%s of %s into %s", numbers.Count(stats.Changed, "row", "rows"), path, name)
}

// unquoted is a path without quotes around it.
func unquoted(path string) string {
	if n := len(path); n > 1 && (path[0] == '\'' || path[0] == '"') && path[n-1] == path[0] {
		return strings.ReplaceAll(path[1:n-1], path[:1]+path[:1], path[:1])
	}
	return path
}

// copies finds what is copied, the direction and the path in the arguments of \copy.
var copies = regexp.MustCompile(`(?is)^(.*?)\s+(from|to)\s+('(?:[^']|'')*'|\S+)(.*)$`)

func (s *shell) copyFile(ctx context.Context, args string) error {
	what, rest := "", args
	if strings.HasPrefix(args, "(") { // a query, which has FROM inside
		end := closing(args)
		what, rest = args[:end], args[end:]
	}
	m := copies.FindStringSubmatch(rest)
	if m == nil {
		return errors.New(`write \copy TABLE FROM FILE, \copy TABLE TO FILE or \copy (SELECT ...) TO FILE`)
	}
	what += m[1]
	path := m[3]
	if !strings.HasPrefix(path, "'") && !slices.Contains([]string{"stdin", "stdout"}, strings.ToLower(path)) {
		path = expr.Quote(path)
	}
	return s.of(ctx, "COPY "+what+" "+m[2]+" "+path+m[4])
}

// closing is where the parenthesis that a text begins with ends; quotes are passed over.
func closing(text string) int {
	depth, quote := 0, rune(0)
	for i, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
		case r == '\'' || r == '"':
			quote = r
		case r == '(':
			depth++
		case r == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// edit has a text edited and takes its lines, as if they had been typed.
func (s *shell) edit(ctx context.Context, args string) error {
	path, text := unquoted(args), string(s.typed)
	if text == "" {
		text = s.before
	}
	if path == "" {
		f, err := os.CreateTemp("", "stencildb-*.sql")
		if err != nil {
			return err
		}
		path = f.Name()
		defer os.Remove(path)
		_, err = io.WriteString(f, text+"\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	program := editorCommand()
	if err := s.runs(ctx, program+` "$1"`, path); err != nil {
		return fmt.Errorf("the editor %q: %w", program, err)
	}
	edited, err := readSQL(ctx, path)
	if err != nil {
		return err
	}
	s.typed = nil
	for line := range strings.Lines(strings.TrimSpace(edited)) {
		line = strings.TrimRight(line, "\r\n")
		if _, err := fmt.Fprintln(s.out, s.prompt()+line); err != nil {
			return err
		}
		s.answerTyped(line, len(s.typed) > 0)
	}
	return nil
}

// editorCommand is the program that edits, as a shell's command.
func editorCommand() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if command := os.Getenv(name); command != "" {
			return command
		}
	}
	return "vi"
}

// runs runs a command of the system's shell with arguments, which has the terminal meanwhile.
func (s *shell) runs(ctx context.Context, command string, args ...string) (err error) {
	run := exec.CommandContext(ctx, "sh", append([]string{"-c", command, "sh"}, args...)...)
	run.Stdout, run.Stderr = s.out, s.stderr
	if s.pages.Screen != nil {
		run.Stdin, run.Stdout, run.Stderr = os.Stdin, s.pages.Screen, os.Stderr
	}
	s.aside(func() { err = run.Run() })
	return err
}

func (s *shell) system(ctx context.Context, args string) error {
	if args == "" {
		return errors.New(`name the command to run: \! ls`)
	}
	if err := s.runs(ctx, args); err != nil {
		return fmt.Errorf("%s: %w", args, err)
	}
	return nil
}

// watch answers the statements before every so many seconds, 2 unless it is said.
func (s *shell) watch(ctx context.Context, args string) error {
	if s.before == "" {
		return errors.New("there is no statement before: answer one, and then watch it")
	}
	every, times, err := watched(args)
	if err != nil {
		return err
	}
	off := s.pages.Off
	s.pages.Off = true // nobody is there to turn them
	defer func() { s.pages.Off = off }()
	for i := 1; ; i++ {
		if err := s.say("%s (every %v)", time.Now().Format("2006-01-02 15:04:05"), every); err != nil {
			return err
		}
		if err := s.answer(ctx, s.before); err != nil {
			return err
		}
		if i == times {
			return nil
		}
		select {
		case <-ctx.Done(): // which is how one ends it
			return nil
		case <-time.After(every):
		}
	}
}

// watched reads the arguments of \watch: seconds, and how many times, 0 for no limit.
func watched(args string) (every time.Duration, times int, err error) {
	every = 2 * time.Second
	words := strings.Fields(args)
	if len(words) > 0 {
		seconds, wrong := strconv.ParseFloat(words[0], 64)
		if wrong != nil || !(seconds >= 0 && seconds < 1e6) {
			return 0, 0, fmt.Errorf("%q is no number of seconds: \\watch [SECONDS [TIMES]]", words[0])
		}
		every = time.Duration(seconds * float64(time.Second))
	}
	if len(words) > 1 {
		if times, err = strconv.Atoi(words[1]); err != nil || times < 1 || len(words) > 2 {
			return 0, 0, fmt.Errorf("%q is no number of times: \\watch [SECONDS [TIMES]]", strings.Join(words[1:], " "))
		}
	}
	return every, times, nil
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
		return "", errors.New("there is no statement before: write one behind the command")
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
		return errors.New(`name the page to write: \trace FILE.html`)
	}
	if s.session.DB().Backend() == "cpu" {
		return errors.New(`backend cpu runs no passes to look at: take another one first: \backend classic`)
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
	if err := writePage(s.stderr, page, path, []*trace.Trace{t}); err != nil {
		return err
	}
	return s.say("%s shows %s of %s", path, numbers.Count(len(t.Passes), "pass", "passes"), t.Backend)
}

// toggle turns a setting on, off or round, and says so.
func (s *shell) toggle(what, args string, is func() bool, set func(bool)) error {
	switch args {
	case "":
		set(!is())
	case "on", "off":
		set(args == "on")
	default:
		return fmt.Errorf("%q is neither on nor off", args)
	}
	state := "off"
	if is() {
		state = "on"
	}
	return s.say("%s is %s", what, state)
}

// display says when values have a line each.
func (s *shell) display(_ context.Context, args string) error {
	switch d := display(args); {
	case args == "" && s.view.expanded == displayOff:
		s.view.expanded = displayOn
	case args == "":
		s.view.expanded = displayOff
	case slices.Contains(displays, d):
		s.view.expanded = d
	default:
		return fmt.Errorf("%q is none of on, off and auto", args)
	}
	return s.say("expanded display is %s", s.view.expanded)
}

// modes are the formats that are text, and one more: a line for each value.
var modes = append(slices.DeleteFunc(slices.Clone(formats), func(name string) bool { return name == "arrow" || name == "parquet" }), "line")

// otherModes are what the shells that people know call them.
var otherModes = map[string]string{"box": "table", "column": "table", "duckbox": "table", "tabs": "tsv", "lines": "line", "ndjson": "jsonlines"}

func (s *shell) mode(_ context.Context, args string) error {
	name := args
	if other, ok := otherModes[name]; ok {
		name = other
	}
	switch {
	case name == "":
		if name = s.form; s.view.expanded == displayOn && name == "table" {
			name = "line"
		}
		return s.say("mode is %s", name)
	case !slices.Contains(modes, name):
		if near := nearest(name, modes); len(near) > 0 {
			return fmt.Errorf("there is no mode %s: did you mean %s? .help .mode lists them", args, strings.Join(near, " or "))
		}
		return fmt.Errorf("there is no mode %s: take one of %s", args, strings.Join(modes, ", "))
	case name == "line":
		s.form, s.view.expanded = "table", displayOn
	case name == "table":
		s.form, s.view.expanded = name, displayOff
	default:
		s.form = name
	}
	return s.say("mode is %s", name)
}

// redirect completes the file that answers went to, and begins another one.
func (s *shell) redirect(ctx context.Context, path string) error {
	if path = unquoted(path); path == "" && s.to == nil {
		return s.say("answers go to the screen")
	}
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
	v := &view{headless: s.view.headless}
	to, err := packed(f, codec, func(w io.Writer) format {
		if name == "table" { // as it is on the screen, but as wide as it is
			v.expanded, v.untimed = s.view.expanded, s.view.untimed
		}
		return newFormat(name, w, true, `\o FILE begins another one, and a file of the extension .json or .txt holds several`, v)
	})
	if err != nil {
		f.Discard()
		return err
	}
	s.to = &sink{f, path, to}
	return s.say(`answers go to %s until \o`, path)
}

// mostFiles is how deep files read one another.
const mostFiles = 16

// readFile answers the statements of a file, and does the commands that stand between them in lines of their own. It ends at the first
// error.
func (s *shell) readFile(ctx context.Context, path string) error {
	if path = unquoted(path); path == "" {
		return errors.New("name the file to read: .read FILE.sql")
	}
	text, err := readSQL(ctx, path)
	if err != nil {
		return err
	}
	if s.files++; s.files > mostFiles {
		err = fmt.Errorf("%s is read by a file that is read by another one, %d deep: leave out its own .read", path, mostFiles)
	}
	defer func() { s.files-- }()
	from, at, commands := 0, 0, false // of the statements that are not answered yet, and of the line
	answer := func() error {
		if list, err := sql.Parse(text[from:at]); commands && err == nil && len(list) == 0 {
			return nil
		}
		above := strings.Repeat("\n", strings.Count(text[:from], "\n")) // so that errors tell the line of the file
		return runScript(ctx, s.session, above+text[from:at], s.format(), false, path, s.stderr)
	}
	for line := range strings.Lines(text) {
		if err != nil || s.over {
			return err
		}
		if command := strings.TrimSpace(line); isCommand(command) && s.takesCommand(text[from:at], command) {
			name, args := cutCommand(command)
			c := commandNamed(name)
			commands = true
			if err = answer(); err == nil {
				if err = c.check(name, args); err == nil {
					err = c.do(s, ctx, args)
				}
				if err != nil {
					err = fmt.Errorf("%s, line %d: %w", path, 1+strings.Count(text[:at], "\n"), err)
				}
			}
			from = at + len(line)
		}
		at += len(line)
	}
	if err != nil || s.over {
		return err
	}
	return answer()
}

// takesCommand reports that a line behind a text is a command, and no part of a statement.
func (s *shell) takesCommand(text, command string) bool {
	end, begun := sql.Complete(text)
	return !begun || command[0] == '\\' && sql.Endable(text[end:])
}
