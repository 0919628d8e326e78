package planner

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/pipeline"
)

// built ends a pipeline in a build. Where a pipeline before does the same with the same rows, its build serves. A query and the subqueries in it
// often join the same dimensions. A build in which matches are noted is shared with none.
func (p *planner) built(s *stream, b *pipeline.Build, rows float64, shares bool) *pipeline.Pipeline {
	what := ""
	if shares {
		what = identity(s.Pipeline, b)
	}
	if old := p.builds[what]; what != "" && old != nil {
		old.Nodes = append(old.Nodes, s.Nodes...)
		return old
	}
	of := p.finish(s, b, rows)
	if what != "" {
		p.builds[what] = of
	}
	return of
}

// identity is a text that pipelines with builds have in common which leave the same. It is "" for one that may leave something else each time, or
// whose source is no table and no relation.
func identity(s *pipeline.Pipeline, b *pipeline.Build) string {
	var text strings.Builder
	stable := true
	put := func(parts ...any) { fmt.Fprintln(&text, parts...) }
	exprs := func(list []expr.Expr) {
		for _, e := range list {
			expr.Walk(e, func(e expr.Expr) {
				if c, ok := e.(*expr.Call); ok && c.Fn.Volatile {
					stable = false
				}
			})
			put(expr.Identity(e))
		}
	}
	switch of := s.Source.(type) {
	case *pipeline.Scan:
		put("scan", of.Table, of.Columns)
	case *pipeline.Relation:
		put("relation")
		for _, r := range of.Of {
			put(r.Number)
		}
	default:
		return ""
	}
	for _, step := range s.Steps {
		put(fmt.Sprintf("%T", step))
		exprs(step.Exprs())
		switch step := step.(type) {
		case *pipeline.Filter, *pipeline.Compute, *pipeline.Repeat:
		case *pipeline.Probe:
			if step.Kind.Notes() {
				return ""
			}
			put(step.Kind, step.Build.Number, expr.Identity(step.Residual))
		default:
			return ""
		}
	}
	put(b.Kind, b.Columns)
	exprs(b.Keys)
	if !stable {
		return ""
	}
	return text.String()
}
