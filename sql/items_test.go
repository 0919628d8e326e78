package sql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/sql"
)

// TestItems shows the columns that a select list makes: name, expression, type.
func TestItems(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"COUNT(*)", "count: COUNT(*) bigint"},
		{"COUNT(1)", "count: COUNT(*) bigint"},
		{"COUNT('a')", "count: COUNT(*) bigint"},
		{"COUNT(NULL)", "count: CAST(0 AS bigint) bigint"},
		{"COUNT(ALL v)", "count: COUNT(v) bigint"},
		{"COUNT(u)", "count: CAST(0 AS bigint) bigint"},
		{"pg_catalog.count(*)", "count: COUNT(*) bigint"},
		{"SUM(x), sum(s) AS Total", "sum: SUM(x) numeric(38,0); total: SUM(s) bigint"},
		{`SUM(dec) "Total sum"`, "Total sum: SUM(dec) numeric(38,2)"},
		{"SUM(r), SUM(d), SUM(u)", "sum: SUM(r) real; sum: SUM(d) double precision; sum: SUM(NULL) numeric(38,0)"},
		{"AVG(x), AVG(dec), AVG(r)", "avg: AVG(x) double precision; avg: AVG(dec) double precision; avg: AVG(r) double precision"},
		{"MIN(v), MAX(day), MIN(u)", "min: MIN(v) character varying; max: MAX(day) date; min: MIN(NULL) character varying"},
		{"MEDIAN(x)", "median: MEDIAN(x) bigint"},
		{"MEDIAN(b)", "median: MEDIAN(b) boolean"},
		{"percentile_disc(0.25) WITHIN GROUP (ORDER BY ts DESC)", "percentile_disc: percentile_disc(0.25) WITHIN GROUP (ORDER BY ts DESC) timestamp without time zone"},
		{"percentile_disc('1') WITHIN GROUP (ORDER BY x ASC NULLS FIRST)", "percentile_disc: percentile_disc(1) WITHIN GROUP (ORDER BY x) bigint"},
		{"kth_largest(x, 3), kth_smallest(v, 1 + 1)", "kth_largest: kth_largest(x, 3) bigint; kth_smallest: kth_smallest(v, 2) character varying"},
		{"selectivity()", "selectivity: selectivity() double precision"},
		{"SUM(x) / COUNT(*)", "?column?: SUM(x) / CAST(COUNT(*) AS numeric(18,0)) double precision"},
		{"COUNT(*) / 2", "?column?: COUNT(*) / 2 bigint"},
		{"COUNT(*) * 100.0 / COUNT(x)", "?column?: (CAST(COUNT(*) AS numeric(18,0)) * 100.0) / CAST(COUNT(x) AS numeric(18,0)) double precision"},
		{"SUM(dec) * SUM(dec)", "?column?: SUM(dec) * SUM(dec) numeric(38,4)"},
		{"-AVG(x) + 1", "?column?: (-AVG(x)) + 1 double precision"},
		{"SUM(x)::double precision / COUNT(*)", "?column?: CAST(SUM(x) AS double precision) / CAST(COUNT(*) AS double precision) double precision"},
		{"AVG(x)::numeric(10,2)", "avg: CAST(AVG(x) AS numeric(10,2)) numeric(10,2)"},
		{"ROUND(SUM(dec), 1)", "round: CAST(SUM(dec) AS numeric(38,1)) numeric(38,1)"},
		{"ROUND(SUM(dec))", "round: CAST(SUM(dec) AS numeric(38,0)) numeric(38,0)"},
		{"MAX(x) - MIN(x), MAX(day) - MIN(day)", "?column?: MAX(x) - MIN(x) bigint; ?column?: MAX(day) - MIN(day) integer"},
		{"MAX(ts) - MIN(ts)", "?column?: MAX(ts) - MIN(ts) interval"},
		{"COUNT(*) > 5 AND MAX(v) IS NOT NULL", "?column?: (COUNT(*) > 5) AND (MAX(v) IS NOT NULL) boolean"},
		{"1, 'a', NULL, 2.50, true, COUNT(*)", "?column?: 1 integer; ?column?: 'a' character varying; ?column?: NULL character varying; ?column?: 2.50 numeric(3,2); ?column?: true boolean; count: COUNT(*) bigint"},
		{"'5'::int, DATE '2001-02-03', COUNT(*)", "int4: 5 integer; date: DATE '2001-02-03' date; count: COUNT(*) bigint"},
		{"10.0 / 4, COUNT(*)", "?column?: 2.5 double precision; count: COUNT(*) bigint"},
		{"1 / 0, COUNT(*)", "?column?: 1 / 0 integer; count: COUNT(*) bigint"},
	} {
		q, err := bind(t, "SELECT "+c.in+" FROM t")
		if err != nil {
			t.Errorf("%s: %s", c.in, sql.Describe("SELECT "+c.in+" FROM t", err))
			continue
		}
		var got []string
		for _, it := range q.Items {
			got = append(got, fmt.Sprintf("%s: %s %s", it.Name, it.E, it.E.Type()))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, s, c.want)
		}
	}
}

