package rules

import (
	"math"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// withSubqueryColumns is an expression over rows that have more columns, where it has subqueries: what these give for
// each row.
func (u *unnester) withSubqueryColumns(cur plan.Node, e expr.Expr) (plan.Node, expr.Expr) {
	if e == nil || !needsJoin(e) {
		if e != nil && expr.HasSubquery(e) {
			expr.Walk(e, func(e expr.Expr) {
				if q, ok := e.(*expr.Subquery); ok {
					u.plan(q.Of.(*plan.Subplan))
				}
			})
		}
		return cur, e
	}
	e = expr.Map(e, func(e expr.Expr) (out expr.Expr) {
		if q, ok := e.(*expr.Subquery); ok {
			if q.Test != nil {
				copied := *q
				cur, copied.Test = u.withSubqueryColumns(cur, q.Test)
				q = &copied
			}
			cur, out = u.scalarSubquery(cur, q)
			return out
		}
		return nil
	})
	return cur, e
}

// scalarSubquery is a subquery as an expression over rows with more columns.
func (u *unnester) scalarSubquery(cur plan.Node, q *expr.Subquery) (plan.Node, expr.Expr) {
	s := q.Of.(*plan.Subplan)
	u.plan(s)
	if cur, tree, ok := perRow(cur, s.Tree); ok {
		of := *q
		of.Of = &plan.Subplan{Tree: tree}
		return u.scalarSubqueryRows(cur, &of)
	}
	return u.scalarSubqueryRows(cur, q)
}

// scalarSubqueryRows is that of a subquery whose volatile functions depend on the rows around where they have to.
func (u *unnester) scalarSubqueryRows(cur plan.Node, q *expr.Subquery) (plan.Node, expr.Expr) {
	s := q.Of.(*plan.Subplan)
	zero := &expr.Const{V: table.Literal(0), P: q.P}
	ask := func(tree plan.Node, t table.Type) *expr.Subquery { return u.constant(tree, t, q.P) }
	all := expr.Aggregate{Kind: expr.CountAll, Col: -1, P: q.P}
	ref := func(i int, a expr.Aggregate) expr.Expr {
		return &expr.AggRef{Index: i, Name: a.String(), T: a.Type(), P: q.P}
	}
	switch q.Kind {
	case expr.Exists:
		rows := s.Tree
		if !reads(rows, 0) {
			if in, _, ok := stripForExists(rows, nil); ok {
				rows = in
			} else {
				rows = &plan.Limit{Input: rows, Count: 1}
			}
		}
		count := ask(&plan.Project{Input: &plan.Aggregate{Input: plan.AsTable(rows), Aggs: []expr.Aggregate{all}}, Items: []plan.Item{{Name: "count", E: ref(0, all)}}}, all.Type())
		var e expr.Expr
		cur, e = u.scalarSubqueryRows(cur, count)
		return cur, &expr.Compare{Op: expr.GT, L: e, R: zero, P: q.P}
	case expr.AnyOf:
		if eq, ok := q.Test.(*expr.Compare); ok && eq.Op == expr.EQ && !reads(s.Tree, 0) && !ReadsOuter(eq) {
			return u.inSubquery(cur, s, eq)
		}
		test := subColumns(insideSubquery(q.Test), 0)
		of := func(kind expr.AggKind) expr.Aggregate {
			return expr.Aggregate{Kind: kind, Col: -1, X: test, Name: test.String(), Arg: test.Type(), P: q.P}
		}
		some, known := of(expr.BoolOr), of(expr.Count)
		item := newCase(q.P, ref(0, some), expr.Expr(boolConst(true, q.P)),
			&expr.Compare{Op: expr.LT, L: ref(2, known), R: ref(1, all), P: q.P}, nullBool(q.P), boolConst(false, q.P))
		tree := &plan.Project{Input: &plan.Aggregate{Input: plan.AsTable(s.Tree), Aggs: []expr.Aggregate{some, all, known}}, Items: []plan.Item{{Name: "any", E: item}}}
		return u.scalarSubqueryRows(cur, ask(tree, item.Type()))
	}
	if !reads(s.Tree, 0) {
		return cur, q
	}
	c := u.correlated(cur, s.Tree)
	if p, ok := s.Tree.(*plan.Project); ok {
		if value, out, ok := c.ofAllRows(p); ok {
			return out, value
		}
	}
	rows := c.rows(s.Tree)
	width := plan.Width(c.cur)
	if l, ok := s.Tree.(*plan.Limit); ok && l.Count == 1 { // of each there is one already
		return &plan.Join{Kind: plan.LeftOuter, Left: plan.AsTable(c.cur), Right: plan.AsTable(rows), On: plan.Conjunction(c.match(width + 1))}, &expr.Column{Index: width, Name: "value", T: q.T, P: q.P}
	}
	a := &plan.Aggregate{Input: plan.AsTable(rows), Keys: plan.ColumnsOf(rows)[1:]}
	n := len(a.Keys)
	value := expr.Aggregate{Kind: expr.AnyValue, Col: 0, Name: rows.Fields()[0].Name, Arg: q.T, P: q.P}
	a.Aggs = []expr.Aggregate{value, all}
	one := &plan.Project{Input: a, Items: []plan.Item{{Name: "value", E: ref(n, value)}, {Name: "rows", E: ref(n+1, all)}}}
	for i, k := range a.Keys {
		one.Items = append(one.Items, plan.Item{Name: k.String(), E: &expr.AggRef{Index: i, Key: k, T: k.Type(), P: -1}})
	}
	j := &plan.Join{Kind: plan.LeftOuter, Left: plan.AsTable(c.cur), Right: plan.AsTable(one), On: plan.Conjunction(c.match(width + 2))}
	column := func(i int) expr.Expr {
		return &expr.Column{Index: width + i, Name: one.Items[i].Name, T: one.Items[i].E.Type(), P: q.P}
	}
	return j, expr.NewCall(expr.Single, []expr.Expr{column(1), column(0)}, q.P)
}

func boolConst(is bool, pos int) expr.Expr { return &expr.Const{V: table.Bool(is), P: pos} }
func nullBool(pos int) expr.Expr {
	return &expr.Const{V: table.Null(table.Type{Kind: table.Boolean}), P: pos}
}

// newCase is CASE WHEN a THEN b ... ELSE z.
func newCase(pos int, list ...expr.Expr) expr.Expr { return expr.NewCall(expr.Case, list, pos) }

// inSubquery is x IN (rows) of rows that read nothing around them: the rows are joined to the different values.
func (u *unnester) inSubquery(cur plan.Node, s *plan.Subplan, eq *expr.Compare) (plan.Node, expr.Expr) {
	x, y := eq.L, eq.R
	if hasSubColumn(x) {
		x, y = y, x
	}
	values := &plan.Subplan{Tree: &plan.Project{Input: &plan.Derived{Of: s}, Items: []plan.Item{{Name: "value", E: subColumns(y, 0)}}}}
	col := &expr.Column{Name: "value", T: y.Type(), P: eq.P}
	rows, known := u.countsOf(values, col)
	width := plan.Width(cur)
	at := expr.Moved(col, func(int) int { return width })
	j := &plan.Join{Kind: plan.LeftOuter, Left: plan.AsTable(cur), Right: plan.AsTable(plan.DistinctRows(&plan.Derived{Of: values})), On: &expr.Compare{Op: expr.EQ, L: x, R: at, P: eq.P}}
	unknown := &expr.Or{Kids: []expr.Expr{&expr.IsNull{X: x, P: eq.P}, &expr.Compare{Op: expr.LT, L: known, R: rows, P: eq.P}}, P: eq.P}
	return j, newCase(eq.P, &expr.IsNull{X: at, Not: true, P: eq.P}, boolConst(true, eq.P),
		&expr.Compare{Op: expr.EQ, L: rows, R: &expr.Const{V: table.Literal(0), P: eq.P}, P: eq.P}, boolConst(false, eq.P),
		unknown, nullBool(eq.P), boolConst(false, eq.P))
}

// correlation is a subquery that reads expressions of the rows around it.
type correlation struct {
	cur   plan.Node                       // the rows around it
	outs  []expr.Expr                     // what it reads of them
	plain bool                            // all is done with the different values of outs
	found bool                            // the different values of outs are needed, and made
	from  *plan.Derived                   // these
	of    map[*plan.Subplan]*plan.Subplan // what subplans became, so that those that read one still do
	last  []*plan.Subplan                 // the rows that came last of recursions, which have the values
}

// reads reports that a tree reads what is around it, or rows that have its values.
func (c *correlation) reads(n plan.Node) bool {
	return reads(n, 1) || slices.ContainsFunc(c.last, func(s *plan.Subplan) bool { return plan.UsesSubplan(n, s) })
}

// correlated is the correlation of a tree with the rows around it.
func (u *unnester) correlated(cur, tree plan.Node) *correlation {
	c := &correlation{cur: cur, plain: u.disabled, of: map[*plan.Subplan]*plan.Subplan{}}
	mapOuter(tree, 1, func(o *expr.Outer) expr.Expr {
		if indexOfExpr(c.outs, o.X) < 0 {
			c.outs = append(c.outs, o.X)
		}
		return o
	})
	for _, e := range telling(tree) {
		c.outs = append(c.outs, isNegativeZero(e))
	}
	return c
}

// indexOfExpr is the place of an expression in a list, negative where it is not there.
func indexOfExpr(list []expr.Expr, e expr.Expr) int {
	return slices.IndexFunc(list, func(x expr.Expr) bool { return expr.Identity(x) == expr.Identity(e) })
}

// shareOuter makes the rows around it a table, which several may read.
func (c *correlation) shareOuter() {
	switch c.cur.(type) {
	case *plan.Derived, *plan.Scan:
	default:
		c.cur = &plan.Derived{Of: &plan.Subplan{Tree: &plan.Project{Input: c.cur, Items: plan.ItemsOf(c.cur)}}}
	}
}

// keepMatching leaves rows out of a subquery that match no row around it; own are the columns that have to equal the outer
// references. It leaves n as it is where the rows around it are all rows of a table.
func (c *correlation) keepMatching(n plan.Node, own []expr.Expr) plan.Node {
	if _, ok := c.cur.(*plan.Scan); ok || !selective(c.cur) {
		return n
	}
	c.shareOuter()
	keys, width := &plan.Project{Input: c.cur}, plan.Width(n)
	var on []expr.Expr
	for i, e := range c.outs {
		keys.Items = append(keys.Items, plan.Item{Name: e.String(), E: e})
		key := &expr.Column{Index: width + i, Name: e.String(), T: e.Type(), P: e.Pos()}
		on = append(on, &expr.Compare{Op: expr.EQ, L: own[i], R: key, P: e.Pos()})
	}
	return &plan.Join{Kind: plan.Semi, Left: plan.AsTable(n), Right: &plan.Derived{Of: &plan.Subplan{Tree: keys}}, On: plan.Conjunction(on)}
}

// selective reports rows that a condition has chosen, or a table of them.
func selective(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter:
		return slices.ContainsFunc(plan.Conjuncts(n.Where), func(e expr.Expr) bool { return len(expr.Columns(e)) == 1 }) || selective(n.Input)
	case *plan.Join:
		return n.Kind == plan.Semi || selective(n.Left)
	case *plan.Project:
		return selective(n.Input)
	case *plan.Derived:
		return n.Of.Name == "" && selective(n.Of.Tree)
	}
	return false
}

