package engine

import (
	"context"
	"slices"
	"testing"
)

// Integers have PostgreSQL's types on every backend, and what passes the limits of a type is an error: in a condition, in what is
// selected, added up, grouped and put in order, and where a condition before it does not keep the row away.
func TestIntegerTypes(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute", "cpu", "auto"} {
		db := open(t, Options{Backend: backend})
		for _, text := range []string{
			"CREATE TABLE t (s smallint, i int, b bigint)",
			"INSERT INTO t VALUES (1, 2, 3), (300, 70000, 5000000000), (NULL, NULL, NULL), (-32768, -2147483648, -9223372036854775808)",
			"CREATE TABLE u (b bigint, c bigint)",
			"INSERT INTO u VALUES (5, -65537), (-9223372036854775808, 12), (282, 0), (-45, -751), (-2, 8), (7, 16777214)",
		} {
			do(t, db, text)
		}
		for _, c := range [][2]string{
			{"SELECT SUM(98) / 15, SUM(-i) / 18, pg_typeof(SUM(-i) / 18) FROM t WHERE b > 0", "13 -3889 bigint"},
			{"SELECT pg_typeof(s + 1), pg_typeof(s + s), pg_typeof(i * s), pg_typeof(i - b), pg_typeof(-s), pg_typeof(i % 3) FROM t LIMIT 1", "integer smallint integer bigint smallint integer"},
			{"SELECT COUNT(*) FROM t WHERE b < -100000 OR b::smallint >= 3", "error: smallint out of range (line 1, column 46)"},
			{"SELECT COUNT(*) FROM u WHERE b < -100000 OR b::smallint::bigint >= c", "4"}, // though the codes of b have 64 bits
			{"SELECT COUNT(*) FROM t WHERE s * s > 0", "error: smallint out of range (line 1, column 32)"},
			{"SELECT COUNT(*) FROM t WHERE s < 300 AND s > -32768 AND s * s > 0", "1"},
			{"SELECT COUNT(*) FROM t WHERE s * s::int > 0", "3"},
			{"SELECT COUNT(*) FROM t WHERE i * i > 0", "error: integer out of range (line 1, column 32)"},
			{"SELECT COUNT(*) FROM t WHERE i > 0 AND i * i > 0", "error: integer out of range (line 1, column 42)"},
			{"SELECT COUNT(*) FROM t WHERE b > 0 AND i * b > 0", "2"},
			{"SELECT COUNT(*) FROM t WHERE -i > 0", "error: integer out of range (line 1, column 30)"},
			{"SELECT COUNT(*) FROM t WHERE i / -1 < 0", "error: integer out of range (line 1, column 32)"},
			{"SELECT COUNT(*) FROM t WHERE i % (-1) = 0", "3"},
			{"SELECT SUM(i * i) FROM t", "error: integer out of range (line 1, column 14)"},
			{"SELECT SUM(s * 200) FROM t", "-6493400"},
			{"SELECT SUM(i * i) FROM t WHERE s = 1", "4"},
			{"SELECT i + s, COUNT(*) FROM t WHERE b > 0 GROUP BY i + s ORDER BY 1", "3 1; 70300 1"},
			{"SELECT i + i, COUNT(*) FROM t GROUP BY 1", "error: integer out of range (line 1, column 10)"},
			{"SELECT s FROM t ORDER BY i - 1", "error: integer out of range (line 1, column 28)"},
			{"SELECT s - 1::smallint FROM t", "error: smallint out of range (line 1, column 10)"},
			{"SELECT CASE WHEN i > 0 THEN i - 1 ELSE 0 END, abs(s::int) FROM t WHERE s IS NOT NULL ORDER BY s", "0 32768; 1 1; 69999 300"},
			{"SELECT abs(s) FROM t", "error: smallint out of range (line 1, column 8)"},
			{"SELECT x.s, y.i FROM t x JOIN t y ON x.i + 1 = y.i + 1 WHERE x.b > 0 ORDER BY 1", "1 2; 300 70000"},
		} {
			if got := answerText(db, c[0]); got != c[1] {
				t.Errorf("%s: %s gives %s, want %s", backend, c[0], got, c[1])
			}
		}
	}
}

