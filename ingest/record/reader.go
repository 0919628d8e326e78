package record

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/table"
)

// MaxColumns bounds the columns of a CSV file; more are taken for the wrong
// delimiter or for no line breaks.
const MaxColumns = 16384

// Reader reads the records of CSV files, or the objects of JSON files, one after the other. In a first pass it learns, after a look
// at the first record, what their columns are, and in later ones it reads columns. A pass goes over
// blocks of the text on all cores; what it finds is put together in order.
type Reader struct {
	*source.Loader // of the first file
	format         Format
	files          []*source.Loader
	size           int64               // of all
	Fields         []table.Field       // a type: declared, and when all has been seen
	Inferred       []inference.Column  // one a column
	words          []bool              // columns in which some words are NULL
	empties        []bool              // columns in which an empty string is
	First          []inference.Heading // of the first record
	BlankLines     BlankLines          // lines that have been left out
	Rows           int                 // when all has been seen
	PartRows       []int               // and those of each block that has some
	sampled        lengths             // of some of the records
	Taken          []string            // what has been sniffed, in words

	SkipBlank bool // blank lines before the first record of each file do not count
}

// Format is what CSV and JSON have each their own way of.
type Format interface {
	// Cutter finds where the records of a file end.
	Cutter() Cutter
	// Records calls do with the fields of a block's records, as [reader.each] does.
	Records(b Block, columns int, left *BlankLines, do func(fields []inference.Field, columns int) *Fault) (first, other *Fault)
	// Decide takes in, when all has been seen, what the quotes around values and the first records say.
	Decide(Headers) error
}

// NewReader is a reader of files of a format.
func NewReader(files []*source.Loader, format Format) *Reader {
	r := &Reader{Loader: files[0], files: files, format: format}
	for _, l := range files {
		r.size += l.Input.Size()
	}
	return r
}

// headers are the records that were taken for a header, while that was not known.
type Headers struct {
	number int
	blocks []int  // in which they are
	Other  *Fault // if they are headers: the first that is not as that of the first file
}

// HeadersAreRows takes in records that are no headers.
func (r *Reader) HeadersAreRows(h Headers) {
	r.Rows += h.number
	for _, block := range h.blocks {
		r.PartRows[block]++
	}
}

// each calls do with the fields of a block's records, but a header's: the first columns of some records, one after the other. A
// fault ends it, and the first one is returned. A first line that differs from that of the first file is a fault if it is known to
// be a header. Otherwise other is the fault that it would be. Blank lines that do not count are told in left.
func (r *Reader) each(b Block, columns int, left *BlankLines, do func(fields []inference.Field, columns int) *Fault) (first, other *Fault) {
	if b.Err != nil {
		first = &Fault{Line: b.Line, Err: b.Err}
	} else {
		first, other = r.format.Records(b, columns, left, do)
	}
	for _, f := range []*Fault{first, other} {
		if of := r.Named(b); f != nil && of != "" {
			f.Err = fmt.Errorf("%s: %w", of, f.Err)
		}
	}
	return first, other
}

// Named is the file of a block, where there are several.
func (r *Reader) Named(b Block) string {
	if len(r.files) > 1 {
		return b.Of.Source.Path
	}
	return ""
}

// BatchFields is about how many fields are read before what is in them is: few enough to stay in
// the core's own cache.
const BatchFields = 512

// Pass does something with the blocks, by so many workers, and then with what it gives, which keeps none
// of their text, in order.
func Pass[T any](r *Reader, workers int, of func(b Block) T, then func(T) error) error {
	call := func(_ int, b Block) T {
		defer b.done()
		return of(b)
	}
	for t := range ordered.Map(workers, r.Blocks(), call) {
		if err := then(t); err != nil {
			return err
		}
	}
	return nil
}

// learned is what the first pass finds in a block.
type learned struct {
	of      string // see named
	columns []inference.Column
	rows    int
	sampled lengths
	headers int // records that were taken for one
	blanks  BlankLines
	header  *Fault // where these are headers
	fault   *Fault
	read    int64
}

// see takes in the values of a column: those of fields 0, step, 2*step and on. It returns the
// first that is not UTF-8, or nil.
func (r *Reader) see(in *inference.Column, col int, text []byte, fields []inference.Field, step int) *inference.Field {
	declared, words := r.Fields[col].Type.Kind != table.Unknown, r.Source.Nulls == nil
	for i := 0; i < len(fields); i += step {
		if words && !declared {
			if i = in.Alike(text, fields, i, step); i >= len(fields) {
				break
			}
		}
		f := &fields[i]
		switch c := f.In(text); {
		case r.IsNull(col, c):
		case declared && r.Source.Columns == nil && c.Quoted && len(c.Text) == 0:
			in.Take(inference.ClassEmpty, c, f.Line)
		case declared && words && inference.IsNullWord(c):
			in.Take(inference.ClassNull, c, f.Line)
		case !declared && !in.See(c, f.Line, words):
			return f
		}
	}
	return nil
}

// Learn is the first pass: the structure is sound, and the types are known.
func (r *Reader) Learn() error {
	r.Options.TellWhole()
	of := func(b Block) learned {
		l := learned{of: r.Named(b), columns: make([]inference.Column, len(r.Fields)), read: b.read}
		if r.Source.Header != source.HeaderNone && b.First {
			l.headers = 1
		}
		l.fault, l.header = r.each(b, len(r.Fields), &l.blanks, func(fields []inference.Field, columns int) (first *Fault) {
			for col := range columns {
				if f := r.see(&l.columns[col], col, b.Text, fields[col:], columns); f != nil {
					if bad := (&Fault{f.Line, col, r.place(f.Line, col, source.ErrUTF8)}); bad.before(first) {
						first = bad
					}
				}
			}
			if l.rows += len(fields) / max(1, columns); l.sampled.records == 0 && columns == len(r.Fields) {
				l.sampled.see(fields, columns)
			}
			return first
		})
		if b.First && b.Line > 1 {
			l.blanks.lead(b.Line)
		}
		return l
	}
	var h Headers
	part := 0
	then := func(l learned) error {
		r.Rows += l.rows
		r.sampled.add(l.sampled)
		r.BlankLines.add(l.blanks)
		if l.headers > 0 {
			h.blocks = append(h.blocks, len(r.PartRows))
		}
		r.PartRows = append(r.PartRows, l.rows)
		h.Other = cmp.Or(h.Other, l.header)
		h.number += l.headers
		for col := range r.Inferred {
			r.Inferred[col].Add(&l.columns[col], part, l.of)
		}
		part++
		if l.fault != nil {
			return l.fault.Err
		}
		return r.Step(nil, l.read, r.size)
	}
	if err := Pass(r, runtime.GOMAXPROCS(0), of, then); err != nil {
		return err
	}
	if err := r.format.Decide(h); err != nil {
		return err
	}
	r.PartRows = slices.DeleteFunc(r.PartRows, func(rows int) bool { return rows == 0 })
	if err := r.types(); err != nil {
		return err
	}
	r.sniffNulls()
	r.BlankLines.note(r.Loader)
	return nil
}