// distinctValues gives the different values of what is read.
func (c *correlation) distinctValues() plan.Node {
	if !c.found {
		c.found = true
		c.shareOuter()
		a, p := &plan.Aggregate{Input: c.cur, Keys: c.outs}, &plan.Project{}
		for i, e := range c.outs {
			p.Items = append(p.Items, plan.Item{Name: e.String(), E: &expr.AggRef{Index: i, Key: e, T: e.Type(), P: e.Pos()}})
		}
		p.Input = a
		if len(c.outs) == 0 {
			c.from = &plan.Derived{Of: &plan.Subplan{Tree: &plan.Values{Rows: [][]expr.Expr{{}}}}}
		} else {
			c.from = &plan.Derived{Of: &plan.Subplan{Tree: p}}
		}
	}
	return c.from
}

// match returns the conditions by which an outer row finds its row of the subquery, whose outer values are
// the columns from first on. Where the different outer values were computed, NULL equals NULL.
func (c *correlation) match(first int) (on []expr.Expr) {
	for i, e := range c.outs {
		col := &expr.Column{Index: first + i, Name: e.String(), T: e.Type(), P: e.Pos()}
		if !c.found {
			on = append(on, &expr.Compare{Op: expr.EQ, L: e, R: col, P: e.Pos()})
			continue
		}
		same := func(f func(expr.Expr) expr.Expr) {
			on = append(on, &expr.Compare{Op: expr.EQ, L: f(e), R: f(col), P: e.Pos()})
		}
		same(func(x expr.Expr) expr.Expr {
			zero := &expr.Const{V: table.Value{Type: x.Type()}, P: e.Pos()}
			return expr.NewCall(expr.Coalesce, []expr.Expr{x, zero}, e.Pos())
		})
		same(func(x expr.Expr) expr.Expr { return &expr.IsNull{X: x, P: e.Pos()} })
	}
	return on
}

