package csv

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unsafe"

	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Writer writes a header line and the rows, as Load of package ingest reads them. NULL is an
// unquoted empty field, "" an empty string, and text that looks otherwise is quoted. The types are not in the file:
// declare them when loading it to get the same table.
func Writer(delim byte) func(io.Writer, *table.Table) error {
	return func(w io.Writer, t *table.Table) error { return writeDelimited(w, t, delim) }
}

func writeDelimited(w io.Writer, t *table.Table, delim byte) error {
	if err := source.CheckWritable(t); err != nil {
		return err
	}
	if len(t.Fields) == 0 {
		return sqlstate.Errorf(sqlstate.FeatureNotSupported, "a table without columns has no CSV form")
	}
	out := bufio.NewWriterSize(w, 256<<10)
	values := make([]table.Value, len(t.Fields))
	names := xslices.Map(t.Fields, func(f table.Field) string { return f.Name })
	form := Form{Delim: delim}
	line := form.AppendNames(nil, names)
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

// Form is how lines of CSV are written.
type Form struct {
	Delim byte
	Null  string // NULL, unquoted; a text that is the same is quoted
}

// AppendNames appends a line of names, which have quotes only where they need them: by that the values between quotes are known to be text.
func (f Form) AppendNames(line []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			line = append(line, f.Delim)
		}
		line = f.field(line, name, name == "" || needsQuotes(name, f.Delim, len(names) == 1))
	}
	return append(line, '\n')
}

// Append appends a line of fields. Without a text for NULL it is an unquoted empty field, and "" an empty string. Text that looks like a number, a
// date, a boolean or a word for NULL is quoted.
func (f Form) Append(line []byte, values []table.Value) []byte {
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
			line = f.field(line, v.S, v.S == f.Null || looksOtherwise(v.S) || needsQuotes(v.S, f.Delim, len(values) == 1))
		default:
			text := v.String()
			line = f.field(line, text, text == f.Null || needsQuotes(text, f.Delim, false))
		}
	}
	return append(line, '\n')
}

// field appends a field, between quotes or without.
func (f Form) field(line []byte, text string, quoted bool) []byte {
	if !quoted {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}

// needsQuotes reports text that would not be one field without quotes. A byte order mark counts,
// lest the file seem to start with one, and other delimiters in a line of one field.
func needsQuotes(text string, delim byte, alone bool) bool {
	return strings.IndexByte(text, delim) >= 0 || strings.ContainsAny(text, "\"\r\n") || strings.HasPrefix(text, "\xef") || alone && strings.ContainsAny(text, ";\t|")
}

// looksOtherwise reports text that would be something else without quotes.
func looksOtherwise(text string) bool {
	if text == "" {
		return true
	}
	b := unsafe.Slice(unsafe.StringData(text), len(text))
	k, _ := inference.Classify(b)
	return k != inference.ClassText || inference.IsNullWord(inference.Content{Text: b})
}
