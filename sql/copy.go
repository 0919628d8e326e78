package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Copy is COPY: to a file the rows that [Statement.Bind] gives, or from one rows of a table, which [Statement.BindGeneric] changes.
type Copy struct {
	From   bool
	Path   string // "" is STDIN and STDOUT
	Data   []byte // of STDIN: the lines behind the statement; nil where there are none
	Format string // "csv", "text", "parquet", "arrow" or "json"; "" for the one that the path's extension names
	// The rest is for CSV and text.
	Header bool
	Delim  byte   // 0: a comma, of text a tab, or what the extension says
	Null   string // of CSV unquoted, it is NULL
	Styled bool   // one of these was given
	// Encoding is what a file of CSV, text or JSON is in; "" for UTF-8.
	Encoding string
}

// copies takes a COPY.
func (s *Statement) copies(n *pg.CopyStmt) error {
	switch {
	case n.IsProgram:
		return s.coded(sqlstate.FeatureNotSupported, s.keyword("program"), "COPY with PROGRAM is not supported: write a file, and give the program that")
	case n.WhereClause != nil:
		return s.coded(sqlstate.FeatureNotSupported, s.keyword("where"), "WHERE is not supported with COPY FROM; write INSERT INTO t SELECT * FROM 'file' WHERE ...")
	case s.Params > 0:
		return s.coded(sqlstate.UndefinedParameter, 0, "COPY takes no parameters: write the values")
	case n.Filename == "" && s.pathIsEmpty():
		return s.errorf(0, "COPY with the path '' names no file: write 'x.csv', or STDIN or STDOUT without quotes")
	}
	c := &Copy{From: n.IsFrom, Path: n.Filename, Data: s.data}
	if n.Filename == "" {
		c.Format = "text"
	}
	seen := map[string]bool{}
	for _, o := range n.Options {
		d := o.GetDefElem()
		if seen[d.Defname] {
			return s.errorf(int(d.Location), "COPY has the option %s twice: give it once", strings.ToUpper(d.Defname))
		}
		seen[d.Defname] = true
		if err := s.copyOption(c, d); err != nil {
			return err
		}
	}
	if c.Format == "text" && !seen["null"] {
		c.Null = `\N`
	}
	switch {
	case c.From && c.Path == "" && c.Format != "csv" && c.Format != "text":
		return s.coded(sqlstate.FeatureNotSupported, s.keyword("copy"), "COPY FROM STDIN takes FORMAT csv and text; name a file for others")
	case c.Format == "text" && (seen["quote"] || seen["escape"]):
		return s.coded(sqlstate.FeatureNotSupported, s.keyword("copy"), "QUOTE and ESCAPE are for FORMAT csv: text has none of them")
	case c.Styled && c.Format != "csv" && c.Format != "text" && c.Format != "":
		return s.coded(sqlstate.FeatureNotSupported, s.keyword("copy"), "HEADER, DELIMITER, NULL, QUOTE and ESCAPE are for FORMAT csv and text; %s has none of them", c.Format)
	case c.Null != "" && c.Delim != 0 && strings.IndexByte(c.Null, c.Delim) >= 0:
		return s.coded(sqlstate.FeatureNotSupported, s.keyword("copy"), "the DELIMITER is in the text of NULL: choose another one")
	}
	s.Copy = c
	if c.From {
		s.changed = n
		return nil
	}
	if n.Query != nil {
		if s.sel = n.Query.GetSelectStmt(); s.sel == nil {
			return s.coded(sqlstate.FeatureNotSupported, s.keyword("copy"), "COPY takes a SELECT in parentheses: a statement that changes rows comes before it")
		}
		return nil
	}
	s.sel = &pg.SelectStmt{
		FromClause:  []*pg.Node{{Node: &pg.Node_RangeVar{RangeVar: n.Relation}}},
		LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE,
	}
	star := &pg.Node{Node: &pg.Node_AStar{AStar: &pg.A_Star{}}}
	columns, at := []*pg.Node{star}, s.keyword("copy")
	if n.Attlist != nil {
		columns = n.Attlist
	}
	for i, c := range columns {
		if n.Attlist != nil {
			at = s.listed(i)
		}
		ref := &pg.ColumnRef{Fields: []*pg.Node{c}, Location: int32(at)}
		s.sel.TargetList = append(s.sel.TargetList, &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{
			Val: &pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: ref}}, Location: int32(at)}}})
	}
	return nil
}

// pathIsEmpty reports that the file is written as an empty text: the grammar does not tell it from STDIN and STDOUT.
func (s *Statement) pathIsEmpty() bool {
	depth := 0 // of the parentheses around a query
	for i := range s.tokens {
		switch word := s.token(i); {
		case word == "(":
			depth++
		case word == ")":
			depth--
		case depth == 0 && i > 0 && (strings.EqualFold(word, "to") || strings.EqualFold(word, "from")):
			return strings.Trim(s.token(i+1), "eEuU&xXbBnN") == "''"
		}
	}
	return false
}

