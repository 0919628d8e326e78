package calendar

import (
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Unit is the name of a unit of time in lower case and the singular.
func Unit(s string) string {
	switch s = strings.ToLower(s); s {
	case "centuries":
		return "century"
	case "millennia":
		return "millennium"
	}
	return strings.TrimSuffix(s, "s")
}

// Fractions are the digits after the point of what EXTRACT gives.
var Fractions = map[string]int{"second": 6, "millisecond": 3, "epoch": 6}

// ClockParts are the parts of a time of day, with as many digits after the point as [Fractions] says.
var ClockParts = map[string]func(us int64) int64{
	"microsecond": func(us int64) int64 { return us % 60_000_000 },
	"millisecond": func(us int64) int64 { return us % 60_000_000 },
	"second":      func(us int64) int64 { return us % 60_000_000 },
	"minute":      func(us int64) int64 { return us / 60_000_000 % 60 },
	"hour":        func(us int64) int64 { return us / 3_600_000_000 },
}

// DayParts are the parts of a day of the calendar.
var DayParts = map[string]*DayPart{
	"day":     partOfDays(func(day int64) int64 { _, _, d := table.CivilFromDays(day); return int64(d) }),
	"month":   partOfDays(func(day int64) int64 { _, m, _ := table.CivilFromDays(day); return int64(m) }),
	"quarter": partOfDays(func(day int64) int64 { _, m, _ := table.CivilFromDays(day); return int64(m+2) / 3 }),
	"year":    partOfDays(func(day int64) int64 { return withoutZero(YearOf(day)) }),
	"decade":  partOfDays(func(day int64) int64 { return table.FloorDiv(YearOf(day), 10) }),
	"century": partOfDays(func(day int64) int64 { return span(YearOf(day), 100) }),
	"millennium": partOfDays(func(day int64) int64 {
		return span(YearOf(day), 1000)
	}),
	"dow":     partOfDays(Weekday),
	"isodow":  partOfDays(func(day int64) int64 { return isoWeekday(day) }),
	"doy":     partOfDays(func(day int64) int64 { return day - table.DaysFromCivil(YearOf(day), 1, 1) + 1 }),
	"week":    partOfDays(func(day int64) int64 { d := thursday(day); return (d-table.DaysFromCivil(YearOf(d), 1, 1))/7 + 1 }),
	"isoyear": partOfDays(func(day int64) int64 { return withoutZero(YearOf(thursday(day))) }),
}

// MonthParts are the parts of an interval's months.
var MonthParts = map[string]func(months int64) int64{
	"month":      func(m int64) int64 { return m % 12 },
	"quarter":    func(m int64) int64 { return m%12/3 + 1 },
	"year":       func(m int64) int64 { return m / 12 },
	"decade":     func(m int64) int64 { return m / 120 },
	"century":    func(m int64) int64 { return m / 1200 },
	"millennium": func(m int64) int64 { return m / 12000 },
}

// ClockUnits are units of a time of day in microseconds.
var ClockUnits = map[string]int64{"microsecond": 1, "millisecond": 1000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": table.MicrosPerDay}

// DayFloors are the first days of the units of the calendar.
var DayFloors = map[string]*DayFloor{
	"week":       floorOfDays(func(day int64) int64 { return day - isoWeekday(day) + 1 }),
	"month":      firstOf(func(y int64, month int) (int64, int) { return y, month }),
	"quarter":    firstOf(func(y int64, month int) (int64, int) { return y, (month-1)/3*3 + 1 }),
	"year":       firstOfYears(1, 0),
	"decade":     firstOfYears(10, 0),
	"century":    firstOfYears(100, 1),
	"millennium": firstOfYears(1000, 1),
}

// firstOf is the first day of a month that follows from that of a day.
func firstOf(of func(y int64, month int) (int64, int)) *DayFloor {
	return floorOfDays(func(day int64) int64 {
		y, month, _ := table.CivilFromDays(day)
		y, month = of(y, month)
		return table.DaysFromCivil(y, month, 1)
	})
}

// firstOfYears is the first day of so many years, which are counted from one on.
func firstOfYears(n, from int64) *DayFloor {
	return firstOf(func(y int64, _ int) (int64, int) { return table.FloorDiv(y-from, n)*n + from, 1 })
}

// Truncation is how a moment becomes the beginning of its unit.
func Truncation(unit string) (to func(m Moment) Moment, ok bool) {
	if us, ok := ClockUnits[unit]; ok {
		return func(m Moment) Moment { return Moment{m.Day, m.Micros - m.Micros%us} }, true
	}
	floor, ok := DayFloors[unit]
	return func(m Moment) Moment { return Moment{Day: floor.of(m.Day)} }, ok
}

// MonthUnits are units of an interval in months.
var MonthUnits = map[string]int32{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}
