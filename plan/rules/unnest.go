package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Unnest makes joins of the subqueries in a tree's expressions. What remains are [expr.Subquery]s of one
// value that read nothing around them: constants once they have run. It panics with an [*expr.Error]
// for a subquery that it cannot do. Where the rule is off, it runs each subquery for the different values of what that reads.
//
// What a query reads of another one around it is an [expr.Outer]: a level and a column. Levels count the subqueries in expressions and
// the LATERALs between the two. A query in FROM or WITH has the level of the query that contains it. A LATERAL stands to the right in the
// join whose left side is its level 1: [PlaceLateral]. Subqueries are unnested from inside out. A subquery that reads outer columns is
// joined to their different values. This dependent join moves down through every kind of node (correlation.rows: Neumann and Kemper,
// "Unnesting Arbitrary Queries", 2015). References further out are then one level nearer. At the end no outer reference may be left: else
// that is an error.
//
// EXISTS and IN in a condition become semi and anti joins. EXISTS of a subquery without outer references is whether its
// rows' COUNT is above 0: an occlusion query counts a selection. Any other subquery that reads outer columns is joined to
// their different values, and its rows are grouped by them. A condition of the subquery may say that each outer column
// equals one of its own columns. Then its own column replaces the outer one, and the values need not be computed.
func Unnest(n plan.Node, off Off) plan.Node {
	n = (&unnester{done: map[*plan.Subplan]bool{}, disabled: off.has(unnest)}).node(n)
	checkResolved(n)
	return n
}

type unnester struct {
	done     map[*plan.Subplan]bool
	made     int  // subqueries of its own, whose numbers are negative
	disabled bool // the rule is off
}

// plan unnests the tree of a subplan.
func (u *unnester) plan(s *plan.Subplan) {
	if !u.done[s] {
		u.done[s] = true
		s.Tree = u.node(s.Tree)
	}
}

// needsJoin reports that an expression has a subquery that is no constant.
func needsJoin(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) {
		q, ok := e.(*expr.Subquery)
		found = found || ok && !(q.Kind == expr.Value && !reads(plan.SubqueryTree(q), 0))
	})
	return found
}

// node unnests a tree. The nodes of one SELECT above its rows or groups are looked at together: what a
// subquery among their expressions needs is joined below them.
func (u *unnester) node(n plan.Node) plan.Node {
	var chain []plan.Node // from above
	base := n
walk:
	for {
		switch b := base.(type) {
		case *plan.Limit, *plan.Distinct, *plan.Project, *plan.Sort, *plan.Filter, *plan.Repeat, *plan.SeriesOfEach:
			chain, base = append(chain, b), b.Inputs()[0]
		default:
			break walk
		}
	}
	cur := u.unnestBase(base)
	widens := slices.ContainsFunc(chain, func(n plan.Node) bool { return slices.ContainsFunc(plan.Exprs(n), needsJoin) })
	if widens && !isRows(cur) { // groups become rows of a table
		cur = &plan.Derived{Of: &plan.Subplan{Tree: cur}}
		for i, c := range chain {
			chain[i] = plan.MapExprs(c, u.groupsAsColumns)
		}
	}
	slices.Reverse(chain)
	for len(chain) > 0 {
		f, ok := chain[0].(*plan.Filter)
		if !ok {
			break
		}
		cur, chain = u.filter(cur, f.Where), chain[1:]
	}
	known := map[int]expr.Expr{} // ORDER BY may have a subquery of the select list
	widen := func(now func(*expr.Subquery) bool) {
		for i, n := range chain { // until the select list: above it are its columns
			chain[i] = plan.MapExprs(n, func(e expr.Expr) expr.Expr {
				return expr.Map(e, func(e expr.Expr) expr.Expr {
					q, ok := e.(*expr.Subquery)
					if !ok || !now(q) {
						return nil
					}
					if known[q.N] == nil {
						cur, known[q.N] = u.withSubqueryColumns(cur, q)
					}
					return known[q.N]
				})
			})
			if _, ok := n.(*plan.Project); ok {
				break
			}
		}
	}
	// A window function may read what a subquery gives, or be compared with it.
	widen(func(q *expr.Subquery) bool { return !expr.HasWindow(q.Test) })
	if slices.ContainsFunc(chain, plan.HasWindow) {
		cur, chain = windowed(cur, chain)
		widen(func(*expr.Subquery) bool { return true })
	}
	for _, n := range chain {
		cur = n.With(cur)
	}
	return cur
}

