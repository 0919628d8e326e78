package ingest

import (
	"fmt"
	"unicode/utf8"

	"github.com/stencildb/stencildb/table"
)

// inference learns the type of a column from its values.
type inference struct {
	seen  [classes]bool
	first [classes]sample
	last  class // of the value before, to skip what is known already
	any   bool
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
	if k == classText && !utf8.Valid(f.text) {
		return errUTF8
	}
	if in.any && k == in.last {
		return nil
	}
	in.last, in.any = k, true
	if in.seen[k] {
		return nil
	}
	in.seen[k], in.first[k] = true, sample{quote(f.text), f.line}
	for other := range classes {
		// NaN and Infinity are numbers among numbers and words among words.
		if !in.seen[other] || other == classWord || k == classWord || other.isNumber() == k.isNumber() {
			continue
		}
		if k.isNumber() {
			return fmt.Errorf("%s is a number, but line %d has %s", quote(f.text), in.first[other].line, in.first[other].text)
		}
		return fmt.Errorf("%s is not a number, but line %d has %s", quote(f.text), in.first[other].line, in.first[other].text)
	}
	return nil
}

// result is the narrowest type that holds every value added. An integer beyond 64
// bits in a column of integers is an error, at the sample returned with it.
func (in *inference) result() (table.Type, sample, error) {
	has := func(k class) bool { return in.seen[k] }
	kind := table.Varchar
	switch {
	case !in.any:
		kind = table.Unknown
	case has(classText):
	case has(classInt) || has(classHuge) || has(classFloat):
		switch {
		case has(classFloat) || has(classWord):
			kind = table.Double
		case has(classHuge):
			s := in.first[classHuge]
			return table.Type{}, s, fmt.Errorf("%s is beyond the 64 bits of an integer", s.text)
		default:
			kind = table.BigInt
		}
	case has(classWord) && !has(classDate) && !has(classTimestamp) && !has(classBool):
		kind = table.Double
	case has(classWord):
	case has(classBool) && !has(classDate) && !has(classTimestamp):
		kind = table.Boolean
	case has(classBool):
	case has(classTimestamp):
		kind = table.Timestamp
	case has(classDate):
		kind = table.Date
	}
	return table.Type{Kind: kind}, sample{}, nil
}
