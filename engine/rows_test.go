package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// typed is a table of one column of each type, in two chunks. The row k is of values k, and the row
// after the last of NULLs.
func typed(t testing.TB, rows int) *table.Table {
	t.Helper()
	of := func(name string, k table.Kind) table.Field {
		return table.Field{Name: name, Type: table.Type{Kind: k}}
	}
	dec := table.Field{Name: "dec", Type: table.Type{Kind: table.Decimal, Precision: 10, Scale: 2}}
	fields := []table.Field{of("yes", table.Boolean), of("small", table.SmallInt), of("i", table.Integer), of("big", table.BigInt), dec,
		of("r", table.Real), of("d", table.Double), of("day", table.Date), of("at", table.Timestamp), of("s", table.Varchar)}
	b := table.NewBuilder("typed", fields, rows/2+1)
	for k := range rows + 1 {
		for i, f := range fields {
			v := table.Value{Type: f.Type, Null: k == rows, I: int64(k), F: float64(k) / 2}
			switch f.Type.Kind {
			case table.Boolean:
				v.I %= 2
			case table.SmallInt:
				v.I %= 1000
			case table.Varchar:
				v.S = fmt.Sprintf("s%03d", k%1000)
			}
			b.Column(i).Value(v)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

func openTyped(t *testing.T, rows int) *DB { return openTypedOn(t, rows, Options{Backend: "cpu"}) }

func openTypedOn(t *testing.T, rows int, o Options) *DB {
	t.Helper()
	db := open(t, o)
	if err := db.Add(typed(t, rows)); err != nil {
		t.Fatal(err)
	}
	return db
}

// words are the rows of a statement as text, and its error behind them.
func words(rows *Rows, err error) []string {
	var list []string
	if err == nil {
		defer rows.Close()
		for rows.Next() {
			list = append(list, fmt.Sprint(rows.Values()))
		}
		err = rows.Err()
	}
	if err != nil {
		list = append(list, err.Error())
	}
	return list
}

// selecting are ways to select rows: each backend, and two devices.
func selecting() []Options {
	list := []Options{{Backend: "compute", Device: "0,1"}}
	for _, name := range Backends() {
		list = append(list, Options{Backend: name})
	}
	return list
}

// Rows come with parameters of all types, and before the error of a later row.
func TestSelect(t *testing.T) {
	for _, o := range selecting() {
		t.Run(o.Backend+o.Device, func(t *testing.T) { testSelect(t, openTypedOn(t, 5, o)) })
	}
}

func testSelect(t *testing.T, db *DB) {
	for _, c := range []struct {
		sql  string
		args []any
		want []string
	}{
		{"SELECT big FROM typed LIMIT $1 OFFSET $2", []any{1, "2"}, []string{"[2]"}},
		// The rows before an error come before it.
		{"SELECT 6 / (big - 2) FROM typed", nil, []string{"[-3]", "[-6]", "division by zero (line 1, column 10)"}},
		// Parameters have the types of their values; text takes the type of its place.
		{"SELECT $1, $2, $3, $4, $5, $6", []any{1, 2.5, true, "x", nil, big.NewInt(7)}, []string{"[1 2.5 true x NULL 7]"}},
		{"SELECT big FROM typed WHERE day = $1 AND at < $2 AND s = $3", []any{"1970-01-03", time.Unix(1, 0).UTC(), "s002"}, []string{"[2]"}},
		{"SELECT big FROM typed WHERE dec = $1 OR d = $2 OR yes = $3 AND big < $4", []any{"0.02", float32(1.5), true, int8(2)}, []string{"[1]", "[2]", "[3]"}},
		{"SELECT big FROM typed WHERE at > $1 - $2 AND big > 3", []any{time.Unix(0, 0).UTC(), time.Second}, []string{"[4]"}},
		{"SELECT big FROM typed WHERE big = $1", []any{nil}, nil},
		{"SELECT $1 + $1", []any{3}, []string{"[6]"}},
		{"SELECT $1", nil, []string{"the statement has 1 parameter, and 0 values were given (line 1, column 1)"}},
		{"SELECT 1", []any{1}, []string{"the statement has 0 parameters, and 1 value was given (line 1, column 1)"}},
		{"SELECT $1", []any{struct{}{}}, []string{"parameter $1: a struct {} has no SQL type"}},
	} {
		if diff := cmp.Diff(c.want, words(db.Query(context.Background(), c.sql, c.args...))); diff != "" {
			t.Errorf("%s: %s", c.sql, diff)
		}
	}
}

func TestScan(t *testing.T) {
	db := openTyped(t, 3)
	rows, err := db.Query(context.Background(), "SELECT * FROM typed OFFSET 2")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var yes bool
	var small int8
	var i uint
	var long *int64
	var dec big.Rat
	var r, d float64
	var day, at time.Time
	var s string
	if err := rows.Scan(&yes); err == nil {
		t.Error("Scan before Next")
	}
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := rows.Scan(&yes, &small, &i, &long, &dec, &r, &d, &day, &at, &s); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(yes, small, i, *long, dec.String(), r, d, day.Format(time.DateOnly), at.UnixMicro(), s)
	if want := "false 2 2 2 1/50 1 1 1970-01-03 2 s002\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, c := range []struct {
		dest any
		want string
	}{{&yes, "smallint 2 does not fit a bool"}, {small, "give a pointer"}, {&day, "does not fit a time.Time"}} {
		all := []any{new(any), c.dest, new(any), new(any), new(any), new(any), new(any), new(any), new(any), new(any)}
		if err := rows.Scan(all...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %s", c.dest, err, c.want)
		}
	}
	if !rows.Next() || rows.Scan(&yes, &small, &i, &long, &dec, &r, &d, &day, &at, &s) == nil {
		t.Error("NULL fits a bool")
	}
	var none any = 1
	if err := rows.Scan(new(*bool), new(any), new(any), &long, new(any), new(any), new(any), new(any), new(any), &none); err != nil || long != nil || none != nil {
		t.Errorf("NULL became %v and %v, %v", long, none, err)
	}
	if rows.Next() || rows.Err() != nil {
		t.Errorf("rows after the last, or %v", rows.Err())
	}
}

func TestBatches(t *testing.T) {
	const n = 5000
	db := openTyped(t, n)
	rows, err := db.Query(context.Background(), "SELECT *, s LIKE '%7' AS seven, at - at AS span, 'x' AS x, big * 1.5 AS wide FROM typed WHERE big % 3 = 0 OR big IS NULL")
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, f := range rows.Schema().Fields() {
		types = append(types, f.Name+" "+f.Type.String())
	}
	if diff := cmp.Diff([]string{"yes bool", "small int16", "i int32", "big int64", "dec decimal(10, 2)", "r float32", "d float64", "day date32",
		"at timestamp[us]", "s dictionary<values=utf8, indices=int32, ordered=false>", "seven bool", "span month_day_nano_interval", "x utf8", "wide decimal(38, 1)"}, types); diff != "" {
		t.Error(diff)
	}
	if !rows.Next() { // what Next has come to is not in a batch
		t.Fatal(rows.Err())
	}
	at := 3
	for b, err := range rows.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		if !b.Schema().Equal(rows.Schema()) {
			t.Errorf("a batch of %v", b.Schema())
		}
		for r := range int(b.NumRows()) {
			for c := range 10 {
				v := arrays.Values(b.Column(c), rows.Columns()[c].Type)(r)
				if want := at > n; v.Null != want {
					t.Fatalf("%d: column %d is NULL: %v", at, c, v.Null)
				}
			}
			if at > n {
				continue
			}
			text := fmt.Sprintf("s%03d", at%1000)
			got := fmt.Sprintln(b.Column(3).(*array.Int64).Value(r), b.Column(2).(*array.Int32).Value(r), b.Column(6).(*array.Float64).Value(r),
				b.Column(7).(*array.Date32).Value(r), b.Column(9).ValueStr(r), b.Column(10).(*array.Boolean).Value(r), arrays.Values(b.Column(13), rows.Columns()[13].Type)(r))
			if want := fmt.Sprintln(at, at, float64(at)/2, arrow.Date32(at), text, at%10 == 7, big.NewRat(int64(3*at), 2).FloatString(1)); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
			at += 3
			if at > n-1 {
				at = n + 1
			}
		}
		b.Release()
	}
}

// Cursors that are half read do not stop others, nor statements of aggregates, and each
// keeps the snapshot that it began with.
func TestCursorsInterleave(t *testing.T) {
	for _, o := range selecting() {
		t.Run(o.Backend+o.Device, func(t *testing.T) { testCursorsInterleave(t, o) })
	}
}

func testCursorsInterleave(t *testing.T, o Options) {
	const n = 20_000
	db := openTypedOn(t, n, o)
	var open []*Rows
	for range 4 {
		rows, err := db.Query(context.Background(), "SELECT big, s FROM typed WHERE big >= 0")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, rows)
	}
	for k := range int64(1000) {
		for _, rows := range open {
			var got int64
			var s string
			if !rows.Next() || rows.Scan(&got, &s) != nil || got != k {
				t.Fatalf("row %d is %d, %v", k, got, rows.Err())
			}
		}
	}
	var wg sync.WaitGroup
	for i, rows := range open {
		wg.Go(func() {
			defer rows.Close()
			if _, err := Collect(db.Query(context.Background(), "SELECT SUM(big) FROM typed")); err != nil {
				t.Error(err)
			}
			left := 0
			for rows.Next() {
				if left++; i == 3 && left == 5 {
					return // forgotten half way
				}
			}
			if left != n-1000 || rows.Err() != nil {
				t.Errorf("%d rows after the first 1,000, %v", left, rows.Err())
			}
		})
	}
	wg.Wait()
}

