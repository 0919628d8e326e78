package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

func TestCSVValues(t *testing.T) {
	for _, c := range []struct{ name, text, types, rows string }{
		{"plain", "a,b\n1,2\n3,4\n", "a bigint, b bigint", "1|2\n3|4\n"},
		{"no last line break", "a\n1", "a bigint", "1\n"},
		{"CRLF", "a,b\r\n1,x\r\n", "a bigint, b character varying", "1|'x'\n"},
		{"CR at the end of the text", "a\n1\r", "a bigint", "1\n"},
		{"byte order mark", "\xef\xbb\xbfa\n1\n", "a bigint", "1\n"},
		{"quoted byte order mark is text", "\"\xef\xbb\xbfa\"\n1\n", "\ufeffa bigint", "1\n"},
		{"header only", "a,b\n", "a unknown, b unknown", ""},
		{"header only, no line break", "a,b", "a unknown, b unknown", ""},
		{"empty is NULL", "a,b\n1,\n,2\n", "a bigint, b bigint", "1|NULL\nNULL|2\n"},
		{"quoted empty is a string", "a,b\n\"\",x\n,\n", "a character varying, b character varying", "''|'x'\nNULL|NULL\n"},
		{"the word NULL is text", "a\nNULL\n\n", "a character varying", "'NULL'\nNULL\n"},
		{"blank lines of one column", "a\n\n1\n\n", "a bigint", "NULL\n1\nNULL\n"},
		{"a column without values", "a,b\n1,\n2,\n", "a bigint, b unknown", "1|NULL\n2|NULL\n"},
		{"trailing empty field at the end of the text", "a,b\n1,", "a bigint, b unknown", "1|NULL\n"},
		{"quoted line breaks are kept", "a\n\"x\r\ny\nz\"\n", "a character varying", "'x\r\ny\nz'\n"},
		{"doubled quotes", "a\n\"say \"\"hi\"\"\"\n\"\"\"\"\n", "a character varying", "'say \"hi\"'\n'\"'\n"},
		{"quoted delimiter", "a,b\n\"1,2\",3\n", "a character varying, b bigint", "'1,2'|3\n"},
		{"quoted delimiter at the end of the text", "a\n\"1,2\"", "a character varying", "'1,2'\n"},
		{"numbers between quotes are text", "a\n\"12\"\n", "a character varying", "'12'\n"},
		{"quotes around everything say nothing", "\"a\",\"b\"\n\"12\",\"x\"\n\"3\",\"4\"\n", "a bigint, b character varying", "12|'x'\n3|'4'\n"},
		{"a column whose name has quotes", "\"a\",b\n\"12\",\"3\"\n", "a bigint, b character varying", "12|'3'\n"},
		{"a name that needs its quotes", "\"a,b\",c\n\"12\",3\n", "a,b character varying, c bigint", "'12'|3\n"},
		{"a name that needs its quotes among others", "\"a,b\",\"c\"\n\"12\",\"3\"\n", "a,b bigint, c bigint", "12|3\n"},
		{"some numbers between quotes", "a\n12\n\"13\"\n", "a character varying", "'12'\n'13'\n"},
		{"an empty string among quoted numbers", "a\n\"12\"\n\"\"\n", "a character varying", "'12'\n''\n"},
		{"empty strings alone", "a\n\"\"\n\n", "a character varying", "''\nNULL\n"},
		{"empty strings among dates", "\"a\",b\n\"2020-01-02\",true\n\"\",\"\"\n", "a date, b boolean", "2020-01-02|true\nNULL|NULL\n"},
		{"empty strings among words", "a\nx\n\"\"\n", "a character varying", "'x'\n''\n"},
		{"zeros in front", "zip,n,x,y\n00501,1,-01,01.5\n10001,2,5,1\n", "zip character varying, n bigint, x character varying, y character varying", "'00501'|1|'-01'|'01.5'\n'10001'|2|'5'|'1'\n"},
		{"identifiers with an E", "a,b\n1E5,1E5\n27e1,2.5\n", "a character varying, b double precision", "'1E5'|100000\n'27e1'|2.5\n"},
		{"carriage returns end lines", "a,b\r1,2\r3,\"x\ry\"\r", "a bigint, b character varying", "1|'2'\n3|'x\ry'\n"},
		{"line ends of all kinds", "a,b\r1,2\n3,4\r\n5,6", "a bigint, b bigint", "1|2\n3|4\n5|6\n"},
		{"blank lines of several columns", "\n\r\na,b\n\n1,2\n\n\n3,4\n\n", "a bigint, b bigint", "1|2\n3|4\n"},
		{"numbers among text", "a,b,c\n1,x,1\n3,2,2020-01-01\nabc,y,2\n", "a character varying, b character varying, c character varying", "'1'|'x'|'1'\n'3'|'2'|'2020-01-01'\n'abc'|'y'|'2'\n"},
		{"beyond 64 bits", "a\n1\n9223372036854775808\n", "a character varying", "'1'\n'9223372036854775808'\n"},
		{"integers that a double does not hold", "a,b\n9007199254740993,9007199254740992\n1e3,1e3\n", "a character varying, b double precision", "'9007199254740993'|9.007199254740992e+15\n'1e3'|1000\n"},
		{"beyond a double, and below", "a,b\n1e400,1e-400\n", "a character varying, b character varying", "'1e400'|'1e-400'\n"},
		{"no date of the calendar", "a,b\n2020-01-01,4714-11-23 BC\n5874898-01-01,\n", "a character varying, b character varying", "'2020-01-01'|'4714-11-23 BC'\n'5874898-01-01'|NULL\n"},
		{"18 digits among zeros", "a\n0.000000000000123456789012345678\n12345678901234567800000000000000.0\n", "a double precision", "1.234567890123457e-13\n1.2345678901234567e+31\n"},
		{"blanks around numbers", "a,b\n 1 ,\t-2\n", "a bigint, b bigint", "1|-2\n"},
		{"blanks in text are kept", "a\n x \n", "a character varying", "' x '\n"},
		{"names without text", "a,,\n1,2,3\n", "a bigint, column2 bigint, column3 bigint", "1|2|3\n"},
		{"names that differ in case", "a,A\n1,2\n", "a bigint, A bigint", "1|2\n"},
		{"signs and zeros", "a\n+5\n-0\n0\n", "a bigint", "5\n0\n0\n"},
		{"64 bits", "a\n9223372036854775807\n-9223372036854775808\n", "a bigint", "9223372036854775807\n-9223372036854775808\n"},
		{"numeric by a point", "a\n1\n2.\n.5\n-0.0\n", "a numeric(18,1)", "1.0\n2.0\n0.5\n0.0\n"},
		{"numeric of no decimals", "a\n1.\n", "a numeric(18,0)", "1\n"},
		{"numeric of six decimals", "a\n123456789012.000000\n 1.5 \n-7.123456\n", "a numeric(18,6)", "123456789012.000000\n1.500000\n-7.123456\n"},
		{"double by a seventh decimal", "a\n1.1000000\n", "a double precision", "1.1\n"},
		{"text by a 19th digit", "a\n1234567890123.123456\n", "a character varying", "'1234567890123.123456'\n"},
		{"double by the digits of two values", "a\n1234567890123\n0.123456\n", "a double precision", "1234567890123\n0.123456\n"},
		{"double by NaN", "a\n1.5\nNaN\n", "a double precision", "1.5\nNaN\n"},
		{"double by an exponent", "a\n1\n1E3\n-2e-5\n", "a double precision", "1\n1000\n-2e-05\n"},
		{"integers beyond 64 bits among doubles", "a\n99999999999999999999\n0.5\n", "a character varying", "'99999999999999999999'\n'0.5'\n"},
		{"NaN and Infinity among numbers", "a\n1\nNaN\n-Infinity\ninf\n", "a double precision", "1\nNaN\n-Infinity\nInfinity\n"},
		{"only NaN", "a\nnan\n", "a double precision", "NaN\n"},
		{"NaN among words", "a\nnan\nNancy\n", "a character varying", "'nan'\n'Nancy'\n"},
		{"Infinity among dates", "a\ninf\n2020-01-01\n", "a character varying", "'inf'\n'2020-01-01'\n"},
		{"dates", "a\n2020-02-29\n0001-01-01\n12345-06-07\n0044-03-15 BC\n", "a date", "2020-02-29\n0001-01-01\n12345-06-07\n0044-03-15 BC\n"},
		{"no such date is text", "a\n2021-02-29\n", "a character varying", "'2021-02-29'\n"},
		{"timestamps", "a\n2020-01-02 03:04:05.678\n2020-01-02T03:04\n2020-01-02T03:04:05Z\n", "a timestamp without time zone",
			"2020-01-02 03:04:05.678\n2020-01-02 03:04:00\n2020-01-02 03:04:05\n"},
		{"dates among timestamps", "a\n2020-01-02\n2020-01-02 03:04:05\n", "a timestamp without time zone", "2020-01-02 00:00:00\n2020-01-02 03:04:05\n"},
		{"a zone is text", "a\n2020-01-02 03:04:05+02\n", "a character varying", "'2020-01-02 03:04:05+02'\n"},
		{"booleans", "a\ntrue\nFALSE\n\n", "a boolean", "true\nfalse\nNULL\n"},
		{"letters are text", "a\nt\nf\n", "a character varying", "'t'\n'f'\n"},
		{"booleans among words", "a\ntrue\nmaybe\n", "a character varying", "'true'\n'maybe'\n"},
		{"booleans among dates", "a\ntrue\n2020-01-01\n", "a character varying", "'true'\n'2020-01-01'\n"},
		{"hexadecimal and underscores are text", "a,b\n0x1F,1_000\n", "a character varying, b character varying", "'0x1F'|'1_000'\n"},
		{"lone signs and points are text", "a,b,c\n-,.,e5\n", "a character varying, b character varying, c character varying", "'-'|'.'|'e5'\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := mustLoad(t, c.text, ingest.Source{})
			if typesOf(tab) != c.types || rowsOf(tab) != c.rows {
				t.Errorf("got %s\n%s\nwant %s\n%s", typesOf(tab), rowsOf(tab), c.types, c.rows)
			}
		})
	}
}

