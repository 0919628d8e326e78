package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// OfColumns makes room for what is known of the columns.
func (r *Reader) OfColumns() {
	n := len(r.First)
	emptyIsNull := slices.Contains(r.Source.Nulls, emptyQuoted)
	r.Fields, r.Inferred, r.words, r.empties = make([]table.Field, n), make([]inference.Column, n), make([]bool, n), slices.Repeat([]bool{emptyIsNull}, n)
}

// FirstBlock is that of the first file, with blank lines before the first record of each file or without.
func (r *Reader) FirstBlock(skipBlank bool) Block {
	r.SkipBlank = skipBlank
	for b := range r.Blocks() {
		return b
	}
	return Block{Err: ErrEmpty}
}

var ErrEmpty = sqlstate.Errorf(sqlstate.BadCopyFileFormat, "empty: not even a header")

// Fault is an error at a place of the text.
type Fault struct {
	Line, Col int
	Err       error
}

// Declare takes the declared types over.
func (r *Reader) Declare() error {
	for _, d := range r.Source.Types {
		i := r.Find(d.Name)
		if i < 0 {
			some := xslices.Map(r.Fields[:min(len(r.Fields), 20)], func(f table.Field) string { return source.ShowName(f.Name) })
			return source.OptionErrorf("types: there is no column %q; the columns are %s", d.Name, strings.Join(some, ", "))
		}
		r.Fields[i].Type = d.Type
	}
	return nil
}

// Without are the columns of a file without a record.
func Without(columns []source.ColumnType) (fields []table.Field) {
	return xslices.Map(columns, func(c source.ColumnType) table.Field { return table.Field{Name: c.Name, Type: c.Type} })
}

// Find returns the column of that name: as it is, else without regard to case when
// that is unique; -1 where there is none.
func (r *Reader) Find(name string) int {
	if i := slices.IndexFunc(r.Fields, func(f table.Field) bool { return f.Name == name }); i >= 0 {
		return i
	}
	like := func(f table.Field) bool { return strings.EqualFold(f.Name, name) }
	if i := slices.IndexFunc(r.Fields, like); i >= 0 && !slices.ContainsFunc(r.Fields[i+1:], like) {
		return i
	}
	return -1
}

// emptyQuoted is the empty string as one of [source.Source.Nulls].
const emptyQuoted = `""`

// strict reports that numbers among text are an error.
func (r *Reader) strict() bool { return r.Source.Strict || r.Options.Strict }

// IsNull reports a field that stands for NULL.
func (r *Reader) IsNull(col int, c inference.Content) bool {
	if r.Source.Columns != nil {
		return !c.Quoted && slices.Contains(r.Source.Nulls, source.View(c.Text))
	}
	if c.Quoted {
		return len(c.Text) == 0 && r.empties[col]
	}
	return len(c.Text) == 0 || slices.Contains(r.Source.Nulls, source.View(c.Text)) || r.words[col] && inference.IsNullWord(c)
}

// place puts an error at a line of a column, and says which other types would do.
func (r *Reader) place(line, col int, err error, types ...string) error {
	name := r.Fields[col].Name
	switch {
	case err == source.ErrUTF8:
		err = r.NotUTF8()
	case r.Source.Columns == nil:
		for i, kind := range types {
			types[i] = r.TypesOption(name, kind)
		}
		err = fmt.Errorf("%w; write %s %s", err, strings.Join(types, " or "), r.OptionsPlace())
	}
	return fmt.Errorf("line %d, column %d (%s): %w", line, col+1, source.ShowName(name), err)
}

// before reports whether f, unless nil, comes before g in the text.
func (f *Fault) before(g *Fault) bool {
	return f != nil && (g == nil || f.Line < g.Line || f.Line == g.Line && f.Col < g.Col)
}
