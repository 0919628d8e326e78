package csv

import (
	"slices"
	"strconv"

	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/source"
)

// sniffNames finds out by the names of declared columns whether the first line has them.
func (r *text) sniffNames() {
	unknown := func(h source.Header) bool {
		r.Source.Header = h
		return r.nameColumns(true) != nil || slices.ContainsFunc(r.Source.Types, func(d source.ColumnType) bool { return r.Find(d.Name) < 0 })
	}
	if unknown(source.HeaderThere) && unknown(source.HeaderNone) {
		r.Source.Header = source.HeaderThere
	}
	r.takeHeader()
}

// sniffHeader finds out whether the first line holds names, when the other lines have been seen. It does not
// if each of its cells is a value of its column's type, and one is not text. Then it is a line as the others.
func (r *text) sniffHeader() error {
	all, typed := make([]inference.Column, len(r.First)), false
	for col := range r.First {
		c, below, with := r.First[col], &r.Inferred[col], &all[col]
		if !r.IsNull(col, c.Content) {
			with.See(c.Content, c.Line, r.Source.Nulls == nil)
		}
		first := *with
		with.Add(below, 1, "")
		is, fits := first.Amid(below, with)
		if !fits {
			typed = false
			break
		}
		typed = typed || is
	}
	r.Source.Header = source.HeaderThere
	if typed {
		r.Source.Header, r.Inferred = source.HeaderNone, all
	}
	r.takeHeader()
	return r.nameColumns(false)
}

// takeHeader says that there is no header.
func (r *text) takeHeader() {
	if r.Source.Header == source.HeaderNone {
		r.Taken = append(r.Taken, "there is no header, so the columns are named column1 and on")
	}
}

// nameColumns names the columns, after the first line where it has names; quietly, as long as that
// is not sure.
func (r *text) nameColumns(quietly bool) error {
	for i, c := range r.First {
		r.Fields[i].Name = "column" + strconv.Itoa(i+1)
		if r.Source.Header != source.HeaderNone && len(c.Text) > 0 {
			r.Fields[i].Name = string(c.Text)
		}
	}
	l := *r.Loader
	if quietly {
		l.Options.Note = nil
	}
	return l.DistinctNames(r.Fields)
}
