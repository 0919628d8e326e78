package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// to_char, to_date and to_timestamp: times by patterns. Names are English.
func init() {
	for _, kind := range []string{"timestamp", "date"} {
		define("to_char("+kind+",text) text!", func(a args) (table.Value, error) {
			parts := timeFields(a.v[1].S)
			if f := unshown(parts); f != nil {
				return a.failAs(sqlstate.FeatureNotSupported, "%s is not supported in the pattern of a time", f.name)
			}
			return table.Str(string(appendMoment(nil, parts, momentOf(a.v[0])))), nil
		}).bound(func(e *Call) kernel {
			pattern, ok := e.textAt(1)
			parts := timeFields(pattern)
			if !ok || unshown(parts) != nil {
				return kernel{}
			}
			isDate := e.Args[0].Type().Kind == table.Date
			if len(parts) == 1 && parts[0].names != nil { // which need not be written
				names, which := parts[0].names, parts[0].of.which
				if isDate {
					return of1(0, never(func(x int64) string { return names[which(moment{day: x})] })).only(2, 0)
				}
				return of1(0, never(func(x int64) string { return names[which(momentAt(x))] })).only(2, 0)
			}
			return written1(0, func(out []byte, x int64) ([]byte, state) {
				m := moment{day: x}
				if !isDate {
					m = momentAt(x)
				}
				return appendMoment(out, parts, m), valid
			}).only(2, 0)
		})
	}
	define("to_date(text,text) date!", func(a args) (table.Value, error) {
		m, err := a.readTime(timeFields(a.v[1].S))
		if err == nil && !a.T.Holds(m.day) {
			err = Raised(a.P, OutOfRange(a.T))
		}
		return table.Value{Type: a.T, Null: err != nil, I: m.day}, err
	}).bound(func(e *Call) kernel {
		return readKernel(e, func(m moment) (int64, state) { return m.day, failedIf(!e.T.Holds(m.day)) })
	})
	define("to_timestamp(text,text) timestamp!", func(a args) (table.Value, error) {
		m, err := a.readTime(timeFields(a.v[1].S))
		if err != nil {
			return table.Null(a.T), err
		}
		return a.timestamp(m)
	}).bound(func(e *Call) kernel { return readKernel(e, timestampOf) })
}

var (
	monthNames    = strings.Fields("January February March April May June July August September October November December")
	monthNumerals = strings.Fields("I II III IV V VI VII VIII IX X XI XII")
	dayNames      = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
)

// timeField is an element of a pattern. It has what it shows of a moment, how many digits its number has, and
// how it is read into a date.
type timeField struct {
	name  string
	width int
	// One of these shows it: a number, or a word, which may be digits.
	number func(m moment) int64
	word   func(m moment) string
	which  func(m moment) int // of names, instead of word
	read   func(t *readDate, n int64)
	names  []string // of those that it reads, the number from 1
	words  bool     // it may be written as Month, beside MONTH and month
}

// readDate is what was read of a date and time.
type readDate struct {
	year, month, day, doy  int64
	hour, minute, sec, us  int64
	twelve, afternoon, set bool
}

func part(name string) func(m moment) int64 {
	of := dayParts[name]
	return func(m moment) int64 { return of.of(m.day) }
}

func monthOf(m moment) int {
	_, month, _ := table.CivilFromDays(m.day)
	return month - 1
}

func weekday(m moment) int { return int(dayOfWeek(m.day)) }

func half(m moment) int { return int(m.us / (12 * 3_600_000_000)) }

