package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
)

// Window functions give what PostgreSQL gives, where random tests do not look: on all backends.
func TestWindows(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT x, median(x) OVER (ORDER BY x) FROM (VALUES (1), (2), (4), (8)) v(x) ORDER BY 1", "1 1, 2 1, 4 2, 8 2"},
		{"SELECT x, stddev_pop(x) OVER (ORDER BY x ROWS 1 PRECEDING) FROM (VALUES (1), (3), (7)) v(x) ORDER BY 1", "1 0, 3 1, 7 2"},
		{"SELECT x, corr(x, x) OVER () FROM (VALUES (1.0), (3.0)) v(x) ORDER BY 1", "1.0 1, 3.0 1"},
		{"SELECT x, string_agg(x::text, '-') OVER (ORDER BY x DESC) FROM (VALUES (1), (2), (3)) v(x) ORDER BY 1", "1 3-2-1, 2 3-2, 3 3"},
		{"SELECT x, SUM(x) OVER w, AVG(x) OVER (w ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM (VALUES (0.5), (1.5), (2.0)) v(x) WINDOW w AS (ORDER BY x) ORDER BY x", "0.5 0.5 1, 1.5 2.0 1.75, 2.0 4.0 2"},
		{"SELECT d, COUNT(*) OVER (ORDER BY d RANGE BETWEEN INTERVAL '1 month' PRECEDING AND CURRENT ROW) FROM (VALUES (DATE '2024-01-31'), (DATE '2024-02-29'), (DATE '2024-03-30')) v(d) ORDER BY 1", "2024-01-31 1, 2024-02-29 2, 2024-03-30 2"},
		{"SELECT x, COUNT(*) OVER (ORDER BY x RANGE BETWEEN 9223372036854775807 PRECEDING AND 9223372036854775807 FOLLOWING) FROM (VALUES (-9223372036854775808), (0), (9223372036854775807)) v(x) ORDER BY 1", "-9223372036854775808 1, 0 2, 9223372036854775807 2"},
		{"SELECT x, COUNT(*) OVER (ORDER BY x RANGE BETWEEN 0.15 PRECEDING AND 0.15 FOLLOWING) FROM (VALUES (0.1), (0.2), (0.4)) v(x) ORDER BY 1", "0.1 2, 0.2 2, 0.4 1"},
		{"SELECT x FROM (SELECT x, row_number() OVER (ORDER BY x DESC) AS n FROM (VALUES (1), (2), (3)) v(x)) s WHERE n <= 2 ORDER BY x", "2, 3"},
		{"SELECT g, SUM(x), SUM(SUM(x)) OVER (ORDER BY g) FROM (VALUES (1, 10), (1, 20), (2, 5)) v(g, x) GROUP BY g HAVING COUNT(*) > 0 ORDER BY g", "1 30 30, 2 5 35"},
		{"SELECT DISTINCT COUNT(*) OVER () FROM (VALUES (1), (2)) v(x)", "2"},
		{"SELECT x FROM (VALUES (1), (2), (3)) v(x) ORDER BY lead(x, 1, 0) OVER (ORDER BY x), x", "3, 1, 2"},
		{"SELECT x, (SELECT MAX(y) FROM (VALUES (7)) w(y)) + rank() OVER (ORDER BY x) FROM (VALUES (5), (5)) v(x)", "5 8, 5 8"},
		{"SELECT COUNT(*), SUM(r) FROM (SELECT rank() OVER (PARTITION BY x ORDER BY x) AS r FROM (VALUES (1)) v(x) WHERE x > 1) s", "0 <nil>"},
	} {
		for _, backend := range []string{"cpu", "auto", "compute", "classic"} {
			rows, err := engine.Collect(nestedDB(t, backend).Query(context.Background(), c.sql))
			if err != nil {
				t.Errorf("%s on %s: %v", c.sql, backend, err)
				continue
			}
			var got []string
			for _, r := range rows.Rows {
				got = append(got, strings.Trim(fmt.Sprint(r), "[]"))
			}
			if text := strings.Join(got, ", "); text != strings.ReplaceAll(c.want, "<nil>", "NULL") {
				t.Errorf("%s on %s:\n got %s\nwant %s", c.sql, backend, text, c.want)
			}
		}
	}
}

func TestWindowErrors(t *testing.T) {
	db := nestedDB(t, "cpu")
	for sql, want := range map[string]string{
		"SELECT ntile(0) OVER (ORDER BY a) FROM t":                            "argument of ntile must be greater than zero (line 1, column 8)",
		"SELECT nth_value(a, 0) OVER (ORDER BY a) FROM t":                     "argument of nth_value must be greater than zero (line 1, column 8)",
		"SELECT SUM(x) OVER () FROM (VALUES (9223372036854775807), (1)) v(x)": "takes more than 64 bits",
	} {
		rows, err := engine.Collect(db.Query(context.Background(), sql))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %s", sql, rows, err, want)
		}
	}
}

// EXPLAIN ANALYZE says who computed a window, with the passes of compute, or why it did not.
func TestExplainWindowOnCompute(t *testing.T) {
	db := nestedDB(t, "compute")
	for sql, wants := range map[string][]string{
		"SELECT a, SUM(b) OVER (PARTITION BY a ORDER BY b) FROM t":                            {"Window(SUM(b)", "Backend compute on ", "Window: key of b", "Number the runs", "Window: SUM(b) OVER"},
		"SELECT a, MIN(b) OVER (ORDER BY b ROWS 1 PRECEDING) FROM t":                          {"Backend cpu (compute declines: MIN(b) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW): the extreme of a frame that slides)"},
		"SELECT a, SUM(b) OVER (ORDER BY b RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t": {"Backend cpu (compute declines: ", "a RANGE frame with an offset"},
		"SELECT a, lag(b, 1, 0) OVER (ORDER BY b) FROM t":                                     {"a value in the place of rows that are not there"},
	} {
		x, err := db.Explain(context.Background(), sql, engine.ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(x.Lines(), "\n")
		for _, want := range wants {
			if !strings.Contains(lines, want) {
				t.Errorf("%s: no %q in\n%s", sql, want, lines)
			}
		}
		if strings.Contains(lines, "#version") {
			t.Errorf("%s: GLSL that nobody asked for", sql)
		}
	}
}

func TestExplainWindow(t *testing.T) {
	x, err := nestedDB(t, "cpu").Explain(context.Background(), "SELECT a, SUM(b) OVER (PARTITION BY a ORDER BY b) FROM t WHERE b > 10", engine.ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(x.Lines(), "\n")
	for _, want := range []string{"Derived (", "Window(SUM(b) OVER (PARTITION BY a ORDER BY b))", "Filter(b > 10)"} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
}

// A statement ends when its context does, within frames that are long, too.
func TestWindowsEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := nestedDB(t, "cpu").Exec(ctx, "SELECT MAX(s) FROM (SELECT SUM(x::double precision) OVER (ORDER BY x ROWS BETWEEN 100000 PRECEDING AND 1 FOLLOWING) AS s FROM generate_series(1, 300000) g(x)) w")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v after %v, want the deadline", err, time.Since(began))
	}
}
