package generate

import (
	"strings"
	"testing"
)

// The tables of DBmbench have the ranges of the text; each a1 is in t2 once, and t1 refers to it.
func TestDBmbench(t *testing.T) {
	list, err := dbmbench(0.01)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	once := map[int64]int{}
	for i, want := range []int{160_000, 1500} {
		tab, err := list[i].Generate(t.Context(), list[i].DefaultRows, 1, 0)
		if err != nil || tab.Rows() != want {
			t.Fatal(tab, err)
		}
		seen := [3]map[int64]int{{}, {}, {}}
		for row := range tab.Rows() {
			of := tab.Chunks[0].Segments
			for k := range seen {
				seen[k][of[k].Value(row).I]++
			}
			if s := of[3].Value(row).S; len(s) != 88 || strings.Trim(s, s[:1]) != "" {
				t.Fatalf("padding %q", s)
			}
		}
		for k, most := range []int64{1500, 20_000, 50} {
			for v := range seen[k] {
				if v < 1 || v > most {
					t.Errorf("%s.a%d has %d", list[i].Name, k+1, v)
				}
			}
		}
		if len(seen[0]) != 1500 || len(seen[2]) != 50 || i == 0 && len(seen[1]) < 19_900 {
			t.Errorf("%s has %d, %d and %d values", list[i].Name, len(seen[0]), len(seen[1]), len(seen[2]))
		}
		once = seen[0]
	}
	for v, n := range once {
		if n != 1 {
			t.Errorf("t2 has a1 = %d %d times", v, n)
		}
	}
	for _, scale := range []float64{0, -1, 101} {
		if _, err := dbmbench(scale); err == nil || !strings.Contains(err.Error(), "0.0001 to 100") {
			t.Errorf("scale %v: %v", scale, err)
		}
	}
}
