package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Project computes the columns of a select list, row by row.
type Project struct {
	Input Node
	Items []Item
}

// Item is one column of a select list. Above an [Aggregate] its expression reads
// [expr.AggRef]s, else [expr.Column]s of the input.
type Item struct {
	Name string
	E    expr.Expr
}

// Inputs, With, Fields and String implement [Node].
func (p *Project) Inputs() []Node           { return []Node{p.Input} }
func (p *Project) With(inputs ...Node) Node { return &Project{inputs[0], p.Items} }
func (p *Project) Fields() []table.Field {
	return xslices.Map(p.Items, func(i Item) table.Field { return table.Field{Name: i.Name, Type: i.E.Type()} })
}

func (p *Project) String() string { return call("Project", p.Items, Item.String) }

// String is the item as SQL.
func (i Item) String() string {
	text := i.E.String()
	if text == expr.Ident(i.Name) || i.Name == "?column?" {
		return text
	}
	return text + " AS " + expr.Ident(i.Name)
}

// InputColumns lists the columns of the input that the items read.
func (p *Project) InputColumns() []int {
	cols := []int{}
	for _, i := range p.Items {
		cols = append(cols, expr.Columns(i.E)...)
	}
	return cols
}
