package format

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/sqlstate"
)

// timeSpan is the parts of an interval.
type timeSpan struct{ months, days, us int64 }

// intervalFields are the elements of a pattern that an interval has.
var intervalFields = map[string]func(s timeSpan) any{
	"YYYY": func(s timeSpan) any { return s.months / 12 },
	"YYY":  func(s timeSpan) any { return s.months / 12 % 1000 },
	"YY":   func(s timeSpan) any { return s.months / 12 % 100 },
	"Y":    func(s timeSpan) any { return s.months / 12 % 10 },
	"CC":   func(s timeSpan) any { return s.months / 1200 },
	"MM":   func(s timeSpan) any { return s.months % 12 },
	"DDD":  func(s timeSpan) any { return s.months*30 + s.days },
	"DD":   func(s timeSpan) any { return s.days },
	"HH24": func(s timeSpan) any { return s.us / 3_600_000_000 },
	"HH12": halfDayHour, "HH": halfDayHour,
	"AM": halfDay("AM", "PM"), "PM": halfDay("AM", "PM"), "A.M.": halfDay("A.M.", "P.M."), "P.M.": halfDay("A.M.", "P.M."),
	"MI":    func(s timeSpan) any { return s.us / 60_000_000 % 60 },
	"SS":    func(s timeSpan) any { return s.us / 1_000_000 % 60 },
	"SSSS":  func(s timeSpan) any { return s.us / 1_000_000 },
	"SSSSS": func(s timeSpan) any { return s.us / 1_000_000 },
	"MS":    func(s timeSpan) any { return fractionOf(s, 3) },
	"US":    func(s timeSpan) any { return fractionOf(s, 6) },
	"FF1":   func(s timeSpan) any { return fractionOf(s, 1) },
	"FF2":   func(s timeSpan) any { return fractionOf(s, 2) },
	"FF3":   func(s timeSpan) any { return fractionOf(s, 3) },
	"FF4":   func(s timeSpan) any { return fractionOf(s, 4) },
	"FF5":   func(s timeSpan) any { return fractionOf(s, 5) },
	"FF6":   func(s timeSpan) any { return fractionOf(s, 6) },
}

// halfDayHour is an hour of the 12-hour clock, 12 for 0.
func halfDayHour(s timeSpan) any {
	if h := s.us / 3_600_000_000 % 12; h != 0 {
		return h
	}
	return int64(12)
}

// halfDay tells the halves of a day apart.
func halfDay(first, second string) func(s timeSpan) any {
	return func(s timeSpan) any { return pick(s.us/3_600_000_000%24 >= 12, second, first) }
}

// fractionOf is the fraction of a second in so many digits, also behind FM.
func fractionOf(s timeSpan, digits int) any {
	us := s.us % 1_000_000
	for range 6 - digits {
		us /= 10
	}
	return fmt.Sprintf("%0*d", digits, us)
}

// Interval writes an interval of months, days and microseconds by the pattern.
func (t *TimePattern) Interval(months, days, us int64) (string, error) {
	var out strings.Builder
	for _, p := range t.parts {
		if p.of == nil {
			out.WriteString(p.text)
			continue
		}
		show, ok := intervalFields[p.of.name]
		if !ok {
			return "", sqlstate.Errorf(sqlstate.FeatureNotSupported, "%s is not supported in the pattern of an interval", p.of.name)
		}
		n, width := show(timeSpan{months, days, us}), p.of.width
		if i, ok := n.(int64); ok && i < 0 && p.of.name != "DD" && p.of.name != "DDD" {
			width++ // for its sign
		}
		out.WriteString(p.shown(n, width))
	}
	return out.String(), nil
}