func typeOf(t *testing.T, name string) table.Type {
	t.Helper()
	typ, err := source.ParseType(name)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestCSVDeclared(t *testing.T) {
	for _, c := range []struct{ typ, text, rows string }{
		{"text", "12\nabc\n\n\"\"\n", "'12'\n'abc'\nNULL\n''\n"},
		{"smallint", "-32768\n32767\n", "-32768\n32767\n"},
		{"int", "-2147483648\n2147483647\n", "-2147483648\n2147483647\n"},
		{"bigint", " 1 \n\n", "1\nNULL\n"},
		{"double", "1\n1e308\nnan\n-inf\n4.9e-324\n0e-999\n", "1\n1e+308\nNaN\n-Infinity\n5e-324\n0\n"},
		{"real", "0.1\n3.4028235e38\nInfinity\n", "0.1\n3.4028235e+38\nInfinity\n"},
		{"numeric(5,2)", "1\n-1.5\n999.99\n0.005\n-0.005\n0.0049\n12e1\n.5e-1\n0e999999999999\n", "1.00\n-1.50\n999.99\n0.01\n-0.01\n0.00\n120.00\n0.05\n0.00\n"},
		{"numeric(18,0)", "999999999999999999\n-999999999999999999\n000000000000000000000000000001\n", "999999999999999999\n-999999999999999999\n1\n"},
		{"numeric(18,18)", "0.999999999999999999\n1e-18\n4e-19\n5e-19\n", "0.999999999999999999\n0.000000000000000001\n0.000000000000000000\n0.000000000000000001\n"},
		{"boolean", "t\nTRUE\nyes\nY\non\n1\nfal\nn\noff\n0\n", "true\ntrue\ntrue\ntrue\ntrue\ntrue\nfalse\nfalse\nfalse\nfalse\n"},
		{"date", "1999-12-31\n", "1999-12-31\n"},
		{"timestamp", "1999-12-31\n1999-12-31 24:00:00\n1999-12-31 23:59:60\n1999-12-31 00:00:00.0000005\n1999-12-31 00:00:00.0000015\n1999-12-31 00:00:00.00000151\n1999-12-31 23:59:59.9999999\n",
			"1999-12-31 00:00:00\n2000-01-01 00:00:00\n2000-01-01 00:00:00\n1999-12-31 00:00:00\n1999-12-31 00:00:00.000002\n1999-12-31 00:00:00.000002\n2000-01-01 00:00:00\n"},
		{"timestamp", "294247-01-10 04:00:54.775807\n4714-11-24 BC\n", "294247-01-10 04:00:54.775807\n4714-11-24 00:00:00 BC\n"},
	} {
		t.Run(c.typ, func(t *testing.T) {
			tab := mustLoad(t, "a\n"+c.text, ingest.Source{Types: []ingest.ColumnType{{Name: "a", Type: typeOf(t, c.typ)}}})
			if rowsOf(tab) != c.rows || tab.Fields[0].Type != typeOf(t, c.typ) {
				t.Errorf("got %s\n%swant\n%s", typesOf(tab), rowsOf(tab), c.rows)
			}
		})
	}
}

func TestCSVOptions(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		s           ingest.Source
		types, rows string
	}{
		{"no header", "1,x\n2,y\n", ingest.Source{Header: ingest.HeaderNone}, "column1 bigint, column2 character varying", "1|'x'\n2|'y'\n"},
		{"no header, declared", "1,2\n", ingest.Source{Header: ingest.HeaderNone, Types: []ingest.ColumnType{{Name: "column2", Type: table.Type{Kind: table.Varchar}}}},
			"column1 bigint, column2 character varying", "1|'2'\n"},
		{"no header, a blank line", "\n1\n", ingest.Source{Header: ingest.HeaderNone}, "column1 bigint", "NULL\n1\n"},
		{"semicolon", "a;b\n1,5;2\n", ingest.Source{Delim: ';'}, "a character varying, b bigint", "'1,5'|2\n"},
		{"null words", "a,b\nNA,1\n-,\n\"NA\",2\n", ingest.Source{Nulls: []string{"NA", "-"}}, "a character varying, b bigint", "NULL|1\nNULL|NULL\n'NA'|2\n"},
		{"null word among numbers", "a\n1\nNA\n", ingest.Source{Nulls: []string{"NA"}}, "a bigint", "1\nNULL\n"},
		{"declared in another case", "Ab,a,B\n1,2,3\n", ingest.Source{Types: []ingest.ColumnType{{Name: "aB", Type: table.Type{Kind: table.Varchar}}, {Name: "b", Type: table.Type{Kind: table.Real}}}},
			"Ab character varying, a bigint, B real", "'1'|2|3\n"},
		{"declared without values", "a\n", ingest.Source{Types: []ingest.ColumnType{{Name: "a", Type: table.Type{Kind: table.Date}}}}, "a date", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := mustLoad(t, c.text, c.s)
			if typesOf(tab) != c.types || rowsOf(tab) != c.rows {
				t.Errorf("got %s\n%s\nwant %s\n%s", typesOf(tab), rowsOf(tab), c.types, c.rows)
			}
		})
	}
}

