package debugger

import (
	"fmt"
	"testing"

	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/table"
)

// million is a table of 2^20 flights: the embedded ones, again and again.
func million(b *testing.B) *table.Table {
	b.Helper()
	all, err := lesson.Load()
	if err != nil {
		b.Fatal(err)
	}
	out := table.NewBuilder(all.Name, all.Fields[:2], 0)
	segments := all.Chunks[0].Segments
	for i := range 1 << 20 {
		row := i % all.Rows()
		out.Column(0).Int(segments[0].Value(row).I)
		out.Column(1).Int(segments[1].Value(row).I)
		if err := out.EndRow(); err != nil {
			b.Fatal(err)
		}
	}
	return out.Table()
}

// BenchmarkFrame is a frame over 2^20 records. It is drawn again where nothing changed, a step on, and
// with another constant, which executes the statement anew.
func BenchmarkFrame(b *testing.B) {
	t := million(b)
	for _, sql := range []string{
		"SELECT COUNT(*) FROM flights WHERE delay > 15 AND (distance < 700 OR delay > 120)",
		"SELECT COUNT(*) FROM flights WHERE delay > 15 AND distance < 700",
		"SELECT MEDIAN(delay) FROM flights WHERE distance > 1000",
	} {
		for _, c := range []struct {
			what string
			next func(d *Demo, i int)
		}{
			{"still", func(*Demo, int) {}},
			{"step", func(d *Demo, i int) { d.Go(1 + i%len(d.Passes)) }},
			{"sweep", func(d *Demo, i int) {
				d.held, d.Linear = constantGrip, true // by rank neighbouring places are often of one value
				d.Go(d.Last())
				d.Set(float64(100+i%200) / 400)
			}},
		} {
			b.Run(fmt.Sprintf("%s/%s", sql[7:], c.what), func(b *testing.B) {
				d := open(b, t, sql)
				d.Resize(DefaultWidth, DefaultHeight)
				i := 0
				for b.Loop() {
					c.next(d, i)
					if err := d.Frame(); err != nil || d.problem != "" {
						b.Fatal(err, d.problem)
					}
					i++
				}
			})
		}
	}
}
