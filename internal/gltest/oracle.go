package gltest

import (
	"context"
	"errors"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Answer is how a backend answers a query by itself: its selection, and what is asked of it.
func Answer[D any](selection func(pass.Runner, D, *physical.Query) (partial.Selection, error)) func(pass.Runner, D, *physical.Query) ([]table.Value, error) {
	return func(run pass.Runner, device D, q *physical.Query) ([]table.Value, error) {
		s, err := selection(run, device, q)
		if err != nil {
			return nil, err
		}
		return partial.Finish(s, q)
	}
}

// CompareWithOracle compares run, which answers plans through g, with the scalar oracle over the rows that are not
// deleted. The test fails where they differ in a value, or in whether there is an error. What is not supported, or
// declined, passes: other tests say when that may be. It reports whether there was something to compare.
func CompareWithOracle(t *rapid.T, g *pass.GL, tab *table.Table, q *plan.Fragment, run func(*physical.Query) ([]table.Value, error)) bool {
	p, err := physical.NewQuery(tab, q)
	if err != nil {
		return false
	}
	want, wantErr := cpu.Scalar(context.Background(), tab.Compacted(), q)
	got, err := run(p)
	g.End()
	if declined := (*plan.Declined)(nil); errors.As(err, &declined) {
		return false
	}
	where := ""
	if q.Where != nil {
		where = q.Where.String()
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("WHERE %s: %v: error %v, the oracle has %v", where, q.Aggs, err, wantErr)
	}
	if err != nil {
		return true
	}
	for i := range want {
		if got[i].String() != want[i].String() {
			t.Fatalf("WHERE %s: %v is %v, the oracle has %v", where, q.Aggs[i], got[i], want[i])
		}
	}
	return true
}
