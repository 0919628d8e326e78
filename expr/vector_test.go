package expr_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// What vectors are computed gives the values and NULLs of [Eval] in every row. Rows are all, some, and the codes of one column. It gives nothing where a row raises an error.
func TestVectorsAreEvaluated(t *testing.T) {
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
			e := g.Value(3)
			row := 0
			env := &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }}
			var want []table.Value
			failed := false
			for row = range c.Rows {
				v, err := expr.Eval(e, env)
				want, failed = append(want, v), failed || err != nil
			}
			got, ok := expr.Compute(e, expr.BlockRows{Chunk: c, Block: table.Block{N: c.Rows}})
			if ok && failed {
				t.Fatalf("%s: no error, and there is one", e)
			}
			if !ok && !failed && !mayBeWide(e) {
				t.Fatalf("%s: no vector, and there is no error", e)
			}
			if !ok {
				continue
			}
			for i, w := range want {
				if g := got.Value(i, e.Type()); text(g, nil) != text(w, nil) {
					t.Fatalf("%s in row %d: %s, want %s", e, i, text(g, nil), text(w, nil))
				}
			}
			cols := expr.Columns(e)
			if len(cols) != 1 {
				continue
			}
			s := c.Segments[cols[0]]
			if s.NonNull() == 0 || s.Max > 1000 || s.NegativeZeros != nil { // a code is that of both zeros
				continue
			}
			of, ok := expr.Compute(e, expr.CodesOf(s, 0, int(s.Max)+1, true, nil))
			for i, w := range want {
				at := int(s.Max) + 1
				if !s.IsNull(i) {
					at = int(s.Codes.At(i))
				}
				if ok && text(of.Value(at, e.Type()), nil) != text(w, nil) {
					t.Fatalf("%s of the code of row %d: %s, want %s", e, i, text(of.Value(at, e.Type()), nil), text(w, nil))
				}
			}
		}
	})
}

// mayBeWide reports an expression with a DECIMAL, which may have more than 64 bits on the way, or an interval.
func mayBeWide(e expr.Expr) (wide bool) {
	expr.Walk(e, func(e expr.Expr) {
		k := e.Type().Kind
		wide = wide || k == table.Decimal || k == table.Interval
	})
	return wide
}