// isRows reports a node whose rows a join may take, as they are or put aside.
func isRows(n plan.Node) bool {
	switch n.(type) {
	case *plan.Scan, *plan.Derived, *plan.Join, *plan.Filter, *plan.Project:
		return true
	}
	return false
}

// groupsAsColumns has columns in the place of what an aggregation gives, in subqueries, too.
func (u *unnester) groupsAsColumns(e expr.Expr) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.AggRef:
			return &expr.Column{Index: e.Index, Name: e.String(), T: e.T, P: e.P}
		case *expr.Subquery:
			return mapOuterOf(e, u.groupsAsColumns)
		}
		return nil
	})
}

// unnestBase unnests what stands below the filters of a SELECT.
func (u *unnester) unnestBase(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Derived:
		u.plan(n.Of)
		return n
	case *plan.Aggregate:
		cur := u.node(n.Input)
		out := plan.MapExprs(n, func(e expr.Expr) expr.Expr {
			cur, e = u.withSubqueryColumns(cur, e)
			return e
		})
		return out.With(cur)
	case *plan.GroupingSets:
		cur := u.node(n.Input)
		out := plan.MapExprs(n, func(e expr.Expr) expr.Expr {
			cur, e = u.withSubqueryColumns(cur, e)
			return e
		})
		return out.With(cur)
	case *plan.Join:
		return u.join(n)
	}
	inputs := xslices.Map(n.Inputs(), u.node)
	n = n.With(inputs...)
	if v, ok := n.(*plan.Values); ok && v.Input == nil && slices.ContainsFunc(plan.Exprs(n), needsJoin) {
		return u.node(valuesAsSelects(v, func() plan.Node { return &plan.Values{Rows: [][]expr.Expr{{}}} }))
	}
	for _, e := range plan.Exprs(n) {
		if needsJoin(e) {
			panic(expr.Coded(sqlstate.FeatureNotSupported, e.Pos(), "this subquery is not supported here: write it as a join"))
		}
		u.withSubqueryColumns(n, e)
	}
	return n
}

// valuesAsSelects are VALUES as SELECTs, a row each, over one row that from gives.
func valuesAsSelects(v *plan.Values, from func() plan.Node) plan.Node {
	c := &plan.Concat{}
	for _, row := range v.Rows {
		p := &plan.Project{Input: from()}
		for i, e := range row {
			p.Items = append(p.Items, plan.Item{Name: v.Columns[i].Name, E: e})
		}
		c.Of = append(c.Of, p)
	}
	if len(c.Of) == 1 {
		return c.Of[0]
	}
	rows := &plan.Derived{Of: &plan.Subplan{Tree: c}}
	return &plan.Project{Input: rows, Items: plan.ItemsOf(rows)}
}

// join unnests a join: a right side that reads columns of the left one (LATERAL), and subqueries in the
// condition.
func (u *unnester) join(j *plan.Join) plan.Node {
	left, right := u.node(j.Left), u.node(j.Right)
	width := plan.Width(left)
	var on, rest []expr.Expr
	for _, e := range plan.Conjuncts(j.On) {
		switch {
		case !needsJoin(e):
			_, e = u.withSubqueryColumns(left, e)
			on = append(on, e)
		default:
			rest = append(rest, e)
		}
	}
	if len(rest) > 0 && j.Kind != plan.Inner {
		return u.outer(j.Kind, left, right, on, rest)
	}
	out := u.pairs(j.Kind, left, right, on)
	if len(rest) == 0 {
		return out
	}
	fields := width + plan.Width(right)
	p := &plan.Project{Input: u.filter(out, plan.Conjunction(rest))}
	p.Items = plan.ItemsOf(p.Input)[:fields]
	return plan.AsTable(p)
}

