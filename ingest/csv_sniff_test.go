package ingest_test

import (
	"context"
	"strings"
	"testing"

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
		{"a comma in the first line", "", "a;b,c\n1;2,3\n", "a;b character varying, c bigint", "'1;2'|3\n", ""},
		{"the delimiter said", "?delim=%2C", "a;b\nx;y\n", "a;b character varying", "'x;y'\n", ""},

		{"no header", "", "1,x\n2,y\n", "column1 bigint, column2 character varying", "1|'x'\n2|'y'\n", noHeader},
		{"no header and one line", "", "1,x\n", "column1 bigint, column2 character varying", "1|'x'\n", noHeader},
		{"no header, a wider number first", "", "1.5,2020-01-01\n2,2020-01-02\n", "column1 numeric(18,1), column2 date", "1.5|2020-01-01\n2.0|2020-01-02\n", noHeader},
		{"no header, equal cells", "", "1,1,\n2,2,x\n", "column1 bigint, column2 bigint, column3 character varying", "1|1|NULL\n2|2|'x'\n", noHeader},
		{"no header, a word for NULL first", "", "NA,1\n2,2\n", "column1 bigint, column2 bigint", "NULL|1\n2|2\n", noHeader + "; " + nulls + "column1"},
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
			if (len(notes) > 0) != (c.taken != "") || len(notes) > 1 || len(notes) == 1 && !strings.HasPrefix(notes[0], "t.csv: "+c.taken) {
				t.Errorf("said %q, want %q", notes, c.taken)
			}
		})
	}
}

// Words for NULL are not NULL where null= says which are.
func TestCSVNullsSaid(t *testing.T) {
	_, err := loadText("a\n1\nNA\n", ingest.Source{Nulls: []string{""}}, ingest.Options{})
	want := `t.csv: line 3, column 1 (a): "NA" is not a number, but line 2 has "1"; write types=a:text among the options behind the path`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
