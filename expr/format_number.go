package expr

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// to_char of numbers, and to_number.
func init() {
	define("to_number(text,text) numeric!", readNumber).typed = func(args []Expr) table.Type {
		t := table.Type{Kind: table.Decimal, Precision: 38, Scale: 10}
		if c, ok := args[1].(*Const); ok && !c.V.Null {
			f, _ := readNumberFormat(c.V.S)
			t.Scale = min(f.digits, 38)
		}
		return t
	}
	define("to_char(double,text) text!", func(a args) (table.Value, error) {
		x := a.v[0].F
		if math.IsNaN(x) || math.IsInf(x, 0) { // which PostgreSQL writes in several ways
			return a.failAs(sqlstate.InvalidParameterValue, "a number that is not finite has no digits to format")
		}
		// As many digits as PostgreSQL. They are rounded as those of a NUMERIC: an AVG and a quotient are that there.
		u, scale, _ := table.ParseNumber(strconv.FormatFloat(x, 'e', 14, 64))
		return a.formatted(u, scale)
	})
	define("to_char(real,text) text!", args.formattedReal)
	define("to_char(numeric,text) text!", func(a args) (table.Value, error) { return a.formatted(a.v[0].Unscaled(), a.v[0].Type.Scale) })
}

// numberFormat is a pattern for numbers.
type numberFormat struct {
	parts         []string // 9 0 . , S MI PL SG PR th TH, and text after a quote
	whole, digits int      // before and after the point
	zero, last    int      // the first 0 before the point, and the last one after it, counted from 1
	point         bool
	fill          bool   // FM
	sign          bool   // one of S, MI, SG and PR says where the sign is
	shifted       int    // digits behind a V: the number is multiplied by ten as often
	shifts        bool   // there is a V
	roman         string // RN or rn
	science       bool   // EEEE
}

// numberParts are the elements of a pattern.
var numberParts = []string{"9", "0", ".", "D", ",", "G", "S", "MI", "PL", "SG", "PR", "TH", "FM", "L", "V", "RN", "EEEE"}

func readNumberFormat(pattern string) (f numberFormat, err error) {
	for i := 0; i < len(pattern); {
		rest, found := pattern[i:], ""
		if text, size := quotedText(rest); size > 0 {
			f.parts = append(f.parts, `"`+text)
			i += size
			continue
		}
		for _, p := range numberParts {
			if len(rest) >= len(p) && strings.EqualFold(rest[:len(p)], p) && len(p) > len(found) {
				found = p
			}
		}
		switch c := strings.ToUpper(rest[:1]); {
		case found == "" && c >= "A" && c <= "Z":
			return f, sqlstate.Errorf(sqlstate.FeatureNotSupported, "%s is not supported in the pattern of a number", c)
		case found == "":
			f.parts = append(f.parts, `"`+rest[:1])
			i++
			continue
		}
		i += len(found)
		switch found {
		case "FM":
			f.fill = true
			continue
		case "9", "0":
			f.count(found == "0")
		case ".", "D":
			found = "."
			if f.point {
				return f, sqlstate.Errorf(sqlstate.SyntaxError, "a second point is not supported in the pattern of a number")
			}
			f.point = true
		case "G":
			found = ","
		case "TH":
			found = rest[:2]
		case "S", "MI", "SG", "PR":
			f.sign = true
		case "V":
			f.shifts = true
			continue
		case "RN":
			f.roman = rest[:2]
			continue
		case "EEEE":
			f.science = true
			continue
		}
		f.parts = append(f.parts, found)
	}
	switch {
	case f.shifts && f.point:
		return f, sqlstate.Errorf(sqlstate.SyntaxError, "V beside a point is not supported in the pattern of a number")
	case f.roman != "" && len(f.parts) > 0:
		return f, sqlstate.Errorf(sqlstate.SyntaxError, "RN beside other than FM is not supported in the pattern of a number")
	case f.science && slices.ContainsFunc(f.parts, func(p string) bool { return !strings.Contains("90.", p) }):
		return f, sqlstate.Errorf(sqlstate.SyntaxError, "EEEE beside other than digits and a point is not supported in the pattern of a number")
	}
	if f.point && f.digits == 0 && f.whole > 0 { // a point without digits behind it is not written
		f.parts = slices.DeleteFunc(f.parts, func(p string) bool { return p == "." })
		f.point = false
	}
	return f, nil
}

func (f *numberFormat) count(zero bool) {
	if f.point {
		if f.digits++; zero {
			f.last = f.digits
		}
		return
	}
	if f.whole++; zero && f.zero == 0 {
		f.zero = f.whole
	}
	if f.shifts {
		f.shifted++
	}
}