// endless is a backend whose selection has no end.
type endless struct {
	backends.Backend
	blocks int // yielded so far
	ended  bool
}

func (e *endless) Rows(ctx context.Context, q *physical.Query, _ *querystats.Collector) iter.Seq2[table.Block, error] {
	return func(yield func(table.Block, error) bool) {
		defer func() { e.ended = true }()
		for ctx.Err() == nil {
			e.blocks++
			if !yield(table.Block{N: q.Table.Chunks[0].Rows}, nil) {
				return
			}
		}
		yield(table.Block{}, ctx.Err())
	}
}

func openEndless(t *testing.T) (*DB, *endless) {
	t.Helper()
	db := openTyped(t, 9999)
	e := &endless{Backend: backends.CPU{Backend: cpu.New(1)}}
	db.backends.CPU = e
	return db, e
}

// A reader that does not go on has had few blocks selected in vain; closing ends the
// selection.
func TestSelectionWaitsForTheReader(t *testing.T) {
	db, e := openEndless(t)
	rows, err := db.Query(context.Background(), "SELECT big FROM typed")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		rows.Next()
	}
	if err := rows.Close(); err != nil || !e.ended {
		t.Fatalf("the selection goes on; %v", err)
	}
	if most := 3*runtime.GOMAXPROCS(0) + 4; e.blocks > most {
		t.Errorf("%d blocks were selected for ten rows, want at most %d", e.blocks, most)
	}
	if rows.Next() || rows.Err() != nil {
		t.Errorf("a closed cursor goes on, or %v", rows.Err())
	}
}

