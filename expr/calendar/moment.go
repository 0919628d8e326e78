package calendar

import (
	"math"

	"github.com/stencildb/stencildb/table"
)

// JulianEpoch is the Julian day of 1970-01-01.
const JulianEpoch = 2440588

// Moment is a day of the calendar and the microseconds since it began.
type Moment struct{ Day, Micros int64 }

// Moved is a moment with months and microseconds added, or taken away.
func Moved(m Moment, sign, months, us int64) Moment {
	day := m.Day
	if months != 0 {
		y, month, d := table.CivilFromDays(day)
		n := y*12 + int64(month-1) + sign*months
		y, month = table.FloorDiv(n, 12), int(n-12*table.FloorDiv(n, 12))+1
		if d > 28 {
			d = min(d, table.DaysInMonth(y, month))
		}
		day = table.DaysFromCivil(y, month, d)
	}
	// Days and microseconds apart: of both operands they may be more than 64 bits.
	days, clock := sign*(us/table.MicrosPerDay), m.Micros+sign*(us%table.MicrosPerDay)
	return Moment{day + days, clock}
}

// Age is the difference of two timestamps in years, months, days and time of day.
func Age(x, y int64) (months, days, us int64) {
	sign := int64(1)
	if x < y {
		x, y, sign = y, x, -1
	}
	late, early := At(x), At(y)
	y1, m1, d1 := table.CivilFromDays(late.Day)
	y0, m0, d0 := table.CivilFromDays(early.Day)
	months, days, us = (y1-y0)*12+int64(m1-m0), int64(d1-d0), late.Micros-early.Micros
	if us < 0 {
		us += table.MicrosPerDay
		days--
	}
	if days < 0 { // borrows the days of the month of the earlier one
		days += int64(table.DaysInMonth(y0, m0))
		months--
	}
	return sign * months, sign * days, sign * us
}

func Of(v table.Value) Moment {
	if v.Type.Kind == table.Date {
		return Moment{Day: v.I}
	}
	return At(v.I)
}

// At is a TIMESTAMP.
func At(us int64) Moment {
	day := table.FloorDiv(us, table.MicrosPerDay)
	return Moment{day, us - day*table.MicrosPerDay}
}

// DayOf is the day of a year, a month and a day, where there is one; a year below 0 is BC.
func DayOf(y, m, d int64) (day int64, ok bool) {
	if y < 0 {
		y++ // 1 BC is the year 0
	} else if y == 0 {
		m = 0
	}
	if m < 1 || m > 12 || y > 1e7 || y < -1e7 || d < 1 || d > 28 && d > int64(table.DaysInMonth(y, int(m))) {
		return 0, false
	}
	return table.DaysFromCivil(y, int(m), int(d)), true
}

// ClockOf is a time of day in microseconds, where there is one.
func ClockOf(h, m int64, seconds float64) (us int64, ok bool) {
	s := math.RoundToEven(seconds * 1e6)
	if h < 0 || h > 24 || m < 0 || m > 59 || !(s >= 0 && s <= 60e6) || (h*60+m)*60_000_000+int64(s) > table.MicrosPerDay {
		return 0, false
	}
	return (h*60+m)*60_000_000 + int64(s), true
}

// Weekday is 0 of a Sunday: 1970-01-01 was a Thursday.
func Weekday(day int64) int64 { return day + 4 - 7*table.FloorDiv(day+4, 7) }

// isoWeekday is 1 of a Monday, 7 of a Sunday.
func isoWeekday(day int64) int64 { return day + 3 - 7*table.FloorDiv(day+3, 7) + 1 }

// thursday is that of the week of a day, which begins on a Monday: the week belongs to its year.
func thursday(day int64) int64 { return day - isoWeekday(day) + 4 }

func YearOf(day int64) int64 { y, _, _ := table.CivilFromDays(day); return y }

// withoutZero is a year, -1 for 1 BC.
func withoutZero(year int64) int64 {
	if year <= 0 {
		year--
	}
	return year
}

// span is in which century, or span of so many years, a year lies; there is none of number 0.
func span(year, years int64) int64 { return withoutZero(table.FloorDiv(year-1, years) + 1) }
