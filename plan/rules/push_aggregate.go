package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// PushAggregate groups the rows of one table before they are joined, and aggregates the results of these groups after the join. pays
// decides that by the rows, their keys and the aggregation (W. P. Yan and P.-Å. Larson, "Eager Aggregation and Lazy Aggregation",
// 1995). A COUNT becomes a sum of counts, and an AVG the quotient of a sum of sums and a sum of counts. A group has the partners
// that each of its rows has, since all columns that joins and conditions read are among its keys.
//
// Sums of REAL and DOUBLE, DISTINCT, and aggregates that are not made of sums or extremes stay above the join. So does a
// table that an outer join adds NULLs to.
func PushAggregate(tree plan.Node, off Off, pays func(rows plan.Node, keys []expr.Expr, of *plan.Aggregate) bool) plan.Node {
	if off.has(pushAggregate) {
		return tree
	}
	out, refs := pushBelow(tree, pays)
	if refs != nil { // nothing stands above that could read it otherwise
		return tree
	}
	return out
}

// pushBelow is a node above an aggregation that is pushed. It also returns what replaces the references to the aggregation
// in the nodes above, or nil where these read columns.
func pushBelow(n plan.Node, pays func(plan.Node, []expr.Expr, *plan.Aggregate) bool) (plan.Node, func(expr.Expr) expr.Expr) {
	switch n := n.(type) {
	case *plan.Aggregate:
		for _, rows := range groupableTables(n.Input) {
			p := &eagerAggregation{of: n, rows: rows, by: &plan.Aggregate{Input: rows}, at: map[int]int{}}
			if rows != n.Input && p.possible() && pays(rows, p.by.Keys, n) {
				return p.aggregate()
			}
		}
	case *plan.Project, *plan.Values, *plan.Filter, *plan.Sort, *plan.Limit, *plan.Distinct:
		if len(n.Inputs()) == 0 {
			return n, nil
		}
		in := n.Inputs()[0]
		below, refs := pushBelow(in, pays)
		if _, whole := n.(*plan.Distinct); below == in || whole && refs != nil {
			return n, nil
		}
		out := plan.MapExprs(n.With(below), func(e expr.Expr) expr.Expr {
			if refs == nil {
				return e
			}
			return expr.Map(e, refs)
		})
		switch n.(type) {
		case *plan.Project, *plan.Values:
			refs = nil
		}
		return out, refs
	}
	return n, nil
}

// groupableTables lists the tables below joins, with the conditions on them alone, whose rows are kept. A row is in the joined
// rows once for each combination of its partners.
func groupableTables(n plan.Node) []plan.Node {
	switch n := n.(type) {
	case *plan.Scan:
		if n.Of == nil || !n.Of.Groups {
			return []plan.Node{n}
		}
	case *plan.Derived:
		if !n.Of.Groups && !n.Lateral {
			return []plan.Node{n}
		}
	case *plan.Filter:
		list := groupableTables(n.Input)
		if len(list) == 1 && list[0] == n.Input {
			return []plan.Node{n}
		}
		return list
	case *plan.Join:
		switch n.Kind {
		case plan.Inner:
			return slices.Concat(groupableTables(n.Left), groupableTables(n.Right))
		case plan.LeftOuter, plan.Semi, plan.Anti:
			return groupableTables(n.Left)
		case plan.RightOuter:
			return groupableTables(n.Right)
		}
	}
	return nil
}

// eagerAggregation is an aggregation of which some rows are grouped before they are joined.
type eagerAggregation struct {
	of      *plan.Aggregate
	rows    plan.Node
	by      *plan.Aggregate // their groups
	at      map[int]int     // the key that a column of rows is
	from    []int           // the column of rows that each of the joined rows is, -1 for one of another table
	refused bool

	groups *plan.Derived
	above  *plan.Aggregate // of what is joined then
	first  int             // where the groups' columns begin there
	moved  []int           // where each column of the joined rows is there; -1 for none
}

// possible reports whether the aggregates can be made of groups of the rows, and finds the keys of these.
func (p *eagerAggregation) possible() bool {
	p.from = p.reads(p.of.Input)
	for _, k := range p.of.Keys {
		switch own, others := p.sides(expr.Columns(k)); {
		case own && others:
			p.keys(k, p.from)
		case own:
			p.key(p.overGroupedRows(k))
		}
	}
	for _, g := range p.of.Aggs {
		own, others := p.sides(g.Reads())
		p.refused = p.refused || g.Distinct || own && others
		switch g.Kind {
		case expr.CountAll, expr.Count, expr.Min, expr.Max, expr.BoolAnd, expr.BoolOr, expr.BitAnd, expr.BitOr, expr.AnyValue:
		case expr.Sum, expr.Avg:
			p.refused = p.refused || others || !g.Arg.IsExact()
		default:
			p.refused = true
		}
	}
	return !p.refused && len(p.by.Keys) > 0 // without keys no rows would be a group
}

