package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
)

// operators are statements of every operator that a device has a part in.
var operators = []struct {
	name, sql string
	backends  []string
}{
	{"aggregates", "SELECT COUNT(*), SUM(c), MEDIAN(b), MAX(d) FROM t WHERE a < 200 OR d IS NULL", []string{"classic", "fused", "compute"}},
	{"expressions", "SELECT SUM(a * b), SUM(CASE WHEN d > 3 THEN a END) FROM t WHERE a + b > 1000", []string{"compute"}},
	{"checks", "SELECT COUNT(*) FROM t WHERE 1000 / (d + 1000) > 0", []string{"classic", "fused", "compute"}},
	{"rows", "SELECT a, b FROM t WHERE c < 100000 AND d > 10", []string{"classic", "fused", "compute"}},
	{"sort", "SELECT a, b FROM t WHERE c < 3000000 ORDER BY d DESC, b", []string{"compute"}},
	{"first rows", "SELECT b FROM t ORDER BY b LIMIT 20", []string{"compute"}},
	{"groups", "SELECT d, COUNT(*), SUM(a), MIN(b) FROM t WHERE a > 10 GROUP BY d ORDER BY d", []string{"compute"}},
	{"many groups", "SELECT a, b, COUNT(*) FROM t WHERE d > 60 GROUP BY a, b ORDER BY a, b", []string{"compute"}},
	{"join", "SELECT COUNT(*), SUM(x.a) FROM t x JOIN t y ON x.b = y.b AND x.c = y.c", []string{"compute"}},
	{"semi join", "SELECT COUNT(*) FROM t WHERE b IN (SELECT b FROM t WHERE d > 50)", []string{"compute"}},
	{"window", "SELECT MAX(n) FROM (SELECT row_number() OVER (PARTITION BY d ORDER BY b) + rank() OVER (PARTITION BY d ORDER BY b) AS n FROM t) w", []string{"compute"}},
}

// failingDevices gives a DB real devices with a memory, of which the passes of the first go through a runner.
func failingDevices(db *DB, memory int64, through func(pass.Runner) pass.Runner) *[]*devicepool.GPU {
	var list []*devicepool.GPU
	db.backends.Opener = func(o glctx.Options) (*backends.Devices, error) {
		g, err := devicepool.Open(glctx.Options{Device: o.Device, Memory: memory})
		if err != nil {
			return nil, err
		}
		if list = append(list, g); len(list) == 1 {
			g.Wrap = through
		}
		return backends.New(devicepool.New(g)), nil
	}
	return &list
}

// lost is a runner that fails from a call of a device on: all the runners of its statements count together.
type lost struct {
	*pass.Failer
}

// A statement of any operator whose n-th call of its device is the last before the context is lost ends with that error.
// Nothing is left of the device. The next statement is right, on a fresh device. Where auto chose the device cpu answers it.
func TestEveryOperatorOutlivesALostContext(t *testing.T) {
	tab := attributes(t, 3_000)
	oracle := open(t, Options{Backend: "cpu"})
	if err := oracle.Add(tab); err != nil {
		t.Fatal(err)
	}
	rng, folder := rand.New(rand.NewPCG(8, 9)), t.TempDir()
	for _, op := range operators {
		want, err := Collect(oracle.Query(context.Background(), op.sql))
		if err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
		soak := os.Getenv("STENCILDB_SOAK") != ""
		on := op.backends
		if !soak {
			on = []string{on[rng.IntN(len(on))]}
		}
		for _, backend := range on {
			run := func(at int) (calls int) {
				what := fmt.Sprintf("%s on %s, call %d", op.name, backend, at)
				db, err := Open(Options{Backend: backend, Calibrations: folder})
				if err == nil {
					err = db.Add(tab)
				}
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := db.Close(); err != nil {
						t.Error(err)
					}
				}()
				failer := &pass.Failer{At: at, Err: &glctx.GLError{Where: "a pass", Code: gl.CONTEXT_LOST}}
				list := failingDevices(db, 0, func(r pass.Runner) pass.Runner {
					failer.Runner = r
					return lost{failer}
				})
				got, err := Collect(db.Query(context.Background(), op.sql))
				if at == math.MaxInt {
					if err != nil || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) {
						t.Fatalf("%s: %v, %v, not %v", what, got, err, want.Rows)
					}
					return failer.Calls
				}
				if !errors.Is(err, glctx.ErrContextLost) || !errors.Is(err, glctx.ErrFault) {
					t.Fatalf("%s: %v, %v", what, got, err)
				}
				again, err := Collect(db.Query(context.Background(), op.sql))
				if err != nil || fmt.Sprint(again.Rows) != fmt.Sprint(want.Rows) || len(*list) != 2 {
					t.Fatalf("%s: then %v, %v on device %d, not %v", what, again, err, len(*list), want.Rows)
				}
				if live := (*list)[0].Context.Live(); len(live) > 0 {
					t.Errorf("%s: left on the device: %v", what, live)
				}
				return failer.Calls
			}
			calls := run(math.MaxInt)
			if calls == 0 {
				t.Errorf("%s on %s asks nothing of the device", op.name, backend)
				continue
			}
			places := []int{rng.IntN(calls)}
			if soak {
				places = nil
				for at := range calls {
					places = append(places, at)
				}
			}
			slices.Sort(places)
			for _, at := range slices.Compact(places) {
				run(at)
			}
		}
	}
}

// With less and less memory a statement of any operator is right, or says that there is too little. Then the device has
// nothing of it but resident columns, and a smaller statement is right.
func TestSmallBudgetsAreErrorsOrAnswers(t *testing.T) {
	tab := attributes(t, 30_000)
	oracle := open(t, Options{Backend: "cpu"})
	if err := oracle.Add(tab); err != nil {
		t.Fatal(err)
	}
	refused, answered := 0, 0
	for _, memory := range []int64{16 << 10, 256 << 10, 1 << 20} {
		for _, backend := range []string{"classic", "fused", "compute"} {
			db := open(t, Options{Backend: backend})
			if err := db.Add(tab); err != nil {
				t.Fatal(err)
			}
			list := failingDevices(db, memory, nil)
			for _, op := range operators {
				if !slices.Contains(op.backends, backend) {
					continue
				}
				want, err := Collect(oracle.Query(context.Background(), op.sql))
				if err != nil {
					t.Fatal(err)
				}
				got, err := Collect(db.Query(context.Background(), op.sql))
				switch {
				case errors.Is(err, ErrDeviceMemory):
					refused++
				case err != nil || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows):
					t.Errorf("%s on %s with %d bytes: %v, %v, not %v", op.name, backend, memory, got, err, want.Rows)
				default:
					answered++
				}
				if len(*list) > 1 {
					t.Fatalf("%s on %s with %d bytes: the device was opened again", op.name, backend, memory)
				}
				for _, g := range *list {
					if u := g.Content.Load().Usage; u.Used > memory {
						t.Errorf("%s on %s: %d bytes of %d are taken", op.name, backend, u.Used, memory)
					}
				}
			}
		}
	}
	if refused == 0 || answered == 0 {
		t.Errorf("%d refused, %d answered", refused, answered)
	}
}
