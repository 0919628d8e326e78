package debugger

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// The span of a record's value is that of the records with smaller values and with no larger ones. Its
// beginning leads back to a value that tells them apart.
func TestNumberLinesGoByRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-1e9, 1e9),
			rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64})), 1, 60).Draw(t, "numbers")
		floats := rapid.Bool().Draw(t, "floating point")
		typ := table.Type{Kind: table.BigInt}
		if floats {
			typ.Kind = table.Double
		}
		b := table.NewBuilder("t", []table.Field{{Name: "x", Type: typ}}, rapid.SampledFrom([]int{0, 7}).Draw(t, "chunk rows"))
		for i, x := range numbers {
			switch {
			case i%5 == 4:
				b.Column(0).Null()
			case floats:
				b.Column(0).Float(x)
			case math.Abs(x) > 1e9 || math.IsNaN(x):
				b.Column(0).Int(rapid.Int64().Draw(t, "integer"))
			default:
				b.Column(0).Int(int64(x))
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		tab := b.Table()
		a := newAxis(tab, 0)
		var values []table.Value
		for _, c := range tab.Chunks {
			for row := range c.Rows {
				if v := c.Segments[0].Value(row); !v.Null {
					values = append(values, v)
				}
			}
		}
		span := func(v table.Value) (from, to float64) {
			for _, x := range values {
				if c := table.Compare(x, v); c < 0 {
					from++
					to++
				} else if c == 0 {
					to++
				}
			}
			return from / float64(len(values)), to / float64(len(values))
		}
		for _, v := range values {
			from, to := a.span(v, false)
			wantFrom, wantTo := span(v)
			if from != wantFrom || to != wantTo {
				t.Fatalf("%v of %v spans %v to %v, want %v to %v", v, values, from, to, wantFrom, wantTo)
			}
			back := a.at(from, false)
			if f, _ := span(back); f != from || table.Compare(back, v) > 0 {
				t.Fatalf("%v begins at %v, where %v lies, below which are %v of the records", v, from, back, f)
			}
			if place, _ := a.span(v, true); !math.IsNaN(v.F) && !math.IsInf(v.F, 0) && math.Abs(number(a.at(place, true))-number(v)) > max(1, a.step, 1e-9*(a.hi/2-a.lo/2)) {
				t.Fatalf("in proportion %v lies at %v, where %v lies", v, place, a.at(place, true))
			}
		}
		for _, place := range []float64{-1, 0, 0.3, 0.9, 1, 2} {
			if v := a.at(place, true); math.IsNaN(v.F) || math.IsInf(v.F, 0) {
				t.Fatalf("in proportion %v lies at %v", v, place)
			}
			if from, to := a.span(a.at(place, false), false); from > max(place, 0)+1e-9 || to < min(place, 1)-1e-9 && from != to {
				t.Fatalf("place %v is that of %v to %v", place, from, to)
			}
		}
		for _, steps := range []float64{1, -1} { // there is a way from any value to the ends
			v, last := values[0], values[0]
			for i := 0; i < 2000 && (i == 0 || table.Compare(v, last) != 0); i++ {
				v, last = a.nudged(v, steps*10), v
				if c := table.Compare(v, last); c != 0 && (c > 0) != (steps > 0) {
					t.Fatalf("nudged by %v from %v to %v", steps*10, last, v)
				}
			}
		}
	})
}
