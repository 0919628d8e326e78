package sql

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
)

// groups is what a statement says of groups: its keys, its aggregates, and the columns of
// select items and HAVING that stand in neither.
type groups struct {
	keys    []expr.Expr
	keySets [][]int // of the keys, by their places, where there are several; else nil
	aggs    []expr.Aggregate
	places  map[string]int // of aggs, by what tells them apart
	loose   []*expr.Column
	asked   subqueries // those in keys: a select item that a key numbers or names has the same ones
}

// emptySet is the key of no columns, as long as ALL.
const emptySet = "() "

// keysOfAll puts [emptySet] in the place of the ALL of a GROUP BY ALL before loc, after which the grammar wants a key. It is
// false where there is none.
func (s *Statement) keysOfAll(loc int) bool {
	n := len(s.tokens)
	for n > 0 && s.tokens[n-1].start >= loc {
		n--
	}
	words := []string{"group", "by", "all"}
	if n < len(words) {
		return false
	}
	last := s.tokens[n-len(words) : n]
	for i, t := range last {
		if !strings.EqualFold(s.Text[t.start:t.end], words[i]) {
			return false
		}
	}
	at := last[2]
	if s.clean[at.start:at.end] == emptySet {
		return false
	}
	s.clean = s.clean[:at.start] + emptySet + s.clean[at.end:]
	return true
}

// isAll reports a key that stands for those of GROUP BY ALL.
func (s *Statement) isAll(n *pg.Node) bool {
	g := n.GetGroupingSet()
	if g == nil || g.Kind != pg.GroupingSetKind_GROUPING_SET_EMPTY {
		return false
	}
	at, found := slices.BinarySearchFunc(s.tokens, int(g.Location), func(t token, loc int) int { return t.start - loc })
	return found && strings.EqualFold(s.token(at), "all")
}

// groupClause are the keys of GROUP BY. ALL are the select items that have no aggregate, no window function, and are no constants.
func (b *binder) groupClause() []*pg.Node {
	clause := b.sel.GroupClause
	at := slices.IndexFunc(clause, b.isAll)
	switch {
	case at < 0:
		return clause
	case len(clause) > 1:
		panic(b.errorf(int(clause[at].GetGroupingSet().Location), "GROUP BY ALL takes no other keys"))
	}
	keys := []*pg.Node{}
	for _, t := range b.sel.TargetList {
		n := t.GetResTarget().GetVal()
		if fields := n.GetColumnRef().GetFields(); len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil {
			for _, item := range b.writtenStar(b.starred(n.GetColumnRef())) {
				keys = append(keys, item.GetResTarget().Val)
			}
		} else if n.GetAConst() == nil && !overRows(n.ProtoReflect()) {
			keys = append(keys, n)
		}
	}
	if b.uses.written && len(keys) > 0 {
		b.sel.GroupClause = keys
	}
	return keys
}

// overRows reports an expression with an aggregate, a window function or GROUPING, but for those of its subqueries.
func overRows(m protoreflect.Message) (found bool) {
	switch n := m.Interface().(type) {
	case *pg.SubLink:
		return n.Testexpr != nil && overRows(n.Testexpr.ProtoReflect())
	case *pg.GroupingFunc:
		return true
	case *pg.FuncCall:
		name := lastName(n.Funcname)
		if n.Over != nil || windowOf(name) != nil || slices.ContainsFunc(aggregates, func(a aggregate) bool { return a.name == name }) {
			return true
		}
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := 0; i < v.List().Len() && !found; i++ {
				found = overRows(v.List().Get(i).Message())
			}
		default:
			found = overRows(v.Message())
		}
		return !found
	})
	return found
}

// itemOf is the select item that a key of GROUP BY names or numbers, else the key itself. A column
// of the table comes before an item of the same name.
func (b *binder) itemOf(n *pg.Node) *pg.Node {
	if k := n.GetAConst(); k != nil {
		i := int(k.GetIval().GetIval())
		switch {
		case k.GetIval() == nil:
			panic(b.errorf(int(k.Location), "non-integer constant in GROUP BY; write a column, an expression, or the number of a select item"))
		case i < 1 || i > len(b.sel.TargetList):
			panic(b.coded(sqlstate.InvalidColumnReference, int(k.Location), "GROUP BY position %d is not in select list", i))
		}
		return b.item(i-1, int(k.Location))
	}
	c := n.GetColumnRef()
	if c == nil || len(c.Fields) != 1 {
		return n
	}
	plain := b.parts(int(c.Location), c.Fields)[0]
	if i, matches := lookup(plain, b.scope.visibleNames()); i >= 0 || matches > 1 {
		return n
	}
	names := xslices.Map(b.sel.TargetList, func(t *pg.Node) string { return t.GetResTarget().GetName() })
	if i, _ := lookup(plain, names); i >= 0 {
		return b.item(i, int(c.Location))
	}
	return n
}

