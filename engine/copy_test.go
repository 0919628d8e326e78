package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
)

// COPY TO gives files that COPY FROM reads to the same rows, in every format and form.
func TestCopiesComeBack(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE a (i int, s text, n numeric(6,2), d date, f double precision, b boolean, ts timestamp)")
	do(t, db, "CREATE TABLE b (i int, s text, n numeric(6,2), d date, f double precision, b boolean, ts timestamp)")
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		do(t, db, "TRUNCATE a, b")
		for range rapid.IntRange(0, 6).Draw(r, "rows") {
			s := rapid.OneOf(rapid.SampledFrom([]string{"", "NULL", "x", "0", `"`, ",", "a\nb", "\ufeff", `\N`, "N", "t"}), rapid.StringOfN(rapid.RuneFrom([]rune("ab,;\t\"' \r\n|N\\é")), 0, 5, -1)).Draw(r, "s")
			null := func(v string) string {
				if rapid.IntRange(0, 3).Draw(r, "null") == 0 {
					return "NULL"
				}
				return v
			}
			do(t, db, fmt.Sprintf("INSERT INTO a VALUES (%s, %s, %s, %s, %s, %s, %s)", null(fmt.Sprint(rapid.IntRange(-3, 3).Draw(r, "i"))), null(expr.Quote(s)),
				null("12.5"), null("DATE '2024-02-29'"), null(rapid.SampledFrom([]string{"0.1", "1e300", "'NaN'::double precision", "'-Infinity'::double precision"}).Draw(r, "f")), null("true"), null("TIMESTAMP '2001-02-03 04:05:06.000007'")))
		}
		with := rapid.SampledFrom([]string{"x.parquet", "x.arrow", "x.arrows", "x.csv", "x (FORMAT text)", "x.txt.gz (FORMAT text)", "x.zst (FORMAT text, NULL 'none')", "x (FORMAT text, HEADER, DELIMITER '|', NULL '-0-')", "x.csv.gz", "x.tsv", "x.csv (FORMAT csv, HEADER)", "x.csv (HEADER, DELIMITER ';', NULL 'NULL')", "x (FORMAT csv, NULL 'N')", "x (FORMAT csv, DELIMITER '|', NULL '0', ENCODING 'UTF8')", "x (FORMAT parquet)", "x.json", "x.ndjson.gz", "x.jsonl", "x.jsonlines.gz", "x (FORMAT json)"}).Draw(r, "with")
		name, options, _ := strings.Cut(with, " ")
		file := expr.Quote(filepath.Join(dir, name))
		columns, list := "", "*"
		if rapid.Bool().Draw(r, "columns") {
			columns, list = " (s, d, i, f)", "s, d, i, f"
		}
		of := "a" + columns
		if rapid.Bool().Draw(r, "query") {
			of = "(SELECT " + list + " FROM a)"
		}
		do(t, db, "COPY "+of+" TO "+file+" "+options)
		do(t, db, "COPY b"+columns+" FROM "+file+" "+options)
		want := said(Collect(db.Query(context.Background(), "SELECT "+list+" FROM a")))
		if got := said(Collect(db.Query(context.Background(), "SELECT "+list+" FROM b"))); got != want {
			r.Fatalf("%s: %q, want %q", with, got, want)
		}
	})
}

