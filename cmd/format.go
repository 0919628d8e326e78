package cmd

import (
	"bytes"
	"io"
	"strings"

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

// visible writes control characters as escapes, so that data cannot drive a
// terminal or break a line.
func visible(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case isControl(r):
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[r>>4&15])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }
