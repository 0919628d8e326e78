package inference

import (
	"bytes"
	"math/bits"

	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// Class is what one value of a CSV field looks like.
type Class uint8

const (
	ClassInt       Class = iota // an integer that a double holds, too
	ClassLong                   // another one of 64 bits
	classDecimal                // a number with a point, of few digits
	classFloat                  // another number with a point or an exponent
	classCode                   // digits, an E and digits: a number among numbers, an identifier by itself
	classHuge                   // a number that no type holds exactly
	ClassBeyond                 // a number beyond all types, or too close to zero
	classZeros                  // a number with zeros in front, which is an identifier
	classWord                   // NaN or Infinity
	ClassNull                   // a word for NULL, which classify takes for text
	ClassEmpty                  // quotes with nothing between them, which classify takes for text
	classDate                   // YYYY-MM-DD
	ClassTimestamp              // a date and a time of day
	classBool                   // true or false
	ClassQuoted                 // one of those above between quotes, which make it text
	ClassText                   // anything else
	Classes
)

func (c Class) IsNumber() bool { return c <= ClassBeyond }

// isEither reports what is a number among numbers and a word among words.
func (c Class) isEither() bool { return classZeros <= c && c <= ClassEmpty }

// maxDecimals is the most digits behind the point of a column that is inferred to be
// DECIMAL.
const maxDecimals = 6

// Classify says what b looks like, and the digits of an integer or a DECIMAL; blanks around
// it do not count.
func Classify(b []byte) (Class, digits) {
	if len(b) == 0 || letters[b[0]] {
		return ClassText, digits{}
	}
	if k, d, ok := short(b); ok {
		return k, d
	}
	if plainDate(b) {
		return classDate, digits{}
	}
	b = source.TrimBlanks(b)
	if k, d, ok := number(b); ok {
		return k, d
	}
	return classifyOther(b), digits{}
}

// maxDoubleDigits is how many digits an integer has at most that a double holds, whatever the digits.
const maxDoubleDigits = 15

// number is classify of [+-]digits[.digits].
func number(b []byte) (Class, digits, bool) {
	d, point, zeros, ok := plain(b)
	switch {
	case !ok:
		return 0, digits{}, false
	case zeros:
		return classZeros, digits{}, true
	case point && d.Frac <= maxDecimals && d.Whole+d.Frac <= source.MaxPrecision:
		return classDecimal, d, true
	case point && significant(b) > source.MaxPrecision:
		return huge(b), digits{}, true
	case point:
		return classFloat, digits{}, true
	case d.Whole <= maxDoubleDigits:
		return ClassInt, d, true
	}
	i, _, err := table.Parse(table.Type{Kind: table.BigInt}, source.View(b), false)
	switch {
	case err != nil:
		return huge(b), digits{}, true
	case -1<<53 <= i && i <= 1<<53:
		return ClassInt, d, true
	}
	return ClassLong, d, true
}

// huge is the class of a number that no type holds exactly.
func huge(b []byte) Class {
	if is(table.Double, b) != nil {
		return ClassBeyond
	}
	return classHuge
}

// significant is how many digits a number of plain has, but the zeros around them.
func significant(b []byte) (n int) {
	zeros := 0 // behind the last other digit
	for _, c := range b {
		switch {
		case c-'0' > 9:
		case c == '0' && n == 0:
		case c == '0':
			zeros++
		default:
			n, zeros = n+zeros+1, 0
		}
	}
	return n
}

// letters are what only text starts with.
var letters = func() (is [256]bool) {
	for _, c := range []byte("ABCDEGHJKLMOPQRSUVWXYZabcdeghjklmopqrsuvwxyz") { // no F, I, N and T
		is[c] = true
	}
	return is
}()

// short is plain and classify of [-]digits[.digits] in up to eight bytes, without leading zeros. So it has no
// more than maxDecimals. ok is false for all else.
func short(b []byte) (k Class, d digits, ok bool) {
	if len(b) > 8 || cap(b) < 8 {
		return 0, d, false
	}
	others, start := nondigits(LoadWord(b))&(1<<(8*len(b))-1), 0
	if b[0] == '-' {
		others, start = others&(others-1), 1
	}
	k, d.Whole = ClassInt, len(b)-start
	if others != 0 {
		point := bits.TrailingZeros64(others) / 8
		if others&(others-1) != 0 || b[point] != '.' {
			return 0, d, false
		}
		k, d = classDecimal, digits{point - start, len(b) - point - 1}
	}
	if d.Whole == 0 || d.Whole > 1 && b[start] == '0' {
		return 0, digits{}, false
	}
	if b[start] == '0' {
		d.Whole = 0
	}
	return k, d, true
}

// plain reads [+-]digits[.digits], nearly all numbers; one digit there must be. A zero before another digit in front is told.
func plain(b []byte) (d digits, point, zeros, ok bool) {
	i := 0
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		i = 1
	}
	n := leading(b[i:])
	for d.Whole = n; d.Whole > 0 && b[i+n-d.Whole] == '0'; d.Whole-- {
	}
	zeros = n > 1 && b[i] == '0'
	if i += n; i < len(b) && b[i] == '.' {
		point, d.Frac = true, leading(b[i+1:])
		i += 1 + d.Frac
	}
	return d, point, zeros, n+d.Frac > 0 && i == len(b)
}

