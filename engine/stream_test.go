package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// streamed opens a DB whose devices visit windows of so many rows.
func streamed(t *testing.T, backend string, window int, o Options) *DB {
	t.Helper()
	o.Backend = backend
	db := open(t, o)
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	db.opening.device.streamed = window
	return db
}

var askedInWindows = []string{
	"SELECT MEDIAN(i), kth_largest(i, 5), kth_smallest(x, 3), percentile_disc(0.9) WITHIN GROUP (ORDER BY i DESC) FROM t WHERE x > 10",
	"SELECT COUNT(*), MEDIAN(i), MIN(i), MAX(x) FROM t WHERE i > 5000",
	"SELECT COUNT(*), SUM(i), AVG(i), selectivity(), MEDIAN(i) FROM t",
	"SELECT MEDIAN(x) FROM t WHERE i = 17",
}

// Answers that are found in windows, one after the other, are those of cpu.
func TestStreamingGivesTheAnswersOfCPU(t *testing.T) {
	tab := chunked(t, 3300)
	c, err := tab.Chunks[0].Assign(0, []int{5, 130, 999}, table.SegmentOf(tab.Fields[0].Type, table.Int(17), table.Int(1<<40), table.Null(tab.Fields[0].Type)), 0)
	if err == nil {
		c, err = c.Delete([]int{0, 63, 64, 200, 998})
	}
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]*table.Chunk{c}, tab.Chunks[1:]...)
	tab = tab.With(changed...)
	cpu := open(t, Options{Backend: "cpu"})
	if err := cpu.Add(tab); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		backend, device string
		window          int
		asked           []string
	}{
		{"compute", "", 640, slices.Concat(askedTogether[:2], askedTogether[3:7], askedTogether[12:15], askedInWindows)},
		{"compute", "0,1", 1024, slices.Concat(askedTogether[:1], askedTogether[6:7], askedTogether[14:15])},
		{"classic", "", 1024, slices.Concat(askedTogether[:1], askedTogether[11:14])},
		{"fused", "", 1024, slices.Concat(askedTogether[:1], askedTogether[11:13])},
	} {
		db := streamed(t, c.backend, c.window, Options{Device: c.device})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		for _, text := range c.asked {
			before := db.opening.device.inWindows.Len()
			r, err := Collect(db.Query(context.Background(), text))
			if got, want := inWords(r, err), inWords(Collect(cpu.Query(context.Background(), text))); got != want {
				t.Errorf("%s %s: %s: %s, cpu has %s", c.backend, c.device, text, got, want)
			}
			for _, s := range db.opening.device.inWindows.Values()[before:] {
				if s == nil && err == nil {
					t.Errorf("%s %s: %s: is not streamed", c.backend, c.device, text)
				}
			}
		}
		x, err := db.Explain(context.Background(), askedInWindows[1], ExplainOptions{Analyze: true})
		if err != nil || !strings.Contains(fmt.Sprint(x.Lines()), "Stream(windows") {
			t.Errorf("%s %s: %q, %v", c.backend, c.device, x.Lines(), err)
		}
	}
}
