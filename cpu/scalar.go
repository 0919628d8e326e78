package cpu

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Scalar answers q over t in the plainest way, one record at a time: WHERE by
// [expr.Eval] over decoded values, then each aggregate over the list of the values
// selected. It returns one value an aggregate of q, of the aggregate's Type. It is
// the oracle of every backend's tests.
//
// It fails with the error of the first record that raises one; a backend may
// report another record's, so compare that both fail, and with an error of some
// record. It holds every selected value in memory.
func Scalar(ctx context.Context, t *table.Table, q *plan.Fragment) ([]table.Value, error) {
	rows := 0
	values := map[int][]table.Value{} // the selected ones of each column that is aggregated, NULLs left out
	for _, a := range q.Aggs {
		if a.Kind != expr.CountAll && a.Kind != expr.Selectivity {
			values[a.Col] = nil
		}
	}
	columns := slices.Collect(maps.Keys(values))
	for _, c := range t.Chunks {
		row := 0
		column := func(i int) table.Value { return c.Segments[i].Value(row) }
		env := &expr.Env{Column: column}
		for ; row < c.Rows; row++ {
			if row%4096 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !c.IsLive(row) {
				continue
			}
			if q.Where != nil {
				v, err := expr.Eval(q.Where, env)
				if err != nil {
					return nil, err
				}
				if v.Null || v.I == 0 {
					continue
				}
			}
			rows++
			for _, i := range columns {
				if v := column(i); !v.Null {
					values[i] = append(values[i], v)
				}
			}
		}
	}
	var out []table.Value
	for _, a := range q.Aggs {
		v, err := scalarAggregate(a, values[a.Col], rows, t.Rows())
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// scalarAggregate computes a over the values of the selected records that are not
// NULL, which it may sort; selected of all records were selected.
func scalarAggregate(a expr.Aggregate, values []table.Value, selected, all int) (table.Value, error) {
	null := table.Null(a.Type())
	n := len(values)
	if a.Kind != expr.Count && a.Kind != expr.Sum && a.Kind != expr.Avg {
		slices.SortFunc(values, table.Compare) // takes one look at what another aggregate has sorted
	}
	switch a.Kind {
	case expr.CountAll:
		return table.Int(int64(selected)), nil
	case expr.Count:
		return table.Int(int64(n)), nil
	case expr.Selectivity:
		if all == 0 {
			return null, nil
		}
		return table.Float(float64(selected) / float64(all)), nil
	}
	kth := a.Kind == expr.KthLargest || a.Kind == expr.KthSmallest
	if a.Null || n == 0 && !kth {
		return null, nil
	}
	if a.Kind == expr.KthLargest || a.Kind == expr.Max || a.Desc {
		slices.Reverse(values)
	}
	switch {
	case kth && (a.K < 1 || a.K > int64(n)):
		return null, fmt.Errorf("cpu: %v: k is outside 1..%d", a, n)
	case kth:
		return values[a.K-1], nil
	case a.Kind == expr.Min || a.Kind == expr.Max:
		return values[0], nil
	case a.Kind == expr.Percentile:
		return values[max(1, int(math.Ceil(a.F*float64(n))))-1], nil
	}
	return scalarSum(a, values)
}

// scalarSum is SUM and AVG: the exact sum, or quotient, rounded once.
func scalarSum(a expr.Aggregate, values []table.Value) (table.Value, error) {
	out := table.Value{Type: a.Type()}
	special, hasSpecial := 0.0, false
	// The bits of the largest double down to those of the smallest, and 64 for carries.
	sum := new(big.Float).SetPrec(1024 + 1074 + 64)
	for _, v := range values {
		switch {
		case !v.Type.IsFloat():
			sum.Add(sum, new(big.Float).SetInt(v.Unscaled()))
		case math.IsNaN(v.F) || math.IsInf(v.F, 0):
			special, hasSpecial = special+v.F, true
		default:
			sum.Add(sum, big.NewFloat(v.F))
		}
	}
	switch {
	case hasSpecial:
		out.F = special
		return out, nil
	case a.Kind == expr.Avg:
		n := new(big.Int).Mul(table.Pow10(a.Arg.Scale), big.NewInt(int64(len(values))))
		mean, _ := sum.Rat(nil)
		out.F, _ = mean.Quo(mean, new(big.Rat).SetInt(n)).Float64()
	case a.Arg.IsExact():
		unscaled, _ := sum.Int(nil)
		return table.Dec(out.Type, unscaled), nil
	case a.Arg.Kind == table.Real:
		f, _ := sum.Float32()
		out.F = float64(f)
	default:
		out.F, _ = sum.Float64()
	}
	if math.IsInf(out.F, 0) {
		return out, fmt.Errorf("cpu: %v: %w", a, plan.ErrOverflow)
	}
	return out, nil
}
