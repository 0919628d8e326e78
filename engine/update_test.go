package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// UPDATEs that a device does leave what those of the host leave, on the device and in host memory. The device's aggregates do not wait
// for the host. Tables have several chunks and types, open cursors, deleted rows, and values that need another code space.
func TestUpdatesOnADevice(t *testing.T) {
	ctx := context.Background()
	open := func(backend string) *DB {
		db, err := Open(Options{Backend: backend, Calibrations: t.TempDir(), ChunkRows: 3000})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		db.updates.Store(true)
		return db
	}
	dbs := []*DB{open("cpu"), open("compute")}
	done, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		number := func(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, label) }
		both := func(text string) {
			var answers [2]string
			for i, db := range dbs {
				answers[i] = said(Collect(db.Query(ctx, text)))
			}
			if answers[0] != answers[1] {
				t.Fatalf("%s: compute gives %s, cpu %s", text, answers[1], answers[0])
			}
		}
		both("DROP TABLE IF EXISTS t")
		both(fmt.Sprintf(`CREATE TABLE t AS SELECT g AS k, (g * 7919 %% 1000)::%s AS v, (g %% 200 - %d)::%s AS s, DATE '2020-01-01' + g::int %% 500 AS d, g * 3000000007 AS w, (g %% 100 / 10.0)::decimal(8,2) AS m,
			g / 7.0::double precision AS f, CASE WHEN g %% 7 > 0 THEN g END AS n, 'x' || g %% 5 AS x FROM generate_series(1, %d) AS q (g)`,
			rapid.SampledFrom([]string{"bigint", "integer"}).Draw(t, "type"), number("least", 0, 150), rapid.SampledFrom([]string{"smallint", "integer"}).Draw(t, "small"), number("rows", 1, 12_000)))
		ask := func() {
			both("SELECT COUNT(*), SUM(v), MIN(v), MAX(v), SUM(w), MIN(d), MAX(d), SUM(m) FROM t WHERE v < 400 AND s > 3")
			both("SELECT COUNT(*), SUM(s), MIN(s), MEDIAN(w), MAX(w), MEDIAN(v) FROM t")
		}
		for range number("changes", 1, 8) {
			var cursor *Rows
			if number("a cursor", 0, 3) == 0 {
				var err error
				if cursor, err = dbs[1].Query(ctx, "SELECT k, v FROM t WHERE v < 900"); err != nil {
					t.Fatal(err)
				}
				cursor.Next()
			}
			if number("delete", 0, 6) == 0 {
				both(fmt.Sprintf("DELETE FROM t WHERE k %% 10 = %d", number("deleted", 0, 9)))
			}
			set := rapid.SampledFrom([]string{"v = v + 1", "v = k % 1000", "v = v - 300", "v = 5", "s = s + 3::smallint", "s = -s", "d = d + 40", "d = DATE '1999-12-31'", "w = w * 2", "w = k - 3 * w", "w = w + 5000000000000",
				"m = m + 1.25", "m = m * 2", "v = s, s = 7", "w = k, k = w", "v = s, s = v", "v = v / (s + 200)", "v = v / s", "v = n", "n = v", "w = k * 9000000000000000", "f = f + 1", "x = 'x2'", "v = w", "k = k + 100", "w = 9223372036854775807"}).Draw(t, "set")
			mod := number("of", 1, 60)
			where := rapid.SampledFrom([]string{"", fmt.Sprintf(" WHERE k %% %d = %d", mod, number("rest", 0, mod-1)), fmt.Sprintf(" WHERE v < %d", number("below", 0, 1000)), " WHERE x = 'x1' AND n IS NOT NULL", " WHERE 10 / (s - 1) > 2", " WHERE k > 2000 AND k < 2010"}).Draw(t, "where")
			text := "UPDATE t SET " + set + where
			var said [2]string
			for i, db := range dbs {
				st, err := db.Exec(ctx, text)
				said[i] = fmt.Sprint(st.Changed, err != nil)
				if i == 0 {
					continue
				}
				if st.Backend == "compute" && err == nil && st.Changed > 0 {
					done++
				} else {
					left++
				}
			}
			if said[0] != said[1] {
				t.Fatalf("%s: compute changes %s, cpu %s", text, said[1], said[0])
			}
			if number("ask", 0, 2) > 0 {
				ask()
			}
			if cursor != nil {
				if err := cursor.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		ask()
		both("SELECT * FROM t ORDER BY k, v, w")
		now := dbs[1].entry("t").Table.Load()
		if err := now.Check(); err != nil {
			t.Fatal(err)
		}
	})
	if (done == 0 || left == 0) && !testing.Short() { // which is too few to see both
		t.Errorf("the device did %d UPDATEs, the host %d", done, left)
	}
}

