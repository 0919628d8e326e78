package cpu

import (
	"context"
	"maps"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Scalar answers q over t in the plainest way, one record at a time. It evaluates WHERE by [expr.Eval] over
// decoded values, then each aggregate over the list of selected values, by [partial.Finish]. It returns one
// value an aggregate of q, of the aggregate's Type. It is the oracle of every backend's tests.
//
// It fails with the error of the first record that raises one. A backend may report another record's error.
// So compare that both fail, and that the error is one of some record. It holds every selected value in
// memory.
func Scalar(ctx context.Context, t *table.Table, q *plan.Fragment) ([]table.Value, error) {
	s := &scalar{values: map[int][]table.Value{}, sums: make([]partial.Sum, len(q.Aggs))}
	for _, a := range q.Aggs {
		if a.Col >= 0 {
			s.values[a.Col] = nil
		}
	}
	columns := slices.Collect(maps.Keys(s.values))
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
			s.rows++
			for _, i := range columns {
				if v := column(i); !v.Null {
					s.values[i] = append(s.values[i], v)
				}
			}
			for i, a := range q.Aggs {
				if a.X == nil {
					continue
				}
				v, err := expr.Eval(a.X, env)
				if err != nil {
					return nil, err
				}
				if !v.Null {
					add(&s.sums[i], v)
				}
			}
		}
	}
	return partial.Finish(s, &physical.Query{Table: t, Aggs: q.Aggs})
}

// scalar is selected records; it implements partial.Partial.
type scalar struct {
	rows   uint64
	values map[int][]table.Value // of each column that is aggregated, NULLs left out
	sums   []partial.Sum         // by aggregate, of expressions
}

func (s *scalar) Check() error                         { return nil }
func (s *scalar) Count() (uint64, error)               { return s.rows, nil }
func (s *scalar) CountNotNull(col int) (uint64, error) { return uint64(len(s.values[col])), nil }

func (s *scalar) Sum(col int) (sum partial.Sum, err error) {
	for _, v := range s.values[col] {
		add(&sum, v)
	}
	return sum, nil
}

// SumOf implements [partial.ExpressionSums].
func (s *scalar) SumOf(agg int) (partial.Sum, error) { return s.sums[agg], nil }

func add(sum *partial.Sum, v table.Value) {
	sum.N++
	if v.Type.IsFloat() {
		sum.Float.Add(v.F)
	} else {
		sum.Int.Add(&sum.Int, v.Unscaled())
	}
}

func (s *scalar) Kth(col int, k uint64, largest bool) (table.Value, error) {
	values := s.values[col]
	slices.SortFunc(values, table.Compare) // takes one look at what was sorted before
	if largest {
		k = uint64(len(values)) - k + 1
	}
	v := values[k-1]
	v.F += 0 // that of the code, which -0 and 0 share
	return v, nil
}
