package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/peterh/liner"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/sql"
)

// editor edits lines on the terminal and keeps them in a file.
type editor struct {
	*liner.State
	kept *os.File // nil where none can be
}

func newEditor(s *shell) *editor {
	e := &editor{State: liner.NewLiner()}
	e.SetCtrlCAborts(true)
	e.SetTabCompletionStyle(liner.TabPrints)
	e.SetWordCompleter(func(line string, pos int) (head string, list []string, tail string) {
		before := string([]rune(line)[:pos])
		head, list = complete(before, s.typed == "", func() []string { return s.names(line) })
		return head, list, line[len(before):]
	})
	if err := e.open(); err != nil {
		note(s.stderr, fmt.Sprintf("what is typed is not kept for the next session: %v", err))
	}
	return e
}

// longestOpening is how long opening the files of tables may take while a word is completed.
const longestOpening = 100 * time.Millisecond

// names are those that a word of a line may become.
func (s *shell) names(line string) []string {
	ctx, cancel := context.WithTimeout(s.ctx, longestOpening)
	defer cancel()
	return s.db.Names(ctx, s.typed+line)
}

// paths are the files and folders whose paths begin so.
func paths(begin string) []string {
	list, _ := filepath.Glob(quotedPattern.Replace(begin) + "*") // a pattern that is none has no files
	for i, path := range list {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			list[i] += string(filepath.Separator)
		}
	}
	return list
}

// quotedPattern makes of a path the pattern of that path.
var quotedPattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

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

func (e *editor) close() {
	e.Close()
	if e.kept != nil {
		e.kept.Close()
	}
}

// ofSetting lists what may stand at the end of SET, SHOW and RESET: the name of a setting, or behind it one of its values; nil of other
// statements.
func ofSetting(line string) []string {
	words := strings.FieldsFunc(line[:strings.LastIndexFunc(line, func(r rune) bool { return strings.ContainsRune(" =',", r) })+1], func(r rune) bool { return strings.ContainsRune(" =',", r) })
	switch {
	case len(words) == 0 || !slices.Contains([]string{"set", "show", "reset"}, strings.ToLower(words[0])):
		return nil
	case len(words) == 1:
		return append(engine.Settings(), "all", "rules", "indexes")
	}
	return engine.SettingValues(strings.ToLower(words[1]))
}

// complete finds what the last word of a line may become, and what stands before it. In quotes that are the files.
// first tells that the line begins a statement, so that it may be a command.
func complete(line string, first bool, names func() []string) (head string, list []string) {
	at := strings.LastIndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '"' }) + 1
	var candidates []string
	switch name, _, behind := strings.Cut(line, " "); {
	case first && !behind && (strings.HasPrefix(line, `\`) || strings.HasPrefix(line, ".")):
		at = 0
		for _, c := range commands {
			candidates = append(candidates, c.name)
		}
	case first && name == `\load` || strings.Count(line, "'")%2 == 1 && ofSetting(line) == nil:
		at = strings.LastIndexAny(line, "'= ") + 1
		return line[:at], paths(line[at:])
	case first && name == `\backend`:
		candidates = engine.Backends()
	case first:
		candidates = ofSetting(line)
		if value := strings.LastIndexAny(line, "=',") + 1; candidates != nil && value > 0 { // which may be of several words
			at = len(line) - len(strings.TrimLeft(line[value:], " "))
		}
	}
	if candidates == nil {
		candidates = slices.Concat(sql.Keywords, sql.Functions(), names())
	}
	word := line[at:]
	if word == "" {
		return line, nil
	}
	for _, c := range candidates {
		switch n := len(word); {
		case len(c) < n || !strings.EqualFold(c[:n], word) || visible(c) != c:
		case slices.Contains(sql.Keywords, c) && word == strings.ToLower(word):
			list = append(list, strings.ToLower(c))
		default:
			list = append(list, c)
		}
	}
	slices.Sort(list)
	return line[:at], slices.Compact(list)
}
