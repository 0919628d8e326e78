package sql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/stencildb/stencildb/expr"
)

// Statement is one statement of a text.
type Statement struct {
	Text    string // without the semicolon and what is blank around it
	Offset  int    // of Text in the text given to Parse, in bytes
	Explain bool   // EXPLAIN
	Analyze bool   // EXPLAIN ANALYZE
	JSON    bool   // EXPLAIN (FORMAT JSON)
	Params  int    // the n of the last parameter $n

	sel *pg.SelectStmt
	err error
}

// Err returns the error of a statement that is not valid SQL or that is none of
// SELECT and EXPLAIN; Bind returns it too.
func (s *Statement) Err() error { return s.err }

// Parse cuts text into its statements. Empty ones are left out. A statement that
// is too long, nested too deeply or no SQL is there all the same, with Err set:
// those before it can still run. The error of Parse is an [*expr.Error] for text
// that is not valid UTF-8 or that holds a NUL byte.
func Parse(text string) ([]*Statement, error) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, expr.Errorf(i, "the SQL text holds a NUL byte")
	}
	if i := invalidUTF8(text); i >= 0 {
		return nil, expr.Errorf(i, "the SQL text is not valid UTF-8")
	}
	var list []*Statement
	for _, piece := range split(text) {
		s := &Statement{Text: text[piece[0]:piece[1]], Offset: piece[0]}
		s.err = s.parse()
		list = append(list, s)
	}
	return list, nil
}

func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// errorf makes an error at loc, a byte offset in the statement.
func (s *Statement) errorf(loc int, format string, args ...any) error {
	return expr.Errorf(s.pos(loc), format, args...)
}

// pos turns an offset in the statement into one in the whole text.
func (s *Statement) pos(loc int) int {
	if loc < 0 {
		return s.Offset
	}
	return s.Offset + loc
}

func (s *Statement) parse() error {
	var e *expr.Error
	if err := guard(s.Text); errors.As(err, &e) {
		return s.errorf(e.Pos, "%s", e.Msg)
	}
	clean := blankComments(s.Text)
	tree, err := pg.Parse(clean)
	if err != nil {
		return s.syntaxError(clean, err)
	}
	if len(tree.Stmts) != 1 {
		return s.errorf(0, "%d statements where one was expected", len(tree.Stmts))
	}
	if s.Params, err = params(s.Text); err != nil {
		return s.errorf(0, "%s", err)
	}
	return s.statement(tree.Stmts[0].Stmt)
}

// maxParams is the most parameters of a statement; it is PostgreSQL's limit too.
const maxParams = 65535

// params returns the n of the last parameter $n of a text; every one from $1 to it
// has a value.
func params(text string) (int, error) {
	last := 0
	for t := range tokens(text) {
		if t.kind != punct || text[t.start] != '$' || t.end-t.start < 2 {
			continue
		}
		n, err := strconv.Atoi(text[t.start+1 : t.end])
		if err != nil || n < 1 || n > maxParams {
			return 0, fmt.Errorf("there is no parameter %s; they go from $1 to $%d", text[t.start:t.end], maxParams)
		}
		last = max(last, n)
	}
	return last, nil
}

// syntaxError places pg_query's error, whose position counts the characters of the
// text it was given.
func (s *Statement) syntaxError(text string, err error) error {
	var pe *parser.Error
	if !errors.As(err, &pe) {
		return s.errorf(0, "the statement cannot be parsed: %v", err)
	}
	loc, n := len(text), 0
	for i := range text {
		if n++; n == pe.Cursorpos {
			loc = i
			break
		}
	}
	if pe.Cursorpos <= 0 {
		loc = 0
	}
	return s.errorf(loc, "%s", pe.Message)
}

// statement takes the SELECT out of n, which may be an EXPLAIN of one.
func (s *Statement) statement(n *pg.Node) error {
	switch n := n.Node.(type) {
	case *pg.Node_SelectStmt:
		s.sel = n.SelectStmt
		return nil
	case *pg.Node_ExplainStmt:
		return s.explain(n.ExplainStmt)
	}
	return s.errorf(0, "%s is not supported; there are SELECT and EXPLAIN", s.firstWords())
}

func (s *Statement) explain(n *pg.ExplainStmt) error {
	sel := n.Query.GetSelectStmt()
	if sel == nil {
		return s.errorf(0, "EXPLAIN is supported for SELECT only")
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
		case "format":
			format := strings.ToLower(d.Arg.GetString_().GetSval())
			if format != "text" && format != "json" {
				return s.errorf(int(d.Location), "the EXPLAIN format %s is not supported; there are TEXT and JSON", strings.ToUpper(format))
			}
			s.JSON = format == "json"
		default:
			return s.errorf(int(d.GetLocation()), "the EXPLAIN option %s is not supported; there are ANALYZE and FORMAT", strings.ToUpper(d.GetDefname()))
		}
	}
	s.sel = sel
	return nil
}

// optionBool reads the value of an EXPLAIN option: nothing, 0, 1, a word.
func optionBool(n *pg.Node) (on, ok bool) {
	if n == nil {
		return true, true
	}
	switch n := n.Node.(type) {
	case *pg.Node_Integer:
		return n.Integer.Ival == 1, n.Integer.Ival == 0 || n.Integer.Ival == 1
	case *pg.Node_Boolean:
		return n.Boolean.Boolval, true
	case *pg.Node_String_:
		switch strings.ToLower(n.String_.Sval) {
		case "true", "on":
			return true, true
		case "false", "off":
			return false, true
		}
	}
	return false, false
}

// firstWords names a statement by its leading keywords: "INSERT", "CREATE TABLE".
func (s *Statement) firstWords() string {
	sc := scanner{text: s.Text}
	t, _ := sc.next()
	name := strings.ToUpper(s.Text[t.start:t.end])
	switch name {
	case "CREATE", "ALTER", "DROP":
		if t, ok := sc.next(); ok && t.kind == word {
			name += " " + strings.ToUpper(s.Text[t.start:t.end])
		}
	}
	return name
}

// keyword returns where the keyword stands outside parentheses, 0 if it does not.
func (s *Statement) keyword(name string) int {
	depth := 0
	for t := range tokens(s.Text) {
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
}

// spelled reads the identifiers a.b.c at loc, which pg_query folded: it has them without
// their case and their quotes, and cut after 63 bytes. Where it stands otherwise there,
// the folded ones are it.
func (s *Statement) spelled(loc int, folded ...string) []name {
	var list []name
	for _, f := range folded {
		list = append(list, name{f, true})
	}
	if loc < 0 || loc > len(s.Text) {
		return list
	}
	out := list[:0:0]
	wantName := true
	for t := range tokens(s.Text[loc:]) {
		raw := s.Text[loc:][t.start:t.end]
		switch {
		case !wantName && raw == ".":
		case wantName && t.kind == word:
			out = append(out, name{raw, false})
		case wantName && t.kind == quoted && raw[0] == '"' && len(raw) >= 2:
			out = append(out, name{strings.ReplaceAll(raw[1:len(raw)-1], `""`, `"`), true})
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

// Describe writes err on one line, with the line and the column (in characters,
// from 1) of an [*expr.Error] in the text given to [Parse].
func Describe(text string, err error) string {
	var e *expr.Error
	if !errors.As(err, &e) || e.Pos < 0 || e.Pos > len(text) {
		return err.Error()
	}
	before := text[:e.Pos]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%s (line %d, column %d)", err, line, column)
}
