package csv

import (
	"slices"

	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/source"
)

// quotes says what quotes around values are, by those of the first record. If its fields have quotes that they do not need, all fields of
// the column have some, and quotes mean nothing. Otherwise a value between quotes is text, as in files that we write.
func (r *text) quotes() {
	needless := func(h inference.Heading) bool {
		return h.Quoted && len(h.Text) > 0 && !needsQuotes(string(h.Text), r.Source.Delim, len(r.First) == 1)
	}
	all := !slices.ContainsFunc(r.First, func(h inference.Heading) bool { return !h.Quoted && len(h.Text) > 0 })
	for col, h := range r.First {
		q := inference.QuotesText
		switch some := slices.ContainsFunc(r.First, needless); {
		case r.headerSaid && r.Source.Header == source.HeaderNone:
		case r.Source.Header == source.HeaderNone && all, r.Source.Header == source.HeaderThere && (needless(h) || h.Quoted && some):
			q = inference.QuotesNothing
		}
		r.Inferred[col].DecideQuotes(q)
	}
}
