package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// loadJSON loads text of objects.
func loadJSON(text string, s ingest.Source, o ingest.Options) (*table.Table, error) {
	s.Path, s.Data = "t.json", []byte(text)
	return ingest.Load(context.Background(), "t", s, o)
}

// What objects are in a text, one after the other or in an array, and what types their members have by JSON's own types.
func TestJSONValues(t *testing.T) {
	for _, c := range []struct{ name, text, types, rows string }{
		{"an object a line", "{\"a\":1,\"b\":\"x\"}\n{\"a\":-2,\"b\":\"\"}\n", "a bigint, b character varying", "1|'x'\n-2|''\n"},
		{"an array of objects", " [ {\"a\":1},\r\n{\"a\":2} ,{\"a\":3}]\n", "a bigint", "1\n2\n3\n"},
		{"objects over lines", "{\n \"a\": 1,\n \"b\": {\n  \"c\": [1, 2]\n }\n}{\"a\":2}", "a bigint, b character varying", "1|'{\"c\":[1,2]}'\n2|NULL\n"},
		{"a byte order mark", "\xef\xbb\xbf{\"a\":1}", "a bigint", "1\n"},
		{"members that are not there, and null", "{\"a\":1}\n{\"b\":null,\"c\":true}\n{}\n{\"c\":false,\"a\":2}\n", "a bigint, b unknown, c boolean", "1|NULL|NULL\nNULL|NULL|true\nNULL|NULL|NULL\n2|NULL|false\n"},
		{"a member twice", "{\"a\":1,\"a\":2}", "a bigint", "2\n"},
		{"decimals", "{\"a\":1.50,\"b\":1e3,\"c\":1.12345678}\n{\"a\":2,\"b\":1E5,\"c\":1}", "a numeric(18,2), b double precision, c double precision", "1.50|1000|1.12345678\n2.00|100000|1\n"},
		{"numbers in strings are text", "{\"a\":\"1\",\"b\":\"007\",\"c\":\"true\",\"d\":\"1E5\",\"e\":\"NULL\",\"f\":\"NaN\"}", strings.Repeat("X character varying, ", 6), "'1'|'007'|'true'|'1E5'|'NULL'|'NaN'\n"},
		{"dates in strings are dates", "{\"a\":\"2020-01-02\",\"b\":\"2020-01-02T03:04:05Z\",\"c\":\"2020-01-02\"}\n{\"c\":\"x\"}", "a date, b timestamp without time zone, c character varying", "2020-01-02|2020-01-02 03:04:05|'2020-01-02'\nNULL|NULL|'x'\n"},
		{"dates with blanks around are text", "{\"a\":\"2020-01-02\",\"b\":\" 2020-01-02T03:04:05\"}\n{\"a\":\"2020-01-03 \"}", "a character varying, b character varying", "'2020-01-02'|' 2020-01-02T03:04:05'\n'2020-01-03 '|NULL\n"},
		{"NaN among numbers", "{\"a\":1.5}{\"a\":\"NaN\"}{\"a\":\"-Infinity\"}", "a double precision", "1.5\nNaN\n-Infinity\n"},
		{"numbers and strings are text", "{\"a\":1}{\"a\":\"x\"}{\"a\":\"2\"}{\"a\":true}", "a character varying", "'1'\n'x'\n'2'\n'true'\n"},
		{"beyond 64 bits", "{\"a\":9223372036854775808}", "a character varying", "'9223372036854775808'\n"},
		{"escapes", "{\"a\\u0041\":\"\\u00e9\\n\\\"\\ud83d\\ude00\\\\\"}\n{\"aA\":\"x\"}", "aA character varying", "'é\n\"😀\\'\n'x'\n"},
		{"brackets and quotes in strings", "[{\"a\":\"}],[{\\\"\"},{\"a\":\"{\"}]", "a character varying", "'}],[{\"'\n'{'\n"},
		{"arrays are text", "{\"a\":[1, \"x\" ,null]}", "a character varying", "'[1,\"x\",null]'\n"},
		{"a name without text", "{\"\":1,\"b\":2}", "column1 bigint, b bigint", "1|2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab, err := loadJSON(c.text, ingest.Source{}, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check(t, tab)
			types := typesOf(tab)
			if strings.HasPrefix(c.types, "X") {
				for _, f := range tab.Fields {
					if f.Type.Kind != table.Varchar {
						t.Errorf("%s is %s", f.Name, f.Type)
					}
				}
				types = c.types
			}
			if types != c.types || rowsOf(tab) != c.rows {
				t.Errorf("got %s\n%s\nwant %s\n%s", types, rowsOf(tab), c.types, c.rows)
			}
		})
	}
}

