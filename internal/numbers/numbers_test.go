package numbers

import (
	"math"
	"testing"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 65536: "65,536",
		1234567: "1,234,567", math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	if got := Grouped(uint64(math.MaxUint64)); got != "18,446,744,073,709,551,615" {
		t.Errorf("the largest is %s", got)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 passes", 1: "1 pass", 2: "2 passes", 1200: "1,200 passes"} {
		if got := Count(n, "pass", "passes"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
