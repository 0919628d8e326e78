package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Header says whether the first line of a CSV holds the names of its columns.
type Header uint8

// The kinds of first lines.
const (
	HeaderSniffed Header = iota // none where its cells are values as those below, and not all text
	HeaderThere
	HeaderNone // columns are column1, column2, ...
)

// sniffedRecords is how many records are looked at for the delimiter.
const sniffedRecords = 1000

// sniffDelim finds the delimiter: a comma, unless another one, and not that, gives the same number of several fields
// in every record looked at. Of two such it is the one that gives more.
func (r *csvReader) sniffDelim() {
	r.src.Delim = ','
	if n, same := r.shape(','); n > 1 && same {
		r.delimSure = true
		return
	}
	most := 1
	for _, d := range []byte(";\t|") {
		if n, same := r.shape(d); n > most && same {
			most, r.src.Delim = n, d
		}
	}
	if r.delimSure = most > 1; r.delimSure {
		r.taken = append(r.taken, fmt.Sprintf("the delimiter is %q", r.src.Delim))
	}
}

// shape is how many columns the first record has, blank lines aside, and whether all others looked at have as many.
func (r *csvReader) shape(delim byte) (columns int, same bool) {
	records := 0
	for b := range r.blocks() {
		if b.err != nil {
			return columns, false
		}
		s, f, n := newScanner(b, delim), field{}, 0
		for s.next(&f) {
			if n++; !f.last {
				continue
			}
			if columns == 0 && !f.blank(n-1) {
				columns = n
			}
			if n != columns && !f.blank(n-1) {
				return columns, false
			}
			if records++; records == sniffedRecords {
				return columns, true
			}
			n = 0
		}
		if s.err != nil {
			return columns, false
		}
	}
	return columns, true
}

// isNullWord reports the words that are NULL where the values around them are not text.
func isNullWord(c content) bool {
	if c.quoted || len(c.text) == 0 || c.text[0] != 'N' && c.text[0] != 'n' && c.text[0] != '\\' {
		return false
	}
	switch string(c.text) {
	case "NULL", "null", "NA", "N/A", `\N`:
		return true
	}
	return false
}

// sniffNames finds out by the names of declared columns whether the first line has them.
func (r *csvReader) sniffNames() {
	unknown := func(h Header) bool {
		r.src.Header = h
		return r.nameColumns(true) != nil || slices.ContainsFunc(r.src.Types, func(d ColumnType) bool { return r.find(d.Name) < 0 })
	}
	if unknown(HeaderThere) && unknown(HeaderNone) {
		r.src.Header = HeaderThere
	}
	r.takeHeader()
}

// sniffHeader finds out whether the first line holds names, when the other lines have been
// seen: none if each of its cells is a value of its column's type, and one is not text. Then
// it is a line as the others.
func (r *csvReader) sniffHeader() error {
	all, typed := make([]inference, len(r.first)), false
	for col := range r.first {
		c, below, with := r.first[col], &r.infer[col], &all[col]
		if !r.isNull(col, c.content) {
			with.see(c.content, c.line, r.src.Nulls == nil)
		}
		first := *with
		with.add(below, 1, "")
		is, fits := first.amid(below, with)
		if !fits {
			typed = false
			break
		}
		typed = typed || is
	}
	r.src.Header = HeaderThere
	if typed {
		r.src.Header, r.infer = HeaderNone, all
	}
	r.takeHeader()
	return r.nameColumns(false)
}

// amid reports whether a value, or none, is more than text above others, all of which are in with, and whether it fits there.
func (in *inference) amid(below, with *inference) (typed, fits bool) {
	isNumber := func(k class) bool { return k.isNumber() || k == classZeros }
	numbers, others := below.some(isNumber), below.some(class.isOther)
	before, _ := below.result()
	t, _ := with.result()
	hasType := before.Kind != table.Varchar && before.Kind != table.Unknown
	switch {
	case in.empty() || in.has(classNull):
		return false, true
	case in.some(isNumber) > 0:
		return others == 0, numbers > 0 || others == 0
	case numbers > 0 && others == 0 && !in.has(classWord):
		return false, false
	}
	return t.Kind != table.Varchar, !hasType || t.Kind != table.Varchar
}

// takeHeader says that there is no header.
func (r *csvReader) takeHeader() {
	if r.src.Header == HeaderNone {
		r.taken = append(r.taken, "there is no header, so the columns are named column1 and on")
	}
}

// nameColumns names the columns, after the first line where it has names; quietly, as long as that
// is not sure.
func (r *csvReader) nameColumns(quietly bool) error {
	for i, c := range r.first {
		r.fields[i].Name = "column" + strconv.Itoa(i+1)
		if r.src.Header != HeaderNone && len(c.text) > 0 {
			r.fields[i].Name = string(c.text)
		}
	}
	l := *r.loader
	if quietly {
		l.opts.Note = nil
	}
	return l.distinctNames(r.fields)
}

// sniffNulls finds the columns in which the words for NULL are that, and says in a line
// what has been sniffed.
func (r *csvReader) sniffNulls() {
	var words, empties []string
	for col := range r.infer {
		in, name := &r.infer[col], show(r.fields[col].Name)
		if k := r.fields[col].Type.Kind; k == table.Varchar || k == table.Unknown {
			continue
		}
		if r.words[col] = in.has(classNull); r.words[col] {
			words = append(words, name)
		}
		if in.has(classEmpty) {
			r.empties[col] = true
			empties = append(empties, name)
		}
	}
	if len(words) > 0 {
		r.taken = append(r.taken, `NULL, null, NA, N/A and \N are NULL in `+few(words))
	}
	if len(empties) > 0 {
		r.taken = append(r.taken, `"" is NULL in `+few(empties))
	}
	if len(r.taken) > 0 {
		rest := "header= and null="
		if r.src.Call {
			rest = "header and null"
		}
		r.note("%s; %s, %s %s say it otherwise", strings.Join(r.taken, "; "), r.option("delim", ""), rest, r.where())
	}
}
