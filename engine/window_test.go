package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
)

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
