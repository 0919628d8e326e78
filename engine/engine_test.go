package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// small is a table of two chunks: i is 1, 2, 3, NULL; d is i / 2 as DOUBLE.
func small(t *testing.T) *table.Table {
	t.Helper()
	b := table.NewBuilder("small", []table.Field{
		{Name: "i", Type: table.Type{Kind: table.BigInt}}, {Name: "d", Type: table.Type{Kind: table.Double}},
	}, 2)
	for i := range int64(4) {
		b.Column(0).Value(table.Value{Type: table.Type{Kind: table.BigInt}, I: i + 1, Null: i == 3})
		b.Column(1).Float(float64(i+1) / 2)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// open opens a DB that finds no calibration, unless the options name a folder.
func open(t *testing.T, o Options) *DB {
	t.Helper()
	if o.Calibrations == "" {
		o.Calibrations = t.TempDir()
	}
	db, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if o.Backend == "both" { // costs of software say cpu
		do(t, db, "SET assignment = 'both'")
	}
	return db
}

func openSmall(t *testing.T) *DB {
	t.Helper()
	db := open(t, Options{Backend: "cpu"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestQueryAnswersOneRow(t *testing.T) {
	r, err := Collect(openSmall(t).Query(context.Background(), "SELECT COUNT(*), SUM(i) + 1 AS s, MEDIAN(d), MIN(i) FROM small WHERE d > 0.5;"))
	if err != nil {
		t.Fatal(err)
	}
	var names, types, values []string
	for i, c := range r.Columns {
		names, types, values = append(names, c.Name), append(types, c.Type.String()), append(values, r.Rows[0][i].String())
	}
	if diff := cmp.Diff([][]string{
		{"count", "s", "median", "min"},
		{"bigint", "numeric(38,0)", "double precision", "bigint"},
		{"3", "6", "1.5", "2"},
	}, [][]string{names, types, values}); diff != "" {
		t.Error(diff)
	}
	if r.Backend != "cpu" || r.Passes != 0 || r.Samples != 0 || r.Load != 0 || r.SQL != "SELECT COUNT(*), SUM(i) + 1 AS s, MEDIAN(d), MIN(i) FROM small WHERE d > 0.5" {
		t.Errorf("%+v", r)
	}
}

func TestQueryTakesOneStatement(t *testing.T) {
	for _, text := range []string{"", "SELECT COUNT(*) FROM small; SELECT COUNT(*) FROM small"} {
		if _, err := Collect(openSmall(t).Query(context.Background(), text)); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}

func TestEachGoesOnAfterAnError(t *testing.T) {
	var got []string
	for r, err := range openSmall(t).Each(context.Background(), "SELECT COUNT(*) FROM small; SELECT 1/(COUNT(*)-4) FROM small; SELECT COUNT(i) FROM small") {
		if err != nil {
			got = append(got, err.(*StatementError).SQL+": "+err.Error())
			continue
		}
		all, err := Collect(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, all.Rows[0][0].String())
	}
	if len(got) != 3 || got[0] != "4" || got[2] != "3" ||
		!strings.HasPrefix(got[1], "SELECT 1/(COUNT(*)-4) FROM small: ") || !strings.Contains(got[1], "division by zero") {
		t.Errorf("got %q", got)
	}
}

func TestEachStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for _, err := range openSmall(t).Each(ctx, "SELECT COUNT(*) FROM small; SELECT COUNT(*) FROM small; SELECT COUNT(*) FROM small") {
		if n++; n == 2 && !errors.Is(err, context.Canceled) {
			t.Errorf("the statement after the end of the context gave %v", err)
		}
		cancel()
	}
	if n > 2 {
		t.Errorf("%d statements ran", n)
	}
}

func TestErrorsKeepTheirPosition(t *testing.T) {
	_, err := Collect(openSmall(t).Query(context.Background(), "SELECT COUNT(*)\nFROM small WHERE j = 1"))
	var e *expr.Error
	if !errors.As(err, &e) || e.Pos != 33 || !strings.Contains(err.Error(), "line 2, column 18") {
		t.Errorf("%v at %+v", err, e)
	}
}

func TestTablesAreReadOnce(t *testing.T) {
	db := open(t, Options{Backend: "cpu", ChunkRows: 2})
	reads := 0
	err := db.register(catalog.NewEntry("t", func(ctx context.Context, o ingest.Options) (catalog.Source, error) {
		reads++
		return ingest.Open(ctx, "t", ingest.Source{Path: "t.csv", Data: []byte("a\n1\n2\n3\n")}, o)
	}))
	if err != nil {
		t.Fatal(err)
	}
	var loads []time.Duration
	for range 2 {
		r, err := Collect(db.Query(context.Background(), "SELECT SUM(a) FROM t"))
		if err != nil || r.Rows[0][0].String() != "6" {
			t.Fatal(r, err)
		}
		loads = append(loads, r.Load)
	}
	if reads != 1 || loads[0] <= 0 || loads[1] != 0 {
		t.Errorf("read %d times, load times %v", reads, loads)
	}
	if n := len(firstEntry(db).Table.Load().Chunks); n != 2 {
		t.Errorf("%d chunks of at most 2 rows for 3 rows", n)
	}
}

func TestUnreadableFileIsTheErrorOfTheStatement(t *testing.T) {
	db := openSmall(t)
	if err := db.Attach("gone", ingest.Source{Path: "no-such-file.csv"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM small")); err != nil {
		t.Error(err)
	}
	if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM gone")); err == nil || !strings.Contains(err.Error(), "no-such-file.csv: no such file") {
		t.Errorf("error %v", err)
	}
	if err := db.Load(context.Background(), "gone2", ingest.Source{Path: "no-such-file.csv"}); err == nil {
		t.Error("loading a missing file is no error")
	}
}

func TestHostBudgetCountsAllTables(t *testing.T) {
	csv := []byte("a\n" + strings.Repeat("123456789012\n", 1000))
	db := open(t, Options{Backend: "cpu", HostMemory: 8000})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	firstEntry(db).Table.Load().Chunks[0].Segments[0].Codes = table.Codes{U8: make([]uint8, 9000)}
	if err := db.Attach("t", ingest.Source{Path: "t.csv", Data: csv}); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM t")); err == nil || !strings.Contains(err.Error(), "--host-memory") {
		t.Errorf("error %v", err)
	}
}

func TestTwoTablesOfOneName(t *testing.T) {
	if err := openSmall(t).Add(small(t)); err == nil {
		t.Error("two tables of one name are no error")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{{Backend: "gpu"}, {GPUMemory: -1}, {HostMemory: -1}, {ChunkRows: -1}} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
}

func TestExplainOnTheCPU(t *testing.T) {
	x, err := openSmall(t).Explain(context.Background(), "SELECT SUM(i), MAX(d) FROM small WHERE i > 1 AND d < 1 OR i = 1", ExplainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(x.Lines(), "\n")
	for _, want := range []string{"Backend cpu", "Scan(small)", "records 4, chunks 2", "Or", "And", "Aggregate(SUM(i))", "Aggregate(MAX(d))"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	if x.Stats != nil || x.SQL != "SELECT SUM(i), MAX(d) FROM small WHERE i > 1 AND d < 1 OR i = 1" {
		t.Errorf("%+v", x)
	}
}

func TestAnalyzeReportsTheAnswersNumbers(t *testing.T) {
	for _, text := range []string{"EXPLAIN ANALYZE SELECT COUNT(*) FROM small", "EXPLAIN SELECT COUNT(*) FROM small"} {
		x, err := openSmall(t).Explain(context.Background(), text, ExplainOptions{Analyze: strings.Contains(text, "ANALYZE")})
		if err != nil {
			t.Fatal(err)
		}
		if analyzed := x.Stats != nil; analyzed != strings.Contains(text, "ANALYZE") {
			t.Errorf("%s: analyzed %v", text, analyzed)
		}
	}
}

// fake is a backend that reports what it is told to.
type fake struct {
	name  string
	err   error
	steps []Step
	load  time.Duration     // of uploads
	plans []*physical.Query // that it was asked to execute
	rows  int               // of the first chunk, given before err
}

func (f *fake) Name() string { return f.name }
func (f *fake) Explain(context.Context, *physical.Query, bool) ([]Step, error) {
	return f.steps, f.err
}
func (f *fake) Rows(_ context.Context, _ *physical.Query, took *querystats.Collector) iter.Seq2[table.Block, error] {
	return func(yield func(table.Block, error) bool) {
		took.Add(7, 9, Loading{Uploading: f.load}, 0)
		if f.rows == 0 || yield(table.Block{N: f.rows}, nil) {
			yield(table.Block{}, f.err)
		}
	}
}
func (f *fake) Execute(_ context.Context, q *physical.Query, took *querystats.Collector) ([]table.Value, error) {
	f.plans = append(f.plans, q)
	took.Add(7, 9, Loading{Uploading: f.load}, 0)
	return make([]table.Value, len(q.Aggs)), f.err
}

// fakeDevice has the backends that a test gives it, and no GPU.
type fakeDevice struct {
	*backends.Devices
	opened int
}

// fakeKey is the key of fakeDevice, on this CPU.
var fakeKey = devicepool.KeyOf(&glctx.Caps{Renderer: "fake", Version: "4.5"})

// on gives a DB a device with these backends.
func on(db *DB, list ...*fake) *fakeDevice {
	d := &fakeDevice{Devices: &backends.Devices{Pool: &devicepool.Pool{Key: fakeKey, Content: []*atomic.Pointer[devicepool.Content]{{}}}, ByName: map[string]backends.Backend{}}}
	d.Content[0].Store(devicepool.Empty)
	for _, f := range list {
		d.ByName[f.name] = f
	}
	db.backends.Opener = func(glctx.Options) (*backends.Devices, error) { d.opened++; return d.Devices, nil }
	return d
}

// The first execution's uploads and programs stand apart from what the passes take.
func TestAnalyzeShowsTheFirstExecutionApart(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute"} {
		db := open(t, Options{Backend: backend})
		if err := db.Add(small(t)); err != nil {
			t.Fatal(err)
		}
		for _, again := range []bool{false, true} {
			x, err := db.Explain(context.Background(), "SELECT SUM(i) FROM small WHERE i > 1", ExplainOptions{Analyze: true})
			if err != nil || (x.Stats.Load > 0) == again || x.first == 0 {
				t.Errorf("%s: %+v, first %v, %v, want a loading time once", backend, x.Stats, x.first, err)
			}
		}
		x := &Explanation{Plan: &PlanNode{}, Executor: &Executor{}, Stats: &Stats{Passes: 1, Elapsed: time.Millisecond}, first: 2 * time.Millisecond}
		if lines := x.Lines(); !slices.Contains(lines, "First execution: 2.000 ms") {
			t.Errorf("%q", lines)
		}
	}
}

// What loading took is shown in parts that add up to it, whatever is executed, and a second time there is none.
func TestLoadingIsShownInParts(t *testing.T) {
	ctx, waited := context.Background(), 0 // for a device to open, which it does beside reading: not where that takes longer
	for _, backend := range []string{"classic", "fused", "compute", "cpu"} {
		for _, text := range []string{"SELECT SUM(j), MAX(i) FROM t WHERE j < 200", "SELECT i FROM t WHERE j = 3",
			"SELECT j, COUNT(*) FROM t WHERE i > 5 GROUP BY j", "SELECT SUM(j) FROM t WHERE j < (SELECT MEDIAN(j) FROM t)"} {
			db := open(t, Options{Backend: backend})
			if err := db.Attach("t", ingest.Source{Path: coming(t, "csv", 1000)}); err != nil {
				t.Fatal(err)
			}
			for _, again := range []bool{false, true} {
				x, err := db.Explain(ctx, text, ExplainOptions{Analyze: true})
				if err != nil {
					t.Fatal(err)
				}
				l, onDevice := x.Stats.Loading, backend != "cpu"
				if l.Total() != x.Stats.Load || l.Reading < 0 || l.Opening < 0 || l.Uploading < 0 || l.Compiling < 0 {
					t.Errorf("%s: %s: %v in all, in parts %+v", backend, text, x.Stats.Load, l)
				}
				if l.Opening > 0 {
					waited++
				}
				if (l.Reading > 0) == again || l.Opening > 0 && (again || !onDevice) || (l.Uploading > 0) != (onDevice && !again) || (l.Compiling > 0) != (onDevice && !again) {
					t.Errorf("%s: %s: again %v: %+v", backend, text, again, l)
				}
				var told struct {
					Load      float64 `json:"load_ms"`
					Reading   float64 `json:"reading_ms"`
					Opening   float64 `json:"opening_ms"`
					Uploading float64 `json:"uploading_ms"`
					Compiling float64 `json:"compiling_ms"`
				}
				data, err := json.Marshal(x)
				if err == nil {
					err = json.Unmarshal(data, &told)
				}
				if sum := told.Reading + told.Opening + told.Uploading + told.Compiling; err != nil || math.Abs(sum-told.Load) > 1e-6 || (told.Load > 0) != (x.Stats.Load > 0) {
					t.Errorf("%s: %s: %+v, %v", backend, text, told, err)
				}
				if line := "Loading time: "; again == strings.Contains(strings.Join(x.Lines(), "\n"), line) {
					t.Errorf("%s: %s: again %v: %q", backend, text, again, x.Lines())
				}
			}
			r, err := Collect(db.Query(ctx, text))
			if err != nil || r.Load != 0 || r.Loading != (Loading{}) {
				t.Errorf("%s: %s: a query after it loads %+v: %v", backend, text, r.Loading, err)
			}
		}
	}
	if waited == 0 {
		t.Error("no statement waited for a device to open")
	}
}

func TestAnalyzeShowsEachPass(t *testing.T) {
	db := open(t, Options{Backend: "classic"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	on(db, &fake{name: "classic", load: time.Nanosecond, steps: []Step{
		{Pass: "CopyToDepth(i)", GLSL: "#version 450\nvoid main() {}\n", MS: new(1.5)},
		{Pass: "Compare(i < 3)", Counts: "the records with i < 3", Samples: new(uint64(2)), MS: new(1.0)},
	}})
	x, err := db.Explain(context.Background(), "SELECT COUNT(*) FROM small WHERE i < 3", ExplainOptions{Analyze: true, GLSL: true})
	if err != nil {
		t.Fatal(err)
	}
	x.Stats.Elapsed, x.Stats.Load, x.Stats.Loading = 3*time.Millisecond, 6*time.Millisecond, Loading{Opening: 4 * time.Millisecond, Compiling: 2 * time.Millisecond}
	x.Predictions, x.Resident = nil, nil
	ms := 0.25
	for _, n := range []*PlanNode{x.Plan, x.Plan.Inputs[0]} {
		if n.MS == nil {
			t.Fatalf("%s has no time", n.Node)
		}
		n.MS = &ms
	}
	if diff := cmp.Diff([]string{
		"Project(COUNT(*) AS count)",
		"  Aggregate(COUNT(*))",
		"    Filter(i < 3) (2 rows, 2 expected)",
		"      Scan(small)",
		"Backend classic on fake",
		"   1  CopyToDepth(i)  (1.500 ms)",
		"        | #version 450",
		"        | void main() {}",
		"   2  Compare(i < 3)  the records with i < 3  (samples 2, 1.000 ms)",
		"Nodes, each with what is below it  rows  expected     ms  bytes",
		"  Project(COUNT(*) AS count)          1            0.250      8",
		"    Aggregate(COUNT(*))               1            0.250      8",
		"Rows: 1",
		"Passes: 7 (2.500 ms, and 0.500 ms beside them)",
		"Samples counted: 9",
		"Execution time: 3.000 ms",
		"Loading time: 6.000 ms (opening the device 4.000 ms, compiling 2.000 ms)",
	}, x.Lines()); diff != "" {
		t.Error(diff)
	}
}

// What looking for a device and opening it took belongs to the statement that
// needed it, as loading, and to no other.
func TestOpeningOfADeviceIsLoading(t *testing.T) {
	db := open(t, Options{Backend: "classic"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	for i, loading := range []bool{true, false} {
		r, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM small"))
		if err != nil {
			t.Fatal(err)
		}
		if r.Load > 0 != loading {
			t.Errorf("statement %d: loading took %v", i+1, r.Load)
		}
	}
}

// Whoever draws the progress can stop at the last call, after a failure too.
func TestProgressEndsWithAFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,2\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done, total := int64(0), int64(-1)
	db := open(t, Options{Backend: "cpu", Progress: func(_ string, p ingest.Progress) { done, total = p.Done, p.Total }})
	if err := db.Attach("t", ingest.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM t")); err == nil || done != total {
		t.Errorf("%v, and the last progress is %d of %d", err, done, total)
	}
}

// firstEntry is the table that was added first.
func firstEntry(db *DB) *catalog.Entry {
	entries, _ := db.tables.Entries()
	return entries[0]
}

// devicesOf are the devices that a DB has opened; nil for none.
func devicesOf(db *DB) *backends.Devices {
	d, _, _ := db.backends.Now()
	return d
}
