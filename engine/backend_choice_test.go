package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// fakeProfile is of a device on which a comparison takes 50 µs and no time for a row. Its host takes 1
// ns a row. Uploads run at 1 GB/s, and opening takes 2 ms.
func fakeProfile(names ...string) *cost.Profile {
	curve := func(fixed, row float64) cost.Curves {
		return cost.Curves{cost.NewCurve(8, []cost.Point{{Rows: 1000, Seconds: fixed}, {Rows: 1_000_000, Seconds: fixed + row*999_000}})}
	}
	p := &cost.Profile{Key: fakeKey, Measured: time.Unix(1, 0), Opening: 2e-3, Backends: map[string]cost.Backend{
		"cpu": {Overhead: 1e-6, Swept: true, Costs: map[cost.Class]cost.Curves{cost.Compare: curve(1e-6, 1e-9), cost.Sum: curve(1e-6, 1e-9), cost.Program: curve(1e-6, 1e-9)}},
	}}
	for _, name := range names {
		p.Backends[name] = cost.Backend{Overhead: 10e-6, Upload: cost.Transfer{Band: 1e9},
			Costs: map[cost.Class]cost.Curves{cost.Compare: curve(40e-6, 0), cost.Sum: curve(40e-6, 0), cost.Program: curve(40e-6, 0)}}
	}
	return p
}

// calibrated is a folder with a profile.
func calibrated(t *testing.T, p *cost.Profile) string {
	t.Helper()
	folder := t.TempDir()
	if _, err := cost.Save(folder, p); err != nil {
		t.Fatal(err)
	}
	return folder
}

// bytesTable has one column i of one byte.
func bytesTable(rows int) *table.Table {
	codes := make([]uint8, rows)
	for i := range codes {
		codes[i] = uint8(i)
	}
	typ := table.Type{Kind: table.Integer}
	return &table.Table{Name: "t", Fields: []table.Field{{Name: "i", Type: typ}}, Chunks: []*table.Chunk{{Rows: rows,
		Segments: []*table.Segment{{Type: typ, Base: table.OrdinalInt(0), Max: 255, Bits: 8, Codes: table.Codes{U8: codes}}}}}}
}

// auto opens a DB with a table of so many rows, whose device has these backends.
func auto(t *testing.T, rows int, o Options, list ...*fake) (*DB, *fakeDevice) {
	t.Helper()
	t.Setenv("STENCILDB_DEVICE", "")
	db := open(t, o)
	if err := db.Add(bytesTable(rows)); err != nil {
		t.Fatal(err)
	}
	return db, on(db, list...)
}

const countFew = "SELECT COUNT(*) FROM t WHERE i < 3"

func backendOf(t *testing.T, db *DB, text string) string {
	t.Helper()
	r, err := Collect(db.Query(context.Background(), text))
	if err != nil {
		t.Fatal(err)
	}
	return r.Backend
}

// A table of ten rows wakes no device, however often it is asked, and whatever is
// known of the device.
func TestASmallTableWakesNoDevice(t *testing.T) {
	for _, folder := range []string{"", calibrated(t, fakeProfile("classic"))} {
		db, d := auto(t, 10, Options{Calibrations: folder}, &fake{name: "classic"})
		for range 1000 {
			if got := backendOf(t, db, countFew); got != "cpu" {
				t.Fatalf("ran on %s", got)
			}
		}
		if _, err := db.Explain(context.Background(), "SELECT SUM(i) FROM t", ExplainOptions{Analyze: true}); err != nil {
			t.Fatal(err)
		}
		if d.opened != 0 {
			t.Errorf("the device was opened")
		}
	}
}

