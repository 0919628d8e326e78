package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
)

// chunked is a table of so many rows in chunks of 1000. i counts modulo 997, and every 11th value is
// NULL; x is its square root's neighbourhood, as DOUBLE.
func chunked(t *testing.T, rows int) *table.Table {
	t.Helper()
	b := table.NewBuilder("t", []table.Field{
		{Name: "i", Type: table.Type{Kind: table.BigInt}}, {Name: "x", Type: table.Type{Kind: table.Double}},
	}, 1000)
	for row := range rows {
		b.Column(0).Value(table.Value{Type: table.Type{Kind: table.BigInt}, I: int64(row*7919%997 + row/1000), Null: row%11 == 3})
		b.Column(1).Float(float64(row%613) / 8)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// Every answer of two devices together is that of cpu; a budget and a device that is
// shared change nothing.
func TestTwoDevicesGiveTheAnswersOfCPU(t *testing.T) {
	tab := chunked(t, 6500)
	cpu := open(t, Options{Backend: "cpu"})
	if err := cpu.Add(tab); err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := open(t, Options{Backend: backend, Device: "0,1"})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, text := range []string{
				"SELECT COUNT(*), COUNT(i), SUM(i), AVG(i), MIN(i), MAX(i), MEDIAN(i), kth_largest(i, 17), selectivity() FROM t",
				"SELECT SUM(i), MEDIAN(i), MIN(x), MEDIAN(x) FROM t WHERE i * 3 < 1000 OR x > 60.5",
				"SELECT COUNT(*), MIN(i), MEDIAN(i) FROM t WHERE i > 5000",
				"SELECT SUM(i * (3 - i)), AVG(i * i), COUNT(i + 1), MEDIAN(i) FROM t WHERE x > 5",
				"SELECT COUNT(*) FROM t WHERE 100 / (i - 5) > 3",
				"SELECT kth_smallest(i, 7000) FROM t",
				"SELECT i % 100, COUNT(*), SUM(i), MAX(i) FROM t WHERE x < 60 GROUP BY i % 100",
				"SELECT i, COUNT(i) FROM t WHERE 100 / (i - 5) > 3 GROUP BY i",
				"SELECT i, SUM(i) / (i - 5) FROM t GROUP BY i",
				"SELECT i, x FROM t ORDER BY i DESC, x NULLS FIRST",
				"SELECT i, x FROM t WHERE x < 60 ORDER BY i NULLS FIRST LIMIT 600 OFFSET 20",
				"SELECT x FROM t WHERE 100 / (i - 5) > 3 ORDER BY x LIMIT 3",
			} {
				r, err := Collect(db.Query(context.Background(), text))
				if got, want := inWords(r, err), inWords(Collect(cpu.Query(context.Background(), text))); got != want {
					t.Errorf("%s: %s: %s, cpu has %s", backend, text, got, want)
				}
				if err == nil && !slices.Equal(r.Devices, []int{0, 1}) {
					t.Errorf("%s: %s: ran on devices %v", backend, text, r.Devices)
				}
			}
		}
	}
}

// Two devices that have a chunk each sort its rows. They also do where a column's values alone are asked for, which classic sorts by
// blending where it has all of them.
func TestTwoDevicesSortAChunkEach(t *testing.T) {
	tab := chunked(t, 1900)
	cpu := open(t, Options{Backend: "cpu"})
	if err := cpu.Add(tab); err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"classic", "compute"} {
		db := open(t, Options{Backend: backend, Device: "0,1"})
		if err := db.Add(tab); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"SELECT i FROM t ORDER BY i DESC NULLS LAST LIMIT 3",
			"SELECT i FROM t WHERE x < 60 ORDER BY i NULLS FIRST",
			"SELECT i FROM t WHERE x < 60 UNION ALL SELECT i FROM t WHERE x > 60 ORDER BY 1 LIMIT 900",
			"SELECT i, x FROM t ORDER BY i, x DESC",
		} {
			if got, want := inWords(Collect(db.Query(context.Background(), text))), inWords(Collect(cpu.Query(context.Background(), text))); got != want {
				t.Errorf("%s: %s: %.200s, cpu has %.200s", backend, text, got, want)
			}
			x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
			if err != nil || !slices.ContainsFunc(x.Steps, func(s Step) bool { return s.Op != nil && s.Device == 1 }) {
				t.Errorf("%s: %s: device 1 did nothing, %v: %v", backend, text, err, x.Lines())
			}
		}
	}
}

