package format

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

// NumberPattern is a pattern for numbers.
type NumberPattern struct {
	text          string
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

// NewNumberPattern reads a pattern.
func NewNumberPattern(pattern string) (f *NumberPattern, err error) {
	f = &NumberPattern{text: pattern}
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

func (f *NumberPattern) count(zero bool) {
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

// Digits is how many digits the pattern has behind the point.
func (f *NumberPattern) Digits() int { return f.digits }

// Decimal writes u / 10^scale. With double the exponent of EEEE is that of a DOUBLE.
func (f *NumberPattern) Decimal(u *big.Int, scale int, double bool) string {
	switch {
	case f.roman != "":
		return f.romanOf(withScale(u, scale, 0))
	case f.science:
		return scientific(u, scale, f.digits, double)
	}
	u = withScale(u, scale, f.digits+f.shifted)
	text := new(big.Int).Abs(u).String()
	if n := f.digits + 1 - len(text); n > 0 {
		text = strings.Repeat("0", n) + text
	}
	return f.placed(text[:len(text)-f.digits], text[len(text)-f.digits:], u.Sign() < 0)
}

// Real writes a finite REAL as C does. It rounds to the nearest number, halves to even, with no more than six
// digits, and writes -0 with its sign.
func (f NumberPattern) Real(x float64) string {
	switch {
	case f.roman != "":
		u, _, _ := table.ParseNumber(strconv.FormatFloat(x, 'f', 0, 64))
		return f.romanOf(u)
	case f.science:
		return pick(math.Signbit(x), "", " ") + strconv.FormatFloat(x, 'e', f.digits, 64)
	}
	x *= math.Pow10(f.shifted)
	f.digits = max(0, min(f.digits, 6-len(strconv.FormatFloat(math.Abs(x), 'f', 0, 64))))
	whole, part, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'f', f.digits, 64), ".")
	return f.placed(whole, part, math.Signbit(x))
}

// placed writes the digits before and after the point, or # where those before it have no room.
func (f *NumberPattern) placed(whole, part string, negative bool) string {
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
func (f *NumberPattern) romanOf(u *big.Int) string {
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

// Read reads a text, times 10^scale and rounded. A place for a digit takes one character; only digits, the point and signs count.
func (f *NumberPattern) Read(text string, scale int) (*big.Int, error) {
	all := text
	if f.shifts || f.roman != "" || f.science {
		return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "V, RN and EEEE are not supported in the pattern of to_number")
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
		return nil, sqlstate.Errorf(sqlstate.InvalidText, "%q has no digits for the pattern %q", all, f.text)
	}
	if signed {
		sign() // also behind fewer digits than the pattern has
	}
	if negative {
		u.Neg(u)
	}
	return withScale(u, fraction, scale), nil
}

// withScale brings u / 10^from to another scale, rounded where digits are lost.
func withScale(u *big.Int, from, to int) *big.Int {
	if from <= to {
		return new(big.Int).Mul(u, table.Pow10(to-from))
	}
	return table.RoundedQuotient(u, table.Pow10(from-to))
}

// write puts the digits before and after the point into their places.
func (f *NumberPattern) write(whole, part string, negative bool) string {
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
