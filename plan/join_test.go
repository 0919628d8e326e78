package plan_test

import (
	"fmt"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// TestJoinOverScans places the conditions of joins, below which a semi join has given up the columns of a table.
func TestJoinOverScans(t *testing.T) {
	scan := func(name string, columns int) *plan.Scan {
		s := &plan.Scan{Table: name}
		for i := range columns {
			s.Columns = append(s.Columns, table.Field{Name: fmt.Sprint(name, i), Type: table.Type{Kind: table.BigInt}})
		}
		return s
	}
	same := func(l, r int) expr.Expr {
		column := func(i int) expr.Expr {
			return &expr.Column{Index: i, Name: fmt.Sprint("#", i), T: table.Type{Kind: table.BigInt}, P: -1}
		}
		return &expr.Compare{Op: expr.EQ, L: column(l), R: column(r), P: -1}
	}
	// a has the columns 0 and 1, b 2 and 3, c 4 to 6, d 7.
	inner := &plan.Join{Kind: plan.Semi, Left: scan("a", 2), Right: &plan.Filter{Input: scan("b", 2), Where: same(1, 1)}, On: same(0, 2)}
	above := &plan.Join{Left: &plan.Filter{Input: inner, Where: same(1, 1)}, Right: scan("c", 3), On: same(1, 4)}
	all := &plan.Join{Kind: plan.Anti, Left: above, Right: scan("d", 1), On: same(3, 5)}
	placed, fields := all.OverScans()
	columns := func(e expr.Expr) string { return fmt.Sprint(expr.Columns(e)) }
	over := placed.Left.(*plan.Join)
	filter := over.Left.(*plan.Filter)
	under := filter.Input.(*plan.Join)
	for _, c := range [][2]string{
		{fmt.Sprint(fields), "[0 1 4 5 6]"},
		{columns(placed.On), "[5 7]"}, {columns(over.On), "[1 6]"}, {columns(filter.Where), "[1]"}, {columns(under.On), "[0 2]"},
		{columns(under.Right.(*plan.Filter).Where), "[1]"},
		{fmt.Sprint((&plan.Fragment{Join: all, Columns: []int{2}}).Scanned()), "[[0 1] [0 1] [0 1 2] [0]]"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
}
