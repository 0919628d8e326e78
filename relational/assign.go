package relational

import (
	"fmt"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Assignment is a column that gets the values of an expression.
type Assignment struct {
	Col int
	E   expr.Expr
	// To are the segments that have the new codes, one for each chunk, nil where a chunk does not change. Made is how their
	// codes are made. Neither the column nor the expression is NULL anywhere.
	To   []*table.Segment
	Made []*lower.ComputedCodes
}

// Assign computes the new codes of columns for UPDATE: the selected records get the values of expressions. All expressions read the
// values before the update. done gets the codes of each column of a chunk with selected records, in working memory. changed counts the
// selected records of each chunk. The error is a [plan.Declined] where a record raises an error, or a block of the device does not hold
// a chunk's codes.
func Assign(run pass.Runner, d compute.Profile, q *physical.Query, of []Assignment, done func(chunk, assignment int, codes textures.Source) error) (changed []int, err error) {
	changed = make([]int, len(q.Table.Chunks))
	for _, a := range of {
		if err := canCompute(run, d, q, a.E); err != nil {
			return nil, err
		}
	}
	found, err := selections(run, d, q, q.Chunks)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if len(f.Pieces) > 1 || f.Rows > d.Primitives.MaxWords {
			return nil, &plan.Declined{Why: fmt.Sprintf("%d rows are more than a block of the device holds", f.Rows)}
		}
		s := f.sorting(0)
		if err := s.count(); err != nil {
			return nil, err
		}
		if changed[f.Index] = s.n; s.n == 0 {
			continue
		}
		var marked primitives.Vector
		if !s.all {
			bitmap, err := f.bitmap(0)
			if err != nil {
				return nil, err
			}
			marked = primitives.New(primitives.Groups(f.Rows) * textures.GroupRows / 32)
			if err := primitives.RowBits(run, d.Primitives, bitmap, f.Rows, marked); err != nil {
				return nil, err
			}
		}
		whole := (&selected{ChunkWork: f.ChunkWork, run: run, all: true, tree: compute.All}).sorting(0)
		if err := whole.count(); err != nil {
			return nil, err
		}
		for i, a := range of {
			codes, err := whole.compute(a.E, a.Made[f.Index], &keptCodes{a.Col, marked, a.To[f.Index]})
			if err != nil {
				return nil, err
			}
			if err := done(f.Index, i, textures.Source{Codes: [2]textures.Block{codes.low.Block, codes.high.Block}}); err != nil {
				return nil, err
			}
		}
	}
	return changed, nil
}