// leading is how many digits b starts with.
func leading(b []byte) int {
	n := 0
	for ; n < len(b) && n+8 <= cap(b); n += 8 {
		if others := nondigits(LoadWord(b[n:])); others != 0 {
			return min(n+bits.TrailingZeros64(others)/8, len(b))
		}
	}
	for n = min(n, len(b)); n < len(b) && b[n]-'0' <= 9; n++ {
	}
	return n
}

// classifyOther is classify of what is no plain number.
func classifyOther(b []byte) Class {
	if len(b) == 0 {
		return ClassText
	}
	s := source.View(b)
	switch c := b[0]; {
	case c-'0' <= 9 || c == '-' || c == '+' || c == '.':
		_, number := table.NumberShape(s)
		switch {
		case number:
			return exponential(b)
		case is(table.Date, b) == nil:
			return classDate
		case is(table.Timestamp, b) == nil:
			return ClassTimestamp
		}
	case c|0x20 == 'n' || c|0x20 == 'i':
	case table.EqualFold(s, "true") || table.EqualFold(s, "false"):
		return classBool
	default:
		return ClassText
	}
	if _, ok := table.ParseFloatWord(s); ok {
		return classWord
	}
	return ClassText
}

// exponential is the class of a number with an exponent.
func exponential(b []byte) Class {
	unsigned := bytes.TrimLeft(b, "+-")
	n := leading(unsigned)
	switch {
	case n > 1 && unsigned[0] == '0':
		return classZeros
	case is(table.Double, b) != nil:
		return ClassBeyond
	case n > 0 && unsigned[n] != '.' && len(unsigned) == len(b) && leading(b[n+1:]) == len(b)-n-1:
		return classCode
	}
	return classFloat
}

// plainDate reports nearly all dates: YYYY-MM-DD with a day that all months have.
func plainDate(b []byte) bool {
	const dashes = 0x00_00ff_0000_ff0000 // in bytes 2 to 9
	if len(b) != 10 || b[4] != '-' || b[7] != '-' || nondigits(LoadWord(b[2:])) != dashes&HighBits || b[0]-'0' > 9 || b[1]-'0' > 9 {
		return false
	}
	month, day := 10*(b[5]-'0')+b[6]-'0', 10*(b[8]-'0')+b[9]-'0'
	return string(b[:4]) != "0000" && 1 <= month && month <= 12 && 1 <= day && day <= 28
}

// is reads text as a type.
func is(k table.Kind, b []byte) error {
	_, _, err := table.Parse(table.Type{Kind: k}, source.View(b), false)
	return err
}
