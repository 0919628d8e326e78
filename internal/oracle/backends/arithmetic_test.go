package backends

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/table"
)

var double = table.Type{Kind: table.Double}

// doubles makes a table t of double columns x, y and one named after each
// operation, which holds what Go computes.
func doubles(t *testing.T, name string, pairs [][2]float64) *table.Table {
	t.Helper()
	names := []string{"x", "y", "sum", "difference", "product", "quotient"}
	var fields []table.Field
	for _, n := range names {
		fields = append(fields, table.Field{Name: n, Type: double})
	}
	b := table.NewBuilder(name, fields, 0)
	for _, p := range pairs {
		x, y := p[0], p[1]
		for i, v := range []float64{x, y, x + y, x - y, x * y, x / y} {
			b.Column(i).Float(v)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// operations are conditions that hold for every row of [doubles].
var operations = []string{"x + y = sum", "x - y = difference", "x * y = product", "x / y = quotient"}

// Double arithmetic on the graphics pipeline is correct to the last bit, also
// where the device's own division and fma are not.
func TestDoubleArithmeticIsCorrectlyRounded(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func(exponents int) float64 {
		return math.Ldexp(1+rnd.Float64(), rnd.IntN(2*exponents)-exponents) * float64(1-2*rnd.IntN(2))
	}
	var pairs [][2]float64
	for i := range 20_000 {
		exponents := []int{3, 100, 500}[i%3]
		x, y := number(exponents), number(exponents)
		if i%4 == 0 {
			x = math.Trunc(x)
		}
		pairs = append(pairs, [2]float64{x, y})
	}
	h := harness.Open(t)
	tab := doubles(t, "t", pairs)
	h.Register(t, tab)
	for _, op := range operations {
		h.Backends(t, tab, "SELECT COUNT(*) FROM t WHERE "+op, []table.Value{table.Int(int64(len(pairs)))}, nil)
	}
}

// At the ends of the doubles each operation gives what Go gives, or the error that
// package expr has.
func TestDoubleArithmeticAtTheEnds(t *testing.T) {
	h := harness.Open(t)
	values := []float64{0, 1, -3, 0.25, math.MaxFloat64, -math.MaxFloat64, 1e200, 0x1p-1022, 0x1p-1021, 1e-200,
		math.Nextafter(2, 1), math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	n := 0
	for _, x := range values {
		for _, y := range values {
			n++
			tab := doubles(t, fmt.Sprintf("t%d", n), [][2]float64{{x, y}})
			h.Register(t, tab)
			for i, op := range operations {
				_, exception := expr.FloatOp(expr.ArithOp(i), x, y)
				var err error
				if exception != nil {
					err = errors.New(exception.Message)
				}
				h.Backends(t, tab, "SELECT COUNT(*) FROM "+tab.Name+" WHERE "+op, []table.Value{table.Int(1)}, err)
			}
		}
	}
	if h.Declined > 0 {
		t.Errorf("%d of %d declined", h.Declined, n*len(operations))
	}
}

// A semi-linear predicate is exact for every operator up to sums of 24 bits, the
// records around the constant included.
func TestSemilinearIsExactUpTo24Bits(t *testing.T) {
	h := harness.Open(t)
	for n, top := range []int64{1000, 1 << 17, 1<<24 - 40} {
		b := table.NewBuilder(fmt.Sprintf("t%d", n), []table.Field{{Name: "a", Type: harness.BigInt}, {Name: "b", Type: harness.BigInt}}, 0)
		const rows = 600
		for i := range int64(rows) {
			b.Column(0).Int(top * i / rows)
			b.Column(1).Int(i % 32)
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		tab := b.Table()
		h.Register(t, tab)
		for op := expr.LT; op <= expr.GT; op++ {
			for _, i := range []int64{0, 1, 299, 300, 598, 599} {
				for _, beside := range []int64{-1, 0, 1} {
					k := top*i/rows + i%32 + beside
					want := 0
					for r := range int64(rows) {
						want += draw.Int(op.Holds(cmp.Compare(top*r/rows+r%32, k)))
					}
					text := fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE a + b %v %d", tab.Name, op, k)
					h.Backends(t, tab, text, []table.Value{table.Int(int64(want))}, nil)
				}
			}
		}
	}
}