// Errors of JSON name the line.
func TestJSONErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", " \n", "t.json: there is no object with a member, and so no column"},
		{"an array of nothing", "[]", "t.json: there is no object with a member, and so no column"},
		{"a number", "{\"a\":1}\n2\n", `t.json: line 2: "2\n" is where an object is expected: {"name": value, ...}`},
		{"an array of numbers", "[\n1]", `t.json: line 2: "1]" is where an object is expected: {"name": value, ...}`},
		{"no comma", "[{\"a\":1}\n{\"a\":2}]", "t.json: line 2: a comma is missing between two objects of the array"},
		{"two commas", "[{\"a\":1},\n,{\"a\":2}]", `t.json: line 2: ",{\"a\":2}]" is where an object is expected: {"name": value, ...}`},
		{"a comma at the end", "[{\"a\":1},\n]", `t.json: line 2: "]" is where an object is expected: {"name": value, ...}`},
		{"text behind the array", "[{\"a\":1}]\n{}", "t.json: line 2: text after the array of objects"},
		{"an array without an end", "[{\"a\":1}\n", "t.json: line 2: the array of objects does not end: its ] is missing"},
		{"an object without an end", "{\"a\":1}\n{\"a\":\n", "t.json: line 3: an object does not end: the file is cut short, or a bracket or quote is missing"},
		{"no value", "{\"a\":1}\n{\"a\":x}", "t.json: line 2: not valid JSON: "},
		{"no value, further down", "{\"a\":1}\n{\"b\":[\n1,\n,2]}", "t.json: line 4: not valid JSON: "},
		{"no quotes", "{a:1}", "t.json: line 1: not valid JSON: "},
		{"zeros in front", "{\"a\":007}", "t.json: line 1: not valid JSON: "},
		{"no UTF-8", "{\"a\":1}\n{\"a\":\"\xff\"}", "t.json: line 2: the text is not valid UTF-8; if it is Latin-1, as older programs write, write ?encoding=latin1 behind the path"},
		{"an option of CSV", "", "t.json: header, delim and null are for CSV; of a json file there are types, strict and encoding"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ingest.Source{}
			if c.text == "" {
				s.Header, c.text = ingest.HeaderThere, "{}"
			}
			_, err := loadJSON(c.text, s, ingest.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.HasSuffix(c.want, ": ") && err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	_, err := loadJSON("{\"a\":1}\n{\"a\":\"x\"}", ingest.Source{}, ingest.Options{Strict: true})
	if want := `t.json: line 2, column 1 (a): "x" is not a number, but line 1 has "1"; write ?types=a:text behind the path`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, s, err := ingest.ParseLoad("t.json?types=a:int,b:date")
	if err != nil {
		t.Fatal(err)
	}
	tab, err := loadJSON("{\"a\":\"1\",\"b\":null}", s, ingest.Options{})
	if err != nil || typesOf(tab) != "a integer, b date" || rowsOf(tab) != "1|NULL\n" {
		t.Errorf("%v: %s", err, rowsOf(tab))
	}
	if _, err = loadJSON("{\"b\":null}\n{\"a\":\"x\"}", s, ingest.Options{}); err == nil || !strings.HasPrefix(err.Error(), `t.json: line 2, column 2 (a): "x" is not a number of type integer`) {
		t.Errorf("%v", err)
	}
}

// Objects that are drawn, and written in one way or another, are read as encoding/json reads them, however the text is cut into blocks.
func TestJSONObjects(t *testing.T) {
	defer ingest.BlockBytes(1 << 20)
	value := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.IntRange(-1000, 1000), func(i int) any { return i }), rapid.Map(rapid.SampledFrom([]string{"x", "}]\"\\,[{", "é\n\t", "7", "", "true"}), func(s string) any { return s }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.IntRange(0, 3), func(n int) any { return make([]int, n) }), rapid.Map(rapid.IntRange(0, 3), func(n int) any { return map[string]int{"a": n} }))
	rapid.Check(t, func(t *rapid.T) {
		var objects []map[string]any
		for range rapid.IntRange(1, 20).Draw(t, "objects") {
			o := map[string]any{"k": len(objects)}
			for _, name := range []string{"a", "b", "\"c}"} {
				if rapid.Bool().Draw(t, "there") {
					o[name] = value.Draw(t, "value")
				}
			}
			objects = append(objects, o)
		}
		var text strings.Builder
		indent := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent")
		write := func(v any) {
			b, err := json.Marshal(v)
			if indent != "" {
				b, err = json.MarshalIndent(v, "", indent)
			}
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b)
		}
		if rapid.Bool().Draw(t, "array") {
			write(objects)
		} else {
			for _, o := range objects {
				write(o)
				text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", " "}).Draw(t, "between"))
			}
		}
		ingest.BlockBytes(rapid.IntRange(4, 200).Draw(t, "block"))
		tab, err := loadJSON(text.String(), ingest.Source{}, ingest.Options{ChunkRows: 5})
		if err != nil {
			t.Fatalf("%v in %s", err, text.String())
		}
		check(t, tab)
		if tab.Rows() != len(objects) {
			t.Fatalf("%d rows of %d", tab.Rows(), len(objects))
		}
		for col, f := range tab.Fields {
			for row, got := range valuesOf(tab, col) {
				want, there := objects[row][f.Name]
				text := ""
				switch w := want.(type) {
				case string:
					text = w
				case []int, map[string]int:
					b, err := json.Marshal(w)
					if err != nil {
						t.Fatal(err)
					}
					text = string(b)
				default:
					text = fmt.Sprint(w)
				}
				if got.Null != (!there || want == nil) || !got.Null && got.String() != text {
					t.Fatalf("row %d of %s: %v, want %v", row, f.Name, got, want)
				}
			}
		}
	})
}
