package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// merge is MERGE: each WHEN is a DELETE, an UPDATE or an INSERT of its own, of the rows that no WHEN before it takes. All of them
// read the table as it is before the statement.
func (s *Statement) merge(c Catalog, n *pg.MergeStmt, bind func(n *pg.Node) *Change) *Change {
	b := s.binder(c, nil)
	name, def := b.changeable(n.Relation)
	ch := &Change{Verb: "MERGE", Table: name, Parts: []*Change{}}
	if len(n.ReturningList) > 0 {
		panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("returning"), "RETURNING is not supported with MERGE; a SELECT behind it gives the rows"))
	}
	// A fault of the condition is the same in all actions. An ambiguous name is the target's in a subquery.
	bind(&pg.Node{Node: &pg.Node_DeleteStmt{DeleteStmt: &pg.DeleteStmt{Relation: n.Relation, UsingClause: []*pg.Node{n.SourceRelation}, WhereClause: n.JoinCondition, WithClause: n.WithClause}}})
	before := map[pg.MergeMatchKind][]*pg.Node{} // conditions that do not hold
	closed := map[pg.MergeMatchKind]bool{}
	var parts [3][]*Change // by what they do
	for _, w := range n.MergeWhenClauses {
		w := w.GetMergeWhenClause()
		kind := w.MatchKind
		if closed[kind] {
			panic(b.errorf(b.keyword("when"), "unreachable WHEN clause specified after unconditional WHEN clause"))
		}
		conditions := slices.Clone(before[kind])
		if w.Condition != nil {
			conditions = append(conditions, w.Condition)
			before[kind] = append(before[kind], &pg.Node{Node: &pg.Node_BooleanTest{BooleanTest: &pg.BooleanTest{Arg: w.Condition, Booltesttype: pg.BoolTestType_IS_NOT_TRUE, Location: -1}}})
		}
		closed[kind] = w.Condition == nil
		var others []*pg.Node
		switch kind {
		case pg.MergeMatchKind_MERGE_WHEN_MATCHED:
			others, conditions = []*pg.Node{n.SourceRelation}, append([]*pg.Node{n.JoinCondition}, conditions...)
		case pg.MergeMatchKind_MERGE_WHEN_NOT_MATCHED_BY_SOURCE:
			conditions = append([]*pg.Node{without(n.SourceRelation, n.JoinCondition)}, conditions...)
		default:
			conditions = append([]*pg.Node{without(&pg.Node{Node: &pg.Node_RangeVar{RangeVar: n.Relation}}, n.JoinCondition)}, conditions...)
		}
		where := conditions[0]
		if len(conditions) > 1 {
			where = pg.MakeBoolExprNode(pg.BoolExprType_AND_EXPR, conditions, -1)
		}
		deleting := &pg.Node{Node: &pg.Node_DeleteStmt{DeleteStmt: &pg.DeleteStmt{Relation: n.Relation, UsingClause: others, WhereClause: where, WithClause: n.WithClause}}}
		switch w.CommandType {
		case pg.CmdType_CMD_NOTHING: // what is wrong with the condition is an error all the same
			if kind == pg.MergeMatchKind_MERGE_WHEN_NOT_MATCHED_BY_TARGET {
				bind(&pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: &pg.SelectStmt{FromClause: []*pg.Node{n.SourceRelation}, WhereClause: where, WithClause: n.WithClause,
					LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE,
					TargetList: []*pg.Node{{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: pg.MakeAConstIntNode(1, -1), Location: -1}}}}}}})
			} else {
				bind(deleting)
			}
		case pg.CmdType_CMD_DELETE:
			parts[0] = append(parts[0], bind(deleting))
		case pg.CmdType_CMD_UPDATE:
			parts[1] = append(parts[1], bind(&pg.Node{Node: &pg.Node_UpdateStmt{UpdateStmt: &pg.UpdateStmt{Relation: n.Relation, FromClause: others, WhereClause: where, TargetList: w.TargetList, WithClause: n.WithClause}}}))
		case pg.CmdType_CMD_INSERT:
			insert := b.mergedInsert(def, w)
			insert.Relation, insert.WithClause = n.Relation, n.WithClause
			sel := insert.SelectStmt.GetSelectStmt()
			sel.FromClause, sel.WhereClause = []*pg.Node{n.SourceRelation}, where
			parts[2] = append(parts[2], bind(&pg.Node{Node: &pg.Node_InsertStmt{InsertStmt: insert}}))
		}
	}
	ch.Parts = slices.Concat(parts[:]...)
	return ch
}

// without is that a table has no row for which a condition holds.
func without(from, condition *pg.Node) *pg.Node {
	sel := &pg.SelectStmt{FromClause: []*pg.Node{from}, WhereClause: condition, LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE,
		TargetList: []*pg.Node{{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: pg.MakeAConstIntNode(1, -1), Location: -1}}}}}
	exists := &pg.Node{Node: &pg.Node_SubLink{SubLink: &pg.SubLink{SubLinkType: pg.SubLinkType_EXISTS_SUBLINK, Subselect: &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: sel}}, Location: -1}}}
	return pg.MakeBoolExprNode(pg.BoolExprType_NOT_EXPR, []*pg.Node{exists}, -1)
}

// mergedInsert is the INSERT of a WHEN NOT MATCHED, whose query has the values as its select list. A column that DEFAULT stands for
// is left out.
func (b *binder) mergedInsert(def *storage.Definition, w *pg.MergeWhenClause) *pg.InsertStmt {
	if len(w.Values) == 0 {
		panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("insert"), "INSERT DEFAULT VALUES is not supported in MERGE; write INSERT (column) VALUES (...)"))
	}
	cols := w.TargetList
	if cols == nil {
		for _, f := range def.Fields[:min(len(w.Values), len(def.Fields))] {
			cols = append(cols, &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Name: f.Name, Location: -1}}})
		}
	}
	if len(cols) != len(w.Values) {
		b.fits(len(w.Values), len(cols), len(cols))
	}
	out := &pg.InsertStmt{Override: w.Override}
	sel := &pg.SelectStmt{LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}
	for i, v := range w.Values {
		if v.GetSetToDefault() == nil {
			out.Cols = append(out.Cols, cols[i])
			sel.TargetList = append(sel.TargetList, &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: v, Location: -1}}})
		}
	}
	if out.Cols == nil {
		panic(b.coded(sqlstate.FeatureNotSupported, b.keyword("insert"), "an INSERT of DEFAULT alone is not supported in MERGE; give a column a value"))
	}
	out.SelectStmt = &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: sel}}
	return out
}

// mergePart binds one of the statements that a MERGE is made of.
func (s *Statement) mergePart(c Catalog, params []table.Value, n *pg.Node) *Change {
	b := s.binder(c, params)
	switch n := proto.Clone(n).(*pg.Node).Node.(type) {
	case *pg.Node_DeleteStmt:
		return b.delete(n.DeleteStmt)
	case *pg.Node_UpdateStmt:
		return b.update(n.UpdateStmt)
	case *pg.Node_InsertStmt:
		return b.insert(n.InsertStmt, true)
	case *pg.Node_SelectStmt:
		b.sel = n.SelectStmt
		b.query()
	}
	return nil
}
