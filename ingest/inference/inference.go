package inference

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// Column learns the type of a column from its values.
type Column struct {
	Count  [Classes]int
	First  [Classes]Sample
	quoted [Classes]int // of count, those between quotes
	opened Sample       // the first of them
	padded int          // of quoted, dates and timestamps with blanks around
	digits              // the most of an integer or a DECIMAL
	last   Class
}

// See takes a value of a line in; false: it is not UTF-8.
func (in *Column) See(c Content, line int, nullWords bool) bool {
	k, d := Classify(c.Text)
	switch {
	case k != ClassText:
	case c.Quoted && len(c.Text) == 0:
		k = ClassEmpty
	case nullWords && IsNullWord(c):
		k = ClassNull
	case !utf8.Valid(c.Text):
		return false
	}
	if c.Quoted && (k == classDate || k == ClassTimestamp) && len(source.TrimBlanks(c.Text)) < len(c.Text) {
		in.padded++
	}
	in.atLeast(d)
	in.Take(k, c, line)
	in.last = k
	return true
}

// Alike takes in the values of fields from i on, step apart, as long as they look much like the
// last one that was seen. It returns which does not. None of them may be a word for NULL.
func (in *Column) Alike(text []byte, fields []Field, i, step int) int {
	for ; i < len(fields); i += step {
		f := &fields[i]
		b, k, d, ok := text[f.From:f.To], in.last, digits{}, false
		switch {
		case len(b) == 0 && !f.Quoted: // NULL
			continue
		case len(b) == 0:
		case k == ClassText:
			ok = letters[b[0]] && utf8.Valid(b)
		case k == classDate:
			ok = plainDate(b)
		case k.IsNumber() || k == classZeros:
			if k, d, ok = short(b); !ok {
				k, d, ok = number(b)
			}
		}
		if !ok || !in.Has(k) {
			return i
		}
		if f.Quoted {
			if in.quoted[k] == 0 {
				return i
			}
			in.quoted[k]++
		}
		in.Count[k]++
		in.atLeast(d)
	}
	return i
}

// Take counts a value of a class.
func (in *Column) Take(k Class, c Content, line int) {
	if in.Count[k]++; in.Count[k] == 1 {
		in.First[k] = Sample{Text: source.Quote(c.Text), Line: line}
	}
	if !c.Quoted {
		return
	}
	if in.quoted[k]++; k < ClassQuoted && k != ClassEmpty && in.opened.Line == 0 {
		in.opened = Sample{Text: source.Quote(c.Text), Line: line}
	}
}

// Add takes in what the lines behind have, which are a block of that number, of a file where there are several.
func (in *Column) Add(next *Column, part int, of string) {
	in.atLeast(next.digits)
	in.padded += next.padded
	at := func(s Sample) Sample {
		s.part, s.Of = part, of
		return s
	}
	if in.opened.Line == 0 && next.opened.Line > 0 {
		in.opened = at(next.opened)
	}
	for k := range Classes {
		if !in.Has(k) && next.Has(k) {
			in.First[k] = at(next.First[k])
		}
		in.Count[k] += next.Count[k]
		in.quoted[k] += next.quoted[k]
	}
}

// DecideQuotes says what quotes are, when all has been seen.
func (in *Column) DecideQuotes(q quoting) {
	if q == QuotesNothing {
		return
	}
	for k := range ClassQuoted {
		if n := in.quoted[k]; k != ClassEmpty && n > 0 {
			in.move(k, ClassQuoted, n)
		}
	}
}

// move makes n quoted values of a class those of another one.
func (in *Column) move(from, to Class, n int) {
	if !in.Has(to) || in.opened.Compare(in.First[to]) < 0 {
		in.First[to] = in.opened
	}
	in.Count[from] -= n
	in.quoted[from] -= n
	in.Count[to] += n
	in.quoted[to] += n
}

// Result is the narrowest type that holds every value, and why it is text where that is not what every value is.
func (in *Column) Result() (table.Type, Why) {
	text := table.Type{Kind: table.Varchar}
	values := in.Count
	values[ClassNull], values[ClassEmpty] = 0, 0
	if values == [Classes]int{} && !in.empty() {
		return text, Itself
	}
	for _, t := range inferred {
		rest := values
		for _, k := range t.holds {
			rest[k] = 0
		}
		switch {
		case rest != [Classes]int{}:
		case t.kind == table.Varchar:
			return text, Codes
		case t.kind != table.Decimal:
			return table.Type{Kind: t.kind}, Itself
		case in.Whole+in.Frac <= source.MaxPrecision:
			return table.Type{Kind: t.kind, Precision: source.MaxPrecision, Scale: in.Frac}, Itself
		}
	}
	numbers, others := in.CountOf(Class.IsNumber), in.CountOf(Class.IsOther)
	dates := in.Count[classDate] + in.Count[ClassTimestamp]
	switch rest := in.CountOf(Class.IsOdd); {
	case numbers > 0 && others > 0:
		return text, Mixed
	case numbers > 0 && !in.Has(classZeros):
		return text, Inexact
	case numbers > 0 || in.Has(classZeros) && others == 0:
		return text, Zeros
	case rest > 0 && rest < dates:
		return text, Odd
	case in.Has(ClassQuoted) && in.Count[ClassQuoted] == others:
		return text, Quotes
	}
	return text, Itself
}

