package ingest_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stencildb/stencildb/ingest"
)

// What is not said of a CSV is sniffed, and what was taken is said in one line.
func TestCSVSniffed(t *testing.T) {
	const noHeader = "there is no header, so the columns are named column1 and on"
	const nulls = `NULL, null, NA, N/A and \N are NULL in `
	for _, c := range []struct{ name, options, text, types, rows, taken string }{
		{"semicolons", "", "a;b\n1;x\n", "a bigint, b character varying", "1|'x'\n", "the delimiter is ';'"},
		{"semicolons and decimal commas", "", "a;b\n1,5;2\n", "a character varying, b bigint", "'1,5'|2\n", "the delimiter is ';'"},
		{"semicolons and a last blank line of one", "", "a;b\n1;2\n;\n", "a bigint, b bigint", "1|2\nNULL|NULL\n", "the delimiter is ';'"},
		{"tabs", "", "a\tb;c\n1\t2\n", "a bigint, b;c bigint", "1|2\n", `the delimiter is '\t'`},
		{"bars", "", "a|b\n1|2\n", "a bigint, b bigint", "1|2\n", "the delimiter is '|'"},
		{"quoted semicolons", "", "a\n\"x;y\"\n", "a character varying", "'x;y'\n", ""},
		{"semicolons in some lines", "", "a;b\nx;y;z\n", "a;b character varying", "'x;y;z'\n", ""},
		{"a comma in each line", "", "a;b,c\n1;2,3\n", "a;b character varying, c bigint", "'1;2'|3\n", ""},
		{"a comma in some lines", "", "a;b, c;d\n1;2;3\n", "a bigint, b, c bigint, d bigint", "1|2|3\n", "the delimiter is ';'"},
		{"semicolons behind quotes", "", "\"a\";\"b\"\n1;2\n3;4\n", "a bigint, b bigint", "1|2\n3|4\n", "the delimiter is ';'"},
		{"tabs behind quotes", "", "\"a\"\t\"b,c\"\n\"1,5\"\t2\n", "a character varying, b,c bigint", "'1,5'|2\n", `the delimiter is '\t'`},
		{"bars and a blank line", "", "\na|b\n\n1|2\n", "a bigint, b bigint", "1|2\n", "MIXED"},
		{"blank lines at the end", "", "a,b\n1,2\n\n\n", "a bigint, b bigint", "1|2\n", ""},
		{"a blank line within", "", "a,b\n1,2\n\n3,4\n\n", "a bigint, b bigint", "1|2\n3|4\n", "1 blank line is left out, the first on line 3"},
		{"the delimiter said", "?delim=%2C", "a;b\nx;y\n", "a;b character varying", "'x;y'\n", ""},

		{"no header", "", "1,x\n2,y\n", "column1 bigint, column2 character varying", "1|'x'\n2|'y'\n", noHeader},
		{"no header and one line", "", "1,x\n", "column1 bigint, column2 character varying", "1|'x'\n", noHeader},
		{"no header, a wider number first", "", "1.5,2020-01-01\n2,2020-01-02\n", "column1 numeric(18,1), column2 date", "1.5|2020-01-01\n2.0|2020-01-02\n", noHeader},
		{"no header, equal cells", "", "1,1,\n2,2,x\n", "column1 bigint, column2 bigint, column3 character varying", "1|1|NULL\n2|2|'x'\n", noHeader},
		{"no header, a word for NULL first", "", "NA,1\n2,2\n", "column1 bigint, column2 bigint", "NULL|1\n2|2\n", noHeader + "; " + nulls + "column1"},
		{"no header, zeros in front", "", "00501,NY\n10001,NY\n", "column1 character varying, column2 character varying", "'00501'|'NY'\n'10001'|'NY'\n", noHeader + "; numbers with zeros in front are text in column1; "},
		{"a name above zeros in front", "", "zip\n00501\n10001\n", "zip character varying", "'00501'\n'10001'\n", "numbers with zeros in front are text in zip"},
		{"no header, quotes around everything", "", "\"1\",\"x\"\n\"2\",\"y\"\n", "column1 bigint, column2 character varying", "1|'x'\n2|'y'\n", noHeader},
		{"no header, quotes around text", "", "1,\"2\"\n3,\"4\"\n", "column1 bigint, column2 character varying", "1|'2'\n3|'4'\n", noHeader + "; values between quotes are text in column2"},
		{"no header said, quotes around everything", "?header=false", "\"1\"\n\"2\"\n", "column1 character varying", "'1'\n'2'\n", "values between quotes are text in column1"},
		{"a number above numbers and text", "", "1,1\nx,2\n3,4\n", "column1 character varying, column2 bigint", "'1'|1\n'x'|2\n'3'|4\n", "MIXED"},
		{"text above numbers", "", "1,x\n2,3\n", "1 bigint, x bigint", "2|3\n", ""},
		{"a number above text", "", "1,2\n2,y\n", "1 bigint, 2 character varying", "2|'y'\n", ""},
		{"a date above numbers", "", "2020-01-01\n5\n", "2020-01-01 bigint", "5\n", ""},
		{"a word above dates", "", "day\n2020-01-01\n", "day date", "2020-01-01\n", ""},
		{"all text", "", "x,y\nz,w\n", "x character varying, y character varying", "'z'|'w'\n", ""},
		{"names alone", "", "x,y\n", "x unknown, y unknown", "", ""},
		{"an empty cell above numbers", "", "a,\nb,2\n", "a character varying, column2 bigint", "'b'|2\n", ""},
		{"a header said", "?header=true", "1,2\n3,4\n", "1 bigint, 2 bigint", "3|4\n", ""},
		{"no header said", "?header=false", "a,2\nb,4\n", "column1 character varying, column2 bigint", "'a'|2\n'b'|4\n", ""},
		{"a declared column of the first line", "?types=1:bigint", "1,2\n3,4\n", "1 bigint, 2 bigint", "3|4\n", ""},
		{"a declared column of no name", "?types=column2:text", "1,2\n3,4\n", "column1 bigint, column2 character varying", "1|'2'\n3|'4'\n", noHeader},

		{"words for NULL among numbers", "", "a\n1\nNULL\nnull\nNA\nN/A\n\\N\n", "a bigint", "1\nNULL\nNULL\nNULL\nNULL\nNULL\n", nulls + "a"},
		{"words for NULL among others", "", "d,b,n,x\nNA,NA,NA,NA\n2020-01-01,true,0.5,w\n", "d date, b boolean, n numeric(18,1), x character varying", "NULL|NULL|NULL|'NA'\n2020-01-01|true|0.5|'w'\n", nulls + "d, b, n"},
		{"words for NULL alone", "", "a\nNA\n\n", "a character varying", "'NA'\nNULL\n", ""},
		{"quoted words for NULL among dates", "", "a\n\"NA\"\n2020-01-01\n2020-01-02\n", "a character varying", "'NA'\n'2020-01-01'\n'2020-01-02'\n", "line 2"},
		{"words for NULL in a declared column", "?types=a:date,b:text", "a,b\nNA,NA\n", "a date, b character varying", "NULL|'NA'\n", nulls + "a"},
		{"an empty string among numbers", "", "a,b,c\n1,\"\",\"\"\n2,3,x\n", "a bigint, b bigint, c character varying", "1|NULL|''\n2|3|'x'\n", `"" is NULL in b`},
		{"an empty string in a declared column", "?types=a:date,b:text", "a,b\n\"\",\"\"\n", "a date, b character varying", "NULL|''\n", `"" is NULL in a`},
		{"the empty string said", "?null=%22%22", "a,b\nx,NA\n\"\",2\n", "a character varying, b character varying", "'x'|'NA'\nNULL|'2'\n", "MIXED"},
		{"zeros, an E and quotes", "", "a,b,c,d\n01,1E5,\"7\",1\n", "a character varying, b character varying, c character varying, d bigint", "'01'|'1E5'|'7'|1\n",
			"numbers with zeros in front are text in a; numbers such as 1E5 are text in b; values between quotes are text in c; ?delim="},
		{"words for NULL said", "?null=-", "a,b\n-,NA\n1,x\n", "a bigint, b character varying", "NULL|'NA'\n1|'x'\n", ""},
		{"all at once", "", "1;NA\n2;3\n", "column1 bigint, column2 bigint", "1|NULL\n2|3\n", "the delimiter is ';'; " + noHeader + "; " + nulls + "column2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name, s, err := ingest.ParseLoad("t.csv" + c.options)
			if err != nil {
				t.Fatal(err)
			}
			var notes []string
			s.Data = []byte(c.text)
			tab, err := ingest.Load(context.Background(), name, s, ingest.Options{Note: func(text string) { notes = append(notes, text) }})
			if err != nil {
				t.Fatal(err)
			}
			check(t, tab)
			if typesOf(tab) != c.types || rowsOf(tab) != c.rows {
				t.Errorf("got %s\n%s\nwant %s\n%s", typesOf(tab), rowsOf(tab), c.types, c.rows)
			}
			if c.taken == "MIXED" { // see TestCSVMixed
				return
			}
			if (len(notes) > 0) != (c.taken != "") || len(notes) > 1 || len(notes) == 1 && !strings.HasPrefix(notes[0], "t.csv: "+c.taken) {
				t.Errorf("said %q, want %q", notes, c.taken)
			}
		})
	}
}

