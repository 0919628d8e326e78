package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
)

// The float form is wrong for records near the limit. At least as many are wrong as its number of
// records and the exact one differ by. Where float32 is exact, none is wrong.
func TestWrongRecordsOfTheFloatForm(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.Integer}}, {Name: "b", Type: table.Type{Kind: table.Integer}}}, 0)
	for range 1000 {
		near := 1<<23 + random.Int64N(5)
		b.Column(0).Int(near)
		b.Column(1).Int(near - random.Int64N(3))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	b.Column(0).Int(0) // codes are values
	b.Column(1).Int(0)
	if err := b.EndRow(); err != nil {
		t.Fatal(err)
	}
	tab := b.Table()
	gpu, err := devicepool.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := gpu.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := &timedDevice{gpu}
	for _, c := range []struct {
		coefficients []float64
		limit        float64
		wrong        bool
	}{
		{[]float64{1.1, -1.1}, 1.05, true}, {[]float64{1, -1}, 0.5, false}, {[]float64{0.25, -0.25}, 0.3, false}, {[]float64{1, -1}, -1e7, false}, {[]float64{1, -1}, 1e7, false},
	} {
		l := &meter.Linear{Columns: []int{0, 1}, Coefficients: c.coefficients, Limit: c.limit}
		text := fmt.Sprintf("SELECT COUNT(*) FROM t WHERE %.2fe0 * a + %.2fe0 * b < %.2fe0", c.coefficients[0], c.coefficients[1], c.limit)
		exact, err := overPlans(tab, onCPU()).Prepare(t.Context(), meter.Query{SQL: text})
		if err != nil {
			t.Fatal(err)
		}
		want, err := exact.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		form, err := overPlans(tab, r.prepare(report.ClassicFloat)).Prepare(t.Context(), meter.Query{SQL: text, Linear: l})
		if err != nil {
			t.Fatal(err)
		}
		got, err := form.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n, err := form.Wrong(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		off := int(got.Answer[0][0].I - want.Answer[0][0].I)
		if c.wrong != (n > 0) || n > 1001 || max(off, -off) > n {
			t.Errorf("%v below %v: %v of the float form, %v exactly, %d wrong", c.coefficients, c.limit, got.Answer, want.Answer, n)
		}
	}
	if _, err := overPlans(wide(t), r.prepare(report.ClassicFloat)).Prepare(t.Context(), meter.Query{SQL: "SELECT COUNT(*) FROM t WHERE a < 0", Linear: &meter.Linear{Columns: []int{0}, Coefficients: []float64{1}}}); err == nil {
		t.Error("no error for codes that a float does not hold")
	}
}

// wide is a table of an attribute with codes of more than 24 bits.
func wide(t *testing.T) *table.Table {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 0)
	for _, v := range []int64{0, -1, 1 << 30} {
		b.Column(0).Int(v)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}
