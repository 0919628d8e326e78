package sql

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

const (
	// maxSets is the most sets of keys that a statement groups by; it is PostgreSQL's limit too.
	maxSets = 4096
	// maxSetKeys is how many keys they may have: GROUPING() is a number of 64 bits.
	maxSetKeys = 60
)

// groupBy binds the keys: expressions, names of columns or else of select items, or the numbers of select
// items. It also binds the grouping sets.
func (b *binder) groupBy() {
	b.place = inGroup
	several := false
	sets := [][]int{{}}
	for _, n := range b.groupClause() {
		several = several || n.GetGroupingSet() != nil
		sets = b.product(sets, b.setsOf(n), n)
	}
	if !several {
		return
	}
	if len(b.keys) > maxSetKeys {
		panic(b.coded(sqlstate.StatementTooComplex, b.keyword("group"), "GROUPING SETS of %d keys: at most %d are supported", len(b.keys), maxSetKeys))
	}
	b.keySets = sets
}

// product is every set of one list together with every one of another.
func (b *binder) product(left, right [][]int, n *pg.Node) (all [][]int) {
	if len(left)*len(right) > maxSets {
		panic(b.coded(sqlstate.StatementTooComplex, int(n.GetGroupingSet().GetLocation()), "too many grouping sets present (maximum %d)", maxSets))
	}
	for _, l := range left {
		for _, r := range right {
			all = append(all, joined(l, r))
		}
	}
	return all
}

// joined is a set with what another one has besides.
func joined(l, r []int) []int {
	out := slices.Clone(l)
	for _, k := range r {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// setsOf are the sets of an element of GROUP BY.
func (b *binder) setsOf(n *pg.Node) (sets [][]int) {
	g := n.GetGroupingSet()
	if g == nil {
		return [][]int{b.keysOf(n)}
	}
	if g.Kind == pg.GroupingSetKind_GROUPING_SET_SETS {
		for _, c := range g.Content {
			if sets = append(sets, b.setsOf(c)...); len(sets) > maxSets {
				panic(b.coded(sqlstate.StatementTooComplex, int(g.Location), "too many grouping sets present (maximum %d)", maxSets))
			}
		}
		return sets
	}
	parts := xslices.Map(g.Content, b.keysOf)
	switch g.Kind {
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP:
		for i := len(parts); i >= 0; i-- {
			set := []int{}
			for _, p := range parts[:i] {
				set = joined(set, p)
			}
			sets = append(sets, set)
		}
	case pg.GroupingSetKind_GROUPING_SET_CUBE:
		if len(parts) > 12 {
			panic(b.coded(sqlstate.StatementTooComplex, int(g.Location), "CUBE is limited to 12 elements"))
		}
		for without := range 1 << len(parts) {
			set := []int{}
			for i, p := range parts {
				if without>>(len(parts)-1-i)&1 == 0 {
					set = joined(set, p)
				}
			}
			sets = append(sets, set)
		}
	default: // GROUPING_SET_EMPTY
		sets = [][]int{{}}
	}
	return sets
}

// keysOf are the keys of an expression, or of (a, b).
func (b *binder) keysOf(n *pg.Node) (keys []int) {
	if row := rowOf(n); row != nil {
		for _, x := range row {
			keys = joined(keys, b.keysOf(x))
		}
		return keys
	}
	e := asText(b.expr(b.itemOf(n)))
	i := b.keyOf(e)
	if i < 0 {
		i = len(b.keys)
		b.keys = append(b.keys, e)
	}
	return []int{i}
}

// grouping binds GROUPING(a, b). It is a number with a bit for each key, set where the key is not in the row's set
// of keys. The last key's bit is 1.
func (b *binder) grouping(n *pg.GroupingFunc) expr.Expr {
	loc, pos := int(n.Location), b.pos(int(n.Location))
	if b.place != inItems {
		panic(b.coded(sqlstate.GroupingError, loc, "grouping operations are not allowed here; they stand in the select list, HAVING and ORDER BY"))
	}
	if len(n.Args) > 31 {
		panic(b.coded(sqlstate.TooManyArguments, loc, "GROUPING must have fewer than 32 arguments"))
	}
	number := func(i int64) expr.Expr { return &expr.Const{V: table.Literal(i), P: pos} }
	absent := &expr.AggRef{Index: len(b.keys), Name: "GROUPING", T: bigint, P: pos}
	var sum expr.Expr = number(0)
	for _, a := range n.Args {
		key, ok := b.expr(a).(*expr.AggRef)
		if !ok || key.Key == nil {
			panic(b.coded(sqlstate.GroupingError, loc, "arguments to GROUPING must be keys of GROUP BY"))
		}
		if b.keySets == nil { // a plain GROUP BY
			continue
		}
		bit := arith(expr.Mod, arith(expr.Div, absent, number(1<<key.Index), pos), number(2), pos)
		sum = arith(expr.Add, arith(expr.Mul, sum, number(2), pos), bit, pos)
	}
	return convert(sum, integer, pos)
}
