package cmd

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/stencildb/stencildb/engine"
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

func newOut(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<16) }

// oneSet is a format whose output holds one result set.
func oneSet(name, more string, out *bufio.Writer, write func(*bufio.Writer, *engine.Rows) error) format {
	begun := false
	return format{close: out.Flush, out: out, rows: func(r *engine.Rows) error {
		switch {
		case len(r.Columns()) == 0:
			return nil
		case begun && more != "":
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