func TestCSVErrors(t *testing.T) {
	declared := func(typ string) ingest.Source {
		return ingest.Source{Types: []ingest.ColumnType{{Name: "a", Type: typeOf(t, typ)}}}
	}
	for _, c := range []struct {
		name, text string
		s          ingest.Source
		want       string
	}{
		{"empty", "", ingest.Source{}, "t.csv is empty: not even a header"},
		{"only a byte order mark", "\xef\xbb\xbf", ingest.Source{}, "t.csv: empty: not even a header"},
		{"only a byte order mark, no header", "\xef\xbb\xbf", ingest.Source{Header: ingest.HeaderNone}, "t.csv: empty: not even a header"},
		{"blank header", "\na\n", ingest.Source{}, "t.csv: line 1 is blank where the header should be: write ?header=false behind the path if there is none"},
		{"too few fields", "a,b\n1,2\n3\n", ingest.Source{}, "t.csv: line 3: 1 field where line 1 has 2; complete the line, or take it out; or, if \",\" is not what parts the fields, write ?delim=C behind the path"},
		{"too many fields", "a,b\n1,2,3,4\n", ingest.Source{}, "t.csv: line 2: 4 fields where line 1 has 2; write a field that has \",\" in it in double quotes; or, if \",\" is not what parts the fields, write ?delim=C behind the path"},
		{"ragged without a header", "1,2\n1\n", ingest.Source{Header: ingest.HeaderNone}, "t.csv: line 2: 1 field where line 1 has 2; complete the line, or take it out; or, if \",\" is not what parts the fields, write delim=C among the options behind the path"},
		{"ragged after quoted line breaks", "a,b\n\"x\ny\n\",2\n1\n", ingest.Source{}, "t.csv: line 5: 1 field where line 1 has 2; complete the line, or take it out; or, if \",\" is not what parts the fields, write ?delim=C behind the path"},
		{"text among numbers", "a,b\n1,2\n3,abc\n", ingest.Source{},
			`t.csv: line 3, column 2 (b): "abc" is not a number, but line 2 has "2"; write ?types=b:text behind the path`},
		{"a number among text", "a\nx\n\n1.5\n", ingest.Source{},
			`t.csv: line 4, column 1 (a): "1.5" is a number, but line 2 has "x"; write ?types=a:text behind the path`},
		{"a date among numbers", "a\n1\n2020-01-01\n", ingest.Source{},
			`t.csv: line 3, column 1 (a): "2020-01-01" is not a number, but line 2 has "1"; write ?types=a:text behind the path`},
		{"words before numbers", "a\nnan\ntrue\n1\n", ingest.Source{},
			`t.csv: line 4, column 1 (a): "1" is a number, but line 3 has "true"; write ?types=a:text behind the path`},
		{"long text in an error", "a\n1\n" + strings.Repeat("é", 100) + "\n", ingest.Source{},
			`t.csv: line 3, column 1 (a): "` + strings.Repeat("é", 20) + `"... is not a number, but line 2 has "1"; write ?types=a:text behind the path`},
		{"a name of two lines", "\"a\nb\"\n1\nx\n", ingest.Source{},
			`t.csv: line 4, column 1 ("a\nb"): "x" is not a number, but line 3 has "1"; write ?types=a%0Ab:text behind the path`},
		{"beyond 64 bits", "a\n1\n9223372036854775808\n", ingest.Source{},
			`t.csv: line 3, column 1 (a): "9223372036854775808" is more than a type holds exactly that holds all of the column; write ?types=a:double or ?types=a:text behind the path`},
		{"beyond a double", "a\n1e400\n", ingest.Source{}, `t.csv: line 2, column 1 (a): "1e400" is beyond every type of numbers; write ?types=a:text behind the path`},
		{"below a double", "a\n1e-400\n", ingest.Source{}, `t.csv: line 2, column 1 (a): "1e-400" is beyond every type of numbers; write ?types=a:text behind the path`},
		{"invalid UTF-8", "a\nx\ny\xff\n", ingest.Source{},
			`t.csv: line 3, column 1 (a): the text is not valid UTF-8; if it is Latin-1, as older programs write, write ?encoding=latin1 behind the path`},
		{"invalid UTF-8 behind much text", "a,b\n" + strings.Repeat("x,1\n", 5000) + "y\xff,2\n" + strings.Repeat("x,1\n", 5000), ingest.Source{},
			`t.csv: line 5002, column 1 (a): the text is not valid UTF-8; if it is Latin-1, as older programs write, write ?encoding=latin1 behind the path`},
		{"invalid UTF-8, declared", "a\nx\ny\xff\n", declared("text"), `t.csv: line 3, column 1 (a): the text is not valid UTF-8; if it is Latin-1, as older programs write, write encoding=latin1 among the options behind the path`},
		{"invalid UTF-8 in the header", "\xff\n", ingest.Source{}, `t.csv: line 1, column 1: the text is not valid UTF-8; if it is Latin-1, as older programs write, write ?encoding=latin1 behind the path`},
		{"UTF-16", "\xff\xfea\x00\n\x00", ingest.Source{}, "t.csv: line 1: the text is UTF-16; write ?encoding=utf16 behind the path"},
		{"open quote", "a\n1\n\"x\ny\n", ingest.Source{}, "t.csv: line 3: the quote that starts a field here is never closed"},
		{"quote inside", "a\nx\"y\n", ingest.Source{}, "t.csv: line 2: a quote inside a field that does not start with one: quote the whole field and double the quotes in it"},
		{"text after a quote", "a\n\"x\n\"y\n", ingest.Source{}, "t.csv: line 3: text after the closing quote of a field: double the quotes inside a quoted field; or, if \",\" is not what parts the fields, write ?delim=C behind the path"},
		{"declared, two such columns", "AB,Ab\n1,2\n", ingest.Source{Types: []ingest.ColumnType{{Name: "ab", Type: typeOf(t, "int")}}},
			`t.csv: types: there is no column "ab"; the columns are AB, Ab`},
		{"declared, no such column", "b,c\n1,2\n", declared("int"), `t.csv: types: there is no column "a"; the columns are b, c`},
		{"declared, not a number", "a\n1\nx\n", declared("int"), `t.csv: line 3, column 1 (a): "x" is not a number of type integer; write types=a:text among the options behind the path`},
		{"declared, a double for an integer", "a\n1.0\n", declared("bigint"), `t.csv: line 2, column 1 (a): "1.0" is not a number of type bigint; write types=a:double or types=a:text among the options behind the path`},
		{"declared, out of smallint", "a\n32768\n", declared("smallint"), `t.csv: line 2, column 1 (a): "32768" is out of range for smallint; write types=a:bigint or types=a:text among the options behind the path`},
		{"declared, out of int", "a\n-2147483649\n", declared("int"), `t.csv: line 2, column 1 (a): "-2147483649" is out of range for integer; write types=a:bigint or types=a:text among the options behind the path`},
		{"declared, out of real", "a\n1e39\n", declared("real"), `t.csv: line 2, column 1 (a): "1e39" is out of range for real; write types=a:double or types=a:text among the options behind the path`},
		{"declared, below real", "a\n1e-50\n", declared("real"), `t.csv: line 2, column 1 (a): "1e-50" is out of range for real; write types=a:double or types=a:text among the options behind the path`},
		{"declared, out of numeric", "a\n999.995\n", declared("numeric(5,2)"), `t.csv: line 2, column 1 (a): "999.995" is out of range for numeric(5,2); write types=a:numeric(18,2) or types=a:text among the options behind the path`},
		{"declared, far out of numeric", "a\n1e999999999999\n", declared("numeric(5,2)"), `t.csv: line 2, column 1 (a): "1e999999999999" is out of range for numeric(5,2); write types=a:text among the options behind the path`},
		{"declared, no date", "a\n2020-13-01\n", declared("date"), `t.csv: line 2, column 1 (a): "2020-13-01" is not a date (YYYY-MM-DD); write types=a:text among the options behind the path`},
		{"a date that no timestamp reaches", "a\n2020-01-01 01:02\n294248-01-01\n", ingest.Source{},
			`t.csv: line 3, column 1 (a): "294248-01-01" is out of range for timestamp without time zone; write ?types=a:text behind the path`},
		{"declared, beyond the timestamps", "a\n294247-01-10 04:00:54.775808\n", declared("timestamp"),
			`t.csv: line 2, column 1 (a): "294247-01-10 04:00:54.775808" is out of range for timestamp without time zone; write types=a:text among the options behind the path`},
		{"declared, a zone", "a\n2020-01-01 00:00:00+02\n", declared("timestamp"),
			`t.csv: line 2, column 1 (a): "2020-01-01 00:00:00+02" is not a timestamp without time zone (YYYY-MM-DD HH:MM:SS); write types=a:text among the options behind the path`},
		{"declared, no boolean", "a\nmaybe\n", declared("boolean"), `t.csv: line 2, column 1 (a): "maybe" is not of type boolean; write types=a:text among the options behind the path`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab, err := loadText(c.text, c.s, ingest.Options{Strict: true})
			if err == nil {
				t.Fatalf("loaded as %s\n%s", typesOf(tab), rowsOf(tab))
			}
			if err.Error() != c.want || tab != nil {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			oneLine(t, err)
			for _, hint := range regexp.MustCompile(`\?types=.*?:[^ ]+`).FindAllString(err.Error(), -1) {
				_, s, err := ingest.ParseLoad("t=t.csv" + hint)
				if err == nil {
					_, err = loadText(c.text, s, ingest.Options{Strict: true})
				}
				if err != nil {
					t.Errorf("%s does not help: %v", hint, err)
				}
			}
		})
	}
}

