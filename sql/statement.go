package sql

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
)

// Statement is one statement of a text.
type Statement struct {
	Text      string // without the semicolon and what is blank around it
	Offset    int    // of Text in the text given to Parse, in bytes
	Explain   bool   // EXPLAIN
	Analyze   bool   // EXPLAIN ANALYZE
	Pipelines bool   // EXPLAIN (PIPELINES)
	JSON      bool   // EXPLAIN (FORMAT JSON)
	Params    int    // the n of the last parameter $n
	Clock     bool   // its meaning depends on when it is bound: now()
	Infers    bool   // it infers the types of its parameters, as PREPARE does: numbers are assigned to them

	Setting *Setting // of SET, RESET, SHOW and DISCARD; else nil
	Index   *Index   // of CREATE INDEX, DROP INDEX and SHOW INDEXES; else nil
	Copy    *Copy    // of COPY; else nil

	Transaction *Transaction // of BEGIN, COMMIT, ROLLBACK and their like; else nil
	Prepared    *Prepared    // of PREPARE, EXECUTE and DEALLOCATE; else nil
	Upkeep      *Upkeep      // of VACUUM, ANALYZE and CHECKPOINT; else nil

	describes, summarizes bool   // DESCRIBE, SUMMARIZE
	shows                 string // of SHOW TABLES, SHOW FUNCTIONS and SHOW RULES what they list

	tokens []token // of Text
	clean  string  // Text with blanks in the place of its comments
	data   []byte  // lines behind a COPY FROM STDIN; nil for none
	open   int     // where a comment starts that nothing ends, negative if there is none
	sel    *pg.SelectStmt
	kept   *formTree // that sel is of; nil where the statement has a tree of its own: see [Statement.query]
	// argument is, where the statement gives an argument of EXECUTE, the cast that assigns it to the type of the parameter of a number.
	argument *pg.TypeCast
	number   int
	changed  any // of a statement that changes something; else nil
	err      error
}

// Err returns the error of a statement that is not valid SQL or that is none of
// those that there are; Bind returns it too.
func (s *Statement) Err() error { return s.err }

// IsSelect reports whether it is a SELECT by itself.
func (s *Statement) IsSelect() bool {
	return s.sel != nil && s.Copy == nil && !s.Explain && !s.describes && !s.summarizes
}

// GivesRows reports whether it answers with rows. Of an EXECUTE only a session knows.
func (s *Statement) GivesRows() bool {
	if n, ok := s.changed.(interface{ GetReturningList() []*pg.Node }); ok && !s.Explain {
		return len(n.GetReturningList()) > 0
	}
	return s.Explain || s.describes || s.summarizes || s.shows != "" || s.Setting != nil && s.Setting.Verb == "SHOW" || s.Index != nil && s.Index.Verb == "SHOW" ||
		s.sel != nil && s.changed == nil && s.Copy == nil
}

// Limited reports whether it is a SELECT of so many rows at most.
func (s *Statement) Limited() bool { return s.sel != nil && s.sel.LimitCount != nil }

// Parse cuts text into its statements. Empty ones are left out. A statement that
// is too long, nested too deeply or no SQL is there all the same, with Err set.
// Those before it can still run. The error of Parse is an [*expr.Error] for text
// that is not valid UTF-8 or that holds a NUL byte.
func Parse(text string) ([]*Statement, error) { return parse(text, nil) }

// parse is Parse with the trees of forms that were parsed before, or without.
func parse(text string, c *ParseCache) ([]*Statement, error) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, expr.Coded(sqlstate.SyntaxError, i, "the SQL text holds a NUL byte")
	}
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(r)) {
			return nil, expr.Coded(sqlstate.SyntaxError, i, "the SQL text is not valid UTF-8")
		}
	}
	list := split(text)
	for _, s := range list {
		s.err = s.parse(c)
	}
	return list, nil
}

