package engine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/ingest"
)

// asText runs a statement: its rows, with a bar between their values.
func asText(t *testing.T, db *DB, text string) (rows []string) {
	t.Helper()
	r, err := Collect(db.Query(context.Background(), text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, row := range r.Rows {
		rows = append(rows, joined(row))
	}
	return rows
}

func TestSchema(t *testing.T) {
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend})
		if rows := asText(t, db, "SHOW TABLES"); rows != nil {
			t.Errorf("the tables of an empty DB: %q", rows)
		}
		if err := db.Add(small(t)); err != nil {
			t.Fatal(err)
		}
		if rows := asText(t, db, "SELECT table_name FROM information_schema.tables"); len(rows) != 1 {
			t.Errorf("tables %q, want small", rows)
		}
		_, other, err := ingest.ParseLoad("other.csv?types=n:numeric(18,2)")
		if err != nil {
			t.Fatal(err)
		}
		other.Data = []byte("n,\"When\",void\n1.25,2001-02-03,\n")
		if err := db.Attach("Other One", other); err != nil {
			t.Fatal(err)
		}
		functions := asText(t, db, "SHOW FUNCTIONS")
		for _, want := range []string{
			"abs|abs(bigint)|bigint", "corr|corr(y, x)|aggregate", "coalesce|coalesce(any type, ...)|any type", "median|median(x)|aggregate", "now|now()|timestamp without time zone",
			"percentile_cont|percentile_cont(f) WITHIN GROUP (ORDER BY x)|aggregate", "pg_typeof|pg_typeof(any type)|character varying", "trim|trim(character varying)|character varying",
		} {
			if !slices.Contains(functions, want) {
				t.Errorf("SHOW FUNCTIONS lacks %s", want)
			}
		}
		if all := len(slices.Compact(slices.Clone(functions))); len(functions) < 150 || all < len(functions) {
			t.Errorf("%d functions, of which %d are different: %q", len(functions), all, functions)
		}
		for _, c := range []struct{ sql, want string }{
			{"SHOW TABLES", "small\nOther One"},
			{"show tables", "small\nOther One"},
			{"DESCRIBE small", "i|bigint\nd|double precision"},
			{"describe /* it */ SMALL", "i|bigint\nd|double precision"},
			{"DESCRIBE public.small", "i|bigint\nd|double precision"},
			{`DESCRIBE "Other One"`, "n|numeric(18,2)\nWhen|date\nvoid|unknown"},
			{"DESCRIBE SELECT d + 1 AS more, i FROM small LIMIT 1", "more|double precision\ni|bigint"},
			{"DESCRIBE SELECT COUNT(*), MAX(d) AS more FROM small", "count|bigint\nmore|double precision"},
			{"DESCRIBE information_schema.tables", "table_schema|character varying\ntable_name|character varying\ntable_type|character varying"},
			{"SELECT * FROM information_schema.tables", "public|small|BASE TABLE\npublic|Other One|BASE TABLE"},
			{"SELECT * FROM Information_Schema.COLUMNS", "public|small|i|1|YES|bigint|NULL|NULL\npublic|small|d|2|YES|double precision|NULL|NULL\n" +
				"public|Other One|n|1|YES|numeric|18|2\npublic|Other One|When|2|YES|date|NULL|NULL\npublic|Other One|void|3|YES|unknown|NULL|NULL"},
			{"SELECT columns.column_name FROM information_schema.columns WHERE data_type = 'date'", "When"},
			{"SELECT c.column_name FROM information_schema.columns AS c WHERE table_name = 'small' LIMIT 1 OFFSET 1", "d"},
			{"SELECT COUNT(*), MAX(ordinal_position) FROM information_schema.columns", "5|3"},
			{"SELECT MAX(i) FROM public.small", "3"},
			{"SELECT pg_typeof(d) FROM small LIMIT 1", "double precision"},
			{"SELECT pg_typeof(SUM(i)), COUNT(*) FROM small WHERE pg_typeof(i) = 'bigint'", "numeric|4"},
		} {
			if diff := cmp.Diff(c.want, strings.Join(asText(t, db, c.sql), "\n")); diff != "" {
				t.Errorf("%s on %s: %s", c.sql, backend, diff)
			}
		}
		if db.snapshots.Len() != 0 {
			t.Errorf("%d snapshots in use", db.snapshots.Len())
		}
	}
}

// A file that cannot be read is an error of what needs its columns, and of nothing else.
func TestSchemaOfABrokenFile(t *testing.T) {
	db := openSmall(t)
	if err := db.Attach("broken", ingest.Source{Path: "broken.csv", Data: []byte("a,a\n1,2,3\n")}); err != nil {
		t.Fatal(err)
	}
	if rows := asText(t, db, "SELECT table_name FROM information_schema.tables"); len(rows) != 2 {
		t.Errorf("%q", rows)
	}
	asText(t, db, "DESCRIBE small")
	for _, text := range []string{"DESCRIBE broken", "SELECT * FROM information_schema.columns"} {
		if _, err := Collect(db.Query(context.Background(), text)); err == nil || !strings.Contains(err.Error(), "broken.csv") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := db.Add(small(t)); err == nil {
		t.Error("two tables of one name")
	}
	if err := db.Attach("information_schema.tables", ingest.Source{}); err == nil {
		t.Error("a table in the place of one of information_schema")
	}
}

// The columns of a table that no statement has named yet are names where a text names the table. They are not if reading
// its file lasts longer than it may.
func TestNamesOfATableThatIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "late.csv")
	if err := os.WriteFile(path, []byte("mass,height\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, Options{})
	if err := db.Attach("late", ingest.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		text string
		want []string
	}{
		{t.Context(), "SELECT ", []string{"late"}},
		{ended, "SELECT FROM late", []string{"late"}},
		{t.Context(), "SELECT FROM Late WHERE ", []string{"late", "mass", "height"}},
		{t.Context(), "SELECT ", []string{"late", "mass", "height"}},
	} {
		n := db.Names(c.ctx, c.text)
		if got := append(n.Tables, n.Columns["late"]...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
