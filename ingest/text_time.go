package ingest

import (
	"math"

	"github.com/stencildb/stencildb/table"
)

// parseDate reads YYYY-MM-DD, with more digits of the year where it needs them
// and BC after it, into days since 1970-01-01. The error is errSyntax, or errRange of
// a date beyond PostgreSQL's.
func parseDate(b []byte) (int64, error) {
	b, bc := cutBC(b)
	days, rest, ok := scanDate(b, bc)
	if !ok || len(rest) > 0 {
		return 0, errSyntax
	}
	return held(table.Type{Kind: table.Date}, days)
}

func held(t table.Type, v int64) (int64, error) {
	if !t.Holds(v) {
		return 0, errRange
	}
	return v, nil
}

func cutBC(b []byte) (rest []byte, bc bool) {
	if n := len(b) - 3; n > 0 && b[n] == ' ' && foldEqual(b[n+1:], "bc") {
		return b[:n], true
	}
	return b, false
}

// maxYearDigits bounds the year, so that days and their sums fit 64 bits.
const maxYearDigits = 12

func scanDate(b []byte, bc bool) (days int64, rest []byte, ok bool) {
	n := 0
	var year int64
	for n < len(b) && b[n]-'0' <= 9 && n <= maxYearDigits {
		year = year*10 + int64(b[n]-'0')
		n++
	}
	if n < 4 || n > maxYearDigits || year == 0 || len(b) < n+6 || b[n] != '-' || b[n+3] != '-' {
		return 0, nil, false
	}
	month, ok1 := twoDigits(b[n+1:])
	day, ok2 := twoDigits(b[n+4:])
	if bc {
		year = 1 - year
	}
	if !ok1 || !ok2 || month < 1 || month > 12 || day < 1 || day > table.DaysInMonth(year, month) {
		return 0, nil, false
	}
	return table.DaysFromCivil(year, month, day), b[n+6:], true
}

func twoDigits(b []byte) (int, bool) {
	if len(b) < 2 || b[0]-'0' > 9 || b[1]-'0' > 9 {
		return 0, false
	}
	return int(b[0]-'0')*10 + int(b[1]-'0'), true
}

// parseTimestamp reads a date, alone or followed by a blank or T and
// HH:MM[:SS[.f...]] and perhaps Z or +00[[:]00], into microseconds since
// 1970-01-01. As in PostgreSQL 24:00:00 and second 60 are the next day and
// minute, and digits beyond microseconds are rounded (half to even).
func parseTimestamp(b []byte) (int64, error) {
	b, bc := cutBC(b)
	days, b, ok := scanDate(b, bc)
	if !ok {
		return 0, errSyntax
	}
	var us int64
	if len(b) > 0 {
		if b[0] != ' ' && b[0]|0x20 != 't' {
			return 0, errSyntax
		}
		us, b, ok = scanClock(b[1:])
		if !ok || !isUTC(b) {
			return 0, errSyntax
		}
	}
	const most = math.MaxInt64 / table.MicrosPerDay
	if days > most || days < -most || days == most && us > math.MaxInt64-most*table.MicrosPerDay {
		return 0, errRange
	}
	return held(table.Type{Kind: table.Timestamp}, days*table.MicrosPerDay+us)
}

func scanClock(b []byte) (us int64, rest []byte, ok bool) {
	h, ok1 := twoDigits(b)
	if !ok1 || h > 24 || len(b) < 5 || b[2] != ':' {
		return 0, nil, false
	}
	m, ok2 := twoDigits(b[3:])
	if !ok2 || m > 59 {
		return 0, nil, false
	}
	b = b[5:]
	s := 0
	var frac int64
	if len(b) >= 3 && b[0] == ':' {
		if s, ok = twoDigits(b[1:]); !ok || s > 60 {
			return 0, nil, false
		}
		b = b[3:]
		if len(b) > 0 && b[0] == '.' {
			frac, b = scanFraction(b[1:])
		}
	}
	us = (int64(h*3600+m*60+s))*1_000_000 + frac
	return us, b, us <= table.MicrosPerDay
}

// scanFraction reads the digits after the point of a second.
func scanFraction(b []byte) (us int64, rest []byte) {
	n := 0
	half, more := 0, false // the seventh digit against 5, and whether any follows
	for ; n < len(b) && b[n]-'0' <= 9; n++ {
		switch d := int(b[n] - '0'); {
		case n < 6:
			us = us*10 + int64(d)
		case n == 6:
			half = d - 5
		default:
			more = more || d != 0
		}
	}
	for i := n; i < 6; i++ {
		us *= 10
	}
	if n > 6 && (half > 0 || half == 0 && (more || us&1 == 1)) {
		us++
	}
	return us, b[n:]
}

// isUTC accepts nothing, Z and a zero offset.
func isUTC(b []byte) bool {
	b = trim(b)
	if len(b) == 0 || foldEqual(b, "z") {
		return true
	}
	switch string(b) {
	case "+00", "-00", "+0000", "-0000", "+00:00", "-00:00":
		return true
	}
	return false
}
