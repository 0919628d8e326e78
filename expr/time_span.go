package expr

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Intervals made of parts, cut off behind one, and written by a pattern. Of an interval months, days and time of
// day are apart.
func init() {
	define("make_interval(integer,integer,integer,integer,integer,integer,double) interval!", func(a args) (table.Value, error) {
		var s sum
		for i, unit := range []string{"years", "months", "weeks", "days", "hours", "mins"} {
			s.add(new(big.Rat).SetInt64(a.v[i].I), *unitWritten(unit))
		}
		seconds := new(big.Rat).SetFloat64(a.v[6].F)
		if seconds == nil {
			return a.raise(OutOfRange(a.T))
		}
		s.add(seconds, *unitWritten("secs"))
		return s.value(a.P)
	})
	define("date_trunc(text,interval) interval!", func(a args) (table.Value, error) {
		unit, v := unitNamed(a.v[0].S), a.v[1]
		if us, ok := clockUnits[unit]; ok {
			clock := v.Clock() - v.Clock()%us
			if unit == "day" {
				clock = 0
			}
			return summed(int64(v.Months), v.Days(), clock).value(a.P)
		}
		months, ok := monthUnits[unit]
		if !ok {
			return table.Null(a.T), a.noSpan()
		}
		return summed(int64(v.Months-v.Months%months), 0, 0).value(a.P)
	})
	define("to_char(interval,text) text!", func(a args) (table.Value, error) {
		var out strings.Builder
		for _, f := range timeFields(a.v[1].S) {
			if f.of == nil {
				out.WriteString(f.text)
				continue
			}
			show, ok := intervalFields[f.of.name]
			if !ok {
				return a.failAs(sqlstate.FeatureNotSupported, "%s is not supported in the pattern of an interval", f.of.name)
			}
			n, width := show(spanOf(a.v[0])), f.of.width
			if i, ok := n.(int64); ok && i < 0 && f.of.name != "DD" && f.of.name != "DDD" {
				width++ // for its sign
			}
			out.WriteString(f.shown(n, width))
		}
		return table.Str(out.String()), nil
	})
}

// monthUnits are units of an interval in months.
var monthUnits = map[string]int32{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}

// timeSpan is the parts of an interval.
type timeSpan struct{ months, days, us int64 }

func spanOf(v table.Value) timeSpan {
	return timeSpan{int64(v.Months), v.Days(), v.Clock()}
}

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
