package sql

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// File is a file that a FROM clause names, by its path or in a function.
type File struct {
	Path     string
	Function string // one of [FileFunctions], "" for a path alone
	Options  []FileOption
}

// FileOption is name => value among the arguments of a function.
type FileOption struct{ Name, Value string }

// FileFunctions are the functions that read a file in FROM.
var FileFunctions = []string{"read_csv", "read_json", "read_parquet", "read_arrow"}

// String is the file as one writes it in FROM; a path is itself.
func (f File) String() string {
	if f.Function == "" {
		return f.Path
	}
	args := expr.Quote(f.Path)
	for _, o := range f.Options {
		args += ", " + o.Name + " => " + expr.Quote(o.Value)
	}
	return f.Function + "(" + args + ")"
}

// maxPaths is the most paths that a statement names.
const maxPaths = 100

// tree parses the statement. PostgreSQL's grammar has names for tables, and no paths. The parse fails at a
// string constant in the place of a table. The constant then becomes a quoted name of the same length, and it
// parses again.
func (s *Statement) tree() (*pg.ParseResult, error) {
	s.nameJoin()
	for paths := 0; ; paths++ {
		tree, err := pg.Parse(s.grammatical())
		if err == nil {
			return tree, nil
		}
		if loc := s.place(err); paths == maxPaths || !s.takePath(loc) && !s.nameNull(loc) && !s.nameJSON(loc) {
			if s.keysOfAll(loc) {
				continue
			}
			if err := s.ofDialect(loc); err != nil {
				return nil, err
			}
			return nil, s.coded(grammarCode(message(err)), loc, "%s%s", message(err), s.remedy(loc, message(err)))
		}
	}
}

