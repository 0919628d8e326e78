package ingest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// parseValue returns the ordinal of the value that text has as type t; of text, its number
// in w. The error is the reason, without the place.
func parseValue(w *table.Words, t table.Type, text []byte) (uint64, error) {
	switch t.Kind {
	case table.Varchar:
		k, known := w.Known(view(text))
		switch {
		case known:
			return k, nil
		case !utf8.Valid(text):
			return 0, errUTF8
		}
		return w.Number(view(text)), nil
	case table.BigInt:
		if i, ok := shortInteger(text); ok {
			return table.OrdinalInt(i), nil
		}
	case table.Unknown: // a column without a value has none to parse
		return 0, sqlstate.Errorf(sqlstate.ObjectNotInPrerequisiteState, "%s in a column that had no value when it was first read: the file changed", quote(text))
	}
	i, f, err := table.Parse(t, view(trim(text)), false)
	switch {
	case err != nil:
		return 0, reason(err, t, text)
	case t.Kind == table.Boolean:
		return uint64(i), nil
	case t.Kind == table.Real:
		return uint64(table.OrdinalFloat32(float32(f))), nil
	case t.IsFloat():
		return table.OrdinalFloat64(f), nil
	}
	return table.OrdinalInt(i), nil
}

// shortInteger reads [-]digits, up to 18 of them: nearly all integers.
func shortInteger(text []byte) (i int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		i = 10*i + int64(c)
	}
	if negative {
		i = -i
	}
	return i, true
}

var errUTF8 = sqlstate.Errorf(sqlstate.CharacterNotInRepertoire, "the text is not valid UTF-8")

// reason says why text is not of type t.
func reason(err error, t table.Type, text []byte) error {
	switch {
	case !utf8.Valid(text):
		return errUTF8
	case err == table.ErrRange:
		code := sqlstate.NumericOutOfRange
		if t.Kind == table.Date || t.Kind == table.Timestamp {
			code = sqlstate.DatetimeOverflow
		}
		return sqlstate.Errorf(code, "%s is out of range for %s", quote(text), t)
	case t.IsNumeric():
		return sqlstate.Errorf(sqlstate.InvalidText, "%s is not a number of type %s", quote(text), t)
	case t.Kind == table.Date:
		return sqlstate.Errorf(sqlstate.InvalidDatetimeFormat, "%s is not a date (YYYY-MM-DD)", quote(text))
	case t.Kind == table.Timestamp:
		return sqlstate.Errorf(sqlstate.InvalidDatetimeFormat, "%s is not a timestamp without time zone (YYYY-MM-DD HH:MM:SS)", quote(text))
	}
	return sqlstate.Errorf(sqlstate.InvalidText, "%s is not of type %s", quote(text), t)
}

// wider are types that hold text where t does not, the best first.
func wider(t table.Type, text []byte) (names []string) {
	var others []table.Type
	switch {
	case t.IsInteger():
		others = []table.Type{{Kind: table.BigInt}, {Kind: table.Double}}
	case t.Kind == table.Decimal:
		others = []table.Type{{Kind: table.Decimal, Precision: maxPrecision, Scale: t.Scale}, {Kind: table.Double}}
	case t.Kind == table.Real:
		others = []table.Type{{Kind: table.Double}}
	case t.Kind == table.Date:
		others = []table.Type{{Kind: table.Timestamp}}
	}
	for _, o := range others {
		if _, _, err := table.Parse(o, view(trim(text)), false); err == nil {
			name, _, _ := strings.Cut(o.String(), " ") // double precision, timestamp without time zone
			return []string{name, "text"}
		}
	}
	return []string{"text"}
}

// escaped is a column's name as an option of a path spells it.
func escaped(name string) string {
	var b strings.Builder
	for _, c := range name {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-. ", c) {
			b.WriteRune(c)
			continue
		}
		for _, c := range []byte(string(c)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// quote shows a field in an error: on one line, and its beginning only when long.
func quote(b []byte) string {
	const most = 40
	if len(b) > most {
		cut := most
		for cut > most-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
			cut--
		}
		return strconv.Quote(string(b[:cut])) + "..."
	}
	return strconv.Quote(string(b))
}

// view is b as a string, for callees that do not keep it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// trim is text without the blanks around it.
func trim(text []byte) []byte {
	if len(text) == 0 || text[0] > ' ' && text[len(text)-1] > ' ' { // nearly always
		return text
	}
	return bytes.Trim(text, " \t\n\v\f\r")
}
