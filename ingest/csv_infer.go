package ingest

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/stencildb/stencildb/table"
)

// inference learns the type of a column from its values.
type inference struct {
	count  [classes]int
	first  [classes]sample
	digits // the most of an integer or a DECIMAL
	last   class
}

// digits are those of a number, but the zeros in front.
type digits struct{ whole, frac int }

// atLeast makes room for another number.
func (d *digits) atLeast(other digits) {
	d.whole, d.frac = max(d.whole, other.whole), max(d.frac, other.frac)
}

// sample is a value that was seen, and where.
type sample struct {
	text string // quoted for an error
	line int
	of   string // the file, where there are several
}

// place is where it was seen.
func (s sample) place() string {
	if s.of != "" {
		return fmt.Sprintf("line %d of %s", s.line, s.of)
	}
	return fmt.Sprintf("line %d", s.line)
}

// see takes a value of a line in; false: it is not UTF-8.
func (in *inference) see(c content, line int, nullWords bool) bool {
	k, d := classify(c.text)
	switch {
	case k != classText:
	case nullWords && isNullWord(c):
		k = classNull
	case !utf8.Valid(c.text):
		return false
	}
	in.atLeast(d)
	in.take(k, c.text, line)
	in.last = k
	return true
}

// alike takes in the values of fields from i on, step apart, as long as they look much like the
// last one that was seen, and returns which does not. None of them may be a word for NULL.
func (in *inference) alike(text []byte, fields []field, i, step int) int {
	for ; i < len(fields); i += step {
		f := &fields[i]
		b, k, d, ok := text[f.from:f.to], in.last, digits{}, false
		switch {
		case len(b) == 0 && !f.quoted: // NULL
			continue
		case len(b) == 0:
		case k == classText:
			ok = letters[b[0]] && utf8.Valid(b)
		case k == classDate:
			ok = plainDate(b)
		case k.isNumber():
			if k, d, ok = short(b); !ok {
				k, d, ok = number(b)
			}
		}
		if !ok || !in.has(k) {
			return i
		}
		in.count[k]++
		in.atLeast(d)
	}
	return i
}

// take counts a value of a class.
func (in *inference) take(k class, text []byte, line int) {
	if in.count[k]++; in.count[k] == 1 {
		in.first[k] = sample{text: quote(text), line: line}
	}
}

// add takes in what the lines behind have. It is an error where the column then holds
// numbers and what is no number; the line is that of the first value that makes it so.
func (in *inference) add(next *inference) (line int, err error) {
	var seen []class
	in.atLeast(next.digits)
	for k := range classes {
		if next.has(k) {
			seen = append(seen, k)
		}
	}
	slices.SortFunc(seen, func(a, b class) int { return next.first[a].line - next.first[b].line })
	for _, k := range seen {
		s, known := next.first[k], in.has(k)
		if in.count[k] += next.count[k]; known {
			continue
		}
		in.first[k] = s
		for other := range classes {
			if !in.has(other) || other.isEither() || k.isEither() || other.isNumber() == k.isNumber() {
				continue
			}
			if k.isNumber() {
				return s.line, fmt.Errorf("%s is a number, but %s has %s", s.text, in.first[other].place(), in.first[other].text)
			}
			return s.line, fmt.Errorf("%s is not a number, but %s has %s", s.text, in.first[other].place(), in.first[other].text)
		}
	}
	return 0, nil
}

// inferred are the types, the narrowest first, with the classes of values that each holds.
var inferred = []struct {
	kind  table.Kind
	holds []class
}{
	{table.Unknown, nil},
	{table.BigInt, []class{classInt}},
	{table.Boolean, []class{classBool}},
	{table.Date, []class{classDate}},
	{table.Timestamp, []class{classDate, classTimestamp}},
	{table.Decimal, []class{classInt, classDecimal}},
	{table.Double, []class{classInt, classDecimal, classHuge, classFloat, classWord}},
}

// result is the narrowest type that holds every value added. An integer beyond 64
// bits in a column of integers is an error, at the sample returned with it.
func (in *inference) result() (table.Type, sample, error) {
	if s := in.first[classHuge]; in.has(classHuge) && !in.has(classDecimal) && !in.has(classFloat) && !in.has(classWord) {
		return table.Type{}, s, fmt.Errorf("%s is beyond the 64 bits of an integer", s.text)
	}
	values := *in
	values.count[classNull] = 0
	if values.empty() && !in.empty() {
		return table.Type{Kind: table.Varchar}, sample{}, nil
	}
	for _, t := range inferred {
		rest := values.count
		for _, k := range t.holds {
			rest[k] = 0
		}
		switch {
		case rest != [classes]int{}:
		case t.kind != table.Decimal:
			return table.Type{Kind: t.kind}, sample{}, nil
		case in.whole+in.frac <= maxPrecision:
			return table.Type{Kind: t.kind, Precision: maxPrecision, Scale: in.frac}, sample{}, nil
		}
	}
	return table.Type{Kind: table.Varchar}, sample{}, nil
}

func (in *inference) has(k class) bool { return in.count[k] > 0 }

func (in *inference) empty() bool { return in.count == [classes]int{} }

// odd returns the first of the values that make text of a column of dates or
// timestamps: what else there is, where it is rarer than they are.
func (in *inference) odd() (s sample, ok bool) {
	dates, others := in.count[classDate]+in.count[classTimestamp], 0
	for _, k := range []class{classText, classBool, classWord} {
		others += in.count[k]
		if in.has(k) && (s.line == 0 || in.first[k].line < s.line) {
			s = in.first[k]
		}
	}
	return s, others > 0 && others < dates
}
