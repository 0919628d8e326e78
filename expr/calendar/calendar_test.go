package calendar_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/table"
)

// Parts of days are those of package time, of days that are kept and of others.
func TestDayParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.Int64Range(-700_000, 2_000_000).Draw(t, "day")
		is := time.Unix(day*86_400, 0).UTC()
		year, week := is.ISOWeek()
		for unit, want := range map[string]int{
			"day": is.Day(), "month": int(is.Month()), "year": is.Year(), "doy": is.YearDay(), "dow": int(is.Weekday()),
			"week": week, "isoyear": year, "quarter": (int(is.Month()) + 2) / 3,
		} {
			if got := calendar.DayParts[unit].Of(day); got != int64(want) {
				t.Fatalf("the %s of %s is %d, want %d", unit, table.FormatDate(day), got, want)
			}
		}
	})
}

// A moment is not before the beginning of its units, and each begins where the unit's part changes.
func TestTruncation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := calendar.At(rapid.Int64Range(-1<<58, 1<<58).Draw(t, "microseconds"))
		for _, unit := range []string{"month", "quarter", "year", "decade", "century", "millennium"} {
			to, ok := calendar.Truncation(unit)
			begins := to(m)
			if !ok || begins.Day > m.Day || begins.Micros != 0 || to(begins) != begins {
				t.Fatalf("%+v is in a %s that begins at %+v", m, unit, begins)
			}
			part := calendar.DayParts[unit]
			if part.Of(begins.Day) != part.Of(m.Day) || part.Of(begins.Day-1) == part.Of(m.Day) {
				t.Fatalf("the %s of %+v begins at %+v", unit, m, begins)
			}
		}
	})
}

// A time that a zone's clocks leave out has the offset before the gap; one that comes twice is the later one.
func TestOffsetThere(t *testing.T) {
	zone, ok := calendar.Zone("Europe/Berlin")
	if !ok {
		t.Fatal("there is no Europe/Berlin")
	}
	for at, want := range map[string]int64{"2024-03-31 02:30": 3600, "2024-10-27 02:30": 3600, "2024-07-01 12:00": 7200} {
		is, err := time.Parse("2006-01-02 15:04", at)
		if got := calendar.OffsetThere(zone, is.Unix()); err != nil || got != want {
			t.Errorf("%s: %d seconds, want %d, %v", at, got, want, err)
		}
	}
	if _, ok := calendar.Zone("Local"); ok {
		t.Error("Local is a zone")
	}
}