// inWords is an answer or an error.
func inWords(r *Result, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.Rows)
}

// Chunks are balanced by rows, and stay where they are when others come behind them.
func TestPlacement(t *testing.T) {
	rows := []int{100, 100, 100, 100, 10, 10, 300, 20}
	tab := &table.Table{}
	for n, want := range [][][]int{
		{nil, nil}, {{0}, nil}, {{0}, {1}}, {{0, 2}, {1}}, {{0, 2}, {1, 3}}, {{0, 2, 4}, {1, 3}},
		{{0, 2, 4}, {1, 3, 5}}, {{0, 2, 4, 6}, {1, 3, 5}}, {{0, 2, 4, 6}, {1, 3, 5, 7}},
	} {
		if got := devicepool.Place(tab, 2); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%d chunks: %v, want %v", n, got, want)
		}
		if n < len(rows) {
			tab.Chunks = append(tab.Chunks, &table.Chunk{Rows: rows[n]})
		}
	}
}

// two opens two devices under a table of three chunks.
func two(t *testing.T, o Options) (*DB, *backends.Devices) {
	t.Helper()
	o.Device = "0,1"
	db := open(t, o)
	if err := db.Add(chunked(t, 3000)); err != nil {
		t.Fatal(err)
	}
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	return db, devicesOf(db)
}

// What is resident lies where its chunk is placed.
func TestColumnsLieOnTheirDevice(t *testing.T) {
	db, set := two(t, Options{Backend: "classic"})
	if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM t WHERE i < 100")); err != nil {
		t.Fatal(err)
	}
	if a, b := len(set.GPUs[0].Content.Load().Columns), len(set.GPUs[1].Content.Load().Columns); a != 2 || b != 1 {
		t.Errorf("%d and %d columns of chunks", a, b)
	}
	if now := set.Contents(); len(now[0].Columns)+len(now[1].Columns) != 3 || !slices.Equal(now, set.Contents()) {
		t.Errorf("%d columns of chunks in all", len(now))
	}
}

// EXPLAIN lists the passes of both devices, and ANALYZE runs them.
func TestExplainOfTwoDevices(t *testing.T) {
	db, set := two(t, Options{Backend: "classic"})
	b := set.ByName["classic"]
	s, err := db.plan(context.Background(), "SELECT SUM(i) FROM t WHERE x < 20")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := b.Explain(context.Background(), s.plan, false)
	if err != nil {
		t.Fatal(err)
	}
	ran, err := b.Explain(context.Background(), s.plan, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]Step{steps, ran} {
		on := map[int]int{}
		for _, step := range list {
			on[step.Device]++
		}
		if on[0] == 0 || on[1] == 0 || len(on) != 2 {
			t.Errorf("passes by device: %v", on)
		}
	}
	var took querystats.Collector
	if _, err := b.Execute(context.Background(), s.plan, &took); err != nil || took.Snapshot().Passes != len(ran) {
		t.Errorf("%d passes, %d listed, %v", took.Snapshot().Passes, len(ran), err)
	}
}

// EXPLAIN of rows lists the passes that find them, on both devices.
func TestExplainOfRowsOfTwoDevices(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		db, _ := two(t, Options{Backend: backend})
		x, err := db.Explain(context.Background(), "SELECT i FROM t WHERE x < 20", ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		on := map[int]int{}
		for _, step := range x.Steps {
			on[step.Device]++
		}
		if on[0] == 0 || on[1] == 0 || len(on) != 2 || x.Stats.Passes == 0 {
			t.Errorf("%s: passes by device: %v; %d ran", backend, on, x.Stats.Passes)
		}
	}
}

