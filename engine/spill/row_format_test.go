package spill

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// Rows of any types that are packed in pieces, of one chunk or of several, are the same once they are unpacked.
func TestRowFormat(t *testing.T) {
	types := []table.Type{{Kind: table.Unknown}, {Kind: table.Boolean}, {Kind: table.SmallInt}, {Kind: table.Integer}, {Kind: table.BigInt}, {Kind: table.Decimal, Precision: 18, Scale: 3}, {Kind: table.Real}, {Kind: table.Double},
		{Kind: table.Varchar}, {Kind: table.Date}, {Kind: table.Timestamp}, {Kind: table.Interval}, {Kind: table.Interval}}
	var fields []table.Field
	for i, typ := range types {
		fields = append(fields, table.Field{Name: fmt.Sprint("c", i), Type: typ})
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 3000).Draw(t, "rows")
		span, nulls := rapid.SampledFrom([]int64{1, 200, 60_000, 1 << 31, math.MaxInt64}).Draw(t, "span"), rapid.SampledFrom([]int{1, 2, 10, 10_000}).Draw(t, "nulls")
		b := table.NewBuilder("t", fields, rapid.SampledFrom([]int{64, 1024, 0}).Draw(t, "chunk"))
		for row := range rows {
			h := int64(uint64(row+1)*0x9e3779b97f4a7c15>>1) % span
			for i, typ := range types {
				v := table.Value{Type: typ, I: h, F: float64(float32(h)) / 8, S: fmt.Sprint("text ", h), Null: (row+i)%nulls == nulls-1 || typ.Kind == table.Unknown}
				switch typ.Kind {
				case table.Boolean:
					v.I = h % 2
				case table.SmallInt, table.Integer, table.Date, table.Timestamp:
					v.I = h%60_000 - 30_000
				case table.Interval:
					v = table.IntervalValue(h%1_000_000, table.Span{})
					if i == len(types)-1 {
						v = table.IntervalValue(h%1_000_000+table.MicrosPerMonth*(h%7), table.Span{Months: int32(h % 7)})
					}
					v.Null = row%nulls == nulls-1
				}
				if v.Null {
					v = table.Null(typ)
				}
				b.Column(i).Value(v)
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		in := b.Table()
		columns := make([]int, len(fields))
		for i := range columns {
			columns[i] = i
		}
		var data []byte
		var want []string
		line := func(c *table.Chunk, row int) (out string) {
			for i := range fields {
				v := c.Segments[i].Value(row)
				out += fmt.Sprint(v.Null, v, " ")
			}
			return out
		}
		for _, c := range in.Chunks {
			for from := 0; from < c.Rows; {
				var list []uint32
				for n := rapid.IntRange(1, 700).Draw(t, "piece"); n > 0 && from < c.Rows; n-- {
					list, want = append(list, uint32(from)), append(want, line(c, from))
					from += 1 + from%2
				}
				data = AppendRows(data, c, list, columns)
			}
		}
		if got := CountRows(data); got != len(want) {
			t.Fatalf("%d rows of %d", got, len(want))
		}
		out := table.NewBuilder("t", fields, 0)
		if err := ReadRows(out, fields, data); err != nil {
			t.Fatal(err)
		}
		c := out.Table().Chunks[0]
		for row := range want {
			if got := line(c, row); got != want[row] {
				t.Fatalf("row %d: %s, not %s", row, got, want[row])
			}
		}
		for _, s := range c.Segments {
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
