package engine

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stencildb/stencildb/ingest"
)

// A device that a statement needs in any case is being opened while its columns are read, and
// no device is opened for what needs none.
func TestTheDeviceIsOpenedBesideReading(t *testing.T) {
	t.Setenv("STENCILDB_DEVICE", "")
	const never, beside, after = "never", "beside reading", "after reading"
	for _, c := range []struct{ backend, device, text, want string }{
		{"compute", "", "SELECT SUM(a) FROM t", beside},
		{"fused", "", "SELECT a FROM t WHERE b = 3", beside},
		{"classic", "", "SELECT b, COUNT(*) FROM t GROUP BY b", beside},
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
			db.mu.Lock()
			defer db.mu.Unlock()
			reading = db.opening != nil
		}})
		db.opener = func(Options) (*gpus, error) { return nil, errors.New("no device") }
		if err := db.Attach("t", ingest.Source{Path: fileOf(t, "parquet", 10)}); err != nil {
			t.Fatal(err)
		}
		_, _ = Collect(db.Query(context.Background(), c.text))
		switch {
		case reading:
			got = beside
		case db.opening != nil:
			got = after
		}
		if got != c.want {
			t.Errorf("%s %s: %s: the device is opened %s, want %s", c.backend, c.device, c.text, got, c.want)
		}
	}
}

// Preparing a statement reads its columns and opens no device.
func TestPreparingOpensNoDevice(t *testing.T) {
	db := open(t, Options{Backend: "compute"})
	if err := db.Attach("t", ingest.Source{Path: fileOf(t, "parquet", 10)}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Prepare(context.Background(), "SELECT SUM(a) FROM t"); err != nil || db.opening != nil || !db.entry("t").table.Load().Has([]int{0}) {
		t.Errorf("%v, opening %v", err, db.opening)
	}
}

// An opening that fails while a file is read is the error that it is after reading.
func TestOpeningFailsBesideReading(t *testing.T) {
	failed := errors.New("no device")
	for _, prepared := range []bool{false, true} {
		db := open(t, Options{Backend: "compute"})
		db.opener = func(Options) (*gpus, error) { return nil, failed }
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
	db.opener = func(Options) (*gpus, error) { <-opens; return nil, errors.New("no device") }
	if err := db.Attach("t", ingest.Source{Path: fileOf(t, "parquet", 10)}); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(db.Query(ctx, "SELECT SUM(a) FROM t")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(opens)
}