// formatted writes u / 10^scale by a pattern, the second argument.
func (a args) formatted(u *big.Int, scale int) (table.Value, error) {
	f, err := readNumberFormat(a.v[1].S)
	switch {
	case err != nil:
		return table.Null(a.T), ErrorAt(a.P, err)
	case f.roman != "":
		return table.Str(f.romanOf(withScale(u, scale, 0))), nil
	case f.science:
		return table.Str(scientific(u, scale, f.digits, a.v[0].Type.IsFloat())), nil
	}
	u = withScale(u, scale, f.digits+f.shifted)
	text := new(big.Int).Abs(u).String()
	if n := f.digits + 1 - len(text); n > 0 {
		text = strings.Repeat("0", n) + text
	}
	return table.Str(f.placed(text[:len(text)-f.digits], text[len(text)-f.digits:], u.Sign() < 0)), nil
}

// formattedReal writes a REAL by a pattern as C does. It rounds to the nearest number, halves to even, with no more than six
// digits, and writes -0 with its sign.
func (a args) formattedReal() (table.Value, error) {
	x := a.v[0].F
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return a.failAs(sqlstate.InvalidParameterValue, "a number that is not finite has no digits to format")
	}
	f, err := readNumberFormat(a.v[1].S)
	switch {
	case err != nil:
		return table.Null(a.T), ErrorAt(a.P, err)
	case f.roman != "":
		u, _, _ := table.ParseNumber(strconv.FormatFloat(x, 'f', 0, 64))
		return table.Str(f.romanOf(u)), nil
	case f.science:
		return table.Str(pick(math.Signbit(x), "", " ") + strconv.FormatFloat(x, 'e', f.digits, 64)), nil
	}
	x *= math.Pow10(f.shifted)
	f.digits = max(0, min(f.digits, 6-len(strconv.FormatFloat(math.Abs(x), 'f', 0, 64))))
	whole, part, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'f', f.digits, 64), ".")
	return table.Str(f.placed(whole, part, math.Signbit(x))), nil
}

// placed writes the digits before and after the point, or # where those before it have no room.
func (f *numberFormat) placed(whole, part string, negative bool) string {
	if f.fill {
		part = part[:max(len(strings.TrimRight(part, "0")), min(f.last, len(part)))]
	}
	if whole == "0" && f.point && f.whole > 0 && !(f.fill && part == "") {
		whole = ""
	}
	if len(whole) > f.whole {
		whole, part = strings.Repeat("#", f.whole), strings.Repeat("#", f.digits)
	}
	return f.write(whole, part, negative)
}

// romanOf is a number from 1 to 3999 in Roman numerals, 15 wide; others have none.
func (f *numberFormat) romanOf(u *big.Int) string {
	if !u.IsInt64() || u.Int64() < 1 || u.Int64() > 3999 {
		return strings.Repeat("#", 15)
	}
	text := roman(int(u.Int64()))
	if f.roman == "rn" {
		text = strings.ToLower(text)
	}
	if f.fill {
		return text
	}
	return strings.Repeat(" ", 15-len(text)) + text
}

// roman writes a number from 1 to 3999.
func roman(n int) string {
	var out strings.Builder
	for _, r := range []struct {
		value int
		text  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= r.value; n -= r.value {
			out.WriteString(r.text)
		}
	}
	return out.String()
}

// scientific writes u / 10^scale with so many digits behind the point and an exponent. Where 9.99 becomes 10.0, a NUMERIC
// keeps its exponent, as in PostgreSQL; a DOUBLE does not.
func scientific(u *big.Int, scale, digits int, double bool) string {
	exponent, whole := 0, 1
	if u.Sign() != 0 {
		size := func() int { return len(new(big.Int).Abs(u).String()) }
		exponent = size() - 1 - scale
		u = withScale(u, size()-1, digits)
		if whole = size() - digits; double && whole > 1 {
			exponent++
			u, whole = withScale(u, 1, 0), 1
		}
	}
	text := new(big.Int).Abs(u).String()
	text = strings.Repeat("0", max(0, digits+1-len(text))) + text
	point := pick(digits > 0, ".", "")
	return pick(u.Sign() < 0, "-", " ") + text[:whole] + point + text[whole:] + "e" + pick(exponent < 0, "-", "+") + pick(max(exponent, -exponent) < 10, "0", "") + strconv.Itoa(max(exponent, -exponent))
}

