package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/stencildb/stencildb/table"
)

// inference learns the type of a column from its values.
type inference struct {
	count  [classes]int
	first  [classes]sample
	quoted [classes]int // of count, those between quotes
	opened sample       // the first of them
	digits              // the most of an integer or a DECIMAL
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
	part int    // the number of the block
}

// place is where it was seen.
func (s sample) place() string {
	if s.of != "" {
		return fmt.Sprintf("line %d of %s", s.line, s.of)
	}
	return fmt.Sprintf("line %d", s.line)
}

// compare orders samples as they are in the text.
func (s sample) compare(other sample) int {
	return cmp.Or(cmp.Compare(s.part, other.part), cmp.Compare(s.line, other.line))
}

// see takes a value of a line in; false: it is not UTF-8.
func (in *inference) see(c content, line int, nullWords bool) bool {
	k, d := classify(c.text)
	switch {
	case k != classText:
	case c.quoted && len(c.text) == 0:
		k = classEmpty
	case nullWords && isNullWord(c):
		k = classNull
	case !utf8.Valid(c.text):
		return false
	}
	in.atLeast(d)
	in.take(k, c, line)
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
		case k.isNumber() || k == classZeros:
			if k, d, ok = short(b); !ok {
				k, d, ok = number(b)
			}
		}
		if !ok || !in.has(k) {
			return i
		}
		if f.quoted {
			if in.quoted[k] == 0 {
				return i
			}
			in.quoted[k]++
		}
		in.count[k]++
		in.atLeast(d)
	}
	return i
}

// take counts a value of a class.
func (in *inference) take(k class, c content, line int) {
	if in.count[k]++; in.count[k] == 1 {
		in.first[k] = sample{text: quote(c.text), line: line}
	}
	if !c.quoted {
		return
	}
	if in.quoted[k]++; k < classQuoted && k != classEmpty && in.opened.line == 0 {
		in.opened = sample{text: quote(c.text), line: line}
	}
}

// add takes in what the lines behind have, which are a block of that number, of a file where there are several.
func (in *inference) add(next *inference, part int, of string) {
	in.atLeast(next.digits)
	at := func(s sample) sample {
		s.part, s.of = part, of
		return s
	}
	if in.opened.line == 0 && next.opened.line > 0 {
		in.opened = at(next.opened)
	}
	for k := range classes {
		if !in.has(k) && next.has(k) {
			in.first[k] = at(next.first[k])
		}
		in.count[k] += next.count[k]
		in.quoted[k] += next.quoted[k]
	}
}

// quoting is what quotes around a value say of it.
type quoting uint8

const (
	quotesNothing quoting = iota // as in a file in which every field has them
	quotesText                   // it is text
)

// settle says what quotes are, when all has been seen.
func (in *inference) settle(q quoting) {
	if q == quotesNothing {
		return
	}
	for k := range classQuoted {
		if n := in.quoted[k]; k != classEmpty && n > 0 {
			in.move(k, classQuoted, n)
		}
	}
}

// move makes n quoted values of a class those of another one.
func (in *inference) move(from, to class, n int) {
	if !in.has(to) || in.opened.compare(in.first[to]) < 0 {
		in.first[to] = in.opened
	}
	in.count[from] -= n
	in.quoted[from] -= n
	in.count[to] += n
	in.quoted[to] += n
}

// why says why a column is text that has values that are not.
type why uint8

const (
	itself  why = iota // there is no other reason than what the values are
	mixed              // numbers among other values
	odd                // a few other values among dates or timestamps
	inexact            // no type holds all of the numbers exactly
	zeros              // numbers with zeros in front
	codes              // digits with an E among them
	quotes             // what is no text is between quotes
)

// inferred are the types, the narrowest first, with the classes of values that each holds.
var inferred = []struct {
	kind  table.Kind
	holds []class
}{
	{table.Unknown, nil},
	{table.Varchar, []class{classCode}},
	{table.BigInt, []class{classInt, classLong}},
	{table.Boolean, []class{classBool}},
	{table.Date, []class{classDate}},
	{table.Timestamp, []class{classDate, classTimestamp}},
	{table.Decimal, []class{classInt, classLong, classDecimal}},
	{table.Double, []class{classInt, classDecimal, classFloat, classCode, classWord}},
}

// result is the narrowest type that holds every value, and why it is text where that is not what every value is.
func (in *inference) result() (table.Type, why) {
	text := table.Type{Kind: table.Varchar}
	values := in.count
	values[classNull], values[classEmpty] = 0, 0
	if values == [classes]int{} && !in.empty() {
		return text, itself
	}
	for _, t := range inferred {
		rest := values
		for _, k := range t.holds {
			rest[k] = 0
		}
		switch {
		case rest != [classes]int{}:
		case t.kind == table.Varchar:
			return text, codes
		case t.kind != table.Decimal:
			return table.Type{Kind: t.kind}, itself
		case in.whole+in.frac <= maxPrecision:
			return table.Type{Kind: t.kind, Precision: maxPrecision, Scale: in.frac}, itself
		}
	}
	numbers, others := in.some(class.isNumber), in.some(class.isOther)
	dates := in.count[classDate] + in.count[classTimestamp]
	switch rest := in.some(class.isOdd); {
	case numbers > 0 && others > 0:
		return text, mixed
	case numbers > 0 && !in.has(classZeros):
		return text, inexact
	case numbers > 0 || in.has(classZeros) && others == 0:
		return text, zeros
	case rest > 0 && rest < dates:
		return text, odd
	case in.has(classQuoted) && in.count[classQuoted] == others:
		return text, quotes
	}
	return text, itself
}

func (in *inference) has(k class) bool { return in.count[k] > 0 }

func (in *inference) empty() bool { return in.count == [classes]int{} }

// isOther reports what is neither a number nor a word among words.
func (c class) isOther() bool { return !c.isNumber() && !c.isEither() }

// some is how many values are of some classes.
func (in *inference) some(of func(class) bool) (n int) {
	for k := range classes {
		if of(k) {
			n += in.count[k]
		}
	}
	return n
}

// earliest is the first of the values of some classes.
func (in *inference) earliest(of func(class) bool) (s sample) {
	var list []sample
	for k := range classes {
		if in.has(k) && of(k) {
			list = append(list, in.first[k])
		}
	}
	if len(list) > 0 {
		s = slices.MinFunc(list, sample.compare)
	}
	return s
}

// isOdd reports what is no date among dates.
func (c class) isOdd() bool {
	return c.isOther() && c != classDate && c != classTimestamp || c == classWord || c == classZeros
}
