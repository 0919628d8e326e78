package sql_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// tables are a few tables without rows; t has a column of each type, named for it.
func tables() sql.Catalog {
	field := func(name string, k table.Kind) table.Field {
		return table.Field{Name: name, Type: table.Type{Kind: k}}
	}
	dec := table.Field{Name: "dec", Type: table.Type{Kind: table.Decimal, Precision: 10, Scale: 2}}
	list := map[string]*table.Table{
		"t": {Name: "t", Fields: []table.Field{
			field("b", table.Boolean), field("s", table.SmallInt), field("i", table.Integer), field("x", table.BigInt),
			field("y", table.BigInt), dec, field("r", table.Real), field("d", table.Double),
			field("day", table.Date), field("ts", table.Timestamp), field("v", table.Varchar), field("u", table.Unknown),
			{Name: "nested", Unsupported: "a nested type"},
		}},
		"flights": {Name: "flights", Fields: []table.Field{field("delay", table.SmallInt), field("distance", table.SmallInt), field("time", table.Real)}},
		"Mixed":   {Name: "Mixed", Fields: []table.Field{field("Delay", table.BigInt), field("delay", table.Varchar), field("Über Zeit", table.BigInt), field("select", table.BigInt), field("A", table.BigInt), field(`q"q`, table.BigInt), field(strings.Repeat("long", 20), table.BigInt)}},
		"q":       {Name: "q", Fields: []table.Field{field("A", table.BigInt), field("a ", table.BigInt), field("AB", table.BigInt), field("Ab", table.BigInt)}},
	}
	names := []string{"t", "flights", "Mixed", "q"}
	return sql.Catalog{Names: names, Table: func(i int) (*table.Table, error) { return list[names[i]], nil }}
}

// query is a bound statement, taken apart.
type query struct {
	*plan.Fragment
	Items []plan.Item
	tree  plan.Node
}

func parts(tree plan.Node) query {
	q := query{tree: tree, Fragment: &plan.Fragment{}}
	plan.Walk(rules.CutFragments(tree), func(n plan.Node, _ int) {
		switch n := n.(type) {
		case *plan.Project:
			q.Items = n.Items
		case *plan.Fragment:
			q.Fragment = n
		}
	})
	return q
}

// bind binds the only statement of text.
func bind(t testing.TB, text string, params ...table.Value) (query, error) {
	t.Helper()
	list, err := sql.Parse(text)
	if err != nil {
		return query{}, err
	}
	if len(list) != 1 {
		t.Fatalf("%s: %d statements", text, len(list))
	}
	tree, err := list[0].Bind(tables(), params...)
	if err != nil {
		return query{}, err
	}
	return parts(tree), nil
}

