package ingest_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// The shapes of text, with the digits before and behind the point.
var (
	plainShape    = regexp.MustCompile(`^[+-]?0*(\d*)(\.\d*)?$`)
	zerosShape    = regexp.MustCompile(`^[+-]?0\d`)
	codeShape     = regexp.MustCompile(`^\d+[eE]\d+$`)
	exponentShape = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+$`)
	wordShape     = regexp.MustCompile(`^(?i:nan|[+-]?inf|[+-]?infinity)$`)
	boolShape     = regexp.MustCompile(`^(?i:true|false)$`)
)

// classOf is what [ingest.Classify] should say.
func classOf(text string) (name string, whole, frac int) {
	s := strings.Trim(text, " \t\n\v\f\r")
	reads := func(k table.Kind) bool {
		_, _, err := table.Parse(table.Type{Kind: k}, s, false)
		return err == nil
	}
	huge := "huge"
	if !reads(table.Double) {
		huge = "beyond"
	}
	m := plainShape.FindStringSubmatch(s)
	switch {
	case !strings.ContainsAny(s, "0123456789"):
		m = nil
	case zerosShape.MatchString(s) && (m != nil || exponentShape.MatchString(s)):
		return "zeros", 0, 0
	}
	if m != nil {
		whole, frac = len(m[1]), max(len(m[2])-1, 0)
		i, err := strconv.ParseInt(s, 10, 64)
		switch {
		case m[2] == "" && err == nil && (i > 1<<53 || i < -1<<53):
			return "long", whole, 0
		case m[2] == "" && err == nil:
			return "int", whole, 0
		case m[2] == "":
			return huge, 0, 0
		case frac <= 6 && whole+frac <= 18:
			return "decimal", whole, frac
		case len(strings.Trim(strings.Replace(strings.TrimLeft(s, "+-"), ".", "", 1), "0")) > 18:
			return huge, 0, 0
		}
		return "float", 0, 0
	}
	switch {
	case exponentShape.MatchString(s) && !reads(table.Double):
		return "beyond", 0, 0
	case codeShape.MatchString(s):
		return "code", 0, 0
	case exponentShape.MatchString(s):
		return "float", 0, 0
	case reads(table.Date):
		return "date", 0, 0
	case reads(table.Timestamp):
		return "timestamp", 0, 0
	case boolShape.MatchString(s):
		return "bool", 0, 0
	case wordShape.MatchString(s):
		return "word", 0, 0
	}
	return "text", 0, 0
}

// values are of all shapes, and nearly of them.
var values = rapid.OneOf(
	rapid.StringMatching(`[+-]?[0-9]{0,21}`), rapid.StringMatching(`-?[0-9]{0,9}[.][0-9]{0,8}`), rapid.StringMatching(`[-+.e0-9/:]{1,9}`),
	rapid.StringMatching(`-?0{0,3}[0-9]{0,3}[.]?[0-9]{0,3}`), rapid.StringMatching(`[0-9]{1,20}[.][0-9]{1,20}`), rapid.StringMatching(`[0-9]{1,3}[.]?[0-9]?[eE]-?[0-9]{1,3}`),
	rapid.StringMatching(`[0-2][0-9]{3}-[01][0-9]-[0-3][0-9]`), rapid.StringMatching(`[0-9/:]{4}-[0-9/:]{2}-[0-9/:]{2}`), rapid.StringMatching(`000[01]-0[0-2]-[0-3][0-9]`),
	rapid.StringMatching(`20[0-9]{2}-0[1-9]-[0-2][0-9][ T][0-2][0-9]:[0-5][0-9](:[0-5][0-9]([.][0-9]{1,7})?)?Z?`),
	rapid.SampledFrom([]string{"true", "FALSE", "tru", "t", "nan", "NaNs", "inf", "-Infinity", "+inf", "Nancy", "Fal", "-", ".", "-.5", "5.", "+", "--1", "1-", " 7 ", "\t2020-01-02", "x ", ""}),
	rapid.String())

// What a value looks like does not depend on where it is, nor on what is behind it.
func TestClassify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := values.Draw(t, "text")
		name, whole, frac := classOf(text)
		for _, behind := range []string{"", "7", "12345678", ".5-\n,\"\xff\xff"} {
			in := []byte(text + behind)
			got, w, f := ingest.Classify(in[:len(text):len(in)])
			if got != name || w != whole || f != frac {
				t.Fatalf("%q before %q: %s with %d and %d digits, want %s with %d and %d", text, behind, got, w, f, name, whole, frac)
			}
		}
	})
}

// The fields of a text are those that it was written of, wherever they are in it. Each is the text
// itself where its column is text.
func TestCSVFields(t *testing.T) {
	long := rapid.StringMatching(`[a-z¬Ģ\x{10a}\x{10d}]{0,90}`) // of bytes that are delimiters, quotes and line breaks but for the highest bit
	cell := rapid.OneOf(values, long, rapid.StringMatching("[a,;\"\r\n]{0,70}"))
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		var text, want strings.Builder
		var names []string
		s := ingest.Source{Header: ingest.HeaderThere, Delim: ','}
		for i := range columns {
			names = append(names, fmt.Sprintf("c%d", i))
			s.Types = append(s.Types, ingest.ColumnType{Name: names[i], Type: table.Type{Kind: table.Varchar}})
		}
		text.WriteString(strings.Join(names, ",") + "\n")
		rows := rapid.IntRange(0, 12).Draw(t, "rows")
		for row := range rows {
			for i := range columns {
				c := strings.ToValidUTF8(cell.Draw(t, "cell"), "")
				quoted := strings.ContainsAny(c, ",\"\r\n") || rapid.Bool().Draw(t, "quoted")
				ends, bar := ",", "|"
				if i == columns-1 {
					ends, bar = rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"), "\n"
				}
				if i == columns-1 && row == rows-1 && (quoted || c != "") && rapid.Bool().Draw(t, "open") {
					ends = "" // of the text
				}
				switch {
				case quoted:
					text.WriteString(`"` + strings.ReplaceAll(c, `"`, `""`) + `"` + ends)
				default:
					text.WriteString(c + ends)
				}
				if c == "" && !quoted {
					want.WriteString("NULL" + bar)
				} else {
					want.WriteString("'" + c + "'" + bar)
				}
			}
		}
		if got := rowsOf(mustLoad(t, text.String(), s)); got != want.String() {
			t.Fatalf("%q: got\n%s\nwant\n%s", text.String(), got, want.String())
		}
	})
}
