package plan

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// SetOp is an operator between the rows of two queries.
type SetOp uint8

func (o SetOp) String() string {
	return strings.ToUpper([...]string{"Union", "Intersect", "Except"}[o])
}

// The operators.
const (
	Union SetOp = iota
	Intersect
	Except
)

// NewSetOperation is l UNION [ALL] r and the like, over inputs whose columns have the same types. The rows of both
// become one table. Without ALL the different rows are its groups; INTERSECT and EXCEPT ask how many rows of a
// group each side has.
func NewSetOperation(op SetOp, all bool, l, r Node) Node {
	n := Width(l)
	if op == Union {
		rows := &Derived{Of: &Subplan{Tree: &Concat{flatConcat(all, l, r)}}}
		if all {
			return &Project{rows, ItemsOf(rows)}
		}
		return DistinctRows(rows)
	}
	side := func(in Node, left int64) Node {
		d := AsTable(in)
		mark := func(v int64) Item { return Item{"side", &expr.Const{V: table.Literal(v), P: -1}} }
		return &Project{d, append(ItemsOf(d), mark(left), mark(1-left))}
	}
	rows := &Derived{Of: &Subplan{Tree: &Concat{[]Node{side(l, 1), side(r, 0)}}}}
	columns := ColumnsOf(rows)
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

// flatConcat returns the inputs of UNION [ALL], and puts the inputs of a nested one in its place if the result is the same. For UNION,
// which keeps the rows of the nested one, r has to be a row by itself.
func flatConcat(all bool, l, r Node) []Node {
	if p, ok := l.(*Project); ok && (all && SelectsAll(p) || !all && isRow(r) && isDistinct(p)) {
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

// isDistinct reports what [DistinctRows] makes, with all columns as they are.
func isDistinct(p *Project) bool {
	a, ok := p.Input.(*Aggregate)
	if !ok || len(a.Aggs) > 0 || a.Having != nil || a.TopN != nil || len(a.Keys) != len(p.Items) || len(a.Keys) != Width(a.Input) {
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

// SelectsAll reports the columns of the input, as they are.
func SelectsAll(p *Project) bool {
	for i, item := range p.Items {
		if c, ok := item.E.(*expr.Column); !ok || c.Index != i {
			return false
		}
	}
	return len(p.Items) == Width(p.Input)
}

// sumOf is the sum of a column of BIGINT.
func sumOf(col int, name string) expr.Aggregate {
	return expr.Aggregate{Kind: expr.Sum, Col: col, Name: name, Arg: table.Type{Kind: table.BigInt}, P: -1}
}

// DistinctRows are the different rows of a node that an aggregation may take.
func DistinctRows(n Node) Node {
	a := &Aggregate{Input: n, Keys: ColumnsOf(n)}
	return &Project{a, keyItems(a, n)}
}

// keyItems are the keys of an aggregation as select items, by the names that a node has for them.
func keyItems(a *Aggregate, of Node) (items []Item) {
	for i, f := range of.Fields() {
		items = append(items, Item{f.Name, &expr.AggRef{Index: i, Key: a.Keys[i], T: f.Type, P: -1}})
	}
	return items
}
