package format

import (
	"github.com/stencildb/stencildb/table"

	"github.com/stencildb/stencildb/expr/calendar"
)

// fixedTime reads texts that have each number of a pattern with all its digits, and the separators as they are written. So each number is
// always at the same place. The last one may be a fraction of fewer digits.
type fixedTime struct {
	fields   []fixedField
	least    int // bytes of a text
	most     int
	fraction int64 // microseconds of the last digit that the last field may have; 0 where it is no fraction
}

// fixedField is a number at a place, which a byte follows; none the last.
type fixedField struct {
	at, width int
	then      byte
	to        int // which of [fixedParts]
}

// fixedParts are the fields that may be read so, by what they are: the first is the year.
var fixedParts = map[string]int{"YYYY": 0, "MM": 1, "DD": 2, "HH24": 3, "MI": 4, "SS": 5, "MS": 6, "US": 6}

// fixed is the pattern of these parts; nil where it is none.
func fixed(parts []patternPart) *fixedTime {
	f, seen, at := &fixedTime{}, 0, 0
	for i, p := range parts {
		if i%2 == 1 {
			if p.of != nil || len(p.text) != 1 || p.text[0] >= 0x80 || alphanumeric(p.text[0]) {
				return nil
			}
			f.fields[len(f.fields)-1].then = p.text[0]
			at++
			continue
		}
		if p.of == nil || p.suffix != "" {
			return nil
		}
		to, ok := fixedParts[p.of.name]
		fraction := p.of.name == "MS" || p.of.name == "US"
		if !ok || seen>>to&1 == 1 || fraction && i < len(parts)-1 {
			return nil
		}
		f.least = at + p.of.width
		if fraction {
			f.least = at + 1
			f.fraction = table.Pow10(6 - p.of.width).Int64()
		}
		seen |= 1 << to
		f.fields = append(f.fields, fixedField{at: at, width: p.of.width, to: to})
		at += p.of.width
	}
	if f.most = at; len(parts)%2 == 0 {
		return nil
	}
	return f
}

// read reads a text. ok is false where the text is another one, or wrong.
func (f *fixedTime) read(s string) (m calendar.Moment, ok bool) {
	if len(s) < f.least || len(s) > f.most {
		return m, false
	}
	t := [7]int64{1: 1, 2: 1}
	for i := range f.fields {
		p := &f.fields[i]
		n, end := int64(0), min(p.at+p.width, len(s))
		for _, c := range []byte(s[p.at:end]) {
			if c -= '0'; c > 9 {
				return m, false
			}
			n = 10*n + int64(c)
		}
		switch {
		case p.then != 0:
			if s[end] != p.then {
				return m, false
			}
		case f.fraction > 0:
			n *= f.fraction
			for range f.most - len(s) {
				n *= 10
			}
		}
		t[p.to] = n
	}
	year, month, day := t[0], max(t[1], 1), max(t[2], 1)
	if month > 12 || day > 28 && day > int64(table.DaysInMonth(year, int(month))) || t[3] > 23 || t[4] > 59 || t[5] > 59 {
		return m, false
	}
	return calendar.Moment{Day: table.DaysFromCivil(year, int(month), int(day)), Micros: ((t[3]*60+t[4])*60+t[5])*1_000_000 + t[6]}, true
}