// errorf makes a [sqlstate.SyntaxError] at loc, a byte offset in the statement.
func (s *Statement) errorf(loc int, format string, args ...any) error {
	return s.coded(sqlstate.SyntaxError, loc, format, args...)
}

// coded makes an error of another code at loc.
func (s *Statement) coded(code sqlstate.Code, loc int, format string, args ...any) error {
	return expr.Coded(code, s.pos(loc), format, args...)
}

// pos turns an offset in the statement into one in the whole text.
func (s *Statement) pos(loc int) int {
	if loc < 0 {
		return s.Offset
	}
	return s.Offset + loc
}

func (s *Statement) parse(c *ParseCache) error {
	form := ""
	if c != nil {
		if form = s.form(); form != "" && c.lookUp(s, form) {
			return nil
		}
	}
	if err := s.guard(); err != nil {
		return err
	}
	clean := s.clean
	tree, err := s.tree()
	if err != nil {
		return err
	}
	if len(tree.Stmts) != 1 {
		return s.errorf(0, "%d statements where one was expected", len(tree.Stmts))
	}
	if err := s.countParams(); err != nil {
		return err
	}
	s.Clock = s.usesClock()
	err = s.statement(tree.Stmts[0].Stmt)
	if err == nil && form != "" && s.clean == clean {
		c.add(s, form)
	}
	return err
}

// maxParams is the most parameters of a statement; it is PostgreSQL's limit too.
const maxParams = 65535

