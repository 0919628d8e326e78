package expr_test

import (
	"math"
	"regexp"
	"testing"

	"github.com/stencildb/stencildb/expr"
)

// Numbers of rows and seeds are spread evenly over [0, 1), and the UUIDs are different ones of version 4.
func TestRandomOfRows(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	const rows = 20_000
	seen, beginnings, tenths := map[string]bool{}, map[string]bool{}, [10]int{}
	for row := range int64(rows) {
		r, id := expr.Random(row, 7), expr.UUID(row, 7)
		if !form.MatchString(id) || seen[id] || !(r >= 0 && r < 1) {
			t.Fatalf("row %d: %s, %v", row, id, r)
		}
		seen[id], beginnings[id[:8]] = true, true
		tenths[int(10*r)]++
		if r == expr.Random(row, 8) || id == expr.UUID(row, 8) {
			t.Fatalf("row %d has the same of two seeds", row)
		}
	}
	for i, n := range tenths { // of each 2,000 are expected, give or take 42
		if math.Abs(float64(n)-rows/10) > 250 {
			t.Errorf("%d of %d numbers are from %.1f on", n, rows, float64(i)/10)
		}
	}
	if len(beginnings) < rows-5 {
		t.Errorf("%d UUIDs begin in %d ways", rows, len(beginnings))
	}
}
