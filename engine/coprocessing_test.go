package engine

import (
	"context"
	"testing"
)

// divided opens a DB whose statements compute and cpu do together, in windows of so many rows, of which compute takes a share.
func divided(t *testing.T, window int, share float64, o Options) *DB {
	t.Helper()
	o.Backend = "both"
	db := open(t, o)
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	db.opening.device.window, db.opening.device.share = window, share
	return db
}

// Every answer that compute and cpu find together is that of cpu, however the rows are divided.
func TestCoprocessingGivesTheAnswersOfCPU(t *testing.T) {
	tab := chunked(t, 6500)
	cpu := open(t, Options{Backend: "cpu"})
	if err := cpu.Add(tab); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		device string
		window int
		share  float64
	}{{"", 0, 0}, {"", 320, 0.5}, {"", 704, 0.1}, {"0,1", 640, 0.9}} {
		db := divided(t, c.window, c.share, Options{Device: c.device})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		for _, text := range askedTogether {
			for range 2 {
				r, err := Collect(db.Query(context.Background(), text))
				if got, want := inWords(r, err), inWords(Collect(cpu.Query(context.Background(), text))); got != want {
					t.Errorf("%+v: %s: %s, cpu has %s", c, text, got, want)
				}
				if err == nil && (r.Backend != "both" || len(r.Devices) == 0) {
					t.Errorf("%+v: %s: ran on %s, devices %v", c, text, r.Backend, r.Devices)
				}
			}
		}
	}
}

var askedTogether = []string{
	"SELECT COUNT(*), COUNT(i), SUM(i), AVG(i), MIN(i), MAX(i), MEDIAN(i), kth_largest(i, 17), selectivity() FROM t",
	"SELECT SUM(i), MEDIAN(i), MIN(x), MEDIAN(x), SUM(x) FROM t WHERE i * 3 < 1000 OR x > 60.5",
	"SELECT COUNT(*), MIN(i), MEDIAN(i) FROM t WHERE i > 5000",
	"SELECT SUM(i * (3 - i)), AVG(i * i), COUNT(i + 1), MEDIAN(i) FROM t WHERE x > 5",
	"SELECT COUNT(*) FROM t WHERE 100 / (i - 5) > 3",
	"SELECT kth_smallest(i, 7000) FROM t",
	"SELECT i % 100, COUNT(*), SUM(i), MAX(i) FROM t WHERE x < 60 GROUP BY i % 100",
	"SELECT i, COUNT(i) FROM t WHERE 100 / (i - 5) > 3 GROUP BY i",
	"SELECT i, SUM(i) / (i - 5) FROM t GROUP BY i",
	"SELECT i, SUM(x), COUNT(DISTINCT x) FROM t GROUP BY i",
	"SELECT 1 / (i - 17), COUNT(*) FROM t GROUP BY 1 / (i - 17)",
	"SELECT i, x FROM t WHERE x < 60",
	"SELECT i, x FROM t WHERE 100 / (i - 5) > 3",
	"SELECT i, x FROM t ORDER BY i DESC, x NULLS FIRST",
	"SELECT i, x FROM t WHERE x < 60 ORDER BY i NULLS FIRST LIMIT 600 OFFSET 20",
	"SELECT x FROM t WHERE 100 / (i - 5) > 3 ORDER BY x LIMIT 3",
	"SELECT x, i FROM t WHERE i > 500 ORDER BY x + i LIMIT 30",
}