// countParams finds the n of the last parameter $n; every one from $1 to it has a value.
func (s *Statement) countParams() error {
	for _, t := range s.tokens {
		digits, ok := strings.CutPrefix(s.Text[t.start:t.end], "$")
		if t.kind != punct || !ok || digits == "" {
			continue
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > maxParams {
			return s.coded(sqlstate.UndefinedParameter, 0, "there is no parameter $%s; they go from $1 to $%d", digits, maxParams)
		}
		s.Params = max(s.Params, n)
	}
	return nil
}

// place is where pg_query found an error; it counts the characters of the text it was
// given.
func (s *Statement) place(err error) int {
	var pe *parser.Error
	if !errors.As(err, &pe) || pe.Cursorpos <= 0 {
		return 0
	}
	n := 0
	for i := range s.clean {
		if n++; n == pe.Cursorpos {
			return i
		}
	}
	return len(s.clean)
}

// message is what pg_query found.
func message(err error) string {
	var pe *parser.Error
	if errors.As(err, &pe) {
		return pe.Message
	}
	return fmt.Sprintf("the statement cannot be parsed: %v", err)
}

// statement takes the SELECT out of n, which may be an EXPLAIN of one.
func (s *Statement) statement(n *pg.Node) error {
	if s.changes(n) {
		return nil
	}
	switch n := n.Node.(type) {
	case *pg.Node_SelectStmt:
		s.sel = n.SelectStmt
		return nil
	case *pg.Node_ExplainStmt:
		return s.explain(n.ExplainStmt)
	case *pg.Node_CopyStmt:
		return s.copies(n.CopyStmt)
	case *pg.Node_VariableShowStmt:
		name := settingName(n.VariableShowStmt.Name)
		if name == "tables" || name == "functions" || name == "rules" {
			s.shows = name
			return nil
		}
		if name == "indexes" {
			s.Index = &Index{Verb: "SHOW"}
			return nil
		}
		s.Setting = &Setting{Verb: "SHOW", Name: name, Pos: s.pos(s.keyword(name))}
		return nil
	case *pg.Node_VacuumStmt:
		return s.maintain(n.VacuumStmt)
	case *pg.Node_CheckPointStmt:
		s.Upkeep = &Upkeep{Verb: "CHECKPOINT"}
		return nil
	case *pg.Node_PrepareStmt:
		return s.prepares(n.PrepareStmt)
	case *pg.Node_ExecuteStmt:
		s.Prepared = &Prepared{Verb: "EXECUTE", Name: n.ExecuteStmt.Name, Args: s.parts()}
		return nil
	case *pg.Node_DeallocateStmt:
		s.Prepared = &Prepared{Verb: "DEALLOCATE", Name: n.DeallocateStmt.Name}
		return nil
	case *pg.Node_TransactionStmt:
		return s.transaction(n.TransactionStmt)
	case *pg.Node_VariableSetStmt:
		return s.sets(n.VariableSetStmt)
	case *pg.Node_DiscardStmt:
		return s.discards(n.DiscardStmt)
	case *pg.Node_IndexStmt:
		return s.createsIndex(n.IndexStmt)
	case *pg.Node_DropStmt:
		if n.DropStmt.RemoveType == pg.ObjectType_OBJECT_INDEX {
			return s.dropsIndex(n.DropStmt)
		}
	}
	return s.coded(sqlstate.FeatureNotSupported, 0, "%s is not supported; there are SELECT, EXPLAIN, DESCRIBE, SUMMARIZE, SHOW, SET, RESET, DISCARD, CREATE TABLE, ALTER TABLE, DROP TABLE, CREATE VIEW, DROP VIEW, INSERT, UPDATE, DELETE, MERGE, TRUNCATE, COPY, COMMENT, BEGIN, COMMIT, ROLLBACK, SAVEPOINT, CREATE INDEX, DROP INDEX, PREPARE, EXECUTE, DEALLOCATE, VACUUM, ANALYZE and CHECKPOINT", s.firstWords())
}

func (s *Statement) explain(n *pg.ExplainStmt) error {
	sel := n.Query.GetSelectStmt()
	switch n.Query.Node.(type) {
	case *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_CreateTableAsStmt, *pg.Node_SelectStmt:
		s.changes(n.Query)
	}
	if sel == nil && s.changed == nil {
		return s.coded(sqlstate.FeatureNotSupported, 0, "EXPLAIN is supported for SELECT, INSERT, UPDATE, DELETE and CREATE TABLE AS")
	}
	s.Explain = true
	for _, o := range n.Options {
		d := o.GetDefElem()
		switch d.GetDefname() {
		case "analyze":
			on, ok := optionBool(d.Arg)
			if !ok {
				return s.errorf(int(d.Location), "analyze requires a Boolean value")
			}
			s.Analyze = on
		case "pipelines":
			on, ok := optionBool(d.Arg)
			if !ok {
				return s.errorf(int(d.Location), "pipelines requires a Boolean value")
			}
			s.Pipelines = on
		case "format":
			format := strings.ToLower(d.Arg.GetString_().GetSval())
			if format != "text" && format != "json" {
				return s.coded(sqlstate.FeatureNotSupported, int(d.Location), "the EXPLAIN format %s is not supported; there are TEXT and JSON", strings.ToUpper(format))
			}
			s.JSON = format == "json"
		default:
			return s.coded(sqlstate.FeatureNotSupported, int(d.GetLocation()), "the EXPLAIN option %s is not supported; there are ANALYZE, PIPELINES and FORMAT", strings.ToUpper(d.GetDefname()))
		}
	}
	s.sel = sel
	return nil
}

// optionBool reads the value of an EXPLAIN option: nothing, 0, 1, a word.
func optionBool(n *pg.Node) (on, ok bool) {
	word := ""
	switch n := n.GetNode().(type) {
	case nil:
		word = "on"
	case *pg.Node_Boolean: // an option without a value
		return n.Boolean.Boolval, true
	case *pg.Node_Integer:
		word = strconv.Itoa(int(n.Integer.Ival))
	case *pg.Node_String_:
		word = strings.ToLower(n.String_.Sval)
	}
	on, ok = map[string]bool{"on": true, "true": true, "1": true, "off": false, "false": false, "0": false}[word]
	return on, ok
}

// firstWords names a statement by its leading keywords: "INSERT", "CREATE TABLE".
func (s *Statement) firstWords() string {
	first := s.tokens[0]
	name := strings.ToUpper(s.Text[first.start:first.end])
	switch name {
	case "CREATE", "ALTER", "DROP":
		if len(s.tokens) > 1 && s.tokens[1].kind == word {
			name += " " + strings.ToUpper(s.Text[s.tokens[1].start:s.tokens[1].end])
		}
	}
	return name
}

// keyword returns where the keyword stands outside parentheses, 0 if it does not.
func (s *Statement) keyword(name string) int {
	depth := 0
	for _, t := range s.tokens {
		switch {
		case t.kind == punct && s.Text[t.start] == '(':
			depth++
		case t.kind == punct && s.Text[t.start] == ')':
			depth--
		case t.kind == word && depth == 0 && strings.EqualFold(s.Text[t.start:t.end], name):
			return t.start
		}
	}
	return 0
}

// name is an identifier as the statement spells it.
type name struct {
	text   string
	quoted bool
	path   bool // a string constant
}

// spelled reads the identifiers a.b.c at loc, which pg_query folded: it has them without
// their case and their quotes, and cut after 63 bytes. Where it stands otherwise there,
// the folded ones are it.
func (s *Statement) spelled(loc int, folded ...string) []name {
	list := xslices.Map(folded, func(f string) name { return name{text: f, quoted: true} })
	at, _ := slices.BinarySearchFunc(s.tokens, loc, func(t token, loc int) int { return t.start - loc })
	out := list[:0:0]
	wantName := true
	for _, t := range s.tokens[at:] {
		raw := s.Text[t.start:t.end]
		switch {
		case !wantName && raw == ".":
		case wantName && t.kind == word:
			out = append(out, name{text: raw})
		case wantName && t.kind == quoted && raw[0] == '"' && len(raw) >= 2:
			out = append(out, name{text: strings.ReplaceAll(raw[1:len(raw)-1], `""`, `"`), quoted: true})
		case wantName && t.kind == path:
			out = append(out, name{strings.ReplaceAll(raw[1:len(raw)-1], "''", "'"), true, true})
		default:
			return list
		}
		if len(out) == len(list) {
			return out
		}
		wantName = !wantName
	}
	return list
}

// Place is where something stands in a text.
type Place struct {
	Line, Column int    // from 1, the column in characters; 0 where it stands nowhere
	Source       string // the line
	Lines        int    // of the text, without blank ones at its end
}

// PlaceOf is where an [*expr.Error] stands in the text given to [Parse]; zero of other errors.
func PlaceOf(text string, err error) (p Place) {
	var e *expr.Error
	if !errors.As(err, &e) || e.Pos < 0 || e.Pos > len(text) {
		return p
	}
	from := strings.LastIndexByte(text[:e.Pos], '\n') + 1
	p.Line, p.Column = 1+strings.Count(text[:from], "\n"), 1+utf8.RuneCountInString(text[from:e.Pos])
	p.Source, _, _ = strings.Cut(text[from:], "\n")
	p.Lines = 1 + strings.Count(strings.TrimRight(text, " \t\r\n"), "\n")
	return p
}

// Describe writes err on one line, with its place, where it has one, in the text given to [Parse].
func Describe(text string, err error) string {
	p := PlaceOf(text, err)
	if p.Line == 0 {
		return err.Error()
	}
	return fmt.Sprintf("%s (line %d, column %d)", err, p.Line, p.Column)
}

// grammarCode is the code of a message of the grammar, which says its errors without their codes.
func grammarCode(message string) sqlstate.Code {
	switch {
	case strings.HasPrefix(message, "frame start"), strings.HasPrefix(message, "frame end"):
		return sqlstate.WindowingError
	case strings.HasSuffix(message, "not yet implemented"), strings.HasSuffix(message, "not supported"):
		return sqlstate.FeatureNotSupported
	}
	return sqlstate.SyntaxError
}
