package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
)

// comment is COMMENT ON a table, a view, or a column of one of them.
func (b *binder) comment(n *pg.CommentStmt) *Change {
	folded := xslices.Map(n.Object.GetList().GetItems(), func(part *pg.Node) string { return part.GetString_().GetSval() })
	of := map[pg.ObjectType]string{pg.ObjectType_OBJECT_TABLE: "table", pg.ObjectType_OBJECT_VIEW: "view", pg.ObjectType_OBJECT_COLUMN: "column"}[n.Objtype]
	if of == "" || len(folded) == 0 {
		panic(b.coded(sqlstate.FeatureNotSupported, 0, "COMMENT ON is supported for TABLE, VIEW and COLUMN"))
	}
	at := b.keyword(of)
	column := ""
	if of == "column" {
		if len(folded) == 1 {
			panic(b.errorf(b.after(folded[0], at), "column name must be qualified; write COMMENT ON COLUMN table.%s", folded[0]))
		}
		folded, column = folded[:len(folded)-1], folded[len(folded)-1]
	}
	r := &pg.RangeVar{Relname: folded[len(folded)-1], Location: int32(b.after(folded[0], at))}
	if len(folded) > 1 {
		r.Schemaname = folded[len(folded)-2]
	}
	def := b.viewNamed(r)
	var a *alteration
	switch {
	case def != nil && of == "table":
		panic(b.coded(sqlstate.WrongObjectType, int(r.Location), "%q is not a table; COMMENT ON VIEW comments it", clipped(def.Name)))
	case def == nil && of == "view":
		panic(b.coded(sqlstate.WrongObjectType, int(r.Location), "%q is not a view", clipped(r.Relname)))
	case def != nil:
		out := *def
		def, out.Columns = &out, slices.Clone(def.Columns)
	default:
		a = b.altering(r)
		def = a.def
	}
	if of == "column" {
		def.Columns[b.columnOf(def, column, b.after(column, int(r.Location)))].Comment = n.Comment
	} else {
		def.Comment = n.Comment
	}
	if def.View != "" {
		return &Change{Verb: "ALTER VIEW", Views: []*storage.Definition{def}}
	}
	ch := &Change{Verb: "ALTER TABLE", Table: def.Name}
	a.finish(ch)
	return ch
}

// withComments adds a column of comments to a list, where there are some.
func withComments(names, comments []string, lists ...[]string) plan.Node {
	if slices.ContainsFunc(comments, func(c string) bool { return c != "" }) {
		names, lists = append(names, "description"), append(lists, comments)
	}
	return listed(names, lists...)
}
