package table

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// What is wrong with text that is read as a value.
var (
	ErrSyntax = errors.New("syntax")
	ErrRange  = errors.New("range")
)

// Parse reads text without blanks around it as PostgreSQL does, as a value of any type but VARCHAR and
// INTERVAL. f is the value of REAL and DOUBLE, i that of the other types. The error is [ErrSyntax] or
// [ErrRange].
//
// Booleans are the prefixes of true, false, yes and no, and on, off, 1, 0. A DECIMAL is rounded to its scale,
// halves away from zero. A float that overflows to infinity or underflows to zero is out of range. A date is
// YYYY-MM-DD; the year may have more digits. A timestamp is a date, or a date, a blank or T, and
// HH:MM[:SS[.f...]]. Z or a zero offset may follow, and BC. 24:00:00 and second 60 are the next day and
// minute, and digits beyond microseconds are rounded, halves to even. With loose, more texts are right:
// months, days and hours of one digit, and the other forms of dates in SQL. A date may then have a time of
// day, which is ignored.
func Parse(t Type, s string, loose bool) (i int64, f float64, err error) {
	switch t.Kind {
	case SmallInt, Integer, BigInt:
		i, err = parseInt(s)
	case Decimal:
		i, err = parseDecimal(s, t)
	case Real:
		f, err = parseFloat(s, 32)
	case Double:
		f, err = parseFloat(s, 64)
	case Boolean:
		i, err = parseBool(s)
	case Date, Timestamp:
		i, err = parseTime(t, s, loose)
	default:
		err = ErrSyntax
	}
	if err == nil && !t.IsFloat() && !t.Holds(i) {
		err = ErrRange
	}
	return i, f, err
}

func parseInt(s string) (int64, error) {
	i, err := strconv.Atoi(s)
	switch {
	case err == nil:
		return int64(i), nil
	case errors.Is(err, strconv.ErrRange):
		return 0, ErrRange
	}
	return 0, ErrSyntax
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// digits is how many digits s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// NumberShape reports [+-]digits[.digits][e[+-]digits] with a digit before the exponent,
// and whether it has digits alone.
func NumberShape(s string) (integer, ok bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	n := digits(s)
	if s = s[n:]; s == "" {
		return n > 0, n > 0
	}
	if s[0] == '.' {
		k := digits(s[1:])
		n, s = n+k, s[1+k:]
	}
	if n > 0 && s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '-' || s[0] == '+') {
			s = s[1:]
		}
		k := digits(s)
		return false, k > 0 && k == len(s)
	}
	return false, n > 0 && s == ""
}

// splitNumber splits a number: it is mantissa times 10^exponent, with the last frac digits behind the point.
// It counts an exponent beyond a million as a million.
func splitNumber(s string) (mantissa string, frac, exponent int, ok bool) {
	if _, ok := NumberShape(s); !ok {
		return "", 0, 0, false
	}
	const far = 1_000_000
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		exponent, _ = strconv.Atoi(s[e+1:]) // the nearest, where it does not fit
		s, exponent = s[:e], max(-far, min(exponent, far))
	}
	if p := strings.IndexByte(s, '.'); p >= 0 {
		frac = len(s) - p - 1
	}
	return s, frac, exponent, true
}

// ParseNumber reads a number exactly: it is unscaled * 10^-scale, scale >= 0. An exponent
// beyond 2000 is refused.
func ParseNumber(s string) (unscaled *big.Int, scale int, ok bool) {
	m, frac, exponent, ok := splitNumber(s)
	if !ok || exponent < -2000 || exponent > 2000 {
		return nil, 0, false
	}
	unscaled, _ = new(big.Int).SetString(strings.Replace(m, ".", "", 1), 10)
	if scale = frac - exponent; scale < 0 {
		return unscaled.Mul(unscaled, Pow10(-scale)), 0, true
	}
	return unscaled, scale, true
}

// ParsePlain reads most DECIMALs of a scale: few enough digits for 64 bits, not more of them behind
// the point than the scale has. n is 10^scale times as large; ok is false for other texts.
func ParsePlain(s string, scale int) (n int64, ok bool) {
	i, frac := 0, -1 // without a point
	if s != "" && (s[0] == '-' || s[0] == '+') {
		i = 1
	}
	if len(s)-i < 2 || len(s)+scale > 18 {
		return 0, false
	}
	for _, c := range []byte(s[i:]) {
		switch {
		case isDigit(c):
			n = 10*n + int64(c-'0')
			if frac >= 0 {
				frac++
			}
		case c == '.' && frac < 0:
			frac = 0
		default:
			return 0, false
		}
	}
	for frac = max(frac, 0); frac < scale; frac++ {
		n *= 10
	}
	if s[0] == '-' {
		n = -n
	}
	return n, frac == scale
}

// parseDecimal reads a number as the integer 10^scale times as large.
func parseDecimal(s string, t Type) (int64, error) {
	if n, ok := ParsePlain(s, t.Scale); ok {
		return n, nil
	}
	m, frac, exponent, ok := splitNumber(s)
	if !ok {
		return 0, ErrSyntax
	}
	// Wanted are the digits down to 10^-scale: seen counts those behind the first that is
	// not 0, and keep how many of them that is.
	total := len(strings.TrimLeft(strings.Replace(strings.TrimLeft(m, "+-"), ".", "", 1), "0"))
	keep := total - frac + exponent + t.Scale
	switch {
	case total == 0:
		return 0, nil
	case keep > t.Precision:
		return 0, ErrRange
	}
	var n int64
	seen := 0
	for i := 0; i < len(m) && seen <= keep; i++ {
		d := int64(m[i]) - '0'
		switch {
		case d < 0 || d == 0 && seen == 0: // a sign, the point, a zero in front
			continue
		case seen < keep:
			n = 10*n + d
		case d >= 5:
			n++
		}
		seen++
	}
	for ; seen < keep; seen++ {
		n *= 10
	}
	if m[0] == '-' {
		n = -n
	}
	return n, nil
}

