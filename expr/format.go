package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/table"
)

// to_char, to_date and to_timestamp: times by patterns. Names are English.
func init() {
	for _, kind := range []string{"timestamp", "date"} {
		define("to_char("+kind+",text) text!", func(a args) (table.Value, error) {
			var out strings.Builder
			m := momentOf(a.v[0])
			for _, f := range timeFields(a.v[1].S) {
				if f.of == nil {
					out.WriteString(f.text)
					continue
				}
				if f.of.show == nil {
					return a.fail("%s is not supported in the pattern of a time", f.of.name)
				}
				out.WriteString(f.shown(f.of.show(m), f.of.width))
			}
			return table.Str(out.String()), nil
		})
	}
	define("to_date(text,text) date!", func(a args) (table.Value, error) {
		m, err := a.readTime()
		if err == nil && !a.T.Holds(m.day) {
			err = Errorf(a.P, "%s", OutOfRange(a.T))
		}
		return table.Value{Type: a.T, Null: err != nil, I: m.day}, err
	})
	define("to_timestamp(text,text) timestamp!", func(a args) (table.Value, error) {
		m, err := a.readTime()
		if err != nil {
			return table.Null(a.T), err
		}
		return a.timestamp(m)
	})
}

var (
	monthNames    = strings.Fields("January February March April May June July August September October November December")
	monthNumerals = strings.Fields("I II III IV V VI VII VIII IX X XI XII")
	dayNames      = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
)

// timeField is an element of a pattern: what it shows of a moment, how many digits a number has, and
// what it reads into a date.
type timeField struct {
	name  string
	width int
	show  func(m moment) any
	read  func(t *readDate, n int64)
	names []string // of those that it reads, the number from 1
	words bool     // it may be written as Month, beside MONTH and month
}

// readDate is what was read of a date and time.
type readDate struct {
	year, month, day, doy  int64
	hour, minute, sec, us  int64
	twelve, afternoon, set bool
}

func part(name string) func(m moment) any { return func(m moment) any { return dayParts[name](m.day) } }

func monthOf(m moment) int { _, month, _ := table.CivilFromDays(m.day); return month - 1 }

func weekday(m moment) int { return int(dayParts["dow"](m.day)) }

func half(m moment) int64 { return m.us / (12 * 3_600_000_000) }

