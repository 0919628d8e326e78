package cmd

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// csvFormat writes one result set: a header line, then rows. NULL is an unquoted
// empty field, "" an empty string. It holds the set back until the run has ended,
// because a second one is an error and there is no partial answer.
type csvFormat struct {
	w   io.Writer
	set *bytes.Buffer
}

var errSecondSet = errors.New("--format csv holds one result set: give one statement, or use --format json")

func (f *csvFormat) result(r *engine.Result) error {
	if len(r.Columns) == 0 {
		return nil
	}
	if f.set != nil {
		f.set = nil
		return errSecondSet
	}
	f.set = &bytes.Buffer{}
	for i, c := range r.Columns {
		csvField(f.set, i, c.Name)
	}
	f.set.WriteByte('\n')
	for _, row := range r.Rows {
		for i, v := range row {
			switch {
			case v.Null && i > 0:
				f.set.WriteByte(',')
			case v.Null:
			case v.Type.Kind == table.Varchar:
				csvField(f.set, i, v.S)
			default:
				csvField(f.set, i, v.String())
			}
		}
		f.set.WriteByte('\n')
	}
	return nil
}

func (f *csvFormat) failed(string, error) error { return nil }

func (f *csvFormat) close() error {
	if f.set == nil {
		return nil
	}
	return writeOnce(f.w, f.set)
}

// csvField writes field i of a line, quoted where it must be.
func csvField(b *bytes.Buffer, i int, s string) {
	if i > 0 {
		b.WriteByte(',')
	}
	if s != "" && !strings.ContainsAny(s, "\",\r\n") {
		b.WriteString(s)
		return
	}
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(s, `"`, `""`))
	b.WriteByte('"')
}