func TestCSVErrorFarDown(t *testing.T) {
	var b strings.Builder
	b.WriteString("origin,distance,delay\n")
	for i := range 900_000 {
		fmt.Fprintf(&b, "A,%d,1\n", i%97)
	}
	b.WriteString("B,7,abc\n")
	_, err := loadText(b.String(), ingest.Source{}, ingest.Options{Strict: true})
	want := `t.csv: line 900002, column 3 (delay): "abc" is not a number, but line 2 has "1"; write ?types=delay:text behind the path`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Chunks of every size give the same rows.
func TestCSVChunkBoundaries(t *testing.T) {
	const chunk = 5
	for _, n := range []int{0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 2*chunk + 1} {
		var b, want strings.Builder
		b.WriteString("a,b\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,s%d\n", i-3, i%4)
			fmt.Fprintf(&want, "%d|'s%d'\n", i-3, i%4)
		}
		tab, err := loadText(b.String(), ingest.Source{}, ingest.Options{ChunkRows: chunk})
		if err != nil {
			t.Fatal(err)
		}
		check(t, tab)
		if rowsOf(tab) != want.String() || len(tab.Chunks) != (n+chunk-1)/chunk {
			t.Errorf("%d rows: %d chunks\n%s", n, len(tab.Chunks), rowsOf(tab))
		}
	}
}