// timeFieldList has the elements, longer ones before those that they begin with.
var timeFieldList = []timeField{
	{name: "Y,YYY", show: func(m moment) any { y := calendarYear(m); return fmt.Sprintf("%d,%03d", y/1000, y%1000) }},
	{name: "YYYY", width: 4, show: func(m moment) any { return calendarYear(m) }, read: func(t *readDate, n int64) { t.year = n }},
	{name: "YYY", width: 3, show: func(m moment) any { return calendarYear(m) % 1000 }},
	{name: "YY", width: 2, show: func(m moment) any { return calendarYear(m) % 100 }, read: func(t *readDate, n int64) {
		if t.year = 1900 + n; n < 70 {
			t.year = 2000 + n
		}
	}},
	{name: "Y", width: 1, show: func(m moment) any { return calendarYear(m) % 10 }},
	{name: "IYYY", width: 4, show: part("isoyear")},
	{name: "IYY", width: 3, show: func(m moment) any { return dayParts["isoyear"](m.day) % 1000 }},
	{name: "IY", width: 2, show: func(m moment) any { return dayParts["isoyear"](m.day) % 100 }},
	{name: "MONTH", width: 9, show: func(m moment) any { return monthNames[monthOf(m)] }, read: func(t *readDate, n int64) { t.month = n }, names: monthNames, words: true},
	{name: "MON", show: func(m moment) any { return monthNames[monthOf(m)][:3] }, read: func(t *readDate, n int64) { t.month = n }, names: firstThree(monthNames), words: true},
	{name: "MM", width: 2, show: part("month"), read: func(t *readDate, n int64) { t.month = n }},
	{name: "DAY", width: 9, show: func(m moment) any { return dayNames[weekday(m)] }, read: func(*readDate, int64) {}, names: dayNames, words: true},
	{name: "DY", show: func(m moment) any { return dayNames[weekday(m)][:3] }, read: func(*readDate, int64) {}, names: firstThree(dayNames), words: true},
	{name: "IDDD", width: 3, show: func(m moment) any { return (dayParts["week"](m.day)-1)*7 + dayParts["isodow"](m.day) }},
	{name: "DDD", width: 3, show: part("doy"), read: func(t *readDate, n int64) { t.doy = n }},
	{name: "DD", width: 2, show: part("day"), read: func(t *readDate, n int64) { t.day = n }},
	{name: "ID", width: 1, show: part("isodow")},
	{name: "D", width: 1, show: func(m moment) any { return weekday(m) + 1 }},
	{name: "WW", width: 2, show: func(m moment) any { return (dayParts["doy"](m.day)-1)/7 + 1 }},
	{name: "IW", width: 2, show: part("week")},
	{name: "I", width: 1, show: func(m moment) any { return dayParts["isoyear"](m.day) % 10 }},
	{name: "W", width: 1, show: func(m moment) any { return (dayParts["day"](m.day)-1)/7 + 1 }},
	{name: "Q", width: 1, show: part("quarter")},
	{name: "CC", width: 2, show: part("century")},
	{name: "J", show: func(m moment) any { return m.day + julianEpoch }},
	{name: "HH24", width: 2, show: func(m moment) any { return m.us / 3_600_000_000 }, read: func(t *readDate, n int64) { t.hour = n }},
	{name: "HH12", width: 2, show: hour12, read: readHour12},
	{name: "HH", width: 2, show: hour12, read: readHour12},
	{name: "MI", width: 2, show: func(m moment) any { return m.us / 60_000_000 % 60 }, read: func(t *readDate, n int64) { t.minute = n }},
	{name: "SSSSS", show: func(m moment) any { return m.us / 1_000_000 }},
	{name: "SSSS", show: func(m moment) any { return m.us / 1_000_000 }},
	{name: "SS", width: 2, show: func(m moment) any { return m.us / 1_000_000 % 60 }, read: func(t *readDate, n int64) { t.sec = n }},
	{name: "MS", width: 3, show: secondDigits(3), read: func(t *readDate, n int64) { t.us = n * 1000 }},
	{name: "US", width: 6, show: secondDigits(6), read: func(t *readDate, n int64) { t.us = n }},
	{name: "FF1", show: secondDigits(1)}, {name: "FF2", show: secondDigits(2)}, {name: "FF3", show: secondDigits(3)},
	{name: "FF4", show: secondDigits(4)}, {name: "FF5", show: secondDigits(5)}, {name: "FF6", show: secondDigits(6)},
	{name: "A.M.", show: meridiem("A.M.", "P.M."), read: readMeridiem, names: []string{"A.M.", "P.M."}},
	{name: "P.M.", show: meridiem("A.M.", "P.M."), read: readMeridiem, names: []string{"A.M.", "P.M."}},
	{name: "AM", show: meridiem("AM", "PM"), read: readMeridiem, names: []string{"AM", "PM"}},
	{name: "PM", show: meridiem("AM", "PM"), read: readMeridiem, names: []string{"AM", "PM"}},
	{name: "A.D.", show: era("A.D.", "B.C.")}, {name: "B.C.", show: era("A.D.", "B.C.")},
	{name: "AD", show: era("AD", "BC")}, {name: "BC", show: era("AD", "BC")},
	{name: "RM", width: 4, show: func(m moment) any { return monthNumerals[monthOf(m)] }, read: func(t *readDate, n int64) { t.month = n }, names: monthNumerals},
	{name: "TZ"}, {name: "OF"}, {name: "TM"}, {name: "FX"},
}

