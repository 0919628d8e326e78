package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stencildb/stencildb/expr/format"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// format, and what writes values as SQL.
func init() {
	for _, params := range []string{"text", "text,each..."} {
		define("format("+params+") text!", formatText).nulls = true
	}
	ofTexts("quote_ident(text) text", quoteIdent)
	define("quote_literal(each) text", func(a args) (table.Value, error) { return table.Str(quoteLiteral(a.v[0].String())), nil })
	define("quote_nullable(each) text", func(a args) (table.Value, error) {
		if a.v[0].Null {
			return table.Str("NULL"), nil
		}
		return table.Str(quoteLiteral(a.v[0].String())), nil
	}).nulls = true
}

// namesOfFunctions are keywords that are a column's name, but no function's: PostgreSQL puts them into
// quotes, too.
var namesOfFunctions = strings.Fields(`between bigint bit boolean char character coalesce dec decimal exists extract float
	greatest grouping inout int integer interval least national nchar none normalize nullif numeric out overlay position
	precision real row setof smallint substring time timestamp treat trim values varchar`)

func quoteIdent(name string) string {
	if slices.Contains(namesOfFunctions, name) {
		return `"` + name + `"`
	}
	return Ident(name)
}

func quoteLiteral(s string) string {
	text := Quote(s)
	if strings.Contains(s, `\`) {
		text = "E" + strings.ReplaceAll(text, `\`, `\\`)
	}
	return text
}

// formatField is a specifier of a pattern: %[position$][-][width]type.
type formatField struct {
	position, width int64 // 0 for none
	left            bool
	kind            byte
}

// readFormatField reads one behind its %, and returns how long it is.
func (a args) readFormatField(s string) (f formatField, size int, err error) {
	n, digits := format.LeadingDigits(s)
	if digits > 0 && strings.HasPrefix(s[digits:], "$") {
		if f.position, size = n, digits+1; n == 0 {
			return f, size, Coded(sqlstate.InvalidParameterValue, a.P, "format specifies argument 0, but arguments are numbered from 1")
		}
	}
	for size < len(s) && s[size] == '-' {
		f.left = true
		size++
	}
	f.width, digits = format.LeadingDigits(s[size:])
	if size += digits; size == len(s) {
		return f, size, Coded(sqlstate.InvalidParameterValue, a.P, `unterminated format() type specifier; for a single "%%" write "%%%%"`)
	}
	f.kind = s[size]
	switch {
	case f.kind == '*':
		return f, size, Coded(sqlstate.FeatureNotSupported, a.P, "a width of * is not supported; write its digits")
	case strings.IndexByte("sIL", f.kind) < 0:
		_, n := utf8.DecodeRuneInString(s[size:])
		return f, size, Coded(sqlstate.InvalidParameterValue, a.P, "unrecognized format() type specifier %q; there are %%s, %%I, %%L and %%%%", s[size:size+n])
	case f.width > MaxText/utf8.UTFMax:
		return f, size, Coded(sqlstate.ProgramLimitExceeded, a.P, "requested length too large")
	}
	return f, size + 1, nil
}

// formatText writes the arguments into the places of a pattern, the first of them.
func formatText(a args) (table.Value, error) {
	if a.v[0].Null {
		return a.v[0], nil
	}
	var out strings.Builder
	last := int64(0) // the argument that was taken
	for rest := a.v[0].S; rest != ""; {
		text, spec, found := strings.Cut(rest, "%")
		out.WriteString(text)
		if rest = spec; !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			out.WriteByte('%')
			rest = rest[1:]
			continue
		}
		f, size, err := a.readFormatField(rest)
		if err != nil {
			return table.Null(a.T), err
		}
		rest = rest[size:]
		if last++; f.position > 0 {
			last = f.position
		}
		if last >= int64(len(a.v)) {
			return a.failAs(sqlstate.InvalidParameterValue, "too few arguments for format()")
		}
		shown, err := a.written(f, a.v[last])
		if err != nil {
			return table.Null(a.T), err
		}
		pad := strings.Repeat(" ", int(max(0, f.width-int64(utf8.RuneCountInString(shown)))))
		if f.left {
			shown += pad
		} else {
			shown = pad + shown
		}
		if out.WriteString(shown); out.Len() > MaxText {
			return a.failAs(sqlstate.ProgramLimitExceeded, "requested length too large")
		}
	}
	return table.Str(out.String()), nil
}

// written is an argument as its specifier has it.
func (a args) written(f formatField, v table.Value) (string, error) {
	switch {
	case f.kind == 'I' && v.Null:
		return "", Coded(sqlstate.NullNotAllowed, a.P, "null values cannot be formatted as an SQL identifier")
	case f.kind == 'L' && v.Null:
		return "NULL", nil
	}
	text := strings.Join(args{v: []table.Value{v}}.shown(0), "")
	switch f.kind {
	case 'I':
		return quoteIdent(text), nil
	case 'L':
		return quoteLiteral(text), nil
	}
	return text, nil
}
