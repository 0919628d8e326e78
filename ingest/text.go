package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/stencildb/stencildb/table"
)

// parseValue appends the value that text has as type t to c. The error is the
// reason, without the place.
func parseValue(c *table.ColumnBuilder, t table.Type, text []byte) error {
	switch t.Kind {
	case table.Varchar:
		if !utf8.Valid(text) {
			return errUTF8
		}
		c.String(view(text))
		return nil
	case table.Unknown: // a column without a value has none to parse
		return fmt.Errorf("%s in a column that had no value when it was first read: the file changed", quote(text))
	}
	i, f, err := table.Parse(t, trim(view(text)), false)
	switch {
	case err != nil:
		return reason(err, t, text)
	case t.IsFloat():
		c.Float(f)
	default:
		c.Int(i)
	}
	return nil
}

var errUTF8 = errors.New("the text is not valid UTF-8: convert the file to UTF-8")

// reason says why text is not of type t.
func reason(err error, t table.Type, text []byte) error {
	switch {
	case !utf8.Valid(text):
		return errUTF8
	case err == table.ErrRange:
		return fmt.Errorf("%s is out of range for %s", quote(text), t)
	case t.IsNumeric():
		return fmt.Errorf("%s is not a number of type %s", quote(text), t)
	case t.Kind == table.Date:
		return fmt.Errorf("%s is not a date (YYYY-MM-DD)", quote(text))
	case t.Kind == table.Timestamp:
		return fmt.Errorf("%s is not a timestamp without time zone (YYYY-MM-DD HH:MM:SS)", quote(text))
	}
	return fmt.Errorf("%s is not of type %s", quote(text), t)
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
func trim(s string) string {
	if s == "" || s[0] > ' ' && s[len(s)-1] > ' ' { // nearly always
		return s
	}
	return strings.Trim(s, " \t\n\v\f\r")
}
