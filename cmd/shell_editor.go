package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
		head, list = complete(string(s.typed), before, func() engine.Names { return s.names(line) })
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
func (s *shell) names(line string) engine.Names {
	ctx, cancel := context.WithTimeout(s.ctx, longestOpening)
	defer cancel()
	return s.db.Names(ctx, string(s.typed)+line)
}

// paths are the files and folders whose paths begin so.
func paths(begin string) []string {
	list, _ := filepath.Glob(quotedPattern.Replace(begin) + "*") // a pattern that is none has no files
	folder := begin[:strings.LastIndexByte(begin, filepath.Separator)+1]
	for i, path := range list {
		list[i] = folder + filepath.Base(path) // as it is typed
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

// ofSetting lists what may stand at the end of SET, SHOW, RESET and DISCARD: the name of a setting, or behind it one of its values; nil
// of other statements.
func ofSetting(line string) []string {
	words := strings.FieldsFunc(strings.ToLower(line[:strings.LastIndexAny(line, " =',")+1]), func(r rune) bool { return strings.ContainsRune(" =',", r) })
	if len(words) == 0 {
		return nil
	}
	names := engine.Settings()
	switch words[0] {
	case "discard":
		return []string{"all"}
	case "reset":
		return append(names, "all")
	case "show":
		return append(names, "all", "functions", "indexes", "rules", "tables")
	case "set":
		if words = words[1:]; len(words) > 0 && (words[0] == "local" || words[0] == "session") {
			words = words[1:]
		} else {
			names = append(names, "local", "session")
		}
		if len(words) > 0 {
			return engine.SettingValues(words[0])
		}
		return names
	}
	return nil
}

// complete finds what the last word of a line may become, and what stands before it; what is typed of it stays as it is. In quotes
// that are the files. typed is what stands in the lines before of the same statement: without any, the line may be a command.
func complete(typed, line string, names func() engine.Names) (head string, list []string) {
	at := strings.LastIndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '"' }) + 1
	name, args, behind := strings.Cut(line, " ")
	first := typed == ""
	command := first && isCommand(line)
	exact := false // the case of letters means something
	var candidates []string
	switch {
	case command && !behind:
		at, exact = 0, true
		for _, c := range commands {
			candidates = append(candidates, c.name)
		}
	case command && (name == `\o` || name == ".read" || name == `\trace` && !strings.Contains(args, " ")):
		path := strings.TrimLeft(args, " ")
		return line[:len(line)-len(path)], paths(path)
	case command && name == `\load` || strings.Count(line, "'")%2 == 1 && (command || ofSetting(line) == nil):
		at = strings.LastIndexAny(line, "'= ") + 1
		return line[:at], paths(line[at:])
	case command && name == `\backend`:
		candidates, exact = engine.Backends(), true
	case first && !command:
		candidates = ofSetting(line)
		if value := strings.LastIndexAny(line, "=',") + 1; candidates != nil && value > 0 { // which may be of several words
			at, exact = len(line)-len(strings.TrimLeft(line[value:], " ")), strings.Contains(line, "'")
		}
	}
	word := line[at:]
	if candidates == nil {
		n := names()
		switch of := qualifier.FindString(line[:at]); {
		case of != "":
			candidates = behindDot(typed+line, strings.TrimSuffix(of, "."), word, n)
		case command && name == `\d` || sql.ExpectsTable(typed+line[:at]):
			candidates = slices.Concat(n.Tables, sql.FileFunctions, []string{"generate_series", "information_schema"})
		case word == "":
			return line, nil
		default:
			candidates = slices.Concat(sql.Keywords, sql.Functions(), n.Tables, n.Indexes)
			for _, columns := range n.Columns {
				candidates = append(candidates, columns...)
			}
		}
	} else if word == "" {
		return line, nil
	}
	capitals := word != strings.ToLower(word) && word == strings.ToUpper(word)
	for _, c := range candidates {
		n := len(word)
		if len(c) < n || !strings.EqualFold(c[:n], word) || visible(c) != c {
			continue
		}
		rest := c[n:]
		switch {
		case exact || strings.HasPrefix(c, `"`):
			if c[:n] != word {
				continue
			}
		case capitals:
			rest = strings.ToUpper(rest)
		case word != "" && slices.Contains(sql.Keywords, c):
			rest = strings.ToLower(rest)
		}
		list = append(list, word+rest)
	}
	slices.Sort(list)
	return line[:at], slices.Compact(list)
}

// qualifier is a name with the point behind it, at the end of a text.
var qualifier = regexp.MustCompile(`(?:[\pL\pN_]+|"(?:[^"]|"")+")\.$`)

// behindDot lists what may stand behind a schema, a table or another name for one, and a point.
func behindDot(text, of, word string, n engine.Names) (list []string) {
	if strings.EqualFold(of, "information_schema") {
		return sql.InformationSchema
	}
	named := regexp.MustCompile(`(?i)([\pL\pN_]+|"(?:[^"]|"")+")\s+(?:as\s+)?` + regexp.QuoteMeta(of) + `(?:[^\pL\pN_.]|$)`)
	tables := []string{of}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		tables = append(tables, m[1])
	}
	for _, table := range tables {
		for name, columns := range n.Columns {
			if strings.EqualFold(name, table) {
				list = append(list, columns...)
			}
		}
	}
	if list == nil && word != "" { // it is a name of something else: a subquery, a file
		for _, columns := range n.Columns {
			list = append(list, columns...)
		}
	}
	return list
}