// A field may lie anywhere across the ends of what is read at a time.
func TestCSVBufferBoundaries(t *testing.T) {
	for pad := 256<<10 - 12; pad < 256<<10+2; pad++ {
		text := "a,b\n" + strings.Repeat("x", pad-4) + ",\"q\"\"\r\nq\"\r\nlast,\"\"\r\n"
		want := "'" + strings.Repeat("x", pad-4) + "'|'q\"\r\nq'\n'last'|''\n"
		if got := rowsOf(mustLoad(t, text, ingest.Source{})); got != want {
			t.Fatalf("pad %d: wrong rows ending %q", pad, got[len(got)-40:])
		}
	}
}

// headerKinds are what may be said of the first line.
var headerKinds = []ingest.Header{ingest.HeaderSniffed, ingest.HeaderThere, ingest.HeaderNone}

// However the text is cut into blocks, the table, or the error with its place, is the same.
func TestCSVBlocks(t *testing.T) {
	defer ingest.BlockBytes(1 << 20)
	field := rapid.OneOf(rapid.Just(""), rapid.Just("7"), rapid.Just("-1.5"), rapid.Just("NA"), rapid.Just("x"), rapid.Just("NaN"), rapid.Just("2020-01-02"),
		rapid.Just("\"a\nb,\"\"c\"\"\r\n\""), rapid.Just("\"\""), rapid.Just("\"7\""))
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 3).Draw(t, "columns")
		rows := rapid.SliceOfN(rapid.SliceOfN(field, columns, columns), 0, 30).Draw(t, "rows")
		var b strings.Builder
		first := rapid.SampledFrom([][]string{{"a", "b", "c"}, {"7", "-1.5", "9"}, {"7", "x", "NA"}}).Draw(t, "first")
		b.WriteString(strings.Join(first[:columns], ","))
		for _, row := range rows {
			b.WriteString(rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end") + strings.Join(row, ","))
		}
		text := strings.ReplaceAll(b.String(), ",", rapid.SampledFrom([]string{",", ";"}).Draw(t, "delimiter"))
		if rapid.IntRange(0, 3).Draw(t, "damaged") == 0 {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			text = text[:at] + rapid.SampledFrom([]string{"\"", ",", "\n", "\r", "\xff", "x"}).Draw(t, "damage") + text[at:]
		}
		s, o := ingest.Source{Header: rapid.SampledFrom(headerKinds).Draw(t, "header")}, ingest.Options{ChunkRows: 7}
		ingest.BlockBytes(1 << 20)
		want, wanted := loadText(text, s, o)
		ingest.BlockBytes(rapid.IntRange(4, 60).Draw(t, "block"))
		got, err := loadText(text, s, o)
		if fmt.Sprint(err) != fmt.Sprint(wanted) || wanted != nil && !strings.Contains(wanted.Error(), "line ") {
			t.Fatalf("%q: %v, want %v", text, err, wanted)
		}
		if err == nil {
			check(t, got)
			equal(t, got, want)
			samePartByPart(t, text, s, want)
		}
	})
}

