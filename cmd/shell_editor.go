package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/peterh/liner"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/sql"
)

// editor edits lines on the terminal and keeps them in a file.
type editor struct {
	*liner.State
	kept  *os.File          // nil where none can be
	plain liner.ModeApplier // the terminal as it was; nil where that is not known
}

func newEditor(s *shell) *editor {
	plain, err := liner.TerminalMode()
	if err != nil {
		plain = nil
	}
	e := &editor{State: liner.NewLiner(), plain: plain}
	e.SetCtrlCAborts(true)
	e.SetTabCompletionStyle(liner.TabPrints)
	e.SetWordCompleter(func(line string, pos int) (head string, list []string, tail string) {
		before := string([]rune(line)[:pos])
		after := line[len(before):]
		head, list = complete(string(s.typed), before, after, func(paths []string) engine.Names { return s.names(line, paths) })
		return head, list, after
	})
	if err := e.open(); err != nil {
		note(s.stderr, fmt.Sprintf("what is typed is not kept for the next session: %v", err))
	}
	return e
}

// longestOpening is how long opening the files of tables may take while a word is completed.
const longestOpening = 100 * time.Millisecond

// names are those that a word of a line may become, with the columns of tables that the statement names and of files.
func (s *shell) names(line string, paths []string) engine.Names {
	ctx, cancel := context.WithTimeout(s.ctx, longestOpening)
	defer cancel()
	return s.session.DB().Names(ctx, string(s.typed)+line, paths...)
}

// open reads the lines of earlier sessions, and forgets old ones.
func (e *editor) open() error {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		state = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(state, "stencildb")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "history"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	e.kept = f
	n, err := e.ReadHistory(f)
	if err == nil && n > 2*liner.HistoryLimit {
		if err = f.Truncate(0); err == nil {
			_, err = e.WriteHistory(f)
		}
	}
	return err
}

// longestKept is the length of the longest line, in bytes, that is kept for the next session.
const longestKept = 4000

// keep puts what was typed into the history: as one line, where its lines can be joined to one.
func (e *editor) keep(text string) {
	list := strings.Split(text, "\n")
	if line, ok := sql.OneLine(strings.TrimSpace(text)); ok {
		list = []string{line}
	}
	for _, line := range list {
		if strings.TrimSpace(line) == "" {
			continue
		}
		e.AppendHistory(line)
		if e.kept != nil && len(line) <= longestKept {
			fmt.Fprintln(e.kept, line) // a full disk is no reason to refuse the line
		}
	}
}

// aside does something with the terminal as it was before the editor had it.
func (e *editor) aside(do func()) {
	if editing, err := liner.TerminalMode(); err == nil && e.plain != nil {
		_ = e.plain.ApplyMode() // a terminal that has gone is noticed when it is read
		defer func() { _ = editing.ApplyMode() }()
	}
	do()
}

func (e *editor) close() {
	e.Close()
	if e.kept != nil {
		e.kept.Close()
	}
}
