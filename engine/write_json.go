package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// WriteJSON writes the rows that Next has not come to as one line:
//
//	{"sql", "columns": [{"name", "type"}], "rows": [[...]], "backend", "passes", "ms", "load_ms"}
//
// It ends with "error", as message writes it, in the place of what follows the rows, where the statement does. The error is one of writing.
func (r *Rows) WriteJSON(w *bufio.Writer, message func(error) string) error {
	columns := []jsonColumn{}
	for _, c := range r.Columns() {
		columns = append(columns, jsonColumn{c.Name, c.Type.String()})
	}
	put(w, `{"sql":`, r.SQL(), `,"columns":`, columns, `,"rows":[`)
	for n := 0; r.Next(); n++ {
		if n > 0 {
			w.WriteByte(',')
		}
		w.WriteByte('[')
		for i, v := range r.Values() {
			if i > 0 {
				w.WriteByte(',')
			}
			w.Write(jsonValue(v))
		}
		if err := w.WriteByte(']'); err != nil { // or the first error of those before it
			return err
		}
	}
	if err := r.Err(); err != nil {
		put(w, `],"error":`, message(err), "}\n")
		return w.Flush()
	}
	s := r.Stats()
	put(w, `],"backend":`, s.Backend, `,"passes":`, s.Passes, `,"ms":`, milliseconds(s.Elapsed), `,"load_ms":`, milliseconds(s.Load), "}\n")
	return w.Flush()
}

// WriteJSONLines writes the rows that Next has not come to as an object a line, which [ingest.Load] reads. Numbers are numbers, whatever their
// digits; dates, timestamps, intervals, NaN and the infinities are strings. Columns of one name are told apart as name, name_1 and so on. The error is one of
// writing; what the rows end with, [Rows.Err] tells.
func (r *Rows) WriteJSONLines(w *bufio.Writer) error {
	var names []string
	for _, c := range r.Columns() {
		names = append(names, c.Name)
	}
	var keys [][]byte
	for _, name := range source.DistinctNames(names) {
		keys = append(keys, append(jsonOf(name), ':'))
	}
	for r.Next() {
		w.WriteByte('{')
		for i, v := range r.Values() {
			if i > 0 {
				w.WriteByte(',')
			}
			w.Write(keys[i])
			w.Write(plainJSON(v))
		}
		if _, err := w.WriteString("}\n"); err != nil { // or the first error of those before it
			return err
		}
	}
	return nil
}

// plainJSON writes a value as jsonValue does, but numbers as such.
func plainJSON(v table.Value) []byte {
	switch {
	case v.Null:
		return []byte("null")
	case v.Type.IsInteger():
		return strconv.AppendInt(nil, v.I, 10)
	case v.Type.Kind == table.Decimal:
		return []byte(v.String())
	case v.Type.Kind == table.Array:
		parts := make([][]byte, len(*v.List))
		for i, e := range *v.List {
			parts[i] = plainJSON(e)
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	}
	return jsonValue(v)
}

// WriteJSONError writes the line of a statement that failed before its first row.
func WriteJSONError(w *bufio.Writer, sql, message string) error {
	put(w, `{"sql":`, sql, `,"error":`, message, "}\n")
	return w.Flush()
}

type jsonColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// put writes text and, at every other place, a value in JSON. The writer keeps its
// error.
func put(w *bufio.Writer, parts ...any) {
	for i, p := range parts {
		if i%2 == 0 {
			w.WriteString(p.(string))
		} else {
			w.Write(jsonOf(p))
		}
	}
}

// jsonOf is a value of text and numbers in JSON, which always encodes.
func jsonOf(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/1e3) / 1e3
}

// maxExact is the largest integer up to which every integer is a double, and so
// a number that every JSON reader keeps.
const maxExact = 1 << 53

// jsonValue writes a value so that no reader loses anything of it: integers
// beyond 2^53, DECIMALs, dates, timestamps, NaN and the infinities are strings.
func jsonValue(v table.Value) (text []byte) {
	var err error
	switch {
	case v.Null:
		return []byte("null")
	case v.Type.Kind == table.Boolean:
		return strconv.AppendBool(nil, v.I != 0)
	case v.Type.Kind == table.Array:
		parts := make([][]byte, len(*v.List))
		for i, e := range *v.List {
			parts[i] = jsonValue(e)
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	case v.Type.IsInteger() && -maxExact <= v.I && v.I <= maxExact:
		return strconv.AppendInt(nil, v.I, 10)
	case v.Type.Kind == table.Real:
		text, err = json.Marshal(float32(v.F))
	case v.Type.Kind == table.Double:
		text, err = json.Marshal(v.F)
	}
	if text == nil || err != nil { // NaN and the infinities are no JSON
		return jsonOf(v.String())
	}
	return text
}
