package ingest

import "github.com/stencildb/stencildb/table"

// class is what one value of a CSV field looks like.
type class uint8

const (
	classInt       class = iota // an integer of 64 bits
	classHuge                   // an integer beyond 64 bits
	classFloat                  // a number with a point or an exponent
	classWord                   // NaN or Infinity
	classDate                   // YYYY-MM-DD
	classTimestamp              // a date and a time of day
	classBool                   // true or false
	classText                   // anything else
	classes
)

func (c class) isNumber() bool { return c <= classFloat }

// classify says what b looks like; blanks around it do not count.
func classify(b []byte) class {
	// Nearly all numbers: a sign and up to 18 digits.
	i := 0
	if len(b) > 1 && (b[0] == '-' || b[0] == '+') {
		i = 1
	}
	if n := len(b) - i; n > 0 && n <= 18 {
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		if i == len(b) {
			return classInt
		}
	}
	s := trim(view(b))
	if s == "" {
		return classText
	}
	switch c := s[0]; {
	case c-'0' <= 9 || c == '-' || c == '+' || c == '.':
		integer, number := table.NumberShape(s)
		switch {
		case integer && is(table.BigInt, s) == nil:
			return classInt
		case integer:
			return classHuge
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