// ofAllRows is the value of a select item over aggregates of all rows. The rows are grouped, and the item is
// computed for each outer row. An outer row without a group gets the aggregates of no rows.
func (c *correlation) ofAllRows(p *plan.Project) (value expr.Expr, out plan.Node, ok bool) {
	value = p.Items[0].E
	n := p.Input
	if f, ok := n.(*plan.Filter); ok { // HAVING
		value, n = newCase(value.Pos(), f.Where, value), f.Input
	}
	a, ok := n.(*plan.Aggregate)
	if !ok || len(a.Keys) > 0 {
		return nil, nil, false
	}
	rows := c.grouped(a)
	width := plan.Width(c.cur)
	value = expr.Map(value, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.AggRef:
			return overNoRows(a.Aggs[e.Index], &expr.Column{Index: width + e.Index, Name: e.Name, T: e.T, P: e.P})
		case *expr.Outer:
			return raiseLevel(e)
		}
		return nil
	})
	return value, &plan.Join{Kind: plan.LeftOuter, Left: plan.AsTable(c.cur), Right: plan.AsTable(rows), On: plan.Conjunction(c.match(width + len(a.Aggs)))}, true
}

// overNoRows is an aggregate's value, where NULL stands for that of no rows.
func overNoRows(a expr.Aggregate, value expr.Expr) expr.Expr {
	switch a.Kind {
	case expr.CountAll, expr.Count, expr.RegrCount:
		return expr.NewCall(expr.Coalesce, []expr.Expr{value, &expr.Const{V: table.Literal(0), P: value.Pos()}}, value.Pos())
	}
	return value
}

