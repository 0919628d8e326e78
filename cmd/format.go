package cmd

import (
	"bytes"
	"fmt"
	"io"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

// format writes answers while they come.
type format interface {
	// rows writes the rows of a statement. Its error is one of writing; what the
	// statement ends with, [engine.Rows.Err] tells the caller too.
	rows(r *engine.Rows) error
	// failed is told of a statement that failed before its first row and after
	// which the run goes on.
	failed(sql string, err error) error
	// close ends the output.
	close() error
}

// formats are the names that newFormat takes.
var formats = []string{"table", "csv", "json", "arrow", "parquet"}

// newFormat returns a format that writes to w, which is a file or not.
func newFormat(name string, w io.Writer, file bool) format {
	switch name {
	case "csv":
		return &csvFormat{w: bufferedWriter(w)}
	case "json":
		return &jsonFormat{bufferedWriter(w)}
	case "arrow":
		if file {
			return &columnarFormat{name: name, w: w, open: ingest.NewArrowFile}
		}
		return &columnarFormat{name: name, w: w, open: ingest.NewArrowStream}
	case "parquet":
		return &columnarFormat{name: name, w: w, open: ingest.NewParquetFile}
	}
	return &tableFormat{w: bufferedWriter(w)}
}

// oneSet is embedded where the output holds one result set.
type oneSet struct{ begun bool }

func (o *oneSet) begin(name string) error {
	if o.begun {
		return fmt.Errorf("--format %s holds one result set: give one statement, or use --format json", name)
	}
	o.begun = true
	return nil
}

// writeOnce hands a finished buffer to w.
func writeOnce(w io.Writer, b *bytes.Buffer) error {
	_, err := w.Write(b.Bytes())
	return err
}
