package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The proleptic Gregorian calendar on int64 days, for every day that an int64
// can hold: it repeats after an era.

const (
	daysPerEra    = 146097 // 400 years
	epochShift    = 719468 // days from 0000-03-01 to 1970-01-01
	secondsPerDay = 24 * 60 * 60

	microsPerSecond = 1_000_000
	// MicrosPerDay is the length of a day in the unit of TIMESTAMP.
	MicrosPerDay = secondsPerDay * microsPerSecond

	// PostgreSQL's calendar, in days since 1970-01-01: its first day is day 0 of the
	// Julian period.
	firstDay = -2_440_588    // 4714-11-24 BC
	lastDay  = 2_145_042_905 // 5874897-12-31
)

// tenTo holds the powers of ten that 64 bits have room for.
var tenTo = [19]int64{1}

func init() {
	for i := range tenTo[1:] {
		tenTo[i+1] = 10 * tenTo[i]
	}
}

// Limits returns the least and greatest value of a type. It knows the integers, a DECIMAL of at most 18
// digits (scaled), DATE and TIMESTAMP; other types have the limits of an int64. DATE and TIMESTAMP follow
// PostgreSQL's calendar. The last timestamp is 294247-01-10, where 64 bits of microseconds since 1970 end.
// PostgreSQL counts from 2000 and ends 30 years later.
func (t Type) Limits() (lo, hi int64) {
	switch t.Kind {
	case SmallInt:
		return math.MinInt16, math.MaxInt16
	case Integer:
		return math.MinInt32, math.MaxInt32
	case Decimal:
		if t.Precision <= 18 {
			return 1 - tenTo[t.Precision], tenTo[t.Precision] - 1
		}
	case Date:
		return firstDay, lastDay
	case Timestamp:
		return firstDay * MicrosPerDay, math.MaxInt64
	}
	return math.MinInt64, math.MaxInt64
}

// Holds reports whether a value lies within the type's [Type.Limits].
func (t Type) Holds(v int64) bool {
	lo, hi := t.Limits()
	return lo <= v && v <= hi
}

// CivilFromDays returns the date of a number of days since 1970-01-01. Year 0 is
// 1 BC.
func CivilFromDays(days int64) (year int64, month, day int) {
	eras := FloorDiv(days, daysPerEra)
	rest := days - eras*daysPerEra + epochShift // since 1 March of the first year of some era
	eras += rest / daysPerEra
	doe := uint32(rest % daysPerEra)
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153 // from March
	year, month, day = int64(yoe)+400*eras, int(mp)+3, int(doy-(153*mp+2)/5)+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// DaysFromCivil is the inverse of [CivilFromDays] for a date that exists, with
// |year| up to 10^13. Years begin on 1 March
// here, so that the leap day is the last of its year.
func DaysFromCivil(year int64, month, day int) int64 {
	m := int64(month)
	if m <= 2 {
		year--
		m += 12
	}
	eras := FloorDiv(year, 400)
	yoe := year - eras*400
	doy := (153*(m-3)+2)/5 + int64(day) - 1
	return eras*daysPerEra + yoe*365 + yoe/4 - yoe/100 + doy - epochShift
}

// DaysInMonth returns the length of a month, 1 to 12.
func DaysInMonth(year int64, month int) int {
	return int(DaysFromCivil(year+int64(month/12), month%12+1, 1) - DaysFromCivil(year, month, 1))
}

// FloorDiv is a / b rounded down, b > 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// FormatDate prints days since 1970-01-01 as YYYY-MM-DD, with BC for years
// before 1.
func FormatDate(days int64) string {
	return string(appendDate(make([]byte, 0, 16), days))
}

func appendDate(out []byte, days int64) []byte {
	out, bc := appendYMD(out, days)
	if bc {
		out = append(out, " BC"...)
	}
	return out
}

// FormatTimestamp prints microseconds since 1970-01-01 as YYYY-MM-DD
// HH:MM:SS[.ffffff], with BC for years before 1.
func FormatTimestamp(us int64) string {
	return string(appendTimestamp(make([]byte, 0, 32), us))
}

func appendTimestamp(out []byte, us int64) []byte {
	days := FloorDiv(us, MicrosPerDay)
	out, bc := appendYMD(out, days)
	if out = appendClock(append(out, ' '), uint64(us-days*MicrosPerDay)); bc {
		out = append(out, " BC"...)
	}
	return out
}

// FormatInterval prints months, days and microseconds as PostgreSQL prints an interval: years, months, days,
// then HH:MM:SS[.ffffff] with any number of hours. Each part has its sign ("-1 days -02:00:00"), and a plus
// behind a negative part. Parts that are 0 are left out. An interval of nothing is 00:00:00.
func FormatInterval(months int32, days, us int64) string {
	var parts []string
	negative := false
	put := func(n int64, unit string) {
		sign := ""
		if negative && n > 0 {
			sign = "+"
		}
		if n != 1 {
			unit += "s"
		}
		if n != 0 {
			parts = append(parts, fmt.Sprintf("%s%d %s", sign, n, unit))
			negative = n < 0
		}
	}
	put(int64(months/12), "year")
	put(int64(months%12), "mon")
	put(days, "day")
	switch {
	case us < 0:
		parts = append(parts, "-"+formatClock(-uint64(us)))
	case us > 0 && negative:
		parts = append(parts, "+"+formatClock(uint64(us)))
	case us > 0 || len(parts) == 0:
		parts = append(parts, formatClock(uint64(us)))
	}
	return strings.Join(parts, " ")
}

// formatClock prints microseconds as HH:MM:SS, with the fraction of a second that there is.
func formatClock(us uint64) string { return string(appendClock(nil, us)) }

// appendClock appends microseconds as HH:MM:SS, with the fraction of a second that there is.
func appendClock(out []byte, us uint64) []byte {
	const hour, minute = 3_600_000_000, 60_000_000
	if us < 100*hour {
		out = appendTwo(out, us/hour)
	} else {
		out = strconv.AppendUint(out, us/hour, 10)
	}
	out = appendTwo(append(out, ':'), us%hour/minute)
	out = appendTwo(append(out, ':'), us%minute/microsPerSecond)
	rest := us % microsPerSecond
	if rest == 0 {
		return out
	}
	out = append(out, '.')
	for unit := uint64(microsPerSecond / 10); rest > 0; unit /= 10 {
		out = append(out, byte('0'+rest/unit))
		rest %= unit
	}
	return out
}

// appendTwo appends a number below 100 in two digits.
func appendTwo(out []byte, n uint64) []byte { return append(out, byte('0'+n/10), byte('0'+n%10)) }

// appendYMD appends a date; bc says that it is before Christ.
func appendYMD(out []byte, days int64) (_ []byte, bc bool) {
	y, m, d := CivilFromDays(days)
	if y < 1 {
		y, bc = 1-y, true
	}
	if y < 10_000 {
		out = appendTwo(appendTwo(out, uint64(y/100)), uint64(y%100))
	} else {
		out = strconv.AppendInt(out, y, 10)
	}
	out = appendTwo(append(out, '-'), uint64(m))
	return appendTwo(append(out, '-'), uint64(d)), bc
}
