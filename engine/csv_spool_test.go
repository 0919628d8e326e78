package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/plantest"
)

// csvRows is how many rows [csvFile] has, csvBudget a host memory budget that few columns of [csvFile] fit, and some parts.
const csvRows, csvBudget = 60_000, 2_000_000

// csvFile is a CSV of several parts, with columns of all types that are inferred, and one of NULLs alone.
func csvFile(t *testing.T) string {
	var b bytes.Buffer
	b.WriteString("id,a,w,x,v,d,day,at,b,u,none\n")
	for row := range csvRows {
		h := int64(uint64(row) * 0x9e3779b97f4a7c15)
		a, v := fmt.Sprint(row*7919%103), []string{"red", "gre\"\"en", "blue\nsky", "NA"}[row*31%97%4]
		if row%10 == 0 {
			a = []string{"", "NULL"}[row/10%2]
		}
		fmt.Fprintf(&b, "%d,%s,%d,%g,\"%s\",%d.%02d,20%02d-%02d-1%d,2013-01-01 %02d:10:00,%t,text %d,\n", row, a, h, float64(h%1009)/16, v, h%10_000, row%100,
			row%30, 1+row%12, row%10, row%24, row%3 == 0, h%20_000)
	}
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Statements over a CSV that the budget has no room for have the types and the answers of one that fits. Its text is converted once.
func TestCSVBeyondHostMemory(t *testing.T) {
	path := csvFile(t)
	whole, small := open(t, Options{Backend: "cpu"}), open(t, Options{Backend: "cpu", HostMemory: csvBudget})
	for _, db := range []*DB{whole, small} {
		if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	same := func(t rapid.TB, text string) {
		t.Helper()
		sameBeyond(t, whole, func() *DB { return small }, text)
	}
	same(t, "DESCRIBE f")
	same(t, "SELECT COUNT(*), SUM(a), MIN(w), MAX(x), SUM(d), MAX(day), MIN(at), COUNT(none), MEDIAN(w) FROM f WHERE b")
	for _, text := range []string{"SELECT v, COUNT(*), SUM(w / 1000), MAX(u) FROM f GROUP BY v", "SELECT * FROM f WHERE a = 17 ORDER BY w, id",
		"SELECT COUNT(DISTINCT u) FROM f", "SELECT COUNT(*), SUM(p.a) FROM f p JOIN f q ON p.id = q.id + 1 WHERE p.b",
		"SELECT COUNT(*), SUM(s) FROM (SELECT u, SUM(d) AS s FROM f GROUP BY u) AS g", "SELECT id, none, v FROM '" + path + "' WHERE id % 9999 = 3"} {
		same(t, text)
	}
	columns := []string{"id", "a", "w", "x", "v", "d", "day", "at", "b", "u", "none"}
	drawn := rapid.Custom(func(t *rapid.T) string {
		column := rapid.SampledFrom(columns)
		where := rapid.SampledFrom([]string{"", " WHERE a < 20", " WHERE b OR v = 'NA'", " WHERE day > DATE '2020-01-01'", " WHERE none IS NULL"}).Draw(t, "where")
		a, b := column.Draw(t, "a"), column.Draw(t, "b")
		return rapid.SampledFrom([]string{
			fmt.Sprintf("SELECT %s, COUNT(*) FROM f%s GROUP BY %[1]s", a, where),
			fmt.Sprintf("SELECT COUNT(%s), MIN(%s), MAX(u), MAX(w) FROM f%s", a, b, where),
			fmt.Sprintf("SELECT id, %s FROM f%s ORDER BY %s, id LIMIT 50", a, where, b),
		}).Draw(t, "text")
	})
	random := plantest.Random(t)
	for range 6 {
		same(t, drawn.Example(random.Int()))
	}
	explained := fmt.Sprint(Collect(small.Query(context.Background(), "EXPLAIN ANALYZE SELECT MAX(w), MAX(u) FROM f")))
	if !strings.Contains(explained, "they are converted, once") {
		t.Errorf("EXPLAIN has %s", explained)
	}
	for _, name := range []string{"f", path} {
		e := small.entry(name)
		from := name
		if name == path {
			from = "'" + path + "'"
		}
		same(t, "SELECT MIN(id), MAX(u) FROM "+from)
		before := e.Spool.Load().Size()
		same(t, "SELECT MAX(u), MIN(id) FROM "+from)
		if e.Table.Load().Has([]int{0, 9}) || before == 0 || e.Spool.Load().Size() != before {
			t.Errorf("%s: %d bytes converted, then %d", name, before, e.Spool.Load().Size())
		}
	}
}

// A CSV that the budget has no room for, and that is wrong, is refused in the words of one that fits. So is a column that is not of
// its declared type, after rows that have been written already.
func TestWrongCSVBeyondHostMemory(t *testing.T) {
	rows := func(last string) []byte {
		return []byte("a,b\n" + strings.Repeat("1234567890,some text\n", 150_000) + last)
	}
	for _, c := range []struct{ last, types, text string }{
		{"1,2,3\n", "", "SELECT MIN(a), MAX(b) FROM f"},
		{"\"1", "", "SELECT MIN(a), MAX(b) FROM f"},
		{"x,y\n", "?types=a:bigint", "SELECT a, COUNT(*) FROM f GROUP BY a"},
		{"1,\xff\n", "?types=b:text", "SELECT b FROM f ORDER BY a"},
	} {
		path := filepath.Join(t.TempDir(), "f.csv")
		if err := os.WriteFile(path, rows(c.last), 0o600); err != nil {
			t.Fatal(err)
		}
		var errs []string
		for _, budget := range []int64{0, csvBudget} {
			db := open(t, Options{Backend: "cpu", HostMemory: budget})
			_, err := Collect(db.Query(context.Background(), strings.Replace(c.text, "FROM f", "FROM '"+path+c.types+"'", 1)))
			errs = append(errs, fmt.Sprint(err))
			if err == nil {
				t.Errorf("%q is no error", c.last)
			}
			entries, _ := db.files.Entries()
			for _, e := range entries {
				if s := e.Spool.Load(); s != nil && (s.Size() > 0 || s.File != nil) {
					t.Errorf("%q leaves %d bytes", c.last, s.Size())
				}
			}
		}
		if errs[0] != errs[1] {
			t.Errorf("%q: %s, without a budget %s", c.last, errs[1], errs[0])
		}
	}
}

// The temporary file of a CSV goes with the DB, and when the file has changed. It goes where the conversion is ended or the disk is full.
// After that the statement is answered as if nothing had been.
func TestConversionsGo(t *testing.T) {
	path := csvFile(t)
	text := "SELECT MIN(id), MAX(u), SUM(a) FROM '" + path + "'"
	db := open(t, Options{Backend: "cpu", HostMemory: csvBudget})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var open, left, writes atomic.Int64
	left.Store(200_000)
	db.temporary = func() (ingest.Temporary, error) {
		f, err := spill.CreateTemporary()
		open.Add(1)
		return smallDisk{f, &left, &open, func() {
			if writes.Add(1); left.Load() > 1<<29 {
				cancel()
			}
		}}, err
	}
	if _, err := Collect(db.Query(ctx, text)); err == nil || open.Load() != 0 || !strings.Contains(err.Error(), "no space left on device") || !strings.HasPrefix(err.Error(), "a temporary file in ") {
		t.Errorf("a full disk is %v, and %d files are open", err, open.Load())
	}
	left.Store(1 << 30)
	if _, err := Collect(db.Query(ctx, text)); !errors.Is(err, context.Canceled) {
		t.Errorf("ended, it is %v", err)
	}
	left.Store(1 << 29)
	ctx = context.Background()
	first := inWords(Collect(db.Query(ctx, text)))
	if open.Load() != 1 || !strings.HasPrefix(first, "[[0 ") {
		t.Errorf("%s, and %d files are open", first, open.Load())
	}
	before := writes.Load()
	if again := inWords(Collect(db.Query(ctx, text))); again != first || writes.Load() != before {
		t.Errorf("%s, then %s, and %d more writes", first, again, writes.Load()-before)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("-5,0,0,0,v,0,2001-01-01,2013-01-01 00:00:00,true,u,\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if now := inWords(Collect(db.Query(ctx, text))); !strings.HasPrefix(now, "[[-5 ") || open.Load() != 1 {
		t.Errorf("a row more gives %s, before %s, and %d files are open", now, first, open.Load())
	}
	if err := db.Close(); err != nil || open.Load() != 0 {
		t.Errorf("%v, and %d files are open behind a DB that is closed", err, open.Load())
	}
}

// pipeOf is a pipe through which data come once; a reader that ends early ends the writer.
func pipeOf(t *testing.T, name string, data []byte) string {
	path := filepath.Join(t.TempDir(), name)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(path, data, 0o600) }() // the answers say whether it came
	return path
}

// A CSV that comes through a pipe, and that the budget has no room for, is kept in a temporary file. It has the answers of one that
// fits. One that is small stays in memory. The file goes with the DB, and after all that ends the reading: a wrong CSV, a full disk, a
// cancel.
func TestCSVThroughAPipe(t *testing.T) {
	path := csvFile(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := open(t, Options{Backend: "cpu"})
	if err := whole.Attach("f", ingest.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	var left, open atomic.Int64
	ctx, written := context.Background(), func() {}
	piped := func(name string, data []byte) *DB {
		db, err := Open(Options{Backend: "cpu", HostMemory: csvBudget})
		if err == nil {
			err = db.Attach("f", ingest.Source{Path: pipeOf(t, name, data)})
		}
		if err != nil {
			t.Fatal(err)
		}
		left.Store(1 << 29)
		open.Store(0)
		db.temporary = func() (ingest.Temporary, error) {
			f, err := spill.CreateTemporary()
			open.Add(1)
			return smallDisk{f, &left, &open, written}, err
		}
		return db
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(text)
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"f.csv": text, "f.csv.gz": packed.Bytes()} {
		db := piped(name, data)
		for _, text := range []string{"DESCRIBE f", "SELECT COUNT(*), SUM(a), MIN(w), MAX(u), COUNT(none) FROM f WHERE b", "SELECT v, COUNT(*), SUM(w / 1000) FROM f GROUP BY v",
			"SELECT * FROM f WHERE a = 17 ORDER BY w, id", "SELECT COUNT(*), SUM(p.a) FROM f p JOIN f q ON p.id = q.id + 1 WHERE p.b"} {
			sameBeyond(t, whole, func() *DB { return db }, text)
		}
		if open.Load() == 0 {
			t.Errorf("%s: no file is open", name)
		}
		if err := db.Close(); err != nil || open.Load() != 0 {
			t.Errorf("%s: %v, and %d files are open behind a DB that is closed", name, err, open.Load())
		}
	}
	few := piped("f.csv", []byte("a,b\n"+strings.Repeat("1,x\n", csvBudget/16/4-2)))
	if got := inWords(Collect(few.Query(ctx, "SELECT COUNT(*), SUM(a) FROM f"))); got != fmt.Sprintf("[[%d %[1]d]]", csvBudget/16/4-2) || open.Load() != 0 {
		t.Errorf("of a small one %s, and %d files are open", got, open.Load())
	}
	few.Close()
	wrong := append(bytes.Clone(text), "1,2,3,4,red,6,2001-01-01,2013-01-01 00:00:00,true,u,,12\n"...)
	for _, c := range []struct {
		data   []byte
		room   int
		ended  bool
		reason string
	}{{wrong, 1 << 29, false, "12 fields where line 1 has 11"}, {text, 200_000, false, "no space left on device"}, {text, 1 << 29, true, "context canceled"}} {
		ctx, end := context.WithCancel(ctx)
		defer end()
		if written = func() {}; c.ended {
			written = end
		}
		db := piped("f.csv", c.data)
		left.Store(int64(c.room))
		if _, err := Collect(db.Query(ctx, "SELECT MIN(id), MAX(u) FROM f")); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%v, want an error with %q", err, c.reason)
		}
		if err := db.entry("f").Lock.Acquire(context.Background(), 1); err != nil || open.Load() != 0 || left.Load() == int64(c.room) { // the reading has ended
			t.Errorf("%s: %v, and %d files are open", c.reason, err, open.Load())
		}
		db.Close()
	}
}