func parseFloat(s string, bits int) (float64, error) {
	// strconv knows more syntax than SQL: hexadecimal, underscores.
	if _, ok := NumberShape(s); !ok {
		if f, ok := ParseFloatWord(s); ok {
			return f, nil
		}
		return 0, ErrSyntax
	}
	f, err := strconv.ParseFloat(s, bits)
	if f == 0 && err == nil {
		if m, _, _, _ := splitNumber(s); strings.ContainsAny(m, "123456789") {
			err = ErrRange
		}
	}
	if err != nil {
		return 0, ErrRange
	}
	return f, nil
}

// EqualFold compares with a lower-case ASCII word, letters in any case.
func EqualFold(s, word string) bool { return len(s) == len(word) && strings.EqualFold(s, word) }

// ParseFloatWord reads NaN, inf and Infinity, in any case.
func ParseFloatWord(s string) (float64, bool) {
	if EqualFold(s, "nan") {
		return math.NaN(), true
	}
	sign := 1
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	return math.Inf(sign), EqualFold(s, "inf") || EqualFold(s, "infinity")
}

func parseBool(s string) (int64, error) {
	for i, words := range [2][2]string{{"false", "no"}, {"true", "yes"}} {
		for _, w := range words {
			if s != "" && len(s) <= len(w) && EqualFold(s, w[:len(s)]) {
				return int64(i), nil
			}
		}
	}
	switch {
	case EqualFold(s, "on"), s == "1":
		return 1, nil
	case EqualFold(s, "of"), EqualFold(s, "off"), s == "0":
		return 0, nil
	}
	return 0, ErrSyntax
}

// parseTime reads a date or a timestamp.
func parseTime(t Type, s string, loose bool) (int64, error) {
	days, us, ok := parseISO(t, s, loose)
	if !ok && loose {
		days, us, ok = parseDateInput(s)
	}
	switch most := int64(math.MaxInt64 / MicrosPerDay); {
	case !ok:
		return 0, ErrSyntax
	case t.Kind == Date:
		return days, nil // 24:00:00 is still of that day
	case days > most || days < -most || days == most && us > math.MaxInt64-most*MicrosPerDay:
		return 0, ErrRange
	}
	return days*MicrosPerDay + us, nil
}

// parseISO reads YYYY-MM-DD and the time of day behind it.
func parseISO(t Type, s string, loose bool) (days, us int64, ok bool) {
	bc := len(s) > 3 && EqualFold(s[len(s)-3:], " bc")
	if bc {
		s = s[:len(s)-3]
	}
	days, s, ok = parseDay(s, bc, loose)
	if ok && s != "" && (loose || t.Kind == Timestamp) {
		if s[0] != ' ' && s[0]|0x20 != 't' {
			return 0, 0, false
		}
		us, s, ok = parseClock(s, loose)
		s = strings.Trim(s, " \t\n\v\f\r")
	}
	switch s {
	case "", "Z", "z", "+00", "-00", "+0000", "-0000", "+00:00", "-00:00":
		return days, us, ok
	}
	return 0, 0, false
}

// maxYearDigits bounds the year, so that days and their sums fit 64 bits.
const maxYearDigits = 12

// parseDay reads YYYY-MM-DD; rest is what follows.
func parseDay(s string, bc, loose bool) (days int64, rest string, ok bool) {
	n := digits(s)
	if n < 4 || n > maxYearDigits {
		return 0, "", false
	}
	year, _ := strconv.Atoi(s[:n])
	month, s, ok1 := part(s[n:], '-', loose)
	day, s, ok2 := part(s, '-', loose)
	if bc {
		year = 1 - year
	}
	if !ok1 || !ok2 || year == 0 && !bc || month < 1 || month > 12 || day < 1 || day > 28 && day > DaysInMonth(int64(year), month) {
		return 0, "", false
	}
	return DaysFromCivil(int64(year), month, day), s, true
}

// part reads a separator and two digits, or one where text is loose.
func part(s string, separator byte, loose bool) (n int, rest string, ok bool) {
	if s == "" || s[0] != separator {
		return 0, "", false
	}
	k := 1
	for ; k < min(len(s), 3) && isDigit(s[k]); k++ {
		n = 10*n + int(s[k]-'0')
	}
	return n, s[k:], k == 3 || k == 2 && loose
}

// parseClock reads what separates it from a date and HH:MM[:SS[.f...]], as microseconds.
func parseClock(s string, loose bool) (us int64, rest string, ok bool) {
	h, s, ok1 := part(s, s[0], loose)
	m, s, ok2 := part(s, ':', loose)
	sec := 0
	var frac int64
	if ok2 && s != "" && s[0] == ':' {
		if sec, s, ok2 = part(s, ':', loose); s != "" && s[0] == '.' {
			frac, s = parseFraction(s[1:])
		}
	}
	us = int64(h*3600+m*60+sec)*microsPerSecond + frac
	return us, s, ok1 && ok2 && h <= 24 && m <= 59 && sec <= 60 && us <= MicrosPerDay
}

// parseFraction reads the digits after the point of a second.
func parseFraction(s string) (us int64, rest string) {
	n := digits(s)
	for i := range 6 {
		us *= 10
		if i < n {
			us += int64(s[i] - '0')
		}
	}
	if n > 6 {
		more := strings.Trim(s[7:n], "0") != ""
		if s[6] > '5' || s[6] == '5' && (more || us&1 == 1) {
			us++
		}
	}
	return us, s[n:]
}
