package table

import (
	"slices"
	"strconv"
	"strings"
)

// Dates and times as people write them, beside the form of [Parse]: 20240229, 20240229T101112, 2024/2/29, 29-Feb-2024, Feb
// 29, 2024. In 2/29/2024 the month comes first. A time of day may have 12 hours (10:11 PM), and a day's name may stand
// beside the date. A TIMESTAMP has no time zone: one in the text is ignored, as PostgreSQL does. A year of two digits lies
// from 1970 to 2069.

var (
	monthWords = strings.Fields("january february march april may june july august september october november december")
	dayWords   = strings.Fields("sunday monday tuesday wednesday thursday friday saturday")
)

// nameOf is the number from 1 of a name, or of three or more of its letters; 0 is none.
func nameOf(list []string, s string) int {
	return slices.IndexFunc(list, func(name string) bool { return len(s) >= 3 && strings.HasPrefix(name, s) }) + 1
}

// dateInput is what has been read of a date and time.
type dateInput struct {
	numbers         []string // the parts of the date that are digits, in their order
	month           int      // where it was named
	clock, meridiem string
	bc              bool
}

// parseDateInput reads a date, and the microseconds of its time of day.
func parseDateInput(s string) (days, us int64, ok bool) {
	var d dateInput
	if d.words(strings.ToLower(s)) {
		return d.read()
	}
	return 0, 0, false
}

// words takes a text apart.
func (d *dateInput) words(s string) bool {
	if strings.TrimSpace(s) == "epoch" {
		d.numbers = []string{"1970", "01", "01"}
		return true
	}
	// The T of ISO 8601 stands between digits.
	for i := 1; i+1 < len(s); i++ {
		if s[i] == 't' && isDigit(s[i-1]) && isDigit(s[i+1]) {
			s = s[:i] + " " + s[i+1:]
		}
	}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !d.word(w) {
			return false
		}
	}
	return true
}

// word takes one word.
func (d *dateInput) word(w string) bool {
	dated := len(d.numbers) > 0 && (len(d.numbers) > 1 || len(d.numbers[0]) > 4)
	switch zone := strings.TrimRight(w, "0123456789:"); {
	case strings.Contains(w, ":") && d.clock == "" && isDigit(w[0]):
		d.clock = w
	case d.clock != "" && d.meridiem == "" && (w == "am" || w == "pm"):
		d.meridiem = w
	case d.clock != "" && (w == "z" || w == "utc" || w == "gmt" || (zone == "+" || zone == "-") && zoneOffset(w)):
	case (w == "bc" || w == "ad") && dated:
		d.bc = w == "bc"
	case nameOf(dayWords, w) > 0:
	case dated && d.month == 0 && d.clock == "" && (digits(w) == 6 || digits(w) == 4) && (len(w) == digits(w) || w[digits(w)] == '.'):
		d.clock = w[:2] + ":" + w[2:4]
		if digits(w) == 6 {
			d.clock += ":" + w[4:]
		}
	default:
		return w[0] != '-' && d.parts(w) // there is no year -2020, and no time zone without a time
	}
	return true
}

// zoneOffset reports a sign and hours, perhaps with minutes.
func zoneOffset(w string) bool {
	n := len(strings.Replace(w[1:], ":", "", 1))
	return n == 1 || n == 2 || n == 4
}

// parts takes the parts of a date that a word has.
func (d *dateInput) parts(w string) bool {
	for _, p := range strings.FieldsFunc(w, func(r rune) bool { return r == '-' || r == '/' || r == '.' }) {
		switch m := nameOf(monthWords, p); {
		case m > 0 && d.month == 0:
			d.month = m
		case p != "" && len(p) == digits(p) && len(p) <= maxYearDigits && len(d.numbers) < 3:
			d.numbers = append(d.numbers, p)
		default:
			return false
		}
	}
	return true
}

// read makes a date of the parts, and a time of day of the clock.
func (d *dateInput) read() (days, us int64, ok bool) {
	year, month, day := "", strconv.Itoa(d.month), ""
	switch n := d.numbers; {
	case d.month == 0 && len(n) == 1 && (len(n[0]) == 8 || len(n[0]) == 6):
		at := len(n[0]) - 4
		year, month, day = n[0][:at], n[0][at:at+2], n[0][at+2:]
	case d.month > 0 && len(n) == 2 && len(n[0]) > 2: // 2024-Feb-29
		year, day = n[0], n[1]
	case d.month > 0 && len(n) == 2:
		day, year = n[0], n[1]
	case d.month == 0 && len(n) == 3 && len(n[0]) > 2:
		year, month, day = n[0], n[1], n[2]
	case d.month == 0 && len(n) == 3:
		month, day, year = n[0], n[1], n[2]
	}
	if len(year) == 2 && !d.bc {
		century := "20"
		if year >= "70" {
			century = "19"
		}
		year = century + year
	}
	if len(year) < 2 || len(month) > 2 || len(day) > 2 || day == "" {
		return 0, 0, false
	}
	days, rest, ok := parseDay(strings.Repeat("0", max(0, 4-len(year)))+year+"-"+month+"-"+day, d.bc, true)
	if !ok || rest != "" || d.clock == "" {
		return days, 0, ok && rest == ""
	}
	us, ok = d.timeOfDay()
	return days, us, ok
}

// timeOfDay reads the clock, with am, pm or a zone right behind it.
func (d *dateInput) timeOfDay() (us int64, ok bool) {
	us, rest, ok := parseClock(" "+d.clock, true)
	if rest == "am" || rest == "pm" {
		d.meridiem, rest = rest, ""
	}
	if rest != "" && rest != "z" && !((rest[0] == '+' || rest[0] == '-') && strings.Trim(rest[1:], "0123456789:") == "" && zoneOffset(rest)) {
		return 0, false
	}
	const noon = MicrosPerDay / 2
	switch {
	case d.meridiem == "":
	case us >= noon+noon/12: // 13 o'clock
		return 0, false
	case d.meridiem == "pm" && us < noon:
		us += noon
	case d.meridiem == "am" && us >= noon:
		us -= noon
	}
	return us, ok
}