// openUpdating is a DB on compute whose device does UPDATEs though it is software.
func openUpdating(t *testing.T, o Options) *DB {
	o.Backend, o.Calibrations = "compute", t.TempDir()
	db, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.updates.Store(true)
	return db
}

// What an UPDATE on a device made is there when it is asked for next. Nothing is uploaded, and the next UPDATE needs no more of the
// device than the first.
func TestUpdatesOnADeviceSendNothing(t *testing.T) {
	ctx := context.Background()
	db := openUpdating(t, Options{})
	do(t, db, "CREATE TABLE t AS SELECT g AS k, g * 31 % 100003 AS v, CASE WHEN g % 2 = 0 THEN g END AS n, (g % 10)::decimal(3,1) AS m FROM generate_series(0, 99999) AS q (g)")
	const query = "SELECT COUNT(*), SUM(v), MEDIAN(v) FROM t WHERE v > 1000"
	sent := func() (n int64) {
		d, _, _ := db.backends.Now()
		g := d.GPUs[0]
		_ = g.Context.Do(ctx, func() error { n = g.Store.Sent(); return nil })
		return n
	}
	released := db.backends.Release // until then an UPDATE takes memory beside that of the columns before
	used := func() (n int64) {
		released()
		d, _, _ := db.backends.Now()
		return d.GPUs[0].Content.Load().Usage.Used
	}
	do(t, db, query)
	// A row may raise an error, be NULL, be too large for its type, or need many more bits.
	for text, want := range map[string]string{"UPDATE t SET v = k % 1003": "compute", "UPDATE t SET v = k WHERE 1 / k > 0": "", "UPDATE t SET v = n": "", "UPDATE t SET n = k": "",
		"UPDATE t SET m = m + 80": "compute", "UPDATE t SET m = m + 95": "", "UPDATE t SET v = k * 10000": "", "UPDATE t SET v = k RETURNING v": ""} {
		if x, err := db.Explain(ctx, text, ExplainOptions{}); err != nil || x.Plan.On != want {
			t.Errorf("%s: %v, %v", text, x, err)
		}
	}
	for range 2 { // after which one column's memory waits for the next
		released()
		do(t, db, "UPDATE t SET v = k % 1003 WHERE k % 10 = 1")
		do(t, db, query)
	}
	before, room := sent(), used()
	for i := range 3 {
		released()
		st, err := db.Exec(ctx, fmt.Sprintf("UPDATE t SET v = k %% 1003 WHERE k %% 10 = %d", 2+i))
		if err != nil || st.Backend != "compute" || st.Changed != 10000 {
			t.Fatal(st, err)
		}
		want := 0
		for k := range 100000 {
			if k%10 >= 1 && k%10 <= 2+i {
				want += k % 1003
			} else {
				want += k * 31 % 100003
			}
		}
		if got := said(Collect(db.Query(ctx, "SELECT SUM(v) FROM t"))); got != fmt.Sprint(want) {
			t.Errorf("the sum is %s, want %d", got, want)
		}
		do(t, db, query)
	}
	if n := sent() - before; n > 0 {
		t.Errorf("%d bytes were uploaded", n)
	}
	if n := used(); n > room {
		t.Errorf("%d bytes are in use after UPDATEs, %d before", n, room)
	}
}