// samePartByPart checks that the parts of a file of CSV text, packed or not, are the rows of a table.
func samePartByPart(t *rapid.T, text string, s ingest.Source, want *table.Table) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	data := []byte(text)
	s.Path = filepath.Join(dir, "t.csv")
	if rapid.Bool().Draw(t, "packed") {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(data)
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		data, s.Path = b.Bytes(), s.Path+".gz"
	}
	if err := os.WriteFile(s.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := ingest.Open(context.Background(), "t", s, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := &table.Table{Name: "t", Fields: f.ColumnFields()}
	same := func(c *table.Chunk) (*table.Chunk, error) { return c, nil }
	then := func(part int, c *table.Chunk) error {
		if got.Chunks = append(got.Chunks, c); c.Rows != f.Parts()[part] {
			t.Errorf("part %d has %d rows, not %d", part, c.Rows, f.Parts()[part])
		}
		for i, s := range c.Segments {
			if s.Type.Kind != table.Varchar && s.Codes.Bytes() > int(f.PartBytes(part, []int{i})) {
				t.Errorf("column %d of part %d takes %d bytes, not at most %d", i, part, s.Codes.Bytes(), f.PartBytes(part, []int{i}))
			}
		}
		return nil
	}
	if err := ingest.ConvertParts(context.Background(), f, want.All(), ingest.Options{MemoryLimit: 1 << 20}, same, then); err != nil {
		t.Fatal(err)
	}
	if len(got.Chunks) != len(f.Parts()) {
		t.Fatalf("%d parts of %d", len(got.Chunks), len(f.Parts()))
	}
	check(t, got)
	equal(t, got, want)
}

// endless is a file with one field that never ends.
type endless struct {
	head string
	size int64
	fill byte
}

func (e *endless) ReadAt(p []byte, at int64) (int, error) {
	if at >= e.size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), e.size-at)]
	n := copy(p, e.head[min(at, int64(len(e.head))):])
	for rest, done := p[n:], 0; done < len(rest); { // twice as many each time
		if rest[0] = e.fill; done > 0 {
			copy(rest[done:], rest[:done])
		}
		done = max(1, 2*done)
	}
	return len(p), nil
}