// Devices upload at the same time: what loading took is what the slowest took.
func TestLoadingOfSeveralDevices(t *testing.T) {
	var took querystats.Collector
	took.Start("classic", time.Second)
	took.Add(1, 2, Loading{Uploading: 3 * time.Second}, 1)
	took.Add(1, 2, Loading{Uploading: 4 * time.Second}, 0)
	took.Add(1, 2, Loading{Compiling: 2 * time.Second}, 1)
	if s := took.Snapshot(); s.Load != 6*time.Second || s.Loading != (Loading{Opening: time.Second, Uploading: 3 * time.Second, Compiling: 2 * time.Second}) || s.Passes != 3 || s.Samples != 6 || len(s.Devices) != 2 {
		t.Errorf("%+v", s)
	}
}

// The error of one device ends the work of the others, which are free afterwards.
func TestAnErrorOnOneDeviceStopsTheOthers(t *testing.T) {
	_, set := two(t, Options{Backend: "classic"})
	b := set.ByName["classic"].(*backends.Passes)
	stop := errors.New("stop")
	tab := chunked(t, 3000)
	other := open(t, Options{Backend: "cpu"})
	if err := other.Add(tab); err != nil {
		t.Fatal(err)
	}
	s, err := other.plan(context.Background(), "SELECT SUM(i), MEDIAN(i) FROM t WHERE x < 20")
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan struct{})
	_, err = b.ExecuteOn(context.Background(), s.plan, &querystats.Collector{}, func(g *devicepool.GPU) pass.Runner {
		if g == set.GPUs[1] {
			return faulty{g.GL, func(*pass.Pass) error { close(failed); return stop }}
		}
		return faulty{g.GL, func(*pass.Pass) error { <-failed; return nil }}
	})
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	a, err := b.Execute(context.Background(), s.plan, &querystats.Collector{})
	if err != nil || len(a) != 2 {
		t.Errorf("%+v, %v after it", a, err)
	}
}

// A fault of one device closes all; the next statement opens them again. A statement
// that waits for one device ends with its context, and leaves the other free.
func TestFaultsAndWaitingOnTwoDevices(t *testing.T) {
	db, set := two(t, Options{Backend: "compute"})
	const text = "SELECT COUNT(*) FROM t WHERE i < 100"
	occupied(t, set.GPUs[1], func() {
		ctx, cancel := context.WithTimeout(context.Background(), 1)
		defer cancel()
		if _, err := Collect(db.Query(ctx, text)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if err := set.GPUs[0].Context.Do(context.Background(), func() error { return nil }); err != nil {
			t.Error(err)
		}
	})
	want, err := Collect(db.Query(context.Background(), text))
	if err != nil {
		t.Fatal(err)
	}
	err = db.view().On(context.Background(), "compute", new(time.Duration), func(b backends.Backend) error {
		s := b.(*backends.Passes)
		_, err := s.ExecuteOn(context.Background(), s.Divisions.Keys()[0], &querystats.Collector{}, func(g *devicepool.GPU) pass.Runner {
			return faulty{g.GL, func(p *pass.Pass) error {
				if g == s.GPUs[1] {
					return glctx.ErrContextLost
				}
				return nil
			}}
		})
		return err
	})
	if !errors.Is(err, glctx.ErrContextLost) {
		t.Errorf("%v", err)
	}
	db.backends.AwaitLost()
	r, err := Collect(db.Query(context.Background(), text))
	if err != nil || fmt.Sprint(r.Rows) != fmt.Sprint(want.Rows) || devicesOf(db) == set {
		t.Errorf("%v, %v", r, err)
	}
}

// Two devices are predicted to take as long as the one with more to do.
func TestPredictionOfTwoDevices(t *testing.T) {
	_, set := two(t, Options{Backend: "classic"})
	db := openSmall(t)
	if err := db.Add(chunked(t, 3000)); err != nil {
		t.Fatal(err)
	}
	s, err := db.plan(context.Background(), "SELECT COUNT(*) FROM t WHERE i < 100")
	if err != nil {
		t.Fatal(err)
	}
	b := fakeProfile("classic").Backends["classic"]
	b.Again = 1 // of three chunks the passes take 120 µs
	w := cost.Of(s.plan)
	if one, both := b.Run(w), set.Predict(b, w, s.plan.Table); one < 129e-6 || both > 91e-6 {
		t.Errorf("one device takes %v s, two %v", one, both)
	}
}
