package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// maxColumns bounds the columns of a CSV file; more are taken for the wrong
// delimiter or for no line breaks.
const maxColumns = 16384

// csvReader reads the records of one CSV text in two passes, after a look at the first.
type csvReader struct {
	*loader
	fields []table.Field
	infer  []*inference // one a column; nil: declared
	err    error        // that ended a pass
}

func (l *loader) csv() (*table.Table, error) {
	if !validDelim(l.src.Delim) {
		return nil, fmt.Errorf("delimiter %q is not one ASCII character other than a quote or a line break", l.src.Delim)
	}
	r := &csvReader{loader: l}
	if err := r.columns(); err != nil {
		return nil, err
	}
	if err := r.learn(); err != nil {
		return nil, err
	}
	return r.convert()
}

// scan begins to scan the text; step is called now and then with the bytes read.
func (r *csvReader) scan(step func(read int64) error) (s *scanner, end func(), err error) {
	in, err := r.open()
	if err != nil {
		return nil, nil, err
	}
	s = newScanner(in, r.file.Size(), r.src.Delim, step)
	s.skipBOM()
	return s, func() { in.Close() }, nil
}

// columns takes the columns from the first record: their names, unless it has none.
func (r *csvReader) columns() error {
	s, end, err := r.scan(func(int64) error { return r.ctx.Err() })
	if err != nil {
		return err
	}
	defer end()
	bytes := 0
	for f := (field{}); !f.last; {
		if !s.next(&f) {
			return cmp.Or(s.err, errEmpty)
		}
		col, name := len(r.fields), ""
		if bytes += len(f.text); col == maxColumns || bytes > MaxField {
			return fmt.Errorf("line %d: more than %d columns: is the delimiter right, and are there line breaks?", f.line, maxColumns)
		}
		if !r.src.NoHeader {
			switch name = string(f.text); {
			case f.blank(col):
				return fmt.Errorf("line %d is blank where the header should be: load with header=false if there is none", f.line)
			case !utf8.ValidString(name):
				return fmt.Errorf("line %d, column %d: %w", f.line, col+1, errUTF8)
			}
		}
		r.fields = append(r.fields, table.Field{Name: cmp.Or(name, "column"+strconv.Itoa(col+1))})
		r.infer = append(r.infer, &inference{})
	}
	if err := r.distinctNames(r.fields); err != nil {
		return err
	}
	return r.declare()
}

var errEmpty = errors.New("empty: not even a header")

// all yields every field of every record after the header, with the number of its column.
// An error ends it, and is in r.err then.
func (r *csvReader) all(step func(read int64) error) iter.Seq2[int, *field] {
	return func(yield func(int, *field) bool) {
		s, end, err := r.scan(step)
		if r.err = err; err != nil {
			return
		}
		defer end()
		var f field
		for header := !r.src.NoHeader; header && s.next(&f); {
			header = !f.last
		}
		line := 0
		for col := 0; s.next(&f); col++ {
			if col == 0 {
				line = f.line
			}
			if col == len(r.fields) || col+1 < len(r.fields) && f.last {
				r.err = r.ragged(s, &f, col, line)
				return
			}
			if !yield(col, &f) {
				return
			}
			if f.last {
				col = -1
			}
		}
		r.err = s.err
	}
}

// ragged counts the fields of a record of the wrong length and says so.
func (r *csvReader) ragged(s *scanner, f *field, col, line int) error {
	if f.blank(col) {
		return fmt.Errorf("line %d is blank: only a file of one column may have blank lines (NULLs)", line)
	}
	n := col + 1
	for ; !f.last && s.next(f); n++ {
	}
	where := "the header"
	if r.src.NoHeader {
		where = "line 1"
	}
	return fmt.Errorf("line %d: %s where %s has %d", line, numbers.Count(n, "field", "fields"), where, len(r.fields))
}