// grouped is an aggregation by what is read, too: its keys, its aggregates, the values.
func (c *correlation) grouped(a *plan.Aggregate) plan.Node {
	rows := plan.AsTable(c.rows(a.Input))
	n := plan.Width(rows) - len(c.outs)
	by := func(e expr.Expr) expr.Expr { return c.overRows(e, n) }
	out := &plan.Aggregate{Input: rows}
	for _, k := range a.Keys {
		out.Keys = append(out.Keys, by(k))
	}
	out.Keys = append(out.Keys, plan.ColumnsOf(rows)[n:]...)
	p := &plan.Project{Input: out}
	for _, g := range a.Aggs {
		out.Aggs = append(out.Aggs, g.Map(by))
	}
	ref := func(i int) {
		f := out.Fields()[i]
		r := &expr.AggRef{Index: i, Name: f.Name, T: f.Type, P: -1}
		if i < len(out.Keys) {
			r.Key = out.Keys[i]
		}
		p.Items = append(p.Items, plan.Item{Name: f.Name, E: r})
	}
	for i := range a.Keys {
		ref(i)
	}
	for i := range a.Aggs {
		ref(len(out.Keys) + i)
	}
	for i := range c.outs {
		ref(len(a.Keys) + i)
	}
	return p
}

// overRows is an expression over a subquery's rows that have the values from column n on: it reads these.
func (c *correlation) overRows(e expr.Expr, n int) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		o, ok := e.(*expr.Outer)
		switch {
		case !ok:
			return nil
		case o.Level > 1:
			return raiseLevel(o)
		}
		return &expr.Column{Index: n + indexOfExpr(c.outs, o.X), Name: o.X.String(), T: o.X.Type(), P: o.Pos()}
	})
}

