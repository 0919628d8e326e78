package ingest

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/stencildb/stencildb/table"
)

var (
	errSyntax = errors.New("syntax")
	errRange  = errors.New("range")
)

// parseValue appends the value that text has as type t to c. The error is the
// reason, without the place.
func parseValue(c *table.ColumnBuilder, t table.Type, text []byte) error {
	switch t.Kind {
	case table.Varchar:
		if !utf8.Valid(text) {
			return errUTF8
		}
		c.String(view(text))
		return nil
	case table.SmallInt, table.Integer, table.BigInt:
		i, err := parseInt(trim(text))
		if err == nil && !t.Holds(i) {
			err = errRange
		}
		if err != nil {
			return reason(err, t, text)
		}
		c.Int(i)
	case table.Decimal:
		i, err := parseDecimal(trim(text), t.Precision, t.Scale)
		if err != nil {
			return reason(err, t, text)
		}
		c.Int(i)
	case table.Real, table.Double:
		bits := 64
		if t.Kind == table.Real {
			bits = 32
		}
		f, err := parseFloat(trim(text), bits)
		if err != nil {
			return reason(err, t, text)
		}
		c.Float(f)
	case table.Date:
		d, err := parseDate(trim(text))
		if err != nil {
			return reason(err, t, text)
		}
		c.Int(d)
	case table.Timestamp:
		us, err := parseTimestamp(trim(text))
		if err != nil {
			return reason(err, t, text)
		}
		c.Int(us)
	case table.Boolean:
		b, ok := parseBool(trim(text))
		if !ok {
			return reason(errSyntax, t, text)
		}
		c.Int(b)
	default: // a column without a value has none to parse
		return fmt.Errorf("%s in a column that had no value when it was first read: the file changed", quote(text))
	}
	return nil
}

var errUTF8 = errors.New("the text is not valid UTF-8: convert the file to UTF-8")

// reason says why text is not of type t.
func reason(err error, t table.Type, text []byte) error {
	switch {
	case !utf8.Valid(text):
		return errUTF8
	case err == errRange:
		return fmt.Errorf("%s is out of range for %s", quote(text), t)
	case t.IsNumeric():
		return fmt.Errorf("%s is not a number of type %s", quote(text), t)
	case t.Kind == table.Date:
		return fmt.Errorf("%s is not a date (YYYY-MM-DD)", quote(text))
	case t.Kind == table.Timestamp:
		return fmt.Errorf("%s is not a timestamp without time zone (YYYY-MM-DD HH:MM:SS)", quote(text))
	}
	return fmt.Errorf("%s is not of type %s", quote(text), t)
}

// quote shows a field in an error: on one line, and its beginning only when long.
func quote(b []byte) string {
	const most = 40
	if len(b) > most {
		cut := most
		for cut > most-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
			cut--
		}
		return strconv.Quote(string(b[:cut])) + "..."
	}
	return strconv.Quote(string(b))
}

// view is b as a string, for callees that do not keep it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// parseInt reads [+-]digits of 64 bits.
func parseInt(b []byte) (int64, error) {
	i, neg := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		i = 1
	}
	if i == len(b) {
		return 0, errSyntax
	}
	var n uint64
	over := false
	for ; i < len(b); i++ {
		d := b[i] - '0'
		if d > 9 {
			return 0, errSyntax
		}
		if n > (math.MaxUint64-9)/10 {
			over = true
		}
		n = n*10 + uint64(d)
	}
	switch {
	case over || n > 1<<63 || n == 1<<63 && !neg:
		return 0, errRange
	case neg:
		return -int64(n), nil
	}
	return int64(n), nil
}

// parseDecimal reads a number and rounds it to scale digits after the point,
// half away from zero as PostgreSQL does. The result is scaled by 10^scale and
// has at most precision digits.
func parseDecimal(b []byte, precision, scale int) (int64, error) {
	if len(b) == 0 {
		return 0, errSyntax
	}
	if _, ok := classifyNumber(b); !ok {
		return 0, errSyntax
	}
	neg := b[0] == '-'
	var digits []byte // without leading zeros
	point, exp := 0, 0
	seenPoint := false
	for i, c := range b {
		switch {
		case c-'0' <= 9:
			if seenPoint {
				point--
			}
			if len(digits) > 0 || c != '0' {
				digits = append(digits, c-'0')
			}
		case c == '.':
			seenPoint = true
		case c|0x20 == 'e':
			var err error
			if exp, err = strconv.Atoi(string(b[i+1:])); err != nil || exp > 1e6 || exp < -1e6 {
				exp = 1e6
				if b[i+1] == '-' {
					exp = -1e6
				}
			}
		}
		if c|0x20 == 'e' {
			break
		}
	}
	if len(digits) == 0 {
		return 0, nil
	}
	// The value is digits * 10^(point+exp); wanted are those down to 10^-scale.
	keep := len(digits) + point + exp + scale
	if keep > precision {
		return 0, errRange
	}
	var n int64
	for i := range max(keep, 0) {
		n *= 10
		if i < len(digits) {
			n += int64(digits[i])
		}
	}
	if keep >= 0 && keep < len(digits) && digits[keep] >= 5 {
		n++
	}
	if t := (table.Type{Kind: table.Decimal, Precision: precision}); !t.Holds(n) {
		return 0, errRange
	}
	if neg {
		n = -n
	}
	return n, nil
}

// parseFloat reads a number, NaN, inf or Infinity, in any case. As in PostgreSQL,
// what overflows to infinity or underflows to zero is out of range.
func parseFloat(b []byte, bits int) (float64, error) {
	if f, ok := parseFloatWord(b); ok {
		return f, nil
	}
	if len(b) == 0 {
		return 0, errSyntax
	}
	// strconv knows more syntax than SQL: hexadecimal, underscores.
	if _, ok := classifyNumber(b); !ok {
		return 0, errSyntax
	}
	f, err := strconv.ParseFloat(view(b), bits)
	if err != nil {
		return 0, errRange
	}
	if f == 0 {
		for _, c := range b {
			if c|0x20 == 'e' {
				break
			}
			if c >= '1' && c <= '9' {
				return 0, errRange
			}
		}
	}
	return f, nil
}

func parseFloatWord(b []byte) (float64, bool) {
	if foldEqual(b, "nan") {
		return math.NaN(), true
	}
	sign := 1
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		if b[0] == '-' {
			sign = -1
		}
		b = b[1:]
	}
	if foldEqual(b, "inf") || foldEqual(b, "infinity") {
		return math.Inf(sign), true
	}
	return 0, false
}

// parseBool reads PostgreSQL's words for true and false, in any case: the
// prefixes of true, false, yes, no, and on, off, 1, 0.
func parseBool(b []byte) (int64, bool) {
	for _, w := range [...]string{"true", "yes"} {
		if len(b) > 0 && len(b) <= len(w) && foldEqual(b, w[:len(b)]) {
			return 1, true
		}
	}
	for _, w := range [...]string{"false", "no"} {
		if len(b) > 0 && len(b) <= len(w) && foldEqual(b, w[:len(b)]) {
			return 0, true
		}
	}
	switch {
	case foldEqual(b, "on"), foldEqual(b, "1"):
		return 1, true
	case foldEqual(b, "of"), foldEqual(b, "off"), foldEqual(b, "0"):
		return 0, true
	}
	return 0, false
}
