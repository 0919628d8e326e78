package debugger

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/textures"
)

// The legend has the values that lie in the stencil buffer after each pass, and no others.
func TestTheLegendHasTheStencilValues(t *testing.T) {
	tab := flights(t, 700)
	for _, sql := range []string{
		cnf,
		"SELECT MEDIAN(delay), MAX(distance), SUM(delay) FROM flights WHERE distance > 700 OR delay BETWEEN 3 AND 30",
		"SELECT COUNT(*), kth_largest(distance, 3) FROM flights WHERE NOT (delay < 20 AND distance < 500) AND delay <> 7",
		"SELECT COUNT(*) FROM flights WHERE delay > 3 AND distance < 900 OR delay < -5 AND distance > 300 OR delay = 12",
	} {
		d := open(t, tab, sql)
		seen := map[uint8]bool{}
		for step := range d.Last() + 1 {
			d.goes(t, step)
			if d.scene.target == nil || !d.scene.target.stencil {
				continue
			}
			sh := textures.ShapeOf(d.scene.chunk.Rows)
			err := d.gl.Do(context.Background(), func() error {
				return d.stage.Runner.Lend(func() error {
					held := map[uint8]bool{}
					for row := range d.scene.chunk.Rows {
						held[uint8(d.scene.texel(row%sh.Width, row/sh.Width).stencil)] = true
					}
					if want := slices.Sorted(maps.Keys(held)); !slices.Equal(d.scene.stencilValues(), want) {
						t.Errorf("%s, step %d: records have %v, the legend %v", sql, step, want, d.scene.stencilValues())
					}
					maps.Copy(seen, held)
					return d.gl.Check("stencil values")
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(seen) < 2 {
			t.Errorf("%s: stencil values %v only", sql, seen)
		}
	}
}
