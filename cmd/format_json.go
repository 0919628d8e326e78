package cmd

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// jsonFormat writes one line a statement:
//
//	{"sql", "columns": [{"name", "type"}], "rows": [[...]], "backend", "passes", "ms", "load_ms"}
//
// and {"sql", "error"} for a failed one under --keep-going.
type jsonFormat struct{ w io.Writer }

type jsonColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type jsonResult struct {
	SQL     string              `json:"sql"`
	Columns []jsonColumn        `json:"columns"`
	Rows    [][]json.RawMessage `json:"rows"`
	Backend string              `json:"backend"`
	Passes  int                 `json:"passes"`
	MS      float64             `json:"ms"`
	LoadMS  float64             `json:"load_ms"`
}

type jsonError struct {
	SQL   string `json:"sql"`
	Error string `json:"error"`
}

func (f *jsonFormat) result(r *engine.Result) error {
	out := jsonResult{
		SQL: r.SQL, Backend: r.Backend, Passes: r.Passes,
		MS: milliseconds(r.Elapsed), LoadMS: milliseconds(r.Load),
		Columns: []jsonColumn{}, Rows: [][]json.RawMessage{},
	}
	for _, c := range r.Columns {
		out.Columns = append(out.Columns, jsonColumn{c.Name, c.Type.String()})
	}
	for _, row := range r.Rows {
		cells := make([]json.RawMessage, len(row))
		for i, v := range row {
			cells[i] = jsonValue(v)
		}
		out.Rows = append(out.Rows, cells)
	}
	return f.line(out)
}

func (f *jsonFormat) failed(sql string, err error) error {
	return f.line(jsonError{sql, message(err)})
}

func (f *jsonFormat) close() error { return nil }

func (f *jsonFormat) line(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return writeOnce(f.w, &b)
}

// milliseconds gives a duration with three decimals.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/1e3) / 1e3
}

// maxExact is the largest integer up to which every integer is a double, and so
// a number that every JSON reader keeps.
const maxExact = 1 << 53

// jsonValue writes a value so that no reader loses anything of it: integers
// beyond 2^53, DECIMALs, dates, timestamps, NaN and the infinities are strings.
func jsonValue(v table.Value) json.RawMessage {
	switch {
	case v.Null:
		return json.RawMessage("null")
	case v.Type.Kind == table.Boolean:
		return json.RawMessage(strconv.FormatBool(v.I != 0))
	case v.Type.IsInteger() && -maxExact <= v.I && v.I <= maxExact:
		return json.RawMessage(strconv.FormatInt(v.I, 10))
	case v.Type.IsFloat() && !math.IsNaN(v.F) && !math.IsInf(v.F, 0):
		return json.RawMessage(jsonFloat(v.F, v.Type.Kind))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.String()); err != nil { // a string always encodes
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// jsonFloat gives the shortest digits that read back.
func jsonFloat(f float64, k table.Kind) []byte {
	bits := 64
	if k == table.Real {
		bits = 32
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(nil, f, format, -1, bits)
}
