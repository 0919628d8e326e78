package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sqlstate"
)

// text is CSV files that are read.
type text struct {
	*record.Reader

	delimSure  bool // it is said, or all records looked at have as many fields by it
	headerSaid bool // whether there is a header
}

// Decide implements [record.Format].
func (r *text) Decide(h record.Headers) error {
	if r.Source.Header == source.HeaderSniffed {
		if err := r.sniffHeader(); err != nil {
			return err
		}
		if r.Source.Header == source.HeaderNone {
			r.HeadersAreRows(h)
		} else if h.Other != nil {
			return h.Other.Err
		}
	}
	r.quotes()
	return nil
}

// Open reads CSV files until their columns are known.
func Open(files []*source.Loader) (*record.Reader, error) {
	r := &text{}
	r.Reader = record.NewReader(files, r)
	r.delimSure, r.headerSaid = r.Source.Delim != 0 || r.Source.Columns != nil, r.Source.Header != source.HeaderSniffed
	switch d := r.Source.Delim; {
	case d == 0 && r.Source.Columns != nil:
		r.Source.Delim = ','
	case d == 0:
		r.sniffDelim()
	case !source.ValidDelim(d):
		return nil, fmt.Errorf("delimiter %q is not one ASCII character other than a quote or a line break", d)
	}
	if err := r.columns(); err != nil {
		return nil, err
	}
	return r.Reader, r.Learn()
}

// columns takes the columns from the first record: their names, unless it has none. Blank lines before it do not count where it has
// several fields.
func (r *text) columns() error {
	first := r.FirstBlock(r.Source.Columns == nil)
	if r.SkipBlank && first.Err == nil && first.Line > 1 {
		if s, f := newScanner(first, r.Source.Delim), (inference.Field{}); !s.next(&f) || f.Last {
			first = r.FirstBlock(false)
		}
	}
	if first.Err != nil {
		return first.Err
	}
	s, bytes := newScanner(first, r.Source.Delim), 0
	for f := (inference.Field{}); !f.Last; {
		if !s.next(&f) {
			return cmp.Or(s.err, record.ErrEmpty)
		}
		col := len(r.First)
		if bytes += f.To - f.From; col == record.MaxColumns || bytes > record.MaxField {
			return sqlstate.Errorf(sqlstate.TooManyColumns, "line %d: more than %d columns: is the delimiter right, and are there line breaks?", f.Line, record.MaxColumns)
		}
		if r.Source.Header != source.HeaderNone {
			switch {
			case f.Blank(col):
				return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line %d is blank where the header should be: write %s %s if there is none", f.Line, r.Option("header", "false"), r.OptionsPlace())
			case !utf8.Valid(f.In(first.Text).Text):
				return fmt.Errorf("line %d, column %d: %w", f.Line, col+1, r.NotUTF8())
			}
		}
		r.First = append(r.First, inference.Heading{Content: f.In(first.Text), Line: f.Line})
	}
	r.OfColumns()
	if r.Source.Columns != nil {
		return r.matchColumns()
	}
	if r.Source.Header == source.HeaderSniffed && len(r.Source.Types) > 0 {
		r.sniffNames()
	}
	if err := r.nameColumns(r.Source.Header == source.HeaderSniffed); err != nil {
		return err
	}
	return r.Declare()
}

// matchColumns takes the columns that the source has by their places.
func (r *text) matchColumns() error {
	if have, want := len(r.Fields), len(r.Source.Columns); have != want {
		return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line 1: %s where %d are expected", numbers.Count(have, "field", "fields"), want)
	}
	r.Fields = record.Without(r.Source.Columns)
	return nil
}

// Records implements [record.Format]. Another first line than that of the first
// file is a fault where it is known to be a header. Else other is that fault.
func (r *text) Records(b record.Block, columns int, left *record.BlankLines, do func(fields []inference.Field, columns int) *record.Fault) (first, other *record.Fault) {
	first = r.read(b, columns, left, &other, do)
	return first, other
}

func (r *text) read(b record.Block, columns int, left *record.BlankLines, other **record.Fault, do func(fields []inference.Field, columns int) *record.Fault) *record.Fault {
	s, f := newScanner(b, r.Source.Delim), inference.Field{}
	for col, header := 0, r.Source.Header != source.HeaderNone && b.First; header && s.next(&f); col++ {
		header = !f.Last
		same := col < len(r.First) && bytes.Equal(f.In(b.Text).Text, r.First[col].Text) && f.Last == (col == len(r.First)-1)
		if !same && b.Of != r.Loader {
			f := &record.Fault{Line: f.Line, Col: col, Err: sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line %d, column %d: the header is another one than that of %s; load it under a name of its own", f.Line, col+1, r.Source.Path)}
			if r.Source.Header == source.HeaderThere {
				return f
			}
			*other = cmp.Or(*other, f)
		}
	}
	fields, at := make([]inference.Field, max(1, record.BatchFields/columns)*columns), 0
	// flush is do with the records that are there, and then with n fields of one more.
	flush := func(n int) (fault *record.Fault) {
		if at > 0 {
			fault = do(fields[:at], columns)
		}
		if n > 0 && fault == nil {
			fault = do(fields[at:at+n], n)
		}
		at = 0
		return fault
	}
	for {
		if at == len(fields) {
			if fault := flush(0); fault != nil {
				return fault
			}
		}
		row := fields[at : at+columns]
		n := s.record(row)
		if n == 0 {
			break
		}
		f := row[n-1]
		switch line := row[0].Line; {
		case s.err != nil:
			if fault := flush(n); fault != nil {
				return fault
			}
		case f.Last && n < len(r.Fields) && f.Blank(n-1) && r.SkipBlank:
			left.Skip(line)
		case f.Last && n < len(r.Fields):
			return cmp.Or(flush(n-1), &record.Fault{Line: line, Col: n - 1, Err: r.ragged(s, &f, n-1, line)})
		case n < len(r.Fields):
			s.skip(f)
			left.Row()
			at += columns
		case !f.Last && s.next(&f):
			return cmp.Or(flush(n), &record.Fault{Line: line, Col: n, Err: r.ragged(s, &f, n, line)})
		default:
			left.Row()
			at += columns
		}
	}
	if fault := flush(0); fault != nil {
		return fault
	}
	if s.err != nil {
		if s.behindQuote {
			s.err = r.delimited(s.err)
		}
		return &record.Fault{Line: s.line, Col: record.MaxColumns, Err: s.err}
	}
	return nil
}

// ragged counts the fields of a record of the wrong length and says so.
func (r *text) ragged(s *scanner, f *inference.Field, col, line int) error {
	if f.Blank(col) {
		return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line %d is blank: only a file of one column may have blank lines (NULLs)", line)
	}
	n := col + 1
	for ; !f.Last && s.next(f); n++ {
	}
	remedy := "complete the line, or take it out"
	if n > len(r.Fields) {
		remedy = fmt.Sprintf("write a field that has %q in it in double quotes", string(r.Source.Delim))
	}
	return r.delimited(sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line %d: %s where line %d has %d; %s", line, numbers.Count(n, "field", "fields"), r.First[0].Line, len(r.Fields), remedy))
}

// delimited is an error of the text that another delimiter may end, where it is not sure which one it is.
func (r *text) delimited(err error) error {
	if r.delimSure {
		return err
	}
	return fmt.Errorf("%w; or, if %q is not what parts the fields, write %s %s", err, string(r.Source.Delim), r.Option("delim", "C"), r.OptionsPlace())
}