// Who leaves the loop over batches ends the selection; what was taken stays.
func TestLeavingBatchesEndsTheSelection(t *testing.T) {
	db, e := openEndless(t)
	rows, err := db.Query(context.Background(), "SELECT big FROM typed")
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range rows.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		defer b.Release()
		if b.NumRows() > 0 {
			break
		}
	}
	if !e.ended || rows.Next() || rows.Err() != nil {
		t.Errorf("the selection has ended: %v; %v", e.ended, rows.Err())
	}
}

func TestLimitEndsTheSelection(t *testing.T) {
	db, e := openEndless(t)
	r, err := Collect(db.Query(context.Background(), "SELECT big + 1 FROM typed LIMIT 12000"))
	if err != nil || len(r.Rows) != 12000 || !e.ended {
		t.Errorf("%v; ended: %v", err, e.ended)
	}
}

func TestCancellingACursor(t *testing.T) {
	db, e := openEndless(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rows, err := db.Query(ctx, "SELECT big FROM typed")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		if n++; n == 30_000 {
			cancel()
		}
	}
	if !errors.Is(rows.Err(), context.Canceled) || !e.ended {
		t.Errorf("%v; ended: %v", rows.Err(), e.ended)
	}
}

// Who cancels while the rows of one chunk come gets those that are computed, not the chunk's rest.
func TestCancellingInsideAChunk(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	if err := db.Add(bytesTable(1_000_000)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rows, err := db.Query(ctx, "SELECT i"+strings.Repeat(", i", 511)+" FROM t") // in batches of 1024
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		if n++; n == 1 {
			cancel()
		}
	}
	if ahead := (4*runtime.GOMAXPROCS(0) + 4) << 10; !errors.Is(rows.Err(), context.Canceled) || n > ahead {
		t.Errorf("%d rows, at most %d were computed ahead; %v", n, ahead, rows.Err())
	}
}

