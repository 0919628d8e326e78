package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// sales is nine rows in chunks of four: two regions and a NULL, quantities with a NULL.
const sales = `region,day,units,price,share,paid
north,2024-01-05,3,10.50,0.5,true
south,2024-01-05,1,99.99,0.25,false
north,2024-01-20,,10.50,0.1,true
,2024-02-01,4,0.01,2,true
south,2024-02-01,1,100.01,,
north,2024-02-11,3,12.00,0.2,false
,2024-02-28,7,5.25,1,true
east,2024-03-01,2,7.00,-0.5,true
north,2024-03-09,9,11.75,0.4,true
`

func openSales(t *testing.T, backend string) *DB {
	t.Helper()
	db := open(t, Options{Backend: backend, ChunkRows: 4})
	if err := db.Load(context.Background(), "sales", ingest.Source{Path: "sales.csv", Data: []byte(sales)}); err != nil {
		t.Fatal(err)
	}
	return db
}

// answerText is an answer as text: values apart by blanks, rows by semicolons.
func answerText(db *DB, text string) string {
	r, err := Collect(db.Query(context.Background(), text))
	if err != nil {
		return "error: " + err.Error()
	}
	var rows []string
	for _, row := range r.Rows {
		var values []string
		for _, v := range row {
			values = append(values, v.String())
		}
		rows = append(rows, strings.Join(values, " "))
	}
	return strings.Join(rows, "; ")
}

// What an aggregate is does not depend on those beside it: of each pair both are what they are alone.
func TestAggregatesBesideOthers(t *testing.T) {
	db := openSales(t, "cpu")
	calls := []string{"COUNT(*)", "COUNT(units)", "COUNT(DISTINCT units)", "SUM(units)", "SUM(DISTINCT units)", "AVG(units)", "MIN(units)", "MAX(units)",
		"MEDIAN(units)", "MEDIAN(price)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY units)", "percentile_disc(0.9) WITHIN GROUP (ORDER BY units)",
		"percentile_disc(0.25) WITHIN GROUP (ORDER BY units DESC)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY units)", "mode() WITHIN GROUP (ORDER BY units)",
		"kth_largest(units, 2)", "kth_largest(units, 3)", "kth_smallest(units, 2)", "any_value(units)", "bit_and(units)", "bit_or(units)", "bit_xor(units)",
		"MEDIAN(units) FILTER (WHERE paid)", "MAX(units) FILTER (WHERE paid)", "MAX(units * 2)", "MEDIAN(units * 2)", "var_pop(units)", "stddev(units)",
		"corr(units, price)", "covar_pop(units, price)", "regr_slope(units, price)", "regr_slope(price, units)", "string_agg(region, ',')", "string_agg(region, ';')"}
	alone := map[string]string{}
	for _, c := range calls {
		alone[c] = answerText(db, "SELECT "+c+" FROM sales")
	}
	for _, a := range calls {
		for _, b := range calls {
			if got, want := answerText(db, "SELECT "+a+", "+b+" FROM sales"), alone[a]+" "+alone[b]; got != want {
				t.Errorf("%s, %s: %s, want %s", a, b, got, want)
			}
		}
	}
}

