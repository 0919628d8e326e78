package engine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
		for _, s := range db.entries[0].table.Load().Chunks[0].Segments {
			read = append(read, s != nil)
		}
		if !slices.Equal(read, c.read) {
			t.Errorf("%s: columns read are %v", c.sql, read)
		}
		b := db.entries[0].table.Load().Chunks[0].Segments[1]
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
	_, err := Collect(db.Query(context.Background(), "SELECT SUM(b) FROM t"))
	if err == nil || !strings.Contains(err.Error(), path+": the file has changed since it was opened") {
		t.Errorf("%v", err)
	}
	if r, err := Collect(db.Query(context.Background(), "SELECT SUM(a) FROM t")); err != nil || r.Rows[0][0].String() != "45" {
		t.Errorf("what was read before is gone: %+v, %v", r, err)
	}
}
