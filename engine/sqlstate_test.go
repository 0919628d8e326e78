package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// An error of a statement is a StatementError with a code and a place, on every backend. sqlstates.slt has the codes.
func TestSQLState(t *testing.T) {
	ctx := context.Background()
	for _, backend := range Backends() {
		db := open(t, Options{Backend: backend})
		do(t, db, "CREATE TABLE t (i integer PRIMARY KEY, n integer NOT NULL, s text CHECK (s <> 'no'))")
		do(t, db, "INSERT INTO t VALUES (1, 0, '1'), (2, 2147483647, 'x')")
		for text, code := range map[string]string{"DISCARD ALL": "0A000", "": "42601", "SELECT * FROM nothing": "42P01", "SELECT 1 / n FROM t": "22012", "INSERT INTO t VALUES (1, 1, '')": "23505"} {
			_, err := Collect(db.Query(ctx, text))
			if of := (*StatementError)(nil); !errors.As(err, &of) || of.SQLState() != code {
				t.Errorf("%s: %s: %v of type %T, want %s", backend, text, err, err, code)
			}
		}
		_, err := db.Exec(ctx, "SELECT i,\n  ü FROM t")
		of := (*StatementError)(nil)
		if !errors.As(err, &of) {
			t.Fatal(err)
		}
		if line, column := of.Position(); line != 2 || column != 3 {
			t.Errorf("%s: line %d, column %d", backend, line, column)
		}
	}
}

// What is wrong with a file has PostgreSQL's code for it, too.
func TestSQLStateOfFiles(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE t (i integer, d date)")
	for _, c := range []struct{ file, content, text, code string }{
		{"fields.csv", "i,d\n1,2026-01-01\n2\n", "SELECT * FROM 'fields.csv'", "22P04"},
		{"word.csv", "x,2026-01-01\n", "COPY t FROM 'word.csv'", "22P02"},
		{"large.csv", "99999999999,2026-01-01\n", "COPY t FROM 'large.csv'", "22003"},
		{"day.csv", "1,soon\n", "COPY t FROM 'day.csv'", "22007"},
		{"bytes.csv", "i,d\n1,\xff\n", "SELECT * FROM read_csv('bytes.csv', types => 'd:text')", "22021"},
		{"empty.csv", "", "SELECT * FROM 'empty.csv'", "22P04"},
		{"option.csv", "i\n1\n", "SELECT * FROM read_csv('option.csv', nothing => 1)", "22023"},
		{"cut.parquet", "PAR1", "SELECT * FROM 'cut.parquet'", "22P04"},
		{"text.parquet", "i\n1\n", "SELECT * FROM 'text.parquet'", "22023"},
		{"members.json", "[1]", "SELECT * FROM 'members.json'", "22P04"},
		{"", "", "COPY t FROM 'missing.csv'", "58P01"},
		{"", "", "SELECT * FROM read_csv('missing.csv')", "58P01"},
		{"", "", "SELECT * FROM 'missing.csv'", "42P01"},
		{"", "", "COPY t TO 'there.nothing'", "22023"},
	} {
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(dir)
		_, err := Collect(db.Query(ctx, c.text))
		if of := (*StatementError)(nil); !errors.As(err, &of) || of.SQLState() != c.code {
			code := ""
			if of != nil {
				code = of.SQLState()
			}
			t.Errorf("%s: %s: %v, want %s", c.text, code, err, c.code)
		}
	}
}
