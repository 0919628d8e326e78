package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
)

// divided opens a DB whose statements compute and cpu do together, in windows of so many rows, of which compute takes a share.
func divided(t *testing.T, window int, share float64, o Options) *DB {
	t.Helper()
	o.Backend = "both"
	db := open(t, o)
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	devicesOf(db).Window, devicesOf(db).Share = window, share
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
			times := 1
			if c.window == 0 { // again, with what the first time has left
				times = 2
			}
			for range times {
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

// Windows have the deleted rows and the patched values of their chunk.
func TestCoprocessingOfChangedChunks(t *testing.T) {
	tab := chunked(t, 1000)
	c, err := tab.Chunks[0].Assign(0, []int{5, 130, 999}, table.SegmentOf(tab.Fields[0].Type, table.Int(17), table.Int(1<<40), table.Null(tab.Fields[0].Type)), 0)
	if err == nil {
		c, err = c.Delete([]int{0, 63, 64, 200, 998})
	}
	if err != nil {
		t.Fatal(err)
	}
	cpu, db := open(t, Options{Backend: "cpu"}), divided(t, 64, 0.5, Options{})
	for _, db := range []*DB{cpu, db} {
		if err := db.Add(tab.With(c)); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{askedTogether[0], askedTogether[6], askedTogether[11], askedTogether[14], "SELECT COUNT(*) FROM t WHERE i IS NULL"} {
		got, want := inWords(Collect(db.Query(context.Background(), text))), inWords(Collect(cpu.Query(context.Background(), text)))
		if got != want {
			t.Errorf("%s: %s, cpu has %s", text, got, want)
		}
	}
}

// Of joins compute and cpu each take some sub-joins; where there are none to hand out, or a row has an error, cpu joins all.
func TestCoprocessingOfJoins(t *testing.T) {
	cpu, both := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "both"})
	if err := Inspect(both).Ready(); err != nil {
		t.Fatal(err)
	}
	divided := 0
	list := joinsOfStars()
	for _, text := range []string{
		"SELECT COUNT(*) FROM fact x JOIN fact y ON x.b = y.b WHERE 10 / (x.m - 3) > 0 AND y.n * 9223372036854775807 > 0",
		"SELECT COUNT(*) FROM twice JOIN dim ON twice.key < dim.key",
		"SELECT COUNT(*), SUM(n) FROM fact JOIN twice ON a = key AND n < 0",
		"SELECT a, n, name FROM fact JOIN twice ON a = key LIMIT 0",
		"SET join = loops",
		"SELECT COUNT(*) FROM twice JOIN dim ON twice.key < dim.key",
		"SELECT COUNT(*), SUM(size), MAX(far.name) FROM far JOIN dim ON far.key <> size AND far.name > 'm'",
		"SELECT COUNT(*), SUM(n) FROM fact JOIN twice ON a = key WHERE m < 3",
		"SELECT COUNT(*), SUM(n) FROM fact JOIN dim ON n >= size AND m = 2",
	} {
		list = append(list, joinOfStar{sql: text})
	}
	for _, c := range list {
		want := answerText(cpu, c.sql)
		if got := answerText(both, c.sql); got != want {
			t.Errorf("%s:\n got %.300s\nwant %.300s", c.sql, got, want)
		}
		if strings.HasPrefix(want, "error") || strings.HasPrefix(c.sql, "SET") {
			continue
		}
		x, err := both.Explain(context.Background(), c.sql, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(x.Lines(), "\n")
		if found := strings.Contains(lines, "Divide(join)"); found {
			divided++
			if !strings.Contains(lines, "sub-joins on compute, ") || !strings.Contains(lines, " on compute and cpu") {
				t.Errorf("%s: nobody is named in\n%s", c.sql, lines)
			}
		}
	}
	if divided < 20 {
		t.Errorf("%d of %d joins were divided", divided, len(list))
	}
	noColumnsLeft(t, both)
}

// A fault of the device ends a statement with the pass's name, and a context that ends ends both sides.
func TestFaultsOfCoprocessing(t *testing.T) {
	db := divided(t, 0, 0.5, Options{})
	if err := db.Add(chunked(t, 3000)); err != nil {
		t.Fatal(err)
	}
	s, err := db.plan(context.Background(), "SELECT SUM(i) FROM t WHERE x < 20")
	if err != nil {
		t.Fatal(err)
	}
	b := db.view().Both(devicesOf(db))
	d := b.Divide(s.plan)
	if d.Why != "" || d.Rows[0] == 0 || d.Rows[1] == 0 {
		t.Fatalf("%+v", d)
	}
	_, err = b.MergedOnAll(context.Background(), d.Whole, d.Parts, &querystats.Collector{}, func(g *devicepool.GPU) pass.Runner {
		return faulty{g.GL, func(p *pass.Pass) error { return &glctx.GLError{Where: p.String(), Code: gl.CONTEXT_LOST} }}
	})
	if !errors.Is(err, glctx.ErrFault) || !strings.Contains(err.Error(), "Accumulate(i)") || backends.Again(context.Background(), err) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range b.Rows(ctx, s.plan, &querystats.Collector{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if _, err := b.Execute(ctx, s.plan, &querystats.Collector{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
