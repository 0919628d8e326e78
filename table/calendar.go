package table

import (
	"fmt"
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
)

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
