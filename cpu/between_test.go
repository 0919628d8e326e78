package cpu

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// Of the rows of any block those stay whose codes are in the range.
func TestBetween(t *testing.T) {
	integer := table.Type{Kind: table.BigInt}
	build := table.NewBuilder("t", []table.Field{{Name: "a", Type: integer}, {Name: "b", Type: integer}}, 0)
	const rows = 1<<16 + 1000
	for i := range rows {
		for c, most := range []int{100, 100_000} {
			v := table.Int(int64(i * 7919 % most))
			if c == 1 && i%13 == 0 {
				v = table.Null(integer)
			}
			build.Column(c).Value(v)
		}
		if err := build.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	chunk := build.Table().Chunks[0]
	rapid.Check(t, func(t *rapid.T) {
		s := chunk.Segments[rapid.IntRange(0, 1).Draw(t, "column")]
		lo, hi := rapid.Uint64Range(0, s.Max+200).Draw(t, "lo"), rapid.Uint64Range(0, s.Max+200).Draw(t, "hi")
		if rapid.IntRange(0, 3).Draw(t, "one code") == 0 {
			hi = lo
		}
		nulls := rapid.Bool().Draw(t, "nulls")
		first := rapid.IntRange(0, rows-1).Draw(t, "first")
		b := table.Block{First: first, N: rapid.IntRange(0, rows-first).Draw(t, "n")}
		if rapid.Bool().Draw(t, "a list of rows") {
			list := []uint32{}
			for i := 0; i < b.N; i += 3 {
				list = append(list, uint32(first+i))
			}
			b = table.Block{Rows: list}
		}
		var want []uint32
		for i := range b.Len() {
			row := b.Row(i)
			code := s.Codes.At(row)
			if s.IsNull(row) && nulls || !s.IsNull(row) && code >= lo && code <= hi {
				want = append(want, uint32(row))
			}
		}
		if got := Between(s, b, lo, hi, nulls).Rows; !slices.Equal(got, want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
	})
}
