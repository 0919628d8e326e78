package ingest

import (
	"cmp"
	"fmt"
	"io"
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

// csvReader reads the records of one CSV text in two passes.
type csvReader struct {
	*loader
	fields []table.Field
	infer  []*inference // one a column; nil: declared
}

func (l *loader) csv() (*table.Table, error) {
	if !validDelim(l.src.Delim) {
		return nil, fmt.Errorf("delimiter %q is not one ASCII character other than a quote or a line break", l.src.Delim)
	}
	r := &csvReader{loader: l}
	if err := r.learn(); err != nil {
		return nil, err
	}
	return r.convert()
}

// records calls visit for every field of every record after the header, with the
// number of its column, end after every record, and step now and then with the
// bytes read.
func (r *csvReader) records(visit func(col int, f *field) error, end func() error, step func(read int64) error) error {
	in, err := r.open()
	if err != nil {
		return err
	}
	defer in.Close()
	s := newScanner(in, r.in.size, r.src.Delim, step)
	if err := s.skipBOM(); err != nil {
		return err
	}
	if !r.src.NoHeader {
		if err := r.header(s); err != nil {
			return err
		}
	}
	var f field
	for first := r.src.NoHeader && r.fields == nil; ; first = false {
		col, line := 0, 0
		for {
			err := s.next(&f)
			if err == io.EOF { // between records only
				if first {
					return fmt.Errorf("empty: not even a header")
				}
				return nil
			}
			if err != nil {
				return err
			}
			if col == 0 {
				line = f.line
			}
			if first {
				if col == maxColumns {
					return tooManyColumns(f.line)
				}
				r.addColumn("column" + strconv.Itoa(col+1))
			}
			if col == len(r.fields) || col+1 < len(r.fields) && f.last {
				return r.ragged(s, &f, col, line)
			}
			if err := visit(col, &f); err != nil {
				return err
			}
			col++
			if f.last {
				break
			}
		}
		if first {
			if err := r.declare(); err != nil {
				return err
			}
		}
		if err := end(); err != nil {
			return err
		}
	}
}

// ragged counts the fields of a record of the wrong length and says so.
func (r *csvReader) ragged(s *scanner, f *field, col, line int) error {
	if f.blank(col) {
		return fmt.Errorf("line %d is blank: only a file of one column may have blank lines (NULLs)", line)
	}
	n := col + 1
	for ; !f.last; n++ {
		if s.next(f) != nil {
			break
		}
	}
	where := "the header"
	if r.src.NoHeader {
		where = "line 1"
	}
	return fmt.Errorf("line %d: %s where %s has %d", line, numbers.Count(n, "field", "fields"), where, len(r.fields))
}

func tooManyColumns(line int) error {
	return fmt.Errorf("line %d: more than %d columns: is the delimiter right, and are there line breaks?", line, maxColumns)
}

// header reads the names of the columns, the first time; later it skips them.
func (r *csvReader) header(s *scanner) error {
	known := r.fields != nil
	bytes := 0
	var f field
	for col := 0; ; col++ {
		err := s.next(&f)
		switch {
		case err == io.EOF:
			return fmt.Errorf("empty: not even a header")
		case err != nil:
			return err
		case f.blank(col):
			return fmt.Errorf("line %d is blank where the header should be: load with header=false if there is none", f.line)
		}
		if !known {
			bytes += len(f.text)
			if col == maxColumns || bytes > MaxField {
				return tooManyColumns(f.line)
			}
			if !utf8.Valid(f.text) {
				return fmt.Errorf("line %d, column %d: %w", f.line, col+1, errUTF8)
			}
			r.addColumn(cmp.Or(string(f.text), "column"+strconv.Itoa(col+1)))
		}
		if f.last {
			break
		}
	}
	if known {
		return nil
	}
	if err := r.distinctNames(r.fields); err != nil {
		return err
	}
	return r.declare()
}

func (r *csvReader) addColumn(name string) {
	r.fields = append(r.fields, table.Field{Name: name})
	r.infer = append(r.infer, &inference{})
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
	found := slices.IndexFunc(r.fields, func(f table.Field) bool { return f.Name == name })
	if found >= 0 {
		return found
	}
	for i, f := range r.fields {
		if !strings.EqualFold(f.Name, name) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// isNull reports a field that stands for NULL.
func (r *csvReader) isNull(f *field) bool {
	if f.quoted {
		return false
	}
	if len(f.text) == 0 {
		return true
	}
	for _, n := range r.src.Nulls {
		if n == string(f.text) {
			return true
		}
	}
	return false
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

// place puts an error at a field, and says what to do; in advice %s stands for
// the column's name.
func (r *csvReader) place(f *field, col int, err error, advice string) error {
	if err != errUTF8 { // which has its own
		err = fmt.Errorf("%w; %s", err, strings.ReplaceAll(advice, "%s", show(r.fields[col].Name)))
	}
	return fmt.Errorf("line %d, column %d (%s): %w", f.line, col+1, show(r.fields[col].Name), err)
}

// learn is the first pass: the structure is sound, and the types are known.
func (r *csvReader) learn() error {
	err := r.records(func(col int, f *field) error {
		in := r.infer[col]
		if in == nil || r.isNull(f) {
			return nil
		}
		if err := in.add(f); err != nil {
			return r.place(f, col, err, "declare the column VARCHAR with types=%s:text to keep it as text")
		}
		return nil
	}, func() error { return nil }, func(read int64) error {
		return r.step(nil, read, 2*r.in.size)
	})
	if err != nil {
		return err
	}
	for col, in := range r.infer {
		if in == nil {
			continue
		}
		t, bad, err := in.result()
		if err != nil {
			return fmt.Errorf("line %d, column %d (%s): %w; declare the column with types=%s:double or %s:text",
				bad.line, col+1, show(r.fields[col].Name), err, show(r.fields[col].Name), show(r.fields[col].Name))
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
	cols := columns(b, len(r.fields))
	err := r.records(func(col int, f *field) error {
		if r.isNull(f) {
			cols[col].Null()
			return nil
		}
		if err := parseValue(cols[col], r.fields[col].Type, f.text); err != nil {
			return r.place(f, col, err, "declare another type with types=%s:TYPE")
		}
		return nil
	}, func() error {
		full := b.Room() == 1
		if err := b.EndRow(); err != nil {
			return err
		}
		if full {
			cols = columns(b, len(r.fields))
		}
		return nil
	}, func(read int64) error {
		return r.step(b, r.in.size+read, 2*r.in.size)
	})
	if err != nil {
		return nil, err
	}
	if err := r.step(b, 2*r.in.size, 2*r.in.size); err != nil {
		return nil, err
	}
	return b.Table(), nil
}

// columns returns the column builders of the chunk being filled.
func columns(b *table.Builder, n int) []*table.ColumnBuilder {
	cols := make([]*table.ColumnBuilder, n)
	for i := range cols {
		cols[i] = b.Column(i)
	}
	return cols
}
