package sql_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/sql"
)

// seeds are the conditions that the property and the fuzz target start from.
func seeds() []string {
	return []string{
		"x < 60 AND y BETWEEN 1 AND 2.5 OR NOT b",
		"x IN (1, 2.5, NULL) AND v NOT LIKE 'a!%' ESCAPE '!'",
		"r IN (0.1, 'NaN') OR d > '-Infinity' OR r < 0.1::real",
		"ts + INTERVAL '1 day' > day - 1 AND ts - ts < '1 month'",
		"1/0 = x OR 1.0/0 = dec OR 1e0::float8/0 = d OR 5.0::numeric(1,0) % 0 = 1",
		"x IS DISTINCT FROM y AND (x < 1) IS NOT UNKNOWN AND u IS NULL",
		"x = -(-9223372036854775807 - 1) OR s = 99999::smallint",
		"x BETWEEN SYMMETRIC y AND 2 AND 'é' = v AND dec < 99999999999999999999.5",
		"day - u < 3 OR u AND x + u > 1.5::float8",
		"d = -0.0::float8 OR d = 1e300 OR d = 5e-324 OR d / 0 = 1",
	}
}

// TestErrors shows what is refused, in which words and where.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"SELECT x FORM t", `syntax error at or near "t" (line 1, column 15)`},
		{"SELECT COUNT(*) FORM t", `syntax error at or near "t" (line 1, column 22)`},
		{"SELECT 'é'\n, 'ü' FORM t x", `syntax error at or near "t" (line 2, column 12)`},
		{"SELECT COUNT(*) FROM t WHERE", `syntax error at end of input (line 1, column 29)`},
		{"SELECT COUNT(*) FROM t WHERE v = 'a", `unterminated quoted string at or near "'a" (line 1, column 34)`},
		{"SELECT COUNT(*) FROM t /* x", `unterminated /* comment (line 1, column 24)`},
		// Names.
		{"SELECT COUNT(*) FROM flihgts", `table "flihgts" does not exist; did you mean flights? (line 1, column 22)`},
		{"SELECT COUNT(*) FROM zzzz", `table "zzzz" does not exist; the tables are t, flights, Mixed, q (line 1, column 22)`},
		{`SELECT COUNT(*) FROM "Flights"`, `table "Flights" does not exist; did you mean flights? (line 1, column 22)`},
		{"SELECT MIN(dely) FROM flights", `column "dely" does not exist; did you mean delay? (line 1, column 12)`},
		{"SELECT MIN(qqqqq) FROM flights", `column "qqqqq" does not exist; the columns are delay, distance, time (line 1, column 12)`},
		{"SELECT MIN(" + strings.Repeat("é", 5000) + ") FROM flights", `column "` + strings.Repeat("é", 100) + `..." does not exist; the columns are delay, distance, time (line 1, column 12)`},
		{"SELECT MIN(qqqqq) FROM t", `column "qqqqq" does not exist; the 13 columns begin with b, s, i, x, y, dec, r, d, day, ts, v, u (line 1, column 12)`},
		{"SELECT MIN(ab) FROM q", `column name ab is ambiguous; 2 columns differ in case only: write it in double quotes (line 1, column 12)`},
		{"SELECT MIN(z.x) FROM t", `there is no table z in this query's FROM; it has t (line 1, column 12)`},
		{"SELECT MIN(t.x) FROM t AS a", `there is no table t in this query's FROM; it has a (line 1, column 12)`},
		{"SELECT MIN(nested) FROM t", `column "nested" cannot be used: a nested type (line 1, column 12)`},
		// Clauses.
		{"SELECT COUNT(*) FROM t JOIN q ON true", `JOIN is not supported (line 1, column 24)`},
		{"SELECT COUNT(*) FROM t, q", `FROM with several tables is not supported; name one (line 1, column 25)`},
		{"SELECT COUNT(*) FROM (SELECT 1) a", `a subquery in FROM is not supported (line 1, column 17)`},
		{"SELECT COUNT(*) FROM t TABLESAMPLE system(1)", `TABLESAMPLE is not supported (line 1, column 24)`},
		{"SELECT COUNT(*) FROM ONLY t", `ONLY is not supported (line 1, column 22)`},
		{"SELECT COUNT(*) FROM pg_catalog.t", `schema "pg_catalog" does not exist; the schemas are public and information_schema; a file is written 'pg_catalog.t' (line 1, column 22)`},
		{"SELECT COUNT(*) FROM PUBLIC.tt", `table "tt" does not exist; did you mean t? (line 1, column 22)`},
		{"SELECT COUNT(*) FROM information_schema.columns", `table "columns" does not exist; there are no tables (line 1, column 22)`},
		{"SELECT COUNT(*) FROM x.public.t", `a database before a table's name is not supported; write t (line 1, column 22)`},
		// DESCRIBE and SHOW.
		{"DESCRIBE", `syntax error at end of input (line 1, column 9)`},
		{"DESCRIBE tt", `table "tt" does not exist; did you mean t? (line 1, column 10)`},
		{"DESCRIBE t LIMIT 1", `DESCRIBE takes the name of a table, or a SELECT (line 1, column 12)`},
		{"DESCRIBE ONLY t", `DESCRIBE takes the name of a table, or a SELECT (line 1, column 15)`},
		{"DESCRIBE t, q", `syntax error at or near "," (line 1, column 11)`},
		{"describe SELECT z FROM q", `column "z" does not exist; did you mean A? (line 1, column 17)`},
		{"EXPLAIN DESCRIBE t", `syntax error at or near "DESCRIBE" (line 1, column 9)`},
		{"SHOW search_path", `SHOW is supported for TABLES only (line 1, column 1)`},
		{"SHOW TABLES FROM t", `syntax error at or near "FROM" (line 1, column 13)`},
		{"SELECT COUNT(*) FROM t AS a(z)", `renaming the columns of a table is not supported (line 1, column 22)`},
		{"SELECT COUNT(*) FROM generate_series(1, 2)", `a function in FROM is not supported, other than read_csv, read_parquet, read_arrow (line 1, column 17)`},
		{"SELECT COUNT(*) FROM t ORDER BY 1", `ORDER BY is not supported (line 1, column 24)`},
		{"SELECT x FROM t LIMIT -1", `LIMIT must not be negative (line 1, column 23)`},
		{"SELECT x FROM t OFFSET -1", `OFFSET must not be negative (line 1, column 24)`},
		{"SELECT x FROM t LIMIT x", `argument of LIMIT and OFFSET must not contain variables (line 1, column 23)`},
		{"SELECT x FROM t LIMIT COUNT(*)", `aggregate functions are not allowed in LIMIT or OFFSET (line 1, column 23)`},
		{"SELECT x FROM t LIMIT true", `argument of LIMIT must be type bigint, not type boolean (line 1, column 23)`},
		{"SELECT x FROM t LIMIT 'a'", `invalid input syntax for type bigint: "a" (line 1, column 23)`},
		{"SELECT x FROM t OFFSET 1 / 0", `division by zero (line 1, column 26)`},
		{"SELECT x FROM t LIMIT 1e30", `bigint out of range (line 1, column 23)`},
		{"SELECT x FROM t FETCH FIRST 2 ROWS WITH TIES", `WITH TIES cannot be specified without ORDER BY clause (line 1, column 1)`},
		{"SELECT DISTINCT COUNT(*) FROM t", `SELECT DISTINCT is not supported (line 1, column 8)`},
		{"SELECT COUNT(*) INTO z FROM t", `SELECT INTO is not supported (line 1, column 17)`},
		{"SELECT COUNT(*) FROM t WINDOW w AS ()", `WINDOW is not supported (line 1, column 24)`},
		{"SELECT COUNT(*) FROM t FOR SHARE", `FOR SHARE is not supported (line 1, column 24)`},
		{"SELECT COUNT(*) FROM t FOR UPDATE", `FOR UPDATE is not supported (line 1, column 24)`},
		{"SELECT COUNT(*) FROM t UNION SELECT 1", `UNION is not supported (line 1, column 24)`},
		{"SELECT COUNT(*) FROM t EXCEPT ALL SELECT 1", `EXCEPT is not supported (line 1, column 24)`},
		{"WITH a AS (SELECT 1) SELECT COUNT(*) FROM t", `WITH is not supported (line 1, column 1)`},
		{"VALUES (1)", `VALUES is not supported (line 1, column 1)`},
		{"TABLE t", `column "nested" cannot be used: a nested type (line 1, column 1)`},
		{"SELECT FROM t", `the select list is empty; write a column, *, or an aggregate such as COUNT(*) (line 1, column 1)`},
		// Other statements.
		{"INSERT INTO t VALUES (1)", `INSERT is not supported; there are SELECT, EXPLAIN, DESCRIBE and SHOW TABLES (line 1, column 1)`},
		{"create table z (a int)", `CREATE TABLE is not supported; there are SELECT, EXPLAIN, DESCRIBE and SHOW TABLES (line 1, column 1)`},
		{"EXPLAIN DELETE FROM t", `EXPLAIN is supported for SELECT only (line 1, column 1)`},
		{"EXPLAIN (VERBOSE) SELECT COUNT(*) FROM t", `the EXPLAIN option VERBOSE is not supported; there are ANALYZE and FORMAT (line 1, column 10)`},
		{"EXPLAIN (FORMAT XML) SELECT COUNT(*) FROM t", `the EXPLAIN format XML is not supported; there are TEXT and JSON (line 1, column 10)`},
		// Select items.
		{"SELECT *", `SELECT * with no tables specified is not valid (line 1, column 8)`},
		{"SELECT z.* FROM t", `there is no table z in this query's FROM; it has t (line 1, column 8)`},
		{"SELECT public.t.* FROM t", `a schema before a table's name is not supported (line 1, column 8)`},
		{"SELECT COUNT(t.*) FROM t", `* is not supported here (line 1, column 14)`},
		{"SELECT x", `column "x" does not exist; there are no columns (line 1, column 8)`},
		{"SELECT t.x", `there is no table t: the query has no FROM (line 1, column 8)`},
		{"SELECT COUNT(*)", `count needs a table; write FROM (line 1, column 8)`},
		{"SELECT COUNT(*), x + 1 FROM t", `column "x" must appear in the GROUP BY clause or be used in an aggregate function; write GROUP BY x, or any_value(x) (line 1, column 18)`},
		{"SELECT *, COUNT(*) FROM flights", `column "delay" must appear in the GROUP BY clause or be used in an aggregate function; write GROUP BY delay, or any_value(delay) (line 1, column 8)`},
		{"SELECT x FROM t WHERE x = $1", `the statement has 1 parameter, and 0 values were given (line 1, column 1)`},
		{"SELECT $0", `there is no parameter $0; they go from $1 to $65535 (line 1, column 1)`},
		{"SELECT $99999", `there is no parameter $99999; they go from $1 to $65535 (line 1, column 1)`},
		// Groups.
		{"SELECT x, y FROM t GROUP BY x", `column "y" must appear in the GROUP BY clause or be used in an aggregate function; write GROUP BY y, or any_value(y) (line 1, column 11)`},
		{"SELECT x + y FROM t GROUP BY x + 1, y", `column "x" must appear in the GROUP BY clause or be used in an aggregate function; write GROUP BY x, or any_value(x) (line 1, column 8)`},
		{"SELECT COUNT(*) FROM t HAVING x > 1", `column "x" must appear in the GROUP BY clause or be used in an aggregate function; write GROUP BY x, or any_value(x) (line 1, column 31)`},
		{"SELECT x FROM t HAVING true", `column "x" must appear in the GROUP BY clause or be used in an aggregate function; write GROUP BY x, or any_value(x) (line 1, column 8)`},
		{"SELECT COUNT(*) FROM t HAVING x", `argument of HAVING must be type boolean, not type bigint (line 1, column 31)`},
		{"SELECT COUNT(*) FROM t GROUP BY COUNT(*)", `aggregate functions are not allowed in GROUP BY (line 1, column 33)`},
		{"SELECT COUNT(*) FROM t GROUP BY 1", `aggregate functions are not allowed in GROUP BY (line 1, column 8)`},
		{"SELECT x FROM t GROUP BY 2", `GROUP BY position 2 is not in select list (line 1, column 26)`},
		{"SELECT x FROM t GROUP BY 0", `GROUP BY position 0 is not in select list (line 1, column 26)`},
		{"SELECT x FROM t GROUP BY 'x'", `non-integer constant in GROUP BY; write a column, an expression, or the number of a select item (line 1, column 26)`},
		{"SELECT * FROM flights GROUP BY 1", `* is no key of GROUP BY; name the columns (line 1, column 32)`},
		{"SELECT x FROM t GROUP BY xx", `column "xx" does not exist; did you mean x? (line 1, column 26)`},
		{"SELECT x FROM t GROUP BY ROLLUP (x)", `GROUPING SETS, ROLLUP and CUBE are not supported; write a SELECT for each set of keys (line 1, column 26)`},
		{"SELECT x FROM t GROUP BY GROUPING SETS ((x), ())", `GROUPING SETS, ROLLUP and CUBE are not supported; write a SELECT for each set of keys (line 1, column 26)`},
		{"SELECT x FROM t GROUP BY ()", `GROUPING SETS, ROLLUP and CUBE are not supported; write a SELECT for each set of keys (line 1, column 26)`},
		{"SELECT x FROM t GROUP BY DISTINCT x", `GROUP BY DISTINCT is not supported (line 1, column 17)`},
		{"SELECT 1 HAVING true", `GROUP BY and HAVING need a table; write FROM (line 1, column 1)`},
		{"SELECT COUNT(*) FILTER (WHERE x) FROM t", `argument of FILTER must be type boolean, not type bigint (line 1, column 31)`},
		{"SELECT COUNT(*) FILTER (WHERE SUM(x) > 1) FROM t", `aggregate function calls cannot be nested (line 1, column 31)`},
		{"SELECT corr(DISTINCT x, y) FROM t", `corr(DISTINCT ...) is not supported (line 1, column 8)`},
		{"SELECT corr(x) FROM t", `corr takes two arguments: corr(y, x) (line 1, column 8)`},
		{"SELECT corr(x, v) FROM t", `function corr(character varying) does not exist (line 1, column 8)`},
		{"SELECT bool_and(x) FROM t", `function bool_and(bigint) does not exist (line 1, column 8)`},
		{"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM t", `function percentile_cont(character varying) does not exist; it takes numbers, percentile_disc any type (line 1, column 8)`},
		{"SELECT mode() FROM t", `mode needs WITHIN GROUP: mode() WITHIN GROUP (ORDER BY x) (line 1, column 8)`},
		{"SELECT mode(x) WITHIN GROUP (ORDER BY x) FROM t", `mode takes one value to order by: mode() WITHIN GROUP (ORDER BY x) (line 1, column 8)`},
		{"SELECT stddev(v) FROM t", `function stddev(character varying) does not exist (line 1, column 8)`},
		{"SELECT SUM(SUM(x)) FROM t", `aggregate function calls cannot be nested (line 1, column 12)`},
		{"SELECT SUM(v) FROM t", `function sum(character varying) does not exist (line 1, column 8)`},
		{"SELECT AVG(day) FROM t", `function avg(date) does not exist (line 1, column 8)`},
		{"SELECT MAX(b) FROM t", `function max(boolean) does not exist; there are bool_and and bool_or (line 1, column 8)`},
		{"SELECT COUNT(*) OVER () FROM t", `window functions (OVER) are not supported (line 1, column 8)`},
		{"SELECT SUM(x ORDER BY y) FROM t", `ORDER BY inside sum is not supported (line 1, column 8)`},
		{"SELECT SUM(VARIADIC x) FROM t", `VARIADIC is not supported (line 1, column 8)`},
		{"SELECT SUM(x, y) FROM t", `sum takes one argument (line 1, column 8)`},
		{"SELECT medain(x) FROM t", `function medain is not supported; did you mean median? (line 1, column 8)`},
		{"SELECT percentile_disc(1.5) WITHIN GROUP (ORDER BY x) FROM t", `percentile value 1.5 is not between 0 and 1 (line 1, column 24)`},
		{"SELECT percentile_disc(0.5) FROM t", `percentile_disc needs WITHIN GROUP: percentile_disc(0.5) WITHIN GROUP (ORDER BY x) (line 1, column 8)`},
		{"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x, y) FROM t", `percentile_disc takes one fraction and one value to order by (line 1, column 8)`},
		{"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x USING <) FROM t", `ORDER BY ... USING is not supported (line 1, column 8)`},
		{"SELECT kth_largest(x, 0) FROM t", `kth_largest: k is 0; it must be between 1 and the number of selected values (line 1, column 23)`},
		{"SELECT kth_largest(x, y) FROM t", `the second argument of kth_largest must be a constant integer (line 1, column 8)`},
		{"SELECT kth_largest(x, 1.5) FROM t", `the second argument of kth_largest must be a constant integer (line 1, column 8)`},
		{"SELECT kth_largest(x) FROM t", `kth_largest takes a value and k: kth_largest(x, 10) (line 1, column 8)`},
		{"SELECT selectivity(x) FROM t", `selectivity() takes no argument; it is the fraction of the table's records that WHERE selects (line 1, column 8)`},
		{"SELECT COUNT(*) + 'a' FROM t", `invalid input syntax for type bigint: "a" (line 1, column 19)`},
		{"SELECT SQRT(v) FROM t", `function sqrt(character varying) does not exist; there is sqrt(double precision) (line 1, column 8)`},
		{"SELECT MOD(x) FROM t", `function mod(bigint) does not exist; there is mod(bigint, bigint) and mod(numeric, numeric) (line 1, column 8)`},
		{"SELECT rond(x) FROM t", `function rond is not supported; did you mean round? (line 1, column 8)`},
		{"SELECT abs(*) FROM t", `abs(*) is not supported; * is for COUNT (line 1, column 8)`},
		{"SELECT abs(DISTINCT x) FROM t", `abs is no aggregate function: DISTINCT, ORDER BY and FILTER do not belong to it (line 1, column 8)`},
		{"SELECT x & d FROM t", `operator does not exist: bigint & double precision (line 1, column 10)`},
		{"SELECT ~ v FROM t", `operator does not exist: ~ character varying (line 1, column 8)`},
		{"SELECT x @@ y FROM t", `operator @@ is not supported (line 1, column 10)`},
		{"SELECT CASE WHEN b THEN x ELSE v END FROM t", `CASE types bigint and character varying cannot be matched (line 1, column 8)`},
		{"SELECT CASE x WHEN 'a' THEN 1 END FROM t", `invalid input syntax for type bigint: "a" (line 1, column 20)`},
		{"SELECT CASE WHEN x THEN 1 END FROM t", `argument of CASE/WHEN must be type boolean, not type bigint (line 1, column 18)`},
		{"SELECT COALESCE(x, day) FROM t", `COALESCE types bigint and date cannot be matched (line 1, column 8)`},
		{"SELECT GREATEST(b, 1) FROM t", `GREATEST types boolean and bigint cannot be matched (line 1, column 8)`},
		{"SELECT NULLIF(x, v) FROM t", `operator does not exist: bigint = character varying; a text is not compared with a number (line 1, column 8)`},
		{"SELECT random()", `random() is not supported: it gives another value each time, and an answer here is the same on every backend (line 1, column 8)`},
		{"SELECT now(1)", `now takes no argument (line 1, column 8)`},
	} {
		checkError(t, c.in, c.want)
	}
}

