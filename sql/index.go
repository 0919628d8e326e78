package sql

import (
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Index is what CREATE INDEX, DROP INDEX or SHOW INDEXES asks for.
type Index struct {
	Verb   string // "CREATE", "DROP" or "SHOW"
	Name   string // of the index; "" with CREATE: one made of the names of the table and the columns
	Kind   string // of CREATE, as USING has it; "" for the usual one
	Lax    bool   // IF EXISTS, IF NOT EXISTS
	Pos    int    // of the name, or of what is nearest, in the text given to [Parse]
	of     *pg.RangeVar
	params []*pg.IndexElem // its columns
}

// IndexColumn is a column of an index, the first of which finds rows.
type IndexColumn struct {
	Field int    // of the table
	Order string // as it is written behind the name: DESC, NULLS FIRST or both; "" for neither
}

// createsIndex takes CREATE INDEX.
func (s *Statement) createsIndex(n *pg.IndexStmt) error {
	if err := s.plainIndex(n); err != nil {
		return err
	}
	s.Index = &Index{Verb: "CREATE", Name: n.Idxname, Kind: n.AccessMethod, Lax: n.IfNotExists, Pos: s.pos(s.keyword("index")), of: n.Relation}
	for _, p := range n.IndexParams {
		s.Index.params = append(s.Index.params, p.GetIndexElem())
	}
	if s.Index.Kind == "btree" { // PostgreSQL's usual one
		s.Index.Kind = ""
	}
	return nil
}

// plainIndex fails where an index is over something else than columns as they are, of all rows. DESC and NULLS FIRST say nothing to one.
func (s *Statement) plainIndex(n *pg.IndexStmt) error {
	refused := ""
	switch {
	case n.WhereClause != nil:
		refused = "WHERE"
	case len(n.IndexIncludingParams) > 0:
		refused = "INCLUDE"
	case len(n.Options) > 0:
		refused = "WITH"
	case n.TableSpace != "":
		refused = "TABLESPACE"
	}
	for _, p := range n.IndexParams {
		e := p.GetIndexElem()
		if e.Name == "" || len(e.Collation) > 0 || len(e.Opclass) > 0 {
			return s.coded(sqlstate.FeatureNotSupported, s.startAfter("("), "an index takes the name of a column alone")
		}
	}
	if refused != "" {
		return s.coded(sqlstate.FeatureNotSupported, s.keyword(refused), "%s is not supported with CREATE INDEX", refused)
	}
	return nil
}

// uniqueIndex is CREATE UNIQUE INDEX: a key of the table, by the index's name.
func (b *binder) uniqueIndex(n *pg.IndexStmt) *Change {
	if err := b.plainIndex(n); err != nil {
		panic(err)
	}
	at := b.keyword("unique")
	switch {
	case n.NullsNotDistinct:
		panic(b.coded(sqlstate.FeatureNotSupported, at, "NULLS NOT DISTINCT is not supported"))
	case n.AccessMethod != "btree" && n.AccessMethod != "sorted" && n.AccessMethod != "":
		panic(b.coded(sqlstate.FeatureNotSupported, at, "access method %q does not support unique indexes", n.AccessMethod))
	}
	a := b.altering(n.Relation)
	ch := &Change{Verb: "CREATE INDEX", Table: a.old.Name}
	k := storage.Key{Name: n.Idxname, Index: true}
	name := a.old.Name
	for _, p := range n.IndexParams {
		folded := p.GetIndexElem().Name
		col := a.columnOf(a.def, folded, a.after(folded, b.startAfter("(")-1))
		if slices.Contains(k.Columns, col) {
			panic(b.coded(sqlstate.DuplicateColumn, b.startAfter("("), "column %q appears twice in an index", a.def.Fields[col].Name))
		}
		k.Columns, name = append(k.Columns, col), name+"_"+a.def.Fields[col].Name
	}
	for i := 0; k.Name == "" || n.Idxname == "" && b.c.keyed(k.Name) != nil; i++ { // as PostgreSQL has it
		if k.Name = name + "_idx"; i > 0 {
			k.Name += strconv.Itoa(i)
		}
	}
	if b.c.keyed(k.Name) != nil || constraintNamed(a.def, k.Name) {
		if n.IfNotExists {
			return &Change{Verb: "CREATE INDEX", Lax: true}
		}
		panic(b.coded(sqlstate.DuplicateTable, b.after(k.Name, 0), "relation %q already exists", clipped(k.Name)))
	}
	a.def.Keys = append(a.def.Keys, k)
	a.finish(ch)
	return ch
}

// keyed is the table that has a key of a name; nil where none has.
func (c Catalog) keyed(name string) *storage.Definition {
	for _, of := range c.Names {
		if def := c.definition(of); def != nil && slices.ContainsFunc(def.Keys, func(k storage.Key) bool { return k.Name == name }) {
			return def
		}
	}
	return nil
}

// dropsIndex takes DROP INDEX.
func (s *Statement) dropsIndex(n *pg.DropStmt) error {
	names := n.Objects[0].GetList().GetItems()
	if len(n.Objects) != 1 || len(names) != 1 {
		return s.coded(sqlstate.FeatureNotSupported, 0, "DROP INDEX takes one name, without a schema")
	}
	s.Index = &Index{Verb: "DROP", Name: names[0].GetString_().GetSval(), Lax: n.MissingOk, Pos: s.pos(s.tokens[len(s.tokens)-1].start)}
	return nil
}

// startAfter is where the token after one stands, 0 where there is none.
func (s *Statement) startAfter(text string) int {
	for i, t := range s.tokens[1:] {
		if s.token(i) == text {
			return t.start
		}
	}
	return 0
}

// BindIndex resolves the table and the columns of CREATE INDEX.
func (s *Statement) BindIndex(c Catalog) (t *table.Table, columns []IndexColumn, err error) {
	defer caught(&err)
	b := s.binder(c, nil)
	x := s.Index
	if strings.EqualFold(x.of.Schemaname, "information_schema") {
		panic(b.coded(sqlstate.WrongObjectType, int(x.of.Location), "the tables of information_schema have no indexes"))
	}
	if v := b.viewNamed(x.of); v != nil {
		panic(b.coded(sqlstate.WrongObjectType, int(x.of.Location), "%q is a view: an index is over a column of a table", v.Name))
	}
	t, _ = b.tableNamed(x.of, int(x.of.Location))
	names := xslices.Map(t.Fields, func(f table.Field) string { return f.Name })
	at := s.startAfter("(")
	for i, p := range x.params {
		if i > 0 {
			at = b.after(p.Name, at)
		}
		col := b.find("column", s.spelled(at, p.Name)[0], names, at)
		if f := t.Fields[col]; f.Unsupported != "" {
			panic(b.coded(sqlstate.FeatureNotSupported, at, "column %s cannot be used: %s", f.Name, f.Unsupported))
		}
		columns = append(columns, IndexColumn{col, orderOf(p)})
	}
	return t, columns, nil
}

// orderOf is the order of a column of an index as SQL.
func orderOf(p *pg.IndexElem) string {
	var words []string
	if p.Ordering == pg.SortByDir_SORTBY_DESC {
		words = append(words, "DESC")
	}
	switch p.NullsOrdering {
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		words = append(words, "NULLS FIRST")
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		words = append(words, "NULLS LAST")
	}
	return strings.Join(words, " ")
}
