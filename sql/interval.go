package sql

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// span is an interval constant with PostgreSQL's three fields. It lives only while
// a statement is bound: what meets a column is microseconds.
type span struct {
	n   [3]int64 // months, days, microseconds
	pos int
}

// The fields of a span.
const (
	monthField = iota
	dayField
	microField
)

func (s *span) Type() table.Type { return interval }
func (s *span) Pos() int         { return s.pos }

// String writes the fields that are not 0.
func (s *span) String() string {
	var parts []string
	for i, n := range s.n {
		if n != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, [...]string{"months", "days", "microseconds"}[i]))
		}
	}
	if len(parts) == 0 {
		return "INTERVAL '0'"
	}
	return "INTERVAL '" + strings.Join(parts, " ") + "'"
}

const (
	microsPerDay = table.MicrosPerDay
	daysPerMonth = 30 // where intervals are compared or cut into fractions
)

func errInterval(pos int) error { return expr.Errorf(pos, "interval out of range") }

// plain is the interval in microseconds, a month taken as 30 days: how PostgreSQL
// compares intervals.
func (s *span) plain() expr.Expr {
	days := new(big.Int).Mul(big.NewInt(s.n[monthField]), big.NewInt(daysPerMonth))
	days.Add(days, big.NewInt(s.n[dayField]))
	us := days.Mul(days, big.NewInt(microsPerDay))
	us.Add(us, big.NewInt(s.n[microField]))
	if !us.IsInt64() {
		panic(errInterval(s.pos))
	}
	return &expr.Const{V: table.Value{Type: interval, I: us.Int64()}, P: s.pos}
}

// signs are the factors of the second operand of a sum and of a difference.
var signs = map[expr.ArithOp]int64{expr.Add: 1, expr.Sub: -1}

// add is the sum or the difference of two intervals, field by field.
func (s *span) add(o *span, op expr.ArithOp, pos int) expr.Expr {
	var out fields
	for i := range out {
		out[i].Mul(big.NewInt(o.n[i]), big.NewInt(signs[op]))
		out[i].Add(&out[i], big.NewInt(s.n[i]))
	}
	return out.span(pos)
}

// addTo is a timestamp plus or minus s: months first, ending on the last day of a shorter
// month, then days, then microseconds.
func (s *span) addTo(us int64, op expr.ArithOp, pos int) expr.Expr {
	sign, days, rest := signs[op], us/microsPerDay, us%microsPerDay
	if rest < 0 {
		days, rest = days-1, rest+microsPerDay
	}
	const far = 10_000_000 * 12 // months; far outside the calendar
	if months := []int64{s.n[monthField], s.n[dayField] / 31}; slices.Max(months) > far || slices.Min(months) < -far {
		panic(expr.Errorf(pos, "timestamp out of range"))
	}
	y, m, d := table.CivilFromDays(days)
	month := y*12 + int64(m-1) + sign*s.n[monthField]
	y, m = month/12, int(month%12)+1
	if m < 1 {
		y, m = y-1, m+12
	}
	days = table.DaysFromCivil(y, m, min(d, table.DaysInMonth(y, m))) + sign*s.n[dayField]
	out := new(big.Int).Mul(big.NewInt(days), big.NewInt(microsPerDay))
	out.Add(out, big.NewInt(rest))
	out.Add(out, new(big.Int).Mul(big.NewInt(sign), big.NewInt(s.n[microField])))
	if !out.IsInt64() || !timestamp.Holds(out.Int64()) {
		panic(expr.Errorf(pos, "timestamp out of range"))
	}
	return &expr.Const{V: table.Value{Type: timestamp, I: out.Int64()}, P: pos}
}

// inRange is e; it fails for an operation on constants that gives no date or timestamp of
// the calendar.
func inRange(e expr.Expr) expr.Expr {
	if isTime(e.Type()) && ofConstants(e) {
		must(expr.Eval(e, constants))
	}
	return e
}

// scaleSpan is an interval times or divided by a constant number.
func scaleSpan(op expr.ArithOp, s *span, by expr.Expr, pos int) expr.Expr {
	c, ok := by.(*expr.Const)
	if !ok {
		panic(expr.Errorf(pos, "an interval times a value that is not constant is not supported"))
	}
	if c.V.Null {
		return &expr.Const{V: table.Null(interval), P: pos}
	}
	f := new(big.Rat)
	if c.V.Type.IsFloat() {
		if f.SetFloat64(c.V.F) == nil {
			panic(errInterval(pos))
		}
	} else {
		f.SetFrac(c.V.Unscaled(), table.Pow10(c.V.Type.Scale))
	}
	if op == expr.Div {
		if f.Sign() == 0 {
			panic(expr.Errorf(pos, expr.MsgDivisionByZero))
		}
		f.Inv(f)
	}
	var out fields
	for i, n := range s.n {
		out.add(i, new(big.Rat).Mul(new(big.Rat).SetInt64(n), f))
	}
	return out.span(pos)
}

// fields sums months, days and microseconds, a fraction of a month going into days and
// one of a day into microseconds.
type fields [3]big.Int

