package cmd

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
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
}

// formats are the names that newFormat takes.
var formats = []string{"table", "csv", "json", "arrow", "parquet"}

func newOut(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<16) }

// newFormat returns a format that writes to w, which is a file or not.
func newFormat(name string, w io.Writer, file bool) format {
	out := newOut(w)
	switch name {
	case "csv":
		return oneSet(name, out, writeCSV)
	case "json":
		f := jsonFormat{out}
		return format{f.rows, f.failed, out.Flush}
	case "arrow":
		if file {
			return oneSet(name, out, columnar(ingest.NewArrowFile))
		}
		return oneSet(name, out, columnar(ingest.NewArrowStream))
	case "parquet":
		return oneSet(name, out, columnar(ingest.NewParquetFile))
	}
	return newTable(w, &view{})
}

// oneSet is a format whose output holds one result set.
func oneSet(name string, out *bufio.Writer, write func(*bufio.Writer, *engine.Rows) error) format {
	begun := false
	return format{close: out.Flush, rows: func(r *engine.Rows) error {
		switch {
		case len(r.Columns()) == 0:
			return nil
		case begun:
			return fmt.Errorf("--format %s holds one result set: give one statement, or use --format json", name)
		}
		begun = true
		return write(out, r)
	}}
}

func writeCSV(w *bufio.Writer, r *engine.Rows) error {
	var header []table.Value
	for _, c := range r.Columns() {
		header = append(header, table.Str(c.Name))
	}
	line := ingest.AppendCSV(nil, header, ',')
	_, err := w.Write(line)
	for err == nil && r.Next() {
		line = ingest.AppendCSV(line[:0], r.Values(), ',')
		_, err = w.Write(line)
	}
	return err
}

// columnar writes record batches.
func columnar(open func(io.Writer, *arrow.Schema) (ingest.BatchWriter, error)) func(*bufio.Writer, *engine.Rows) error {
	return func(w *bufio.Writer, r *engine.Rows) error {
		out, err := open(w, r.Schema())
		if err != nil {
			return err
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
}

func writeOnce(w io.Writer, b *bytes.Buffer) error {
	_, err := w.Write(b.Bytes())
	return err
}
