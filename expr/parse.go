package expr

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// castText parses s as a value of type to, blanks around it allowed.
func castText(s string, to table.Type, wide bool, pos int) (table.Value, error) {
	out := table.Value{Type: to}
	in := strings.Trim(s, " \t\n\r\v\f")
	syntax := Errorf(pos, "invalid input syntax for type %s: %q", to, s)
	switch {
	case to.Kind == table.Boolean:
		b, ok := parseBool(strings.ToLower(in))
		if !ok {
			return out, syntax
		}
		return table.Bool(b), nil
	case to.IsInteger():
		i, ok := parseInt(in)
		if !ok {
			return out, syntax
		}
		return castInt(i, to, pos)
	case to.IsFloat():
		return castTextFloat(s, in, to, pos, syntax)
	case to.Kind == table.Decimal:
		u, scale, ok := parseDecimal(in)
		if !ok {
			return out, syntax
		}
		return castDecimal(u, scale, to, wide, pos)
	case to.Kind == table.Date || to.Kind == table.Timestamp:
		days, us, ok := parseTime(in)
		if !ok {
			return out, syntax
		}
		out.I = days + us/microsPerDay // 24:00 is the next day
		if to.Kind == table.Timestamp {
			if out.I, ok, _ = IntOp(Mul, days, microsPerDay); ok {
				out.I, ok, _ = IntOp(Add, out.I, us)
			}
		}
		if !ok || !to.Holds(out.I) {
			return table.Null(to), Errorf(pos, "%s: %q", OutOfRange(to), s)
		}
		return out, nil
	}
	return out, Errorf(pos, "cannot cast type character varying to %s", to)
}

func castTextFloat(s, in string, to table.Type, pos int, syntax error) (table.Value, error) {
	size := 64
	if to.Kind == table.Real {
		size = 32
	}
	f, err := strconv.ParseFloat(in, size)
	if err != nil && err.(*strconv.NumError).Err == strconv.ErrRange {
		return table.Null(to), Errorf(pos, "%q is out of range for type %s", s, to)
	}
	// Go reads more than PostgreSQL does: hexadecimal and underscores.
	if err != nil || strings.ContainsAny(in, "xXpP_") {
		return table.Null(to), syntax
	}
	return table.Value{Type: to, F: f}, nil
}

// parseBool takes what PostgreSQL takes: unique prefixes of true, false, yes, no,
// on and off, and 1 and 0.
func parseBool(s string) (value, ok bool) {
	switch {
	case s == "":
		return false, false
	case s == "1" || s == "on" || strings.HasPrefix("true", s) || strings.HasPrefix("yes", s):
		return true, true
	case s == "0" || s == "of" || s == "off" || strings.HasPrefix("false", s) || strings.HasPrefix("no", s):
		return false, true
	}
	return false, false
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func parseInt(s string) (*big.Int, bool) {
	body := s
	if body != "" && (body[0] == '-' || body[0] == '+') {
		body = body[1:]
	}
	if !digitsOnly(body) {
		return nil, false
	}
	if body = strings.TrimLeft(body, "0"); len(body) > 1000 {
		body = body[:1000] // out of every range all the same
	}
	i, _ := new(big.Int).SetString("0"+body, 10)
	if s[0] == '-' {
		i.Neg(i)
	}
	return i, true
}

// parseDecimal reads digits, a point, digits and an exponent, as an integer times
// 10^-scale with scale >= 0.
func parseDecimal(s string) (unscaled *big.Int, scale int, ok bool) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e < -2000 || e > 2000 {
			return nil, 0, false
		}
		mantissa, exponent = s[:i], e
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	if digits := strings.TrimLeft(whole, "+-"); digits+frac == "" || digits == "" && whole != "" && len(whole) > 1 {
		return nil, 0, false
	}
	if frac != "" && !digitsOnly(frac) {
		return nil, 0, false
	}
	if whole == "" || whole == "-" || whole == "+" {
		whole += "0"
	}
	u, ok := parseInt(whole + frac)
	if !ok {
		return nil, 0, false
	}
	scale = len(frac) - exponent
	if scale < 0 {
		u.Mul(u, table.Pow10(-scale))
		scale = 0
	}
	return u, scale, true
}

// parseTime reads YYYY-MM-DD, or that with a blank or T and HH:MM[:SS[.f]], as days
// since 1970-01-01 and microseconds of the day; " BC" may follow. A fraction is
// rounded to microseconds.
func parseTime(s string) (days, micros int64, ok bool) {
	s, bc := strings.CutSuffix(s, " BC")
	date, clock, timed := strings.Cut(s, " ")
	if !timed {
		date, clock, timed = strings.Cut(s, "T")
	}
	parts := strings.Split(date, "-")
	if len(parts) != 3 || len(parts[0]) < 4 {
		return 0, 0, false
	}
	var ymd [3]int
	for i, p := range parts {
		if !digitsOnly(p) || len(p) > 12 {
			return 0, 0, false
		}
		ymd[i], _ = strconv.Atoi(p)
	}
	y, m, d := int64(ymd[0]), ymd[1], ymd[2]
	if y == 0 {
		return 0, 0, false
	}
	if bc {
		y = 1 - y
	}
	if m < 1 || m > 12 || d < 1 || d > table.DaysInMonth(y, m) {
		return 0, 0, false
	}
	if timed {
		micros, ok = parseClock(clock)
	}
	return table.DaysFromCivil(y, m, d), micros, ok || !timed
}

// parseClock reads HH:MM[:SS[.f]] as microseconds; 24:00 is allowed, as is a leap
// second.
func parseClock(s string) (int64, bool) {
	s, frac, _ := strings.Cut(s, ".")
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 || frac != "" && (!digitsOnly(frac) || len(parts) != 3) {
		return 0, false
	}
	var hms [3]int64
	for i, p := range parts {
		if !digitsOnly(p) || len(p) > 2 {
			return 0, false
		}
		hms[i], _ = strconv.ParseInt(p, 10, 64)
	}
	if hms[0] > 24 || hms[1] > 59 || hms[2] > 60 {
		return 0, false
	}
	us := ((hms[0]*60+hms[1])*60 + hms[2]) * 1_000_000
	if frac != "" {
		f, _ := strconv.ParseFloat("0."+frac, 64)
		us += int64(f*1e6 + 0.5)
	}
	return us, us <= microsPerDay
}
