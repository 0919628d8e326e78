package ingest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// delimited writes a header line and the rows, as [Load] reads them: NULL is an
// unquoted empty field, "" an empty string. The types are not in the file:
// declare them when loading it to get the same table.
func delimited(delim byte) func(io.Writer, *table.Table) error {
	return func(w io.Writer, t *table.Table) error { return writeDelimited(w, t, delim) }
}

func writeDelimited(w io.Writer, t *table.Table, delim byte) error {
	if err := checkWritable(t); err != nil {
		return err
	}
	if len(t.Fields) == 0 {
		return fmt.Errorf("a table without columns has no CSV form")
	}
	out := bufio.NewWriterSize(w, 256<<10)
	values := make([]table.Value, len(t.Fields))
	for i, f := range t.Fields {
		values[i] = table.Str(f.Name)
	}
	form := CSVForm{Delim: delim}
	line := form.Append(nil, values)
	if _, err := out.Write(line); err != nil {
		return err
	}
	for _, ch := range t.Compacted().Chunks {
		for r := range ch.Rows {
			for i, s := range ch.Segments {
				values[i] = s.Value(r)
			}
			line = form.Append(line[:0], values)
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// CSVForm is how lines of CSV are written.
type CSVForm struct {
	Delim byte
	Null  string // NULL, unquoted; a text that is the same is quoted
}

// Append appends a line of fields. Without a text for NULL it is an unquoted empty field, and "" an empty string.
func (f CSVForm) Append(line []byte, values []table.Value) []byte {
	for i, v := range values {
		if i > 0 {
			line = append(line, f.Delim)
		}
		switch {
		case v.Null:
			line = append(line, f.Null...)
		case v.Type.IsInteger() && f.Null == "" && f.Delim == ',':
			line = strconv.AppendInt(line, v.I, 10)
		case v.Type.Kind == table.Varchar:
			line = f.text(line, v.S, len(values) == 1)
		default:
			line = f.text(line, v.String(), false)
		}
	}
	return append(line, '\n')
}

// text quotes what would not read back as it is. A byte order mark counts,
// lest the file seem to start with one, and other delimiters in a line of one field.
func (f CSVForm) text(line []byte, text string, alone bool) []byte {
	if text != f.Null && text != "" && strings.IndexByte(text, f.Delim) < 0 && !strings.ContainsAny(text, "\"\r\n") && text[0] != 0xef &&
		!(alone && strings.ContainsAny(text, ";\t|")) {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}