// declare takes the declared types over.
func (r *csvReader) declare() error {
	for _, d := range r.src.Types {
		i := r.find(d.Name)
		if i < 0 {
			var some []string
			for _, f := range r.fields[:min(len(r.fields), 20)] {
				some = append(some, show(f.Name))
			}
			return fmt.Errorf("types: there is no column %q; the columns are %s", d.Name, strings.Join(some, ", "))
		}
		if r.fields[i].Type = d.Type; d.Type.Kind != table.Unknown {
			r.infer[i] = nil
		}
	}
	return nil
}

// find returns the column of that name: as it is, else without regard to case when
// that is unique; -1 where there is none.
func (r *csvReader) find(name string) int {
	if i := slices.IndexFunc(r.fields, func(f table.Field) bool { return f.Name == name }); i >= 0 {
		return i
	}
	like := func(f table.Field) bool { return strings.EqualFold(f.Name, name) }
	if i := slices.IndexFunc(r.fields, like); i >= 0 && !slices.ContainsFunc(r.fields[i+1:], like) {
		return i
	}
	return -1
}

// isNull reports a field that stands for NULL.
func (r *csvReader) isNull(f *field) bool {
	return !f.quoted && (len(f.text) == 0 || slices.Contains(r.src.Nulls, view(f.text)))
}

// show is a name as it stands in an error: quoted where it would not be one
// word on one line.
func show(name string) string {
	for _, c := range name {
		if !strconv.IsGraphic(c) {
			return strconv.Quote(name)
		}
	}
	return name
}

// place puts an error at a line of a column, and says what to do; in advice %s stands
// for the column's name.
func (r *csvReader) place(line, col int, err error, advice string) error {
	name := show(r.fields[col].Name)
	if err != errUTF8 { // which has its own
		err = fmt.Errorf("%w; %s", err, strings.ReplaceAll(advice, "%s", name))
	}
	return fmt.Errorf("line %d, column %d (%s): %w", line, col+1, name, err)
}

// learn is the first pass: the structure is sound, and the types are known.
func (r *csvReader) learn() error {
	for col, f := range r.all(func(read int64) error { return r.step(nil, read, 2*r.file.Size()) }) {
		in := r.infer[col]
		if in == nil || r.isNull(f) {
			continue
		}
		if err := in.add(f); err != nil {
			return r.place(f.line, col, err, "declare the column VARCHAR with types=%s:text to keep it as text")
		}
	}
	if r.err != nil {
		return r.err
	}
	for col, in := range r.infer {
		if in == nil {
			continue
		}
		t, bad, err := in.result()
		if err != nil {
			return r.place(bad.line, col, err, "declare the column with types=%s:double or %s:text")
		}
		r.fields[col].Type = t
		if odd, ok := in.odd(); ok {
			kind := "date"
			if in.has(classTimestamp) {
				kind = "timestamp"
			}
			name := show(r.fields[col].Name)
			r.note("line %d, column %d (%s): %s is no %s, so the column is text; types=%s:%s makes it an error, types=%s:text ends this note",
				odd.line, col+1, name, odd.text, kind, name, kind, name)
		}
	}
	return nil
}

// convert is the second pass: text becomes values.
func (r *csvReader) convert() (*table.Table, error) {
	b := table.NewBuilder(r.name, r.fields, r.opts.ChunkRows)
	for col, f := range r.all(func(read int64) error { return r.step(b, r.file.Size()+read, 2*r.file.Size()) }) {
		if r.isNull(f) {
			b.Column(col).Null()
		} else if err := parseValue(b.Column(col), r.fields[col].Type, f.text); err != nil {
			return nil, r.place(f.line, col, err, "declare another type with types=%s:TYPE")
		}
		if f.last {
			if err := b.EndRow(); err != nil {
				return nil, err
			}
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := r.step(b, 2*r.file.Size(), 2*r.file.Size()); err != nil {
		return nil, err
	}
	return b.Table(), nil
}
