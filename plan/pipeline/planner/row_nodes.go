package planner

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
	"github.com/stencildb/stencildb/table"
)

func (p *planner) filter(n *plan.Filter, need []int) *stream {
	in := inputNeeds(n, need)[0]
	var s *stream
	if scan, ok := n.Input.(*plan.Scan); ok && scan.Of == nil {
		s = p.scan(scan, n.Where, in).done(scan)
	} else {
		s = p.rows(n.Input, in)
	}
	s.step(&pipeline.Filter{Where: p.expr(s, n.Where)}, min(s.last(), p.Rows(n)))
	return s.done(n)
}

// project computes the select items that are needed. Those that are columns of the input stay where they are.
func (p *planner) project(n *plan.Project, need []int) *stream {
	s := p.rows(n.Input, inputNeeds(n, need)[0])
	at, compute := nowhere(len(n.Items)), &pipeline.Compute{}
	for _, i := range need {
		item := n.Items[i]
		e := p.expr(s, item.E)
		if c, ok := e.(*expr.Column); ok {
			at[i] = c.Index
			continue
		}
		at[i] = len(s.layout) + len(compute.Items)
		compute.Items = append(compute.Items, plan.Item{Name: item.Name, E: e})
	}
	if len(compute.Items) > 0 {
		s.step(compute, s.last())
	}
	s.at = at
	return s.done(n)
}

func (p *planner) repeat(n *plan.Repeat, need []int) *stream {
	s := p.rows(n.Input, inputNeeds(n, need)[0])
	last := plan.Width(n.Input) - 1
	s.step(&pipeline.Repeat{Times: p.expr(s, plan.ColumnsOf(n.Input)[last])}, p.Rows(n))
	s.at = s.at[:last]
	return s.done(n)
}

func (p *planner) seriesOfEach(n *plan.SeriesOfEach, need []int) *stream {
	s := p.rows(n.Input, inputNeeds(n, need)[0])
	columns := plan.ColumnsOf(n.Input)
	rest := len(columns) - 3
	ends := p.exprs(s, columns[rest:])
	at := append([]int{len(s.layout)}, s.at[:rest]...)
	s.step(&pipeline.SeriesOfEach{Field: n.Field, Start: ends[0], Stop: ends[1], Step: ends[2], Pos: n.Pos}, p.Rows(n))
	s.at = at
	return s.done(n)
}

// values gives rows of constants, or several rows for each of the input's.
func (p *planner) values(n *plan.Values) *stream {
	if n.Input == nil {
		of := &pipeline.Values{Columns: n.Columns}
		if of.Columns == nil {
			of.Columns = []table.Field{}
		}
		for _, row := range n.Rows {
			out := xslices.Map(row, p.constant)
			of.Rows = append(of.Rows, out)
		}
		return source(of, float64(len(n.Rows)), len(n.Columns), numbers(len(n.Columns))).done(n)
	}
	s := p.rows(n.Input, inputNeeds(n, nil)[0])
	step := &pipeline.Unpivot{Columns: n.Columns}
	for _, row := range n.Rows {
		step.Rows = append(step.Rows, p.exprs(s, row))
	}
	at := numbers(len(n.Columns))
	for i := range at {
		at[i] += len(s.layout)
	}
	s.step(step, s.last()*float64(len(n.Rows)))
	s.at = at
	return s.done(n)
}