// sides reports whether some columns of the joined rows are those of the rows that are grouped, and whether some are others.
func (p *eagerAggregation) sides(columns []int) (own, others bool) {
	for _, c := range columns {
		own, others = own || p.from[c] >= 0, others || p.from[c] < 0
	}
	return own, others
}

// overGroupedRows is an expression of the joined rows over the rows that are grouped.
func (p *eagerAggregation) overGroupedRows(e expr.Expr) expr.Expr {
	return expr.Moved(e, func(c int) int { return p.from[c] })
}

// reads returns for each column of a node which column of the rows it is, or -1 for a column of another table. It makes keys of
// the columns that conditions read.
func (p *eagerAggregation) reads(n plan.Node) (from []int) {
	if n == p.rows {
		return firstNumbers(plan.Width(n))
	}
	switch n := n.(type) {
	case *plan.Filter:
		from = p.reads(n.Input)
		p.keys(n.Where, from)
		return from
	case *plan.Join:
		left := p.reads(n.Left)
		from = slices.Concat(left, p.reads(n.Right))
		p.keys(n.On, from)
		if n.Kind.LeftOnly() {
			return left
		}
		return from
	}
	return slices.Repeat([]int{-1}, plan.Width(n))
}

// firstNumbers are the first numbers.
func firstNumbers(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// keys makes keys of the columns of the rows that an expression reads.
func (p *eagerAggregation) keys(e expr.Expr, from []int) {
	expr.Walk(e, func(e expr.Expr) {
		if c, ok := e.(*expr.Column); ok && from[c.Index] >= 0 {
			own := *c
			own.Index = from[c.Index]
			p.at[own.Index] = p.key(&own)
		}
	})
}

// key is the number of a key of the groups. Equal intervals may be different ones, so that none stands for the others.
func (p *eagerAggregation) key(e expr.Expr) int {
	p.refused = p.refused || e.Type().Kind == table.Interval
	same := expr.Identity(e)
	i := slices.IndexFunc(p.by.Keys, func(k expr.Expr) bool { return expr.Identity(k) == same })
	if i < 0 {
		i = len(p.by.Keys)
		p.by.Keys = append(p.by.Keys, e)
	}
	return i
}

// aggregate is the aggregation of the joined groups, and what stands for what it gave without them.
func (p *eagerAggregation) aggregate() (plan.Node, func(expr.Expr) expr.Expr) {
	parts := xslices.Map(p.of.Aggs, p.parts)
	tree := &plan.Project{Input: p.by}
	for i, f := range p.by.Fields() {
		ref := &expr.AggRef{Index: i, Name: f.Name, T: f.Type, P: -1}
		if i < len(p.by.Keys) {
			ref.Key = p.by.Keys[i]
		}
		if c, ok := ref.Key.(*expr.Column); ok {
			f.Name = c.Name
		}
		tree.Items = append(tree.Items, plan.Item{Name: f.Name, E: ref})
	}
	p.groups = &plan.Derived{Of: &plan.Subplan{Tree: tree, Groups: true}, As: tableName(p.rows)}
	p.above = &plan.Aggregate{}
	p.above.Input, p.moved, p.first = p.replaceInput(p.of.Input)
	for _, k := range p.of.Keys {
		if own, others := p.sides(expr.Columns(k)); own && !others {
			p.above.Keys = append(p.above.Keys, p.column(p.key(p.overGroupedRows(k)), k))
		} else {
			p.above.Keys = append(p.above.Keys, p.joined(k))
		}
	}
	var values []expr.Expr
	for i, g := range p.of.Aggs {
		values = append(values, p.rebuiltAggregate(g, parts[i]))
	}
	return p.above, func(e expr.Expr) expr.Expr {
		ref, ok := e.(*expr.AggRef)
		switch {
		case !ok:
			return nil
		case ref.Index >= len(p.of.Keys):
			return values[ref.Index-len(p.of.Keys)]
		}
		key := *ref
		key.Key = p.above.Keys[ref.Index]
		return &key
	}
}

// parts are the numbers of the aggregates of the groups that one is made of.
func (p *eagerAggregation) parts(g expr.Aggregate) []int {
	part := func(kind expr.AggKind) int {
		g := g.Moved(func(c int) int { return p.from[c] })
		g.Kind = kind
		return addAggregate(&p.by.Aggs, g)
	}
	_, others := p.sides(g.Reads())
	switch {
	case others && (g.Kind == expr.CountAll || g.Kind == expr.Count):
		g = expr.Aggregate{Kind: expr.CountAll, Col: -1, P: g.P}
		return []int{part(expr.CountAll)}
	case others:
		return nil
	case g.Kind == expr.Avg:
		return []int{part(expr.Sum), part(expr.Count)}
	}
	return []int{part(g.Kind)}
}

// addAggregate is the number of an aggregate in a list, to whose end it comes where it is not there.
func addAggregate(list *[]expr.Aggregate, g expr.Aggregate) int {
	i := slices.IndexFunc(*list, func(o expr.Aggregate) bool {
		return o.Kind == g.Kind && expr.Identity(o.Argument()) == expr.Identity(g.Argument()) && expr.Identity(o.Filter) == expr.Identity(g.Filter)
	})
	if i < 0 {
		i = len(*list)
		*list = append(*list, g)
	}
	return i
}

// rebuiltAggregate is what an aggregate was without the groups, made of aggregates of them.
func (p *eagerAggregation) rebuiltAggregate(g expr.Aggregate, parts []int) expr.Expr {
	add := func(g expr.Aggregate) expr.Expr {
		return &expr.AggRef{Index: len(p.above.Keys) + addAggregate(&p.above.Aggs, g), Name: g.String(), T: g.Type(), P: g.P}
	}
	of := func(kind expr.AggKind, i int, filter expr.Expr) expr.Expr {
		part := p.by.Aggs[i]
		c := p.column(len(p.by.Keys)+i, nil)
		return add(expr.Aggregate{Kind: kind, Col: c.Index, Name: part.String(), Arg: part.Type(), Filter: filter, P: g.P})
	}
	as := func(e expr.Expr) expr.Expr { // the type that it had
		if e.Type() == g.Type() {
			return e
		}
		return &expr.Cast{X: e, To: g.Type(), P: g.P}
	}
	_, others := p.sides(g.Reads())
	switch g.Kind {
	case expr.CountAll, expr.Count:
		var counted []expr.Expr
		if others {
			counted = plan.Conjuncts(p.joined(g.Filter))
			if x := g.Argument(); x != nil {
				counted = append(counted, &expr.IsNull{X: p.joined(x), Not: true, P: g.P})
			}
		}
		return overNoRows(g, as(of(expr.Sum, parts[0], plan.Conjunction(counted))))
	case expr.Sum:
		return as(of(expr.Sum, parts[0], nil))
	case expr.Avg:
		return &expr.Arith{Op: expr.Div, L: of(expr.Sum, parts[0], nil), R: of(expr.Sum, parts[1], nil), T: g.Type(), P: g.P}
	}
	if others {
		return add(g.Moved(func(c int) int { return p.moved[c] }))
	}
	return of(g.Kind, parts[0], nil)
}

// column is a column of the groups among those of the joined rows, by the name of what it was.
func (p *eagerAggregation) column(i int, was expr.Expr) *expr.Column {
	f := p.groups.Fields()[i]
	out := &expr.Column{Index: p.first + i, Name: f.Name, T: f.Type, P: -1}
	if c, ok := was.(*expr.Column); ok {
		out.Name, out.Table, out.P = c.Name, c.Table, c.P
	}
	return out
}

// joined is an expression of what was joined over the joined groups.
func (p *eagerAggregation) joined(e expr.Expr) expr.Expr {
	return expr.Moved(e, func(c int) int { return p.moved[c] })
}

// replaceInput is a node with the groups in the place of the rows. moved says where its columns are then. first says where the columns of
// the groups begin; it is -1 for a node without them.
func (p *eagerAggregation) replaceInput(n plan.Node) (out plan.Node, moved []int, first int) {
	if n == p.rows {
		moved = slices.Repeat([]int{-1}, plan.Width(n))
		for c, k := range p.at {
			moved[c] = k
		}
		return p.groups, moved, 0
	}
	switch n := n.(type) {
	case *plan.Filter:
		in, moved, first := p.replaceInput(n.Input)
		return &plan.Filter{Input: in, Where: expr.Moved(n.Where, func(c int) int { return moved[c] })}, moved, first
	case *plan.Join:
		left, moved, first := p.replaceInput(n.Left)
		right, more, at := p.replaceInput(n.Right)
		width := plan.Width(left)
		if at >= 0 {
			first = width + at
		}
		both := slices.Clone(moved)
		for _, c := range more {
			if c >= 0 {
				c += width
			}
			both = append(both, c)
		}
		out := &plan.Join{Kind: n.Kind, Left: left, Right: right, On: expr.Moved(n.On, func(c int) int { return both[c] })}
		if n.Kind.LeftOnly() {
			return out, moved, first
		}
		return out, both, first
	}
	return n, firstNumbers(plan.Width(n)), -1
}

// tableName is what a statement calls a table with conditions on it.
func tableName(n plan.Node) string {
	switch n := n.(type) {
	case *plan.Filter:
		return tableName(n.Input)
	case *plan.Scan:
		if n.As != "" {
			return n.As
		}
		return n.Table
	case *plan.Derived:
		return n.As
	}
	return ""
}
