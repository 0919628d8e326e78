package table

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Value is one SQL value.
//
// Which field has the payload depends on Type.Kind. I has the integers, BOOLEAN (0, 1), DATE (days since 1970-01-01) and
// TIMESTAMP (microseconds since then). I also has INTERVAL (microseconds of its days and its time, beside [Span]) and
// DECIMAL (the value times 10^Scale). F has REAL and DOUBLE, S has VARCHAR, List has an Array. A DECIMAL too large for
// 64 bits has Big set, which then holds the scaled integer in place of I.
type Value struct {
	Type Type
	Null bool
	Span

	I   int64
	F   float64
	S   string
	Big *big.Int

	List *[]Value // a pointer, so that all other values stay small
}

// Span is what an INTERVAL has beside microseconds.
type Span struct {
	Months int32
	// Carried is how many of the whole days in the microseconds belong to the time of day. It is 1 for '36 hours', 0
	// for '1 day 12 hours' and -1 for '1 day -1 hours'.
	Carried int32
}

// MicrosPerMonth is a month as intervals are compared: 30 days.
const MicrosPerMonth = 30 * MicrosPerDay

// IntervalValue is an INTERVAL of so many microseconds in all, with [MicrosPerMonth]: the one of a span.
func IntervalValue(all int64, s Span) Value {
	return Value{Type: Type{Kind: Interval}, Span: s, I: all - int64(s.Months)*MicrosPerMonth}
}

// Clock is an INTERVAL's time of day: microseconds, of any number of hours and of either sign.
func (v Value) Clock() int64 { return v.I%MicrosPerDay + int64(v.Carried)*MicrosPerDay }

// Days are an INTERVAL's days beside its months and its time of day.
func (v Value) Days() int64 { return v.I/MicrosPerDay - int64(v.Carried) }

// Null returns the NULL of type t.
func Null(t Type) Value { return Value{Type: t, Null: true} }

// Int returns a BIGINT.
func Int(i int64) Value { return Value{Type: Type{Kind: BigInt}, I: i} }

// Literal returns the value of an integer as SQL text has it: an INTEGER where that holds it, else a BIGINT.
func Literal(i int64) Value {
	if t := (Type{Kind: Integer}); t.Holds(i) {
		return Value{Type: t, I: i}
	}
	return Int(i)
}

// Float returns a DOUBLE PRECISION.
func Float(f float64) Value { return Value{Type: Type{Kind: Double}, F: f} }

// Bool returns a BOOLEAN.
func Bool(b bool) Value {
	v := Value{Type: Type{Kind: Boolean}}
	if b {
		v.I = 1
	}
	return v
}

// Str returns a VARCHAR.
func Str(s string) Value { return Value{Type: Type{Kind: Varchar}, S: s} }

// Dec returns a DECIMAL of value unscaled * 10^-t.Scale.
func Dec(t Type, unscaled *big.Int) Value {
	v := Value{Type: t}
	if unscaled.IsInt64() {
		v.I = unscaled.Int64()
	} else {
		v.Big = unscaled
	}
	return v
}

// List returns an array of values of type t.
func List(t Type, values []Value) Value { return Value{Type: ArrayOf(t), List: &values} }

// Unscaled returns the integer of an integer or DECIMAL value: the value times
// 10^Scale; of an INTERVAL its microseconds, with 30 days a month.
func (v Value) Unscaled() *big.Int {
	switch {
	case v.Big != nil:
		return v.Big
	case v.Months != 0:
		us := new(big.Int).Mul(big.NewInt(int64(v.Months)), big.NewInt(MicrosPerMonth))
		return us.Add(us, big.NewInt(v.I))
	}
	return big.NewInt(v.I)
}

// Compare orders two non-NULL values of the same kind (and, for DECIMAL, any two
// scales) as PostgreSQL does: NaN above every number, strings by bytes.
func Compare(a, b Value) int {
	switch {
	case a.Type.Kind == Varchar:
		return strings.Compare(a.S, b.S)
	case a.Type.IsFloat():
		return CompareFloat(a.F, b.F)
	case a.Type.Scale != b.Type.Scale || a.Big != nil || b.Big != nil || a.Months != 0 || b.Months != 0:
		x, y := a.Unscaled(), b.Unscaled()
		if d := a.Type.Scale - b.Type.Scale; d < 0 {
			x = new(big.Int).Mul(x, Pow10(-d))
		} else if d > 0 {
			y = new(big.Int).Mul(y, Pow10(d))
		}
		return x.Cmp(y)
	}
	return cmp.Compare(a.I, b.I)
}

