package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sql"
)

// command is one of a line, beside SQL.
type command struct {
	names []string // any of which calls it
	args  string   // in words of the help
	help  string
	takes argumentKind
	do    func(s *shell, ctx context.Context, args string) error
}

// argumentKind says what the arguments of a command are, for completion.
type argumentKind int

const (
	takesNothing argumentKind = iota
	takesPath
	takesLoad // NAME=PATH
	takesPathThenSQL
	takesPathThenTable
	takesTable
	takesSQL
	takesBackend
	takesSwitch // on or off
	takesDisplay
	takesMode
	takesCommand
)

// commands lists what there is, in the order of the help. It is filled here, since some lead back to it.
var commands []command

func init() {
	commands = []command{
		{[]string{`\?`, ".help", "help"}, "[COMMAND]", "list the commands, or say what one does", takesCommand, (*shell).help},
		{[]string{`\q`, ".quit", ".exit", "quit", "exit"}, "", "leave, as Ctrl-D does", takesNothing, (*shell).leave},
		{[]string{`\d`}, "[TABLE]", "list the tables, or the columns of one", takesTable, (*shell).describe},
		{[]string{`\dt`, ".tables"}, "[PATTERN]", "list the tables, those that match: *, ? and % stand for any letters", takesTable, (*shell).tables},
		{[]string{`\di`, ".indexes"}, "", "list the indexes", takesNothing, statements("SHOW INDEXES")},
		{[]string{`\df`}, "", "list the functions", takesNothing, statements("SHOW FUNCTIONS")},
		{[]string{".schema"}, "[TABLE]", "write the SQL that makes the tables and indexes, or those of one table", takesTable, (*shell).schema},
		{[]string{`\load`}, "NAME=PATH[?option&...]", "open a file as a table, as --load does, or open it again", takesLoad, (*shell).load},
		{[]string{".import"}, "FILE TABLE", "put the rows of a file into a table, which is made where it is not there", takesPathThenTable, (*shell).importFile},
		{[]string{`\copy`}, "TABLE FROM|TO FILE [options]", "COPY, with the path with or without quotes", takesSQL, (*shell).copyFile},
		{[]string{`\i`, ".read"}, "FILE", "answer the statements of a file, and do its commands", takesPath, (*shell).readFile},
		{[]string{`\o`, ".output"}, "[FILE]", "write answers to a file, in the format of its extension; without FILE the file is complete", takesPath, (*shell).redirect},
		{[]string{`\e`}, "[FILE]", "edit what is typed, or the statement before, or a file, with $EDITOR, and answer it", takesPath, (*shell).edit},
		{[]string{`\watch`}, "[SECONDS [TIMES]]", "answer the statement before again and again, until Ctrl-C", takesNothing, (*shell).watch},
		{[]string{`\!`, ".shell"}, "COMMAND", "run a command of the system's shell", takesPath, (*shell).system},
		{[]string{`\backend`}, "[NAME]", "take another backend, or say which it is", takesBackend, (*shell).backend},
		{[]string{`\explain`}, "[SQL]", "list the passes of a statement, or of the one before", takesSQL, (*shell).explain},
		{[]string{`\trace`}, "FILE [SQL]", "write a page of its passes with their pictures", takesPathThenSQL, (*shell).trace},
		{[]string{`\x`}, "[on|off|auto]", "a line for each value, instead of a table; auto: where a table is wider than the screen", takesDisplay, (*shell).display},
		{[]string{".mode"}, "[MODE]", "how answers are written: " + strings.Join(modes, ", ") + "; without MODE say which it is", takesMode, (*shell).mode},
		{[]string{".headers"}, "[on|off]", "the names of the columns above their values", takesSwitch, func(s *shell, _ context.Context, args string) error {
			return s.toggle("headers", args, func() bool { return !s.view.headless }, func(on bool) { s.view.headless = !on })
		}},
		{[]string{`\timing`, ".timer"}, "[on|off]", "what an answer took, below it; without, the number of rows alone", takesSwitch, func(s *shell, _ context.Context, args string) error {
			return s.toggle("timing", args, func() bool { return !s.view.untimed }, func(on bool) { s.view.untimed = !on })
		}},
		{[]string{`\pager`}, "[on|off]", "turn pages of answers that are longer than the screen", takesSwitch, func(s *shell, _ context.Context, args string) error {
			return s.toggle("pager", args, func() bool { return !s.pages.Off }, func(on bool) { s.pages.Off = !on })
		}},
	}
}