// pairs is a join on a condition without subqueries.
func (u *unnester) pairs(kind plan.JoinKind, left, right plan.Node, on []expr.Expr) plan.Node {
	if lateral(right) {
		return u.lateral(kind, left, right.(*plan.Derived), on)
	}
	right = detachLateral(right)
	return &plan.Join{Kind: kind, Left: plan.AsTable(left), Right: plan.AsTable(right), On: plan.Conjunction(on)}
}

// lateral reports the right side of a join that reads columns of the left one.
func lateral(right plan.Node) bool {
	d, ok := right.(*plan.Derived)
	return ok && d.Lateral && reads(d.Of.Tree, 1)
}

// lateral joins each row of left to the rows that a subplan gives for it.
func (u *unnester) lateral(kind plan.JoinKind, left plan.Node, d *plan.Derived, on []expr.Expr) plan.Node {
	if cur, tree, ok := perRow(left, d.Of.Tree); ok {
		width := plan.Width(left)
		for i, e := range on {
			on[i] = expr.Moved(e, func(col int) int {
				if col >= width {
					return col + 1
				}
				return col
			})
		}
		p := &plan.Project{Input: u.lateralRows(kind, cur, tree, on)}
		p.Items = slices.Delete(plan.ItemsOf(p.Input), width, width+1)
		return plan.AsTable(p)
	}
	return u.lateralRows(kind, left, d.Of.Tree, on)
}

// lateralRows does that of a tree whose volatile functions depend on the rows to the left where they have to.
func (u *unnester) lateralRows(kind plan.JoinKind, left, tree plan.Node, on []expr.Expr) plan.Node {
	c := u.correlated(left, tree)
	rows := c.rows(tree)
	width, own := plan.Width(c.cur), plan.Width(tree)
	on = append(on, c.match(width+own)...)
	p := &plan.Project{Input: &plan.Join{Kind: kind, Left: plan.AsTable(c.cur), Right: plan.AsTable(rows), On: plan.Conjunction(on)}}
	p.Items = plan.ItemsOf(p.Input)[:width+own]
	return plan.AsTable(p)
}

// filter keeps the rows of cur for which a condition is TRUE.
func (u *unnester) filter(cur plan.Node, where expr.Expr) plan.Node {
	var plain, semi, rest []expr.Expr
	for _, e := range plan.Conjuncts(where) {
		inner := e
		if not, ok := e.(*expr.Not); ok {
			inner = not.X
		}
		q, ok := inner.(*expr.Subquery)
		switch {
		case !needsJoin(e):
			_, e = u.withSubqueryColumns(cur, e)
			plain = append(plain, e)
		case ok && !u.disabled && q.Kind != expr.Value && !(q.Kind == expr.Exists && !reads(plan.SubqueryTree(q), 0)):
			semi = append(semi, e)
		default:
			rest = append(rest, e)
		}
	}
	cur = withFilter(cur, plain)
	for _, e := range semi {
		kind, q := plan.Semi, e
		if not, ok := e.(*expr.Not); ok {
			kind, q = plan.Anti, not.X
		}
		if out := u.semi(cur, q.(*expr.Subquery), kind); out != nil {
			cur = out
		} else {
			rest = append(rest, e)
		}
	}
	for i, e := range rest {
		cur, rest[i] = u.withSubqueryColumns(cur, e)
	}
	return withFilter(cur, rest)
}