func TestCSVFieldOfAGigabyte(t *testing.T) {
	defer ingest.FieldsUpTo(ingest.FieldsUpTo(4 << 20))
	for _, c := range []struct{ head, want string }{
		{"a,b\n1,", "big.csv: line 2: a field longer than 4 MiB: is a quote missing?"},
		{"a,b\n1,\"x\n\n", "big.csv: line 2: a field longer than 4 MiB: is a quote missing?"},
		{"", "big.csv: line 1: a field longer than 4 MiB: is a quote missing?"},
	} {
		_, err := ingest.LoadFrom(context.Background(), "t", ingest.Source{Path: "big.csv"}, &endless{head: c.head, size: 1 << 30, fill: 'x'}, 1<<30, ingest.Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestCSVTooManyColumns(t *testing.T) {
	for _, header := range headerKinds {
		_, err := loadText(strings.Repeat(",", 20000), ingest.Source{Header: header}, ingest.Options{})
		if err == nil || !strings.Contains(err.Error(), "line 1: more than 16384 columns") {
			t.Errorf("got %v", err)
		}
	}
}

func TestCSVMemoryLimit(t *testing.T) {
	var b strings.Builder
	b.WriteString("a\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&b, "%d\n", i)
	}
	_, err := loadText(b.String(), ingest.Source{}, ingest.Options{MemoryLimit: 1 << 20})
	want := "t.csv: the table takes more than the 1 MiB of host memory allowed: raise --host-memory, or host_memory by SET, or load less"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := loadText(b.String(), ingest.Source{}, ingest.Options{MemoryLimit: 16 << 20}); err != nil {
		t.Error(err)
	}
}

func TestCSVCancelAndProgress(t *testing.T) {
	text := "a\n" + strings.Repeat("1\n", 1_000_000)
	ctx, cancel := context.WithCancel(context.Background())
	var last ingest.Progress
	passes := 1
	o := ingest.Options{Progress: func(p ingest.Progress) {
		if last.Done == last.Total && p.Done < last.Done { // another pass
			last = ingest.Progress{}
			passes++
		}
		if p.Done < last.Done || p.Done > p.Total || p.Rows < last.Rows {
			t.Errorf("progress went from %v to %v", last, p)
		}
		last = p
	}}
	s := ingest.Source{Path: "t.csv", Data: []byte(text)}
	if _, err := ingest.Load(ctx, "t", s, o); err != nil || passes != 2 || last != (ingest.Progress{Done: int64(len(text)), Total: int64(len(text)), Rows: 1_000_000}) {
		t.Errorf("ended at %v after %d passes, %v", last, passes, err)
	}
	o.Progress = func(ingest.Progress) { cancel() }
	if tab, err := ingest.Load(ctx, "t", s, o); !errors.Is(err, context.Canceled) || tab != nil {
		t.Errorf("a cancelled load gave %v", err)
	}
}

// Columns of a file of text are read when they are asked for, whatever the order. Each is what it is
// when all are read at once. A value that is wrong is an error of its column alone.
func TestCSVColumnsOnDemand(t *testing.T) {
	text := "7,x,NA,2.5\n8,\"a\nb\",3,NULL\n9,y,4,1e3\n"
	for _, c := range []struct {
		name, text string
		compress   bool
	}{{"header", "k,word,n,v\n" + text, false}, {"none", text, false}, {"compressed", "k,word,n,v\n" + text, true},
		{"without quotes", "k,word,n,v\n7,x,NA,2.5\r\n8,b,3,NULL\r\n9,y,4,1e3", false}} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.csv")
			data := []byte(c.text)
			if c.compress {
				path += ".gz"
				data = gz(t, data)
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			o := ingest.Options{ChunkRows: 2}
			want, err := ingest.Load(context.Background(), "t", ingest.Source{Path: path}, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, order := range [][]int{{0, 1, 2, 3}, {3, 1}, {2}, {1, 0, 1}} {
				f, err := ingest.Open(context.Background(), "t", ingest.Source{Path: path}, o)
				if err != nil {
					t.Fatal(err)
				}
				for n, col := range order {
					got, err := f.Read(context.Background(), []int{col}, o)
					if err != nil || got.Rows() != want.Rows() || !slices.Equal(got.Fields, want.Fields) {
						t.Fatalf("%v: %d rows of %v, want %d of %v", err, got.Rows(), got.Fields, want.Rows(), want.Fields)
					}
					for i, chunk := range got.Chunks {
						for field := range got.Fields {
							if slices.Contains(order[:n+1], field) != (chunk.Segments[field] != nil) {
								t.Fatalf("%v: column %d is there or not after %d", order, field, col)
							}
						}
						for row := range chunk.Rows {
							if a, b := chunk.Segments[col].Value(row), want.Chunks[i].Segments[col].Value(row); table.Compare(a, b) != 0 || a.Null != b.Null {
								t.Errorf("column %d, chunk %d, row %d: %v, want %v", col, i, row, a, b)
							}
						}
					}
				}
			}
		})
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	typ, _ := source.ParseType("integer")
	f, err := ingest.Open(context.Background(), "t", ingest.Source{Path: path, Types: []ingest.ColumnType{{Name: "b", Type: typ}}}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(context.Background(), []int{0}, ingest.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := f.Read(context.Background(), []int{1}, ingest.Options{}); err == nil || !strings.Contains(err.Error(), "line 2, column 2 (b)") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("a,b\n1,2\n3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(context.Background(), []int{1}, ingest.Options{}); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v", err)
	}
}
