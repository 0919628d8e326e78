package relational

import (
	"fmt"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
)

// MarkCodes marks which codes a column has.
type MarkCodes struct{ primitives.Op }

// distinctCodes marks which codes a column has among the selected rows, in a space of all chunks. It is a [plan.Declined] where the
// codes are too far apart for a bit each.
func distinctCodes(run pass.Runner, d compute.Profile, q *physical.Query, col *expr.Column) ([]physical.GroupStates, error) {
	space, rows := physical.NewCodeSpace(q.Table, col.Index), q.Table.Rows()
	if !physical.MarksCodes(space.Max(), rows) || rows > d.Primitives.MaxWords {
		return nil, &plan.Declined{Why: fmt.Sprintf("the values of %s are too far apart for a bit of each", col.Name)}
	}
	var where expr.Expr = &expr.IsNull{X: col, Not: true, P: -1}
	if q.Where != nil {
		where = &expr.And{Kids: []expr.Expr{q.Where, where}, P: -1}
	}
	values, err := physical.NewQuery(q.Table, &plan.Fragment{Table: q.Table.Name, Where: where})
	if err == nil {
		err = compute.RunChecks(run, d, q)
	}
	if err != nil {
		return nil, err
	}
	k := &joinKeys{run: run, device: d, starts: physical.RowOffsetsOf(q.Table), of: []expr.Expr{col}, made: []bool{false}, fields: []physical.KeyField{{Space: space}}}
	side, err := k.side(values)
	if err != nil {
		return nil, err
	}
	found, none := &physical.DistinctCodes{Space: space}, side.Keys.N == 0
	if none { // EXPLAIN reads zeros, and shows the pass
		side.Keys = primitives.Zeros(1)
	}
	j := &join{Runner: run, device: d, JoinShape: JoinShape{Bits: max(5, space.Bits())}}
	bits, err := j.setBits(MarkCodes{primitives.Op{Verb: "Mark(" + q.Groups.Aggs[0].String() + ")", Over: "a bit for each code that there is"}}, side)
	if err != nil {
		return nil, err
	}
	if !none {
		if found.Bits, err = bits.First(int(space.Max()/32) + 1).Read(run); err != nil {
			return nil, err
		}
	}
	return []physical.GroupStates{{Aggs: []physical.GroupState{{Codes: found}}}}, nil
}
