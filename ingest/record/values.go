package record

import (
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/dictionary"
)

// parseValue returns the ordinal of the value that text has as type t; of text, its number
// in w. The error is the reason, without the place.
func parseValue(w *dictionary.Builder, t table.Type, text []byte) (uint64, error) {
	switch t.Kind {
	case table.Varchar:
		k, known := w.Known(source.View(text))
		switch {
		case known:
			return k, nil
		case !utf8.Valid(text):
			return 0, source.ErrUTF8
		}
		return w.Number(source.View(text)), nil
	case table.BigInt:
		if i, ok := shortInteger(text); ok {
			return table.OrdinalInt(i), nil
		}
	case table.Unknown: // a column without a value has none to parse
		return 0, sqlstate.Errorf(sqlstate.ObjectNotInPrerequisiteState, "%s in a column that had no value when it was first read: the file changed", source.Quote(text))
	}
	i, f, err := table.Parse(t, source.View(source.TrimBlanks(text)), false)
	switch {
	case err != nil:
		return 0, reason(err, t, text)
	case t.Kind == table.Boolean:
		return uint64(i), nil
	case t.Kind == table.Real:
		return uint64(table.SignedOrdinalFloat32(float32(f))), nil
	case t.IsFloat():
		return table.SignedOrdinalFloat64(f), nil
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

// reason says why text is not of type t.
func reason(err error, t table.Type, text []byte) error {
	switch {
	case !utf8.Valid(text):
		return source.ErrUTF8
	case err == table.ErrRange:
		code := sqlstate.NumericOutOfRange
		if t.Kind == table.Date || t.Kind == table.Timestamp {
			code = sqlstate.DatetimeOverflow
		}
		return sqlstate.Errorf(code, "%s is out of range for %s", source.Quote(text), t)
	case t.IsNumeric():
		return sqlstate.Errorf(sqlstate.InvalidText, "%s is not a number of type %s", source.Quote(text), t)
	case t.Kind == table.Date:
		return sqlstate.Errorf(sqlstate.InvalidDatetimeFormat, "%s is not a date (YYYY-MM-DD)", source.Quote(text))
	case t.Kind == table.Timestamp:
		return sqlstate.Errorf(sqlstate.InvalidDatetimeFormat, "%s is not a timestamp without time zone (YYYY-MM-DD HH:MM:SS)", source.Quote(text))
	}
	return sqlstate.Errorf(sqlstate.InvalidText, "%s is not of type %s", source.Quote(text), t)
}

// wider are types that hold text where t does not, the best first.
func wider(t table.Type, text []byte) (names []string) {
	var others []table.Type
	switch {
	case t.IsInteger():
		others = []table.Type{{Kind: table.BigInt}, {Kind: table.Double}}
	case t.Kind == table.Decimal:
		others = []table.Type{{Kind: table.Decimal, Precision: source.MaxPrecision, Scale: t.Scale}, {Kind: table.Double}}
	case t.Kind == table.Real:
		others = []table.Type{{Kind: table.Double}}
	case t.Kind == table.Date:
		others = []table.Type{{Kind: table.Timestamp}}
	}
	for _, o := range others {
		if _, _, err := table.Parse(o, source.View(source.TrimBlanks(text)), false); err == nil {
			name, _, _ := strings.Cut(o.String(), " ") // double precision, timestamp without time zone
			return []string{name, "text"}
		}
	}
	return []string{"text"}
}
