package ingest

import (
	"fmt"
	"unicode/utf8"

	"github.com/stencildb/stencildb/table"
)

// inference learns the type of a column from its values.
type inference struct {
	count [classes]int
	first [classes]sample
}

// sample is a value that was seen and its line.
type sample struct {
	text string // quoted for an error
	line int
}

// add takes a value in. It is an error where the column then holds numbers and
// what is no number.
func (in *inference) add(f *field) error {
	k := classify(f.text)
	in.count[k]++
	if k == classText && !utf8.Valid(f.text) {
		return errUTF8
	}
	if in.count[k] > 1 {
		return nil
	}
	in.first[k] = sample{quote(f.text), f.line}
	for other := range classes {
		// NaN and Infinity are numbers among numbers and words among words.
		if in.count[other] == 0 || other == classWord || k == classWord || other.isNumber() == k.isNumber() {
			continue
		}
		if k.isNumber() {
			return fmt.Errorf("%s is a number, but line %d has %s", quote(f.text), in.first[other].line, in.first[other].text)
		}
		return fmt.Errorf("%s is not a number, but line %d has %s", quote(f.text), in.first[other].line, in.first[other].text)
	}
	return nil
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
	{table.Double, []class{classInt, classHuge, classFloat, classWord}},
}

// result is the narrowest type that holds every value added. An integer beyond 64
// bits in a column of integers is an error, at the sample returned with it.
func (in *inference) result() (table.Type, sample, error) {
	if s := in.first[classHuge]; in.has(classHuge) && !in.has(classFloat) && !in.has(classWord) {
		return table.Type{}, s, fmt.Errorf("%s is beyond the 64 bits of an integer", s.text)
	}
	for _, t := range inferred {
		rest := in.count
		for _, k := range t.holds {
			rest[k] = 0
		}
		if rest == [classes]int{} {
			return table.Type{Kind: t.kind}, sample{}, nil
		}
	}
	return table.Type{Kind: table.Varchar}, sample{}, nil
}

func (in *inference) has(k class) bool { return in.count[k] > 0 }

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
