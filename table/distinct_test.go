package table_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// The values of a column are counted where the sample has all rows, and else estimated within a factor of 1.5.
func TestDistinct(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		rows   int
		value  func(i int) int64 // negative for NULL
		actual int
	}{
		"few":           {200_000, func(int) int64 { return 1000 * draw.Int64N(7) }, 7},
		"thousands":     {200_000, func(int) int64 { return 1000 * draw.Int64N(5000) }, 5000},
		"all different": {200_000, func(i int) int64 { return 977 * int64(i) }, 200_000},
		"dense":         {200_000, func(int) int64 { return draw.Int64N(150_000) }, 110_000},
		"four in a row": {200_000, func(i int) int64 { return 4 * int64(i/4) }, 50_000},
		"half NULL":     {200_000, func(i int) int64 { return int64(i%2*1001) - 1 + int64(i%2)*draw.Int64N(300) }, 300},
		"small":         {1000, func(i int) int64 { return int64(i % 499) }, 499},
		"one":           {200_000, func(int) int64 { return 5 }, 1},
		"NULL":          {10, func(int) int64 { return -1 }, 0},
		"none":          {0, nil, 0},
	} {
		b := table.NewBuilder("t", []table.Field{{Name: "x", Type: table.Type{Kind: table.BigInt}}}, 0)
		for i := range c.rows {
			if v := c.value(i); v < 0 {
				b.Column(0).Null()
			} else {
				b.Column(0).Int(v)
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		got := 0
		for _, chunk := range b.Table().Chunks {
			got = chunk.Segments[0].Distinct()
		}
		if q := math.Max(float64(got+1)/float64(c.actual+1), float64(c.actual+1)/float64(got+1)); q > 1.5 || c.rows < 4096 && got != c.actual {
			t.Errorf("%s: %d values, not %d", name, got, c.actual)
		}
	}
}

// A sample has each row of a small table, some thousand of a larger one in their order, and none that is deleted.
func TestSample(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: table.Type{Kind: table.BigInt}}}, 7000)
	for i := range 20_000 {
		b.Column(0).Int(int64(i))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	list := b.Table().Sample()
	if len(list) != 4096 {
		t.Errorf("%d rows", len(list))
	}
	for i, p := range list[1:] {
		if last := list[i]; p.Chunk < last.Chunk || p.Chunk == last.Chunk && p.Row <= last.Row {
			t.Fatalf("%v after %v", p, last)
		}
	}
}
