package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
)

// Of one chunk classic orders the rows itself, where the keys are columns.
func TestOrderByOfANetwork(t *testing.T) {
	two := typed(t, 5)
	b := table.NewBuilder(two.Name, two.Fields, 0)
	for _, c := range two.Chunks {
		for row := range c.Rows {
			for i, s := range c.Segments {
				b.Column(i).Value(s.Value(row))
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
	}
	db := open(t, Options{Backend: "classic"})
	if err := db.Add(b.Table()); err != nil {
		t.Fatal(err)
	}
	cpu := openTyped(t, 5)
	for sql, network := range map[string]bool{
		"SELECT big FROM typed ORDER BY s, big DESC": true, "SELECT * FROM typed WHERE big > 1 ORDER BY yes NULLS FIRST LIMIT 1": true,
		"SELECT big, s FROM typed ORDER BY big + 1": true, "SELECT DISTINCT ON (yes) big FROM typed ORDER BY yes": true,
		"SELECT big FROM typed ORDER BY big + 1": false, "SELECT s || 'x', s FROM typed ORDER BY s DESC LIMIT 3": false, // by blending
		"SELECT big FROM typed ORDER BY big % 2": false, "SELECT DISTINCT ON (big % 2) big FROM typed": false,
	} {
		x, err := db.Explain(context.Background(), sql, ExplainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(x.Steps, func(s Step) bool { _, ok := s.Op.(pass.CompareExchange); return ok }); got != network {
			t.Errorf("%s: a network orders: %v, want %v", sql, got, network)
		}
		if diff := cmp.Diff(words(cpu.Query(context.Background(), sql)), words(db.Query(context.Background(), sql))); diff != "" {
			t.Errorf("%s: %s", sql, diff)
		}
	}
}

// The backend that is named selects the rows. compute sorts them by columns and by what it can make of these; else the sort is the
// CPU's.
func TestExplainOfOrderBy(t *testing.T) {
	db := openTypedOn(t, 5, Options{Backend: "compute"})
	for key, on := range map[string]string{"big": "compute", "7 - i": "compute", "big % 7": "compute", "left(s, 2)": "compute", "s || CAST(day AS character varying)": "cpu"} {
		x, err := db.Explain(context.Background(), "SELECT s FROM typed WHERE i > 1 ORDER BY "+key+" DESC LIMIT 2 OFFSET 1", ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(x.Lines(), "\n"); !strings.HasPrefix(got, "Project(s)\n  Limit(2 OFFSET 1)\n    Sort("+key+" DESC) for the first 3 on "+on+
			"\n      Filter(i > 1) (3 rows, 3 expected)\n        Scan(typed)\nBackend compute on ") || !strings.Contains(got, "\nRows: 2\n") {
			t.Errorf("it is explained as\n%s", got)
		}
		if s := x.Plan.Inputs[0].Inputs[0]; s.On != on || s.Inputs[0].Backend != "compute" {
			t.Errorf("the sort is on %s, its input on %s", s.On, s.Inputs[0].Backend)
		}
	}
}

// A sort that there is no memory for is merged from a temporary file; its first rows need none.
func TestOrderByWithinTheHostMemory(t *testing.T) {
	for _, backend := range []string{"cpu", "compute", "both"} {
		testOrderByWithinTheHostMemory(t, backend, map[string]int64{"cpu": 15, "compute": 11, "both": 11}[backend])
	}
}

func testOrderByWithinTheHostMemory(t *testing.T, backend string, rowBytes int64) {
	tab := typed(t, 20_000)
	db := open(t, Options{Backend: backend, HostMemory: tab.Bytes() + 20_000*rowBytes})
	if err := db.Add(tab); err != nil {
		t.Fatal(err)
	}
	whole := open(t, Options{Backend: "cpu"})
	if err := whole.Add(tab); err != nil {
		t.Fatal(err)
	}
	written := 0
	db.temporary = func() (ingest.Temporary, error) {
		written++
		return spill.CreateTemporary()
	}
	for text, files := range map[string]int{
		"SELECT s FROM typed ORDER BY big":                            1,
		"SELECT s, big FROM typed ORDER BY s DESC, big":               1,
		"SELECT big FROM typed ORDER BY big DESC NULLS LAST LIMIT 3":  0,
		"SELECT big FROM typed WHERE big % 100 = 0 ORDER BY big DESC": 0,
	} {
		written = 0
		if sameBeyond(t, whole, func() *DB { return db }, text); written != files {
			t.Errorf("%s on %s: %d temporary files, want %d", text, backend, written, files)
		}
	}
}

// Text of chunks with dictionaries of their own comes in one column.
func TestOrderByOfDictionaries(t *testing.T) {
	db := openTyped(t, 5)
	rows, err := db.Query(context.Background(), "SELECT s FROM typed ORDER BY big % 2 NULLS FIRST, big DESC")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rec, err := range rows.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		if !rec.Schema().Equal(rows.Schema()) {
			t.Errorf("a batch of %v, want %v", rec.Schema(), rows.Schema())
		}
		for i := range int(rec.NumRows()) {
			got = append(got, rec.Column(0).ValueStr(i))
		}
		rec.Release()
	}
	if diff := cmp.Diff([]string{"(null)", "s004", "s002", "s000", "s003", "s001"}, got); diff != "" {
		t.Error(diff)
	}
}

// The first rows of chunks with codes of their own are those of the whole order, wherever NULLs come.
func TestFirstRowsAreThoseOfTheWholeOrder(t *testing.T) {
	integer, text := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Varchar}
	build := table.NewBuilder("t", []table.Field{{Name: "i", Type: integer}, {Name: "n", Type: integer}, {Name: "s", Type: text}, {Name: "f", Type: integer}}, 1<<16)
	const rows = 200_000
	for r := range int64(rows) {
		for c, v := range []table.Value{
			table.Int((r*7919 + r>>16*100) % 99_991), table.Int(r >> 16 * 1000 * (r % 3)),
			table.Str(fmt.Sprint(r%(500+r>>16*100), "x")), table.Int(r % 5),
		} {
			if c > 0 && r%7919 == 0 {
				v = table.Null(v.Type)
			}
			build.Column(c).Value(v)
		}
		if err := build.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, Options{Backend: "cpu"})
	if err := db.Add(build.Table()); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, where := range []string{"", " WHERE f = 3 OR f IS NULL", " WHERE i < 1"} {
		for _, key := range []string{"i", "n", "s", "f"} {
			for _, order := range []string{"NULLS FIRST", "NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST"} {
				q := "SELECT i, n, s FROM t" + where + " ORDER BY " + key + " " + order + ", i DESC"
				all, err := db.Query(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				var whole [][]table.Value
				for len(whole) < 40 && all.Next() {
					whole = append(whole, slices.Clone(all.Values()))
				}
				if err := errors.Join(all.Err(), all.Close()); err != nil {
					t.Fatal(err)
				}
				for _, n := range []int{1, 20, 40} {
					some, err := Collect(db.Query(ctx, fmt.Sprint(q, " LIMIT ", n)))
					if err != nil || fmt.Sprint(some.Rows) != fmt.Sprint(whole[:min(n, len(whole))]) {
						t.Fatalf("%s LIMIT %d: %v, %v", q, n, some.Rows, err)
					}
				}
			}
		}
	}
}

// ORDER BY an expression has the rows in cpu's order, which compute finds by codes that it makes of columns. Codes are of every width,
// NULL or not, next to columns, first and last. There are several chunks, devices and windows.
func TestOrderByExpressionsOnCompute(t *testing.T) {
	edges := func(o Options) *DB {
		db := open(t, o)
		b := table.NewBuilder("edges", []table.Field{{Name: "id", Type: table.Type{Kind: table.Integer}}, {Name: "a", Type: table.Type{Kind: table.BigInt}},
			{Name: "x", Type: table.Type{Kind: table.Double}}, {Name: "d", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
			{Name: "s", Type: table.Type{Kind: table.Varchar}}, {Name: "day", Type: table.Type{Kind: table.Date}}, {Name: "k", Type: table.Type{Kind: table.SmallInt}}}, 170)
		r := rand.New(rand.NewPCG(3, 5))
		whole := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 33, -7, -1, 0, 1, 9, 1 << 40, math.MaxInt64 - 1, math.MaxInt64}
		real := []float64{math.Inf(-1), -1e300, -2.5, -3e-310, math.Copysign(0, -1), 0, 3e-310, 1.5, 1e300, math.Inf(1), math.NaN()}
		for i := range 400 {
			b.Column(0).Int(int64(i))
			for c, put := range []func(*table.ColumnBuilder, int){
				func(b *table.ColumnBuilder, n int) { b.Int(whole[n]) }, func(b *table.ColumnBuilder, n int) { b.Float(real[n]) },
				func(b *table.ColumnBuilder, n int) { b.Int(int64(n*n*41 - 700)) }, func(b *table.ColumnBuilder, n int) { b.String([]string{"", "B", "ab", "b ", "ß"}[n%5]) },
				func(b *table.ColumnBuilder, n int) { b.Int(int64(400 * (n - 5))) }, func(b *table.ColumnBuilder, n int) { b.Int(int64(n - 5)) },
			} {
				if r.IntN(7) == 0 || i >= 340 && c == 2 { // the last chunk has no decimals
					b.Column(c + 1).Null()
				} else {
					put(b.Column(c+1), r.IntN(len(whole)))
				}
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Add(b.Table()); err != nil {
			t.Fatal(err)
		}
		return db
	}
	onCPU, onOne, onTwo, streamed := edges(Options{Backend: "cpu"}), edges(Options{Backend: "compute"}), edges(Options{Backend: "compute", Device: "0,1"}), edges(Options{Backend: "compute"})
	if _, err := Inspect(streamed).GPU(context.Background()); err != nil {
		t.Fatal(err)
	}
	Inspect(streamed).Stream(128)
	for n, by := range []string{
		"a % 1000, id", "a % 1000 DESC, k", "a / 3 NULLS FIRST, id DESC", "k * k - 3 * k", "k * k DESC NULLS LAST, a % 7 NULLS FIRST", "k * 1000000000000 + k % 3, id",
		"9 % k", // raises an error
		"a / k + 0 * id, id DESC", "x * 2.0", "-x DESC", "x / 3.0 NULLS FIRST, k % 2", "CAST(k AS double precision) / 7.0 DESC, id", "d * d, k", "d - k * 3 NULLS FIRST", "k + d DESC",
		"lower(s), a % 3", "s || '!' DESC", "length(s) NULLS FIRST, -k % 3", "CASE WHEN s = 'ab' THEN NULL ELSE s END NULLS FIRST", "CASE k WHEN 2 THEN NULL WHEN 3 THEN 9 ELSE -k END, s DESC",
		"EXTRACT(month FROM day) DESC, k", "day + k, id", "s = 'ab', a % 2", "k IS NULL, k * k", "NULLIF(k, 3) DESC NULLS LAST", "k * 0", "k - k, s",
		"s || CAST(k AS text)",                                        // of two columns
		"coalesce(k, 2) DESC, id", "coalesce(s, 'b') NULLS FIRST, id", // of NULL a value
	} {
		where := map[bool]string{true: " AND k <> 0 AND a > -1e18"}[strings.Contains(by, "/ k")]
		rests := []string{"", " LIMIT 9", " LIMIT 300 OFFSET 5"}
		for i, db := range []*DB{onOne, onTwo, streamed}[:max(2, 3-n%3)] {
			text := "SELECT id FROM edges WHERE id <> 11 AND (x <> 1.5 OR x IS NULL)" + where + " ORDER BY " + by + rests[(n+i)%3]
			want := answerText(onCPU, text)
			if got := answerText(db, text); got != want || strings.HasPrefix(got, "error") != (by == "9 % k") {
				t.Errorf("%d: %s:\n got %.300s\nwant %.300s", i, text, got, want)
			}
		}
		x, err := onOne.Explain(context.Background(), "SELECT id FROM edges WHERE id >= 0"+where+" ORDER BY "+by, ExplainOptions{Analyze: true})
		if by == "9 % k" {
			if err == nil {
				t.Errorf("ORDER BY %s raises no error", by)
			}
			continue
		}
		if err != nil {
			t.Fatalf("ORDER BY %s: %v", by, err)
		}
		made := slices.ContainsFunc(x.Steps, func(s Step) bool { return strings.HasPrefix(s.Pass, "Make(") })
		onCPU := strings.Contains(by, "AS text") || strings.Contains(by, "IS NULL") || strings.Contains(by, "coalesce")
		switch sort := x.Plan.Inputs[0]; {
		case sort.On == "compute" == onCPU:
			t.Errorf("ORDER BY %s on %s", by, sort.On)
		case sort.On == "compute" && (x.Stats.Passes < len(x.Steps) || !made && where == "" && by != "k * 0" && by != "-x DESC"):
			t.Errorf("ORDER BY %s makes no codes: %d passes, %v", by, x.Stats.Passes, x.Lines())
		}
	}
	const distinct = "SELECT DISTINCT ON (k % 3) k, id FROM edges ORDER BY k % 3 DESC, lower(s), id"
	if got, want := answerText(onTwo, distinct), answerText(onCPU, distinct); got != want {
		t.Errorf("%s: %s, want %s", distinct, got, want)
	}
}