// A query that gains from the device comes to open it, and to upload its column. It does so once the
// loss without them is about what they take. Opening takes 2 ms, and 4 MB take 4 ms; each query loses
// 4 ms - 50 µs.
func TestALargeTableComesToTheDevice(t *testing.T) {
	classic := &fake{name: "classic", load: time.Nanosecond}
	db, d := auto(t, 4_000_000, Options{Calibrations: calibrated(t, fakeProfile("classic"))}, classic)
	var ran []string
	for range 4 {
		ran = append(ran, backendOf(t, db, countFew))
	}
	if want := []string{"cpu", "classic", "classic", "classic"}; !slices.Equal(ran, want) || d.opened != 1 {
		t.Errorf("ran on %v, want %v; opened %d times", ran, want, d.opened)
	}
	// What is on the device costs nothing more, in another statement either.
	segment := firstEntry(db).Table.Load().Chunks[0].Segments[0]
	d.Content[0].Store(devicepool.NewContent([]textures.Residency{{Segment: segment, Kind: textures.FloatTexture, Bytes: 4 << 20}}, textures.Usage{Budget: 8 << 20, Used: 4 << 20}))
	x, err := db.Explain(context.Background(), "SELECT SUM(i) FROM t", ExplainOptions{})
	if err != nil || x.Backend != "classic" || x.Predictions[0].Transfer != 0 {
		t.Errorf("%+v, %v", x, err)
	}
}

func TestWithoutADevice(t *testing.T) {
	lost := errors.New("lost the context")
	for _, c := range []struct{ device, environment, backend string }{{"", "", "cpu"}, {"99", "", ""}, {"", "99", ""}} {
		db, _ := auto(t, 4_000_000, Options{Device: c.device})
		t.Setenv("STENCILDB_DEVICE", c.environment)
		db.backends.Opener = func(glctx.Options) (*backends.Devices, error) { return nil, lost }
		for range 50 {
			r, err := Collect(db.Query(context.Background(), countFew))
			if c.backend == "" && !errors.Is(err, lost) || c.backend != "" && (err != nil || r.Backend != c.backend) {
				t.Fatalf("%+v: %+v, %v", c, r, err)
			}
		}
		if err := Inspect(db).Ready(); errors.Is(err, lost) != (c.backend == "") {
			t.Errorf("%+v: ready: %v", c, err)
		}
	}
}

// A backend that cannot do a query, or lacks the memory, leaves it to the next one,
// and is not asked again.
func TestAutoFallsThrough(t *testing.T) {
	other := errors.New("lost the context")
	for _, c := range []struct {
		err     error
		backend string
		calls   int
	}{{ErrUnsupported, "cpu", 1}, {ErrDeviceMemory, "cpu", 1}, {other, "", 3}} {
		classic := &fake{name: "classic", err: c.err}
		db, d := auto(t, 4_000_000, Options{Calibrations: calibrated(t, fakeProfile("classic"))}, classic)
		if err := Inspect(db).Ready(); err != nil {
			t.Fatal(err)
		}
		d.Content[0].Store(devicepool.NewContent([]textures.Residency{{Segment: firstEntry(db).Table.Load().Chunks[0].Segments[0], Kind: textures.FloatTexture}}, textures.Usage{}))
		for range 3 {
			r, err := Collect(db.Query(context.Background(), countFew))
			if c.backend == "" && !errors.Is(err, other) || c.backend != "" && (err != nil || r.Backend != c.backend) {
				t.Errorf("%v: %+v, %v", c.err, r, err)
			}
		}
		if len(classic.plans) != c.calls {
			t.Errorf("%v: asked %d times, want %d", c.err, len(classic.plans), c.calls)
		}
	}
}

