package cmd

import (
	"bytes"
	"io"

	"github.com/stencildb/stencildb/engine"
)

// format writes results. Each method writes to the output once, and only when
// what it writes is complete.
type format interface {
	// result writes the answer of a statement.
	result(r *engine.Result) error
	// failed is told of a statement that failed and after which the run goes on.
	failed(sql string, err error) error
	// close ends the output.
	close() error
}

func newFormat(name string, w io.Writer) format {
	switch name {
	case "csv":
		return &csvFormat{w: w}
	case "json":
		return &jsonFormat{w: w}
	}
	return &tableFormat{w: w}
}

// writeOnce hands a finished buffer to w.
func writeOnce(w io.Writer, b *bytes.Buffer) error {
	_, err := w.Write(b.Bytes())
	return err
}
