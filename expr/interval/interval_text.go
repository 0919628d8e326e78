package interval

import (
	"math/big"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Unit is a unit of time by its names: so many years, months, days or microseconds.
type Unit struct {
	names                   string
	years, months, days, us int64
}

// units are all of them.
var units = []Unit{
	{"second seconds s sec secs", 0, 0, 0, 1_000_000},
	{"microsecond microseconds us usec usecs", 0, 0, 0, 1},
	{"millisecond milliseconds ms msec msecs", 0, 0, 0, 1000},
	{"minute minutes m min mins", 0, 0, 0, 60_000_000},
	{"hour hours h hr hrs", 0, 0, 0, 3_600_000_000},
	{"day days d", 0, 0, 1, 0},
	{"week weeks w", 0, 0, 7, 0},
	{"month months mon mons", 0, 1, 0, 0},
	{"year years y yr yrs", 1, 0, 0, 0},
	{"decade decades dec decs", 10, 0, 0, 0},
	{"century centuries c cent", 100, 0, 0, 0},
	{"millennium millennia mil mils", 1000, 0, 0, 0},
}

// Named is the unit of a name; nil is none.
func Named(name string) *Unit {
	i := slices.IndexFunc(units, func(u Unit) bool { return slices.Contains(strings.Fields(u.names), name) })
	if i < 0 {
		return nil
	}
	return &units[i]
}

// Parse reads '1 year 2 months 3 days 04:05:06.789', with signs, fractions and "ago". It also reads '1-2 3
// 04:05:06' of the SQL standard, and P1Y2M3DT4H5M6.7S of ISO 8601. A number without a unit is days before a time of day,
// else seconds.
func Parse(text string) (s *Sum, ok bool) {
	trimmed := strings.TrimSpace(text)
	if iso, ok := strings.CutPrefix(trimmed, "P"); ok {
		return isoInterval(iso)
	}
	words := intervalWords(strings.ToLower(trimmed))
	ago := len(words) > 1 && words[len(words)-1] == "ago"
	if ago {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return nil, false
	}
	s = &Sum{}
	for i := 0; i < len(words); i++ {
		unit, n := Unit{us: 1}, clock(words[i])
		switch months := yearsAndMonths(words[i]); {
		case strings.Contains(words[i], ":"):
		case months != nil:
			unit, n = Unit{months: 1}, months
		case i+1 < len(words) && clock(words[i+1]) != nil:
			unit, n = Unit{days: 1}, fraction(words[i])
		default:
			n = fraction(words[i])
			word := "seconds"
			if i++; i < len(words) {
				word = words[i]
			}
			named := Named(word)
			if named == nil {
				return nil, false
			}
			unit = *named
		}
		if n == nil {
			return nil, false
		}
		s.Add(n, unit)
	}
	if ago {
		s.Months.Neg(&s.Months)
		s.Days.Neg(&s.Days)
		s.Micros.Neg(&s.Micros)
	}
	return s, true
}

// yearsAndMonths reads [+-]YEARS-MONTHS as months; nil is none.
func yearsAndMonths(s string) *big.Rat {
	body := strings.TrimLeft(s, "+-")
	years, months, ok := strings.Cut(body, "-")
	y, m := whole(years), whole(months)
	if !ok || len(s)-len(body) > 1 || y == nil || m == nil || m.Cmp(big.NewRat(12, 1)) >= 0 {
		return nil
	}
	y.Add(y.Mul(y, big.NewRat(12, 1)), m)
	if s[0] == '-' {
		y.Neg(y)
	}
	return y
}

// whole reads digits; nil is none.
func whole(s string) *big.Rat {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return nil
	}
	return fraction(s)
}

// isoUnits are the letters of ISO 8601: those of the date, then those of the time.
var isoUnits = [2]map[byte]Unit{
	{'Y': {years: 1}, 'M': {months: 1}, 'W': {days: 7}, 'D': {days: 1}},
	{'H': {us: 3_600_000_000}, 'M': {us: 60_000_000}, 'S': {us: 1_000_000}},
}

// isoInterval reads what follows P in 1Y2M3DT4H5M6.7S, and in 0001-02-03T04:05:06.
func isoInterval(text string) (s *Sum, ok bool) {
	s = &Sum{}
	date, times, timed := strings.Cut(text, "T")
	if parts := strings.Split(date, "-"); len(parts) == 3 && whole(parts[2]) != nil {
		months := yearsAndMonths(parts[0] + "-" + parts[1])
		if months == nil {
			return s, false
		}
		s.Add(months, Unit{months: 1})
		s.Add(whole(parts[2]), isoUnits[0]['D'])
		date = ""
	}
	if strings.Contains(times, ":") {
		n := clock(times)
		if n == nil {
			return s, false
		}
		s.AddMicros(n)
		times = ""
	}
	for i, rest := range []string{date, times} {
		for rest != "" {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= 'A' && r <= 'Z' })
			if end < 0 {
				return s, false
			}
			n, unit, known := fraction(rest[:end]), Unit{}, false
			if unit, known = isoUnits[i][rest[end]]; n == nil || !known {
				return s, false
			}
			s.Add(n, unit)
			rest = rest[end+1:]
		}
	}
	return s, text != "" && !(timed && strings.HasSuffix(text, "T"))
}

// intervalWords splits numbers from units that are glued to them: "3d" is 3 d.
func intervalWords(s string) []string {
	var words []string
	sign := "" // which stands alone before a number
	for _, w := range strings.Fields(strings.TrimPrefix(strings.TrimSpace(s), "@")) {
		if sign == "" && (w == "+" || w == "-") {
			sign = w
			continue
		}
		w, sign = sign+w, ""
		i := strings.IndexFunc(w, func(r rune) bool { return r >= 'a' && r <= 'z' })
		if i > 0 {
			words = append(words, w[:i], w[i:])
		} else {
			words = append(words, w)
		}
	}
	if sign != "" {
		words = append(words, sign)
	}
	return words
}

// fraction reads a number with a sign and a fraction; nil is none.
func fraction(s string) *big.Rat {
	const longest = 1000
	if len(s) > longest || strings.Trim(s, "+-.0123456789") != "" {
		return nil
	}
	u, scale, ok := table.ParseNumber(s)
	if !ok {
		return nil
	}
	return new(big.Rat).SetFrac(u, table.Pow10(scale))
}

// clock reads [+-]HH:MM[:SS[.f]] as microseconds; nil is none.
func clock(s string) *big.Rat {
	body := strings.TrimLeft(s, "+-")
	parts := strings.Split(body, ":")
	if len(s)-len(body) > 1 || len(parts) < 2 || len(parts) > 3 {
		return nil
	}
	total := new(big.Rat)
	for i, unit := range []int64{3_600_000_000, 60_000_000, 1_000_000}[:len(parts)] {
		n := fraction(parts[i])
		if n == nil || n.Sign() < 0 || i < 2 && !n.IsInt() || i > 0 && n.Cmp(big.NewRat(60, 1)) >= 0 {
			return nil
		}
		total.Add(total, n.Mul(n, new(big.Rat).SetInt64(unit)))
	}
	if s[0] == '-' {
		total.Neg(total)
	}
	return total
}
