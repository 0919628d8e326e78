package sql

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// InformationSchema are the names of the tables of information_schema: see [Information].
var InformationSchema = []string{"tables", "columns"}

var informationFields = [][]table.Field{
	{{Name: "table_schema", Type: varchar}, {Name: "table_name", Type: varchar}, {Name: "table_type", Type: varchar}},
	{{Name: "table_schema", Type: varchar}, {Name: "table_name", Type: varchar}, {Name: "column_name", Type: varchar},
		{Name: "ordinal_position", Type: bigint}, {Name: "is_nullable", Type: varchar}, {Name: "data_type", Type: varchar},
		{Name: "numeric_precision", Type: bigint}, {Name: "numeric_scale", Type: bigint}},
}

// InformationName is the name of a table with its schema. No other table has such a name.
func InformationName(name string) string { return "information_schema." + name }

// InformationNames are the tables of [InformationSchema] with their schema.
func InformationNames() []string { return xslices.Map(InformationSchema, InformationName) }

// Information makes the i-th table of [InformationSchema], with a row for each table of the
// schema public, or for each of their columns. For these it opens all tables of c. The
// columns are those of PostgreSQL's that say something here.
func Information(c Catalog, i int) (*table.Table, error) {
	b := table.NewBuilder(InformationName(InformationSchema[i]), informationFields[i], 0)
	row := func(values ...table.Value) error {
		for k, v := range values {
			b.Column(k).Value(v)
		}
		return b.EndRow()
	}
	for k, name := range c.Names {
		def := c.definition(name)
		isView := def != nil && def.View != ""
		if i == 0 {
			kind := "BASE TABLE"
			if isView {
				kind = "VIEW"
			}
			if err := row(table.Str("public"), table.Str(name), table.Str(kind)); err != nil {
				return nil, err
			}
			continue
		}
		t, err := c.Table(k)
		if err != nil {
			return nil, err
		}
		fields := t.Fields
		if isView {
			if now, err := viewFields(c, def); err == nil { // else their names are known
				fields = now
			}
		}
		for at, f := range fields {
			precision, scale := table.Null(bigint), table.Null(bigint)
			if f.Type.Kind == table.Decimal {
				precision, scale = table.Int(int64(f.Type.Precision)), table.Int(int64(f.Type.Scale))
			}
			nullable := "YES"
			if def != nil && def.Columns[at].NotNull {
				nullable = "NO"
			}
			if err := row(table.Str("public"), table.Str(name), table.Str(f.Name), table.Int(int64(at+1)), table.Str(nullable),
				table.Str(typeOf(f, typeName)), precision, scale); err != nil {
				return nil, err
			}
		}
	}
	return b.Table(), nil
}

// typeOf is the type of a column, or why it cannot be used.
func typeOf(f table.Field, name func(table.Type) string) string {
	if f.Unsupported != "" {
		return fmt.Sprintf("unsupported (%s)", f.Unsupported)
	}
	return name(f.Type)
}

// tableNamed is the table that a FROM clause names, and its name without the schema.
func (b *binder) tableNamed(r *pg.RangeVar, loc int) (t *table.Table, name string) {
	at, known := 0, b.c.Names
	n := b.spelled(loc, r.Relname)[0]
	if r.Schemaname == "" {
		if i, _ := lookup(n, known); i < 0 && n.quoted {
			if t, ok := b.open(File{Path: n.text}, loc); ok {
				return t, stem(n.text)
			}
		}
		if i, _ := lookup(n, known); i < 0 && n.path {
			panic(b.coded(sqlstate.UndefinedTable, loc, "there is no file and no table %q%s", clipped(n.text), suggest(n.text, known, "tables")))
		}
	} else {
		spelled := b.spelled(loc, r.Schemaname, r.Relname)
		n = spelled[1]
		switch schema, _ := lookup(spelled[0], []string{"public", "information_schema"}); schema {
		case 0:
		case 1:
			at, known = len(b.c.Names), b.c.Information
		default:
			panic(b.coded(sqlstate.UndefinedTable, loc, "schema %q does not exist; the schemas are public and information_schema; a file is written '%s'",
				clipped(spelled[0].text), clipped(spelled[0].text+"."+n.text)))
		}
	}
	i := b.find("table", n, known, loc)
	t, err := b.c.Table(at + i)
	if err != nil {
		panic(unread{err})
	}
	if n.path {
		return t, stem(n.text)
	}
	return t, known[i]
}

// PostgreSQL's grammar has neither DESCRIBE nor SUMMARIZE. grammatical is the statement with TABLE, that is
// SELECT * FROM, in their place, or with nothing before a SELECT. All behind it keeps its position.
func (s *Statement) grammatical() string {
	first := s.token(0)
	s.describes, s.summarizes = strings.EqualFold(first, "describe"), strings.EqualFold(first, "summarize")
	if !s.describes && !s.summarizes {
		return s.clean
	}
	instead := "TABLE"
	if s.describes && s.describesSelect() {
		instead = ""
	}
	return instead + strings.Repeat(" ", len(first)-len(instead)) + s.clean[len(first):]
}

