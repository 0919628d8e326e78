package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// copiedTypes are types of columns, and values that may be there, as SQL's casts of texts take them.
var copiedTypes = []struct {
	name   string
	values []string
}{
	{"smallint", []string{"0", "-32768", "32767"}},
	{"integer", []string{"0", "7", "-2147483648", "2147483647"}},
	{"bigint", []string{"0", "1", "-9223372036854775808", "9223372036854775807", "9007199254740993"}},
	{"numeric(6,2)", []string{"0", "-0.01", "9999.99", "12.50"}},
	{"numeric(18,0)", []string{"0", "999999999999999999", "-999999999999999999"}},
	{"numeric(18,6)", []string{"0", "999999999999.999999", "-0.000001"}},
	{"numeric(18,9)", []string{"0", "999999999.999999999", "-123456789.123456789", "0.1"}},
	{"numeric(18,18)", []string{"0", "0.123456789012345678", "-0.999999999999999999"}},
	{"real", []string{"0", "1", "1e10", "0.1", "3.4028235e38", "1e-45", "NaN", "Infinity", "-Infinity", "16777217"}},
	{"double precision", []string{"0", "1", "0.1", "1e300", "1.7976931348623157e308", "5e-324", "NaN", "Infinity", "-Infinity", "9007199254740993", "0.30000000000000004", "1e15", "123456789012345678"}},
	{"boolean", []string{"true", "false"}},
	{"date", []string{"1970-01-01", "2024-02-29", "0001-01-01", "9999-12-31", "0044-03-15 BC", "12345-06-07", "4713-01-01 BC", "5874897-12-31"}},
	{"timestamp", []string{"1970-01-01 00:00:00", "2024-02-29 23:59:59.999999", "0001-01-01 00:00:00.000001", "9999-12-31 23:59:59", "0044-03-15 12:00:00 BC", "294247-01-10 04:00:54.775807"}},
	{"text", []string{"", "NULL", "null", "NA", `\N`, "x", "0", "007", "1E5", "1.50", "-0", "nan", "Infinity", "true", "t", "yes", "2024-02-29", "2024-02-29 00:00:00", "2024-2-3", " 2024-02-29", "2024-02-29T10:00:00", "2024-02-29 10:00", "2024-02-29 10:00:00.50", "0999-01-01", "99999-01-01", "1 day", "é", "\ufeff", `"`, `""`, ",", ";", "\t", "|", "a\nb", "a\r\nb", "\r", "\n", " ", " 1 ", `\`, `\t`, "{}", "[1]", "\u0001", "\u2028", "𝄞"}},
	{"interval", []string{"0", "1 mon", "-1 year 5 days -00:00:01", "36:00:00", "1 day 12:00:00.000001", "100 years", "2562047:47:16"}},
}

// Values of every type that are written come back from every format, and in their own types where the format has these.
func TestTypesComeBack(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	ctx, dir := context.Background(), t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		var names, types []string
		var lists [][]string
		rows := rapid.IntRange(0, 4).Draw(r, "rows")
		chosen := rapid.SliceOfN(rapid.IntRange(0, len(copiedTypes)-1), 1, 4).Draw(r, "types")
		for i, k := range chosen {
			c := copiedTypes[k]
			names, types = append(names, fmt.Sprintf("c%d", i)), append(types, c.name)
			values := make([]string, rows)
			for at := range values {
				if v := rapid.SampledFrom(append(c.values, "-")).Draw(r, "value"); v == "-" {
					values[at] = "NULL::" + c.name
				} else {
					values[at] = expr.Quote(v) + "::" + c.name
				}
			}
			lists = append(lists, values)
		}
		var lines []string
		for at := range max(rows, 1) {
			var line []string
			for i := range lists {
				if rows == 0 {
					line = append(line, "NULL::"+types[i])
				} else {
					line = append(line, lists[i][at])
				}
			}
			lines = append(lines, "("+strings.Join(line, ", ")+")")
		}
		query := "SELECT * FROM (VALUES " + strings.Join(lines, ", ") + ") v(" + strings.Join(names, ", ") + ")"
		if rows == 0 {
			query += " WHERE false"
		}
		with := rapid.SampledFrom([]string{"x.parquet", "x.arrow", "x.arrow.zst", "x.arrows", "x.csv (HEADER)", "x.csv.gz (HEADER)", "x.tsv (HEADER)", "x.json", "x.ndjson", "x.jsonl.gz"}).Draw(r, "with")
		name, options, _ := strings.Cut(with, " ")
		path := filepath.Join(dir, name)
		do(t, db, "COPY ("+query+") TO "+expr.Quote(path)+" "+options)
		binary := strings.Contains(name, ".parquet") || strings.Contains(name, ".arrow")
		isJSON := strings.Contains(name, "json")
		read := &Result{}
		if isJSON && rows > 0 {
			var err error
			if read, err = Collect(db.Query(ctx, "SELECT * FROM "+expr.Quote(path))); err != nil {
				r.Fatal(err)
			}
		}
		var as, is []string
		for i, n := range names {
			from, to := n+"::"+types[i]+"::text", n+"::"+types[i]+"::text"
			if !binary && (types[i] == "numeric(18,9)" || types[i] == "numeric(18,18)") { // a column of text with more than six decimals is of doubles
				from, to = n+"::double precision::text", n+"::"+types[i]+"::double precision::text"
			}
			if isJSON && rows > 0 && types[i] == "text" && read.Columns[i].Type.Kind != table.Varchar { // strings that are all dates or timestamps are these
				to = n + "::" + read.Columns[i].Type.String() + "::text"
			}
			as, is = append(as, from), append(is, to)
		}
		want := said(Collect(db.Query(ctx, "SELECT "+strings.Join(is, ", ")+" FROM ("+query+") q")))
		from := "SELECT " + strings.Join(as, ", ") + " FROM " + expr.Quote(path)
		got := said(Collect(db.Query(ctx, from)))
		if isJSON && rows == 0 { // nothing names its columns
			if !strings.Contains(got, "object") {
				r.Fatalf("%s: %s", with, got)
			}
			return
		}
		if got != want {
			text, _ := os.ReadFile(path)
			r.Fatalf("%s\n%s: %q, want %q\n%q\n%s", query, with, got, want, text, said(Collect(db.Query(ctx, "DESCRIBE "+expr.Quote(path)))))
		}
		back, err := Collect(db.Query(ctx, "SELECT * FROM "+expr.Quote(path)))
		if err != nil {
			r.Fatal(err)
		}
		made, err := Collect(db.Query(ctx, query))
		if err != nil {
			r.Fatal(err)
		}
		for i := range names {
			of, got := made.Columns[i].Type, back.Columns[i].Type
			want := of.String()
			switch {
			case binary && of.Kind == table.Decimal: // VALUES have as many digits as there may be
				if got.Kind != of.Kind || got.Scale != of.Scale {
					r.Errorf("%s\n%s: column %d is %s, want %s", query, with, i, got, want)
				}
				continue
			case types[i] == "interval" && !strings.Contains(name, ".arrow"):
				want = "character varying"
			case !binary && (types[i] != "text" || strings.Contains(name, "json")): // strings of JSON that are all dates are dates
				continue
			}
			if got.String() != want {
				text, _ := os.ReadFile(path)
				r.Errorf("%s\n%s: column %d is %s, want %s\n%q", query, with, i, got, want, text)
			}
		}
	})
}

// Columns that a file has as text alone are told of, once each.
func TestColumnsWrittenAsText(t *testing.T) {
	var notes []string
	db := open(t, Options{Backend: "cpu", Note: func(text string) { notes = append(notes, text) }})
	dir := t.TempDir()
	const rows = "(SELECT interval '1 month' AS i, 'x' AS t, NULL AS n, 1.5 AS d FROM generate_series(1, 3))"
	const note = `column "i" is of type interval, for which the file has no type: it is written as text (where it is read, a cast makes it interval again)`
	for _, c := range []struct{ file, want string }{{"x.parquet", note}, {"x.arrow", ""}, {"x.arrows", ""}, {"x.csv", ""}, {"x.json", ""}} {
		notes = nil
		do(t, db, "COPY "+rows+" TO "+expr.Quote(filepath.Join(dir, c.file)))
		if got := strings.Join(notes, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.file, got, c.want)
		}
	}
	if got := said(Collect(db.Query(context.Background(), "SELECT DISTINCT i::interval + DATE '2024-01-31' FROM "+expr.Quote(filepath.Join(dir, "x.parquet"))))); got != "2024-02-29 00:00:00" {
		t.Errorf("read again: %s", got)
	}
}
