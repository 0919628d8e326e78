package ingest

import "github.com/stencildb/stencildb/table"

// class is what one value of a CSV field looks like.
type class uint8

const (
	classInt       class = iota // an integer of 64 bits
	classDecimal                // a number with a point, of few digits
	classHuge                   // an integer beyond 64 bits
	classFloat                  // another number with a point or an exponent
	classWord                   // NaN or Infinity
	classNull                   // a word for NULL, which classify takes for text
	classDate                   // YYYY-MM-DD
	classTimestamp              // a date and a time of day
	classBool                   // true or false
	classText                   // anything else
	classes
)

func (c class) isNumber() bool { return c <= classFloat }

// isEither reports what is a number among numbers and a word among words.
func (c class) isEither() bool { return c == classWord || c == classNull }

// maxDecimals is the most digits behind the point of a column that is inferred to be
// DECIMAL.
const maxDecimals = 6

// classify says what b looks like, and the digits of an integer or a DECIMAL; blanks around
// it do not count.
func classify(b []byte) (class, digits) {
	s := trim(view(b))
	if d, point, ok := plain(s); ok {
		switch {
		case point && d.frac <= maxDecimals && d.whole+d.frac <= maxPrecision:
			return classDecimal, d
		case point:
			return classFloat, digits{}
		case d.whole <= maxPrecision || is(table.BigInt, s) == nil:
			return classInt, d
		}
		return classHuge, digits{}
	}
	return classifyOther(s), digits{}
}

// plain reads [+-]digits[.digits], nearly all numbers; one digit there must be.
func plain(s string) (d digits, point, ok bool) {
	i := 0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		i = 1
	}
	start, zeros := i, true
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		if zeros = zeros && s[i] == '0'; !zeros {
			d.whole++
		}
	}
	n := i - start
	if i < len(s) && s[i] == '.' {
		point = true
		for i++; i < len(s) && s[i]-'0' <= 9; i++ {
			d.frac++
		}
	}
	return d, point, n+d.frac > 0 && i == len(s)
}

// classifyOther is classify of what is no plain number.
func classifyOther(s string) class {
	if s == "" {
		return classText
	}
	switch c := s[0]; {
	case c-'0' <= 9 || c == '-' || c == '+' || c == '.':
		_, number := table.NumberShape(s)
		switch {
		case number:
			return classFloat
		case is(table.Date, s) != table.ErrSyntax:
			return classDate
		case is(table.Timestamp, s) != table.ErrSyntax:
			return classTimestamp
		}
	case table.EqualFold(s, "true") || table.EqualFold(s, "false"):
		return classBool
	}
	if _, ok := table.ParseFloatWord(s); ok {
		return classWord
	}
	return classText
}

// is reads text as a type.
func is(k table.Kind, s string) error {
	_, _, err := table.Parse(table.Type{Kind: k}, s, false)
	return err
}