// A transaction that is open keeps what it sees, and conflicts with UPDATEs of the same rows.
func TestUpdatesOnADeviceBesideTransactions(t *testing.T) {
	ctx := context.Background()
	db := openUpdating(t, Options{})
	do(t, db, "CREATE TABLE t AS SELECT g AS k, g AS v FROM generate_series(1, 1000) AS q (g)")
	do(t, db, "UPDATE t SET v = v + 1 WHERE k > 500") // after which the host's codes may be written to
	tx, err := db.Begin(ctx, TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "UPDATE t SET v = 0 WHERE k = 7"); err != nil {
		t.Fatal(err)
	}
	do(t, db, "UPDATE t SET v = v + 1 WHERE k < 10")
	if got := said(Collect(tx.Query(ctx, "SELECT SUM(v) FROM t"))); got != fmt.Sprint(500500+500-7) {
		t.Errorf("the transaction sees %s", got)
	}
	if err := tx.Commit(ctx); err == nil || !strings.Contains(err.Error(), "concurrent update") {
		t.Errorf("it commits: %v", err)
	}
	if got := said(Collect(db.Query(ctx, "SELECT SUM(v), COUNT(*) FROM t"))); got != fmt.Sprint(500500+500+9, "|1000") {
		t.Errorf("others see %s", got)
	}
}

// Statements that run beside UPDATEs on a device see the rows as one of these has left them. They are answered there or from the
// host's codes.
func TestUpdatesOnADeviceBesideStatements(t *testing.T) {
	ctx := context.Background()
	db := openUpdating(t, Options{ChunkRows: 20_000})
	do(t, db, "CREATE TABLE t AS SELECT g AS k, 0 AS v FROM generate_series(1, 50000) AS q (g)")
	do(t, db, "SELECT SUM(v) FROM t")
	over := make(chan struct{})
	var readers sync.WaitGroup
	for _, query := range []string{"SELECT MIN(v), MAX(v) FROM t WHERE k > 0", "SELECT MIN(v), MAX(v) FROM (SELECT v FROM t OFFSET 1) AS q", "SELECT DISTINCT v, v FROM t", "SELECT MIN(v), MAX(v) FROM t AS a JOIN (VALUES (1), (49999)) AS b (n) ON k = n"} {
		readers.Go(func() {
			for last := -1; ; {
				r, err := Collect(db.Query(ctx, query))
				if err != nil || len(r.Rows) != 1 || r.Rows[0][0].I != r.Rows[0][1].I || int(r.Rows[0][0].I) < last {
					t.Errorf("%s gives %s after %d", query, said(r, err), last)
					return
				}
				last = int(r.Rows[0][0].I)
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	for i := range 15 {
		if st, err := db.Exec(ctx, "UPDATE t SET v = v + 1"); err != nil || st.Changed != 50_000 || st.Backend != "compute" {
			t.Errorf("UPDATE %d: %v, %v", i, st, err)
		}
	}
	close(over)
	readers.Wait()
	if got := said(Collect(db.Query(ctx, "SELECT v, COUNT(*) FROM t GROUP BY v"))); got != "15|50000" {
		t.Error(got)
	}
}

// Who waits for the host's codes does so until the statement's context ends.
func TestWaitingForTheHostEnds(t *testing.T) {
	db, err := Open(Options{Backend: "compute", Calibrations: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do(t, db, "CREATE TABLE t AS SELECT g AS k, g AS v FROM generate_series(1, 1000) AS q (g)")
	t0 := db.entry("t").Table.Load()
	chunk := *t0.Chunks[0]
	chunk.Segments = []*table.Segment{chunk.Segments[0], chunk.Segments[1].Deferred(table.OrdinalInt(1), table.OrdinalInt(1000))} // that nobody writes
	db.entry("t").Table.Store(t0.With(&chunk))
	do(t, db, "SELECT SUM(k) FROM t") // reads it not
	for _, text := range []string{"SELECT v FROM t", "SELECT v, COUNT(*) FROM t GROUP BY v", "DELETE FROM t WHERE v = 3", "INSERT INTO t VALUES (1, 1)", "SELECT COUNT(*) FROM t AS a, t AS b WHERE a.v = b.k"} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		over := make(chan error, 1)
		go func() {
			_, err := Collect(db.Query(ctx, text))
			over <- err
		}()
		select {
		case err := <-over:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", text, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s waits after its context has ended", text)
		}
	}
	chunk.Segments[1].CodesWritten()
	do(t, db, "SELECT v FROM t")
}
