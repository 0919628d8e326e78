package table

import (
	"fmt"
	"math"
	"strings"
)

// The proleptic Gregorian calendar on int64 days, for every day that an int64
// can hold: package time counts in seconds, and days far away overflow it.

const (
	daysPerEra = 146097 // 400 years
	epochShift = 719468 // days from 0000-03-01 to 1970-01-01

	microsPerSecond = 1_000_000
	// MicrosPerDay is the length of a day in the unit of TIMESTAMP.
	MicrosPerDay = 24 * 60 * 60 * microsPerSecond

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

// Limits returns the least and greatest value of an integer type, of a DECIMAL of at
// most 18 digits (scaled), and of DATE and TIMESTAMP, whose calendar is PostgreSQL's;
// the last timestamp is that of 64 bits of microseconds since 1970, 294247-01-10, where
// PostgreSQL, which counts from 2000, has another 30 years. Other types have the limits
// of an int64.
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
	// Eras of 400 years begin on 1 March, so that the leap day is the last of its year.
	era := floorDiv(days, daysPerEra)
	doe := days - era*daysPerEra + epochShift%daysPerEra
	era += epochShift / daysPerEra
	if doe >= daysPerEra {
		doe -= daysPerEra
		era++
	}
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp + 3)
	year = era*400 + yoe
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// DaysFromCivil is the inverse of [CivilFromDays] for a date that exists, with
// |year| up to 10^13.
func DaysFromCivil(year int64, month, day int) int64 {
	m := int64(month)
	if m <= 2 {
		year--
		m += 12
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	doy := (153*(m-3)+2)/5 + int64(day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*daysPerEra + doe - epochShift
}

// DaysInMonth returns the length of a month, 1 to 12.
func DaysInMonth(year int64, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// FormatDate prints days since 1970-01-01 as YYYY-MM-DD, with BC for years
// before 1.
func FormatDate(days int64) string {
	ymd, bc := formatYMD(days)
	return ymd + bc
}

// FormatTimestamp prints microseconds since 1970-01-01 as YYYY-MM-DD
// HH:MM:SS[.ffffff], with BC for years before 1.
func FormatTimestamp(us int64) string {
	days := floorDiv(us, MicrosPerDay)
	us -= days * MicrosPerDay
	ymd, bc := formatYMD(days)
	return ymd + " " + formatClock(uint64(us)) + bc
}

// FormatInterval prints microseconds as PostgreSQL prints the difference of two
// timestamps: whole days, then HH:MM:SS[.ffffff], each with its sign ("-1 days
// -02:00:00"); what is 0 is left out, and all of nothing is 00:00:00.
func FormatInterval(us int64) string {
	sign, size := "", uint64(us)
	if us < 0 {
		sign, size = "-", -size
	}
	days, rest := size/MicrosPerDay, size%MicrosPerDay
	clock := sign + formatClock(rest)
	if days == 0 {
		return clock
	}
	text := fmt.Sprintf("%s%d days", sign, days)
	if days == 1 && us > 0 {
		text = "1 day"
	}
	if rest == 0 {
		return text
	}
	return text + " " + clock
}

// formatClock prints microseconds as HH:MM:SS, with the fraction of a second that
// there is.
func formatClock(us uint64) string {
	s := us / microsPerSecond
	clock := fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
	if us %= microsPerSecond; us != 0 {
		clock += strings.TrimRight(fmt.Sprintf(".%06d", us), "0")
	}
	return clock
}

func formatYMD(days int64) (ymd, bc string) {
	y, m, d := CivilFromDays(days)
	if y < 1 {
		y, bc = 1-y, " BC"
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d), bc
}
