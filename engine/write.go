package engine

import (
	"bufio"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/csv"
	"github.com/stencildb/stencildb/table"
)

// WriteCSV writes the rows that Next has not come to in a form, with a line of the columns' names or without. The error is one of
// writing; what the rows end with, [Rows.Err] tells.
func (r *Rows) WriteCSV(w *bufio.Writer, header bool, form csv.Form) error {
	var line []byte
	if header {
		var names []string
		for _, c := range r.Columns() {
			names = append(names, c.Name)
		}
		line = form.AppendNames(nil, names)
	}
	_, err := w.Write(line)
	for err == nil && r.Next() {
		line = form.Append(line[:0], r.Values())
		_, err = w.Write(line)
	}
	return err
}

// WriteBatches writes the rows that Next has not come to as record batches, such as those of [parquet.NewWriter]. The error
// is one of writing; what the rows end with, [Rows.Err] tells. [Options.Note] is told of columns that the file has as text alone.
func (r *Rows) WriteBatches(w io.Writer, open func(io.Writer, *arrow.Schema) (arrays.BatchWriter, error)) error {
	out, err := open(w, r.Schema())
	if err != nil {
		return err
	}
	for i, f := range arrays.WrittenSchema(out, r.Schema()).Fields() {
		if c := r.Columns()[i]; f.Type.ID() == arrow.STRING && c.Type.Kind != table.Varchar {
			r.of.db.note(fmt.Sprintf("column %q is of type %s, for which the file has no type: it is written as text (where it is read, a cast makes it %[2]s again)", c.Name, c.Type))
		}
	}
	for b, failed := range r.Batches() {
		if failed != nil { // the caller asks for it
			return nil
		}
		err := out.Write(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return out.Close()
}
