package cmd

import (
	"fmt"
	"io"

	"github.com/stencildb/stencildb/bench"
	"github.com/stencildb/stencildb/cmd/terminal"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/numbers"
)

// loadingOn returns what shows on w how far a table's reading is; nil where w is no console.
func loadingOn(w io.Writer) func(table string, p ingest.Progress) {
	show := terminal.ProgressOn(w, "loading")
	if show == nil {
		return nil
	}
	return func(table string, p ingest.Progress) {
		show(table, terminal.Progress{Done: p.Done, Total: p.Total, Words: loadingWords(p)})
	}
}

// loadingWords are the rows and the bytes of a reading.
func loadingWords(p ingest.Progress) string {
	words := ", " + glctx.FormatSize(p.Done) + " of " + glctx.FormatSize(p.Total)
	if p.Rows > 0 {
		words = ", " + numbers.Grouped(uint64(p.Rows)) + " rows" + words
	}
	return words
}

// statusLine writes the progress of a benchmark to w. On a console it is one line that is rewritten, with a
// bar of the cases, until wipe. Elsewhere it is a line each.
func statusLine(w io.Writer) (update func(bench.Progress), wipe func()) {
	c, ok := w.(*terminal.Console)
	if !ok {
		return func(p bench.Progress) { fmt.Fprintln(w, p) }, func() {}
	}
	return func(p bench.Progress) { c.Show(caseBar(p) + terminal.Visible(p.String())) }, c.Hide
}

// caseBar is how many of the cases are done, "" between them.
func caseBar(p bench.Progress) string {
	if p.Case == 0 {
		return ""
	}
	return terminal.Filled(float64(p.Case-1)/float64(p.Cases)) + " "
}
