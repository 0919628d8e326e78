package expr_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// What is compiled gives the values, NULLs and errors of [expr.Eval], in every row, and for the codes
// of one column.
func TestCompiledIsEvaluated(t *testing.T) {
	var fields []table.Field
	for _, f := range []struct {
		name string
		t    table.Type
	}{
		{"b", table.Type{Kind: table.Boolean}}, {"s", table.Type{Kind: table.SmallInt}}, {"i", table.Type{Kind: table.BigInt}}, {"j", table.Type{Kind: table.BigInt}},
		{"d", table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}}, {"r", table.Type{Kind: table.Real}}, {"x", table.Type{Kind: table.Double}},
		{"v", table.Type{Kind: table.Varchar}}, {"day", table.Type{Kind: table.Date}}, {"ts", table.Type{Kind: table.Timestamp}}, {"iv", table.Type{Kind: table.Interval}},
	} {
		fields = append(fields, table.Field{Name: f.name, Type: f.t})
	}
	rapid.Check(t, func(t *rapid.T) {
		k := plantest.Default()
		k.Changes, k.MaxChunk = false, 0
		k.Narrow = rapid.Bool().Draw(t, "narrow")
		tab := plantest.TableOf(t, "t", fields, k)
		if len(tab.Chunks) == 0 {
			return
		}
		c, g := tab.Chunks[0], plantest.NewFunctions(t, tab, nil)
		for range 10 {
			e, wide := g.Value(3), rapid.Bool().Draw(t, "wide")
			row := 0
			env := &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }}
			if wide {
				env.Agg = func(int) table.Value { return table.Value{} }
			}
			compiled := expr.Compile(e, expr.Rows(c), wide)
			for row = range c.Rows {
				want, wantErr := expr.Eval(e, env)
				got, err := compiled(row)
				if text(got, err) != text(want, wantErr) {
					t.Fatalf("%s in row %d: %s, want %s", e, row, text(got, err), text(want, wantErr))
				}
			}
			cols := expr.Columns(e)
			if len(cols) != 1 {
				continue
			}
			s := c.Segments[cols[0]]
			of := expr.Compile(e, expr.Codes(s), wide)
			for row = range c.Rows {
				if s.IsNull(row) {
					continue
				}
				want, wantErr := compiled(row)
				if got, err := of(int(s.Codes.At(row))); text(got, err) != text(want, wantErr) {
					t.Fatalf("%s for the code of row %d: %s, want %s", e, row, text(got, err), text(want, wantErr))
				}
			}
		}
	})
}
