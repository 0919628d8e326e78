package cmd

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

// format writes answers while they come.
type format struct {
	// rows writes the rows of a statement. Its error is one of writing; what the
	// statement ends with, [engine.Rows.Err] tells the caller too.
	rows func(r *engine.Rows) error
	// failed, when set, is told of a statement that failed before its first row and
	// after which the run goes on.
	failed func(sql string, err error) error
	// close ends the output.
	close func() error
	out   *bufio.Writer // what the rows of COPY TO STDOUT are written to as they ask
}

// formats are the names that newFormat takes.
var formats = []string{"table", "csv", "json", "arrow", "parquet"}

// formatOf is the format that a file's extension names, where it names one.
func formatOf(path string) (string, bool) {
	name := strings.TrimPrefix(filepath.Ext(path), ".")
	return name, slices.Contains(formats, name)
}

func newOut(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<16) }

// newFormat returns a format that writes to w, which is a file or not. more says what to do about a second result set where the
// format holds one.
func newFormat(name string, w io.Writer, file bool, more string) format {
	out := newOut(w)
	switch name {
	case "csv":
		return oneSet(name, more, out, func(w *bufio.Writer, r *engine.Rows) error {
			return r.WriteCSV(w, true, ingest.CSVForm{Delim: ','})
		})
	case "json": // one line a statement; under --keep-going one that fails before its first row is {"sql", "error"}
		return format{
			rows:   func(r *engine.Rows) error { return r.WriteJSON(out, message) },
			failed: func(sql string, err error) error { return engine.WriteJSONError(out, sql, message(err)) },
			close:  out.Flush,
			out:    out,
		}
	case "arrow":
		if file {
			return oneSet(name, more, out, columnar(ingest.NewArrowFile))
		}
		return oneSet(name, more, out, columnar(ingest.NewArrowStream))
	case "parquet":
		return oneSet(name, more, out, columnar(ingest.NewParquetFile))
	}
	return newTable(w, &view{})
}

// columnar writes record batches.
func columnar(open func(io.Writer, *arrow.Schema) (ingest.BatchWriter, error)) func(*bufio.Writer, *engine.Rows) error {
	return func(w *bufio.Writer, r *engine.Rows) error { return r.WriteBatches(w, open) }
}

// oneSet is a format whose output holds one result set.
func oneSet(name, more string, out *bufio.Writer, write func(*bufio.Writer, *engine.Rows) error) format {
	begun := false
	return format{close: out.Flush, out: out, rows: func(r *engine.Rows) error {
		switch {
		case len(r.Columns()) == 0:
			return nil
		case begun:
			return fmt.Errorf("the format %s holds one result set: %s", name, more)
		}
		begun = true
		return write(out, r)
	}}
}

func writeOnce(w io.Writer, b *bytes.Buffer) error {
	_, err := w.Write(b.Bytes())
	return err
}
