package engine

import (
	"context"
	"maps"
	"testing"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/table"
)

// changed is small with row 0 of chunk 0 deleted and 40 in row 0 of chunk 1's i:
// NULL-free i is 2, 40.
func changed(t *testing.T, tab *table.Table) *table.Table {
	t.Helper()
	a, err := tab.Chunks[0].Delete([]int{0})
	if err != nil {
		t.Fatal(err)
	}
	b, err := tab.Chunks[1].Assign(0, []int{0}, table.SegmentOf(tab.Fields[0].Type, table.Int(40)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return tab.With(a, b)
}

// A statement reads the snapshot that its table has when it runs, on every backend, whether it was
// prepared before or not. EXPLAIN shows that snapshot's passes.
func TestStatementsReadTheSnapshotOfTheirTable(t *testing.T) {
	const text = "SELECT COUNT(*), SUM(i), MIN(i) FROM small WHERE i > 1"
	for _, backend := range []string{"classic", "fused", "compute", "cpu", "auto"} {
		db := open(t, Options{Backend: backend})
		first := small(t)
		if err := db.Add(first); err != nil {
			t.Fatal(err)
		}
		s, err := db.Prepare(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(want ...string) {
			t.Helper()
			for range 2 {
				byText, err := Collect(db.Query(context.Background(), text))
				if err != nil {
					t.Fatal(err)
				}
				prepared, err := Collect(s.Query(context.Background()))
				if err != nil {
					t.Fatal(err)
				}
				for i, w := range want {
					if a, b := byText.Rows[0][i].String(), prepared.Rows[0][i].String(); a != w || b != w {
						t.Fatalf("%s: %s is %s, prepared %s, want %s", backend, byText.Columns[i].Name, a, b, w)
					}
				}
			}
		}
		ask("2", "5", "2")
		if err := db.replace(changed(t, first)); err != nil {
			t.Fatal(err)
		}
		ask("2", "42", "2")
		if _, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true}); err != nil {
			t.Fatal(err)
		}
		if err := db.replace(first.With()); err != nil {
			t.Fatal(err)
		}
		ask("0", "NULL", "NULL")
		if err := db.replace(first); err != nil {
			t.Fatal(err)
		}
		ask("2", "5", "2")
		if n := db.snapshots.Len(); n != 0 {
			t.Errorf("%s: %d snapshots are in use after the statements", backend, n)
		}
	}
}

// A statement that is under way keeps its snapshot.
func TestPinnedSnapshotsStay(t *testing.T) {
	db := openSmall(t)
	e := db.entry("small")
	before, unpin := db.pin(e)
	if err := db.replace(changed(t, before)); err != nil {
		t.Fatal(err)
	}
	now, unpinNow := db.pin(e)
	if now == before || now.Version != before.Version+1 || db.snapshots.InUse(before) != 1 || db.snapshots.InUse(now) != 1 {
		t.Errorf("version %d after %d, %d uses", now.Version, before.Version, db.snapshots.Len())
	}
	unpin()
	unpinNow()
	if db.snapshots.Len() != 0 {
		t.Errorf("%d snapshots in use", db.snapshots.Len())
	}
}

// What a snapshot shares with the next one stays on the device. What no snapshot has any more goes,
// but not while a statement has the old one.
func TestWhatNoSnapshotHasGoesFromTheDevice(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := open(t, Options{Backend: backend})
		first := small(t)
		if err := db.Add(first); err != nil {
			t.Fatal(err)
		}
		read := func() map[string]int64 {
			t.Helper()
			if _, err := Collect(db.Query(context.Background(), "SELECT SUM(i), COUNT(*) FROM small WHERE i > 1 AND d < 9")); err != nil {
				t.Fatal(err)
			}
			return resident(db)
		}
		before := read()
		_, unpin := db.pin(db.entry("small"))
		if err := db.replace(changed(t, first)); err != nil {
			t.Fatal(err)
		}
		read()
		db.backends.Release()
		there := db.device(t).Contents()[0].Columns
		for _, seg := range []*table.Segment{first.Chunks[0].Segments[0], first.Chunks[1].Segments[0]} {
			if !has(there, seg) {
				t.Errorf("%s: a segment of a snapshot in use has gone", backend)
			}
		}
		unpin()
		db.backends.Release()
		if there = db.device(t).Contents()[0].Columns; has(there, first.Chunks[1].Segments[0]) || !has(there, first.Chunks[0].Segments[0]) {
			t.Errorf("%s: what only the old snapshot had is there, or what the new one shares is not", backend)
		}
		if resident(db)["live"] == 0 {
			t.Errorf("%s: %v is resident", backend, resident(db))
		}
		if err := db.replace(first); err != nil {
			t.Fatal(err)
		}
		db.backends.Release()
		if after := read(); !maps.Equal(after, before) {
			t.Errorf("%s: %v is resident, before the changes it was %v", backend, after, before)
		}
		if err := db.replace(first.With()); err != nil {
			t.Fatal(err)
		}
		db.backends.Release()
		if left := resident(db); len(left) != 0 || len(db.device(t).Contents()[0].Columns) != 0 {
			t.Errorf("%s: %v is resident of an empty table", backend, left)
		}
	}
}

// device is the open device.
func (db *DB) device(t *testing.T) *backends.Devices {
	t.Helper()
	d, _, err := db.backends.Now()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func has(list map[devicepool.ResidentColumn]int64, seg *table.Segment) bool {
	for h := range list {
		if h.Segment == seg {
			return true
		}
	}
	return false
}

// resident is what is on the device of each column of small, in bytes.
func resident(db *DB) map[string]int64 {
	sum := map[string]int64{}
	for _, c := range db.resident().Columns {
		sum[c.Column] += c.Bytes
	}
	return sum
}

// A table that is renewed is uploaded again, and has the same rows.
func TestRenewedTablesAreUploadedAgain(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := open(t, Options{Backend: backend})
		if err := db.Add(small(t)); err != nil {
			t.Fatal(err)
		}
		s, err := db.Prepare(context.Background(), "SELECT SUM(i) FROM small WHERE i > 1")
		if err != nil {
			t.Fatal(err)
		}
		for round := range 3 {
			for _, again := range []bool{false, true} {
				r, err := Collect(s.Query(context.Background()))
				if err != nil || r.Rows[0][0].String() != "5" || (r.Load > 0) == again {
					t.Errorf("%s, round %d: %v, %v, want 5, and the upload once", backend, round, r, err)
				}
			}
			if err := Inspect(db).Renew("small"); err != nil {
				t.Fatal(err)
			}
		}
		if err := Inspect(db).Renew("nowhere"); err == nil {
			t.Error("a table that is not there is renewed")
		}
	}
}

func TestReplaceRefusesOtherTables(t *testing.T) {
	db := openSmall(t)
	other := small(t)
	other.Name = "other"
	if err := db.replace(other); err == nil {
		t.Error("a table that the DB does not have is replaced")
	}
	fewer := &table.Table{Name: "small", Fields: small(t).Fields[:1]}
	if err := db.replace(fewer); err == nil {
		t.Error("a table is replaced by one with other fields")
	}
}
