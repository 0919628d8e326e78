package planner

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
)

// expr is an expression over the fields of a stream's node as one over its layout.
func (p *planner) expr(s *stream, e expr.Expr) expr.Expr {
	return p.over(e, func(field int) int { return s.places([]int{field})[0] })
}

// over is an expression with the columns of a layout in the place of fields.
func (p *planner) over(e expr.Expr, at func(field int) int) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		switch e := e.(type) {
		case *expr.Column:
			moved := *e
			moved.Index = at(e.Index)
			return &moved
		case *expr.AggRef:
			name := e.Name
			if e.Key != nil {
				if c, ok := e.Key.(*expr.Column); ok {
					return &expr.Column{Index: at(e.Index), Name: c.Name, Table: c.Table, T: e.T, P: e.P}
				}
				name = e.Key.String()
			}
			return &expr.Column{Index: at(e.Index), Name: name, T: e.T, P: e.P}
		case *expr.Subquery:
			p.scalar(e)
			return e
		}
		return nil
	})
}

// exprs is [planner.expr] of several.
func (p *planner) exprs(s *stream, list []expr.Expr) []expr.Expr {
	return xslices.Map(list, func(e expr.Expr) expr.Expr { return p.expr(s, e) })
}

// constant is an expression that reads no columns, but perhaps subqueries.
func (p *planner) constant(e expr.Expr) expr.Expr {
	return p.over(e, func(field int) int {
		fail("column %d is read where there are none", field)
		return 0
	})
}

// aggregates are those over the layout of a stream.
func (p *planner) aggregates(s *stream, list []expr.Aggregate) (out []expr.Aggregate) {
	return xslices.Map(list, func(a expr.Aggregate) expr.Aggregate {
		return a.Map(func(e expr.Expr) expr.Expr { return p.expr(s, e) })
	})
}

// scalar plans the query of a subquery of one value, once.
func (p *planner) scalar(q *expr.Subquery) {
	of := q.Of.(*plan.Subplan)
	if p.scalars[of] {
		return
	}
	p.scalars[of] = true
	s := p.subplanRows(of, []int{0})
	p.finish(s, &pipeline.Scalar{Column: s.places([]int{0})[0], Of: of, N: q.N}, 1)
}
