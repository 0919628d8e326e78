package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
)

// Intervals keep months, days and time of day apart wherever they go, and compare with 30 days a month and 24 hours a day: on
// all backends.
func TestIntervals(t *testing.T) {
	const spans = "(SELECT x, x * INTERVAL '12 hours' AS d, x * INTERVAL '1 month' AS m FROM (VALUES (1), (2), (3), (4)) v(x)) s"
	dbs := map[string]*engine.DB{}
	for _, backend := range []string{"cpu", "auto", "compute", "classic"} {
		dbs[backend] = nestedDB(t, backend)
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT MIN(d), MAX(d), SUM(d), AVG(d), median(d), COUNT(DISTINCT d) FROM " + spans, "12:00:00 48:00:00 120:00:00 30:00:00 24:00:00 4"},
		{"SELECT MIN(m), MAX(m), SUM(m), AVG(m), SUM(m + d) FROM " + spans, "1 mon 4 mons 10 mons 2 mons 15 days 10 mons 120:00:00"},
		{"SELECT MAX(d) FROM (SELECT INTERVAL '1 month' AS d UNION ALL SELECT INTERVAL '20 days') s", "1 mon"},
		{"SELECT MAX(age(t, timestamp '2024-01-31')) FROM (VALUES (timestamp '2024-03-01'), (timestamp '2024-02-01')) v(t)", "1 mon 1 day"},
		{"SELECT SUM(t - timestamp '2024-01-01') FROM (VALUES (timestamp '2024-01-02 20:00'), (timestamp '2024-01-03 21:00')) v(t)", "3 days 41:00:00"},
		{"SELECT d, COUNT(*) FROM " + spans + " GROUP BY d ORDER BY d DESC LIMIT 2", "48:00:00 1, 36:00:00 1"},
		{"SELECT DISTINCT x % 2 * INTERVAL '25 hours' AS d FROM " + spans + " ORDER BY 1", "00:00:00, 25:00:00"},
		{"SELECT x FROM " + spans + " WHERE d >= INTERVAL '1 day' AND m < INTERVAL '100 days' ORDER BY m DESC", "3, 2"},
		{"SELECT CASE WHEN x > 2 THEN d ELSE m END FROM " + spans + " ORDER BY x", "1 mon, 2 mons, 36:00:00, 48:00:00"},
		{"SELECT a.d, b.m FROM " + spans[:len(spans)-1] + "a JOIN " + spans[:len(spans)-1] + "b ON a.d = b.d + INTERVAL '12:00' ORDER BY a.d", "24:00:00 1 mon, 36:00:00 2 mons, 48:00:00 3 mons"},
		{"SELECT d, lag(m) OVER w, MAX(m) OVER w, SUM(d) OVER w FROM " + spans + " WINDOW w AS (ORDER BY d) ORDER BY x LIMIT 2", "12:00:00 NULL 1 mon 12:00:00, 24:00:00 1 mon 2 mons 36:00:00"},
		{"SELECT m, COUNT(*) OVER (ORDER BY m RANGE BETWEEN INTERVAL '1 month' PRECEDING AND CURRENT ROW) FROM " + spans + " ORDER BY x", "1 mon 1, 2 mons 2, 3 mons 2, 4 mons 2"},
		{"WITH RECURSIVE r(d) AS (SELECT INTERVAL '1 hour' UNION SELECT d * 5 FROM r WHERE d < INTERVAL '100 hours') SELECT d FROM r ORDER BY d", "01:00:00, 05:00:00, 25:00:00, 125:00:00"},
		{"SELECT (SELECT MAX(d) FROM " + spans + ") + INTERVAL '1 day'", "1 day 48:00:00"},
	} {
		for backend, db := range dbs {
			rows, err := engine.Collect(db.Query(context.Background(), c.sql))
			if err != nil {
				t.Errorf("%s on %s: %v", c.sql, backend, err)
				continue
			}
			var got []string
			for _, r := range rows.Rows {
				got = append(got, strings.Trim(fmt.Sprint(r), "[]"))
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("%s on %s:\n got %s\nwant %s", c.sql, backend, text, c.want)
			}
		}
	}
	db := dbs["cpu"]
	for _, sql := range []string{
		"SELECT d FROM (VALUES (INTERVAL '24 hours'), (INTERVAL '1 day')) v(d)",
		"SELECT INTERVAL '1 month' UNION SELECT INTERVAL '30 days'",
		"WITH RECURSIVE r(n, d) AS (SELECT 1, INTERVAL '24 hours' UNION ALL SELECT 2, INTERVAL '1 day' FROM r WHERE n = 1) SELECT d FROM r",
	} {
		rows, err := engine.Collect(db.Query(context.Background(), sql))
		if err == nil || !strings.Contains(err.Error(), "which are equal: write justify_interval(x)") {
			t.Errorf("%s: %v, %v", sql, rows, err)
		}
	}
	rows, err := engine.Collect(db.Query(context.Background(), "SELECT $1 + INTERVAL '1 day', justify_hours($1)", 36*time.Hour))
	if err != nil || fmt.Sprint(rows.Rows[0]) != "[1 day 36:00:00 1 day 12:00:00]" {
		t.Errorf("a duration is %v, %v", rows, err)
	}
	next, err := db.Query(context.Background(), "SELECT INTERVAL '36 hours', INTERVAL '1 month'")
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	var d, month time.Duration
	if next.Next(); next.Scan(&d, new(string)) != nil || d != 36*time.Hour {
		t.Errorf("36 hours are scanned as %v", d)
	}
	if err := next.Scan(&d, &month); err == nil {
		t.Errorf("a month is scanned as %v", month)
	}
}