// CompareFloat orders doubles with -0 = 0 and NaN equal to itself and above
// everything else.
func CompareFloat(a, b float64) int {
	switch an, bn := math.IsNaN(a), math.IsNaN(b); {
	case an && bn:
		return 0
	case an:
		return 1
	case bn:
		return -1
	}
	return cmp.Compare(a, b)
}

// Pow10 returns 10^n.
func Pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// String returns the value as PostgreSQL prints it (ISO dates, the shortest
// float that reads back), and "NULL" for NULL.
func (v Value) String() string {
	if v.Null {
		return "NULL"
	}
	switch v.Type.Kind {
	case Boolean:
		return strconv.FormatBool(v.I != 0)
	case Decimal:
		if v.Big == nil && v.I > -1e18 && v.I < 1e18 {
			return string(appendScaled(nil, v.I, v.Type.Scale))
		}
		return formatDecimal(v.Unscaled(), v.Type.Scale)
	case Real:
		return formatFloat(v.F, 32)
	case Double:
		return formatFloat(v.F, 64)
	case Date:
		return FormatDate(v.I)
	case Timestamp:
		return FormatTimestamp(v.I)
	case Varchar:
		return v.S
	case Interval:
		return FormatInterval(v.Months, v.Days(), v.Clock())
	case Array:
		return formatList(*v.List)
	}
	return strconv.FormatInt(v.I, 10)
}

// AppendTo appends what String returns.
func (v Value) AppendTo(out []byte) []byte {
	switch {
	case v.Null:
	case v.Type.IsInteger():
		return strconv.AppendInt(out, v.I, 10)
	case v.Type.Kind == Decimal && v.Big == nil && v.I > -1e18 && v.I < 1e18:
		return appendScaled(out, v.I, v.Type.Scale)
	case v.Type.Kind == Double && math.Abs(v.F) >= 1.1e-4 && math.Abs(v.F) < 9e14: // as formatFloat has it
		return strconv.AppendFloat(out, v.F, 'f', -1, 64)
	case v.Type.Kind == Date:
		return appendDate(out, v.I)
	case v.Type.Kind == Timestamp:
		return appendTimestamp(out, v.I)
	}
	return append(out, v.String()...)
}

// formatList writes an array as PostgreSQL does: {1,NULL,"a b"}.
func formatList(list []Value) string {
	texts := make([]string, len(list))
	for i, v := range list {
		text := v.String()
		if !v.Null && (text == "" || strings.ContainsAny(text, "{},\"\\ \t\n\v\f\r") || strings.EqualFold(text, "null")) {
			text = `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(text) + `"`
		}
		texts[i] = text
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// RoundedQuotient is a / b rounded to the nearest integer, halves away from zero.
func RoundedQuotient(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Abs(r).Lsh(r, 1).CmpAbs(b) >= 0 {
		q.Add(q, big.NewInt(int64(a.Sign()*b.Sign())))
	}
	return q
}

func formatDecimal(u *big.Int, scale int) string {
	s := new(big.Int).Abs(u).String()
	if scale > 0 {
		if len(s) <= scale {
			s = strings.Repeat("0", scale-len(s)+1) + s
		}
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	if u.Sign() < 0 {
		s = "-" + s
	}
	return s
}

// appendScaled appends what formatDecimal gives of less than 19 digits.
func appendScaled(out []byte, u int64, scale int) []byte {
	if scale > 18 {
		return append(out, formatDecimal(big.NewInt(u), scale)...)
	}
	digits := uint64(u)
	if u < 0 {
		out, digits = append(out, '-'), -digits
	}
	if scale == 0 {
		return strconv.AppendUint(out, digits, 10)
	}
	unit := uint64(tenTo[scale])
	out = append(strconv.AppendUint(out, digits/unit, 10), '.')
	from := len(out)
	out = append(out, zeros[:scale]...)
	for rest, i := digits%unit, len(out)-1; i >= from; i-- {
		out[i] = byte('0' + rest%10)
		rest /= 10
	}
	return out
}

const zeros = "000000000000000000"

func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	// PostgreSQL prints up to 15 (float4: 6) digits plainly, and more with an exponent. The exponent is that
	// of the shortest decimal. For a REAL it may differ from the value's own.
	limit := 15
	if bits == 32 {
		limit = 6
	}
	if size := math.Abs(f); size >= 1.1e-4 && size < 0.99*math.Pow10(limit) {
		return strconv.FormatFloat(f, 'f', -1, bits)
	}
	e := strconv.FormatFloat(f, 'e', -1, bits)
	if exp, err := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:]); err == nil && (exp < -4 || exp >= limit) {
		return e
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}
