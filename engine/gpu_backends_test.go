package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
)

// both opens the flights table on classic and on cpu; a GL object that is left at
// Close fails the test.
func both(t *testing.T, o engine.Options) (classic, cpu *engine.DB) {
	t.Helper()
	open := func(backend string) *engine.DB {
		o := o
		o.Backend = backend
		db, err := engine.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := db.Attach("flights", ingest.Source{Path: "flights.parquet", Data: testdata.Flights200k}); err != nil {
			t.Fatal(err)
		}
		return db
	}
	return open("classic"), open("cpu")
}

func answer(r *engine.Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, v := range r.Rows[0] {
		out = append(out, v.String())
	}
	return strings.Join(out, ", ")
}

var statements = []string{
	"SELECT COUNT(*), MEDIAN(delay), SUM(distance), AVG(delay), MIN(time), MAX(time) FROM flights",
	"SELECT COUNT(*) FROM flights WHERE delay * delay - 3 * distance < 100 AND distance % 7 = 3",
	"SELECT SUM(delay), kth_largest(distance, 1000) FROM flights WHERE 2 * delay - distance < 10 OR time BETWEEN 5.5 AND 7",
	"SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY time) FROM flights WHERE distance IN (100, 200, 337, 399, 443, 590, 862)",
	"SELECT COUNT(*), MIN(delay), MAX(delay) FROM flights WHERE delay > distance",
	"SELECT COUNT(*) FROM flights WHERE time * 2.5 + delay < 60",
	"SELECT COUNT(*) FROM flights WHERE 100 / delay > 3 AND delay <> 0",
	"SELECT COUNT(*) FROM flights WHERE delay <> 0 AND 100 / delay > 3",
}

func TestClassicGivesTheAnswersOfCPU(t *testing.T) {
	for _, rows := range []int{0, 70_000} { // one chunk, and three
		classic, cpu := both(t, engine.Options{ChunkRows: rows})
		for _, s := range statements {
			got, want := answer(engine.Collect(classic.Query(context.Background(), s))), answer(engine.Collect(cpu.Query(context.Background(), s)))
			if got != want {
				t.Errorf("%s: %s, cpu has %s", s, got, want)
			}
		}
	}
}

func TestManyGoroutinesShareOneContext(t *testing.T) {
	classic, cpu := both(t, engine.Options{})
	var want []string
	for _, s := range statements {
		want = append(want, answer(engine.Collect(cpu.Query(context.Background(), s))))
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range statements {
				i = (i + 2*g) % len(statements)
				if got := answer(engine.Collect(classic.Query(context.Background(), statements[i]))); got != want[i] {
					t.Errorf("%s: %s, cpu has %s", statements[i], got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestATableThatDoesNotFitTheDevice(t *testing.T) {
	classic, _ := both(t, engine.Options{GPUMemory: 16 << 10}) // nor does a window of it
	_, err := engine.Collect(classic.Query(context.Background(), "SELECT SUM(delay) FROM flights WHERE distance > 5"))
	if !errors.Is(err, engine.ErrDeviceMemory) || !strings.Contains(err.Error(), "--gpu-memory") {
		t.Errorf("error %v", err)
	}
	// Nothing is left that stops a query that fits: 200,000 rows on one byte each
	// do not, a constant does.
	if r, err := engine.Collect(classic.Query(context.Background(), "SELECT COUNT(*) FROM flights")); err != nil || r.Rows[0][0].I != 200_000 {
		t.Errorf("%v, %v", r, err)
	}
}

func TestTablesBeyondTheBudgetAreSwapped(t *testing.T) {
	// Each column takes 0.8 MB, a depth-stencil buffer as much: not all fit 3 MB.
	classic, cpu := both(t, engine.Options{GPUMemory: 3 << 20, ChunkRows: 50_000})
	for _, s := range statements {
		got, want := answer(engine.Collect(classic.Query(context.Background(), s))), answer(engine.Collect(cpu.Query(context.Background(), s)))
		if got != want {
			t.Errorf("%s: %s, cpu has %s", s, got, want)
		}
	}
}

func TestClassicRefusesFloatSumsByName(t *testing.T) {
	classic, _ := both(t, engine.Options{})
	_, err := engine.Collect(classic.Query(context.Background(), "SELECT SUM(time) FROM flights"))
	if !errors.Is(err, engine.ErrUnsupported) || !strings.Contains(err.Error(), "SUM(time)") || !strings.Contains(err.Error(), "which a cast to NUMERIC(p, s) gives") {
		t.Errorf("error %v", err)
	}
	if _, err := engine.Collect(classic.Query(context.Background(), "SELECT SUM(CAST(time AS NUMERIC(18, 4))) FROM flights")); err != nil {
		t.Errorf("what the error advises: %v", err)
	}
}

func TestCancelledInTheMiddleOfAQuery(t *testing.T) {
	classic, _ := both(t, engine.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := engine.Collect(classic.Query(ctx, statements[0])); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := engine.Collect(classic.Query(context.Background(), statements[0])); err != nil {
		t.Errorf("after a cancelled query: %v", err)
	}
}

func TestExplainListsThePassesThatRun(t *testing.T) {
	classic, _ := both(t, engine.Options{})
	const s = "SELECT COUNT(*), SUM(distance) FROM flights WHERE (delay < 0 OR distance > 2000) AND time < 9"
	e, err := classic.Explain(context.Background(), s, engine.ExplainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Collect(classic.Query(context.Background(), s))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Steps) != r.Passes { // nothing here is adaptive
		t.Errorf("EXPLAIN lists %d passes, %d ran", len(e.Steps), r.Passes)
	}
}

func TestMipmapSumIsForComparison(t *testing.T) {
	classic, _ := both(t, engine.Options{})
	b := table.NewBuilder("t", []table.Field{{Name: "x", Type: table.Type{Kind: table.BigInt}}}, 0)
	for i := range 1000 {
		b.Column(0).Int(int64(i) - 200)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	gpu, err := engine.Inspect(classic).GPU(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sum, err := gpu.MipmapSum(context.Background(), b.Table(), 0, nil)
	if err != nil || fmt.Sprintf("%.0f", sum) != "299500" { // small enough to be exact
		t.Errorf("mipmap sum %v (%v)", sum, err)
	}
}

func TestBudgetErrorsNameTheColumn(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		db, err := engine.Open(engine.Options{Backend: backend, GPUMemory: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Attach("flights", ingest.Source{Path: "flights.parquet", Data: testdata.Flights200k}); err != nil {
			t.Fatal(err)
		}
		_, err = engine.Collect(db.Query(context.Background(), "SELECT MEDIAN(time) FROM flights"))
		if !errors.Is(err, engine.ErrDeviceMemory) || !strings.Contains(err.Error(), "column time of a chunk of 200000 rows") {
			t.Errorf("%s: %v", backend, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
