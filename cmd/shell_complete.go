package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/sql"
)

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

// ofSetting lists what may stand at the end of SET, SHOW, RESET and DISCARD. That is the name of a setting, or behind it one of its
// values. It is nil of other statements.
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
// after is what stands behind the cursor. names gives the names that there are, with the columns of files of these paths.
func complete(typed, line, after string, names func(paths []string) engine.Names) (head string, list []string) {
	first := typed == ""
	if first && isCommand(line) || strings.HasPrefix(line, `\`) && sql.Endable(typed) {
		return completeCommand(line, after, names)
	}
	setting := first && ofSetting(line) != nil
	if strings.Count(line, "'")%2 == 1 && !setting {
		at := strings.LastIndex(line, "'") + 1
		return line[:at], paths(line[at:])
	}
	at := wordAt(line)
	if setting {
		list := ofSetting(line)
		if value := strings.LastIndexAny(line, "=',") + 1; value > 0 { // which may be of several words
			at = len(line) - len(strings.TrimLeft(line[value:], " "))
		}
		if line[at:] == "" {
			return line, nil
		}
		return line[:at], matching(line[at:], list, strings.Contains(line, "'"))
	}
	return line[:at], completeSQL(typed+line[:at], line[at:], after, names)
}

// wordAt is where the last word of a line begins.
func wordAt(line string) int {
	return strings.LastIndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '"' }) + 1
}

// completeCommand completes the name of a command, or what it takes.
func completeCommand(line, after string, names func([]string) engine.Names) (head string, list []string) {
	name, args, behind := strings.Cut(line, " ")
	if !behind {
		return "", matching(line, commandNames(), true)
	}
	c, at := commandNamed(name), wordAt(line)
	if c == nil {
		return line, nil
	}
	path := func() (string, []string) {
		word := strings.TrimLeft(args, " '")
		return line[:len(line)-len(word)], paths(word)
	}
	words := func(list []string) (string, []string) {
		from := strings.LastIndexAny(line, " ") + 1
		return line[:from], matching(line[from:], list, true)
	}
	alone := !strings.Contains(strings.TrimLeft(args, " "), " ") // it is the first argument
	switch c.takes {
	case takesPath:
		return path()
	case takesLoad:
		at = strings.LastIndexAny(line, "'= ") + 1
		return line[:at], paths(line[at:])
	case takesPathThenSQL, takesPathThenTable:
		if alone {
			return path()
		}
		if c.takes == takesPathThenTable {
			return line[:at], matching(line[at:], names(nil).Tables, false)
		}
		_, args, _ = strings.Cut(strings.TrimLeft(args, " "), " ")
	case takesTable:
		return line[:at], matching(line[at:], slices.Concat(names(nil).Tables, []string{"information_schema"}), false)
	case takesBackend:
		return words(engine.Backends())
	case takesSwitch:
		return words([]string{"on", "off"})
	case takesDisplay:
		return words([]string{"on", "off", "auto"})
	case takesMode:
		return words(modes)
	case takesCommand:
		return words(commandNames())
	case takesSQL:
	default:
		return line, nil
	}
	if strings.Count(args, "'")%2 == 1 {
		at = strings.LastIndex(line, "'") + 1
		return line[:at], paths(line[at:])
	}
	return line[:at], completeSQL(strings.TrimSuffix(args, line[at:]), line[at:], after, names)
}

// beginnings are the keywords that a statement begins with.
var beginnings = strings.Fields(`ALTER ANALYZE BEGIN CHECKPOINT COMMENT COMMIT COPY CREATE DEALLOCATE DELETE DESCRIBE DISCARD DROP EXECUTE EXPLAIN INSERT MERGE PREPARE
	RELEASE RESET ROLLBACK SAVEPOINT SELECT SET SHOW SUMMARIZE TABLE TRUNCATE UPDATE VACUUM VALUES WITH`)

// inValues are the keywords that an expression has, besides those between its parts.
var inValues = strings.Fields(`ALL ANY ARRAY CASE CAST COALESCE CURRENT DATE DEFAULT DISTINCT ELSE END EXISTS EXTRACT FALSE GREATEST GROUPING INTERVAL LEAST NOT NULL NULLIF ROW
	SELECT TIMESTAMP TRUE WITH`)

// completeSQL lists what a word between two parts of a statement may become, by its clause. Behind FROM it is a table. In an
// expression it is a column of the tables of its FROM, wherever that stands, a name of one of these or a function. Elsewhere it is
// a keyword.
func completeSQL(before, word, after string, names func([]string) engine.Names) []string {
	c := sql.ContextOf(before, after)
	var files []string
	for _, r := range c.Relations {
		if r.Path != "" {
			files = append(files, r.Path)
		}
	}
	n := names(files)
	if of := qualifier.FindString(before); of != "" {
		return matching(word, behindDot(strings.TrimSuffix(of, "."), word, c.Relations, n), false)
	}
	columns, known := columnsOf(c.Relations, n)
	var list []string
	switch c.Expects {
	case sql.OfTable:
		list = slices.Concat(n.Tables, c.Given, sql.FileFunctions, []string{"generate_series", "information_schema"})
	case sql.OfValue:
		if list = columns; word == "" {
			break
		}
		if !known { // some may be those of a table whose columns are not known
			for _, more := range n.Columns {
				list = append(list, more...)
			}
		}
		list = slices.Concat(list, c.Given, sql.Functions(), inValues)
		for _, r := range c.Relations {
			if name := r.Alias; name != "" || r.Table != "" {
				if name == "" {
					name = r.Table
				}
				list = append(list, name)
			}
		}
	case sql.OfName:
	default:
		if word == "" {
			return nil
		}
		if list = sql.Keywords; c.Expects == sql.Beginning {
			list = beginnings
		} else if !named(before) {
			list = slices.Concat(list, n.Indexes)
		}
	}
	return matching(word, list, false)
}

// named reports a statement that reads or writes rows: others name tables and indexes in places of their own.
func named(before string) bool {
	first := strings.ToLower(strings.TrimLeft(before, " \t\n"))
	for _, w := range []string{"select", "insert", "update", "delete", "with", "merge"} {
		if strings.HasPrefix(first, w) {
			return true
		}
	}
	return false
}

// columnsOf are the columns of relations; known is false where those of some are not known, or where there are none.
func columnsOf(relations []sql.Relation, n engine.Names) (list []string, known bool) {
	known = len(relations) > 0
	for _, r := range relations {
		columns := columnsNamed(r, n)
		list, known = append(list, columns...), known && columns != nil
	}
	return list, known
}

// columnsNamed are those of one; nil where they are not known.
func columnsNamed(r sql.Relation, n engine.Names) []string {
	if r.Path != "" {
		return n.Columns[r.Path]
	}
	for name, columns := range n.Columns {
		if strings.EqualFold(name, r.Table) {
			return columns
		}
	}
	return nil
}

// qualifier is a name with the point behind it, at the end of a text.
var qualifier = regexp.MustCompile(`(?:[\pL\pN_]+|"(?:[^"]|"")+")\.$`)

// behindDot lists what may stand behind a schema, a table or another name for one, and a point.
func behindDot(of, word string, relations []sql.Relation, n engine.Names) (list []string) {
	if strings.EqualFold(of, "information_schema") {
		return sql.InformationSchema
	}
	for _, r := range relations {
		if strings.EqualFold(r.Alias, of) || r.Alias == "" && strings.EqualFold(r.Table, of) {
			if columns := columnsNamed(r, n); columns != nil {
				return columns
			}
		}
	}
	if columns := columnsNamed(sql.Relation{Table: of}, n); columns != nil {
		return columns
	}
	if word != "" { // it is a name of something else: a subquery, a file
		for _, columns := range n.Columns {
			list = append(list, columns...)
		}
	}
	return list
}

// matching are the words that begin as one does, sorted, with what is typed of them as it is. exact is where the case of
// letters means something.
func matching(word string, of []string, exact bool) (list []string) {
	capitals := word != strings.ToLower(word) && word == strings.ToUpper(word)
	for _, c := range of {
		n := len(word)
		if len(c) < n || !strings.EqualFold(c[:n], word) || terminal.Visible(c) != c {
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
	return slices.Compact(list)
}
