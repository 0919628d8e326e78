package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// A device that a statement needs in any case is being opened while its columns are read. No device is
// opened for what needs none.
func TestTheDeviceIsOpenedBesideReading(t *testing.T) {
	t.Setenv("STENCILDB_DEVICE", "")
	const never, beside, after = "never", "beside reading", "after reading"
	for _, c := range []struct{ backend, device, text, want string }{
		{"compute", "", "SELECT SUM(a) FROM t", beside},
		{"fused", "", "SELECT a FROM t WHERE b = 3", beside},
		{"classic", "", "SELECT b, COUNT(*) FROM t GROUP BY b", beside},
		{"compute", "", "SELECT COUNT(*) FROM t JOIN t AS u ON t.a = u.b", beside},
		{"compute", "", "SELECT SUM(a) FROM t LIMIT 0", never},
		{"compute", "", "SELECT a + 1 FROM t ORDER BY a LIMIT 0", never},
		{"compute", "", "SELECT COUNT(*) FROM information_schema.tables", after},
		{"compute", "", "SELECT COUNT(*) FROM t", after},
		{"compute", "", "SELECT 1", never},
		{"compute", "", "DESCRIBE t", never},
		{"compute", "", "SELECT missing FROM t", never},
		{"compute", "", "EXPLAIN SELECT SUM(a) FROM t", after},
		{"cpu", "", "SELECT SUM(a) FROM t", never},
		{"auto", "", "SELECT SUM(a) FROM t", never},
		{"auto", "software", "SELECT SUM(a) FROM t", beside},
		{"auto", "software", "SELECT MAX(a) FROM t", never},
		{"auto", "software", "SELECT a FROM t LIMIT 3", never},
	} {
		got, reading := never, false
		var db *DB
		db = open(t, Options{Backend: c.backend, Device: c.device, Progress: func(string, ingest.Progress) {
			reading = db.backends.Starting()
		}})
		db.backends.Opener = func(glctx.Options) (*backends.Devices, error) { return nil, errors.New("no device") }
		if err := db.Attach("t", ingest.Source{Path: fileOf(t, "parquet", 10)}); err != nil {
			t.Fatal(err)
		}
		_, _ = Collect(db.Query(context.Background(), c.text))
		switch {
		case reading:
			got = beside
		case db.backends.Starting():
			got = after
		}
		if got != c.want {
			t.Errorf("%s %s: %s: the device is opened %s, want %s", c.backend, c.device, c.text, got, c.want)
		}
	}
}

// A CSV is read as a whole before its columns are known. Meanwhile the device is being opened for a statement that needs
// it then, but not for one that may need none.
func TestTheDeviceIsOpenedBesideTheFirstPass(t *testing.T) {
	t.Setenv("STENCILDB_DEVICE", "")
	ctx := context.Background()
	query := func(text string, args ...any) func(*DB) {
		return func(db *DB) { _, _ = Collect(db.Query(ctx, text, args...)) }
	}
	for i, c := range []struct {
		backend, device, format string
		do                      func(*DB)
		want                    bool
	}{
		{"compute", "", "csv", query("SELECT SUM(j) FROM t"), true},
		{"classic", "", "pipe", query("SELECT SUM(j) FROM t"), true},
		{"fused", "", "csv.gz", query("SELECT SUM(j) FROM t WHERE j > $1", 3), true},
		{"auto", "software", "csv", query("SELECT SUM(j) FROM t"), true},
		{"compute", "", "csv", func(db *DB) {
			for rows, err := range db.Each(ctx, "SELECT 1; SELECT SUM(j) FROM t") {
				_, _ = Collect(rows, err)
			}
		}, true},
		{"auto", "software", "csv", query("SELECT j FROM t LIMIT 3"), false},
		{"auto", "", "csv", query("SELECT SUM(j) FROM t"), false},
		{"cpu", "", "csv", query("SELECT SUM(j) FROM t"), false},
		{"compute", "", "csv", query("DESCRIBE t"), false},
		{"compute", "", "csv", query("EXPLAIN SELECT SUM(j) FROM t"), false},
		{"compute", "", "csv", func(db *DB) { _, _ = db.Prepare(ctx, "SELECT SUM(j) FROM t") }, false},
	} {
		got, first := false, true
		var db *DB
		db = open(t, Options{Backend: c.backend, Device: c.device, Progress: func(string, ingest.Progress) {
			got, first = got || first && db.backends.Starting(), false
		}})
		db.backends.Opener = func(glctx.Options) (*backends.Devices, error) { return nil, errors.New("no device") }
		if err := db.Attach("t", ingest.Source{Path: coming(t, c.format, 10)}); err != nil {
			t.Fatal(err)
		}
		if c.do(db); got != c.want || first {
			t.Errorf("%d: %s %s: the device is being opened at the first look at the text: %v, want %v", i, c.backend, c.format, got, c.want)
		}
	}
}