// An answer of any size takes as much memory as a small one.
func TestMemoryIsBounded(t *testing.T) {
	db, _ := openEndless(t)
	rows, err := db.Query(context.Background(), "SELECT big, s, dec FROM typed LIMIT 20000000")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n, most := int64(0), uint64(0)
	for b, err := range rows.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		if n += b.NumRows(); n/5_000_000 != (n-b.NumRows())/5_000_000 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		b.Release()
	}
	if n != 20_000_000 || most > 64<<20 {
		t.Errorf("%d rows, %d MiB on the heap", n, most>>20)
	}
}

// A backend that declines after some rows is followed by the next one, from the row after
// the last.
func TestTheNextBackendGoesOn(t *testing.T) {
	declined := sqlstate.Also(errors.New("no more"), ErrUnsupported)
	slow := fakeProfile("classic") // but for classic
	cpu := slow.Backends["cpu"]
	cpu.Overhead = 1000
	slow.Backends["cpu"] = cpu
	for _, before := range []int{0, 1, 3, 5} { // of the first chunk's 5
		db := openTypedOn(t, 9, Options{Calibrations: calibrated(t, slow)})
		on(db, &fake{name: "classic", rows: before, err: declined})
		if err := Inspect(db).Ready(); err != nil {
			t.Fatal(err)
		}
		got := words(db.Query(context.Background(), "SELECT big FROM typed"))
		if want := "[[0] [1] [2] [3] [4] [5] [6] [7] [8] [NULL]]"; fmt.Sprint(got) != want {
			t.Errorf("%d rows before: %v", before, got)
		}
	}
}

// Rows that come with their values are what these say, cut as others are.
func TestBlocksBringTheirValues(t *testing.T) {
	integer := table.Type{Kind: table.BigInt}
	values := func(codes ...uint32) *table.Chunk {
		return &table.Chunk{Rows: len(codes), Segments: []*table.Segment{nil, {Type: integer, Base: table.OrdinalInt(100), Max: 9, Bits: 4, Codes: table.Codes{U32: codes}}}}
	}
	f := backends.Found{Chunk: 3, Rows: []physical.SelectedRows{{Values: []*table.Chunk{values(1, 2, 3), values(4)}}, {First: 7, N: 0}, {Values: []*table.Chunk{values(5, 6)}}}}
	g := &gather{table: &table.Table{}, items: []plan.Item{{Name: "b", E: &expr.Column{Index: 1, Name: "b", T: integer}}}}
	var got []string
	for b := range f.Blocks {
		for i := range b.Len() {
			rows, err := g.batch(new(vector.Evaluator), b.Cut(i, i+1))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rows.(computed)[0].String())
		}
	}
	if want := "[[101] [102] [103] [104] [105] [106]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// Rows of a table that are found on a device are said with its passes, and explained.