// A column that is text for the sake of some of its values is said in a line. It says which, how many, and what to write otherwise.
// Where that is not wanted, it is an error.
func TestCSVMixed(t *testing.T) {
	const typed = " behind the path makes it an error, "
	for _, c := range []struct {
		name, text string
		notes      []string
		strict     bool // it is an error where text is not to be mixed
	}{
		{"text among numbers", "a,b\n1,1\nx,2\n3,3\ny,4\n", []string{`line 3, column 1 (a): "x" is no number (2 of 4 values are none), so the column is text; ?types=a:bigint` + typed + "?types=a:text ends this note"}, true},
		{"a number among text", "a\nx\n1.5\ny\n", []string{`line 2, column 1 (a): "x" is no number (2 of 3 values are none), so the column is text; ?types=a:double` + typed + "?types=a:text ends this note"}, true},
		{"quotes around one number", "a\n1\n\"2\"\n", []string{`line 3, column 1 (a): "2" between quotes is no number (1 of 2 values is none), so the column is text; ?types=a:bigint` + typed + "?types=a:text ends this note"}, true},
		{"booleans and dates among numbers", "a,b\n1,true\n2020-01-01,5\n", []string{
			`line 3, column 1 (a): "2020-01-01" is no number (1 of 2 values is none), so the column is text; ?types=a:bigint` + typed + "?types=a:text ends this note",
			`line 2, column 2 (b): "true" is no number (1 of 2 values is none), so the column is text; ?types=b:bigint` + typed + "?types=b:text ends this note"}, true},
		{"beyond 64 bits", "a\n9223372036854775808\n1\n", []string{`line 2, column 1 (a): "9223372036854775808" is more than a type holds exactly that holds all of the column, so the column is text; ` +
			"?types=a:double behind the path rounds it, ?types=a:text ends this note"}, true},
		{"19 digits with a point", "a\n1\n1234567890123.123456\n", []string{`line 3, column 1 (a): "1234567890123.123456" is more than a type holds exactly that holds all of the column, so the column is text; ` +
			"?types=a:double behind the path rounds it, ?types=a:text ends this note"}, true},
		{"a large integer among doubles", "a\n1e-3\n9007199254740993\n", []string{`line 3, column 1 (a): "9007199254740993" is more than a type holds exactly that holds all of the column, so the column is text; ` +
			"?types=a:double behind the path rounds it, ?types=a:text ends this note"}, true},
		{"beyond a double", "a\n1e400\n", []string{`line 2, column 1 (a): "1e400" is beyond every type of numbers, so the column is text; ?types=a:double` + typed + "?types=a:text ends this note"}, true},
		{"a word among dates", "a\n2020-01-01\nx\n2020-01-02\n", []string{`line 3, column 1 (a): "x" is no date, so the column is text; ?types=a:date` + typed + "?types=a:text ends this note"}, false},
		{"no number among text", "a,b\nx,007\ntrue,y\n", nil, false},
		{"many columns", "a,b,c,d,e,f,g\n1,1,1,1,1,1,1\nx,x,x,x,x,x,x\n", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var notes []string
			tab, err := loadText(c.text, ingest.Source{}, ingest.Options{Note: func(text string) { notes = append(notes, text) }})
			if err != nil {
				t.Fatal(err)
			}
			if c.name == "many columns" {
				if len(notes) != 6 || notes[5] != "t.csv: 2 more columns are text for such reasons" {
					t.Errorf("said %q", notes)
				}
				notes = nil
			}
			for i, n := range c.notes {
				c.notes[i] = "t.csv: " + n
			}
			if !slices.Equal(notes, c.notes) {
				t.Errorf("said %q, want %q", notes, c.notes)
			}
			for _, note := range notes { // what it advises ends it
				options := regexp.MustCompile(`\?types=[a-z]:text`).FindString(note)
				_, s, err := ingest.ParseLoad("t=t.csv" + options)
				if err != nil {
					t.Fatal(err)
				}
				got, err := loadText(c.text, s, ingest.Options{Note: func(text string) {
					if len(notes) == 1 {
						t.Errorf("%s, and yet: %s", options, text)
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				equal(t, got, tab)
			}
			for _, strict := range []struct {
				s ingest.Source
				o ingest.Options
			}{{ingest.Source{Strict: true}, ingest.Options{}}, {ingest.Source{}, ingest.Options{Strict: true}}} {
				if _, err := loadText(c.text, strict.s, strict.o); (err != nil) != c.strict {
					t.Errorf("%v: %v", strict, err)
				}
			}
		})
	}
}

// Text in other encodings is read when that is said, and what is not said is told with what to write.
func TestCSVEncodings(t *testing.T) {
	wide := func(big bool, mark, text string) string {
		var b []byte
		for _, c := range utf16.Encode([]rune(mark + text)) {
			if big {
				b = append(b, byte(c>>8), byte(c))
			} else {
				b = append(b, byte(c), byte(c>>8))
			}
		}
		return string(b)
	}
	const text = "städte,n\nKöln,1\n\"Üb\",2\n"
	latin := strings.NewReplacer("ä", "\xe4", "ö", "\xf6", "Ü", "\xdc").Replace(text)
	const want = "'Köln'|1\n'Üb'|2\n"
	for _, c := range []struct{ name, text, option, rows, err string }{
		{"latin1", latin, "latin1", want, "if it is Latin-1, as older programs write, write ?encoding=latin1 behind the path"},
		{"as others write it", latin, "ISO-8859-1", want, "?encoding=latin1"},
		{"windows1252", latin + "\x80,3\n", "windows1252", want + "'€'|3\n", "?encoding=latin1"},
		{"utf16", wide(false, "\ufeff", text), "utf16", want, "line 1: the text is UTF-16; write ?encoding=utf16 behind the path"},
		{"utf16, the big end first", wide(true, "\ufeff", text), "UTF-16", want, "line 1: the text is UTF-16; write ?encoding=utf16 behind the path"},
		{"utf16 without a mark", wide(false, "", "a,b\nx,1\n"), "utf16", "'x'|1\n", "line 1: the text looks like UTF-16; write ?encoding=utf16 behind the path"},
		{"utf32", "\xff\xfe\x00\x00a\x00\x00\x00", "", "", "line 1: the text is UTF-32, which is not read: convert it to UTF-8"},
		{"utf8", text, "utf8", want, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := loadText(c.text, ingest.Source{}, ingest.Options{}); (err == nil) != (c.err == "") || err != nil && !strings.HasSuffix(err.Error(), c.err) && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, want %s", err, c.err)
			}
			if c.option == "" {
				return
			}
			_, s, err := ingest.ParseLoad("t=t.csv?encoding=" + c.option)
			if err != nil {
				t.Fatal(err)
			}
			if got := rowsOf(mustLoad(t, c.text, s)); got != c.rows {
				t.Errorf("got\n%s\nwant\n%s", got, c.rows)
			}
		})
	}
	if _, _, err := ingest.ParseLoad("t=t.csv?encoding=ebcdic"); err == nil || !strings.Contains(err.Error(), `"ebcdic" is not known: there are utf8, latin1, windows1252 and utf16`) {
		t.Errorf("%v", err)
	}
}

// Words for NULL are not NULL where null= says which are.
func TestCSVNullsSaid(t *testing.T) {
	_, err := loadText("a\n1\nNA\n", ingest.Source{Nulls: []string{""}, Strict: true}, ingest.Options{})
	want := `t.csv: line 3, column 1 (a): "NA" is not a number, but line 2 has "1"; write types=a:text among the options behind the path`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