// rows gives the rows of a tree for each of the different values of what it reads, which follow its columns.
func (c *correlation) rows(n plan.Node) plan.Node {
	if !c.reads(n) {
		n = mapOuter(n, 0, raiseLevel)
		return &plan.Join{Left: plan.AsTable(n), Right: c.distinctValues()}
	}
	width := plan.Width(n)
	switch n := n.(type) {
	case *plan.Derived:
		if c.of[n.Of] == nil {
			c.of[n.Of] = &plan.Subplan{Tree: c.rows(n.Of.Tree)}
		}
		return &plan.Derived{Of: c.of[n.Of], As: n.As}
	case *plan.Filter:
		if f := c.equatedFilter(n); f != nil {
			return f
		}
		in := plan.AsTable(c.rows(n.Input))
		e := c.overRows(asColumns(n.Where), width)
		return &plan.Filter{Input: in, Where: e}
	case *plan.Project:
		in := plan.AsTable(c.rows(n.Input))
		k := plan.Width(in) - len(c.outs)
		p := &plan.Project{Input: in}
		for _, item := range n.Items {
			p.Items = append(p.Items, plan.Item{Name: item.Name, E: c.overRows(asColumns(item.E), k)})
		}
		p.Items = append(p.Items, plan.ItemsOf(in)[k:]...)
		return p
	case *plan.Distinct:
		return &plan.Distinct{Input: c.rows(n.Input)}
	case *plan.Sort:
		rows := c.rows(n.Input)
		if n.Unique == 0 {
			return rows // the order of a subquery's rows says nothing
		}
		sorted := c.sortPerValue(rows, width, n.Keys, n.Unique)
		return &plan.Project{Input: sorted, Items: plan.ItemsOf(sorted)}
	case *plan.Aggregate:
		if len(n.Keys) > 0 {
			return c.grouped(n)
		}
		groups := plan.AsTable(c.grouped(n))
		values := c.distinctValues()
		m := len(c.outs)
		j := &plan.Join{Kind: plan.LeftOuter, Left: values, Right: groups, On: nil}
		own := &correlation{outs: plan.ColumnsOf(values), found: true}
		j.On = plan.Conjunction(own.match(m + len(n.Aggs)))
		p := &plan.Project{Input: j}
		for i, g := range n.Aggs {
			p.Items = append(p.Items, plan.Item{Name: g.String(), E: overNoRows(g, &expr.Column{Index: m + i, Name: g.String(), T: g.Type(), P: -1})})
		}
		p.Items = append(p.Items, plan.ItemsOf(values)...)
		return p
	case *plan.Join:
		if !c.reads(n.Left) && !c.reads(n.Right) && n.Kind == plan.Inner {
			return c.rows(&plan.Filter{Input: &plan.Join{Left: n.Left, Right: n.Right}, Where: n.On})
		}
		switch l, r := plan.Width(n.Left), plan.Width(n.Right); n.Kind {
		case plan.RightOuter:
			left := &plan.Join{Kind: plan.LeftOuter, Left: plan.AsTable(n.Right), Right: plan.AsTable(n.Left), On: plan.Conjunction(flipSides(plan.Conjuncts(n.On), l, r))}
			return c.rows(flipItemsBack(left, r))
		default:
			return c.join(n)
		}
	case *plan.Repeat:
		rows := plan.AsTable(c.rows(n.Input))
		items := plan.ItemsOf(rows)
		return &plan.Repeat{Input: &plan.Project{Input: rows, Items: append(slices.Delete(slices.Clone(items), width, width+1), items[width])}}
	case *plan.SeriesOfEach:
		rows := plan.AsTable(c.rows(n.Input))
		items, k := plan.ItemsOf(rows), width-1
		return n.With(&plan.Project{Input: rows, Items: slices.Concat(items[:k], items[k+3:], items[k:k+3])})
	case *plan.Concat:
		out := &plan.Concat{}
		for _, in := range n.Of {
			out.Of = append(out.Of, c.rows(in))
		}
		out.Of = c.unifyTypes(out.Of, width)
		return out
	case *plan.Values:
		in := c.distinctValues()
		rows := valuesAsSelects(n, func() plan.Node { return in })
		p := rows.(*plan.Project)
		if len(n.Rows) == 1 {
			return c.valued(p)
		}
		of := &plan.Concat{}
		for _, row := range p.Input.(*plan.Derived).Of.Tree.(*plan.Concat).Of {
			of.Of = append(of.Of, c.valued(row.(*plan.Project)))
		}
		return &plan.Project{Input: &plan.Derived{Of: &plan.Subplan{Tree: of}}, Items: plan.ItemsOf(of)}
	case *plan.GroupingSets:
		return c.groupingSets(n)
	case *plan.Recursion:
		first := c.rows(n.First)
		last := &plan.Subplan{Name: n.Last.Name}
		fields := slices.Clone(n.Last.Fields())
		for i, f := range first.Fields()[width:] {
			f.Type = widest(c.outs[i].Type())
			fields = append(fields, f)
		}
		last.Tree = &plan.Values{Columns: fields}
		c.of[n.Last], c.last = last, append(c.last, n.Last)
		parts := c.unifyTypes([]plan.Node{first, c.rows(n.Step)}, width)
		return &plan.Recursion{First: parts[0], Step: parts[1], Last: last, All: n.All, Limit: -1}
	case *plan.Window:
		w := &plan.Window{Input: c.rows(n.Input)}
		k := plan.Width(n.Input)
		for _, f := range n.Funcs {
			of := f.Map(func(e expr.Expr) expr.Expr { return e })
			of.Partition = append(of.Partition, plan.ColumnsOf(w.Input)[k:]...)
			w.Funcs = append(w.Funcs, of)
		}
		p := &plan.Project{Input: &plan.Derived{Of: &plan.Subplan{Tree: w}}}
		items, values := plan.ItemsOf(p.Input), k+len(c.outs)
		p.Items = slices.Concat(items[:k], items[values:], items[k:values])
		return p
	case *plan.Limit:
		return c.limitPerValue(n)
	}
	panic(expr.Coded(sqlstate.FeatureNotSupported, c.outs[0].Pos(), "this subquery, which reads columns of the query around it, is not supported: write it as a join"))
}

