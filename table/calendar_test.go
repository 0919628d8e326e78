package table

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFormatDate(t *testing.T) {
	for _, c := range []struct {
		days int64
		want string
	}{
		{0, "1970-01-01"},
		{-1, "1969-12-31"},
		{59, "1970-03-01"},
		{11016, "2000-02-29"},
		{-719162, "0001-01-01"},
		{-719163, "0001-12-31 BC"},
		{-719528, "0001-01-01 BC"},
		{-719529, "0002-12-31 BC"},
		{-2440588, "4714-11-24 BC"}, // Julian day 0
		{2932896, "9999-12-31"},
		{2932897, "10000-01-01"},
		{math.MaxInt32, "5881580-07-11"},
		{math.MinInt32, "5877642-06-23 BC"},
		{math.MaxInt64, "25252734927768524-07-27"},
		{math.MinInt64, "25252734927764586-06-07 BC"},
	} {
		if got := FormatDate(c.days); got != c.want {
			t.Errorf("FormatDate(%d) = %q, want %q", c.days, got, c.want)
		}
	}
}

func TestFormatTimestamp(t *testing.T) {
	for _, c := range []struct {
		us   int64
		want string
	}{
		{0, "1970-01-01 00:00:00"},
		{-1, "1969-12-31 23:59:59.999999"},
		{1, "1970-01-01 00:00:00.000001"},
		{500_000, "1970-01-01 00:00:00.5"},
		{1_700_000_000_123_450, "2023-11-14 22:13:20.12345"},
		{-719163*MicrosPerDay + MicrosPerDay/2, "0001-12-31 12:00:00 BC"},
		{math.MaxInt64, "294247-01-10 04:00:54.775807"},
		{math.MinInt64, "290309-12-21 19:59:05.224192 BC"},
	} {
		if got := FormatTimestamp(c.us); got != c.want {
			t.Errorf("FormatTimestamp(%d) = %q, want %q", c.us, got, c.want)
		}
	}
}

// Package time is the oracle where its own range allows it.
func TestCalendarAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.Int64Range(-100_000_000, 100_000_000).Draw(t, "days")
		tm := time.Unix(days*86400, 0).UTC()
		y, m, d := CivilFromDays(days)
		if int(y) != tm.Year() || m != int(tm.Month()) || d != tm.Day() {
			t.Fatalf("CivilFromDays(%d) = %d-%d-%d, time says %v", days, y, m, d, tm)
		}
		if back := DaysFromCivil(y, m, d); back != days {
			t.Fatalf("DaysFromCivil(%d, %d, %d) = %d, want %d", y, m, d, back, days)
		}
		if want := time.Date(int(y), time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day(); DaysInMonth(y, m) != want {
			t.Fatalf("DaysInMonth(%d, %d) = %d, want %d", y, m, DaysInMonth(y, m), want)
		}
	})
}

func TestFormatDateOfAnyDayAndTheNextDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(math.MinInt64, math.MaxInt64-1).Draw(t, "days")
		if a, b := FormatDate(d), FormatDate(d+1); a == b {
			t.Fatalf("days %d and %d are both %s", d, d+1, a)
		}
	})
}

// As PostgreSQL 15 prints differences of timestamps.
func TestFormatInterval(t *testing.T) {
	const second, day = int64(1_000_000), MicrosPerDay
	for us, want := range map[int64]string{
		0:                                    "00:00:00",
		1:                                    "00:00:00.000001",
		-1:                                   "-00:00:00.000001",
		500_000:                              "00:00:00.5",
		day - 1:                              "23:59:59.999999",
		day:                                  "1 day",
		-day:                                 "-1 days",
		day + 3600*second:                    "1 day 01:00:00",
		-day - 3600*second:                   "-1 days -01:00:00",
		2 * day:                              "2 days",
		3652055*day + 86340*second + 999_999: "3652055 days 23:59:00.999999",
		math.MaxInt64:                        "106751991 days 04:00:54.775807",
		math.MinInt64:                        "-106751991 days -04:00:54.775808",
	} {
		if got := IntervalValue(us, Span{}).String(); got != want {
			t.Errorf("the interval of %d is %q, want %q", us, got, want)
		}
	}
	for _, c := range []struct {
		months int32
		days   int64
		us     int64
		want   string
	}{
		{14, 3, second, "1 year 2 mons 3 days 00:00:01"}, {-1, 0, 0, "-1 mons"}, {-12, 2, 0, "-1 years +2 days"},
		{1, 0, -second, "1 mon -00:00:01"}, {-1, 0, second, "-1 mons +00:00:01"}, {24, -1, 0, "2 years -1 days"},
		{0, 0, 36 * 3600 * second, "36:00:00"}, {0, 1, -30 * 3600 * second, "1 day -30:00:00"}, {0, 0, math.MinInt64, "-2562047788:00:54.775808"},
	} {
		if got := FormatInterval(c.months, c.days, c.us); got != c.want {
			t.Errorf("FormatInterval(%d, %d, %d) is %q, want %q", c.months, c.days, c.us, got, c.want)
		}
	}
}

// The limits of DATE and TIMESTAMP are PostgreSQL's, in days and in words.
func TestLimits(t *testing.T) {
	date, stamp := Type{Kind: Date}, Type{Kind: Timestamp}
	for _, c := range []struct {
		t      Type
		lo, hi string
	}{
		{date, "4714-11-24 BC", "5874897-12-31"},
		{stamp, "4714-11-24 00:00:00 BC", "294247-01-10 04:00:54.775807"},
		{Type{Kind: SmallInt}, "-32768", "32767"},
		{Type{Kind: Integer}, "-2147483648", "2147483647"},
		{Type{Kind: BigInt}, "-9223372036854775808", "9223372036854775807"},
		{Type{Kind: Decimal, Precision: 3, Scale: 2}, "-9.99", "9.99"},
		{Type{Kind: Decimal, Precision: 18}, "-999999999999999999", "999999999999999999"},
	} {
		lo, hi := c.t.Limits()
		if got := (Value{Type: c.t, I: lo}).String(); got != c.lo {
			t.Errorf("%s begins with %s, want %s", c.t, got, c.lo)
		}
		if got := (Value{Type: c.t, I: hi}).String(); got != c.hi {
			t.Errorf("%s ends with %s, want %s", c.t, got, c.hi)
		}
		if !c.t.Holds(lo) || !c.t.Holds(hi) || lo != math.MinInt64 && c.t.Holds(lo-1) || hi != math.MaxInt64 && c.t.Holds(hi+1) {
			t.Errorf("%s does not hold what lies within %d and %d alone", c.t, lo, hi)
		}
	}
}