func (f *fields) add(field int, n *big.Rat) {
	for ; ; field++ {
		whole := new(big.Int).Quo(n.Num(), n.Denom())
		if field == microField {
			whole = roundEven(n)
		}
		f[field].Add(&f[field], whole)
		if field == microField {
			return
		}
		n = new(big.Rat).Sub(n, new(big.Rat).SetInt(whole))
		if n.Sign() == 0 {
			return
		}
		n.Mul(n, new(big.Rat).SetInt64([]int64{daysPerMonth, microsPerDay}[field]))
	}
}

// roundEven is the integer nearest to n, halves to the even one.
func roundEven(n *big.Rat) *big.Int {
	twice := new(big.Int).Lsh(n.Num(), 1)
	q, r := new(big.Int).DivMod(twice.Add(twice, n.Denom()), new(big.Int).Lsh(n.Denom(), 1), new(big.Int))
	if r.Sign() == 0 && q.Bit(0) == 1 {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

func (f *fields) span(pos int) *span {
	s := &span{pos: pos}
	for i := range f {
		if s.n[i] = f[i].Int64(); !f[i].IsInt64() {
			panic(errInterval(pos))
		}
	}
	return s
}

// intervalUnit is a unit by its names: how much of which field it is.
type intervalUnit struct {
	names string
	field int
	n     int64
}

// intervalUnits are all of them; the first is that of a number without one.
var intervalUnits = []intervalUnit{
	{"second seconds s sec secs", microField, 1_000_000},
	{"microsecond microseconds us usec usecs", microField, 1},
	{"millisecond milliseconds ms msec msecs", microField, 1000},
	{"minute minutes m min mins", microField, 60_000_000},
	{"hour hours h hr hrs", microField, 3_600_000_000},
	{"day days d", dayField, 1},
	{"week weeks w", dayField, 7},
	{"month months mon mons", monthField, 1},
	{"year years y yr yrs", monthField, 12},
	{"decade decades dec decs", monthField, 120},
	{"century centuries c cent", monthField, 1200},
	{"millennium millennia mil mils", monthField, 12000},
}

// parseInterval reads '1 year 2 months 3 days 04:05:06.789', with signs, fractions and
// "ago"; a number without a unit is seconds.
func parseInterval(s string, pos int) expr.Expr {
	bad := expr.Errorf(pos, "invalid input syntax for type interval: %q; write for example '2 days 3 hours'", s)
	words := intervalWords(strings.ToLower(s))
	ago := len(words) > 1 && words[len(words)-1] == "ago"
	if ago {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		panic(bad)
	}
	var f fields
	for i := 0; i < len(words); i++ {
		field, unit, n := microField, int64(1), clock(words[i])
		if !strings.Contains(words[i], ":") {
			n = fraction(words[i])
			k := 0
			if i++; i < len(words) {
				k = slices.IndexFunc(intervalUnits, func(u intervalUnit) bool { return slices.Contains(strings.Fields(u.names), words[i]) })
			}
			if k < 0 {
				panic(bad)
			}
			field, unit = intervalUnits[k].field, intervalUnits[k].n
		}
		if n == nil {
			panic(bad)
		}
		f.add(field, n.Mul(n, new(big.Rat).SetInt64(unit)))
	}
	if ago {
		for i := range f {
			f[i].Neg(&f[i])
		}
	}
	return f.span(pos)
}

// intervalWords splits numbers from units that are glued to them: "3d" is 3 d.
func intervalWords(s string) []string {
	var words []string
	for _, w := range strings.Fields(strings.TrimPrefix(strings.TrimSpace(s), "@")) {
		i := strings.IndexFunc(w, func(r rune) bool { return r >= 'a' && r <= 'z' })
		if i > 0 {
			words = append(words, w[:i], w[i:])
		} else {
			words = append(words, w)
		}
	}
	return words
}

// fraction reads a number with a sign and a fraction; nil is none.
func fraction(s string) *big.Rat {
	c, ok := parseNumber(s)
	if !ok || strings.Trim(s, "+-.0123456789") != "" {
		return nil
	}
	return new(big.Rat).SetFrac(c.V.Unscaled(), table.Pow10(c.V.Type.Scale))
}

// clock reads [+-]HH:MM[:SS[.f]] as microseconds; nil is none.
func clock(s string) *big.Rat {
	body := strings.TrimLeft(s, "+-")
	parts := strings.Split(body, ":")
	if len(s)-len(body) > 1 || len(parts) < 2 || len(parts) > 3 {
		return nil
	}
	sum := new(big.Rat)
	for i, unit := range []int64{3_600_000_000, 60_000_000, 1_000_000}[:len(parts)] {
		n := fraction(parts[i])
		if n == nil || n.Sign() < 0 || i < 2 && !n.IsInt() || i > 0 && n.Cmp(big.NewRat(60, 1)) >= 0 {
			return nil
		}
		sum.Add(sum, n.Mul(n, new(big.Rat).SetInt64(unit)))
	}
	if s[0] == '-' {
		sum.Neg(sum)
	}
	return sum
}