// readNumber reads the first argument by the pattern of the second. A place for a digit takes one character; only digits,
// the point and signs count.
func readNumber(a args) (table.Value, error) {
	text := a.v[0].S
	f, err := readNumberFormat(a.v[1].S)
	if err != nil {
		return table.Null(a.T), ErrorAt(a.P, err)
	}
	if f.shifts || f.roman != "" || f.science {
		return a.failAs(sqlstate.FeatureNotSupported, "V, RN and EEEE are not supported in the pattern of to_number")
	}
	var digits strings.Builder
	signed := slices.ContainsFunc(f.parts, func(p string) bool { return p == "S" || p == "MI" || p == "PL" || p == "SG" })
	negative, fraction, behind := false, 0, false
	sign := func() {
		for text != "" && strings.IndexByte("+-<> ", text[0]) >= 0 {
			negative = negative || text[0] == '-' || text[0] == '<' && slices.Contains(f.parts, "PR")
			text = text[1:]
		}
	}
	skip := func() {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	for _, p := range f.parts {
		switch p {
		case "9", "0", ".":
			if digits.Len() == 0 {
				sign()
			}
			text = strings.TrimPrefix(text, " ")
			switch {
			case text == "":
			case text[0] == '.' && f.point:
				behind = true
			case text[0] == '-' && signed:
				negative = true
			case text[0] < '0' || text[0] > '9' || behind && fraction == f.digits:
			default:
				digits.WriteByte(text[0])
				if behind {
					fraction++
				}
			}
			skip()
		case ",":
			text = strings.TrimPrefix(text, ",")
		case "S", "MI", "PL", "SG":
			sign()
		case "PR":
		case "TH", "th", "Th", "tH":
			text = strings.TrimLeftFunc(text, unicode.IsLetter)
		default: // as many characters as the text of the pattern has, but none that counts
			for range max(1, utf8.RuneCountInString(p[1:])) { // an L is one
				if text != "" && strings.IndexByte("0123456789.,+-", text[0]) < 0 {
					skip()
				}
			}
		}
	}
	u, ok := new(big.Int).SetString(digits.String(), 10)
	if !ok {
		return a.failAs(sqlstate.InvalidText, "%q has no digits for the pattern %q", a.v[0].S, a.v[1].S)
	}
	if signed {
		sign() // also behind fewer digits than the pattern has
	}
	if negative {
		u.Neg(u)
	}
	return a.decimal(withScale(u, fraction, a.T.Scale))
}

// withScale brings u / 10^from to another scale, rounded where digits are lost.
func withScale(u *big.Int, from, to int) *big.Int {
	if from <= to {
		return new(big.Int).Mul(u, table.Pow10(to-from))
	}
	return divAway(u, table.Pow10(from-to))
}

// write puts the digits before and after the point into their places.
func (f *numberFormat) write(whole, part string, negative bool) string {
	var out strings.Builder
	pad, at, fraction := f.whole-len(whole), 0, 0
	started, afterPoint := false, false
	leading := ""
	if !f.sign {
		leading = pick(negative, "-", pick(f.fill, "", " "))
	}
	begin := func() {
		if !started {
			out.WriteString(leading)
			started = true
		}
	}
	for _, p := range f.parts {
		switch p {
		case "9", "0":
			switch {
			case afterPoint:
				if fraction < len(part) {
					out.WriteByte(part[fraction])
				}
				fraction++
				continue
			case at >= pad:
				begin()
				out.WriteByte(whole[at-pad])
			case f.zero > 0 && at+1 >= f.zero:
				begin()
				out.WriteByte('0')
			case !f.fill:
				out.WriteByte(' ')
			}
			at++
		case ".":
			begin()
			afterPoint = true
			if f.digits > 0 || f.whole == 0 { // a number may have too many digits for some behind the point
				out.WriteByte('.')
			}
		case ",":
			if started {
				out.WriteByte(',')
			} else if !f.fill {
				out.WriteByte(' ')
			}
		case "S":
			sign := pick(negative, "-", "+")
			if at == 0 && !afterPoint {
				leading = sign
			} else {
				out.WriteString(sign)
			}
		case "L": // the currency's sign of the locale C
			out.WriteByte(' ')
		case "SG":
			out.WriteString(pick(negative, "-", "+"))
		case "MI":
			out.WriteString(pick(negative, "-", pick(f.fill, "", " ")))
		case "PL":
			out.WriteString(pick(!negative, "+", pick(f.fill, "", " ")))
		case "PR":
			out.WriteString(pick(negative, ">", pick(f.fill, "", " ")))
		case "TH", "th", "Th", "tH":
			if !negative && !f.point && !strings.HasPrefix(whole, "#") {
				out.WriteString(ordinal(whole, p))
			}
		default:
			out.WriteString(p[1:])
		}
	}
	if i := len(f.parts) - 1; i >= 0 && f.parts[i] == "PR" {
		text := out.String()
		blank := len(text) - len(strings.TrimLeft(text, " "))
		return text[:blank] + pick(negative, "<", pick(f.fill, "", " ")) + text[blank:]
	}
	return out.String()
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