// asColumns has columns in the place of what an aggregation gives.
func asColumns(e expr.Expr) expr.Expr { return (&unnester{}).groupsAsColumns(e) }

// limitPerValue applies LIMIT and OFFSET to the rows of each of the outer values. One row is the first of a sort by the values.
// More rows are found by their row numbers in a window of each value.
func (c *correlation) limitPerValue(l *plan.Limit) plan.Node {
	in, p := l.Input, (*plan.Project)(nil)
	if above, ok := in.(*plan.Project); ok {
		in, p = above.Input, above
	}
	var keys []expr.SortKey
	if s, ok := in.(*plan.Sort); ok {
		if keys = s.Keys; s.Unique == 0 {
			in = s.Input
		}
	}
	rows := c.rows(in)
	n := plan.Width(rows) - len(c.outs)
	out := &plan.Project{}
	if p == nil {
		out.Items = plan.ItemsOf(rows)[:n]
	} else {
		for _, item := range p.Items {
			out.Items = append(out.Items, plan.Item{Name: item.Name, E: c.overRows(asColumns(item.E), n)})
		}
	}
	out.Items = append(out.Items, plan.ItemsOf(rows)[n:]...)
	if l.Count == 1 && l.Offset == 0 {
		return out.With(c.sortPerValue(rows, n, keys, 0))
	}
	number := &expr.Window{Kind: expr.RowNumber, Partition: plan.ColumnsOf(rows)[n:], Frame: expr.DefaultFrame, T: table.Type{Kind: table.BigInt}, P: -1}
	for _, k := range keys {
		k.E = c.overRows(asColumns(k.E), n)
		number.Order = append(number.Order, k)
	}
	var wanted []expr.Expr
	than := func(op expr.CmpOp, v int64) {
		wanted = append(wanted, &expr.Compare{Op: op, L: number, R: &expr.Const{V: table.Literal(v), P: -1}, P: -1})
	}
	than(expr.GT, l.Offset)
	if l.Count >= 0 && l.Offset <= math.MaxInt64-l.Count {
		than(expr.LE, l.Offset+l.Count)
	}
	of, chain := windowed(plan.AsTable(rows), []plan.Node{&plan.Filter{Where: plan.Conjunction(wanted)}, out})
	return chain[1].With(chain[0].With(of))
}

