package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/compute/sharedscan"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// attributes makes a table of two chunks with four attributes, of which d has NULLs.
func attributes(t testing.TB, rows int) *table.Table {
	t.Helper()
	var fields []table.Field
	for _, name := range []string{"a", "b", "c", "d"} {
		fields = append(fields, table.Field{Name: name, Type: table.Type{Kind: table.BigInt}})
	}
	b := table.NewBuilder("t", fields, (rows+1)/2)
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		for i, top := range []int64{1000, 1 << 19, 1 << 25, 100} {
			b.Column(i).Value(table.Value{Type: fields[i].Type, I: rng.Int64N(top) - top/3, Null: i == 3 && rng.IntN(3) == 0})
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// batching opens a DB on compute, whose device batches as hardware does, with a table; memory 0 is the context's own.
func batching(t testing.TB, tab *table.Table, lines int, memory int64) (*DB, *devicepool.GPU) {
	t.Helper()
	db, err := Open(Options{Backend: "compute", Calibrations: t.TempDir(), GPUMemory: memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Add(tab); err != nil {
		t.Fatal(err)
	}
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	g := devicesOf(db).GPUs[0]
	g.Computes.Lines, g.ScanQueue.Least = lines, 2
	return db, g
}

// asked draws a statement: most have the form that a batch answers, some do not, some have an error.
func asked(rng *rand.Rand) string {
	condition := func() string {
		col := "abcd"[rng.IntN(4)]
		x := rng.IntN(700) - 200
		return []string{fmt.Sprintf("%c < %d", col, x), fmt.Sprintf("%c >= %d", col, x), fmt.Sprintf("%c BETWEEN %d AND %d", col, x, x+rng.IntN(500)),
			fmt.Sprintf("%c = %d", col, x), "d IS NULL", fmt.Sprintf("NOT (%c <> %d)", col, x), fmt.Sprintf("%c IN (1, 5, %d)", col, x)}[rng.IntN(7)]
	}
	where := condition()
	for range rng.IntN(2) {
		where += []string{" AND ", " OR "}[rng.IntN(2)] + condition()
	}
	col := "abcd"[rng.IntN(4)]
	what := []string{"COUNT(*)", fmt.Sprintf("COUNT(*), SUM(%c)", col), fmt.Sprintf("COUNT(%c), AVG(%c)", col, col), fmt.Sprintf("MIN(%c), MAX(%c)", col, col),
		fmt.Sprintf("SUM(%c), COUNT(*)", col), fmt.Sprintf("MEDIAN(%c)", col), "SUM(a * 2), COUNT(*)", "SUM(1000 / (a - 5))"}[rng.IntN(8)]
	return "SELECT " + what + " FROM t WHERE " + where
}

// Statements that wait for the device are answered together, and each has its own answer, error or end.
func TestStatementsThatWaitAreAnsweredTogether(t *testing.T) {
	tab := attributes(t, 20_000)
	db, g := batching(t, tab, 8, 0)
	oracle := open(t, Options{Backend: "cpu"})
	if err := oracle.Add(tab); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, canceling := range []bool{false, true} {
		var texts []string
		for range 64 {
			texts = append(texts, asked(rng))
		}
		canceled, cancel := context.WithCancel(context.Background())
		var group sync.WaitGroup
		occupied(t, g, func() {
			for i, text := range texts {
				group.Go(func() {
					ctx := context.Background()
					if i%8 == 7 {
						ctx = canceled
					}
					got, err := Collect(db.Query(ctx, text))
					if i%8 == 7 && errors.Is(err, context.Canceled) {
						return
					}
					want, failed := Collect(oracle.Query(context.Background(), text))
					if (err == nil) != (failed == nil) || err != nil && err.Error() != failed.Error() {
						t.Errorf("%s: %v, cpu has %v", text, err, failed)
						return
					}
					if err == nil && fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) {
						t.Errorf("%s: %v, cpu has %v", text, got.Rows, want.Rows)
					}
					if err == nil && got.Backend != "compute" {
						t.Errorf("%s: %+v", text, got.Stats)
					}
				})
			}
			wait(g, 24)
			if canceling {
				cancel()
			}
		})
		group.Wait()
		cancel()
	}
	if n := g.ScanQueue.Answered.Load(); n < 16 {
		t.Errorf("%d statements were answered by batches", n)
	}
	if n := g.ScanQueue.Len(); n > 0 {
		t.Errorf("%d wait yet", n)
	}
}

// Statements whose batch fails, at any of its calls, or has no memory, are answered one by one.
func TestAFailedBatchIsAnsweredOneByOne(t *testing.T) {
	tab := attributes(t, 20_000)
	const all = 12
	for _, c := range []struct {
		name   string
		memory int64
	}{{"it fails", 0}, {"no memory", 300 << 10}} { // the planes of c take 208 KB, its codes 131 KB
		db, g := batching(t, tab, 16, c.memory)
		calls := 0
		for at := 0; at == 0 || at < calls; at++ {
			g.Wrap = func(run pass.Runner) pass.Runner {
				return batchFailer{run, &pass.Failer{Runner: run, At: at, Err: glctx.ErrOutOfMemory}, &calls}
			}
			var group sync.WaitGroup
			occupied(t, g, func() {
				for i := range all {
					group.Go(func() {
						r, err := Collect(db.Query(context.Background(), fmt.Sprintf("SELECT COUNT(*), SUM(c) FROM t WHERE c >= %d", -1<<24-i)))
						if err != nil || r.Rows[0][0].I != 20_000 {
							t.Errorf("%s, call %d: %+v, %v", c.name, at, r, err)
						}
					})
				}
				wait(g, all-1)
			})
			group.Wait()
			if n := g.ScanQueue.Answered.Load(); n > 0 {
				t.Errorf("%s: %d were answered by batches", c.name, n)
			}
		}
		if c.memory == 0 && calls < 2 {
			t.Errorf("%d calls", calls)
		}
	}
}

// batchFailer fails at a call of a batch, whose calls it counts; what runs by itself does not fail.
type batchFailer struct {
	pass.Runner
	failer *pass.Failer
	calls  *int
}

func (f batchFailer) Run(p *pass.Pass) (pass.Count, error) {
	if _, ok := p.Op.(sharedscan.Batched); !ok {
		return f.Runner.Run(p)
	}
	*f.calls = max(*f.calls, f.failer.Calls+2) // the reading comes after it
	return f.failer.Run(p)
}

func (f batchFailer) Read(b textures.Block, words []uint32) error {
	if f.failer.Calls == 0 {
		return f.Runner.Read(b, words)
	}
	return f.failer.Read(b, words)
}

// wait waits, not for long, until so many statements wait.
func wait(g *devicepool.GPU, n int) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if g.ScanQueue.Len() >= n {
			return
		}
	}
}

// One that comes right after a batch waits for those who were there, though the device is idle, but not for long.
func TestThoseWhomABatchHasAnsweredAreWaitedFor(t *testing.T) {
	db, g := batching(t, attributes(t, 1000), 8, 0)
	ask := func(x int) {
		if _, err := Collect(db.Query(context.Background(), fmt.Sprintf("SELECT COUNT(*), SUM(b) FROM t WHERE a < %d", x))); err != nil {
			t.Error(err)
		}
	}
	ask(1) // which uploads the columns
	ended := func(n int, wait time.Duration) {
		g.ScanQueue.Ended(n, wait)
		g.ScanQueue.Answered.Store(0)
	}
	ended(4, time.Minute)
	var group sync.WaitGroup
	group.Go(func() { ask(2) })
	wait(g, 1)
	for deadline := time.Now().Add(10 * time.Second); !g.Context.Busy() && time.Now().Before(deadline); time.Sleep(time.Millisecond) { // on its way
	}
	time.Sleep(20 * time.Millisecond)
	if n := g.ScanQueue.Answered.Load(); n > 0 || g.Context.Busy() != true {
		t.Errorf("%d answered, the device is busy: %v", n, g.Context.Busy())
	}
	for range 3 {
		group.Go(func() { ask(3) })
	}
	group.Wait()
	if n := g.ScanQueue.Answered.Load(); n != 4 {
		t.Errorf("%d were answered by a batch", n)
	}
	g.ScanQueue.Least = 5
	ended(4, time.Minute)
	start := time.Now()
	for range 4 { // who are no batch: the second one does not wait again
		group.Go(func() { ask(2) })
	}
	group.Wait()
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("they took %v", took)
	}
	start = time.Now()
	ended(4, 50*time.Millisecond)
	ask(4)
	ask(5) // who waits for nobody
	if n := g.ScanQueue.Answered.Load(); n > 0 {
		t.Errorf("%d were answered by a batch", n)
	}
	if took := time.Since(start); took < 40*time.Millisecond || g.ScanQueue.Left() > 0 {
		t.Errorf("it took %v, and is to wait for %v more", took, g.ScanQueue.Left())
	}
}