func firstThree(names []string) (list []string) {
	for _, n := range names {
		list = append(list, n[:3])
	}
	return list
}

// calendarYear is a year, 1 for 1 BC.
func calendarYear(m moment) int64 {
	y := yearOf(m.day)
	if y <= 0 {
		return 1 - y
	}
	return y
}

func hour12(m moment) any { return (m.us/3_600_000_000+11)%12 + 1 }

func readHour12(t *readDate, n int64) { t.hour, t.twelve = n, true }

func meridiem(names ...string) func(m moment) any {
	return func(m moment) any { return names[half(m)] }
}

func readMeridiem(t *readDate, n int64) { t.afternoon, t.set = n == 2, true }

func era(after, before string) func(m moment) any {
	return func(m moment) any { return pick(yearOf(m.day) <= 0, before, after) }
}

// secondDigits shows the fraction of a second with so many digits, also behind FM.
func secondDigits(digits int) func(m moment) any {
	return func(m moment) any { return fmt.Sprintf("%06d", m.us%1_000_000)[:digits] }
}

// patternPart is a piece of a pattern: a field, or text.
type patternPart struct {
	of     *timeField
	text   string // as it is written
	fill   bool   // it is not padded: FM
	suffix string // th or TH
}

// quotedText reads text in double quotes, or the quote of \", that a pattern begins with: size is
// 0 where there is neither.
func quotedText(pattern string) (text string, size int) {
	if strings.HasPrefix(pattern, `\"`) {
		return `"`, 2
	}
	if !strings.HasPrefix(pattern, `"`) {
		return "", 0
	}
	var out strings.Builder
	for size = 1; size < len(pattern) && pattern[size] != '"'; size++ {
		if pattern[size] == '\\' && size+1 < len(pattern) {
			size++
		}
		out.WriteByte(pattern[size])
	}
	return out.String(), min(size+1, len(pattern))
}

// written reports whether a text begins with the field, in one of the cases that it may have.
func (f *timeField) written(text string) bool {
	if len(text) < len(f.name) {
		return false
	}
	text = text[:len(f.name)]
	return text == f.name || text == strings.ToLower(f.name) || f.words && text == f.name[:1]+strings.ToLower(f.name[1:])
}

// timeFields reads a pattern. Text in double quotes, and what is no field, stands for itself.
func timeFields(pattern string) (list []patternPart) {
	fill := false
scan:
	for i := 0; i < len(pattern); {
		rest := pattern[i:]
		if text, size := quotedText(rest); size > 0 {
			if text != "" {
				list = append(list, patternPart{text: text})
			}
			i += size
			continue
		}
		if strings.HasPrefix(rest, "FM") || strings.HasPrefix(rest, "fm") {
			fill = true
			i += 2
			continue
		}
		for k := range timeFieldList {
			f := &timeFieldList[k]
			if n := len(f.name); f.written(rest) {
				p := patternPart{of: f, text: rest[:n], fill: fill}
				i += n
				if after := rest[n:]; strings.HasPrefix(after, "th") || strings.HasPrefix(after, "TH") {
					p.suffix = after[:2]
					i += 2
				}
				list, fill = append(list, p), false
				continue scan
			}
		}
		list = append(list, patternPart{text: rest[:1]})
		i++
	}
	return list
}

// shown is the value of a field: a word in the case in which the pattern has it, a number with zeros
// before it, as wide as the field is.
func (p patternPart) shown(v any, width int) string {
	switch v := v.(type) {
	case string:
		switch {
		case p.text == strings.ToLower(p.text):
			v = strings.ToLower(v)
		case p.text == strings.ToUpper(p.text):
			v = strings.ToUpper(v)
		}
		if last := v[len(v)-1]; last >= '0' && last <= '9' {
			return v + ordinal(v, p.suffix)
		}
		if p.fill {
			return v
		}
		return fmt.Sprintf("%-*s", width, v)
	default:
		text := fmt.Sprintf("%0*d", width, v)
		if p.fill {
			text = fmt.Sprint(v)
		}
		return text + ordinal(text, p.suffix)
	}
}

