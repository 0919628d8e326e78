package interval_test

import (
	"math"
	"testing"

	"github.com/stencildb/stencildb/expr/interval"
)

// Texts of all three forms, and what is none.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"1 year 2 mons 3 days 04:05:06.789": "1 year 2 mons 3 days 04:05:06.789", "1-2 3 04:05:06": "1 year 2 mons 3 days 04:05:06",
		"P1Y2M3DT4H5M6.7S": "1 year 2 mons 3 days 04:05:06.7", "1.5 months ago": "-1 mons -15 days", "90 m": "01:30:00", "7": "00:00:07",
		"": "", "1 parsec": "", "P1X": "", "01:61:00": "",
	} {
		s, ok := interval.Parse(text)
		if ok != (want != "") {
			t.Errorf("%q is an interval: %t", text, ok)
		}
		if !ok {
			continue
		}
		if v, fits := s.Value(); v.String() != want || !fits {
			t.Errorf("%q is %s, want %s", text, v, want)
		}
	}
	if _, fits := interval.Of(math.MaxInt64, 0, 0).Value(); fits {
		t.Error("an interval has room for 2^63 - 1 months")
	}
}
