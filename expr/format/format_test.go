package format_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/expr/format"
)

// A time that a pattern writes is the one that it reads: at fixed places, and where digits are left out.
func TestTimesAreReadAsTheyAreWritten(t *testing.T) {
	patterns := []string{"YYYY-MM-DD HH24:MI:SS.US", "FMDD. FMMonth YYYY, FMHH12:MI:SS.US AM", "YYYY DDD HH24MISS US"}
	rapid.Check(t, func(t *rapid.T) {
		m := calendar.At(rapid.Int64Range(0, 4_000_000_000_000_000).Draw(t, "microseconds"))
		for _, text := range patterns {
			p := format.NewTimePattern(text)
			written := string(p.Append(nil, m))
			if got, err := p.Read(written); got != m || err != nil {
				t.Fatalf("%+v is %q by %q, which is read as %+v, %v", m, written, text, got, err)
			}
		}
	})
}

// Numbers as PostgreSQL writes them.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		pattern, want string
		unscaled      int64
		scale         int
	}{
		{"9,999.99", " 1,234.57", 1234567, 3}, {"FM9999.99", "-1.5", -15, 1}, {"000", " 007", 7, 0}, {"99", " ##", 100, 0},
		{"FMRN", "MCMXCIX", 1999, 0}, {"9.99EEEE", " 1.23e+04", 12345, 0}, {"999th", "  22nd", 22, 0}, {"999PR", "  <5>", -5, 0},
	} {
		p, err := format.NewNumberPattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Decimal(big.NewInt(c.unscaled), c.scale, false); got != c.want {
			t.Errorf("%d / 10^%d by %s is %q, want %q", c.unscaled, c.scale, c.pattern, got, c.want)
		}
	}
	if _, err := format.NewNumberPattern("9.9.9"); err == nil {
		t.Error("a pattern has two points")
	}
}
