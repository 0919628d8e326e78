package cmd

import (
	"bufio"
	"io"
	"strings"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// csvFormat writes one result set: a header line, then rows. NULL is an unquoted
// empty field, "" an empty string.
type csvFormat struct {
	oneSet
	w *bufio.Writer
}

func bufferedWriter(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<16) }

func (f *csvFormat) rows(r *engine.Rows) error {
	if len(r.Columns()) == 0 {
		return nil
	}
	if err := f.begin("csv"); err != nil {
		return err
	}
	for i, c := range r.Columns() {
		csvField(f.w, i, c.Name)
	}
	err := f.w.WriteByte('\n')
	for err == nil && r.Next() {
		for i, v := range r.Values() {
			switch {
			case v.Null && i > 0:
				f.w.WriteByte(',')
			case v.Null:
			case v.Type.Kind == table.Varchar:
				csvField(f.w, i, v.S)
			default:
				csvField(f.w, i, v.String())
			}
		}
		err = f.w.WriteByte('\n') // or the first error of those before it
	}
	return err
}

func (f *csvFormat) failed(string, error) error { return nil }
func (f *csvFormat) close() error               { return f.w.Flush() }

// csvField writes field i of a line, quoted where it must be. The writer keeps its
// error.
func csvField(w *bufio.Writer, i int, s string) {
	if i > 0 {
		w.WriteByte(',')
	}
	if s != "" && !strings.ContainsAny(s, "\",\r\n") {
		w.WriteString(s)
		return
	}
	w.WriteByte('"')
	w.WriteString(strings.ReplaceAll(s, `"`, `""`))
	w.WriteByte('"')
}