func TestRowsOnADevice(t *testing.T) {
	for backend, pass := range map[string]string{"classic": "SelectRows", "fused": "SelectRows", "compute": "CountGroups|RowBits"} { // RowBits in software
		db := openTypedOn(t, 1000, Options{Backend: backend})
		const text = "SELECT s FROM typed WHERE big < 700"
		r, err := Collect(db.Query(context.Background(), text))
		if err != nil || len(r.Rows) != 700 || r.Passes == 0 || r.Backend != backend || len(r.Devices) != 1 {
			t.Errorf("%s: %d rows, %+v, %v", backend, len(r.Rows), r.Stats, err)
		}
		x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil || !regexp.MustCompile(pass).MatchString(strings.Join(x.Lines(), "\n")) || x.Rows != 700 {
			t.Errorf("%s: %v, %v", backend, x, err)
		}
	}
}

func TestExplainOfRows(t *testing.T) {
	db := openTyped(t, 10)
	x, err := db.Explain(context.Background(), "SELECT big, i + 1 AS j FROM typed WHERE i > $1 LIMIT 3", ExplainOptions{Analyze: true, Args: []any{4}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Limit(3)", "  Project(big, i + 1 AS j)", "    Filter(i > 4) (5 rows, 5 expected)", "      Scan(typed)", "Backend cpu"}
	lines := x.Lines()
	if diff := cmp.Diff(want, lines[:len(want)]); diff != "" || x.Rows != 3 {
		t.Errorf("%d rows; %s", x.Rows, diff)
	}
	if got := words(db.Query(context.Background(), "EXPLAIN (FORMAT JSON) SELECT i FROM typed WHERE i < 5")); len(got) != 1 ||
		!strings.Contains(got[0], `"node":"Filter(i < 5)"`) {
		t.Errorf("%q", got)
	}
	if got := words(db.Query(context.Background(), "EXPLAIN (FORMAT JSON) SELECT big FROM typed LIMIT 3")); len(got) != 1 ||
		!strings.Contains(got[0], `"node":"Project(big)","inputs":[{"node":"Limit(3)","inputs":[{"node":"Scan(typed)","backend":"cpu","passes":[`) {
		t.Errorf("%q", got)
	}
}

// Who does what stands above joins and subqueries follows from their rows: EXPLAIN names nobody before they have run.
func TestExplainBeforeSubqueries(t *testing.T) {
	db := openTyped(t, 10)
	for text, analyzed := range map[string]string{
		"SELECT COUNT(*) FROM typed WHERE i > (SELECT AVG(i) FROM typed)":      "Backend cpu",
		"SELECT COUNT(*) FROM typed a JOIN typed b ON a.i = b.i WHERE a.i > 3": "Join(inner, a.i = b.i) on cpu",
	} {
		for _, analyze := range []bool{false, true} {
			x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: analyze})
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Join(x.Lines(), "\n")
			if open := !strings.Contains(lines, "cpu") && strings.Contains(lines, "EXPLAIN ANALYZE has them"); open == analyze || analyze && !strings.Contains(lines, analyzed) {
				t.Errorf("analyzed %v:\n%s", analyze, lines)
			}
		}
	}
}

// What nodes took is part of what the execution took: loading is in neither.
func TestNodesTakeNoLongerThanTheExecution(t *testing.T) {
	db := openSales(t, "compute")
	for _, sql := range []string{
		"SELECT units + 1 FROM sales WHERE units > 2 ORDER BY units LIMIT 3", "SELECT units % 3, COUNT(*) FROM sales GROUP BY 1", "SELECT COUNT(*) FROM sales WHERE units > 1",
	} {
		x, err := db.Explain(context.Background(), sql, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		top := x.Plan
		for top.MS == nil && len(top.Inputs) > 0 {
			top = top.Inputs[0]
		}
		if top.MS == nil || *top.MS > 1e3*x.Stats.Elapsed.Seconds() {
			t.Errorf("%s: %v of %v\n%s", sql, top.MS, x.Stats.Elapsed, strings.Join(x.Lines(), "\n"))
		}
		if text := strings.Join(x.Lines(), "\n"); !strings.Contains(text, "Loading time: ") {
			t.Errorf("%s: loading is not shown apart in\n%s", sql, text)
		}
	}
}
