package debugger

import (
	"context"
	"testing"

	"github.com/stencildb/stencildb/textures"
)

// What lies in the stencil buffer after each pass is among the values of the legend.
func TestTheLegendHasTheStencilValues(t *testing.T) {
	tab := flights(t, 700)
	for _, sql := range []string{
		cnf,
		"SELECT MEDIAN(delay), MAX(distance), SUM(delay) FROM flights WHERE distance > 700 OR delay BETWEEN 3 AND 30",
		"SELECT COUNT(*), kth_largest(distance, 3) FROM flights WHERE NOT (delay < 20 AND distance < 500) AND delay <> 7",
		"SELECT COUNT(*) FROM flights WHERE delay > 3 AND distance < 900 OR delay < -5 AND distance > 300 OR delay = 12",
	} {
		d := open(t, tab, sql)
		seen := map[int]bool{}
		for step := range d.Last() + 1 {
			d.goes(t, step)
			if d.scene.target == nil || !d.scene.target.stencil {
				continue
			}
			sh := textures.ShapeOf(d.scene.chunk.Rows)
			err := d.gl.Do(context.Background(), func() error {
				return d.stage.Runner.Lend(func() error {
					for row := range d.scene.chunk.Rows {
						v := d.scene.texel(row%sh.Width, row/sh.Width).stencil
						seen[v] = true
						if !d.scene.target.values[v] {
							t.Errorf("%s, step %d: record %d has %d, the legend %v", sql, step, row, v, d.scene.target.values.list())
							break
						}
					}
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
