package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
)

// Files of CSV and JSON in statements. What COPY TO writes, FROM reads with the same types. A column without any value takes the type
// that its place needs.
func TestFilesOfTextAndTheirTypes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return expr.Quote(filepath.Join(dir, name)) }
	write := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	db := open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE z (a text, n int, d date, m numeric(5,2))")
	do(t, db, "INSERT INTO z VALUES ('007', 1, '2020-01-02', 1.5), ('1e3', 2, NULL, 2), ('NULL', NULL, NULL, NULL), ('2020-01-01', 3, NULL, 3.25), ('', 4, NULL, 4), (NULL, 5, NULL, 5)")
	const rows = "007|1|2020-01-02|1.50;1e3|2|NULL|2.00;NULL|NULL|NULL|NULL;2020-01-01|3|NULL|3.25;|4|NULL|4.00;NULL|5|NULL|5.00"
	empty := write("empty.csv", "a,n\n1,\n2,\n")
	for _, step := range []struct{ text, want string }{
		{"COPY z TO " + at("z.csv") + " (HEADER)", ""},
		{"SELECT * FROM " + at("z.csv"), rows},
		{"SELECT pg_typeof(a), pg_typeof(n), pg_typeof(d) FROM " + at("z.csv") + " LIMIT 1", "character varying|bigint|date"},
		{"COPY z TO " + at("z.json"), ""},
		{"SELECT * FROM " + at("z.json"), rows},
		{"SELECT pg_typeof(a), pg_typeof(n), pg_typeof(d) FROM read_json(" + at("z.json") + ") LIMIT 1", "character varying|bigint|date"},
		{"CREATE TABLE y (n int, A text, d date)", ""},
		{"COPY (SELECT d, a, n FROM z WHERE n = 1) TO " + at("y.ndjson"), ""},
		{"COPY y FROM " + at("y.ndjson"), ""},
		{"SELECT * FROM y", "1|007|2020-01-02"},
		{"COPY y (n, d) FROM " + at("y.ndjson"), `!` + filepath.Join(dir, "y.ndjson") + `: line 1: "a" is the name of no column`},
		{"COPY (SELECT 1 AS x, 2 AS x) TO " + at("twice.json"), ""},
		{"SELECT x, x_1 FROM " + at("twice.json"), "1|2"},
		{"COPY y (a) FROM " + write("latin.csv", "K\xf6ln\n") + " (ENCODING 'latin1')", ""},
		{"SELECT a FROM y WHERE n IS NULL", "Köln"},
		{"COPY y (a) FROM " + at("latin.csv"), "!" + filepath.Join(dir, "latin.csv") + ": line 1, column 1 (a): the text is not valid UTF-8: write ENCODING 'latin1'"},
		{"COPY y TO " + at("latin.csv") + " (ENCODING 'latin1')", `!COPY's ENCODING "latin1" is not supported: want utf8, in which files are written`},

		{"SELECT -n, n * n, n + a, a - n, n / 2 FROM " + empty + " LIMIT 1", "NULL|NULL|NULL|NULL|NULL"},
		{"SELECT pg_typeof(-n), pg_typeof(n * n), pg_typeof(n + a) FROM " + empty + " LIMIT 1", "double precision|double precision|bigint"},
		{"SELECT DATE '2020-01-01' + n, n || 'x', abs(n), round(n), upper(n) FROM " + empty + " LIMIT 1", "NULL|NULL|NULL|NULL|NULL"},
		{"SELECT SUM(n), AVG(n), MIN(n), COUNT(n), SUM(n * n) FROM " + empty, "NULL|NULL|NULL|0|NULL"},
		{"SELECT a FROM " + empty + " WHERE n IS NULL OR n > 5 ORDER BY n, a", "1;2"},
		{"SELECT NULL * NULL", "!operator is not unique"},
	} {
		got := said(Collect(db.Query(context.Background(), step.text)))
		if got != step.want && !(strings.HasPrefix(step.want, "!") && strings.HasPrefix(got, step.want)) {
			t.Errorf("%s:\n got %s\nwant %s", step.text, got, step.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "z.csv")); err != nil || !strings.HasPrefix(string(text), "a,n,d,m\n\"007\",1,2020-01-02,1.50\n\"1e3\",2,,2.00\n\"NULL\",") {
		t.Errorf("the file is %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "z.json")); err != nil || !strings.HasPrefix(string(text), `{"a":"007","n":1,"d":"2020-01-02","m":1.50}`+"\n"+`{"a":"1e3","n":2,"d":null,"m":2.00}`+"\n") {
		t.Errorf("the file is %q, %v", text, err)
	}
}