// The columns of a query have the types of its integers, and the digits of a cast.
func TestTypesOfColumns(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	steps(t, db, [][2]string{
		{"CREATE TABLE c AS SELECT 1 AS i, 3000000000 AS b, 1::smallint AS s, 1.5::numeric(5,2) AS n, '2'::numeric(7,3) AS m, NULL::numeric(4,1) AS o, 7::numeric(9,2) AS w", ""},
		{"DESCRIBE c", "i|integer;b|bigint;s|smallint;n|numeric(5,2);m|numeric(7,3);o|numeric(4,1);w|numeric(9,2)"},
		{"SELECT n, m, w, pg_typeof(n) FROM c", "1.50|2.000|7.00|numeric"},
		{"DESCRIBE SELECT 1.5::numeric(5,2) AS n, 1.50 AS p", "n|numeric(5,2);p|numeric(3,2)"},
		{"SELECT 1234.5::numeric(5,2)", "!numeric field overflow"},
		{"DESCRIBE SELECT g, length('a') AS l, DATE '2024-01-02' - DATE '2024-01-01' AS d FROM generate_series(1, 2) AS q(g)", "g|integer;l|integer;d|integer"},
		{"DESCRIBE SELECT g FROM generate_series(1, 3000000000) AS q(g)", "g|bigint"},
		{"DESCRIBE SELECT * FROM (VALUES (1, 2::smallint), (3000000000, 4::smallint)) AS v", "column1|bigint;column2|smallint"},
		{"DESCRIBE SELECT 1 AS a UNION ALL SELECT 2::bigint", "a|bigint"},
		{"SELECT x, pg_typeof(x) FROM (SELECT 1 AS x UNION ALL SELECT '7') q ORDER BY 1", "1|integer;7|integer"},
		{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT SUM(n), pg_typeof(MAX(n)) FROM r", "6|integer"},
		{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 3000000000 FROM r WHERE n < 3) SELECT * FROM r", `!recursive query "r" column 1 has type integer in non-recursive term but type bigint overall`},
		{"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n * 65536 FROM r WHERE n > 0) SELECT COUNT(*) FROM r", "!integer out of range"},
		{"SELECT GROUPING(i), pg_typeof(GROUPING(i)) FROM c GROUP BY ROLLUP (i) ORDER BY 1", "0|integer;1|integer"},
		{"SELECT pg_typeof(ntile(2) OVER (ORDER BY i)), pg_typeof(row_number() OVER ()), pg_typeof(lag(i, 1, 5) OVER (ORDER BY i)) FROM c", "integer|bigint|integer"},
	})
}

// GROUP BY ALL groups by the select items without aggregates.
func TestGroupByAll(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	steps(t, db, [][2]string{
		{"CREATE TABLE t (a int, b text, c int)", ""},
		{"INSERT INTO t VALUES (1, 'x', 10), (1, 'x', 20), (2, 'y', 30), (2, NULL, 40)", ""},
		{"SELECT a, b, SUM(c) FROM t GROUP BY ALL ORDER BY 1, 3", "1|x|30;2|y|30;2|NULL|40"},
		{"SELECT a % 2 AS odd, COUNT(*), 'all' FROM t GROUP BY ALL ORDER BY odd", "0|2|all;1|2|all"},
		{"SELECT SUM(c), a + 1 FROM t WHERE b IS NOT NULL GROUP BY ALL HAVING SUM(c) > 10 ORDER BY ALL", "!syntax error"},
		{"SELECT SUM(c), a + 1 FROM t WHERE b IS NOT NULL GROUP BY ALL HAVING COUNT(*) > 1", "30|2"},
		{"SELECT *, COUNT(*) FROM (SELECT a, b FROM t) q GROUP BY ALL ORDER BY a, b", "1|x|2;2|y|1;2|NULL|1"},
		{"SELECT SUM(c), COUNT(*) FROM t GROUP BY ALL", "100|4"},
		{"SELECT a FROM t GROUP BY ALL ORDER BY a", "1;2"},
		{"SELECT a, (SELECT MAX(x.c) FROM t x WHERE x.a = t.a) AS top, COUNT(*) FROM t GROUP BY ALL ORDER BY a", "1|20|2;2|40|2"},
		{"SELECT q.a, q.n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY ALL) q ORDER BY a", "1|2;2|2"},
		{"SELECT a, COUNT(*), rank() OVER (ORDER BY COUNT(*)) FROM t GROUP BY ALL ORDER BY a", "1|2|1;2|2|1"},
		{"CREATE VIEW v AS SELECT b, SUM(c) AS s FROM t GROUP BY ALL", ""},
		{"SELECT * FROM v ORDER BY s, b", "x|30;y|30;NULL|40"},
		{"SELECT a, c, SUM(c) OVER (PARTITION BY b) FROM t GROUP BY ALL", `!column "b" must appear in the GROUP BY clause`},
	})
}

// What a condition rules out, and what a LIMIT does not ask for, is not made.
func TestRowsThatAreNotMade(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	steps(t, db, [][2]string{
		{"SELECT * FROM generate_series(1, 1000000000) LIMIT 3", "1;2;3"},
		{"SELECT x * 2 FROM generate_series(1, 9000000000000000000) AS g(x) WHERE x % 1000 = 7 OFFSET 1 LIMIT 2", "2014;4014"},
		{"SELECT * FROM (SELECT -x AS y FROM generate_series(10, -2000000000, -1) AS g(x)) q WHERE y > -8 LIMIT 2", "-7;-6"},
		{"SELECT 10 / (x - 3) FROM generate_series(1, 1000000000) AS g(x) LIMIT 2", "-5;-10"},
		{"SELECT x FROM generate_series(1, 1000000000) AS g(x) WHERE 10 / (x - 3) > 0 LIMIT 2", "!division by zero"},
		{"SELECT * FROM generate_series(1, 1000000000) LIMIT 0", ""},
		{"SELECT * FROM generate_series(TIMESTAMP '2020-01-01', '2999-01-01', '1 second') LIMIT 1", "2020-01-01 00:00:00"},
		{"SELECT COUNT(*) FROM generate_series(1, 2000000) a(x), generate_series(1, 2000000) b(y) WHERE 1 = 0", "0"},
		{"SELECT a.x, b.y FROM generate_series(1, 2000000) a(x) CROSS JOIN generate_series(1, 2000000) b(y) WHERE NULL", ""},
		{"SELECT COUNT(*) FROM generate_series(1, 2000000) a(x) JOIN generate_series(1, 2000000) b(y) ON false", "0"},
		{"SELECT x, y FROM generate_series(1, 2) a(x) LEFT JOIN generate_series(1, 2000000) b(y) ON 1 = 0 ORDER BY 1", "1|NULL;2|NULL"},
		{"SELECT x, y FROM generate_series(1, 2000000) a(x) RIGHT JOIN generate_series(1, 2) b(y) ON NULL ORDER BY 2", "NULL|1;NULL|2"},
		{"SELECT x, y FROM generate_series(1, 1) a(x) FULL JOIN generate_series(2, 2) b(y) ON false ORDER BY 1", "1|NULL;NULL|2"},
		{"SELECT EXISTS (SELECT 1 FROM generate_series(1, 3) a(x), generate_series(1, 3) b(y) WHERE 2 < 1)", "false"},
		{"SELECT x, COUNT(*) FROM (SELECT x FROM generate_series(1, 3) a(x) JOIN generate_series(1, 3) b(y) ON x = y) q WHERE false GROUP BY x", ""},
	})
}

// What EXISTS selects is not computed, as in PostgreSQL, where its rows are those of its FROM.
func TestExistsComputesNoItems(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	steps(t, db, [][2]string{
		{"SELECT EXISTS (SELECT 1 / 0), EXISTS (SELECT 1 / 0 LIMIT 1), EXISTS (SELECT DISTINCT 1 / 0), EXISTS (VALUES (1 / 0)), EXISTS (SELECT (SELECT 1 / 0) ORDER BY 1)", "true|true|true|true|true"},
		{"SELECT EXISTS (SELECT 1 / (x - x) FROM generate_series(1, 3) g(x) GROUP BY x), EXISTS (SELECT 1 / (x - x) FROM generate_series(1, 3) g(x) WHERE x > 3)", "true|false"},
		{"SELECT NOT EXISTS (SELECT 1 / 0 WHERE false), EXISTS (SELECT 1 / 0 LIMIT 0)", "true|false"},
		{"SELECT EXISTS (SELECT row_number() OVER (ORDER BY 1 / (x - x)) FROM generate_series(1, 3) g(x))", "!division by zero"},
		{"SELECT x FROM generate_series(1, 2) g(x) WHERE EXISTS (SELECT 1 / (y - y) FROM generate_series(1, 3) h(y) WHERE y = x + 1)", "1;2"},
		{"SELECT EXISTS (SELECT 1 WHERE 1 / 0 = 1)", "!division by zero"},
		{"SELECT EXISTS (SELECT COUNT(*) / 0 FROM generate_series(1, 3))", "!division by zero"},
		{"SELECT EXISTS (SELECT 1 / 0 UNION ALL SELECT 1)", "!division by zero"},
	})
}

// Kinds of joins that other databases have are aliases here, which a note says.
func TestJoinsThatAreAliases(t *testing.T) {
	var notes []string
	db := open(t, Options{Backend: "cpu", Note: func(text string) { notes = append(notes, text) }})
	do(t, db, "CREATE TABLE a AS SELECT 1 AS x")
	for _, c := range []struct {
		sql string
		n   int
	}{
		{"SELECT * FROM a SEMI JOIN a b ON semi.x = b.x", 1},
		{"SELECT COUNT(*) FROM a Anti JOIN a b ON anti.x = b.x", 1},
		{`SELECT COUNT(*) FROM "a" asof join a b USING (x)`, 1},
		{"SELECT COUNT(*) FROM a AS semi JOIN a b USING (x)", 0},
		{`SELECT COUNT(*) FROM a "anti" JOIN a b USING (x)`, 0},
		{"WITH semi AS (SELECT 1 AS x) SELECT COUNT(*) FROM semi JOIN a USING (x)", 0},
	} {
		notes = nil
		if _, err := Collect(db.Query(context.Background(), c.sql)); err != nil {
			t.Errorf("%s: %v", c.sql, err)
		}
		if len(notes) != c.n {
			t.Errorf("%s: the notes %q, want %d", c.sql, notes, c.n)
		}
	}
	for range db.Each(context.Background(), "SELECT 1; SELECT * FROM a SEMI JOIN a b ON semi.x = b.x") {
	}
	const want = "SEMI JOIN is read as a JOIN with a table that has the alias semi, as PostgreSQL reads it; WHERE EXISTS (SELECT 1 FROM ...) keeps the rows that have a partner"
	if !slices.Equal(notes, []string{want}) {
		t.Errorf("the notes of a script %q, want %q", notes, want)
	}
}