// sortPerValue sorts the rows by the outer values, their columns from n on, then by keys. It keeps the first row of each of
// the values, and of the first unique keys beside them.
func (c *correlation) sortPerValue(rows plan.Node, n int, keys []expr.SortKey, unique int) plan.Node {
	s := &plan.Sort{Input: plan.AsTable(rows), Limit: -1, Unique: len(c.outs) + unique}
	for _, e := range plan.ColumnsOf(rows)[n:] {
		s.Keys = append(s.Keys, expr.SortKey{E: e})
	}
	for _, k := range keys {
		k.E = c.overRows(asColumns(k.E), n)
		s.Keys = append(s.Keys, k)
	}
	return s
}

// equatedFilter decorrelates a filter in which each outer reference equals an expression over the filter's own rows. That
// expression then replaces it. It is nil for other filters.
func (c *correlation) equatedFilter(f *plan.Filter) plan.Node {
	if c.plain || c.reads(f.Input) || !selectable(f.Input) {
		return nil
	}
	own := make([]expr.Expr, len(c.outs))
	var rest []expr.Expr
	for _, e := range plan.Conjuncts(f.Where) {
		if eq, ok := e.(*expr.Compare); ok && eq.Op == expr.EQ {
			x, y := eq.L, eq.R
			if _, ok := y.(*expr.Outer); ok {
				x, y = y, x
			}
			o, ok := x.(*expr.Outer)
			if ok && o.Level == 1 && !ReadsOuter(y) && !plan.RaisesWhileJoining(y) && (y.Type() == o.Type() || y.Type().IsInteger() && o.Type().IsInteger()) {
				if i := indexOfExpr(c.outs, o.X); own[i] == nil {
					own[i] = y
					continue
				}
			}
		}
		rest = append(rest, e)
	}
	if slices.Contains(own, nil) {
		return nil
	}
	for i, e := range rest {
		rest[i] = expr.Map(e, func(e expr.Expr) expr.Expr {
			o, ok := e.(*expr.Outer)
			switch {
			case !ok:
				return nil
			case o.Level > 1:
				return raiseLevel(o)
			}
			return own[indexOfExpr(c.outs, o.X)]
		})
	}
	for _, e := range own { // NULL equals nothing
		rest = append(rest, &expr.IsNull{X: e, Not: true, P: e.Pos()})
	}
	in := mapOuter(f.Input, 0, raiseLevel)
	p := &plan.Project{Input: c.keepMatching(withFilter(in, rest), own), Items: plan.ItemsOf(in)}
	for i, e := range own {
		p.Items = append(p.Items, plan.Item{Name: c.outs[i].String(), E: e})
	}
	return p
}

// join decorrelates a join of which a side reads outer columns. This includes a left side that reads them in a
// join that keeps its rows without a partner.
func (c *correlation) join(j *plan.Join) plan.Node {
	l, r := plan.Width(j.Left), plan.Width(j.Right)
	k := len(c.outs)
	left := plan.AsTable(c.rows(j.Left))
	full := j.Kind == plan.FullOuter
	e := func(e expr.Expr) expr.Expr { // over the left side, the values, the right side
		return c.overRows(expr.Moved(e, func(col int) int {
			if col >= l {
				return col + k
			}
			return col
		}), l)
	}
	on := xslices.Map(plan.Conjuncts(j.On), e)
	var right plan.Node
	if full || c.reads(j.Right) {
		right = plan.AsTable(c.rows(j.Right))
		of := &correlation{outs: plan.ColumnsOf(left)[l:], found: true}
		on = append(on, of.match(l+k+r)...)
	} else {
		right = plan.AsTable(mapOuter(j.Right, 0, raiseLevel))
	}
	out := &plan.Join{Kind: j.Kind, Left: left, Right: right, On: plan.Conjunction(on)}
	if j.Kind.LeftOnly() {
		return out
	}
	p := &plan.Project{Input: out}
	items := plan.ItemsOf(p.Input)
	p.Items = slices.Concat(items[:l], items[l+k:l+k+r], items[l:l+k])
	if full { // a row of the right side that stands alone has its own
		for i := range k {
			of := &p.Items[l+r+i]
			of.E = expr.NewCall(expr.Coalesce, []expr.Expr{of.E, items[l+k+r+i].E}, -1)
		}
	}
	return p
}