// statements is a command that answers SQL.
func statements(text string) func(*shell, context.Context, string) error {
	return func(s *shell, ctx context.Context, _ string) error { return s.answer(ctx, text) }
}

// commandsHelp lists the commands, each with its help below it where both are too long for a line.
func commandsHelp() string {
	var b strings.Builder
	for _, c := range commands {
		b.WriteString(c.usage())
	}
	return b.String()
}

// usage is the line of the help about a command, or the lines.
func (c *command) usage() string {
	const room, width = 32, 100
	call := "  " + strings.TrimRight(strings.Join(c.names, ", ")+" "+c.args, " ")
	indent := strings.Repeat(" ", room)
	text, line := call, utf8.RuneCountInString(call)
	if line > room-2 {
		text, line = text+"\n"+indent, room
	} else {
		text, line = text+indent[line:], room
	}
	for i, word := range strings.Fields(c.help) {
		switch n := utf8.RuneCountInString(word); {
		case i == 0:
			text, line = text+word, line+n
		case line+1+n > width:
			text, line = text+"\n"+indent+word, room+n
		default:
			text, line = text+" "+word, line+1+n
		}
	}
	return text + "\n"
}

// commandNames are all names of commands.
func commandNames() (list []string) {
	for _, c := range commands {
		list = append(list, c.names...)
	}
	return list
}

// commandNamed is the command of a name; nil for none.
func commandNamed(name string) *command {
	for i := range commands {
		if slices.Contains(commands[i].names, name) {
			return &commands[i]
		}
	}
	return nil
}

// isCommand reports a line that is no SQL: one that begins as commands do, or a command that is a word.
func isCommand(line string) bool {
	if strings.HasPrefix(line, `\`) || strings.HasPrefix(line, ".") {
		return true
	}
	name, _ := cutCommand(line)
	return commandNamed(name) != nil
}

// cutCommand is the name of a line's command and its arguments, without a semicolon that one is used to.
func cutCommand(line string) (name, args string) {
	line = strings.TrimRight(strings.TrimSpace(line), "; \t")
	if strings.HasPrefix(line, `\!`) { // what follows may follow at once
		return `\!`, strings.TrimSpace(line[2:])
	}
	at := strings.IndexAny(line, " \t")
	if at < 0 {
		return line, ""
	}
	return line[:at], strings.TrimSpace(line[at:])
}

// command does what such a line says.
func (s *shell) command(line string) {
	name, args := cutCommand(line)
	c := commandNamed(name)
	if err := c.check(name, args); err != nil {
		s.report(err)
		return
	}
	s.interruptible(func(ctx context.Context) error { return c.do(s, ctx, args) })
}

// check reports a name for which there is no command, and what a command does not take.
func (c *command) check(name, args string) error {
	switch {
	case c == nil:
		return unknown(name)
	case c.args == "" && args != "":
		return fmt.Errorf("%s takes nothing behind it: leave out %s", name, args)
	}
	return nil
}

// unknown is the error of a command that there is not, with the nearest ones.
func unknown(name string) error {
	near := nearest(name, commandNames())
	if len(near) == 0 {
		return fmt.Errorf(`there is no command %s: \? lists them`, name)
	}
	return fmt.Errorf(`there is no command %s: did you mean %s? \? lists them all`, name, strings.Join(near, " or "))
}

// nearest are the words that may have been meant, three at most. Such a word begins with the other one, or the other one
// with it, or they differ in a letter or two. What a word begins with, . or \, is not compared.
func nearest(word string, of []string) (list []string) {
	bare := func(s string) string { return strings.ToLower(strings.TrimLeft(s, `.\`)) }
	w := bare(word)
	if w == "" {
		return nil
	}
	far := func(s string) int {
		b := bare(s)
		switch d := sql.Distance(w, b, 2); {
		case b == "" || b == "?" || b == "!":
			return 3
		case len(w) > 1 && strings.HasPrefix(b, w) || len(b) > 2 && strings.HasPrefix(w, b):
			return min(d, 1)
		case 2*d < max(len(w), len(b)):
			return d
		}
		return 3
	}
	list = xslices.Filter(of, func(s string) bool { return far(s) <= 2 })
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(far(a), far(b)) })
	for n := range list {
		if far(list[n]) > far(list[0]) {
			list = list[:n]
			break
		}
	}
	return list[:min(len(list), 3)]
}