// timeFieldList has the elements, longer ones before those that they begin with.
var timeFieldList = []timeField{
	{name: "Y,YYY", word: func(m moment) string { y := calendarYear(m); return fmt.Sprintf("%d,%03d", y/1000, y%1000) }},
	{name: "YYYY", width: 4, number: func(m moment) int64 { return calendarYear(m) }, read: func(t *readDate, n int64) { t.year = n }},
	{name: "YYY", width: 3, number: func(m moment) int64 { return calendarYear(m) % 1000 }},
	{name: "YY", width: 2, number: func(m moment) int64 { return calendarYear(m) % 100 }, read: func(t *readDate, n int64) {
		if t.year = 1900 + n; n < 70 {
			t.year = 2000 + n
		}
	}},
	{name: "Y", width: 1, number: func(m moment) int64 { return calendarYear(m) % 10 }},
	{name: "IYYY", width: 4, number: part("isoyear")},
	{name: "IYY", width: 3, number: func(m moment) int64 { return dayParts["isoyear"].of(m.day) % 1000 }},
	{name: "IY", width: 2, number: func(m moment) int64 { return dayParts["isoyear"].of(m.day) % 100 }},
	{name: "MONTH", width: 9, which: monthOf, read: func(t *readDate, n int64) { t.month = n }, names: monthNames, words: true},
	{name: "MON", which: monthOf, read: func(t *readDate, n int64) { t.month = n }, names: firstThree(monthNames), words: true},
	{name: "MM", width: 2, number: part("month"), read: func(t *readDate, n int64) { t.month = n }},
	{name: "DAY", width: 9, which: weekday, read: func(*readDate, int64) {}, names: dayNames, words: true},
	{name: "DY", which: weekday, read: func(*readDate, int64) {}, names: firstThree(dayNames), words: true},
	{name: "IDDD", width: 3, number: func(m moment) int64 { return (dayParts["week"].of(m.day)-1)*7 + dayParts["isodow"].of(m.day) }},
	{name: "DDD", width: 3, number: part("doy"), read: func(t *readDate, n int64) { t.doy = n }},
	{name: "DD", width: 2, number: part("day"), read: func(t *readDate, n int64) { t.day = n }},
	{name: "ID", width: 1, number: part("isodow")},
	{name: "D", width: 1, number: func(m moment) int64 { return dayOfWeek(m.day) + 1 }},
	{name: "WW", width: 2, number: func(m moment) int64 { return (dayParts["doy"].of(m.day)-1)/7 + 1 }},
	{name: "IW", width: 2, number: part("week")},
	{name: "I", width: 1, number: func(m moment) int64 { return dayParts["isoyear"].of(m.day) % 10 }},
	{name: "W", width: 1, number: func(m moment) int64 { return (dayParts["day"].of(m.day)-1)/7 + 1 }},
	{name: "Q", width: 1, number: part("quarter")},
	{name: "CC", width: 2, number: part("century")},
	{name: "J", number: func(m moment) int64 { return m.day + julianEpoch }},
	{name: "HH24", width: 2, number: func(m moment) int64 { return m.us / 3_600_000_000 }, read: func(t *readDate, n int64) { t.hour = n }},
	{name: "HH12", width: 2, number: hour12, read: readHour12},
	{name: "HH", width: 2, number: hour12, read: readHour12},
	{name: "MI", width: 2, number: func(m moment) int64 { return m.us / 60_000_000 % 60 }, read: func(t *readDate, n int64) { t.minute = n }},
	{name: "SSSSS", number: func(m moment) int64 { return m.us / 1_000_000 }},
	{name: "SSSS", number: func(m moment) int64 { return m.us / 1_000_000 }},
	{name: "SS", width: 2, number: func(m moment) int64 { return m.us / 1_000_000 % 60 }, read: func(t *readDate, n int64) { t.sec = n }},
	{name: "MS", width: 3, word: secondDigits(3), read: func(t *readDate, n int64) { t.us = n * 1000 }},
	{name: "US", width: 6, word: secondDigits(6), read: func(t *readDate, n int64) { t.us = n }},
	{name: "FF1", word: secondDigits(1)}, {name: "FF2", word: secondDigits(2)}, {name: "FF3", word: secondDigits(3)},
	{name: "FF4", word: secondDigits(4)}, {name: "FF5", word: secondDigits(5)}, {name: "FF6", word: secondDigits(6)},
	{name: "A.M.", which: half, read: readMeridiem, names: []string{"A.M.", "P.M."}},
	{name: "P.M.", which: half, read: readMeridiem, names: []string{"A.M.", "P.M."}},
	{name: "AM", which: half, read: readMeridiem, names: []string{"AM", "PM"}},
	{name: "PM", which: half, read: readMeridiem, names: []string{"AM", "PM"}},
	{name: "A.D.", word: era("A.D.", "B.C.")}, {name: "B.C.", word: era("A.D.", "B.C.")},
	{name: "AD", word: era("AD", "BC")}, {name: "BC", word: era("AD", "BC")},
	{name: "RM", width: 4, which: monthOf, read: func(t *readDate, n int64) { t.month = n }, names: monthNumerals},
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

func hour12(m moment) int64 { return (m.us/3_600_000_000+11)%12 + 1 }

func readHour12(t *readDate, n int64) { t.hour, t.twelve = n, true }

func readMeridiem(t *readDate, n int64) { t.afternoon, t.set = n == 2, true }

func era(after, before string) func(m moment) string {
	return func(m moment) string { return pick(yearOf(m.day) <= 0, before, after) }
}

// secondDigits shows the fraction of a second with so many digits, also behind FM.
func secondDigits(digits int) func(m moment) string {
	return func(m moment) string { return fmt.Sprintf("%06d", m.us%1_000_000)[:digits] }
}

// patternPart is a piece of a pattern: a field, or text.
type patternPart struct {
	of     *timeField
	text   string              // as it is written
	fill   bool                // it is not padded: FM
	suffix string              // th or TH
	cased  func(string) string // brings a word to the case of text; nil where it stays
	names  []string            // as they are shown
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
				switch p.text {
				case strings.ToLower(p.text):
					p.cased = strings.ToLower
				case strings.ToUpper(p.text):
					p.cased = strings.ToUpper
				}
				i += n
				if after := rest[n:]; strings.HasPrefix(after, "th") || strings.HasPrefix(after, "TH") {
					p.suffix = after[:2]
					i += 2
				}
				if f.which != nil {
					for _, name := range f.names {
						p.names = append(p.names, p.shown(name, f.width))
					}
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

// unshown is a field of a pattern that shows nothing; nil where there is none.
func unshown(parts []patternPart) *timeField {
	for _, p := range parts {
		if p.of != nil && p.of.number == nil && p.of.word == nil && p.of.which == nil {
			return p.of
		}
	}
	return nil
}

// appendMoment appends a moment by a pattern.
func appendMoment(out []byte, parts []patternPart, m moment) []byte {
	for i := range parts {
		p := &parts[i]
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

// appendDigits appends a number that is not below 0, with zeros before it up to a width.
func appendDigits(out []byte, n int64, width int) []byte {
	for k, ten := 1, int64(10); k < width; k++ {
		if n < ten {
			for ; k < width; k++ {
				out = append(out, '0')
			}
			break
		}
		ten *= 10
	}
	return strconv.AppendInt(out, n, 10)
}

// shown is the value of a field. A word has the case of the pattern. A number has zeros before it, up to the
// width of the field.
func (p patternPart) shown(v any, width int) string {
	switch v := v.(type) {
	case string:
		if p.cased != nil {
			v = p.cased(v)
		}
		if last := v[len(v)-1]; last >= '0' && last <= '9' {
			return v + ordinal(v, p.suffix)
		}
		if p.fill {
			return v
		}
		for len(v) < width { // names are ASCII
			v += " "
		}
		return v
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

// readKernel reads texts by a constant pattern.
func readKernel(e *Call, of func(m moment) (int64, state)) kernel {
	pattern, ok := e.textAt(1)
	if !ok {
		return kernel{}
	}
	parts, a := timeFields(pattern), args{e, []table.Value{{}, table.Str(pattern)}, false}
	plain := fixed(parts)
	return of1(0, func(s string) (int64, state) {
		if plain != nil {
			if m, ok := plain.read(s); ok {
				return of(m)
			}
		}
		a.v[0].S = s
		m, err := a.readTime(parts)
		if err != nil {
			return 0, failed
		}
		return of(m)
	}).only(2, 0)
}

// readTime reads a text by a pattern of these parts, as PostgreSQL does. Blanks before and behind fields are skipped. A separator of the
// pattern stands for one of the text or for none, another character for any one. Where the text ends, the remaining fields have their
// defaults. A number has all digits that follow if no other number follows, else as many as its field is wide.
func (a args) readTime(parts []patternPart) (m moment, err error) {
	text, t := a.v[0].S, readDate{month: 1, day: 1}
	bad := func() error {
		return Coded(sqlstate.InvalidDatetimeFormat, a.P, "%q does not fit the pattern %q", a.v[0].S, a.v[1].S)
	}
	blanks := 0 // that the pattern has not asked for
	skip := func() {
		left := strings.TrimLeft(text, " \t\n\v\f\r")
		text, blanks = left, blanks+len(text)-len(left)
	}
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
			return m, Coded(sqlstate.FeatureNotSupported, a.P, "%s is not supported where a time is read by a pattern", p.of.name)
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
			return m, Coded(sqlstate.DatetimeOverflow, a.P, "date/time field value out of range: %q", a.v[0].S)
		}
		p.of.read(&t, n)
		text, blanks = text[size:], 0
		skip()
	}
	t.month, t.day = max(t.month, 1), max(t.day, 1) // 0 is as if it were not there
	return a.dateRead(t)
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
			return m, Coded(sqlstate.InvalidDatetimeFormat, a.P, "hour \"%d\" is invalid for the 12-hour clock", t.hour)
		}
		if t.hour %= 12; t.afternoon {
			t.hour += 12
		}
	}
	out := func() error {
		return Coded(sqlstate.DatetimeOverflow, a.P, "date/time field value out of range: %q", a.v[0].S)
	}
	if t.month < 1 || t.month > 12 || t.day < 1 || t.day > int64(table.DaysInMonth(t.year, int(t.month))) || t.hour > 23 || t.minute > 59 || t.sec > 59 {
		return m, out()
	}
	m.day = table.DaysFromCivil(t.year, int(t.month), int(t.day))
	if t.doy > 0 {
		if m.day = table.DaysFromCivil(t.year, 1, 1) + t.doy - 1; yearOf(m.day) != t.year {
			return m, out()
		}
	}
	m.us = ((t.hour*60+t.minute)*60+t.sec)*1_000_000 + t.us
	return m, nil
}
