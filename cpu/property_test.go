package cpu

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"pgregory.net/rapid"
)

// rowErrors lists the errors that the rows of t raise in where.
func rowErrors(t *table.Table, where expr.Expr) []string {
	var out []string
	if where == nil {
		return nil
	}
	for _, c := range t.Chunks {
		for row := range c.Rows {
			if !c.IsLive(row) {
				continue
			}
			env := &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }}
			if _, err := expr.Eval(where, env); err != nil {
				out = append(out, errorKey(err))
			}
		}
	}
	return out
}

// errorKey is where in the SQL text an error is. Its message may be a little vaguer than the row's
// ("overflow or underflow"). It may name the value of another row that fails in the same place.
func errorKey(err error) string {
	var e *expr.Error
	if errors.As(err, &e) {
		return "at " + strconv.Itoa(e.Pos)
	}
	return err.Error()
}

// TestRandomQueriesAgreeWithScalar is the whole path: plan's lowering and this
// package's execution against row by row evaluation. Where rows raise errors both
// fail, and the backend with the error of one of the rows.
func TestRandomQueriesAgreeWithScalar(t *testing.T) {
	knobs := map[string]plantest.Knobs{"everything": plantest.Default(), "exact": plantest.Exact()}
	narrow := plantest.Default()
	narrow.Narrow, narrow.Errors, narrow.MaxRows, narrow.MaxChunk = true, false, 150, 70
	knobs["narrow"] = narrow
	for name, k := range knobs {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tab := plantest.Table(t, k)
				for range 5 {
					checkQuery(t, tab, plantest.Query(t, tab, k))
				}
			})
		})
	}
}

func checkQuery(t *rapid.T, tab *table.Table, q *plan.Fragment) {
	ctx := context.Background()
	p, err := physical.NewQuery(tab, q)
	if err != nil {
		return // refused, as a condition too complex to lower is
	}
	for i, c := range tab.Chunks {
		checkHolds(t, q.Where, p.Chunks[i].Pred, c)
	}
	want, wantErr := Scalar(ctx, tab.Compacted(), q)
	got, err := execute(ctx, t, 2, p)
	if err == nil && wantErr == nil {
		for i, a := range q.Aggs {
			if !sameValue(got[i], want[i]) {
				t.Fatalf("%v WHERE %v: %v, the oracle says %v", a, q.Where, got[i], want[i])
			}
		}
		return
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%v WHERE %v: error %v, the oracle's is %v", q.Aggs, q.Where, err, wantErr)
	}
	if raised := rowErrors(tab, q.Where); len(raised) > 0 {
		for _, r := range raised {
			if r == errorKey(err) {
				return
			}
		}
		t.Fatalf("WHERE %v: error %q (%s), which no row raises: %q", q.Where, err, errorKey(err), raised)
	}
}

// checkHolds compares the bitmaps of a lowered condition with the condition, in rows that
// raise no error.
func checkHolds(t rapid.TB, where expr.Expr, p *predicate.Pred, c *table.Chunk) {
	sel := selectAll(t, p, c)
	row := 0
	env := &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }}
	for ; row < c.Rows; row++ {
		want := table.Bool(true)
		if where != nil {
			var err error
			if want, err = expr.Eval(where, env); err != nil {
				continue
			}
		}
		if selected := c.IsLive(row) && !want.Null && want.I != 0; sel.Get(row) != selected {
			t.Fatalf("row %d: %v, the condition is %v", row, sel.Get(row), want)
		}
	}
}

// TestDivisionAroundItsEdges fixes what random operands seldom hit.
func TestDivisionAroundItsEdges(t *testing.T) {
	const least = -1 << 63
	cases := []struct {
		op       predicate.ValOp
		x, y     int64
		fails    bool
		quotient int64
	}{
		{predicate.DivV, least, -1, true, 0},
		{predicate.DivV, least, 1, false, least},
		{predicate.DivV, least + 1, -1, false, 1<<63 - 1},
		{predicate.DivV, -7, 2, false, -3},
		{predicate.DivV, 7, 0, true, 0},
		{predicate.ModV, least, -1, false, 0},
		{predicate.ModV, -7, 2, false, -1},
		{predicate.ModV, 7, 0, true, 0},
		{predicate.MulV, least, -1, true, 0},
		{predicate.MulV, -1, least, true, 0},
		{predicate.MulV, 1 << 32, 1 << 31, true, 0},
		{predicate.MulV, -1 << 32, 1 << 31, false, least},
		{predicate.SubV, 0, least, true, 0},
		{predicate.SubV, -1, least, false, 1<<63 - 1},
		{predicate.AddV, least, -1, true, 0},
	}
	for _, c := range cases {
		chunk := chunkOf(t, []table.Value{table.Int(c.x)}, []table.Value{table.Int(c.y)})
		v := &predicate.Val{Op: c.op, CanFail: true, Kids: []*predicate.Val{
			{Op: predicate.Col, Column: 0, Offset: c.x}, {Op: predicate.Col, Column: 1, Offset: c.y}}}
		if got := selectAll(t, leafPred(&predicate.Computed{Fails: v}), chunk).Get(0); got != c.fails {
			t.Errorf("operation %d of %d and %d fails: %v", c.op, c.x, c.y, got)
		}
		eq := &predicate.Computed{Shape: predicate.Expression, Op: expr.EQ, L: v, R: &predicate.Val{Op: predicate.Const, I: c.quotient}}
		if got := selectAll(t, leafPred(eq), chunk).Get(0); got == c.fails {
			t.Errorf("operation %d of %d and %d is %d: %v", c.op, c.x, c.y, c.quotient, got)
		}
	}
}