// compute groups the rows itself; the other backends give them to cpu.
func TestGroupsAboveEachBackend(t *testing.T) {
	for _, backend := range Backends() {
		db := openSales(t, backend)
		const text = "SELECT region, SUM(units * price) FROM sales WHERE units > 1 GROUP BY region HAVING COUNT(*) > 1"
		if got, want := answerText(db, text), "north 173.25; NULL 36.79"; got != want {
			t.Errorf("%s: %s, want %s", backend, got, want)
		}
		x, err := db.Explain(context.Background(), text, ExplainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(x.Lines(), "\n")
		on := "cpu"
		if backend == "compute" || backend == "both" {
			on = backend
		}
		if want := "\n    Aggregate(SUM(CAST(units AS numeric(18,0)) * price), COUNT(*) GROUP BY region) on " + on + " (5 rows expected)\n"; !strings.Contains(lines, want) {
			t.Errorf("%s:\n%s", backend, lines)
		}
		if backend != "auto" && x.Backend != backend {
			t.Errorf("%s: the rows are %s's", backend, x.Backend)
		}
	}
}

// Keys with more combinations of codes than there are slots are sorted by compute where it is asked for; auto leaves
// them to cpu. The answers are the same, and the trace and EXPLAIN ANALYZE show the passes of the sort.
func TestManyGroups(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,x\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i%700*1_000_003, i%3<<40, i*7%1000)
	}
	const sql = "SELECT a, b, COUNT(*), SUM(x), MIN(x), MAX(x), AVG(x) FROM t WHERE x <> 14 GROUP BY a, b ORDER BY a, b"
	answers := map[string]string{}
	for _, backend := range []string{"cpu", "compute", "auto"} {
		db := open(t, Options{Backend: backend, ChunkRows: 1000})
		if err := db.Load(context.Background(), "t", ingest.Source{Path: "t.csv", Data: []byte(text.String())}); err != nil {
			t.Fatal(err)
		}
		answers[backend] = answerText(db, sql)
		x, err := db.Explain(context.Background(), sql, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		sorts := slices.ContainsFunc(x.Steps, func(s Step) bool { return strings.HasPrefix(s.Pass, "Sort(") })
		if sorts != (backend == "compute") {
			t.Errorf("%s: passes of a sort %v: %v", backend, sorts, x.Lines())
		}
	}
	if answers["cpu"] != answers["compute"] || answers["cpu"] != answers["auto"] || strings.HasPrefix(answers["cpu"], "error") {
		t.Errorf("cpu %.300s\ncompute %.300s\nauto %.300s", answers["cpu"], answers["compute"], answers["auto"])
	}
}

// Many groups have the same values, and the same error, whether they are found part by part or not. Those of a
// column are, those of a computed key are not.
func TestManyGroupsOfExpressions(t *testing.T) {
	integer := table.Type{Kind: table.BigInt}
	build := table.NewBuilder("t", []table.Field{{Name: "a", Type: integer}, {Name: "x", Type: integer}, {Name: "r", Type: integer}}, 1<<16)
	for r := range int64(140_000) {
		for c, v := range []table.Value{table.Int(r * 7919 % 120_011), table.Int(r % 1000), table.Int(r)} {
			if r%97 == int64(c) {
				v = table.Null(integer)
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
	for list, where := range map[string]string{
		"MIN(r), SUM(x + 1), COUNT(*) FILTER (WHERE x % 3 = 1), MAX(-x) FILTER (WHERE r > 70000)": "",
		"COUNT(*), CORR(x, r), STDDEV(x), MEDIAN(r % 10)":                                         " WHERE r < 12000", // each takes a while
		"SUM(1 / (r - 130000)), SUM(2 / (r - 60000)), SUM(3 % (r - 60000))":                       "",
		"SUM(1 / (r - 130000)), SUM(x) FILTER (WHERE 2 / (r - 60000) > 0)":                        "",
		"SUM(1 / (r - 130001)), SUM(2 / (r - 130000)), SUM(3 / (r - 130002))":                     "",
	} {
		got, errGot := Collect(db.Query(ctx, "SELECT "+list+" FROM t"+where+" GROUP BY a"))
		want, errWant := Collect(db.Query(ctx, "SELECT "+list+" FROM t"+where+" GROUP BY a + 0"))
		if fmt.Sprint(errGot) != fmt.Sprint(errWant) {
			t.Errorf("%s: %v, want %v", list, errGot, errWant)
		} else if errGot == nil && (len(got.Rows) < 11_000 || !slices.EqualFunc(got.Rows, want.Rows, slices.Equal)) {
			t.Errorf("%s: %d groups, %d otherwise; or they differ", list, len(got.Rows), len(want.Rows))
		}
	}
}