// Preparing a statement reads its columns and opens no device.
func TestPreparingOpensNoDevice(t *testing.T) {
	db := open(t, Options{Backend: "compute"})
	if err := db.Attach("t", ingest.Source{Path: fileOf(t, "parquet", 10)}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Prepare(context.Background(), "SELECT SUM(a) FROM t"); err != nil || db.backends.Starting() || !db.entry("t").Table.Load().Has([]int{0}) {
		t.Errorf("%v, opening %v", err, db.backends.Starting())
	}
}

// An opening that fails while a file is read is the error that it is after reading.
func TestOpeningFailsBesideReading(t *testing.T) {
	failed := errors.New("no device")
	for _, prepared := range []bool{false, true} {
		db := open(t, Options{Backend: "compute"})
		db.backends.Opener = func(glctx.Options) (*backends.Devices, error) { return nil, failed }
		if err := db.Attach("t", ingest.Source{Path: fileOf(t, "parquet", 10)}); err != nil {
			t.Fatal(err)
		}
		const text = "SELECT SUM(a) FROM t"
		if prepared {
			if _, err := db.Prepare(context.Background(), text); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if _, err := Collect(db.Query(context.Background(), text)); !errors.Is(err, failed) || err.Error() != failed.Error() {
				t.Errorf("prepared: %v: %v", prepared, err)
			}
		}
		if err := db.SetBackend("cpu"); err != nil {
			t.Fatal(err)
		}
		if rows, err := answer(db, text); err != nil || rows[0][0].String() != "45" {
			t.Errorf("on cpu %v, %v", rows, err)
		}
	}
}

// A file that cannot be read is the statement's error, whatever comes of the device.
func TestReadingFailsBesideOpening(t *testing.T) {
	db := open(t, Options{Backend: "compute"})
	path := fileOf(t, "parquet", 10)
	if err := db.OpenFile(context.Background(), "t", ingest.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(db.Query(context.Background(), "SELECT SUM(a) FROM t")); err == nil || err.Error() != path+": the file has changed since it was opened: open it again" {
		t.Errorf("%v", err)
	}
	if err := Inspect(db).Ready(); err != nil { // and the DB's end leaves nothing on it
		t.Error(err)
	}
}

// A statement whose device is being opened while its file has been read ends with its context.
func TestOpeningBesideReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	db := open(t, Options{Backend: "compute", Progress: func(string, ingest.Progress) { cancel() }})
	opens := make(chan struct{})
	db.backends.Opener = func(glctx.Options) (*backends.Devices, error) { <-opens; return nil, errors.New("no device") }
	if err := db.Attach("t", ingest.Source{Path: fileOf(t, "parquet", 10)}); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(db.Query(ctx, "SELECT SUM(a) FROM t")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(opens)
}

// coming is a file of the columns i, with some NULLs and beyond 32 bits; j, a few
// values; x, DOUBLE; s, text. A pipe, of CSV, gives it once.
func coming(t *testing.T, format string, rows int) (path string) {
	t.Helper()
	var fields []table.Field
	for name, k := range map[string]table.Kind{"i": table.BigInt, "j": table.Integer, "s": table.Varchar, "x": table.Double} {
		fields = append(fields, table.Field{Name: name, Type: table.Type{Kind: k}})
	}
	b := table.NewBuilder("t", fields, 0)
	for row := range rows {
		for at, f := range fields {
			switch c := b.Column(at); f.Name {
			case "i":
				c.Value(table.Value{Type: f.Type, I: int64(row*7919) << 20, Null: row%11 == 3})
			case "j":
				c.Int(int64(row % 251))
			case "x":
				c.Float(float64(row%613) / 8)
			case "s":
				c.String(string(rune('a' + row%7)))
			}
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	plain, packed := strings.CutSuffix(strings.Replace(format, "pipe", "csv", 1), ".gz")
	path = filepath.Join(t.TempDir(), "t."+plain)
	if err := ingest.WriteFile(context.Background(), path, b.Table()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case packed:
		path += ".gz"
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Close(), os.WriteFile(path, zipped.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	case format == "pipe":
		path += ".pipe"
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() { _ = os.WriteFile(path, data, 0o600) }() // the answer says whether it came
	}
	return path
}

// columnsOn says what of columns is on the devices of a DB.
func columnsOn(db *DB) (list []string) {
	for _, c := range db.resident().Columns {
		list = append(list, fmt.Sprint(c))
	}
	return list
}

// When its columns have been read, all that a statement will upload of them is on the device: its
// passes upload nothing. The answers are those of cpu.
func TestColumnsAreUploadedBesideReading(t *testing.T) {
	for _, c := range []struct{ backend, format, device, text string }{
		{"compute", "parquet", "", "SELECT SUM(i), SUM(j) FROM t WHERE j > 7"},
		{"compute", "arrow", "", "SELECT SUM(i), SUM(j), SUM(x) FROM t WHERE s < 'd'"},
		{"compute", "arrow.gz", "", "SELECT SUM(i), SUM(j), SUM(x) FROM t WHERE s < 'd'"},
		{"compute", "csv", "", "SELECT SUM(i), SUM(j), SUM(x) FROM t WHERE s < 'd' AND i > 0"},
		{"compute", "csv.gz", "", "SELECT x, s FROM t WHERE j = 5 AND i IS NOT NULL"},
		{"fused", "csv", "", "SELECT SUM(j), COUNT(i) FROM t WHERE s LIKE 'a%' OR j > 200"},
		{"classic", "pipe", "", "SELECT SUM(j), MAX(i) FROM t WHERE j BETWEEN 3 AND 200"},
		{"compute", "parquet", "", "SELECT COUNT(*) FROM t WHERE i * 3 + j > 100000"},
		{"compute", "parquet", "", "SELECT SUM(j * (j + 3)), AVG(j * i) FROM t"},
		{"compute", "parquet", "", "SELECT x, s FROM t WHERE j = 5 AND i IS NOT NULL"},
		{"compute", "parquet", "", "SELECT j, COUNT(*) FROM t WHERE x > 60 GROUP BY j"},
		{"compute", "parquet", "0,1", "SELECT SUM(j), MIN(i) FROM t WHERE x < 70"},
		{"fused", "parquet", "", "SELECT SUM(j), COUNT(i) FROM t WHERE s LIKE 'a%' OR j > 200"},
		{"classic", "parquet", "", "SELECT SUM(j), MAX(i) FROM t WHERE j BETWEEN 3 AND 200"},
		{"classic", "arrow", "", "SELECT COUNT(*) FROM t WHERE j + 2 * i > 1000"},
		{"auto", "parquet", "", "SELECT SUM(j), SUM(i) FROM t WHERE j > 7"}, // cpu's
	} {
		db := open(t, Options{Backend: c.backend, Device: c.device, ChunkRows: 5000})
		if err := db.Attach("t", ingest.Source{Path: coming(t, c.format, 13_000)}); err != nil {
			t.Fatal(err)
		}
		if err := Inspect(db).Ready(); err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		s, err := db.statement(ctx, c.text, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.read(ctx, true); err != nil {
			t.Fatal(err)
		}
		beside := columnsOn(db)
		got := inWords(Collect(s.Query(ctx)))
		if after := columnsOn(db); !slices.Equal(beside, after) || (len(after) > 0) != (c.backend != "auto") {
			t.Errorf("%s: %s: on the device are after reading\n%q\nand after the query\n%q", c.backend, c.text, beside, after)
		}
		if err := db.SetBackend("cpu"); err != nil {
			t.Fatal(err)
		}
		if want := inWords(Collect(db.Query(ctx, c.text))); got != want {
			t.Errorf("%s: %s: %s, cpu has %s", c.backend, c.text, got, want)
		}
	}
}

// With auto, columns are uploaded beside reading for the backend that it chooses, once a device is open.
func TestAutoUploadsBesideReading(t *testing.T) {
	t.Setenv("STENCILDB_DEVICE", "")
	probe, err := devicepool.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	profile := readyProfile()
	profile.Key = devicepool.KeyOf(probe.Context.Caps())
	slow := profile.Backends["cpu"]
	slow.Overhead = 1
	profile.Backends["cpu"] = slow
	folder := calibrated(t, profile)
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	for _, opened := range []bool{false, true} {
		db, ctx := open(t, Options{Calibrations: folder}), context.Background()
		if err := db.Attach("t", ingest.Source{Path: coming(t, "parquet", 1000)}); err != nil {
			t.Fatal(err)
		}
		if opened {
			if err := Inspect(db).Ready(); err != nil {
				t.Fatal(err)
			}
		}
		s, err := db.statement(ctx, "SELECT SUM(j) FROM t WHERE j > 7", true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.read(ctx, true); err != nil {
			t.Fatal(err)
		}
		if r := db.resident(); (r != nil) != opened || opened && fmt.Sprint(r.Columns) != "[{t j float texture 4096}]" {
			t.Errorf("opened %v: %+v", opened, r)
		}
		if r, err := Collect(s.Query(ctx)); err != nil || r.Backend != "classic" {
			t.Errorf("opened %v: %+v, %v", opened, r, err)
		}
	}
}

// What has been uploaded of a reading that fails later is dropped. So is what was read of a column
// before that was read again.
func TestSegmentsThatAreNotOfTheTableAreDropped(t *testing.T) {
	db := open(t, Options{Backend: "compute"})
	if err := db.Attach("t", ingest.Source{Path: coming(t, "parquet", 1000)}); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s, err := db.statement(ctx, "SELECT SUM(i), SUM(j) FROM t", true)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := db.read(ctx, s.sources[0].Entry, s.sources[0].columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		read *table.Table
		want int
	}{{nil, 0}, {whole, len(s.sources[0].columns)}} {
		a := s.prefetch(ctx)
		again := whole.Renewed()
		there := a.begin(whole.Renewed())
		for _, of := range []*table.Table{again, whole} {
			for _, col := range s.sources[0].columns {
				there(0, col, of.Chunks[0].Segments[col])
			}
		}
		a.end(c.read)
		<-a.done
		g, err := Inspect(db).GPU(ctx)
		if err != nil {
			t.Fatal(err)
		}
		held := map[*table.Segment]bool{}
		for h := range g.Content.Load().Columns {
			held[h.Segment] = true
		}
		for _, col := range s.sources[0].columns {
			if held[again.Chunks[0].Segments[col]] || held[whole.Chunks[0].Segments[col]] != (c.read != nil) {
				t.Errorf("read %v: column %d is on the device", c.read != nil, col)
			}
		}
		delete(held, nil)
		if len(held) != c.want {
			t.Errorf("read %v: %d segments are on the device, want %d", c.read != nil, len(held), c.want)
		}
	}
}

// A budget too small for all columns is kept, and refuses what it refuses of columns that have been
// read before.
func TestUploadsBesideReadingKeepTheBudget(t *testing.T) {
	path := coming(t, "parquet", 100_000)
	for _, budget := range []int64{200 << 10, 400 << 10, 700 << 10, 1 << 20, 4 << 20} {
		var words []string
		for _, prepared := range []bool{false, true} {
			db := open(t, Options{Backend: "compute", GPUMemory: budget})
			if err := db.Attach("t", ingest.Source{Path: path}); err != nil {
				t.Fatal(err)
			}
			const text = "SELECT SUM(i), SUM(j), SUM(x), MEDIAN(j) FROM t WHERE s > 'b'"
			if prepared {
				if _, err := db.Prepare(context.Background(), text); err != nil {
					t.Fatal(err)
				}
			}
			words = append(words, inWords(Collect(db.Query(context.Background(), text))))
			if r := db.resident(); r == nil || r.Used > budget {
				t.Errorf("%d bytes: there are %+v", budget, r)
			}
		}
		if words[0] != words[1] {
			t.Errorf("%d bytes: %s, and of columns that have been read %s", budget, words[0], words[1])
		}
	}
}

// A statement that is cancelled while its columns are read and uploaded is back, however long the device
// is busy. The next one has the answer.
func TestUploadsBesideReadingEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	db := open(t, Options{Backend: "compute", Progress: func(_ string, p ingest.Progress) {
		if p.Done == p.Total {
			cancel()
		}
	}})
	if err := db.Attach("t", ingest.Source{Path: coming(t, "parquet", 1000)}); err != nil {
		t.Fatal(err)
	}
	g, err := Inspect(db).GPU(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	const text = "SELECT SUM(j) FROM t WHERE j < 3"
	occupied(t, g, func() {
		if _, err := Collect(db.Query(ctx, text)); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	if rows, err := answer(db, text); err != nil || rows[0][0].String() != "12" {
		t.Errorf("%v, %v", rows, err)
	}
}

// A device that fails while columns are uploaded beside reading is closed, with nothing left on it. The
// statement runs on the next one; where that fails, too, it is the statement's error.
func TestAFaultBesideReading(t *testing.T) {
	for _, faults := range []int{1, 2} {
		db := open(t, Options{Backend: "compute"})
		if err := db.Attach("t", ingest.Source{Path: coming(t, "parquet", 1000)}); err != nil {
			t.Fatal(err)
		}
		list := onGPUs(db, nil)
		real := db.backends.Opener
		db.backends.Opener = func(o glctx.Options) (*backends.Devices, error) {
			d, err := real(o)
			if err == nil && len(*list) <= faults {
				d.GPUs[0].Store.Lend = func(func() error) error { return glctx.Fault(errors.New("it fails")) }
			}
			return d, err
		}
		rows, err := answer(db, "SELECT SUM(j) FROM t WHERE j < 3")
		if faults == 1 && (err != nil || rows[0][0].String() != "12") || faults == 2 && !errors.Is(err, glctx.ErrFault) {
			t.Errorf("%d faults: %v, %v", faults, rows, err)
		}
		db.backends.AwaitLost()
		if first := (*list)[0].Context; len(*list) != 2 || len(first.Live()) > 0 || first.Do(context.Background(), func() error { return nil }) == nil {
			t.Errorf("%d faults: %d devices, left on the first: %v", faults, len(*list), first.Live())
		}
	}
}