// listed is where the column i of the list behind the table's name stands.
func (s *Statement) listed(i int) int {
	for k, t := range s.tokens {
		if s.Text[t.start] == '(' {
			return s.tokens[min(k+1+2*i, len(s.tokens)-1)].start
		}
	}
	return 0
}

// copyOption takes an option of COPY.
func (s *Statement) copyOption(c *Copy, d *pg.DefElem) error {
	loc, name := int(d.Location), strings.ToUpper(d.Defname)
	value, isText := d.Arg.GetString_().GetSval(), d.Arg.GetString_() != nil
	wrong := func(want string) error {
		code := sqlstate.FeatureNotSupported
		if name == "FORMAT" {
			code = sqlstate.InvalidParameterValue
		}
		return s.coded(code, loc, "COPY's %s %q is not supported: want %s", name, value, want)
	}
	switch name {
	case "FORMAT":
		if value == insteadOfJSON {
			value = "json"
		}
		switch c.Format = strings.ToLower(value); c.Format {
		case "csv", "text", "parquet", "arrow", "json":
			return nil
		}
		return wrong("csv, text, parquet, arrow or json")
	case "ENCODING":
		c.Encoding = encodings[strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(value))]
		switch {
		case c.Encoding == "":
			return wrong("utf8, latin1, windows1252 or utf16")
		case c.Encoding != "utf8" && !c.From:
			return wrong("utf8, in which files are written")
		}
		return nil
	case "HEADER", "DELIMITER", "NULL", "QUOTE", "ESCAPE":
		c.Styled = true
	default:
		return s.errorf(loc, "COPY's option %s is not supported; there are FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE and ENCODING", name)
	}
	if name == "HEADER" {
		on, ok := optionBool(d.Arg)
		if c.Header = on; !ok {
			return wrong("true or false")
		}
		return nil
	}
	switch {
	case !isText:
		return s.errorf(loc, "COPY's %s takes a text in quotes", name)
	case name == "NULL":
		if c.Null = value; strings.ContainsAny(value, "\r\n\"") {
			return wrong("a text without quotes and line breaks")
		}
	case name == "DELIMITER":
		if len(value) != 1 || value[0] >= 0x80 || strings.ContainsAny(value, "\r\n\"\x00") {
			return wrong("one ASCII character other than a quote and a line break")
		}
		c.Delim = value[0]
	case value != `"`: // QUOTE and ESCAPE
		return wrong(`the double quote, '"'`)
	}
	return nil
}

// encodings are what ENCODING names, by PostgreSQL's names and others.
var encodings = map[string]string{
	"utf8": "utf8", "unicode": "utf8", "latin1": "latin1", "iso88591": "latin1", "win1252": "windows1252", "windows1252": "windows1252", "cp1252": "windows1252", "utf16": "utf16",
}

// CopiedRows is what the rows of COPY FROM's file are called in its plan; no statement can write it.
const CopiedRows = "copied\x01rows"

// Into are the columns that COPY FROM gives values, in the order of the file's.
func (s *Statement) Into(c Catalog) (fields []table.Field, err error) {
	defer caught(&err)
	n := s.changed.(*pg.CopyStmt)
	b := s.binder(c, nil)
	_, def := b.changeable(n.Relation)
	return xslices.Map(b.copiedInto(n, def), func(at int) table.Field { return def.Fields[at] }), nil
}

func (b *binder) copiedInto(n *pg.CopyStmt, def *storage.Definition) (columns []int) {
	if n.Attlist == nil {
		for i := range def.Fields {
			columns = append(columns, i)
		}
		return columns
	}
	seen := map[int]bool{}
	for i, a := range n.Attlist {
		at := b.columnOf(def, a.GetString_().GetSval(), b.listed(i))
		if seen[at] {
			panic(b.coded(sqlstate.DuplicateColumn, b.listed(i), "column %q specified more than once", def.Fields[at].Name))
		}
		seen[at], columns = true, append(columns, at)
	}
	return columns
}

// copied is COPY FROM, where the catalog has [CopiedRows]: an INSERT of all of them.
func (b *binder) copyInto(n *pg.CopyStmt) *Change {
	name, def := b.changeable(n.Relation)
	ch, columns := &Change{Verb: "COPY", Table: name, overrides: true}, b.copiedInto(n, def)
	for i, of := range b.c.Names {
		if of != CopiedRows {
			continue
		}
		t, err := b.c.Table(i)
		if err != nil {
			panic(unread{err})
		}
		if len(t.Fields) != len(columns) {
			panic(b.coded(sqlstate.BadCopyFileFormat, b.keyword("from"), "the file has %d columns, and COPY has %d to give values: name those that the file has, in its order", len(t.Fields), len(columns)))
		}
		p := &plan.Project{Input: &plan.Scan{Table: t.Name, Columns: t.Fields}}
		for at, f := range t.Fields {
			p.Items = append(p.Items, plan.Item{Name: f.Name, E: &expr.Column{Index: at, Name: f.Name, T: f.Type, P: b.Offset}})
		}
		b.place = inWhere
		ch.Rows = rules.Unnest(b.selectedFor(ch, def, columns, p, 0), b.c.Off)
	}
	return ch
}
