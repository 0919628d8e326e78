package record

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// types takes the types of the columns from what has been seen, and says where that is not what most of a column looks like.
func (r *Reader) types() error {
	var texts []string                    // notes of columns that are text for a few values
	names := map[inference.Why][]string{} // columns that are text for the looks of all their values
	for col := range r.Inferred {
		if r.Fields[col].Type.Kind != table.Unknown {
			continue
		}
		t, because := r.Inferred[col].Result()
		r.Fields[col].Type = t
		switch because {
		case inference.Itself:
		case inference.Zeros, inference.Codes, inference.Quotes:
			names[because] = append(names[because], source.ShowName(r.Fields[col].Name))
		default:
			if r.strict() && because != inference.Odd {
				return r.refused(col, because)
			}
			texts = append(texts, r.explained(col, because))
		}
	}
	for i, text := range texts {
		if i == maxColumnNotes && len(texts) > i+1 {
			r.Note("%d more columns are text for such reasons", len(texts)-i)
			break
		}
		r.Note("%s", text)
	}
	for _, of := range []struct {
		why  inference.Why
		what string
	}{{inference.Zeros, "numbers with zeros in front"}, {inference.Codes, "numbers such as 1E5"}, {inference.Quotes, "values between quotes"}} {
		if names := names[of.why]; len(names) > 0 {
			r.Taken = append(r.Taken, of.what+" are text in "+source.FewNames(names))
		}
	}
	return nil
}

// maxColumnNotes is how many columns of a file are said in a line each to be text for a few values.
const maxColumnNotes = 5

// explained is a note of a column that is text for some of its values.
func (r *Reader) explained(col int, because inference.Why) string {
	in, name := &r.Inferred[col], r.Fields[col].Name
	var s inference.Sample
	kind, what, effect := "double", "", "makes it an error"
	switch because {
	case inference.Mixed:
		s = in.Earliest(inference.Class.IsOther)
		if in.CountOf(inference.Class.IsNumber) == in.Count[inference.ClassInt]+in.Count[inference.ClassLong] {
			kind = "bigint"
		}
		others := in.CountOf(inference.Class.IsOther)
		place, verb := "", "are"
		if s == in.First[inference.ClassQuoted] {
			place = " between quotes"
		}
		if others == 1 {
			verb = "is"
		}
		what = fmt.Sprintf("%s%s is no number (%s of %s values %s none)", s.Text, place, numbers.Grouped(others), numbers.Grouped(others+in.CountOf(inference.Class.IsNumber)), verb)
	case inference.Odd:
		s, kind = in.Earliest(inference.Class.IsOdd), "date"
		if in.Has(inference.ClassTimestamp) {
			kind = "timestamp"
		}
		what = fmt.Sprintf("%s is no %s", s.Text, kind)
	case inference.Inexact:
		if in.Has(inference.ClassBeyond) {
			s = in.First[inference.ClassBeyond]
			what = s.Text + " is beyond every type of numbers"
			break
		}
		s, effect = in.Inexact(), "rounds it"
		what = s.Text + " is more than a type holds exactly that holds all of the column"
	}
	return fmt.Sprintf("%s, column %d (%s): %s, so the column is text; %s %s %s, %s ends this note",
		s.Place(), col+1, source.ShowName(name), what, r.TypesOption(name, kind), r.OptionsPlace(), effect, r.TypesOption(name, "text"))
}

// refused is the error of a column that is text for some of its values, where that is not wanted.
func (r *Reader) refused(col int, because inference.Why) error {
	in, types := &r.Inferred[col], []string{"text"}
	n, o := in.Earliest(inference.Class.IsNumber), in.Earliest(inference.Class.IsOther)
	bad, err := o, error(nil)
	switch {
	case because == inference.Inexact && in.Has(inference.ClassBeyond):
		bad = in.First[inference.ClassBeyond]
		err = sqlstate.Errorf(sqlstate.NumericOutOfRange, "%s is beyond every type of numbers", bad.Text)
	case because == inference.Inexact:
		bad, types = in.Inexact(), []string{"double", "text"}
		err = sqlstate.Errorf(sqlstate.NumericOutOfRange, "%s is more than a type holds exactly that holds all of the column", bad.Text)
	case n.Compare(o) < 0:
		err = sqlstate.Errorf(sqlstate.InvalidText, "%s is not a number, but %s has %s", o.Text, n.Place(), n.Text)
	default:
		bad, err = n, sqlstate.Errorf(sqlstate.InvalidText, "%s is a number, but %s has %s", n.Text, o.Place(), o.Text)
	}
	if err = r.place(bad.Line, col, err, types...); bad.Of != "" {
		err = fmt.Errorf("%s: %w", bad.Of, err)
	}
	return err
}

// sniffNulls finds the columns in which the words for NULL are that, and says in a line
// what has been sniffed.
func (r *Reader) sniffNulls() {
	var words, empties []string
	for col := range r.Inferred {
		in, name := &r.Inferred[col], source.ShowName(r.Fields[col].Name)
		if k := r.Fields[col].Type.Kind; k == table.Varchar || k == table.Unknown {
			continue
		}
		if r.words[col] = in.Has(inference.ClassNull); r.words[col] {
			words = append(words, name)
		}
		if in.Has(inference.ClassEmpty) {
			r.empties[col] = true
			empties = append(empties, name)
		}
	}
	if len(words) > 0 {
		r.Taken = append(r.Taken, `NULL, null, NA, N/A and \N are NULL in `+source.FewNames(words))
	}
	if len(empties) > 0 {
		r.Taken = append(r.Taken, `"" is NULL in `+source.FewNames(empties))
	}
	if len(r.Taken) > 0 {
		rest := "header= and null="
		if r.Source.Call {
			rest = "header and null"
		}
		r.Note("%s; %s, %s %s say it otherwise", strings.Join(r.Taken, "; "), r.Option("delim", ""), rest, r.OptionsPlace())
	}
}
