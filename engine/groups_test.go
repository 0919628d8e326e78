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

// Groups and aggregates have PostgreSQL's values; those that PostgreSQL gives as numeric are
// rounded to the nearest double. Groups come in the order of their first rows.
func TestGroups(t *testing.T) {
	db := openSales(t, "cpu")
	for _, c := range []struct{ in, want string }{
		// Keys.
		{"SELECT region, COUNT(*), COUNT(units), SUM(units) FROM sales GROUP BY region", "north 4 3 15; south 2 2 2; NULL 2 2 11; east 1 1 2"},
		{"SELECT region FROM sales GROUP BY region", "north; south; NULL; east"},
		{"SELECT COUNT(*) FROM sales GROUP BY region", "4; 2; 2; 1"},
		{"SELECT units, COUNT(*) FROM sales GROUP BY units", "3 2; 1 2; NULL 1; 4 1; 7 1; 2 1; 9 1"},
		{"SELECT region, paid, COUNT(*) FROM sales GROUP BY region, paid", "north true 3; south false 1; NULL true 2; south NULL 1; north false 1; east true 1"},
		{"SELECT date_trunc('month', day)::date AS m, SUM(price) FROM sales GROUP BY m", "2024-01-01 120.99; 2024-02-01 117.27; 2024-03-01 18.75"},
		{"SELECT units % 2 AS odd, COUNT(*) FROM sales GROUP BY 1", "1 6; NULL 1; 0 2"},
		{"SELECT units + 1, (units + 1) * 2 FROM sales WHERE units < 4 GROUP BY units + 1", "4 8; 2 4; 3 6"},
		{"SELECT upper(region) || '!', MAX(share) FROM sales GROUP BY upper(region)", "NORTH! 0.50; SOUTH! 0.25; NULL 2.00; EAST! -0.50"},
		{"SELECT region AS units, COUNT(*) FROM sales GROUP BY units", `error: column "region" must appear in the GROUP BY clause or be used in an aggregate function; write GROUP BY region, or any_value(region) (line 1, column 8)`},
		{"SELECT share::float8 * 0 AS zero, COUNT(*) FROM sales GROUP BY zero", "0 8; NULL 1"}, // -0 equals 0
		{"SELECT price * units * price AS wide, COUNT(*) FROM sales WHERE units = 1 GROUP BY wide", "9998.0001 1; 10002.0001 1"},
		{"SELECT CASE WHEN price > 11 THEN 'dear' ELSE 'cheap' END AS kind, COUNT(*) FROM sales GROUP BY kind", "cheap 5; dear 4"},
		{"SELECT region, COUNT(*) FROM sales WHERE units > 100 GROUP BY region", ""},
		{"SELECT COUNT(*), SUM(units * 2), MAX(price + 1) FROM sales WHERE units > 100", "0 NULL NULL"},
		{"SELECT 1 FROM sales GROUP BY region LIMIT 2", "1; 1"},
		{"SELECT * FROM sales GROUP BY region, day, units, price, share, paid LIMIT 1", "north 2024-01-05 3 10.50 0.50 true"},
		// HAVING.
		{"SELECT region, SUM(units) FROM sales GROUP BY region HAVING SUM(units) > 2", "north 15; NULL 11"},
		{"SELECT region FROM sales GROUP BY region HAVING region LIKE '%th' AND COUNT(*) = 2", "south"},
		{"SELECT SUM(units) FROM sales HAVING COUNT(*) > 100", ""},
		{"SELECT 'all' FROM sales HAVING true", "all"},
		{"SELECT COUNT(*) FROM sales GROUP BY region HAVING MIN(units) = 1 OR NULL", "2"},
		// Expressions.
		{"SELECT SUM(units * price), AVG(units * price), SUM(price * (1 - price)) FROM sales", "424.04 53.005 -20322.1153"},
		{"SELECT SUM(price * price * price * price * price * price) FROM sales WHERE price > 100", "1000600150020.001500060001"},
		{"SELECT SUM(1), SUM(2.5), MIN('a'), COUNT(1 + 1) FROM sales", "9 22.5 a 9"},
		{"SELECT SUM(NULL), MAX(NULL), COUNT(NULL), AVG(NULL) FROM sales", "NULL NULL 0 NULL"},
		{"SELECT SUM(CASE WHEN paid THEN units END), MAX(length(region)), MIN(day + 1) FROM sales", "25 5 2024-01-06"},
		{"SELECT SUM(units / (units - 1)) FROM sales", "error: division by zero (line 1, column 18)"},
		{"SELECT MAX(1 / (units - 7)), MIN(1 / (units - 4)) FROM sales", "error: division by zero (line 1, column 36)"}, // that of the first row
		{"SELECT SUM(9223372036854775807 * units) FROM sales", "error: bigint out of range (line 1, column 32)"},
		// FILTER and DISTINCT.
		{"SELECT COUNT(*) FILTER (WHERE paid), SUM(units) FILTER (WHERE price > 11), COUNT(*) FILTER (WHERE NULL) FROM sales", "6 14 0"},
		{"SELECT region, AVG(price) FILTER (WHERE units > 2) FROM sales GROUP BY region", "north 11.416666666666666; south NULL; NULL 2.63; east NULL"},
		{"SELECT SUM(1 / (units - 1)) FILTER (WHERE units <> 1) FROM sales", "1"}, // the argument of other rows is not computed
		{"SELECT kth_largest(units, 2) FILTER (WHERE paid) FROM sales", "7"},
		{"SELECT kth_largest(units * 2, 9) FROM sales", "error: kth_largest(units * 2, 9): k must be between 1 and 8, the number of values of units * 2 in the selection (line 1, column 8)"},
		{"SELECT COUNT(DISTINCT region), COUNT(DISTINCT units), SUM(DISTINCT units), AVG(DISTINCT price), MAX(DISTINCT day) FROM sales", "3 6 26 30.81375 2024-03-09"},
		{"SELECT paid, COUNT(DISTINCT region), SUM(DISTINCT price) FROM sales GROUP BY paid", "true 2 34.51; false 2 111.99; NULL 1 100.01"},
		{"SELECT COUNT(DISTINCT units % 3) FILTER (WHERE paid) FROM sales", "3"},
		// Statistics.
		{"SELECT var_pop(units), var_samp(units), stddev_pop(units), stddev(units) FROM sales", "7.1875 8.214285714285714 2.680951323690902 2.8660575211055543"},
		{"SELECT variance(price), stddev_samp(price) FROM sales WHERE units = 1", "0.0002 0.01414213562373095"},
		{"SELECT var_pop(share), var_samp(share) FROM sales WHERE units = 9", "0 NULL"},
		{"SELECT region, stddev(share) FROM sales GROUP BY region", "north 0.18257418583505536; south NULL; NULL 0.7071067811865476; east NULL"},
		{"SELECT corr(units, price), covar_pop(units, share), covar_samp(units, units) FROM sales", "-0.5815941118154004 0.5714285714285714 8.214285714285714"},
		{"SELECT corr(units, 1), corr(units, share) FROM sales WHERE region = 'south'", "NULL NULL"},
		{"SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY units), percentile_cont(0.5) WITHIN GROUP (ORDER BY price DESC), percentile_disc(0.5) WITHIN GROUP (ORDER BY units * 2), MEDIAN(units + 0) FROM sales", "1.75 10.5 6 3"},
		{"SELECT region, percentile_cont(0.5) WITHIN GROUP (ORDER BY price), percentile_disc(1) WITHIN GROUP (ORDER BY day) FROM sales GROUP BY region", "north 11.125 2024-03-09; south 100 2024-02-01; NULL 2.63 2024-02-28; east 7 2024-03-01"},
		{"SELECT mode() WITHIN GROUP (ORDER BY units), mode() WITHIN GROUP (ORDER BY units DESC), mode() WITHIN GROUP (ORDER BY region) FROM sales", "1 3 north"},
		{"SELECT bool_and(paid), bool_or(paid), every(units > 0), any_value(region) FROM sales", "false true true east"},
		{"SELECT bit_and(units), bit_or(units), bit_xor(units), bit_xor(DISTINCT units), bit_or(-units) FILTER (WHERE paid) FROM sales", "0 15 8 10 -1"},
		{"SELECT region, bit_and(units), bit_xor(units), bit_or(units) FROM sales GROUP BY region", "north 1 9 11; south 1 0 1; NULL 4 3 7; east 2 2 2"},
		{"SELECT bit_and(units), bit_or(NULL) FROM sales WHERE units > 100", "NULL NULL"},
		{"SELECT bit_and(price) FROM sales", "error: function bit_and(numeric) does not exist; it takes integers: write bit_and(x::bigint) (line 1, column 8)"},
		{"SELECT regr_count(units, share), regr_r2(1, units), regr_r2(units, 1), regr_slope(units, 1), regr_intercept(1, units), regr_sxx(1, 2) FROM sales", "7 1 NULL NULL 1 0"},
		{"SELECT region, regr_count(units, share), regr_avgy(units, share), regr_slope(units, share) FROM sales GROUP BY region", "north 3 5 4.285714285714287; south 1 1 NULL; NULL 2 5.5 -3; east 1 2 NULL"},
		{"SELECT regr_count(units, price), regr_avgx(units, price), regr_syy(units, price) FROM sales WHERE units > 100", "0 NULL NULL"},
		// Several percentiles are an array.
		{"SELECT percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY units DESC), COUNT(*) FROM sales", "{4.75,3} 9"},
		{"SELECT percentile_disc('{0,null,1}'::float8[]) WITHIN GROUP (ORDER BY units * 2) AS p FROM sales", "{2,NULL,18}"},
		{"SELECT region, percentile_disc(ARRAY[0.5, 1]) WITHIN GROUP (ORDER BY region || ' x') FROM sales GROUP BY 1 HAVING COUNT(*) > 1 ORDER BY COUNT(*), 1", `south {"south x","south x"}; NULL NULL; north {"north x","north x"}`},
		{"SELECT *, percentile_cont(ARRAY[1]) WITHIN GROUP (ORDER BY price) FROM (SELECT price FROM sales WHERE units > 100) s GROUP BY price", ""},
		{"SELECT percentile_cont(ARRAY[0.5, NULL]) WITHIN GROUP (ORDER BY price) FROM sales WHERE units > 100", "NULL"},
		{"SELECT percentile_cont(ARRAY[NULL, 0.5]) WITHIN GROUP (ORDER BY units), region FROM sales GROUP BY region ORDER BY 2 LIMIT 1", "{NULL,2} east"},
		{"SELECT percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY units) FROM sales ORDER BY 1", "error: ORDER BY of an array is not supported; write one of its percentiles: percentile_cont(0.5) WITHIN GROUP (ORDER BY units) (line 1, column 86)"},
		{"SELECT percentile_cont(ARRAY[0.5, 1.5]) WITHIN GROUP (ORDER BY units) FROM sales", "error: percentile value 1.5 is not between 0 and 1 (line 1, column 35)"},
		{"SELECT percentile_cont(ARRAY[]::float8[]) WITHIN GROUP (ORDER BY units) FROM sales", "error: percentile_cont takes at least one fraction that is not NULL (line 1, column 8)"},
		{"SELECT (SELECT percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY units DESC) FROM sales)", "error: percentile_cont of several fractions gives an array, which only an item of the outermost SELECT can be; write percentile_cont(0.25) WITHIN GROUP (ORDER BY units DESC), percentile_cont(0.5) WITHIN GROUP (ORDER BY units DESC) (line 1, column 16)"},
		{"SELECT percentile_disc('{0,1}'::float8[]) WITHIN GROUP (ORDER BY units * 2) IS NULL FROM sales", "error: percentile_disc of several fractions gives an array, which only an item of the outermost SELECT can be; write percentile_disc(0) WITHIN GROUP (ORDER BY units * 2), percentile_disc(1) WITHIN GROUP (ORDER BY units * 2) (line 1, column 8)"},
		{"SELECT string_agg(region, '+'), string_agg(DISTINCT region, '+' ORDER BY region DESC) FROM sales", "north+south+north+south+north+east+north south+north+east"},
		{"SELECT string_agg(units::text, NULL ORDER BY units DESC), string_agg(region, units::text) FROM sales WHERE units < 0", "NULL NULL"},
		{"SELECT bool_and(paid), bool_or(NOT paid) FROM sales WHERE region = 'nowhere'", "NULL NULL"},
		{"SELECT region, selectivity() FROM sales WHERE units > 2 GROUP BY region", "north 0.3333333333333333; NULL 0.2222222222222222"},
	} {
		if got := answerText(db, c.in); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// A line through points has the values of PostgreSQL's own regression test, which shows 15 digits of them.
func TestRegression(t *testing.T) {
	db := open(t, Options{Backend: "cpu", ChunkRows: 3})
	source := ingest.Source{Path: "points.csv", Data: []byte("a,b\n56,7.8\n100,99.097\n0,0.09561\n42,324.78\n"),
		Types: []ingest.ColumnType{{Name: "b", Type: table.Type{Kind: table.Real}}}}
	if err := db.Load(context.Background(), "points", source); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"regr_count(b, a), regr_sxx(b, a), regr_syy(b, a), regr_sxy(b, a)":                                                       "4 5099 68756.2156939293 2614.5158215500414",
		"regr_avgx(b, a), regr_avgy(b, a), regr_r2(b, a)":                                                                        "49.5 107.94315227307379 0.01949779820318026",
		"regr_slope(b, a), regr_intercept(b, a), covar_pop(b, a), corr(b, a)":                                                    "0.5127507004412711 82.56199260123087 653.6289553875104 0.1396345165178734",
		"regr_count(b, a) FILTER (WHERE a > 0), regr_slope(1e300 * a, 1e300 * b)":                                                "3 0.03802588311707918",
		"regr_avgy(b, a) FILTER (WHERE a > 50), regr_slope('NaN'::float8 * a, b)":                                                "53.44850015640259 NaN",
		"regr_syy(a, 'NaN'), regr_avgx(a, '-Infinity'), regr_r2(1, 'NaN'), regr_slope('NaN', 1), corr('NaN', 1), corr('NaN', a)": "5099 -Infinity 1 NULL NULL NaN",
	} {
		if got := answerText(db, "SELECT "+text+" FROM points"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
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

// Many groups have the same values, and the same error, whether they are found part by part, as those of a column
// are, or not, as those of a key that is computed.
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