// semi is the semi or anti join that EXISTS or IN is as a condition; nil where it is none.
func (u *unnester) semi(cur plan.Node, q *expr.Subquery, kind plan.JoinKind) plan.Node {
	s := q.Of.(*plan.Subplan)
	u.plan(s)
	if _, _, volatile := perRow(cur, s.Tree); volatile { // its rows differ for each of cur
		return nil
	}
	cur, test := u.withSubqueryColumns(cur, q.Test)
	in, rowTest, ok := stripForExists(s.Tree, test)
	if ReadsOuter(rowTest) || ReadsOuter(test) {
		test = insideSubquery(test)
		in, rowTest, ok = stripForExists(s.Tree, test)
	}
	switch {
	case ok:
		test = rowTest
	case q.Kind == expr.AnyOf && !reads(s.Tree, 0): // groups, or the first rows
		in = &plan.Derived{Of: s}
	default:
		return nil
	}
	width := plan.Width(cur)
	if eq, ok := test.(*expr.Compare); ok && kind == plan.Anti && eq.Op == expr.EQ && !reads(in, 0) && !ReadsOuter(test) {
		return u.notIn(cur, in, eq)
	}
	if kind == plan.Anti && test != nil {
		test = &expr.IsTruth{X: test, Want: expr.IsFalse, Not: true, P: q.P}
	}
	var own, on []expr.Expr
	if f, ok := in.(*plan.Filter); ok {
		for _, e := range plan.Conjuncts(f.Where) {
			if ReadsOuter(e) {
				on = append(on, overJoin(e, width))
			} else {
				own = append(own, e)
			}
		}
		in = f.Input
	}
	if reads(in, 0) {
		return nil
	}
	in = withFilter(in, own)
	if test != nil {
		on = append(on, overJoinTest(test, width))
	}
	switch right := in.(type) {
	case *plan.Scan, *plan.Derived:
		return &plan.Join{Kind: kind, Left: plan.AsTable(cur), Right: right, On: plan.Conjunction(on)}
	case *plan.Filter:
		if _, ok := right.Input.(*plan.Join); !ok {
			return &plan.Join{Kind: kind, Left: plan.AsTable(cur), Right: plan.AsTable(right), On: plan.Conjunction(on)}
		}
	}
	return &plan.Join{Kind: kind, Left: plan.AsTable(cur), Right: &plan.Derived{Of: &plan.Subplan{Tree: &plan.Project{Input: in, Items: plan.ItemsOf(in)}}}, On: plan.Conjunction(on)}
}

// notIn is x NOT IN (rows), for rows without outer references. It keeps no row if one of the values is NULL,
// and all rows if there is no value.
func (u *unnester) notIn(cur, in plan.Node, eq *expr.Compare) plan.Node {
	x, y := eq.L, eq.R
	if hasSubColumn(x) {
		x, y = y, x
	}
	y = subColumns(y, 0)
	s := &plan.Subplan{Tree: &plan.Project{Input: plan.AsTable(in), Items: []plan.Item{{Name: "value", E: y}}}}
	col := &expr.Column{Name: "value", T: y.Type(), P: eq.P}
	width := plan.Width(cur)
	on := &expr.Compare{Op: expr.EQ, L: x, R: expr.Moved(col, func(c int) int { return c + width }), P: eq.P}
	rows, values := u.countsOf(s, col)
	some := &expr.And{Kids: []expr.Expr{&expr.IsNull{X: x, Not: true, P: eq.P}, &expr.Compare{Op: expr.EQ, L: values, R: rows, P: eq.P}}, P: eq.P}
	none := &expr.Compare{Op: expr.EQ, L: rows, R: &expr.Const{V: table.Literal(0), P: eq.P}, P: eq.P}
	cur = &plan.Filter{Input: cur, Where: &expr.Or{Kids: []expr.Expr{none, some}, P: eq.P}}
	return &plan.Join{Kind: plan.Anti, Left: plan.AsTable(cur), Right: &plan.Derived{Of: s}, On: on}
}