// TestWhere shows what each construct of WHERE becomes, casts included.
func TestWhere(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		// Comparisons and their casts.
		{"x < 60", "x < 60"},
		{"x != 60", "x <> 60"},
		{"60 >= s", "60 >= s"},
		{"s = i", "s = i"},
		{"x < 3.5", "CAST(x AS numeric(18,0)) < 3.5"},
		{"dec < 5", "dec < 5"},
		{"dec = x", "dec = CAST(x AS numeric(18,0))"},
		{"r = 0.1", "CAST(r AS double precision) = 0.1"},
		{"r < 1", "CAST(r AS double precision) < 1"},
		{"r < '0.1'", "r < CAST(0.1 AS real)"},
		{"r < d", "CAST(r AS double precision) < d"},
		{"r <= 0.1::real", "r <= CAST(0.1 AS real)"},
		{"d < 1e3", "d < 1000"},
		{"d > 'NaN'", "d > CAST('NaN' AS double precision)"},
		{"d < x", "d < CAST(x AS double precision)"},
		{"d < 1e-5", "d < 1e-05"},
		{"dec < d", "CAST(dec AS double precision) < d"},
		{"x < 9223372036854775807", "x < 9223372036854775807"},
		{"x > -9223372036854775808", "x > -9223372036854775808"},
		{"x < 9223372036854775808", "CAST(x AS numeric(18,0)) < 9223372036854775808"},
		{"x = '12'", "x = 12"},
		{"x = 0x1F", "x = 31"},
		{"x = 1_000", "x = 1000"},
		{"dec = '1.250'", "dec = 1.250"},
		{"v = 'it''s'", "v = 'it''s'"},
		{"v = E'a\\nb'", "v = 'a\nb'"},
		{"v < v COLLATE \"C\"", "v < v"},
		{"b = true", "b = true"},
		{"b <> 'f'", "b <> false"},
		{"x = NULL", "NULL"},
		{"NULL = NULL", "NULL"},
		{"u = 5", "NULL"},
		{"u = u", "NULL"},
		{"u AND b", "NULL AND b"},
		// Boolean structure.
		{"b", "b"},
		{"NOT b", "NOT b"},
		{"u", "NULL"},
		{"b AND x = 1 AND (y = 2 AND s = 3)", "b AND (x = 1) AND (y = 2) AND (s = 3)"},
		{"b OR x = 1 AND NOT y = 2", "b OR ((x = 1) AND (NOT (y = 2)))"},
		{"b AND true", "b"},
		{"b OR false", "b"},
		{"b AND false", "false"},
		{"b OR true", ""},
		{"false AND 1/0 = 1", "false"},
		{"1/0 = 1 AND false", "((1 / 0) = 1) AND false"},
		{"1/x = 1 OR true", "((1 / x) = 1) OR true"},
		{"b AND NULL", "b AND NULL"},
		{"1 = 1", ""},
		{"2 < 1", "false"},
		{"'true'", ""},
		{"NOT NULL", "NULL"},
		{"(x < 1) = (y < 2)", "(x < 1) = (y < 2)"},
		// Tests.
		{"x IS NULL", "x IS NULL"},
		{"x NOTNULL", "x IS NOT NULL"},
		{"u IS NULL", ""},
		{"1 IS NULL", "false"},
		{"b IS TRUE", "b IS TRUE"},
		{"x < 1 IS NOT UNKNOWN", "(x < 1) IS NOT UNKNOWN"},
		{"b IS NOT FALSE", "b IS NOT FALSE"},
		{"x IS DISTINCT FROM 3", "(x = 3) IS NOT TRUE"},
		{"3 IS NOT DISTINCT FROM x", "(x = 3) IS TRUE"},
		{"x IS DISTINCT FROM NULL", "x IS NOT NULL"},
		{"x IS NOT DISTINCT FROM y", "((x = y) IS TRUE) OR ((x IS NULL) AND (y IS NULL))"},
		{"x IS DISTINCT FROM y", "NOT (((x = y) IS TRUE) OR ((x IS NULL) AND (y IS NULL)))"},
		{"(x, 1) IS DISTINCT FROM (3, NULL)", ""},
		{"(x, v) IS DISTINCT FROM (3, NULL)", "((x = 3) IS NOT TRUE) OR (v IS NOT NULL)"},
		{"(x, v) IS NOT DISTINCT FROM (3, 'a')", "((x = 3) IS TRUE) AND ((v = 'a') IS TRUE)"},
		// BETWEEN and IN.
		{"x BETWEEN 1 AND 5", "x BETWEEN 1 AND 5"},
		{"x NOT BETWEEN 1 AND 5", "x NOT BETWEEN 1 AND 5"},
		{"x BETWEEN 1 AND 2.5", "(x >= 1) AND (CAST(x AS numeric(18,0)) <= 2.5)"},
		{"x NOT BETWEEN 1 AND 2.5", "(x < 1) OR (CAST(x AS numeric(18,0)) > 2.5)"},
		{"dec BETWEEN 1 AND 2.5", "dec BETWEEN 1 AND 2.5"},
		{"r BETWEEN 0.1 AND 1", "CAST(r AS double precision) BETWEEN 0.1 AND 1"},
		{"x BETWEEN SYMMETRIC 5 AND 1", "x BETWEEN 1 AND 5"},
		{"x NOT BETWEEN SYMMETRIC 5 AND 1", "x NOT BETWEEN 1 AND 5"},
		{"x BETWEEN SYMMETRIC y AND 1", "(x BETWEEN y AND 1) OR (x BETWEEN 1 AND y)"},
		{"x BETWEEN NULL AND 5", "x BETWEEN NULL AND 5"},
		{"x IN (1)", "x = 1"},
		{"x IN (1, 2, NULL)", "x IN (1, 2, NULL)"},
		{"x NOT IN (1, 2)", "x NOT IN (1, 2)"},
		{"x IN (1, 2.5)", "CAST(x AS numeric(18,0)) IN (1, 2.5)"},
		{"r IN (0.1, 0.2)", "r IN (CAST(0.1 AS real), CAST(0.2 AS real))"},
		{"r IN (0.1)", "CAST(r AS double precision) = 0.1"},
		{"d IN (1, 2.5)", "d IN (1, 2.5)"},
		{"x IN (1, y, 2, y + 1)", "(x IN (1, 2)) OR (x = y) OR (x = (y + 1))"},
		{"x NOT IN (1, y)", "(x <> 1) AND (x <> y)"},
		{"v IN ('a', 'b')", "v IN ('a', 'b')"},
		{"day IN ('2001-01-01', TIMESTAMP '2001-01-01 10:00')", "CAST(day AS timestamp without time zone) IN (TIMESTAMP '2001-01-01 00:00:00', TIMESTAMP '2001-01-01 10:00:00')"},
		{"2 IN (1, 2)", ""},
		// LIKE.
		{"v LIKE 'a%'", "v LIKE 'a%'"},
		{"v NOT LIKE 'a%'", "v NOT LIKE 'a%'"},
		{"v ILIKE 'a_'", "v ILIKE 'a_'"},
		{"v NOT ILIKE 'a_' ESCAPE '!'", "v NOT ILIKE 'a_' ESCAPE '!'"},
		{"v LIKE 'a\\%' ESCAPE ''", "v LIKE 'a\\%' ESCAPE ''"},
		{"v LIKE 'a\\%' ESCAPE '\\'", "v LIKE 'a\\%'"},
		{"v LIKE NULL", "NULL"},
		{"'abc' LIKE 'a%'", ""},
		// Arithmetic.
		{"2*x - y < s + 10", "((2 * x) - y) < (s + 10)"},
		{"x % 2 = 0", "(x % 2) = 0"},
		{"x / 2 > -y", "(x / 2) > (-y)"},
		{"+x = 1", "x = 1"},
		{"x + 1.5 > 0", "(CAST(x AS numeric(18,0)) + 1.5) > 0"},
		{"dec * 2 < 1", "(dec * 2) < 1"},
		{"dec * d < 1", "(CAST(dec AS double precision) * d) < 1"},
		{"r * r < 1", "CAST(r * r AS double precision) < 1"},
		{"r * 2 < 1", "(CAST(r AS double precision) * 2) < 1"},
		{"x * 1.5::float8 < 1", "(CAST(x AS double precision) * 1.5) < 1"},
		{"x + NULL = 1", "NULL"},
		{"x < 2 + 3 * 4", "x < 14"},
		{"x < 7 / 2", "x < 3"},
		{"dec < 7.0 / 2", "CAST(dec AS double precision) < 3.5"},
		{"x < 9223372036854775807 + 1", "x < (9223372036854775807 + 1)"},
		{"x < 5.0 % 3", "CAST(x AS numeric(18,0)) < 2.0"},
		{"x = - -5", "x = 5"},
		{"x = -(-9223372036854775808)", "CAST(x AS numeric(18,0)) = 9223372036854775808"},
		{"x = -(-9223372036854775807 - 1)", "x = (0 - -9223372036854775808)"},
		{"x + '1' = 2", "(x + 1) = 2"},
		// Casts.
		{"CAST(x AS double precision) < 1.5", "CAST(x AS double precision) < 1.5"},
		{"x::numeric(5,2) = 1", "CAST(x AS numeric(5,2)) = 1"},
		{"dec::numeric = 1", "dec = 1"},
		{"x::bigint = 1", "x = 1"},
		{"d::int = 1", "CAST(d AS integer) = 1"},
		{"ts::date = '2001-01-01'", "CAST(ts AS date) = DATE '2001-01-01'"},
		{"v::text = 'a'", "v = 'a'"},
		{"v = 'abc'::varchar(2)", "v = 'ab'"},
		{"v = 5::text", "v = '5'"},
		{"x = '5'::text::bigint", "x = 5"},
		{"x = 2.5::bigint", "x = 3"},
		{"x = 2.5::float8::bigint", "x = 2"},
		{"dec = 0.1::float8::numeric", "dec = 0.1"},
		{"s = 99999::smallint", "s = CAST(99999 AS smallint)"},
		{"b = 1::boolean", "b = true"},
		{"x = true::int", "x = 1"},
		// Dates, timestamps, intervals.
		{"day < '2001-02-03'", "day < DATE '2001-02-03'"},
		{"day < DATE '2001-01-31' + 1", "day < DATE '2001-02-01'"},
		{"day + 1 < '2001-02-03'", "(day + 1) < DATE '2001-02-03'"},
		{"1 + day < '2001-02-03'", "(day + 1) < DATE '2001-02-03'"},
		{"day - '2001-01-01' > 5", "(day - DATE '2001-01-01') > 5"},
		{"day < TIMESTAMP '2001-01-01 12:00'", "CAST(day AS timestamp without time zone) < TIMESTAMP '2001-01-01 12:00:00'"},
		{"ts < day", "ts < CAST(day AS timestamp without time zone)"},
		{"ts < DATE '2001-01-31' + INTERVAL '1 month'", "ts < TIMESTAMP '2001-02-28 00:00:00'"},
		{"ts > TIMESTAMP '2004-02-29' - INTERVAL '1 year'", "ts > TIMESTAMP '2003-02-28 00:00:00'"},
		{"ts > TIMESTAMP '2001-01-01' + 3 * INTERVAL '2' HOUR", "ts > TIMESTAMP '2001-01-01 06:00:00'"},
		{"ts + INTERVAL '1 day' > '2001-01-01'", "(ts + INTERVAL '1 day') > TIMESTAMP '2001-01-01 00:00:00'"},
		{"ts + '1 day' > '2001-01-01'", "(ts + INTERVAL '1 day') > TIMESTAMP '2001-01-01 00:00:00'"},
		{"day - INTERVAL '1:30' > '2001-01-01'", "(CAST(day AS timestamp without time zone) - INTERVAL '01:30:00') > TIMESTAMP '2001-01-01 00:00:00'"},
		{"ts - ts < INTERVAL '1 month'", "(ts - ts) < INTERVAL '1 mon'"},
		{"ts - day < '90 min'", "(ts - CAST(day AS timestamp without time zone)) < INTERVAL '01:30:00'"},
		{"INTERVAL '1 day' = INTERVAL '24 hours'", ""},
		{"INTERVAL '1.5 days' = INTERVAL '36:00'", ""},
		{"INTERVAL '1 mon' / 2 = INTERVAL '15 days'", ""},
		{"INTERVAL '2 days ago' = -INTERVAL '2d'", ""},
		{"DATE '2001-03-01' - DATE '2001-02-01' = 28", ""},
		{"day < '0044-03-15 BC'", "day < DATE '0044-03-15 BC'"},
		{"day = NULL::date + 1", "NULL"},
		// Names.
		{"t.x = 1", "x = 1"},
		{`"x" = 1`, "x = 1"},
		{`T.X = 1`, "x = 1"},
	} {
		text := "SELECT COUNT(*) FROM t WHERE " + c.in
		q, err := bind(t, text)
		if err != nil {
			t.Errorf("%s: %s", c.in, sql.Describe(text, err))
			continue
		}
		if got := whereText(q); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func whereText(q query) string {
	if q.Where == nil {
		return ""
	}
	return q.Where.String()
}
