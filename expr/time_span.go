package expr

import (
	"math/big"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/expr/format"
	"github.com/stencildb/stencildb/expr/interval"
	"github.com/stencildb/stencildb/table"
)

// Intervals made of parts, cut off behind one, and written by a pattern. Of an interval months, days and time of
// day are apart.
func init() {
	define("make_interval(integer,integer,integer,integer,integer,integer,double) interval!", func(a args) (table.Value, error) {
		var s interval.Sum
		for i, unit := range []string{"years", "months", "weeks", "days", "hours", "mins"} {
			s.Add(new(big.Rat).SetInt64(a.v[i].I), *interval.Named(unit))
		}
		seconds := new(big.Rat).SetFloat64(a.v[6].F)
		if seconds == nil {
			return a.raise(OutOfRange(a.T))
		}
		s.Add(seconds, *interval.Named("secs"))
		return a.interval(&s)
	})
	define("date_trunc(text,interval) interval!", func(a args) (table.Value, error) {
		unit, v := calendar.Unit(a.v[0].S), a.v[1]
		if us, ok := calendar.ClockUnits[unit]; ok {
			clock := v.Clock() - v.Clock()%us
			if unit == "day" {
				clock = 0
			}
			return a.interval(interval.Of(int64(v.Months), v.Days(), clock))
		}
		months, ok := calendar.MonthUnits[unit]
		if !ok {
			return table.Null(a.T), a.noSpan()
		}
		return a.interval(interval.Of(int64(v.Months-v.Months%months), 0, 0))
	})
	define("to_char(interval,text) text!", func(a args) (table.Value, error) {
		v := a.v[0]
		text, err := format.NewTimePattern(a.v[1].S).Interval(int64(v.Months), v.Days(), v.Clock())
		if err != nil {
			return table.Null(a.T), ErrorAt(a.P, err)
		}
		return table.Str(text), nil
	})
}