// COPY is one statement: what is wrong in the file, or breaks a rule, leaves the table and the file of before as they were.
func TestCopyIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(t.TempDir(), "db")
	db := open(t, Options{Backend: "cpu", Folder: folder})
	at := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return expr.Quote(filepath.Join(dir, name))
	}
	do(t, db, "CREATE TABLE t (a int PRIMARY KEY, b varchar(3) DEFAULT 'dd', c smallint CHECK (c > 0))")
	do(t, db, "CREATE TABLE w (x bigint, y text, z int)")
	out := expr.Quote(filepath.Join(dir, "out.csv"))
	for _, step := range []struct{ text, want string }{
		{"COPY t FROM " + at("1.csv", "1,xyz,1\n2,,\n"), ""},
		{"COPY t (c, a) FROM " + at("2.csv", "other,names\n7,3\n") + " CSV HEADER", ""},
		{"SELECT * FROM t", "1|xyz|1;2|NULL|NULL;3|dd|7"},
		{"COPY (SELECT a FROM t WHERE a = 1) TO STDOUT CSV HEADER", "1"},
		{"COPY t FROM " + at("3.csv", "4,a,1\n5,a,0\n"), `!new row for relation "t" violates check`},
		{"COPY t FROM " + at("4.csv", "4,a,1\n5,abcd,1\n"), "!value too long for type character varying(3)"},
		{"COPY t FROM " + at("5.csv", "4,a,1\n4,b,1\n"), "!duplicate key value"},
		{"COPY t FROM " + at("6.csv", "4,a,1\n1,b,1\n"), "!duplicate key value"},
		{"COPY t FROM " + at("7.csv", "4,a,1\n,b,1\n"), "!null value in column"},
		{"COPY t FROM " + at("8.csv", "4,a,1\n5,b,40000\n"), "!" + filepath.Join(dir, "8.csv") + ": line 2, column 3 (c)"},
		{"COPY t FROM " + at("9.csv", "4,a\n"), "!" + filepath.Join(dir, "9.csv") + ": line 1: 2 fields where 3 are expected"},
		{"COPY t (a, a) FROM " + at("10.csv", "4,a\n"), `!column "a" specified more than once (line 1, column 12)`},
		{"COPY t (a, nope) FROM " + at("11.csv", "4,a\n"), `!column "nope" does not exist; the columns are a, b, c (line 1, column 12)`},
		{"COPY t FROM '/nowhere/x.csv'", "!/nowhere/x.csv"},
		{"COPY w (x, y) FROM " + at("12.csv", "9,NULL\n"), ""},
		{"COPY w (y, z) TO " + expr.Quote(filepath.Join(dir, "w.parquet")), ""},
		{"COPY t FROM " + expr.Quote(filepath.Join(dir, "w.parquet")), "!the file has 2 columns, and COPY has 3"},
		{"COPY t (a, b) FROM " + expr.Quote(filepath.Join(dir, "w.parquet")), `!column "a" is of type integer but expression is of type character varying`},
		{"COPY (SELECT x, y FROM w) TO " + expr.Quote(filepath.Join(dir, "v.arrow")), ""},
		{"INSERT INTO w VALUES (3000000000)", ""},
		{"COPY w (z, y) FROM " + expr.Quote(filepath.Join(dir, "v.arrow")), ""},
		{"SELECT * FROM w", "9|NULL|NULL;3000000000|NULL|NULL;NULL|NULL|9"},
		{"COPY (SELECT x FROM w) TO " + out, ""},
		{"COPY (SELECT 1 / (x - 9) FROM w ORDER BY x DESC) TO " + out, "!division by zero"},
		{"COPY w TO " + expr.Quote(filepath.Join(dir, "nothing")), "!the extension of"},
		{"COPY w TO " + out + " (QUOTE 'x')", `!COPY's QUOTE "x" is not supported`},
		{"COPY w TO " + expr.Quote(filepath.Join(dir, "x.parquet")) + " (HEADER)", "!HEADER, DELIMITER"},
		{"COPY w TO STDOUT", "9|NULL|NULL;3000000000|NULL|NULL;NULL|NULL|9"},
		{"COPY w FROM STDIN", "!COPY FROM STDIN has no data: write them in the lines behind the semicolon"},
		{"COPY w FROM STDIN (FORMAT parquet)", "!COPY FROM STDIN takes FORMAT csv and text"},
		{"COPY w (x) FROM STDIN;\nnine\n\\.\n", "!standard input: line 1, column 1 (x)"},
		{"COPY w FROM '/dev/zero' (FORMAT text)", "!/dev/zero is a device"},
		{"COPY nope FROM " + out, `!table "nope" does not exist`},
		{"COPY w FROM " + out + " WHERE x > 1", "!WHERE is not supported"},
		{"COPY (DELETE FROM w RETURNING x) TO " + out, "!COPY takes a SELECT"},
		{"COPY w (z, y) TO " + expr.Quote(filepath.Join(dir, "w.json")), ""},
		{"SELECT count(*) FROM t", "3"},
		{"SELECT count(*) FROM w", "3"},
	} {
		got := said(Collect(db.Query(context.Background(), step.text)))
		if got != step.want && !(step.want != "" && strings.HasPrefix(got, step.want)) {
			t.Errorf("%s:\n got %s\nwant %s", step.text, got, step.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "out.csv")); err != nil || string(text) != "9\n3000000000\n\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("there are %q", left)
	}
	s := db.Session()
	defer s.Close()
	for _, text := range []string{"BEGIN", "COPY w (x) FROM " + out, "ROLLBACK", "BEGIN", "COPY w (x) FROM " + out, "COMMIT"} {
		st, err := s.Exec(context.Background(), text)
		if err != nil || strings.HasPrefix(text, "COPY") && st.Changed != 3 {
			t.Fatal(text, st.Changed, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, Options{Backend: "cpu", Folder: folder})
	if got := said(Collect(again.Query(context.Background(), "SELECT count(*), sum(x) FROM w"))); got != "6|6000000018" {
		t.Errorf("opened again, the table gives %s", got)
	}
}

// COPY FROM STDIN waits no longer than its context, and reads no more than the host memory budget.
func TestCopyOfInputThatDoesNotEnd(t *testing.T) {
	silent, w := io.Pipe()
	defer w.Close()
	for _, c := range []struct {
		in   io.Reader
		want string
	}{
		{silent, "deadline"},
		{strings.NewReader(strings.Repeat("1\n", 2<<20)), "standard input: it has more than 2.0 MiB"},
	} {
		db := open(t, Options{Backend: "cpu", Input: c.in, HostMemory: 2 << 20})
		if _, err := db.Exec(context.Background(), "CREATE TABLE t (a int)"); err != nil {
			t.Fatal(err)
		}
		wait := 10 * time.Second
		if c.in == silent {
			wait = 20 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		if _, err := db.Exec(ctx, "COPY t FROM STDIN"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		cancel()
	}
}
