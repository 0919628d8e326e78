package plan

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Subplan is a tree whose rows become a table, once in an execution of the statement, which others read as
// [Derived]. Its identity says that it is the same.
type Subplan struct {
	Name   string // of a WITH; "" for none
	Tree   Node
	Groups bool // made by [rules.PushAggregate]
}

// Fields implements [expr.Query].
func (s *Subplan) Fields() []table.Field { return s.Tree.Fields() }

// Derived gives the rows of a subplan: a subquery in FROM, a WITH, or what a rule puts aside.
type Derived struct {
	Of *Subplan
	As string // what the statement calls it; "" for nothing
	// Lateral says that the subquery stands to the right in a join, and runs for each row of the left side. Its
	// [expr.Outer]s of level 1 are columns of that row.
	Lateral bool
}

// Inputs, With, Fields and String implement [Node]. A subplan is no input: it is a tree of its own.
func (d *Derived) Inputs() []Node        { return nil }
func (d *Derived) With(...Node) Node     { return d }
func (d *Derived) Fields() []table.Field { return d.Of.Fields() }
func (d *Derived) String() string {
	if d.As == "" {
		return "Derived"
	}
	return "Derived(" + expr.Ident(d.As) + ")"
}

// DerivedAsScans is a tree with scans in the place of its subplans.
func DerivedAsScans(n Node) Node {
	return Rewrite(n, func(n Node) Node {
		if d, ok := n.(*Derived); ok {
			return &Scan{Table: d.As, As: d.As, Columns: d.Fields(), Of: d.Of}
		}
		return n
	})
}

// RewriteQueries is a tree of what f gives for the tree and for the tree of each subplan below, those inside first. Every subplan is
// another one.
func RewriteQueries(n Node, f func(Node) Node) Node {
	made := map[*Subplan]*Subplan{}
	var query func(Node) Node
	other := func(s *Subplan) *Subplan {
		if made[s] == nil {
			made[s] = &Subplan{Name: s.Name, Groups: s.Groups}
			made[s].Tree = query(s.Tree)
		}
		return made[s]
	}
	query = func(n Node) Node {
		switch n := n.(type) {
		case *Concat, *Window:
			inputs := xslices.Map(n.Inputs(), query)
			return n.With(inputs...)
		case *Recursion:
			last := other(n.Last)
			out := n.With(query(n.First), query(n.Step)).(*Recursion)
			out.Last = last
			return out
		}
		return f(Rewrite(n, func(n Node) Node {
			switch d := n.(type) {
			case *Derived:
				return &Derived{Of: other(d.Of), As: d.As, Lateral: d.Lateral}
			case *Scan:
				if d.Of != nil {
					return &Scan{Table: d.Table, As: d.As, Columns: d.Columns, Of: other(d.Of)}
				}
			}
			return MapExprs(n, func(e expr.Expr) expr.Expr {
				return expr.Map(e, func(e expr.Expr) expr.Expr {
					q, ok := e.(*expr.Subquery)
					if !ok {
						return nil
					}
					out := *q
					out.Of = other(q.Of.(*Subplan))
					return &out
				})
			})
		}))
	}
	return query(n)
}

// EachSubplan calls f for every read of a subplan by the nodes and the subqueries of a tree, not by those further inside.
func EachSubplan(n Node, f func(*Subplan)) {
	Walk(n, func(n Node, _ int) {
		if d, ok := n.(*Derived); ok {
			f(d.Of)
		}
		for _, e := range Exprs(n) {
			expr.Walk(e, func(e expr.Expr) {
				if q, ok := e.(*expr.Subquery); ok {
					f(q.Of.(*Subplan))
				}
			})
		}
	})
}

// UsesSubplan reports that a tree reads a subplan, by itself or in another one, also in a subquery.
func UsesSubplan(n Node, of *Subplan) bool {
	found := false
	EachSubplan(n, func(s *Subplan) { found = found || s == of || UsesSubplan(s.Tree, of) })
	return found
}

// AsTable is a node whose rows a join or an aggregation may take: those of a node that is none become a table.
func AsTable(n Node) Node {
	switch in := n.(type) {
	case *Scan, *Derived, *Join:
		return n
	case *Filter:
		if below := AsTable(in.Input); below == in.Input {
			return n
		}
	}
	return &Derived{Of: &Subplan{Tree: Projected(n)}}
}

// Projected is a node that gives values: the columns of what selects rows of tables.
func Projected(n Node) Node {
	base := n
	for {
		switch b := base.(type) {
		case *Limit, *Sort, *Filter:
			base = b.Inputs()[0]
			continue
		case *Scan, *Derived, *Join:
			return &Project{n, ItemsOf(n)}
		}
		return n
	}
}

// ColumnsOf are the columns of a node's rows.
func ColumnsOf(n Node) (list []expr.Expr) {
	for i, f := range n.Fields() {
		list = append(list, &expr.Column{Index: i, Name: f.Name, T: f.Type, P: -1})
	}
	return list
}

// ItemsOf are a node's columns as select items.
func ItemsOf(n Node) (list []Item) {
	for i, e := range ColumnsOf(n) {
		list = append(list, Item{n.Fields()[i].Name, e})
	}
	return list
}

// HasSubplans reports a tree that reads subplans or has subqueries.
func HasSubplans(n Node) bool {
	found := false
	Walk(n, func(n Node, _ int) {
		_, derived := n.(*Derived)
		found = found || derived || HasWindow(n) || slices.ContainsFunc(Exprs(n), expr.HasSubquery)
	})
	return found
}

// Subplans lists those that a tree reads, and those of its subqueries, each once; not those further inside.
func Subplans(n Node) (list []*Subplan) {
	EachSubplan(n, func(s *Subplan) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	})
	return list
}

// SubqueryTree is the tree of a subquery in an expression.
func SubqueryTree(q *expr.Subquery) Node { return q.Of.(*Subplan).Tree }

// HasWindow reports a node whose expressions have a window function.
func HasWindow(n Node) bool { return slices.ContainsFunc(Exprs(n), expr.HasWindow) }