// settledOn prepares the count over a table whose column is on the device.
func settledOn(t *testing.T, rows int, list ...*fake) *Statement {
	t.Helper()
	db, d := auto(t, rows, Options{Calibrations: calibrated(t, fakeProfile("classic"))}, list...)
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	d.Content[0].Store(devicepool.NewContent([]textures.Residency{{Segment: firstEntry(db).Table.Load().Chunks[0].Segments[0], Kind: textures.FloatTexture}}, textures.Usage{}))
	s, err := db.Prepare(context.Background(), countFew)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Without costs of its own a device goes by those of its class; without any of a
// backend that is left out.
func TestAutoWithoutCalibration(t *testing.T) {
	db, _ := auto(t, 10, Options{}, &fake{name: "classic"})
	x, err := db.Explain(context.Background(), countFew, ExplainOptions{})
	if err != nil || !strings.HasPrefix(x.Costs, "built in") || !strings.Contains(strings.Join(x.Lines(), "\n"), "no device is open") {
		t.Errorf("%v\n%s", err, strings.Join(x.Lines(), "\n"))
	}
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	x, err = db.Explain(context.Background(), countFew, ExplainOptions{})
	if err != nil || !strings.Contains(x.Costs, "info --calibrate") {
		t.Errorf("%v\n%s", err, strings.Join(x.Lines(), "\n"))
	}
}

func TestExplainShowsPredictions(t *testing.T) {
	db, d := auto(t, 4_000_000, Options{Calibrations: calibrated(t, fakeProfile("classic"))}, &fake{name: "classic"})
	x, err := db.Explain(context.Background(), countFew, ExplainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(x.Lines(), "\n")
	for _, want := range []string{"Backend cpu (auto: predicted to be the fastest)", "cpu          4.001 ms",
		"classic      0.050 ms  + uploading i (3.8 MiB) 4.000 ms, opening the device 2.000 ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if d.opened != 0 {
		t.Error("EXPLAIN opened the device")
	}
	if x, err = db.Explain(context.Background(), "SELECT i FROM t LIMIT 1", ExplainOptions{}); err != nil || x.Why != "auto: cpu stops as soon as the LIMIT is reached" {
		t.Errorf("%v: %q of a LIMIT", err, x.Why)
	}
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	d.Content[0].Store(devicepool.NewContent([]textures.Residency{{Segment: firstEntry(db).Table.Load().Chunks[0].Segments[0], Kind: textures.FloatTexture, Bytes: 4 << 20},
		{Segment: &table.Segment{}, Kind: textures.FloatTexture, Bytes: 1 << 20}}, textures.Usage{Budget: 8 << 20, Used: 5 << 20, Working: 1 << 20}))
	x, err = db.Explain(context.Background(), countFew, ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	text = strings.Join(x.Lines(), "\n")
	for _, want := range []string{"Backend classic", "classic      0.050 ms\n", "(predicted 0.050 ms)",
		"Resident on the device: 5.0 MiB of 8.0 MiB, working memory 1.0 MiB", "  t.i  float texture    4.0 MiB"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A choice stays until something changes on the device.
func TestChoicesStay(t *testing.T) {
	s := settledOn(t, 4_000_000, &fake{name: "classic"})
	d := devicesOf(s.db)
	for range 2 {
		if _, err := Collect(s.Query(context.Background())); err != nil || !s.latest.Load().choice.kept.Load().valid(s.db) {
			t.Fatalf("the choice does not stay: %v", err)
		}
	}
	d.Content[0].Store(&devicepool.Content{Columns: d.Content[0].Load().Columns}) // something was evicted, and is back
	if s.latest.Load().choice.kept.Load().valid(s.db) {
		t.Error("what is resident has changed, and the choice stays")
	}
	if _, err := Collect(s.Query(context.Background())); err != nil || !s.latest.Load().choice.kept.Load().valid(s.db) {
		t.Errorf("the choice does not stay again: %v", err)
	}
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Collect(s.Query(context.Background())); err == nil {
		t.Errorf("a kept choice of a closed DB gives %+v", r)
	}
}

// A condition that compiles for long goes to cpu, though it would be faster on the device with its
// program. Once so much has been lost, it is compiled, and stays there.
func TestALongConditionIsNotCompiledAtOnce(t *testing.T) {
	p := readyProfile()
	b := p.Backends["classic"]
	b.Compile = 1e-4
	p.Backends["classic"] = b
	classic := &fake{name: "classic"}
	db, _ := auto(t, 10_000, Options{Calibrations: calibrated(t, p)}, classic)
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	var ors []string
	for i := range 100 {
		ors = append(ors, fmt.Sprintf("i %% %d * i > %d", i+2, i))
	}
	text := "SELECT COUNT(*) FROM t WHERE " + strings.Join(ors, " OR ")
	x, err := db.Explain(context.Background(), text, ExplainOptions{})
	if err != nil || x.Backend != "cpu" || !strings.Contains(strings.Join(x.Lines(), "\n"), "compiling 8.400 ms") {
		t.Fatalf("%v\n%s", err, strings.Join(x.Lines(), "\n"))
	}
	var ran []string
	for range 40 {
		ran = append(ran, backendOf(t, db, text))
	}
	if n := slices.Index(ran, "classic"); n < 5 || slices.Contains(ran[n:], "cpu") {
		t.Errorf("ran on %v", ran)
	}
}
