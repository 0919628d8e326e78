package format

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// timeField is an element of a pattern. It has what it shows of a moment, how many digits its number has, and
// how it is read into a date.
type timeField struct {
	name  string
	width int
	// One of these shows it: a number, or a word, which may be digits.
	number func(m calendar.Moment) int64
	word   func(m calendar.Moment) string
	which  func(m calendar.Moment) int // of names, instead of word
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

// patternPart is a piece of a pattern: a field, or text.
type patternPart struct {
	of     *timeField
	text   string              // as it is written
	fill   bool                // it is not padded: FM
	suffix string              // th or TH
	cased  func(string) string // brings a word to the case of text; nil where it stays
	names  []string            // as they are shown
}

// timeFieldList has the elements, longer ones before those that they begin with.
var timeFieldList = []timeField{
	{name: "Y,YYY", word: func(m calendar.Moment) string { y := calendarYear(m); return fmt.Sprintf("%d,%03d", y/1000, y%1000) }},
	{name: "YYYY", width: 4, number: func(m calendar.Moment) int64 { return calendarYear(m) }, read: func(t *readDate, n int64) { t.year = n }},
	{name: "YYY", width: 3, number: func(m calendar.Moment) int64 { return calendarYear(m) % 1000 }},
	{name: "YY", width: 2, number: func(m calendar.Moment) int64 { return calendarYear(m) % 100 }, read: func(t *readDate, n int64) {
		if t.year = 1900 + n; n < 70 {
			t.year = 2000 + n
		}
	}},
	{name: "Y", width: 1, number: func(m calendar.Moment) int64 { return calendarYear(m) % 10 }},
	{name: "IYYY", width: 4, number: part("isoyear")},
	{name: "IYY", width: 3, number: func(m calendar.Moment) int64 { return calendar.DayParts["isoyear"].Of(m.Day) % 1000 }},
	{name: "IY", width: 2, number: func(m calendar.Moment) int64 { return calendar.DayParts["isoyear"].Of(m.Day) % 100 }},
	{name: "MONTH", width: 9, which: monthOf, read: func(t *readDate, n int64) { t.month = n }, names: monthNames, words: true},
	{name: "MON", which: monthOf, read: func(t *readDate, n int64) { t.month = n }, names: firstThree(monthNames), words: true},
	{name: "MM", width: 2, number: part("month"), read: func(t *readDate, n int64) { t.month = n }},
	{name: "DAY", width: 9, which: weekday, read: func(*readDate, int64) {}, names: dayNames, words: true},
	{name: "DY", which: weekday, read: func(*readDate, int64) {}, names: firstThree(dayNames), words: true},
	{name: "IDDD", width: 3, number: func(m calendar.Moment) int64 {
		return (calendar.DayParts["week"].Of(m.Day)-1)*7 + calendar.DayParts["isodow"].Of(m.Day)
	}},
	{name: "DDD", width: 3, number: part("doy"), read: func(t *readDate, n int64) { t.doy = n }},
	{name: "DD", width: 2, number: part("day"), read: func(t *readDate, n int64) { t.day = n }},
	{name: "ID", width: 1, number: part("isodow")},
	{name: "D", width: 1, number: func(m calendar.Moment) int64 { return calendar.Weekday(m.Day) + 1 }},
	{name: "WW", width: 2, number: func(m calendar.Moment) int64 { return (calendar.DayParts["doy"].Of(m.Day)-1)/7 + 1 }},
	{name: "IW", width: 2, number: part("week")},
	{name: "I", width: 1, number: func(m calendar.Moment) int64 { return calendar.DayParts["isoyear"].Of(m.Day) % 10 }},
	{name: "W", width: 1, number: func(m calendar.Moment) int64 { return (calendar.DayParts["day"].Of(m.Day)-1)/7 + 1 }},
	{name: "Q", width: 1, number: part("quarter")},
	{name: "CC", width: 2, number: part("century")},
	{name: "J", number: func(m calendar.Moment) int64 { return m.Day + calendar.JulianEpoch }},
	{name: "HH24", width: 2, number: func(m calendar.Moment) int64 { return m.Micros / 3_600_000_000 }, read: func(t *readDate, n int64) { t.hour = n }},
	{name: "HH12", width: 2, number: hour12, read: readHour12},
	{name: "HH", width: 2, number: hour12, read: readHour12},
	{name: "MI", width: 2, number: func(m calendar.Moment) int64 { return m.Micros / 60_000_000 % 60 }, read: func(t *readDate, n int64) { t.minute = n }},
	{name: "SSSSS", number: func(m calendar.Moment) int64 { return m.Micros / 1_000_000 }},
	{name: "SSSS", number: func(m calendar.Moment) int64 { return m.Micros / 1_000_000 }},
	{name: "SS", width: 2, number: func(m calendar.Moment) int64 { return m.Micros / 1_000_000 % 60 }, read: func(t *readDate, n int64) { t.sec = n }},
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

var (
	monthNames    = strings.Fields("January February March April May June July August September October November December")
	monthNumerals = strings.Fields("I II III IV V VI VII VIII IX X XI XII")
	dayNames      = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
)

// moment is the moment that was read of a text.
func (t readDate) moment(all string) (m calendar.Moment, err error) {
	if t.set || t.twelve {
		if t.hour < 1 || t.hour > 12 {
			return m, sqlstate.Errorf(sqlstate.InvalidDatetimeFormat, "hour \"%d\" is invalid for the 12-hour clock", t.hour)
		}
		if t.hour %= 12; t.afternoon {
			t.hour += 12
		}
	}
	out := func() error {
		return sqlstate.Errorf(sqlstate.DatetimeOverflow, "date/time field value out of range: %q", all)
	}
	if t.month < 1 || t.month > 12 || t.day < 1 || t.day > int64(table.DaysInMonth(t.year, int(t.month))) || t.hour > 23 || t.minute > 59 || t.sec > 59 {
		return m, out()
	}
	m.Day = table.DaysFromCivil(t.year, int(t.month), int(t.day))
	if t.doy > 0 {
		if m.Day = table.DaysFromCivil(t.year, 1, 1) + t.doy - 1; calendar.YearOf(m.Day) != t.year {
			return m, out()
		}
	}
	m.Micros = ((t.hour*60+t.minute)*60+t.sec)*1_000_000 + t.us
	return m, nil
}

func part(name string) func(m calendar.Moment) int64 {
	of := calendar.DayParts[name]
	return func(m calendar.Moment) int64 { return of.Of(m.Day) }
}

func monthOf(m calendar.Moment) int {
	_, month, _ := table.CivilFromDays(m.Day)
	return month - 1
}

func weekday(m calendar.Moment) int { return int(calendar.Weekday(m.Day)) }

func half(m calendar.Moment) int { return int(m.Micros / (12 * 3_600_000_000)) }

func firstThree(names []string) []string {
	return xslices.Map(names, func(n string) string { return n[:3] })
}

// calendarYear is a year, 1 for 1 BC.
func calendarYear(m calendar.Moment) int64 {
	y := calendar.YearOf(m.Day)
	if y <= 0 {
		return 1 - y
	}
	return y
}

func hour12(m calendar.Moment) int64 { return (m.Micros/3_600_000_000+11)%12 + 1 }

func readHour12(t *readDate, n int64) { t.hour, t.twelve = n, true }

func readMeridiem(t *readDate, n int64) { t.afternoon, t.set = n == 2, true }

func era(after, before string) func(m calendar.Moment) string {
	return func(m calendar.Moment) string { return pick(calendar.YearOf(m.Day) <= 0, before, after) }
}

// secondDigits shows the fraction of a second with so many digits, also behind FM.
func secondDigits(digits int) func(m calendar.Moment) string {
	return func(m calendar.Moment) string { return fmt.Sprintf("%06d", m.Micros%1_000_000)[:digits] }
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
