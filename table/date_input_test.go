package table

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A moment reads as the same in all forms in which it is written.
func TestDatesInAllForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(0, 99*365*24*60*60/2).Draw(t, "at"), 0).UTC()
		for _, day := range []string{"20060102", "060102", "2006/1/2", "1/2/2006", "2006-Jan-2", "2-Jan-2006", "Jan-02-06", "January 2, 2006", "Mon 2 Jan 2006"} {
			for _, clock := range []string{"15:04:05", "03:04:05 PM", "3:04:05pm", "150405"} {
				if clock == "150405" && !strings.HasPrefix(day, "20060102") && day != "060102" && !strings.Contains(day, "/") {
					continue // digits behind a month's name are a part of the date
				}
				text := at.Format(day + " " + clock)
				if clock == "15:04:05" {
					text += rapid.SampledFrom([]string{"", "+02", " -05:30", "Z", " utc"}).Draw(t, "zone")
				}
				got, _, err := Parse(Type{Kind: Timestamp}, text, true)
				if err != nil || got != at.UnixMicro() {
					t.Fatalf("%q: %s, %v, want %s", text, FormatTimestamp(got), err, FormatTimestamp(at.UnixMicro()))
				}
			}
		}
	})
}

// Any text is a date, or an error.
func TestTextsThatAreNoDates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([0-9]{1,8}|[-/.:, +]|T|Jan|mon|pm|bc|z|x){0,8}`).Draw(t, "text")
		days, us, ok := parseDateInput(text)
		if ok && (us < 0 || us > MicrosPerDay) {
			t.Fatalf("%q: day %d, %d µs", text, days, us)
		}
	})
}

// A sign is no part of a date: before a date it would be taken for the one between its parts.
func TestDateWithASign(t *testing.T) {
	for _, text := range []string{"-2020-01-01", "-2020-01-01 10:00:00", "Jan -1 2020", "-20200101", "+2020-01-01", "-"} {
		if got, _, err := Parse(Type{Kind: Date}, text, true); err == nil {
			t.Errorf("%q is %s", text, FormatDate(got))
		}
	}
}
