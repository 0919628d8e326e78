package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// faulty is a runner that does something to each pass before the runner below it.
type faulty struct {
	pass.Runner
	do func(p *pass.Pass) error
}

func (f faulty) Run(p *pass.Pass) (pass.Count, error) {
	broken := *p
	if err := f.do(&broken); err != nil {
		return nil, err
	}
	return f.Runner.Run(&broken)
}

// failing is a backend whose passes go through a faulty runner.
type failing struct {
	*backends.Passes
	do func(p *pass.Pass) error
}

func (b failing) Execute(ctx context.Context, q *physical.Query, took *querystats.Collector) ([]table.Value, error) {
	return b.Watch(ctx, q, took, func(s Stage) pass.Runner { return faulty{s.Runner, b.do} })
}

// faults are what can go wrong on a device.
var faults = map[string]func(p *pass.Pass) error{
	"out of memory": func(*pass.Pass) error {
		var buffer uint32
		gl.CreateBuffers(1, &buffer)
		defer gl.DeleteBuffers(1, &buffer)
		gl.NamedBufferStorage(buffer, 1<<55, nil, 0)
		return nil // the pass finds it
	},
	"context lost": func(p *pass.Pass) error { return &glctx.GLError{Where: p.String(), Code: gl.CONTEXT_LOST} },
	"compile": func(p *pass.Pass) error {
		p.Program.Text = "#version 450\n#error broken\n"
		return nil
	},
	"link": func(p *pass.Pass) error {
		p.Program.Text = "#version 450\nin vec4 nobody_writes_it; out vec4 c; void f(); void main() { f(); c = nobody_writes_it; }\n"
		return nil
	},
	"map": func(*pass.Pass) error { return glctx.Fault(errors.New("a buffer cannot be mapped")) },
}

// onGPUs gives a DB real devices, of which the first has a backend classic that fails.
func onGPUs(db *DB, do func(p *pass.Pass) error) *[]*devicepool.GPU {
	var list []*devicepool.GPU
	db.backends.Opener = func(o glctx.Options) (*backends.Devices, error) {
		g, err := devicepool.Open(glctx.Options{Device: o.Device})
		if err != nil {
			return nil, err
		}
		d := backends.New(devicepool.New(g))
		if list = append(list, g); len(list) == 1 {
			d.ByName["classic"] = failing{d.ByName["classic"].(*backends.Passes), do}
		}
		return d, nil
	}
	return &list
}

// readyProfile is fakeProfile of a device that opens and takes columns in no time.
func readyProfile() *cost.Profile {
	p := fakeProfile("classic")
	p.Opening = 0
	b := p.Backends["classic"]
	b.Upload.Band = 1e15
	p.Backends["classic"] = b
	return p
}

// After a fault the device is closed, with nothing left on it, and the next statement
// opens another one. With auto the statement that met it is answered by cpu.
func TestAFaultClosesTheDevice(t *testing.T) {
	t.Setenv("STENCILDB_DEVICE", "")
	// A calibration of this device says that classic is the fastest.
	probe, err := devicepool.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	profile := readyProfile()
	profile.Key = devicepool.KeyOf(probe.Context.Caps())
	folder := calibrated(t, profile)
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	four := bytesTable(4_000_000)
	for name, do := range faults {
		for _, backend := range []string{"classic", "auto"} {
			db := open(t, Options{Backend: backend, Calibrations: folder})
			if err := db.Add(four); err != nil {
				t.Fatal(err)
			}
			gpus := onGPUs(db, do)
			if err := Inspect(db).Ready(); err != nil {
				t.Fatal(err)
			}
			r, err := Collect(db.Query(context.Background(), countFew))
			switch {
			case backend == "classic" && (!errors.Is(err, glctx.ErrFault) || strings.Count(err.Error(), "context lost") > 1):
				t.Errorf("%s: %v", name, err)
			case backend == "auto" && (err != nil || r.Backend != "cpu" || r.Rows[0][0].I != 46875):
				t.Errorf("%s: %+v, %v", name, r, err)
			}
			db.backends.AwaitLost()
			first := (*gpus)[0]
			if err := first.Context.Do(context.Background(), func() error { return nil }); !errors.Is(err, glctx.ErrClosed) {
				t.Errorf("%s: the failed device is open: %v", name, err)
			}
			if live := first.Context.Live(); len(live) > 0 {
				t.Errorf("%s: left on the failed device: %v", name, live)
			}
			if err := Inspect(db).Ready(); err != nil {
				t.Fatal(err)
			}
			r, err = Collect(db.Query(context.Background(), countFew))
			if err != nil || r.Backend != "classic" || r.Rows[0][0].I != 46875 || len(*gpus) != 2 {
				t.Errorf("%s: after it %+v, %v on device %d", name, r, err, len(*gpus))
			}
		}
	}
}

