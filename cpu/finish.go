package cpu

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// finish turns the merged partials of a query into the value of one aggregate.
func (x *execution) finish(a expr.Aggregate, total *partial) (table.Value, error) {
	switch a.Kind {
	case expr.CountAll:
		return table.Int(int64(total.rows)), nil
	case expr.Selectivity:
		return plan.FinishSelectivity(a, total.rows, uint64(x.q.Table.Rows())), nil
	}
	var c *columnPartial
	for i, nd := range x.needs {
		if nd.col == a.Col {
			c = &total.cols[i]
		}
	}
	if a.Kind == expr.Count {
		return table.Int(int64(c.n)), nil
	}
	if isRanked(a) {
		k, largest, ok, err := plan.Rank(a, c.n)
		switch {
		case err != nil || !ok:
			return table.Null(a.Type()), err
		case largest:
			return x.smallest(a.Col, c.n-k, c.n)
		}
		return x.smallest(a.Col, k-1, c.n)
	}
	switch {
	case c.n == 0:
		return table.Null(a.Type()), nil
	case a.Kind == expr.Min:
		return c.lo, nil
	case a.Kind == expr.Max:
		return c.hi, nil
	case a.Arg.IsFloat():
		return finishFloat(a, c)
	case a.Kind == expr.Avg:
		return plan.FinishAvg(a, c.sum.big(), c.n), nil
	}
	return plan.FinishSum(a, c.sum.big(), c.n)
}

// finishFloat is SUM and AVG of REAL and DOUBLE: the exact sum, rounded once.
func finishFloat(a expr.Aggregate, c *columnPartial) (table.Value, error) {
	v := table.Value{Type: a.Type()}
	var err error
	switch {
	case a.Kind == expr.Avg:
		v.F, err = c.floats.Mean(c.n)
	case a.Arg.Kind == table.Real:
		var f float32
		f, err = c.floats.Float32()
		v.F = float64(f)
	default:
		v.F, err = c.floats.Float64()
	}
	if err != nil {
		return table.Value{}, fmt.Errorf("%v: %w", a, err)
	}
	return v, nil
}
