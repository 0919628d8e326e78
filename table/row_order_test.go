package table_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// Texts of rows are those of the dictionary, whatever rows are asked for, by several at once; what they take is counted, and given back.
func TestTextsInto(t *testing.T) {
	const rows = 3*8192 + 100
	for _, repeats := range []int{1, 2, 5, 10_000} {
		draw := rand.New(rand.NewPCG(1, uint64(repeats)))
		b := table.NewBuilder("t", []table.Field{{Name: "s", Type: table.Type{Kind: table.Varchar}}}, 0)
		var want []string
		for i := range rows {
			text := ""
			switch {
			case i%9 == 4:
				b.Column(0).Null()
			default:
				if i%11 > 0 {
					text = fmt.Sprint(draw.IntN(10), " of ", i/repeats)
				}
				b.Column(0).String(text)
			}
			want = append(want, text)
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		c := b.Table().Chunks[0]
		s := c.Segments[0]
		before := s.Bytes()
		check := func(s *table.Segment, from int, b table.Block) {
			out := make([]string, b.Len())
			s.TextsInto(out, b)
			for i, text := range out {
				if row := from + b.Row(i); text != want[row] {
					t.Errorf("row %d of a dictionary of %d: %q, not %q", row, len(s.Dict), text, want[row])
					return
				}
			}
		}
		var wg sync.WaitGroup
		for range 4 {
			seed := draw.Uint64()
			wg.Go(func() {
				draw := rand.New(rand.NewPCG(seed, 2))
				some := func(n int) (list []uint32) {
					for range n {
						list = append(list, uint32(draw.IntN(rows)))
					}
					return list
				}
				check(s, 0, table.Block{Rows: some(50)})
				first := draw.IntN(rows)
				check(s, 0, table.Block{First: first, N: draw.IntN(rows - first)})
				check(s, 0, table.Block{Rows: some(9000)})
				sorted := some(9000)
				slices.Sort(sorted)
				check(s, 0, table.Block{Rows: sorted})
				for i, w := range c.Windows(4096) {
					check(w.Segments[0], 4096*i, table.Block{N: w.Rows})
					check(w.Segments[0], 4096*i, table.Block{Rows: []uint32{uint32(w.Rows - 1), 0, 1}})
				}
				check(s, 0, table.Block{N: rows})
			})
		}
		wg.Wait()
		kept, nearlyUnique := s.Bytes()-before, 2*len(s.Dict) >= rows
		if (kept > 0) != nearlyUnique || kept > 2*before {
			t.Errorf("a dictionary of %d: %d bytes kept beside %d", len(s.Dict), kept, before)
		}
		if freed := b.Table().DropRowOrder(); freed != int64(kept) || s.Bytes() != before {
			t.Errorf("a dictionary of %d: %d bytes given back of %d", len(s.Dict), freed, kept)
		}
		check(s, 0, table.Block{N: rows})
	}
}