// widest is the type that values have where parts of rows may have integers of several types.
func widest(t table.Type) table.Type {
	if t.IsInteger() {
		return table.Type{Kind: table.BigInt}
	}
	return t
}

// unifyTypes gives the outer values the same types in all parts of a table; they are the columns behind the first width. Where a column
// of a part replaces a value, it may be an integer of another type.
func (c *correlation) unifyTypes(parts []plan.Node, width int) (out []plan.Node) {
	for _, n := range parts {
		in := plan.AsTable(n)
		p := &plan.Project{Input: in, Items: plan.ItemsOf(in)}
		for i := range c.outs {
			of := &p.Items[width+i]
			if t := widest(of.E.Type()); t != of.E.Type() {
				of.E = &expr.Cast{X: of.E, To: t, P: -1}
			}
		}
		out = append(out, p)
	}
	return out
}

// valued is a select list over the values, which follow it.
func (c *correlation) valued(p *plan.Project) plan.Node {
	out := &plan.Project{Input: p.Input}
	for _, item := range p.Items {
		out.Items = append(out.Items, plan.Item{Name: item.Name, E: c.overRows(item.E, 0)})
	}
	out.Items = append(out.Items, plan.ItemsOf(p.Input)...)
	return out
}

// groupingSets are grouping sets of the rows of each of the values: these are keys of every set. The set without keys has a row of no
// rows, too, as an aggregation without keys has.
func (c *correlation) groupingSets(n *plan.GroupingSets) plan.Node {
	keys, k := len(n.Keys), len(c.outs)
	out := &plan.Concat{}
	some := &plan.GroupingSets{Keys: slices.Clone(n.Keys)}
	for _, set := range n.Sets {
		if len(set) > 0 {
			own := slices.Clone(set)
			for i := range k {
				own = append(own, keys+i)
			}
			some.Sets = append(some.Sets, own)
			continue
		}
		rows := plan.AsTable(c.rows(&plan.Aggregate{Input: n.Input, Aggs: n.Aggs}))
		p, items := &plan.Project{Input: rows}, plan.ItemsOf(rows)
		for _, e := range n.Keys {
			p.Items = append(p.Items, plan.Item{Name: e.String(), E: &expr.Const{V: table.Null(e.Type()), P: -1}})
		}
		p.Items = append(p.Items, plan.Item{Name: "grouping", E: &expr.Const{V: table.Value{Type: table.Type{Kind: table.BigInt}, I: 1<<keys - 1}, P: -1}})
		p.Items = append(p.Items, items...)
		out.Of = append(out.Of, p)
	}
	if len(some.Sets) > 0 {
		some.Input = plan.AsTable(c.rows(n.Input))
		width := plan.Width(some.Input) - k
		by := func(e expr.Expr) expr.Expr { return c.overRows(e, width) }
		for i, e := range some.Keys {
			some.Keys[i] = by(e)
		}
		some.Keys = append(some.Keys, plan.ColumnsOf(some.Input)[width:]...)
		for _, a := range n.Aggs {
			some.Aggs = append(some.Aggs, a.Map(by))
		}
		p, fields := &plan.Project{Input: some}, some.Fields()
		for i, f := range fields {
			r := &expr.AggRef{Index: i, Name: f.Name, T: f.Type, P: -1}
			if i < len(some.Keys) {
				r.Key = some.Keys[i]
			}
			p.Items = append(p.Items, plan.Item{Name: f.Name, E: r})
		}
		p.Items = slices.Concat(p.Items[:keys], p.Items[keys+k:], p.Items[keys:keys+k])
		out.Of = append(out.Of, p)
	}
	out.Of = c.unifyTypes(out.Of, keys+1+len(n.Aggs))
	rows := &plan.Derived{Of: &plan.Subplan{Tree: out}}
	return &plan.Project{Input: rows, Items: plan.ItemsOf(rows)}
}
