package ingest

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
	b = trim(b)
	if len(b) == 0 {
		return classText
	}
	switch c := b[0]; {
	case c-'0' <= 9 || c == '-' || c == '+' || c == '.':
		if k, ok := classifyNumber(b); ok {
			return k
		}
		if c-'0' <= 9 {
			if _, err := parseDate(b); err != errSyntax {
				return classDate
			}
			if _, err := parseTimestamp(b); err != errSyntax {
				return classTimestamp
			}
		}
		if isFloatWord(b) {
			return classWord
		}
	case c|0x20 == 't' || c|0x20 == 'f':
		if foldEqual(b, "true") || foldEqual(b, "false") {
			return classBool
		}
	case c|0x20 == 'n' || c|0x20 == 'i':
		if isFloatWord(b) {
			return classWord
		}
	}
	return classText
}

// classifyNumber recognises [+-]digits[.digits][e[+-]digits] with at least one
// digit before the exponent.
func classifyNumber(b []byte) (class, bool) {
	i, digits := 0, 0
	if b[0] == '-' || b[0] == '+' {
		i++
	}
	for i < len(b) && b[i]-'0' <= 9 {
		i++
		digits++
	}
	if i == len(b) && digits > 0 {
		if _, err := parseInt(b); err != nil {
			return classHuge, true
		}
		return classInt, true
	}
	if i < len(b) && b[i] == '.' {
		i++
		for i < len(b) && b[i]-'0' <= 9 {
			i++
			digits++
		}
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			i++
		}
		if i == len(b) {
			return 0, false
		}
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
	}
	return classFloat, i == len(b)
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// foldEqual compares with a lower-case word, ASCII letters in any case.
func foldEqual(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

func isFloatWord(b []byte) bool { _, ok := parseFloatWord(b); return ok }