// item is the expression of select item i, for a key at loc.
func (b *binder) item(i, loc int) *pg.Node {
	n := b.sel.TargetList[i].GetResTarget().GetVal()
	if fields := n.GetColumnRef().GetFields(); len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil {
		panic(b.errorf(loc, "* is no key of GROUP BY; name the columns"))
	}
	return n
}

// key is a reference to the key of the group that equals an expression. It replaces the columns in the
// expression, which are those after the first n. Other expressions stay as they are.
func (b *binder) key(e expr.Expr, n int) expr.Expr {
	if b.place != inItems || isConstant(e) && b.keySets == nil {
		return e
	}
	i := b.keyOf(e)
	if i < 0 {
		return e
	}
	b.loose = b.loose[:n]
	return &expr.AggRef{Index: i, Key: b.keys[i], T: e.Type(), P: e.Pos()}
}

// keyOf is the place of an expression among the keys, negative where it is none. It may have other keys in it.
func (b *binder) keyOf(e expr.Expr) int {
	return slices.IndexFunc(b.keys, func(k expr.Expr) bool {
		return b.size(k) == b.size(e) && k.String() == e.String() && same(k, expr.Map(e, func(e expr.Expr) expr.Expr {
			if r, ok := e.(*expr.AggRef); ok && r.Key != nil {
				return r.Key
			}
			return nil
		}))
	})
}

// same reports that two expressions are one: they have the same text, in which one name is one column.
func same(a, b expr.Expr) bool {
	return a.Type() == b.Type() && a.String() == b.String() && expr.Identity(a) == expr.Identity(b)
}

// aggregate returns the reference to a, adding it if the query has none like it.
func (b *binder) aggregate(a expr.Aggregate) expr.Expr {
	own, outer := false, false
	identified := a.Map(func(e expr.Expr) expr.Expr {
		expr.Walk(e, func(e expr.Expr) {
			switch e.(type) {
			case *expr.Column:
				own = true
			case *expr.Outer:
				outer = true
			}
		})
		return &expr.Column{Name: expr.Identity(e), T: e.Type()}
	})
	if outer && !own {
		panic(expr.Coded(sqlstate.FeatureNotSupported, a.P, "%s is an aggregate of the query around this subquery, of which it has all columns: that is not supported", a))
	}
	identified.Median = false // the first spelling stays
	key := fmt.Sprintf("%v %v %s", identified.Type(), identified.Null, identified)
	i, known := b.places[key]
	if !known {
		if b.places == nil {
			b.places = map[string]int{}
		}
		i = len(b.aggs)
		b.aggs, b.places[key] = append(b.aggs, a), i
	}
	at := len(b.keys) + i
	if b.keySets != nil { // behind what [binder.grouping] reads
		at++
	}
	return &expr.AggRef{Index: at, Name: a.String(), T: a.Type(), P: a.P}
}

// having binds the HAVING clause; nil where there is none.
func (b *binder) having() expr.Expr {
	if b.sel.HavingClause == nil {
		return nil
	}
	b.place = inItems
	e := b.boolean(b.sel.HavingClause, "HAVING")
	noWindow(e, "HAVING")
	return e
}

// grouped puts the aggregation above a node, and HAVING above it, where the statement has
// groups.
func (b *binder) grouped(n plan.Node, having expr.Expr) plan.Node {
	if len(b.sel.GroupClause) == 0 && len(b.aggs) == 0 && b.sel.HavingClause == nil {
		return n
	}
	if len(b.aggs) > 0 && b.scope != nil && slices.ContainsFunc(b.scope.tables, b.recurs) {
		panic(expr.Coded(sqlstate.InvalidRecursion, b.aggs[0].P, "aggregate functions are not allowed in a recursive query's recursive term"))
	}
	if len(b.loose) > 0 {
		c := b.loose[0]
		panic(expr.Coded(sqlstate.GroupingError, c.P, "column %q must appear in the GROUP BY clause or be used in an aggregate function; write GROUP BY %s, or any_value(%s)", c.Name, c, c))
	}
	if b.keySets != nil {
		n = &plan.GroupingSets{Input: n, Keys: b.keys, Aggs: b.aggs, Sets: b.keySets}
	} else {
		n = &plan.Aggregate{Input: n, Keys: b.keys, Aggs: b.aggs}
	}
	if having != nil {
		n = &plan.Filter{Input: n, Where: having}
	}
	return n
}