func (in *Column) Has(k Class) bool { return in.Count[k] > 0 }

func (in *Column) empty() bool { return in.Count == [Classes]int{} }

// CountOf is how many values are of some classes.
func (in *Column) CountOf(of func(Class) bool) (n int) {
	for k := range Classes {
		if of(k) {
			n += in.Count[k]
		}
	}
	return n
}

// Earliest is the first of the values of some classes.
func (in *Column) Earliest(of func(Class) bool) (s Sample) {
	var list []Sample
	for k := range Classes {
		if in.Has(k) && of(k) {
			list = append(list, in.First[k])
		}
	}
	if len(list) > 0 {
		s = slices.MinFunc(list, Sample.Compare)
	}
	return s
}

// Inexact is the first number that no type holds exactly that holds the others.
func (in *Column) Inexact() Sample {
	if in.Has(classHuge) {
		return in.First[classHuge]
	}
	return in.First[ClassLong]
}

// Amid reports whether a value, or none, is more than text above others, all of which are in with, and whether it fits there.
func (in *Column) Amid(below, with *Column) (typed, fits bool) {
	isNumber := func(k Class) bool { return k.IsNumber() || k == classZeros }
	numbers, others := below.CountOf(isNumber), below.CountOf(Class.IsOther)
	before, _ := below.Result()
	t, _ := with.Result()
	hasType := before.Kind != table.Varchar && before.Kind != table.Unknown
	switch {
	case in.empty() || in.Has(ClassNull):
		return false, true
	case in.CountOf(isNumber) > 0:
		return others == 0, numbers > 0 || others == 0
	case numbers > 0 && others == 0 && !in.Has(classWord):
		return false, false
	}
	return t.Kind != table.Varchar, !hasType || t.Kind != table.Varchar
}

// DecideStrings says what strings are. Dates and timestamps are values of their own where none has blanks around, which a value would not keep.
// NaN and Infinity are among numbers; everything else is text.
func (in *Column) DecideStrings() {
	bare := in.CountOf(Class.IsNumber)
	for k := range Classes {
		bare -= in.quoted[k] * btoi(k.IsNumber())
	}
	if n := in.Count[classCode] - in.quoted[classCode]; n > 0 { // a number as any other
		if !in.Has(classFloat) || in.First[classCode].Compare(in.First[classFloat]) < 0 {
			in.First[classFloat] = in.First[classCode]
		}
		in.Count[classCode] -= n
		in.Count[classFloat] += n
	}
	for k := range ClassText {
		n := in.quoted[k]
		if n == 0 || (k == classDate || k == ClassTimestamp) && in.padded == 0 || k == classWord && bare > 0 {
			continue
		}
		in.move(k, ClassText, n)
	}
}

// digits are those of a number, but the zeros in front.
type digits struct{ Whole, Frac int }

// atLeast makes room for another number.
func (d *digits) atLeast(other digits) {
	d.Whole, d.Frac = max(d.Whole, other.Whole), max(d.Frac, other.Frac)
}

// Sample is a value that was seen, and where.
type Sample struct {
	Text string // quoted for an error
	Line int
	Of   string // the file, where there are several
	part int    // the number of the block
}

// Place is where it was seen.
func (s Sample) Place() string {
	if s.Of != "" {
		return fmt.Sprintf("line %d of %s", s.Line, s.Of)
	}
	return fmt.Sprintf("line %d", s.Line)
}

// Compare orders samples as they are in the text.
func (s Sample) Compare(other Sample) int {
	return cmp.Or(cmp.Compare(s.part, other.part), cmp.Compare(s.Line, other.Line))
}

// quoting is what quotes around a value say of it.
type quoting uint8

const (
	QuotesNothing quoting = iota // as in a file in which every field has them
	QuotesText                   // it is text
)

// Why says why a column is text that has values that are not.
type Why uint8

const (
	Itself  Why = iota // there is no other reason than what the values are
	Mixed              // numbers among other values
	Odd                // a few other values among dates or timestamps
	Inexact            // no type holds all of the numbers exactly
	Zeros              // numbers with zeros in front
	Codes              // digits with an E among them
	Quotes             // what is no text is between quotes
)

// inferred are the types, the narrowest first, with the classes of values that each holds.
var inferred = []struct {
	kind  table.Kind
	holds []Class
}{
	{table.Unknown, nil},
	{table.Varchar, []Class{classCode}},
	{table.BigInt, []Class{ClassInt, ClassLong}},
	{table.Boolean, []Class{classBool}},
	{table.Date, []Class{classDate}},
	{table.Timestamp, []Class{classDate, ClassTimestamp}},
	{table.Decimal, []Class{ClassInt, ClassLong, classDecimal}},
	{table.Double, []Class{ClassInt, classDecimal, classFloat, classCode, classWord}},
}

// IsOther reports what is neither a number nor a word among words.
func (c Class) IsOther() bool { return !c.IsNumber() && !c.isEither() }

// IsOdd reports what is no date among dates.
func (c Class) IsOdd() bool {
	return c.IsOther() && c != classDate && c != ClassTimestamp || c == classWord || c == classZeros
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
