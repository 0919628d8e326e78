package aggregation

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/plantest"
)

// As many values are different as a map of them has, whether codes are near one another or far.
func TestCountDistinctCountsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := plantest.Table(t, plantest.Default())
		for col := range tab.Fields {
			values := map[string]bool{}
			for _, c := range tab.Chunks {
				for row := range c.Rows {
					if v := c.Segments[col].Value(row); c.IsLive(row) && !v.Null {
						v.F += 0 // 0 for -0
						values[v.String()] = true
					}
				}
			}
			if n, err := CountDistinct(context.Background(), tab, col); err != nil || n != int64(len(values)) {
				t.Fatalf("%s: %d, %v, want %d", tab.Fields[col].Name, n, err, len(values))
			}
		}
	})
}