// token is the text of the token at i, "" where there are fewer.
func (s *Statement) token(i int) string {
	if i >= len(s.tokens) {
		return ""
	}
	return s.Text[s.tokens[i].start:s.tokens[i].end]
}

func (s *Statement) describesSelect() bool { return strings.EqualFold(s.token(1), "select") }

// describe binds DESCRIBE of a table or of a SELECT: a row for each column, with its name
// and type.
func (b *binder) describe() plan.Node {
	var fields []table.Field
	var def *storage.Definition
	if b.describesSelect() {
		fields = b.answer().Fields()
	} else {
		b.onlyTable("DESCRIBE takes the name of a table, or a SELECT")
		b.from()
		fields, def = b.scope.fields, b.defined(b.sel.FromClause[0].GetRangeVar())
	}
	var names, types, comments []string
	for i, f := range fields {
		comment := ""
		if def != nil {
			comment = def.Columns[i].Comment
		}
		comments = append(comments, comment)
		name := table.Type.String
		if def != nil && def.View == "" {
			name = def.Columns[i].TypeName
		}
		names = append(names, f.Name)
		types = append(types, typeOf(f, name))
	}
	heads, lists := []string{"column_name", "data_type"}, [][]string{names, types}
	if def != nil && def.View == "" {
		if rules := rulesOf(def); slices.ContainsFunc(rules, func(r string) bool { return r != "" }) {
			heads, lists = append(heads, "rules"), append(lists, rules)
		}
	}
	return withComments(heads, comments, lists...)
}

// rulesOf lists, for each column of a table, what CREATE TABLE would say of it besides its type. A key and a CHECK of several columns are
// listed at each of them.
func rulesOf(def *storage.Definition) []string {
	list := make([][]string, len(def.Columns))
	for _, k := range def.Keys {
		word := "UNIQUE"
		if k.Primary {
			word = "PRIMARY KEY"
		}
		if len(k.Columns) > 1 {
			names := xslices.Map(k.Columns, func(col int) string { return expr.Ident(def.Fields[col].Name) })
			word += " (" + strings.Join(names, ", ") + ")"
		}
		for _, col := range k.Columns {
			list[col] = append(list[col], word)
		}
	}
	for i, c := range def.Columns {
		if c.NotNull {
			list[i] = append(list[i], "NOT NULL")
		}
		switch {
		case c.Sequence == nil && c.Default != "":
			list[i] = append(list[i], "DEFAULT "+c.Default)
		case c.Sequence != nil && c.Sequence.Kind.Identity():
			list[i] = append(list[i], "GENERATED "+strings.ToUpper(string(c.Sequence.Kind))+" AS IDENTITY")
		case c.Sequence != nil:
			list[i] = append(list[i], "SERIAL")
		}
		name := expr.Ident(def.Fields[i].Name)
		for _, check := range def.Checks {
			if of := split(check.SQL); len(of) == 1 && slices.ContainsFunc(of[0].tokens, func(t token) bool { return of[0].Text[t.start:t.end] == name }) {
				list[i] = append(list[i], "CHECK ("+check.SQL+")")
			}
		}
	}
	return xslices.Map(list, func(rules []string) string { return strings.Join(rules, ", ") })
}

// defined is the definition of the table or view that a name in FROM means; nil where it has none.
func (b *binder) defined(r *pg.RangeVar) *storage.Definition {
	if r == nil || r.Schemaname != "" && !strings.EqualFold(r.Schemaname, "public") {
		return nil
	}
	if i, _ := lookup(b.relation(r), b.c.Names); i >= 0 {
		return b.c.definition(b.c.Names[i])
	}
	return nil
}

// onlyTable checks that a table's name follows the first word, and nothing else.
func (b *binder) onlyTable(otherwise string) {
	for i := range b.tokens[1:] {
		if dot := b.token(1+i) == "."; dot != (i%2 == 1) {
			panic(b.errorf(b.tokens[1+i].start, "%s", otherwise))
		}
	}
}

// listed is lists of the same length as columns of text.
func listed(names []string, lists ...[]string) plan.Node {
	v, p := &plan.Values{}, &plan.Project{}
	for k, name := range names {
		v.Columns = append(v.Columns, table.Field{Name: name, Type: varchar})
		p.Items = append(p.Items, plan.Item{Name: name, E: &expr.Column{Index: k, Name: name, T: varchar, P: -1}})
	}
	for i := range lists[0] {
		row := xslices.Map(lists, func(list []string) expr.Expr { return &expr.Const{V: table.Str(list[i]), P: -1} })
		v.Rows = append(v.Rows, row)
	}
	p.Input = v
	return p
}
