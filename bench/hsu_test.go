//go:build sqlite

package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/bench/render"
	"github.com/stencildb/stencildb/papers/hsu"
)

// With SQLite each of our systems has a turning point beside both of its forms, or is ahead or behind everywhere. The table says which.
func TestTurningPointsBesideSQLite(t *testing.T) {
	s, err := suite(t, "hsu").OnlyFigures("table4-4")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), ready(t, 500))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Results {
		ours := slices.Contains([]string{"gpu", hsu.SQLCompute, hsu.SQLCPU, hsu.SQLAuto}, x.System)
		for _, over := range []string{hsu.SQLiteIndex, hsu.SQLiteScan} {
			said := 0
			for name := range x.Counters {
				if strings.HasSuffix(name, ", beside "+over) && !strings.HasPrefix(name, "turning point, %") && !strings.HasPrefix(name, "slope") {
					said++
				}
			}
			if ours != (said == 1) {
				t.Errorf("%s over %d records on %s, beside %s: %v", x.Operation, x.Rows, x.System, over, x.Counters)
			}
		}
	}
	tables := render.Of(r).Published(s.Figures[0])
	if len(tables) < 2 || len(tables[0].Rows) != 1+len(hsu.Turning) {
		t.Fatalf("%+v", tables)
	}
	for _, table := range tables {
		if strings.Contains(table.Title, "slope") {
			continue
		}
		for _, row := range table.Rows[1:] {
			for c, cell := range row {
				if cell == "–" {
					t.Errorf("%s: %s: nothing in column %s", table.Title, row[0], table.Rows[0][c])
				}
			}
		}
	}
}
