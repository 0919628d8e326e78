package ingest

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// quotes says what quotes around values are, by those of the first record. Where its fields have quotes that they do not need, all fields of
// the column have some, and they say nothing; else a value between quotes is text, as what we write.
func (r *csvReader) quotes() {
	needless := func(h heading) bool {
		return h.quoted && len(h.text) > 0 && !needsQuotes(string(h.text), r.src.Delim, len(r.first) == 1)
	}
	all := !slices.ContainsFunc(r.first, func(h heading) bool { return !h.quoted && len(h.text) > 0 })
	for col, h := range r.first {
		if r.json {
			r.infer[col].settleJSON()
			continue
		}
		q := quotesText
		switch some := slices.ContainsFunc(r.first, needless); {
		case r.headerSaid && r.src.Header == HeaderNone:
		case r.src.Header == HeaderNone && all, r.src.Header == HeaderThere && (needless(h) || h.quoted && some):
			q = quotesNothing
		}
		r.infer[col].settle(q)
	}
}

// types takes the types of the columns from what has been seen, and says where that is not what most of a column looks like.
func (r *csvReader) types() error {
	var texts []string          // notes of columns that are text for a few values
	names := map[why][]string{} // columns that are text for the looks of all their values
	for col := range r.infer {
		if r.fields[col].Type.Kind != table.Unknown {
			continue
		}
		t, because := r.infer[col].result()
		r.fields[col].Type = t
		switch because {
		case itself:
		case zeros, codes, quotes:
			names[because] = append(names[because], show(r.fields[col].Name))
		default:
			if r.strict() && because != odd {
				return r.refused(col, because)
			}
			texts = append(texts, r.explained(col, because))
		}
	}
	for i, text := range texts {
		if i == maxColumnNotes && len(texts) > i+1 {
			r.note("%d more columns are text for such reasons", len(texts)-i)
			break
		}
		r.note("%s", text)
	}
	for _, of := range []struct {
		why  why
		what string
	}{{zeros, "numbers with zeros in front"}, {codes, "numbers such as 1E5"}, {quotes, "values between quotes"}} {
		if names := names[of.why]; len(names) > 0 {
			r.taken = append(r.taken, of.what+" are text in "+few(names))
		}
	}
	return nil
}

// maxColumnNotes is how many columns of a file are said in a line each to be text for a few values.
const maxColumnNotes = 5

// explained is a note of a column that is text for some of its values.
func (r *csvReader) explained(col int, because why) string {
	in, name := &r.infer[col], r.fields[col].Name
	var s sample
	kind, what, effect := "double", "", "makes it an error"
	switch because {
	case mixed:
		s = in.earliest(class.isOther)
		if in.some(class.isNumber) == in.count[classInt]+in.count[classLong] {
			kind = "bigint"
		}
		others := in.some(class.isOther)
		place, verb := "", "are"
		if s == in.first[classQuoted] {
			place = " between quotes"
		}
		if others == 1 {
			verb = "is"
		}
		what = fmt.Sprintf("%s%s is no number (%s of %s values %s none)", s.text, place, numbers.Grouped(others), numbers.Grouped(others+in.some(class.isNumber)), verb)
	case odd:
		s, kind = in.earliest(class.isOdd), "date"
		if in.has(classTimestamp) {
			kind = "timestamp"
		}
		what = fmt.Sprintf("%s is no %s", s.text, kind)
	case inexact:
		if in.has(classBeyond) {
			s = in.first[classBeyond]
			what = s.text + " is beyond every type of numbers"
			break
		}
		s, effect = in.inexact(), "rounds it"
		what = s.text + " is more than a type holds exactly that holds all of the column"
	}
	return fmt.Sprintf("%s, column %d (%s): %s, so the column is text; %s %s %s, %s ends this note",
		s.place(), col+1, show(name), what, r.typed(name, kind), r.where(), effect, r.typed(name, "text"))
}

// inexact is the first number that no type holds exactly that holds the others.
func (in *inference) inexact() sample {
	if in.has(classHuge) {
		return in.first[classHuge]
	}
	return in.first[classLong]
}

// refused is the error of a column that is text for some of its values, where that is not wanted.
func (r *csvReader) refused(col int, because why) error {
	in, types := &r.infer[col], []string{"text"}
	n, o := in.earliest(class.isNumber), in.earliest(class.isOther)
	bad, err := o, error(nil)
	switch {
	case because == inexact && in.has(classBeyond):
		bad = in.first[classBeyond]
		err = sqlstate.Errorf(sqlstate.NumericOutOfRange, "%s is beyond every type of numbers", bad.text)
	case because == inexact:
		bad, types = in.inexact(), []string{"double", "text"}
		err = sqlstate.Errorf(sqlstate.NumericOutOfRange, "%s is more than a type holds exactly that holds all of the column", bad.text)
	case n.compare(o) < 0:
		err = sqlstate.Errorf(sqlstate.InvalidText, "%s is not a number, but %s has %s", o.text, n.place(), n.text)
	default:
		bad, err = n, sqlstate.Errorf(sqlstate.InvalidText, "%s is a number, but %s has %s", n.text, o.place(), o.text)
	}
	if err = r.place(bad.line, col, err, types...); bad.of != "" {
		err = fmt.Errorf("%s: %w", bad.of, err)
	}
	return err
}

// few are names, but not many.
func few(names []string) string {
	out := ""
	for i, name := range names {
		switch {
		case i == 5 && len(names) > 6:
			return out + fmt.Sprintf(", %d more", len(names)-i)
		case i > 0:
			out += ", "
		}
		out += name
	}
	return out
}