// TestWhereErrors is TestErrors for conditions; columns count from the WHERE.
func TestWhereErrors(t *testing.T) {
	const head = "SELECT COUNT(*) FROM t WHERE\n"
	for _, c := range []struct{ in, want string }{
		{"x", `argument of WHERE must be type boolean, not type bigint (line 2, column 1)`},
		{"b AND x", `argument of AND must be type boolean, not type bigint (line 2, column 7)`},
		{"NOT v", `argument of NOT must be type boolean, not type character varying (line 2, column 5)`},
		{"x IS TRUE", `argument of IS TRUE must be type boolean, not type bigint (line 2, column 1)`},
		{"COUNT(*) > 1", `aggregate functions are not allowed in WHERE (line 2, column 1)`},
		{"x < v", `operator does not exist: bigint < character varying; a text is not compared with a number (line 2, column 3)`},
		{"x = 'abc'", `invalid input syntax for type bigint: "abc" (line 2, column 5)`},
		{"day < 5", `operator does not exist: date < bigint (line 2, column 5)`},
		{"day = 'soon'", `invalid input syntax for type date: "soon"; write YYYY-MM-DD (line 2, column 7)`},
		{"ts = 'soon'", `invalid input syntax for type timestamp without time zone: "soon"; write YYYY-MM-DD HH:MM:SS (line 2, column 6)`},
		{"x + v = 1", `operator does not exist: bigint + character varying (line 2, column 3)`},
		{"b + 1 = 1", `operator does not exist: boolean + bigint (line 2, column 3)`},
		{"-v = 1", `operator does not exist: - character varying (line 2, column 1)`},
		{"d % 2 = 1", `operator does not exist: double precision % bigint (line 2, column 3)`},
		{"'1' + '2' = 3", `operator is not unique: unknown + unknown; add a cast (line 2, column 5)`},
		{"day + '1' = day", `operator is not unique: date + unknown; write INTERVAL '...' or a number of days (line 2, column 5)`},
		{"ts - ts > 'soon'", `invalid input syntax for type interval: "soon"; write for example '2 days 3 hours' (line 2, column 11)`},
		{"x LIKE 'a'", `operator does not exist: bigint LIKE character varying (line 2, column 3)`},
		{"v LIKE 'a\\'", `LIKE pattern must not end with escape character (line 2, column 3)`},
		{"v LIKE 'a' ESCAPE 'bc'", `invalid escape string: it must be empty or one character (line 2, column 3)`},
		{"v || 'a' = 1", `operator does not exist: character varying = bigint; a text is not compared with a number (line 2, column 10)`},
		{"x ~ 'a'", `operator does not exist: bigint ~ unknown (line 2, column 3)`},
		{"left(v) = 'a'", `function left(character varying) does not exist; there is left(character varying, bigint) (line 2, column 1)`},
		{"x IN (SELECT 1)", `a subquery is not supported (line 2, column 3)`},
		{"EXISTS (SELECT 1)", `EXISTS is not supported (line 2, column 1)`},
		{"day < CURRENT_TIME", `CURRENT_TIME is not supported (line 2, column 7)`},
		{"x OPERATOR(pg_catalog.+) 1 = 2", `OPERATOR() is not supported; write + (line 2, column 3)`},
		{"v COLLATE \"de_DE\" = 'a'", `collation "de_DE" is not supported; strings compare by bytes, COLLATE "C" (line 2, column 3)`},
		{"x = B'1'", `bit strings are not supported (line 2, column 5)`},
		{"x::money = 1", `type money is not supported; there are BOOLEAN, SMALLINT, INTEGER, BIGINT, NUMERIC, REAL, DOUBLE PRECISION, DATE, TIMESTAMP, INTERVAL and VARCHAR (line 2, column 4)`},
		{"x::date = day", `cannot cast type bigint to date (line 2, column 2)`},
		{"d::numeric = 1", `CAST from double precision to NUMERIC needs a precision and a scale: NUMERIC(18, 2) (line 2, column 2)`},
		{"x::numeric(50) = 1", `NUMERIC precision must be between 1 and 38 (line 2, column 4)`},
		{"x = 99.5::numeric(3,2)", `numeric field overflow: 99.5 does not fit numeric(3,2) (line 2, column 9)`},
		{"ts::timestamp(3) = ts", `TIMESTAMP with a precision is not supported (line 2, column 5)`},
		{"day = DATE '2001-01-01' + 2147483647", `date out of range (line 2, column 25)`},
		{"day < '5874898-01-01'", `date out of range: "5874898-01-01"; write YYYY-MM-DD (line 2, column 7)`},
		{"day < '4714-11-23 BC'", `date out of range: "4714-11-23 BC"; write YYYY-MM-DD (line 2, column 7)`},
		{"ts < '294248-01-01'", `timestamp out of range: "294248-01-01"; write YYYY-MM-DD HH:MM:SS (line 2, column 6)`},
		{"ts < DATE '294248-01-01'", `date out of range for timestamp (line 2, column 11)`},
		{"ts < TIMESTAMP '294247-01-10' + INTERVAL '1 day'", `timestamp out of range (line 2, column 31)`},
		{"ts < TIMESTAMP '4714-12-01 BC' - INTERVAL '1 month'", `timestamp out of range (line 2, column 32)`},
		{"r = 1e300::real", `10000000000000000000... is out of range for type real (line 2, column 10)`},
		{"x = 1e2000", `a number of more than 1000 digits is not supported (line 2, column 5)`},
	} {
		checkError(t, head+c.in, c.want)
	}
}

func checkError(t *testing.T, text, want string) {
	t.Helper()
	_, err := bind(t, text)
	if err == nil {
		t.Errorf("%s: no error, want %s", text, want)
		return
	}
	if got := sql.Describe(text, err); got != want {
		t.Errorf("%s:\n got %s\nwant %s", text, got, want)
	}
}