// A statement that waits for a device which another one's fault closes takes the next
// device.
func TestAStatementOutlivesTheFaultOfAnother(t *testing.T) {
	db := open(t, Options{Backend: "classic"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	d := on(db, &fake{name: "classic"})
	d.ByName["classic"] = &fake{name: "classic", err: glctx.ErrClosed}
	calls := 0
	err := db.view().On(context.Background(), "classic", new(time.Duration), func(b backends.Backend) error {
		if calls++; calls == 1 {
			db.backends.Lose(d.Devices)
			db.backends.Opener = func(glctx.Options) (*backends.Devices, error) {
				return &backends.Devices{Pool: &devicepool.Pool{}, ByName: map[string]backends.Backend{"classic": &fake{name: "classic"}}}, nil
			}
		}
		_, err := b.Execute(context.Background(), &physical.Query{}, &querystats.Collector{})
		return err
	})
	if err != nil || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
	// A device that is closed for good is no reason to go on.
	d.ByName["classic"] = &fake{name: "classic", err: glctx.ErrClosed}
	devicesOf(db).ByName = d.ByName
	if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM small")); !errors.Is(err, glctx.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// Statements that run while a DB is closed end, and say that it is; Close does not wait for those that come after it.
func TestCloseBesideStatements(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "compute"} {
		for range 5 {
			db := open(t, Options{Backend: backend})
			do(t, db, "CREATE TABLE t AS SELECT g AS i FROM generate_series(1, 1000) AS q(g)")
			do(t, db, "SELECT COUNT(*) FROM t WHERE i > 5") // opens the device
			var wg sync.WaitGroup
			for w := range 8 {
				text := []string{"UPDATE t SET i = i + 1 WHERE i < 100", "SELECT SUM(i) FROM t WHERE i < 77", "SELECT COUNT(*) FROM t a JOIN t b ON a.i = b.i WHERE b.i < 10", "SELECT i FROM t ORDER BY i"}[w%4]
				wg.Go(func() {
					for {
						if _, err := Collect(db.Query(ctx, text)); err != nil && !errors.Is(err, ErrConflict) {
							if !errors.Is(err, ErrClosed) {
								t.Errorf("%s: %s: %v", backend, text, err)
							}
							return
						}
					}
				})
			}
			time.Sleep(10 * time.Millisecond)
			closed := make(chan error)
			go func() { closed <- db.Close() }()
			select {
			case err := <-closed:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: Close does not return", backend)
			}
			wg.Wait()
		}
	}
}

// A backend whose device fails twice under a statement is left alone by it.
func TestTwoFaultsAreEnough(t *testing.T) {
	classic := &fake{name: "classic", err: glctx.ErrContextLost}
	db, d := auto(t, 4_000_000, Options{Calibrations: calibrated(t, readyProfile())}, classic)
	for range 6 {
		if got := backendOf(t, db, countFew); got != "cpu" {
			t.Errorf("ran on %s", got)
		}
	}
	if len(classic.plans) != 2 || d.opened != 2 {
		t.Errorf("asked %d times, on %d devices", len(classic.plans), d.opened)
	}
}

// The opening of the device is no part of the statement after the one that failed.
func TestAFailedStatementTakesItsOpeningWithIt(t *testing.T) {
	db := open(t, Options{Backend: "classic"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	classic := &fake{name: "classic", err: errors.New("no")}
	on(db, classic)
	if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM small")); err == nil {
		t.Fatal("no error")
	}
	classic.err = nil
	r, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM small"))
	if err != nil || r.Load != 0 || r.Elapsed <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// occupied runs f while the GL thread of a GPU does nothing but wait for f's end.
func occupied(t *testing.T, g *devicepool.GPU, f func()) {
	t.Helper()
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- g.Context.Do(context.Background(), func() error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	f()
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A statement that waits for the GL thread ends with its context.
func TestWaitingForTheDeviceEndsWithTheContext(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Millisecond} {
		db := open(t, Options{Backend: "classic", StatementTimeout: timeout})
		if err := db.Add(small(t)); err != nil {
			t.Fatal(err)
		}
		if err := Inspect(db).Ready(); err != nil {
			t.Fatal(err)
		}
		occupied(t, devicesOf(db).GPUs[0], func() {
			ctx, cancel := context.WithCancel(context.Background())
			if timeout == 0 {
				time.AfterFunc(time.Millisecond, cancel)
			}
			const text = "SELECT COUNT(*) FROM small WHERE i > 1"
			_, asked := Collect(db.Query(ctx, text))
			_, analyzed := Collect(db.Query(ctx, "EXPLAIN ANALYZE "+text))
			_, explained := db.Explain(ctx, text, ExplainOptions{Analyze: true})
			for _, err := range []error{asked, analyzed, explained} {
				want := context.Canceled
				if timeout > 0 {
					want = context.DeadlineExceeded
				}
				if !errors.Is(err, want) || timeout > 0 && !strings.Contains(err.Error(), "statement timeout of 1ms") {
					t.Errorf("%v", err)
				}
			}
			cancel()
		})
		if timeout > 0 {
			continue
		}
		r, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM small WHERE i > 1"))
		if err != nil || r.Rows[0][0].I != 2 {
			t.Errorf("%+v, %v after it", r, err)
		}
	}
}

// The caller of a statement that runs is back when its context ends. The device is free after the
// pass, and Close does not wait for that.
func TestAPassThatRunsIsAbandoned(t *testing.T) {
	db := open(t, Options{Backend: "classic"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	list := onGPUs(db, nil)
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	g := (*list)[0]
	passesRun := 0
	backends := devicesOf(db).ByName
	backends["classic"] = stalling{backends["classic"].(failing).Passes, func(*pass.Pass) error {
		if passesRun++; passesRun == 1 {
			close(begun)
			<-end
		}
		return nil
	}, func() { close(ended) }}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-begun; cancel() }()
	if _, err := Collect(db.Query(ctx, "SELECT COUNT(*), SUM(i) FROM small WHERE i > 1")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if !g.Context.Abandoned() {
		t.Error("nothing is abandoned")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	close(end)
	<-ended
	if passesRun > 1 {
		t.Errorf("%d passes ran", passesRun)
	}
}

// stalling is a backend that runs a faulty runner without waiting for it when the context ends, as
// Execute does. It calls over at the end.
type stalling struct {
	*backends.Passes
	do   func(p *pass.Pass) error
	over func()
}

func (b stalling) Execute(ctx context.Context, q *physical.Query, took *querystats.Collector) ([]table.Value, error) {
	var a []table.Value
	g := b.GPUs[0]
	err := g.Context.Do(ctx, func() (err error) {
		defer b.over()
		a, err = b.Alone(ctx, backends.Part{Part: devicepool.Part{GPU: g, Query: q}}, took, faulty{g.GL, b.do})
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// A statement that waits for a file, or for another one's reading of it, ends with its
// context; the table is read once.
func TestReadingEndsWithTheContext(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	open, reads := make(chan struct{}), 0
	err := db.register(catalog.NewEntry("t", func(context.Context, ingest.Options) (catalog.Source, error) {
		reads++
		<-open
		return ingest.Open(context.Background(), "t", ingest.Source{Path: "t.csv", Data: []byte("i\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n")}, ingest.Options{})
	}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if _, err := Collect(db.Query(ctx, countFew)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		cancel()
	}
	close(open)
	r, err := Collect(db.Query(context.Background(), countFew))
	if err != nil || r.Rows[0][0].I != 3 || reads != 1 {
		t.Errorf("%+v, %v after %d readings", r, err, reads)
	}
}

// A panic of what reads a file is an error of the statement, and the next one reads the file again.
func TestAPanicOfReadingIsAnError(t *testing.T) {
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend})
		f, err := ingest.Open(context.Background(), "t", ingest.Source{Path: "t.csv", Data: []byte("i\n0\n1\n2\n")}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bad := &panicking{Source: f, left: 1}
		if err := db.register(catalog.NewEntry("t", func(context.Context, ingest.Options) (catalog.Source, error) { return bad, nil })); err != nil {
			t.Fatal(err)
		}
		if _, err := Collect(db.Query(context.Background(), "SELECT SUM(i) FROM t")); err == nil || !strings.Contains(err.Error(), "no such thing") {
			t.Errorf("%s: %v", backend, err)
		}
		if r, err := Collect(db.Query(context.Background(), "SELECT SUM(i) FROM t")); err != nil || r.Rows[0][0].String() != "3" {
			t.Errorf("%s: %+v, %v after it", backend, r, err)
		}
	}
}

// panicking is a source of which the first readings of columns panic.
type panicking struct {
	catalog.Source
	left int
}

func (p *panicking) Read(ctx context.Context, columns []int, o ingest.Options) (*table.Table, error) {
	if p.left > 0 && len(columns) > 0 {
		p.left--
		panic("no such thing")
	}
	return p.Source.Read(ctx, columns, o)
}

// A statement that waits for the opening of the device ends with its context.
func TestOpeningEndsWithTheContext(t *testing.T) {
	db := open(t, Options{Backend: "classic"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	d := &backends.Devices{Pool: &devicepool.Pool{}, ByName: map[string]backends.Backend{"classic": &fake{name: "classic"}}}
	opens := make(chan struct{})
	db.backends.Opener = func(glctx.Options) (*backends.Devices, error) { <-opens; return d, nil }
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := Collect(db.Query(ctx, "SELECT COUNT(*) FROM small")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	close(opens)
	if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM small")); err != nil {
		t.Error(err)
	}
}

// A statement whose context ends leaves what the device is at to the device: the race detector tells.
func TestCancelledWindowOnADevice(t *testing.T) {
	db := open(t, Options{Backend: "compute"})
	do(t, db, "CREATE TABLE t AS SELECT g % 100 AS v, g * 7919 % 100000 AS x FROM generate_series(1, 100000) AS q(g)")
	const text = "SELECT SUM(r) FROM (SELECT row_number() OVER (PARTITION BY v ORDER BY x) AS r FROM t) w"
	do(t, db, text)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
		if _, err := Collect(db.Query(ctx, text)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
	}
}