// ordinal is the suffix of a number: st, nd, rd or th, in the case of another.
func ordinal(digits, like string) string {
	if like == "" || digits == "" {
		return ""
	}
	out := "th"
	if n := len(digits); n < 2 || digits[n-2] != '1' {
		switch digits[n-1] {
		case '1':
			out = "st"
		case '2':
			out = "nd"
		case '3':
			out = "rd"
		}
	}
	if like == "TH" {
		return strings.ToUpper(out)
	}
	return out
}

// readTime reads a text by a pattern, as PostgreSQL does: blanks before and behind fields are left out, a separator of the pattern stands for one of the
// text or for none, another character for any one, and where the text ends fields have what they have without it. A number has all digits that
// follow where no other number does, else as many as its field is wide.
func (a args) readTime() (m moment, err error) {
	text, t := a.v[0].S, readDate{month: 1, day: 1}
	bad := Errorf(a.P, "%q does not fit the pattern %q", text, a.v[1].S)
	blanks := 0 // that the pattern has not asked for
	skip := func() {
		left := strings.TrimLeft(text, " \t\n\v\f\r")
		text, blanks = left, blanks+len(text)-len(left)
	}
	parts := timeFields(a.v[1].S)
	for i, p := range parts {
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
			return m, Errorf(a.P, "%s is not supported where a time is read by a pattern", p.of.name)
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
			n, size = p.number(text, parts[i+1:])
		}
		if size == 0 {
			return m, bad
		}
		if p.of.name == "MS" || p.of.name == "US" { // a fraction
			if size > p.of.width {
				return m, bad
			}
			for range p.of.width - size {
				n *= 10
			}
		}
		switch {
		case n < 0 && p.of.name == "YYYY": // BC
			n++
		case n < 0:
			return m, Errorf(a.P, "date/time field value out of range: %q", a.v[0].S)
		}
		p.of.read(&t, n)
		text, blanks = text[size:], 0
		skip()
	}
	t.month, t.day = max(t.month, 1), max(t.day, 1) // 0 is as if it were not there
	return a.dateRead(t)
}

// unread is a text without what a character of the pattern that is no field's stands for, and the blanks that are left of those skipped before it.
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
	n, size = digitsOf(text[sign:])
	if size += sign; size == sign || !alone && size < p.of.width || size < len(text) && text[size] >= '0' && text[size] <= '9' {
		return 0, 0
	}
	if text[0] == '-' {
		n = -n
	}
	return n, size
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// digitsOf reads the number that a text begins with.
func digitsOf(s string) (n int64, size int) {
	for size < len(s) && size < 9 && s[size] >= '0' && s[size] <= '9' {
		n = 10*n + int64(s[size]-'0')
		size++
	}
	return n, size
}

// dateRead is the moment that was read.
func (a args) dateRead(t readDate) (m moment, err error) {
	if t.set || t.twelve {
		if t.hour < 1 || t.hour > 12 {
			return m, Errorf(a.P, "hour \"%d\" is invalid for the 12-hour clock", t.hour)
		}
		if t.hour %= 12; t.afternoon {
			t.hour += 12
		}
	}
	out := Errorf(a.P, "date/time field value out of range: %q", a.v[0].S)
	if t.month < 1 || t.month > 12 || t.day < 1 || t.day > int64(table.DaysInMonth(t.year, int(t.month))) || t.hour > 23 || t.minute > 59 || t.sec > 59 {
		return m, out
	}
	m.day = table.DaysFromCivil(t.year, int(t.month), int(t.day))
	if t.doy > 0 {
		if m.day = table.DaysFromCivil(t.year, 1, 1) + t.doy - 1; yearOf(m.day) != t.year {
			return m, out
		}
	}
	m.us = ((t.hour*60+t.minute)*60+t.sec)*1_000_000 + t.us
	return m, nil
}