// takePath makes a quoted name of the string constant at loc, where that stands for a table.
func (s *Statement) takePath(loc int) bool {
	i, found := slices.BinarySearchFunc(s.tokens, loc, func(t token, loc int) int { return t.start - loc })
	if !found || i == 0 || s.tokens[i].kind != str || !s.beforeTable(i) {
		return false
	}
	t := &s.tokens[i]
	if c := s.Text[t.start]; (c == 'E' || c == 'e') && !strings.Contains(s.Text[t.start:t.end], `\`) { // without escapes it is the plain one
		s.clean = s.clean[:t.start] + " " + s.clean[t.start+1:]
		t.start++
	}
	if n := t.end - t.start; s.Text[t.start] == '\'' && n > 2 && s.Text[t.end-1] == '\'' {
		t.kind = path
		s.clean = s.clean[:t.start] + `"` + strings.Repeat("x", n-2) + `"` + s.clean[t.end:]
		return true
	}
	return false
}

// insteadOfJSON stands where COPY has the option FORMAT json, words that the grammar has as those of another clause.
const insteadOfJSON = "jso_"

// nameJSON puts [insteadOfJSON] behind the FORMAT at loc.
func (s *Statement) nameJSON(loc int) bool {
	i, found := slices.BinarySearchFunc(s.tokens, loc, func(t token, loc int) int { return t.start - loc })
	if !found || !strings.EqualFold(s.token(0), "copy") || !strings.EqualFold(s.token(i), "format") || !strings.EqualFold(s.token(i+1), "json") {
		return false
	}
	at := s.tokens[i+1]
	s.clean = s.clean[:at.start] + insteadOfJSON + s.clean[at.end:]
	return true
}

// insteadOfNull stands where a call names the option null, which the grammar has as a keyword.
const insteadOfNull = "nul_"

// nameNull puts [insteadOfNull] before the => or := at loc, among the arguments of a function that reads a file.
func (s *Statement) nameNull(loc int) bool {
	i, found := slices.BinarySearchFunc(s.tokens, loc, func(t token, loc int) int { return t.start - loc })
	if !found || i == 0 || !strings.EqualFold(s.token(i-1), "null") || !strings.HasPrefix(s.Text[loc:], "=>") && !strings.HasPrefix(s.Text[loc:], ":=") {
		return false
	}
	call := i - 2
	for ; call > 0 && s.token(call) != "("; call-- { // constants are all that is there
	}
	if call <= 0 || !slices.Contains(FileFunctions, strings.ToLower(s.token(call-1))) {
		return false
	}
	t := s.tokens[i-1]
	s.clean = s.clean[:t.start] + insteadOfNull + s.clean[t.end:]
	return true
}

// beforeTable reports whether a table's name may stand at the token i. It may stand behind FROM, JOIN, UPDATE,
// INSERT INTO, DESCRIBE or SUMMARIZE, or a comma of a FROM list. It may also stand behind ONLY or a
// parenthesis that follows one of these.
func (s *Statement) beforeTable(i int) bool {
	last := func(i int) string {
		if i < 0 {
			return ""
		}
		return strings.ToLower(s.token(i))
	}
	switch last(i - 1) {
	case "from", "join", "describe", "summarize", "table", "update":
		return true
	case "into":
		before := last(i - 2)
		return before == "insert" || before == "merge"
	case "(", "only":
		return s.beforeTable(i - 1)
	case ",":
	default:
		return false
	}
	for depth, k := 0, i-2; k >= 0; k-- {
		switch w := last(k); {
		case w == ")":
			depth++
		case w == "(":
			depth--
		case depth == 0 && w == "from":
			return true
		case depth < 0, depth == 0 && (w == "select" || w == "where" || w == "by" || w == "having"):
			return false
		}
	}
	return false
}

// calls are what reads its arguments with FROM between them.
var calls = []string{"extract", "substring", "trim", "overlay"}

// ExpectsTable reports whether the name of a table is what comes next in the statement that a text ends with.
func ExpectsTable(text string) bool {
	end, begun := Complete(text)
	if !begun {
		return false
	}
	s := split(text[end:])[0]
	last := len(s.tokens)
	if last == 0 {
		return false
	}
	before := func(n int) string { return strings.ToLower(s.token(max(last-n, 0))) }
	switch before(1) {
	case "into", "truncate":
		return true
	case "update":
		return last == 1
	case "exists":
		return before(2) == "if"
	case "from":
		if before(2) == "distinct" {
			return false
		}
		for depth, k := 0, last-2; k > 0 && depth >= 0; k-- {
			switch s.token(k) {
			case ")":
				depth++
			case "(":
				if depth--; depth < 0 && slices.Contains(calls, strings.ToLower(s.token(k-1))) {
					return false
				}
			}
		}
	}
	return s.beforeTable(last)
}

// FileError is that of a file of which a statement says what it does not take.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// open is the table of a file that is named at loc; ok is false where there is none of that path.
func (b *binder) open(f File, loc int) (t *table.Table, ok bool) {
	if b.c.Open == nil {
		return nil, false
	}
	t, err := b.c.Open(f)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if wrong := (*FileError)(nil); errors.As(err, &wrong) {
		panic(b.coded(sqlstate.Of(err), loc, "%s", err))
	}
	if err != nil {
		panic(unread{err})
	}
	return t, true
}

// fileOf reads a function in FROM, and says where it stands: the path of a file, and options
// by name.
func (b *binder) fileOf(r *pg.RangeFunction) (f File, loc int) {
	var call *pg.FuncCall
	if items := r.Functions[0].GetList().GetItems(); len(r.Functions) == 1 && len(items) > 0 {
		call = items[0].GetFuncCall()
	}
	loc = int(call.GetLocation())
	if len(call.GetFuncname()) == 1 {
		f.Function = call.Funcname[0].GetString_().GetSval()
	}
	if !slices.Contains(FileFunctions, f.Function) {
		code := sqlstate.FeatureNotSupported
		if len(expr.Functions(f.Function)) == 0 {
			code = sqlstate.UndefinedFunction
		}
		panic(b.coded(code, b.keyword("from"), "a function in FROM is not supported, other than generate_series, %s", strings.Join(FileFunctions, ", ")))
	}
	if r.Lateral || r.Ordinality || r.IsRowsfrom || len(r.Coldeflist) > 0 {
		panic(b.coded(sqlstate.FeatureNotSupported, loc, "LATERAL, ROWS FROM, WITH ORDINALITY and types of columns are not supported of %s; write %s('path', option => 'value') AS name (column, ...)", f.Function, f.Function))
	}
	for i, arg := range call.Args {
		named := arg.GetNamedArgExpr()
		if named != nil {
			arg = named.Arg
		}
		value, ok := text(arg.GetAConst())
		switch {
		case (named == nil) != (i == 0) || !ok:
			panic(b.coded(sqlstate.UndefinedFunction, loc, "%s takes the path of a file, then options such as header => false, all constants", f.Function))
		case i == 0:
			f.Path = value
		default:
			if named.Name == insteadOfNull {
				named.Name = "null"
			}
			f.Options = append(f.Options, FileOption{named.Name, value})
		}
	}
	if f.Path == "" {
		panic(b.coded(sqlstate.UndefinedFunction, loc, "%s needs the path of a file", f.Function))
	}
	return f, loc
}

// FileCall is where a function that reads a file stands in a statement's text: from its name to its closing parenthesis.
type FileCall struct {
	Start, End int
	Named      bool // a name follows, with AS or without
}

// FileCalls are those of the statement, which binds.
func (s *Statement) FileCalls() (list []FileCall) {
	for i, t := range s.tokens {
		if t.kind != word || !slices.Contains(FileFunctions, strings.ToLower(s.token(i))) || s.token(i+1) != "(" || i == 0 || !s.beforeTable(i) {
			continue
		}
		k, depth := i+2, 1
		for ; depth > 0 && k < len(s.tokens); k++ {
			switch s.token(k) {
			case "(":
				depth++
			case ")":
				depth--
			}
		}
		call := FileCall{Start: t.start, End: s.tokens[k-1].end}
		if next := s.token(k); next != "" {
			_, err := pg.Parse("SELECT FROM t " + next)
			call.Named = strings.EqualFold(next, "as") || err == nil
		}
		list = append(list, call)
	}
	return list
}

// text is a string, a number or a BOOLEAN as text.
func text(c *pg.A_Const) (s string, ok bool) {
	switch v := c.GetVal().(type) {
	case *pg.A_Const_Sval:
		return v.Sval.GetSval(), true
	case *pg.A_Const_Boolval:
		return strconv.FormatBool(v.Boolval.GetBoolval()), true
	case *pg.A_Const_Ival:
		return strconv.Itoa(int(v.Ival.GetIval())), true
	case *pg.A_Const_Fval:
		return v.Fval.GetFval(), true
	}
	return "", false
}

// stem is the name of a file without its folder and extensions.
func stem(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}
