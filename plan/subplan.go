package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// Subplan is a tree whose rows become a table, once in an execution of the statement, which others read as
// [Derived]. Its identity says that it is the same.
type Subplan struct {
	Name   string // of a WITH; "" for none
	Tree   Node
	Groups bool // made by [PushAggregate]
}

// Fields implements [expr.Query].
func (s *Subplan) Fields() []table.Field { return s.Tree.Fields() }

// Derived gives the rows of a subplan: a subquery in FROM, a WITH, or what a rule puts aside.
type Derived struct {
	Of *Subplan
	As string // what the statement calls it; "" for nothing
	// Lateral says that it stands to the right in a join, and is another one for each row of the left side: its
	// [expr.Outer]s of level 1 are of that.
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

// Concat gives the rows of its inputs, one after the other: UNION ALL. All have the types of the first.
type Concat struct{ Of []Node }

// Inputs, With, Fields and String implement [Node].
func (c *Concat) Inputs() []Node           { return c.Of }
func (c *Concat) With(inputs ...Node) Node { return &Concat{inputs} }
func (c *Concat) Fields() []table.Field    { return c.Of[0].Fields() }
func (c *Concat) String() string           { return fmt.Sprintf("Concat(%d inputs)", len(c.Of)) }

// Repeat gives each row of its input several times: as often as the last column, a count, says. It
// leaves out that column.
type Repeat struct{ Input Node }

// Inputs, With, Fields and String implement [Node].
func (r *Repeat) Inputs() []Node           { return []Node{r.Input} }
func (r *Repeat) With(inputs ...Node) Node { return &Repeat{inputs[0]} }
func (r *Repeat) Fields() []table.Field {
	list := r.Input.Fields()
	return list[:len(list)-1]
}
func (r *Repeat) String() string { return "Repeat" }

// Series gives the values from Start to Stop, Step apart: constants of one type, a step of a time an interval, as generate_series. It may
// end when Limit values are there for which all of Where is TRUE.
type Series struct {
	Field             table.Field
	Start, Stop, Step expr.Expr
	Limit             int64 // -1 for none
	Where             []expr.Expr
}

// Inputs, With, Fields and String implement [Node].
func (s *Series) Inputs() []Node        { return nil }
func (s *Series) With(...Node) Node     { return s }
func (s *Series) Fields() []table.Field { return []table.Field{s.Field} }
func (s *Series) String() string {
	text := call("Series", []expr.Expr{s.Start, s.Stop, s.Step}, expr.Expr.String)
	return strings.TrimSuffix(text, ")") + untilRows(s.Limit, s.Where) + ")"
}

// SeriesOfEach gives the values of a series for each row of its input, whose last three columns are the start, the stop and the step: a
// row is such a value and the columns before these three. It is the generate_series that reads columns.
type SeriesOfEach struct {
	Field table.Field // of the values: the type of the start
	Input Node
	Pos   int // where the statement asks for it
}

// Inputs, With, Fields and String implement [Node].
func (s *SeriesOfEach) Inputs() []Node           { return []Node{s.Input} }
func (s *SeriesOfEach) With(inputs ...Node) Node { return &SeriesOfEach{s.Field, inputs[0], s.Pos} }
func (s *SeriesOfEach) Fields() []table.Field {
	list := s.Input.Fields()
	return slices.Concat([]table.Field{s.Field}, list[:len(list)-3])
}
func (s *SeriesOfEach) String() string { return "SeriesOfEach(" + s.Field.Name + ")" }

// Recursion gives the rows of its first input, then again and again those of Step, whose [Derived] of Last
// are the rows that came last, until no more come: WITH RECURSIVE. Without All, a row that was there
// before does not come again. It may end when Limit rows are there for which all of Where is TRUE.
type Recursion struct {
	First, Step Node
	Last        *Subplan // of First's fields; its tree is no rows
	All         bool
	Limit       int64 // -1 for none
	Where       []expr.Expr
}

// Inputs, With, Fields and String implement [Node].
func (r *Recursion) Inputs() []Node { return []Node{r.First, r.Step} }
func (r *Recursion) With(inputs ...Node) Node {
	return &Recursion{inputs[0], inputs[1], r.Last, r.All, r.Limit, r.Where}
}
func (r *Recursion) Fields() []table.Field { return r.First.Fields() }
func (r *Recursion) String() string {
	words := "UNION"
	if r.All {
		words = "UNION ALL"
	}
	return "Recursion(" + words + untilRows(r.Limit, r.Where) + ")"
}

// untilRows says when a source ends that has a limit; negative for none.
func untilRows(limit int64, where []expr.Expr) string {
	if limit < 0 {
		return ""
	}
	text := ", until " + numbers.Count(limit, "row", "rows")
	if len(where) > 0 {
		text += " with " + All(where).String()
	}
	return text
}

// Uses reports that a tree reads a subplan, by itself or in another one, also in a subquery.
func Uses(n Node, of *Subplan) bool {
	found := false
	Walk(n, func(n Node, _ int) {
		if d, ok := n.(*Derived); ok {
			found = found || d.Of == of || Uses(d.Of.Tree, of)
		}
		for _, e := range Exprs(n) {
			expr.Walk(e, func(e expr.Expr) {
				if q, ok := e.(*expr.Subquery); ok {
					found = found || Uses(treeOf(q), of)
				}
			})
		}
	})
	return found
}

// aside is a node whose rows a join or an aggregation may take: those of a node that is none become a table.
func aside(n Node) Node {
	switch in := n.(type) {
	case *Scan, *Derived, *Join:
		return n
	case *Filter:
		if below := aside(in.Input); below == in.Input {
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
			return &Project{n, itemsOf(n)}
		}
		return n
	}
}

// columnsOf are the columns of a node's rows.
func columnsOf(n Node) (list []expr.Expr) {
	for i, f := range n.Fields() {
		list = append(list, &expr.Column{Index: i, Name: f.Name, T: f.Type, P: -1})
	}
	return list
}

// itemsOf are a node's columns as select items.
func itemsOf(n Node) (list []Item) {
	for i, e := range columnsOf(n) {
		list = append(list, Item{n.Fields()[i].Name, e})
	}
	return list
}

// SetOp is an operator between the rows of two queries.
type SetOp uint8

// The operators.
const (
	Union SetOp = iota
	Intersect
	Except
)

func (o SetOp) String() string {
	return strings.ToUpper([...]string{"Union", "Intersect", "Except"}[o])
}

// Combined is l UNION [ALL] r and the like, over inputs whose columns have the same types. The rows of both
// become one table; without ALL the different ones are its groups, and what INTERSECT and EXCEPT ask is how
// many of a group each side has.
func Combined(op SetOp, all bool, l, r Node) Node {
	n := len(l.Fields())
	if op == Union {
		rows := &Derived{Of: &Subplan{Tree: &Concat{flatConcat(all, l, r)}}}
		if all {
			return &Project{rows, itemsOf(rows)}
		}
		return distinct(rows)
	}
	side := func(in Node, left int64) Node {
		d := aside(in)
		mark := func(v int64) Item { return Item{"side", &expr.Const{V: table.Literal(v), P: -1}} }
		return &Project{d, append(itemsOf(d), mark(left), mark(1-left))}
	}
	rows := &Derived{Of: &Subplan{Tree: &Concat{[]Node{side(l, 1), side(r, 0)}}}}
	columns := columnsOf(rows)
	a := &Aggregate{Input: rows, Keys: columns[:n]}
	count := func(i int) *expr.AggRef {
		a.Aggs = append(a.Aggs, sumOf(n+i, "side"))
		return &expr.AggRef{Index: n + i, Name: "SUM(side)", T: a.Aggs[i].Type(), P: -1}
	}
	left, right := count(0), count(1)
	zero := &expr.Const{V: table.Value{Type: left.T}, P: -1}
	compare := func(e expr.Expr, o expr.CmpOp) expr.Expr { return &expr.Compare{Op: o, L: e, R: zero, P: -1} }
	keep := map[SetOp]expr.Expr{
		Intersect: &expr.And{Kids: []expr.Expr{compare(left, expr.GT), compare(right, expr.GT)}, P: -1},
		Except:    &expr.And{Kids: []expr.Expr{compare(left, expr.GT), compare(right, expr.EQ)}, P: -1},
	}[op]
	p := &Project{Items: keyItems(a, l)}
	if !all {
		p.Input = &Filter{a, keep}
		return p
	}
	times := expr.Expr(&expr.Arith{Op: expr.Sub, L: left, R: right, T: left.T, P: -1})
	if op == Intersect {
		times = expr.NewCall(expr.Least, []expr.Expr{left, right}, -1)
	}
	p.Input, p.Items = a, append(p.Items, Item{"times", times})
	return &Repeat{p}
}

// flatConcat are the inputs of UNION [ALL], without one in the other where that says the same; of UNION, which keeps the rows of the one in
// the other, only where r is a row by itself.
func flatConcat(all bool, l, r Node) []Node {
	if p, ok := l.(*Project); ok && (all && selectsAll(p) || !all && isRow(r) && isDistinct(p)) {
		in := p.Input
		if !all {
			in = in.(*Aggregate).Input
		}
		if d, ok := in.(*Derived); ok && d.As == "" && d.Of.Name == "" {
			if c, ok := d.Of.Tree.(*Concat); ok {
				return append(slices.Clone(c.Of), r)
			}
		}
	}
	return []Node{l, r}
}

// isRow reports a SELECT without FROM.
func isRow(n Node) bool {
	p, ok := n.(*Project)
	if !ok {
		return false
	}
	v, ok := p.Input.(*Values)
	return ok && len(v.Rows) == 1 && v.Input == nil
}

// isDistinct reports what [distinct] makes, with all columns as they are.
func isDistinct(p *Project) bool {
	a, ok := p.Input.(*Aggregate)
	if !ok || len(a.Aggs) > 0 || a.Having != nil || a.First != nil || len(a.Keys) != len(p.Items) || len(a.Keys) != len(a.Input.Fields()) {
		return false
	}
	for i, item := range p.Items {
		ref, ok := item.E.(*expr.AggRef)
		key, plain := a.Keys[i].(*expr.Column)
		if !ok || ref.Index != i || !plain || key.Index != i {
			return false
		}
	}
	return true
}

// selectsAll reports the columns of the input, as they are.
func selectsAll(p *Project) bool {
	for i, item := range p.Items {
		if c, ok := item.E.(*expr.Column); !ok || c.Index != i {
			return false
		}
	}
	return len(p.Items) == len(p.Input.Fields())
}

// sumOf is the sum of a column of BIGINT.
func sumOf(col int, name string) expr.Aggregate {
	return expr.Aggregate{Kind: expr.Sum, Col: col, Name: name, Arg: table.Type{Kind: table.BigInt}, P: -1}
}

// distinct are the different rows of a node that an aggregation may take.
func distinct(n Node) Node {
	a := &Aggregate{Input: n, Keys: columnsOf(n)}
	return &Project{a, keyItems(a, n)}
}

// keyItems are the keys of an aggregation as select items, by the names that a node has for them.
func keyItems(a *Aggregate, of Node) (items []Item) {
	for i, f := range of.Fields() {
		items = append(items, Item{f.Name, &expr.AggRef{Index: i, Key: a.Keys[i], T: f.Type, P: -1}})
	}
	return items
}
