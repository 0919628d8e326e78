package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// fileOf writes a table of the columns a, b and s as a file of a format.
func fileOf(t *testing.T, format string, rows int) (path string) {
	t.Helper()
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}},
		{Name: "b", Type: table.Type{Kind: table.BigInt}}, {Name: "s", Type: table.Type{Kind: table.Varchar}}}, 0)
	for i := range rows {
		b.Column(0).Int(int64(i))
		b.Column(1).Int(int64(-i))
		b.Column(2).String(string(rune('a' + i%3)))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "t."+format)
	if err := ingest.WriteFile(context.Background(), path, b.Table()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A column of a Parquet or an Arrow file is read when the first statement needs it, and once.
func TestColumnsAreReadWhenTheyAreNeeded(t *testing.T) {
	for _, format := range []string{"parquet", "arrow"} {
		t.Run(format, func(t *testing.T) { columnsAreRead(t, format) })
	}
}

func columnsAreRead(t *testing.T, format string) {
	db := open(t, Options{Backend: "cpu"})
	if err := db.Attach("t", ingest.Source{Path: fileOf(t, format, 10)}); err != nil {
		t.Fatal(err)
	}
	var before *table.Segment
	for _, c := range []struct {
		sql, want string
		read      []bool
		loads     bool
	}{
		{"SELECT COUNT(*) FROM t", "10", []bool{false, false, false}, true},
		{"SELECT COUNT(*) FROM t WHERE b < -7", "2", []bool{false, true, false}, true},
		{"SELECT COUNT(*) FROM t WHERE b < -8", "1", []bool{false, true, false}, false},
		{"SELECT s FROM t WHERE b = -2", "c", []bool{false, true, true}, true},
		{"SELECT * FROM t LIMIT 1", "0", []bool{true, true, true}, true},
	} {
		r, err := Collect(db.Query(context.Background(), c.sql))
		if err != nil || r.Rows[0][0].String() != c.want || (r.Load > 0) != c.loads {
			t.Fatalf("%s: %+v, %v", c.sql, r, err)
		}
		var read []bool
		for _, s := range firstEntry(db).Table.Load().Chunks[0].Segments {
			read = append(read, s != nil)
		}
		if !slices.Equal(read, c.read) {
			t.Errorf("%s: columns read are %v", c.sql, read)
		}
		b := firstEntry(db).Table.Load().Chunks[0].Segments[1]
		if before != nil && b != before {
			t.Errorf("%s: column b was read again", c.sql)
		}
		before = b
	}
}

// A file that is another one when a column is read later is an error, and no mixture.
func TestAFileThatChanged(t *testing.T) {
	path := fileOf(t, "parquet", 10)
	db := open(t, Options{Backend: "cpu"})
	if err := db.Attach("t", ingest.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(db.Query(context.Background(), "SELECT SUM(a) FROM t")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"SUM(b)", "MAX(b)"} { // which statistics would tell
		_, err := Collect(db.Query(context.Background(), "SELECT "+what+" FROM t"))
		if err == nil || !strings.Contains(err.Error(), path+": the file has changed since it was opened") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if r, err := Collect(db.Query(context.Background(), "SELECT SUM(a) FROM t")); err != nil || r.Rows[0][0].String() != "45" {
		t.Errorf("what was read before is gone: %+v, %v", r, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(db.Query(context.Background(), "SELECT SUM(b) FROM t")); err == nil || err.Error() != path+": no such file" {
		t.Errorf("of a file that is gone: %v", err)
	}
}

// Every statement that names a file reads what is there now, also where another one has read that before it.
func TestFileWrittenAgain(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	file := expr.Quote(filepath.Join(t.TempDir(), "x.parquet"))
	texts := []string{"SELECT a FROM " + file, "SELECT a + 10 FROM " + file, "SELECT max(a) FROM " + file + " WHERE a < 100"}
	for n := range 4 {
		do(t, db, fmt.Sprintf("COPY (SELECT %d AS a) TO %s", n, file))
		for i, text := range texts[:min(len(texts), 2+n)] {
			want := fmt.Sprint(n)
			if i == 1 {
				want = fmt.Sprint(n + 10)
			}
			if got := said(Collect(db.Query(context.Background(), text))); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
}

// A file is a table by its path, whatever its format, and read again when it has changed.
func TestFilesInFrom(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	answer := func(text, want string) {
		t.Helper()
		r, err := Collect(db.Query(context.Background(), text))
		if err != nil || len(r.Rows) != 1 || r.Rows[0][0].String() != want {
			t.Errorf("%s: %v, %v, want %s", text, r, err, want)
		}
	}
	failure := func(text, want string) {
		t.Helper()
		if _, err := Collect(db.Query(context.Background(), text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, format := range []string{"csv", "parquet", "arrow"} {
		file := fileOf(t, format, 10)
		for range 2 {
			answer("SELECT SUM(t.a) FROM '"+file+"' WHERE s IS DISTINCT FROM 'a'", "27")
		}
		answer("SELECT COUNT(*) FROM read_"+format+"('"+file+"') AS r WHERE r.b < -7", "2")
		failure("SELECT qq FROM '"+file+"'", `column "qq" does not exist`)
		answer("SELECT COUNT(*) FROM ('"+file+"' x JOIN ONLY E'"+file+"' y ON x.a = y.a)", "10")
		for _, change := range []string{"DELETE FROM '%s' WHERE a = 1", "UPDATE '%s' SET a = 1", "INSERT INTO '%s' VALUES (1)"} {
			failure(fmt.Sprintf(change, file), "files are not changed; CREATE TABLE x AS TABLE '"+file+"' makes a table that can be")
		}
	}
	if entries, _ := db.files.Entries(); len(entries) != 6 {
		t.Errorf("%d files are kept, want 6", len(entries))
	}
	answer("SELECT COUNT(*) FROM information_schema.tables", "0")

	path := filepath.Join(t.TempDir(), "x.csv")
	for _, c := range []struct{ text, want string }{{"1;2\n3;4\n", "4"}, {"10;20\n", "10"}, {"a;b\n7;20\n", "column \"column1\" does not exist"}} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.want, " ") {
			failure("SELECT SUM(column1) FROM '"+path+"'", c.want)
		} else {
			answer("SELECT SUM(column1) FROM '"+path+"'", c.want)
		}
	}
	answer("SELECT SUM(a) FROM read_csv('"+path+"', delim => ';', types => 'b:numeric(5,1)')", "7")
	answer("SELECT b FROM '"+path+"?types=b:numeric(5,1)'", "20.0")
	answer("SELECT column1 FROM read_csv('"+path+"', header => false, types => 'column1:text,column2:text') LIMIT 1", "a")
	answer("SELECT s.p || s.q FROM read_csv('"+path+"', header => false, types => 'column1:text,column2:text') s(p, q) LIMIT 1", "ab")
	// What is to be written stands where the options stand, with the types that are there.
	failure("SELECT column2 FROM read_csv('"+path+"', header => false, types => 'column1:text,column2:date')", "write types => 'column1:text,column2:text' among the arguments")
	failure("SELECT 1 FROM '"+path+"?header=false&strict=true&types=column1:numeric(5,1)'", "write types=column1:numeric(5,1),column2:text among the options behind the path")
	answer("SELECT column2 FROM '"+path+"?header=false&types=column1:numeric(5,1),column2:text' LIMIT 1", "b")
	failure("SELECT column1 FROM '"+path+"?header=false&types=column2:numeric(5,1),column1:int'", "write types=column2:numeric(5,1),column1:text among the options behind the path")
	failure("SELECT 1 FROM read_csv('"+path+"', colour => 'red')", `unknown option "colour": there are header, delim, null, types, strict and encoding (line 1, column 15)`)
	failure("SELECT 1 FROM read_csv('"+path+"', header => 'perhaps')", `option header: "perhaps" is neither true nor false`)
	failure("SELECT 1 FROM '"+path+"?delim=ab'", path+`?delim=ab: option delim: "ab" is not one ASCII character`)
	failure("SELECT 1 FROM read_parquet('"+path+"')", path+": it is text, as of CSV, and no parquet file; FROM read_csv('"+path+"') reads it, whatever its name (line 1, column 15)")
	failure("SELECT 1 FROM read_arrow('"+path+"', header => true)", "header, delim, null, types, strict and encoding are for CSV; a arrow file says these itself (line 1, column 15)")
	failure("SELECT 1 FROM read_csv('"+path+"', types => 'nocol:text')", `types: there is no column "nocol"; the columns are a, b (line 1, column 15)`)
	failure("SELECT 1\nFROM '"+path+"?foo=1'", `unknown option "foo": there are header, delim, null, types, strict and encoding (line 2, column 6)`)
	failure("SELECT 1 FROM '"+filepath.Dir(path)+"'", "is a directory: name a file")
	failure("SELECT 1 FROM '"+path+"x'", `there is no file and no table "`)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	failure("SELECT SUM(a) FROM '"+path+"'", "there is no file and no table")
}
