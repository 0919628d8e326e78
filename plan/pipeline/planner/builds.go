package planner

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
	"github.com/stencildb/stencildb/table"
)

// joinKey is an equality that is a key of a join: its sides, over the columns of both inputs side by side.
type joinKey struct{ probe, build expr.Expr }

// joining is a probe with its build, whose streams have places for the columns of both inputs side by side.
type joining struct {
	kind         pipeline.ProbeKind
	probe, build *stream
	keys         []joinKey
	residual     []expr.Expr
	need         []int   // the columns that are needed behind it
	rows         float64 // that it leaves
	span         float64 // of the build's key; 0 where that is not known
	unique       bool    // no two rows of the build seem to have the same keys
	width        int     // how many columns both inputs have
}

// exact reports that equal values of the keys have equal codes.
func (j *joining) exact() bool {
	return !slices.ContainsFunc(j.keys, func(k joinKey) bool { return !comparableTypes(k.probe.Type(), k.build.Type()) })
}

// join ends the pipeline of the build and probes it. It returns the build's pipeline and, of each column of both inputs, its place in what that
// leaves.
func (p *planner) join(j joining) (of *pipeline.Pipeline, left []int) {
	b := &pipeline.Build{Columns: []int{}, Span: j.span, Unique: j.unique}
	wanted := references(j.residual...)
	if j.kind.Adds() || j.kind.Notes() {
		wanted = union(wanted, j.need)
	}
	left = nowhere(len(j.build.at))
	for _, c := range wanted {
		if place := j.build.at[c]; place >= 0 && j.probe.at[c] < 0 {
			if left[c] = slices.Index(b.Columns, place); left[c] < 0 {
				left[c] = len(b.Columns)
				b.Columns = append(b.Columns, place)
			}
		}
	}
	step := &pipeline.Probe{Kind: j.kind}
	for _, k := range j.keys {
		step.Keys, b.Keys = append(step.Keys, p.expr(j.probe, k.probe)), append(b.Keys, p.expr(j.build, k.build))
	}
	width := len(j.probe.layout)
	if len(j.residual) > 0 {
		step.Residual = p.over(plan.Conjunction(j.residual), func(c int) int {
			if place := j.probe.at[c]; place >= 0 {
				return place
			}
			return width + left[c]
		})
	}
	rows := j.build.last()
	member := len(b.Columns) == 0 && len(j.residual) == 0 && !j.kind.Notes() && (!j.kind.Adds() || j.kind == pipeline.Inner && j.unique)
	b.Kind = pipeline.KindOf(rows, rowBytes*float64(len(b.Keys)+len(b.Columns)), len(b.Keys), j.span, j.exact(), j.unique, member)
	if b.Kind != pipeline.Bitmap && b.Kind != pipeline.DenseArray {
		b.Span = 0
	}
	of = p.built(j.build, b, rows, !j.kind.Notes())
	step.Build = of
	j.probe.step(step, j.rows)
	if j.kind.Adds() {
		for c, place := range left {
			if place >= 0 {
				j.probe.at[c] = width + place
			}
		}
	}
	return of, left
}

// rowBytes are those of a key, or of a column that a build keeps.
const rowBytes = 8

// comparableTypes reports types whose values are equal where their codes are.
func comparableTypes(a, b table.Type) bool {
	return a.IsInteger() && b.IsInteger() || a.Kind == b.Kind && a.Scale == b.Scale
}

// atOffset gives a stream places for the columns of both inputs of a join: its own begin at one of them.
func (s *stream) atOffset(first, width int) *stream {
	at := nowhere(width)
	copy(at[first:], s.at)
	s.at = at
	return s
}

// keyFacts are what statistics tell of the keys of a build, which are over a node's own columns.
func (p *planner) keyFacts(n plan.Node, keys []expr.Expr) (span float64, unique bool) {
	if len(keys) == 1 {
		span, _ = p.KeyRange(n, widened(keys[0]))
	}
	list := xslices.Map(keys, widened)
	return span, p.UniqueKey(n, list)
}

// widened is what an integer was before it was cast to a wider one.
func widened(e expr.Expr) expr.Expr {
	for c, ok := e.(*expr.Cast); ok && c.To.IsInteger() && c.X.Type().IsInteger(); c, ok = e.(*expr.Cast) {
		e = c.X
	}
	return e
}
