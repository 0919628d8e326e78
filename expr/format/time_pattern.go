package format

import (
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/sqlstate"
)

// TimePattern is a pattern by which times are written and read.
type TimePattern struct {
	text  string
	parts []patternPart
	fixed *fixedTime // the same for texts of fixed places; nil where there are none
}

// NewTimePattern reads a pattern.
func NewTimePattern(pattern string) *TimePattern {
	parts := timeFields(pattern)
	return &TimePattern{pattern, parts, fixed(parts)}
}

// Unshown is the name of a field that shows nothing; "" where each field shows something.
func (t *TimePattern) Unshown() string {
	for _, p := range t.parts {
		if p.of != nil && p.of.number == nil && p.of.word == nil && p.of.which == nil {
			return p.of.name
		}
	}
	return ""
}

// Names are the words that a pattern of one field shows, and which of them is that of a moment. They are nil where it shows something else.
func (t *TimePattern) Names() (names []string, which func(calendar.Moment) int) {
	if len(t.parts) == 1 && t.parts[0].names != nil {
		return t.parts[0].names, t.parts[0].of.which
	}
	return nil, nil
}

// Append appends a moment by the pattern, each field of which shows something.
func (t *TimePattern) Append(out []byte, m calendar.Moment) []byte {
	for i := range t.parts {
		p := &t.parts[i]
		switch {
		case p.of == nil:
			out = append(out, p.text...)
		case p.names != nil:
			out = append(out, p.names[p.of.which(m)]...)
		case p.of.word != nil:
			out = append(out, p.shown(p.of.word(m), p.of.width)...)
		default:
			n := p.of.number(m)
			if n < 0 || p.suffix != "" {
				out = append(out, p.shown(n, p.of.width)...)
				continue
			}
			width := p.of.width
			if p.fill {
				width = 0
			}
			out = appendDigits(out, n, width)
		}
	}
	return out
}

// Read reads a text as PostgreSQL does. Blanks before and behind fields are skipped. A separator of the
// pattern stands for one of the text or for none, another character for any one. Where the text ends, the remaining fields have their
// defaults. A number has all digits that follow if no other number follows, else as many as its field is wide.
func (t *TimePattern) Read(text string) (m calendar.Moment, err error) {
	if t.fixed != nil {
		if m, ok := t.fixed.read(text); ok {
			return m, nil
		}
	}
	all, d := text, readDate{month: 1, day: 1}
	bad := func() error {
		return sqlstate.Errorf(sqlstate.InvalidDatetimeFormat, "%q does not fit the pattern %q", all, t.text)
	}
	blanks := 0 // that the pattern has not asked for
	skip := func() {
		left := strings.TrimLeft(text, " \t\n\v\f\r")
		text, blanks = left, blanks+len(text)-len(left)
	}
	for i, p := range t.parts {
		if p.of != nil || i == 0 {
			skip()
		}
		switch {
		case p.of == nil:
			for _, r := range p.text {
				text, blanks = unread(text, r, blanks)
			}
			continue
		case p.of.read == nil:
			return m, sqlstate.Errorf(sqlstate.FeatureNotSupported, "%s is not supported where a time is read by a pattern", p.of.name)
		case text == "":
			continue
		}
		n, size := int64(-1), 0
		if p.of.names != nil {
			for k, name := range p.of.names {
				if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
					n, size = int64(k+1), len(name)
				}
			}
		} else {
			n, size = p.number(text, t.parts[i+1:])
		}
		if size == 0 {
			return m, bad()
		}
		if p.of.name == "MS" || p.of.name == "US" { // a fraction
			if size > p.of.width {
				return m, bad()
			}
			for range p.of.width - size {
				n *= 10
			}
		}
		switch {
		case n < 0 && p.of.name == "YYYY": // BC
			n++
		case n < 0:
			return m, sqlstate.Errorf(sqlstate.DatetimeOverflow, "date/time field value out of range: %q", all)
		}
		p.of.read(&d, n)
		text, blanks = text[size:], 0
		skip()
	}
	d.month, d.day = max(d.month, 1), max(d.day, 1) // 0 is as if it were not there
	return d.moment(all)
}

// unread is the text behind what a character of the pattern stands for that is no field's. It also returns how many are left of the blanks
// that were skipped before it.
func unread(text string, of rune, blanks int) (string, int) {
	_, size := utf8.DecodeRuneInString(text)
	switch {
	case of >= 0x80 || alphanumeric(byte(of)):
		if blanks > 0 {
			return text, blanks - 1
		}
		return text[size:], 0
	case text != "" && text[0] < 0x80 && !alphanumeric(text[0]):
		return text[size:], blanks
	}
	return text, blanks - 1
}

// number reads that of a field, before the other parts of a pattern; size is 0 where there is none.
func (p patternPart) number(text string, next []patternPart) (n int64, size int) {
	alone := p.fill || len(next) == 0
	if !alone && next[0].of != nil {
		alone = next[0].of.names != nil
	} else if !alone {
		alone = next[0].text[0] < '0' || next[0].text[0] > '9'
	}
	if !alone {
		if len(text) < p.of.width {
			return 0, 0
		}
		text = text[:p.of.width]
	}
	sign := 0
	if text[0] == '-' || text[0] == '+' {
		sign = 1
	}
	n, size = LeadingDigits(text[sign:])
	if size += sign; size == sign || !alone && size < p.of.width || size < len(text) && text[size] >= '0' && text[size] <= '9' {
		return 0, 0
	}
	if text[0] == '-' {
		n = -n
	}
	return n, size
}
