package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Pipeline is what one sweep over the rows of a source does.
type Pipeline struct {
	Number int // its place in the plan, from 1; 0 until its sink is known
	Source Source
	Steps  []Step
	Sink   Sink
	// Rows are estimates: what the source gives, what each step leaves, and what the sink leaves.
	Rows []float64
	// Nodes are the logical nodes that it does. A node of several pipelines is the last one's.
	Nodes []plan.Node
}

// Source gives the rows of a pipeline.
type Source interface {
	// Fields are the layout of the rows.
	Fields() []table.Field
	// Reads lists the pipelines that have to run before.
	Reads() []*Pipeline
	// Exprs lists what it computes, over no columns.
	Exprs() []expr.Expr
	// String is the source on one line.
	String() string
}

// Step is what a pipeline does with each row on its way.
type Step interface {
	// Fields are the layout behind the step, of rows that have a layout before it.
	Fields(in []table.Field) []table.Field
	// Reads lists the pipelines that have to run before.
	Reads() []*Pipeline
	// Exprs lists what it computes over the layout before it. A probe's residual is not among them.
	Exprs() []expr.Expr
	// String is the step on one line.
	String() string
}

// Sink takes in the rows of a pipeline.
type Sink interface {
	// Fields are the columns of the relation or the build that it leaves, of rows that have a layout.
	Fields(in []table.Field) []table.Field
	// Exprs lists what it computes over the layout.
	Exprs() []expr.Expr
	// String is the sink on one line.
	String() string
}

// Layout is the layout of the rows before the step at a place, and before the sink for the number of steps.
func (p *Pipeline) Layout(step int) []table.Field {
	fields := p.Source.Fields()
	for _, s := range p.Steps[:step] {
		fields = s.Fields(fields)
	}
	return fields
}

// Fields are the columns of what the pipeline leaves.
func (p *Pipeline) Fields() []table.Field { return p.Sink.Fields(p.Layout(len(p.Steps))) }

// Reads lists the pipelines that have to run before, each once.
func (p *Pipeline) Reads() []*Pipeline {
	list := p.Source.Reads()
	for _, s := range p.Steps {
		list = append(list, s.Reads()...)
	}
	var once []*Pipeline
	for _, r := range list {
		if !slices.Contains(once, r) {
			once = append(once, r)
		}
	}
	return once
}

// In is how many rows the source is expected to give.
func (p *Pipeline) In() float64 { return p.Rows[0] }

// Out is how many rows the sink is expected to leave.
func (p *Pipeline) Out() float64 { return p.Rows[len(p.Rows)-1] }

// name is the pipeline as others name it.
func (p *Pipeline) name() string { return fmt.Sprintf("pipeline %d", p.Number) }

// names are pipelines as others name them.
func names(list []*Pipeline) string {
	if len(list) == 1 {
		return list[0].name()
	}
	numbers := xslices.Map(list, func(p *Pipeline) string { return fmt.Sprint(p.Number) })
	return "pipelines " + strings.Join(numbers, ", ")
}

// at are the fields at some places.
func at(fields []table.Field, places []int) []table.Field {
	list := []table.Field{}
	for _, i := range places {
		list = append(list, fields[i])
	}
	return list
}

// fieldNames are the names of fields, with commas between them.
func fieldNames(fields []table.Field) string {
	list := xslices.Map(fields, func(f table.Field) string { return expr.Ident(f.Name) })
	return strings.Join(list, ", ")
}

// texts are values as text, with commas between them.
func texts[T any](list []T, text func(T) string) string {
	out := xslices.Map(list, text)
	return strings.Join(out, ", ")
}

// aggregateExprs are the expressions of aggregates.
func aggregateExprs(list []expr.Aggregate) (all []expr.Expr) {
	for _, a := range list {
		a.Map(func(e expr.Expr) expr.Expr {
			all = append(all, e)
			return e
		})
	}
	return all
}

// sortExprs are the expressions of sort keys.
func sortExprs(list []expr.SortKey) []expr.Expr {
	return xslices.Map(list, func(k expr.SortKey) expr.Expr { return k.E })
}
