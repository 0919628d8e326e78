package table_test

import (
	"testing"

	"github.com/stencildb/stencildb/table"
)

// A sample has rows of all chunks, as they are, and knows which of them are deleted.
func TestSampled(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 1000)
	for i := range int64(4000) {
		b.Column(0).Value(table.Int(i))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	var gone []int
	for row := 0; row < 1000; row += 3 {
		gone = append(gone, row)
	}
	c, err := tab.Chunks[1].Delete(gone)
	if err != nil {
		t.Fatal(err)
	}
	tab.Chunks[1] = c
	sample := tab.Sampled(800, tab.All())
	if err := sample.Check(); err != nil {
		t.Fatal(err)
	}
	last := int64(-1)
	for i, c := range sample.Chunks {
		if c.Rows < 190 || c.Rows > 210 {
			t.Errorf("chunk %d: %d rows", i, c.Rows)
		}
		live := 0
		for row := range c.Rows {
			v := c.Segments[0].Value(row).I
			if v <= last || v/1000 != int64(i) {
				t.Fatalf("chunk %d: %d behind %d", i, v, last)
			}
			last = v
			if want := i != 1 || v%1000%3 != 0; c.IsLive(row) != want {
				t.Errorf("row %d: live is %v", v, !want)
			}
			if c.IsLive(row) {
				live++
			}
		}
		if c.Live() != live {
			t.Errorf("chunk %d: %d rows are live, %d", i, live, c.Live())
		}
	}
}
