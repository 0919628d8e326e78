package workload

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

func TestLadders(t *testing.T) {
	for rows, want := range map[int][]int{
		1: {1}, 20: {1, 2, 5, 10, 20}, 1_000_000: {62_500, 125_000, 250_000, 500_000, 1_000_000},
		1_200_000: {75_000, 150_000, 300_000, 600_000, 1_200_000}, 16_000_000: {1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000},
		1 << 28: {1_000_000, 1 << 22, 1 << 24, 1 << 26, 1 << 28},
	} {
		if got := Ladder(rows); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", rows, got, want)
		}
	}
}

// The first rows of a table are the same rows.
func TestFirstRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, rapid.IntRange(10, 200).Draw(t, "rows of a chunk"))
		rows := rapid.IntRange(1, 150).Draw(t, "rows")
		bits := rapid.IntRange(1, 40).Draw(t, "bits")
		for range rows {
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				b.Column(0).Null()
			} else {
				b.Column(0).Int(rapid.Int64Range(0, 1<<bits).Draw(t, "value"))
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		n := rapid.IntRange(1, rows).Draw(t, "n")
		whole := b.Table()
		part, err := FirstRows(whole, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Check(); err != nil || part.Rows() != n {
			t.Fatalf("%d rows, want %d: %v", part.Rows(), n, err)
		}
		values := func(t *table.Table) (list []table.Value) {
			for _, c := range t.Chunks {
				for i := range c.Rows {
					list = append(list, c.Segments[0].Value(i))
				}
			}
			return list
		}
		if want := values(whole)[:n]; !slices.Equal(values(part), want) {
			t.Fatalf("%v, want %v", values(part), want)
		}
	})
}