// TestAggregatesAreShared shows that an aggregate written twice is computed once.
func TestAggregatesAreShared(t *testing.T) {
	q, err := bind(t, "SELECT SUM(x), SUM(x) / COUNT(*), COUNT(1), SUM(y), MEDIAN(x), percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range q.Aggs {
		got = append(got, a.String())
	}
	want := "SUM(x), COUNT(*), SUM(y), MEDIAN(x)"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

// TestAggregateFields shows the parts of an aggregate that its text does not tell.
func TestAggregateFields(t *testing.T) {
	q, err := bind(t, "SELECT percentile_disc(NULL) WITHIN GROUP (ORDER BY y), kth_largest(s, NULL), COUNT(*) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	if a := q.Aggs[0]; !a.Null || a.Col != 4 || a.P != 7 {
		t.Errorf("percentile: %+v", a)
	}
	if a := q.Aggs[1]; !a.Null || a.Col != 1 {
		t.Errorf("kth: %+v", a)
	}
	if a := q.Aggs[2]; a.Col != -1 {
		t.Errorf("count: %+v", a)
	}
}

// TestNames shows how a query's names meet the table's.
func TestNames(t *testing.T) {
	long := strings.Repeat("long", 20)
	for _, c := range []struct{ in, table, item string }{
		{"SELECT MIN(DELAY) FROM Flights", "flights", "MIN(delay)"},
		{"SELECT MIN(F.Delay) FROM flights F", "flights", "MIN(delay)"},
		{`SELECT MIN("Delay") FROM mixed`, "Mixed", `MIN("Delay")`},
		{"SELECT MIN(DeLaY) FROM mixed", "Mixed", "MIN(delay)"}, // two match: PostgreSQL's lower case decides
		{`SELECT MIN("Über Zeit"), 1 FROM "Mixed"`, "Mixed", `MIN("Über Zeit")`},
		{`SELECT MIN("select") FROM mixed`, "Mixed", `MIN("select")`},
		{`SELECT MIN("q""q") FROM mixed`, "Mixed", `MIN("q""q")`},
		{"SELECT MIN(" + long + ") FROM mixed", "Mixed", "MIN(" + long + ")"},
		{`SELECT MIN(mixed . a) FROM mixed`, "Mixed", `MIN("A")`},
	} {
		q, err := bind(t, c.in)
		if err != nil {
			t.Errorf("%s: %s", c.in, sql.Describe(c.in, err))
			continue
		}
		if q.Table != c.table || q.Items[0].E.String() != c.item {
			t.Errorf("%s: %s of %s, want %s of %s", c.in, q.Items[0].E, q.Table, c.item, c.table)
		}
	}
}