// countsOf are the rows of a subplan, and those with a value, as constants.
func (u *unnester) countsOf(s *plan.Subplan, col *expr.Column) (rows, values *expr.Subquery) {
	count := func(a expr.Aggregate) *expr.Subquery {
		ref := &expr.AggRef{Name: a.String(), T: a.Type(), P: -1}
		p := &plan.Project{Input: &plan.Aggregate{Input: &plan.Derived{Of: s}, Aggs: []expr.Aggregate{a}}, Items: []plan.Item{{Name: "count", E: ref}}}
		return u.constant(p, a.Type(), col.P)
	}
	return count(expr.Aggregate{Kind: expr.CountAll, Col: -1, P: -1}),
		count(expr.Aggregate{Kind: expr.Count, Col: col.Index, Name: col.Name, Arg: col.T, P: -1})
}

// constant is a subquery of one value.
func (u *unnester) constant(tree plan.Node, t table.Type, pos int) *expr.Subquery {
	u.made--
	return &expr.Subquery{Kind: expr.Value, Of: &plan.Subplan{Tree: tree}, N: u.made, T: t, P: pos}
}

// stripForExists is the rows of a subquery of which only matters whether there are any, without the nodes that do not
// change that. It also returns test over these rows, as [expr.SubColumn]s. ok is false for groups.
func stripForExists(n plan.Node, test expr.Expr) (_ plan.Node, _ expr.Expr, ok bool) {
	for {
		switch in := n.(type) {
		case *plan.Distinct:
			n = in.Input
			continue
		case *plan.Sort:
			if in.Unique > 0 {
				return nil, nil, false
			}
			n = in.Input
			continue
		case *plan.Limit:
			if test != nil || in.Count == 0 || in.Offset > 0 {
				return nil, nil, false
			}
			n = in.Input
			continue
		case *plan.Project:
			if !selectable(in.Input) {
				return nil, nil, false
			}
			test = expr.Map(test, func(e expr.Expr) expr.Expr {
				if c, ok := e.(*expr.SubColumn); ok {
					return expr.Map(in.Items[c.Index].E, func(e expr.Expr) expr.Expr {
						if c, ok := e.(*expr.Column); ok {
							return &expr.SubColumn{Index: c.Index, Name: c.Name, T: c.T, P: c.P}
						}
						return nil
					})
				}
				return nil
			})
			n = in.Input
			continue
		case *plan.Scan, *plan.Derived, *plan.Join, *plan.Filter:
			return n, test, selectable(n)
		}
		return nil, nil, false
	}
}

// selectable reports rows of tables, perhaps filtered and sorted, not groups.
func selectable(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter:
		return selectable(n.Input)
	case *plan.Sort:
		return n.Unique == 0 && selectable(n.Input)
	case *plan.Scan, *plan.Derived, *plan.Join:
		return true
	}
	return false
}

// overJoin is a condition of a subquery over the rows of a join with what is around it, which has so many columns.
func overJoin(e expr.Expr, width int) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Column:
			c := *e
			c.Index += width
			return &c
		case *expr.Outer:
			return raiseLevel(e)
		}
		return nil
	})
}

// insideSubquery is a test as the subquery whose rows it is of would have it: what it reads besides is of queries around that.
func insideSubquery(test expr.Expr) expr.Expr {
	return expr.Map(test, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Column:
			return &expr.Outer{X: e, Level: 1}
		case *expr.Outer:
			return &expr.Outer{X: e.X, Level: e.Level + 1}
		}
		return nil
	})
}

// overJoinTest is a test over the rows of such a join.
func overJoinTest(e expr.Expr, width int) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.SubColumn:
			return subColumns(e, width)
		case *expr.Outer: // as the subquery has it
			return raiseLevel(e)
		}
		return nil
	})
}

// subColumns has columns from first on in the place of those of a subquery's rows.
func subColumns(e expr.Expr, first int) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		if c, ok := e.(*expr.SubColumn); ok {
			return &expr.Column{Index: first + c.Index, Name: c.Name, T: c.T, P: c.P}
		}
		return nil
	})
}

func hasSubColumn(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) {
		_, ok := e.(*expr.SubColumn)
		found = found || ok
	})
	return found
}
