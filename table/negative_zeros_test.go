package table

import (
	"math"
	"math/rand/v2"
	"testing"
)

// -0 comes back from a column of many blocks, from its windows, and from rows that are listed, and has the code of 0.
func TestNegativeZerosOfManyRows(t *testing.T) {
	negative := math.Copysign(0, -1)
	for _, typ := range []Type{{Kind: Double}, {Kind: Real}} {
		const rows = 3*blockRows + 100
		r := rand.New(rand.NewPCG(1, 2))
		b, values := NewBuilder("t", []Field{{Name: "x", Type: typ}}, 0), make([]float64, rows)
		for i := range values {
			switch values[i] = float64(r.IntN(3) - 1); {
			case i%5 == 0:
				values[i] = negative
			case i%1000 == 1:
				values[i] = math.NaN()
			}
			v := Float(values[i])
			v.Type = typ
			b.Column(0).Value(v)
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		tab := b.Table()
		same := func(what string, got Value, i int) {
			t.Helper()
			if want := values[i]; got.F != want && !math.IsNaN(want) || math.Signbit(got.F) != math.Signbit(want) && !math.IsNaN(want) {
				t.Fatalf("%v, %s, row %d: %v, want %v", typ, what, i, got.F, want)
			}
		}
		chunk := tab.Chunks[0]
		seg := chunk.Segments[0]
		for i := range values {
			same("whole", seg.Value(i), i)
		}
		first := 0
		for _, w := range chunk.Windows(1024) {
			for i := range w.Rows {
				same("window", w.Segments[0].Value(i), first+i)
			}
			first += w.Rows
		}
		var list []uint32
		for range 500 {
			list = append(list, uint32(r.IntN(rows)))
		}
		some := seg.Of(list)
		for i, row := range list {
			same("listed", some.Value(i), int(row))
		}
		if seg.Codes.At(0) != seg.Codes.At(5) || !seg.NegativeZeros.Get(0) {
			t.Errorf("%v: -0 is not marked", typ)
		}
	}
}
