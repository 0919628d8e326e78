-- The code of each kind of error. Where the engine's differs from PostgreSQL's, codeDifferences names it.
CREATE TABLE t (i integer PRIMARY KEY, n integer NOT NULL, s text CHECK (s <> 'no'), d date, x double precision, m numeric(6, 2), b boolean, c varchar(3), ts timestamp);
INSERT INTO t VALUES (1, 0, '1', '2026-01-01', 1.5, 2.25, true, 'abc', '2026-01-01 10:00:00'), (2, 2147483647, 'x', NULL, 1e308, -1, false, 'a', NULL);
CREATE TABLE u (i integer, k integer);
INSERT INTO u VALUES (1, 1), (1, 2);
CREATE VIEW v AS SELECT i, n FROM t;

-- words and names
SELEC 1;
--> error 42601
SELECT 1 +;
--> error 42601
SELECT (1;
--> error 42601
SELECT 'a;
--> error 42601
SELECT "a;
--> error 42601
SELECT * FROM nothing;
--> error 42P01
SELECT * FROM nothing.t;
--> error 42P01
SELECT nothing.i FROM t;
--> error 42P01
SELECT j FROM t;
--> error 42703
SELECT t.j FROM t;
--> error 42703
SELECT a.i FROM t AS b;
--> error 42P01
SELECT i FROM t a JOIN u b ON true;
--> error 42702
SELECT * FROM t a JOIN u a ON true;
--> error 42712
SELECT * FROM t JOIN u USING (n);
--> error 42703
SELECT i FROM t GROUP BY j;
--> error 42703
SELECT i FROM t ORDER BY j;
--> error 42703
SELECT i FROM t ORDER BY 2;
--> error 42P10
SELECT i FROM t GROUP BY 2;
--> error 42P10
SELECT nothing(1);
--> error 42883
SELECT abs('2026-01-01'::date);
--> error 42883
SELECT abs(1, 2);
--> error 42883
SELECT substring(1);
--> error 42883
SELECT count(1, 2) FROM t;
--> error 42883
SELECT count() FROM t;
--> error 42809
SELECT sum(s) FROM t;
--> error 42883
SELECT sum(b) FROM t;
--> error 42883
SELECT avg(d) FROM t;
--> error 42883
SELECT string_agg(s) FROM t;
--> error 42883
SELECT string_agg(i, ',') FROM t;
--> error 42883
SELECT row_number() FROM t;
--> error 42809
SELECT rank(1) OVER () FROM t;
--> error 42809
SELECT lag() OVER () FROM t;
--> error 42883
SELECT abs(i) OVER () FROM t;
--> error 42809
SELECT nothing(i) OVER () FROM t;
--> error 42883
SELECT ntile('x') OVER () FROM t;
--> error 22P02
SELECT $0;
--> error 42P02
SELECT CAST(1 AS nothing);
--> error 42704
SELECT CAST(1 AS numeric(0));
--> error 22023
SELECT CAST(1 AS numeric(2000));
--> error 22023
SELECT CAST('a' AS varchar(0));
--> error 22023
CREATE TABLE z (a nothing);
--> error 42704
CREATE TABLE z (a integer, a text);
--> error 42701
CREATE TABLE z (a integer PRIMARY KEY, b integer PRIMARY KEY);
--> error 42P16
CREATE TABLE z (a integer, PRIMARY KEY (b));
--> error 42703
CREATE TABLE z (a integer, PRIMARY KEY (a, a));
--> error 42701
CREATE TABLE z (a integer DEFAULT 'x');
--> error 22P02
CREATE TABLE z (a integer DEFAULT a);
--> error 0A000
CREATE TABLE z (a integer DEFAULT true);
--> error 42804
CREATE TABLE z (a integer CHECK (a));
--> error 42804
CREATE TABLE z (a integer CHECK (b > 1));
--> error 42703
CREATE TABLE z (a integer CHECK (sum(a) > 1));
--> error 42803
CREATE TABLE z (a integer CHECK ((SELECT 1) = 1));
--> error 0A000
CREATE TABLE z (a integer GENERATED ALWAYS AS IDENTITY DEFAULT 1);
--> error 42601
CREATE TABLE t (i integer);
--> error 42P07
CREATE TABLE v (i integer);
--> error 42P07
CREATE VIEW v AS SELECT 1;
--> error 42P07
CREATE VIEW t AS SELECT 1;
--> error 42P07
CREATE VIEW w AS SELECT 1 AS a, 2 AS a;
--> error 42701
CREATE VIEW w AS SELECT * FROM nothing;
--> error 42P01
CREATE VIEW w (a, b) AS SELECT 1;
--> error 42601
CREATE OR REPLACE VIEW v AS SELECT 1 AS a;
--> error 42P16
DROP TABLE nothing;
--> error 42P01
DROP VIEW nothing;
--> error 42P01
DROP TABLE v;
--> error 42809
DROP VIEW t;
--> error 42809
DROP TABLE t;
--> error 2BP01
DROP INDEX nothing;
--> error 42704
INSERT INTO nothing VALUES (1);
--> error 42P01
INSERT INTO t (j) VALUES (1);
--> error 42703
INSERT INTO t (i, i) VALUES (1, 1);
--> error 42701
INSERT INTO t (i, n) VALUES (1);
--> error 42601
INSERT INTO t (i) VALUES (1, 2);
--> error 42601
INSERT INTO u VALUES (1, 2, 3);
--> error 42601
INSERT INTO u VALUES (1), (2, 3);
--> error 42601
INSERT INTO u VALUES (true, 1);
--> error 42804
INSERT INTO u SELECT d, i FROM t;
--> error 42804
INSERT INTO u VALUES ('x', 1);
--> error 22P02
INSERT INTO u VALUES (sum(1), 1);
--> error 42803
INSERT INTO u VALUES (i, 1);
--> error 42703
UPDATE nothing SET i = 1;
--> error 42P01
UPDATE t SET j = 1;
--> error 42703
UPDATE t SET n = true;
--> error 42804
UPDATE t SET n = 'x';
--> error 22P02
UPDATE t SET n = 1, n = 2;
--> error 42601
UPDATE t SET n = sum(i);
--> error 42803
UPDATE t SET n = row_number() OVER ();
--> error 42P20
UPDATE t SET n = 1 WHERE n;
--> error 42804
UPDATE t SET (n, s) = (1);
--> error 0A000
DELETE FROM nothing;
--> error 42P01
DELETE FROM t WHERE i;
--> error 42804
DELETE FROM t WHERE j = 1;
--> error 42703
DELETE FROM t WHERE sum(i) = 1;
--> error 42803
TRUNCATE nothing;
--> error 42P01
INSERT INTO t (i, n) VALUES (1, 1) ON CONFLICT (n) DO NOTHING;
--> error 42P10
INSERT INTO t (i, n) VALUES (1, 1) ON CONFLICT (j) DO NOTHING;
--> error 42703
INSERT INTO t (i, n) VALUES (1, 1) ON CONFLICT ON CONSTRAINT nothing DO NOTHING;
--> error 42704
INSERT INTO t (i, n) VALUES (1, 1) ON CONFLICT DO UPDATE SET n = 1;
--> error 42601
INSERT INTO t (i, n) VALUES (7, 1), (7, 2) ON CONFLICT (i) DO UPDATE SET n = excluded.n;
--> error 21000
MERGE INTO nothing USING u ON true WHEN MATCHED THEN DELETE;
--> error 42P01
MERGE INTO t USING nothing ON true WHEN MATCHED THEN DELETE;
--> error 42P01
MERGE INTO t USING u ON t.i = u.i WHEN MATCHED THEN UPDATE SET n = u.k;
--> error 21000
ALTER TABLE nothing ADD COLUMN a integer;
--> error 42P01
ALTER TABLE t ADD COLUMN i integer;
--> error 42701
ALTER TABLE t ADD COLUMN a nothing;
--> error 42704
ALTER TABLE t ADD COLUMN a integer NOT NULL;
--> error 23502
ALTER TABLE t DROP COLUMN j;
--> error 42703
ALTER TABLE t DROP COLUMN i;
--> error 2BP01
ALTER TABLE t RENAME COLUMN j TO k;
--> error 42703
ALTER TABLE t RENAME TO u;
--> error 42P07
ALTER TABLE t ALTER COLUMN j TYPE text;
--> error 42703
ALTER TABLE t ALTER COLUMN s TYPE integer;
--> error 42804
ALTER TABLE t ALTER COLUMN b TYPE date;
--> error 42804
ALTER TABLE t ALTER COLUMN d SET NOT NULL;
--> error 23502
ALTER TABLE t ALTER COLUMN i DROP NOT NULL;
--> error 42P16
ALTER TABLE t DROP CONSTRAINT nothing;
--> error 42704
ALTER TABLE t ADD PRIMARY KEY (n);
--> error 42P16
ALTER TABLE u ADD PRIMARY KEY (i);
--> error 23505
ALTER TABLE u ADD UNIQUE (i);
--> error 23505
ALTER TABLE u ADD CHECK (k < 2);
--> error 23514
ALTER TABLE u ADD CONSTRAINT a CHECK (j < 2);
--> error 42703
ALTER TABLE t ALTER COLUMN n SET DEFAULT 'x';
--> error 22P02
CREATE INDEX a ON nothing (i);
--> error 42P01
CREATE INDEX a ON u (j);
--> error 42703
CREATE UNIQUE INDEX a ON u (i);
--> error 23505
CREATE INDEX t_pkey ON u (i);
--> error 42P07
COMMENT ON TABLE nothing IS 'x';
--> error 42P01
COMMENT ON COLUMN t.j IS 'x';
--> error 42703

-- types
SELECT s + true FROM t;
--> error 42883
SELECT i + d + x FROM t;
--> error 42883
SELECT d + d FROM t;
--> error 42883
SELECT i = s FROM t;
--> error 42883
SELECT i = true FROM t;
--> error 42883
SELECT d < i FROM t;
--> error 42883
SELECT -s FROM t;
--> error 42883
SELECT NOT i FROM t;
--> error 42804
SELECT i AND b FROM t;
--> error 42804
SELECT * FROM t WHERE i;
--> error 42804
SELECT * FROM t WHERE s;
--> error 42804
SELECT * FROM t HAVING i;
--> error 42804
SELECT * FROM t JOIN u ON t.i;
--> error 42804
SELECT CASE WHEN i THEN 1 END FROM t;
--> error 42804
SELECT CASE WHEN b THEN 1 ELSE d END FROM t;
--> error 42804
SELECT CASE i WHEN 'x' THEN 1 END FROM t;
--> error 22P02
SELECT coalesce(i, d) FROM t;
--> error 42804
SELECT coalesce(i, 'x') FROM t;
--> error 22P02
SELECT nullif(i, d) FROM t;
--> error 42883
SELECT greatest(i, d) FROM t;
--> error 42804
SELECT i IN (1, 'x') FROM t;
--> error 22P02
SELECT i IN (d) FROM t;
--> error 42883
SELECT i IN (SELECT s FROM t) FROM t;
--> error 42883
SELECT i IN (SELECT i, n FROM t) FROM t;
--> error 42601
SELECT i BETWEEN 1 AND true FROM t;
--> error 42883
SELECT i LIKE 'x' FROM t;
--> error 42883
SELECT s LIKE 1 FROM t;
--> error 42883
SELECT i ~ 'x' FROM t;
--> error 42883
SELECT s || 1 || true || d FROM t;
--> text
--> 11true2026-01-01
--> NULL
SELECT i || n FROM t;
--> error 42883
SELECT CAST(b AS date) FROM t;
--> error 42846
SELECT CAST(d AS integer) FROM t;
--> error 42846
SELECT CAST(i AS date) FROM t;
--> error 42846
SELECT i::boolean, x::boolean FROM t;
--> error 42846
SELECT extract(year FROM i) FROM t;
--> error 42883
SELECT extract(nothing FROM d) FROM t;
--> error 42601
SELECT extract(hour FROM d) FROM t;
--> error 0A000
SELECT date_trunc('nothing', ts) FROM t;
--> error 22023
SELECT date_part('nothing', ts) FROM t;
--> error 22023
SELECT 1 UNION SELECT 1, 2;
--> error 42601
SELECT 1 UNION SELECT true;
--> error 42804
SELECT 1 UNION SELECT 'x';
--> error 22P02
VALUES (1), (2, 3);
--> error 42601
VALUES (1), (true);
--> error 42804
SELECT (1, 2) = (1, 2, 3);
--> error 42601
SELECT (SELECT 1, 2);
--> error 42601
SELECT i = ALL (SELECT i, n FROM t) FROM t;
--> error 42601
SELECT 1 LIMIT 'x';
--> error 22P02
SELECT 1 LIMIT true;
--> error 42804
SELECT 1 LIMIT i FROM t;
--> error 42601
SELECT i FROM t LIMIT i;
--> error 42P10
SELECT 1 OFFSET -1;
--> error 2201X
SELECT 1 LIMIT -1;
--> error 2201W
SELECT i FROM t FETCH FIRST -1 ROWS ONLY;
--> error 2201W
SELECT i FROM t FETCH FIRST 1 ROWS WITH TIES;
--> error 42601

-- groups and windows
SELECT i, count(*) FROM t;
--> error 42803
SELECT s FROM t GROUP BY n;
--> error 42803
SELECT * FROM t GROUP BY n;
--> error 42803
SELECT i FROM t HAVING count(*) > 1;
--> error 42803
SELECT i FROM t WHERE count(*) > 1;
--> error 42803
SELECT sum(count(*)) FROM t;
--> error 42803
SELECT count(*) FROM t GROUP BY count(*);
--> error 42803
SELECT count(*) FROM t JOIN u ON count(*) = 1;
--> error 42803
SELECT sum(row_number() OVER ()) FROM t;
--> error 42803
SELECT i FROM t WHERE row_number() OVER () = 1;
--> error 42P20
SELECT i FROM t GROUP BY row_number() OVER ();
--> error 42P20
SELECT i FROM t HAVING row_number() OVER () = 1;
--> error 42P20
SELECT row_number() OVER (ORDER BY row_number() OVER ()) FROM t;
--> error 42P20
SELECT sum(i) OVER w FROM t;
--> error 42704
SELECT sum(i) OVER (w ORDER BY i) FROM t WINDOW w AS (ORDER BY n);
--> error 42P20
SELECT sum(i) OVER (w PARTITION BY i) FROM t WINDOW w AS (ORDER BY n);
--> error 42P20
SELECT sum(i) OVER (ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM t;
--> error 42P20
SELECT sum(i) OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING) FROM t;
--> error 42P20
SELECT sum(i) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM t;
--> error 42P20
SELECT sum(i) OVER (ROWS -1 PRECEDING) FROM t;
--> error 22013
SELECT sum(i) OVER (ROWS NULL PRECEDING) FROM t;
--> error 22004
SELECT sum(i) OVER (ROWS 'x' PRECEDING) FROM t;
--> error 22P02
SELECT sum(i) OVER (ROWS i PRECEDING) FROM t;
--> error 42P10
SELECT sum(i) OVER (RANGE 1 PRECEDING) FROM t;
--> error 42P20
SELECT sum(i) OVER (ORDER BY i RANGE -1 PRECEDING) FROM t;
--> error 22013
SELECT sum(i) OVER (ORDER BY s RANGE 1 PRECEDING) FROM t;
--> error 0A000
SELECT sum(i) OVER (ORDER BY i, n RANGE 1 PRECEDING) FROM t;
--> error 42P20
SELECT sum(i) OVER (GROUPS 1 PRECEDING) FROM t;
--> error 42P20
SELECT ntile(0) OVER () FROM t;
--> error 22014
SELECT nth_value(i, 0) OVER () FROM t;
--> error 22016
SELECT count(DISTINCT i) OVER () FROM t;
--> error 0A000
SELECT sum(DISTINCT i ORDER BY n) FROM t;
--> error 42P10
SELECT string_agg(DISTINCT s, ',' ORDER BY i) FROM t;
--> error 42P10
SELECT abs(DISTINCT i) FROM t;
--> error 42809
SELECT abs(i) FILTER (WHERE b) FROM t;
--> error 42809
SELECT sum(i) FILTER (WHERE i) FROM t;
--> error 42804
SELECT percentile_cont(2) WITHIN GROUP (ORDER BY i) FROM t;
--> error 22003
SELECT percentile_cont('x') WITHIN GROUP (ORDER BY i) FROM t;
--> error 22P02
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s) FROM t;
--> error 42883
SELECT percentile_cont(0.5) FROM t;
--> error 42883
SELECT percentile_cont(i) WITHIN GROUP (ORDER BY i) FROM t;
--> error 42803
SELECT mode(i) WITHIN GROUP (ORDER BY i) FROM t;
--> error 42883
SELECT sum(i) WITHIN GROUP (ORDER BY i) FROM t;
--> error 42883
SELECT grouping(i) FROM t;
--> error 42803
SELECT grouping(n) FROM t GROUP BY i;
--> error 42803
SELECT DISTINCT ON (i) i FROM t ORDER BY n;
--> error 42P10
SELECT DISTINCT i FROM t ORDER BY n;
--> error 42P10

-- subqueries and WITH
SELECT (SELECT i FROM t);
--> error 21000
SELECT * FROM (VALUES (1, 2)) AS a (x, y, z);
--> error 42P10
SELECT * FROM t AS a (x, y, z, p, q, r, s1, s2, s3, s4);
--> error 42P10
WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a;
--> error 42712
WITH a (x, y) AS (SELECT 1) SELECT * FROM a;
--> error 42P10
WITH a AS (SELECT * FROM a) SELECT * FROM a;
--> error 42P01
WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a;
--> error 42P19
WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT sum(x) FROM a) SELECT * FROM a;
--> error 42P19
WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT x::text FROM a) SELECT * FROM a;
--> error 42804
WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT p.x FROM a p, a q) SELECT * FROM a;
--> error 42P19
WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT u.i FROM u LEFT JOIN a ON true) SELECT * FROM a;
--> error 42P19
SELECT * FROM t, (SELECT t.i) AS a;
--> error 42P01
SELECT * FROM t RIGHT JOIN LATERAL (SELECT t.i) AS a ON true;
--> error 42P10
SELECT * FROM generate_series(1, 10, 0);
--> error 22023
SELECT * FROM nothing(1);
--> error 42883

-- values
SELECT 1 / n FROM t;
--> error 22012
SELECT 1 % n FROM t;
--> error 22012
SELECT m / 0 FROM t;
--> error 22012
SELECT x / 0 FROM t;
--> error 22012
SELECT mod(i, 0) FROM t;
--> error 22012
SELECT div(m, 0) FROM t;
--> error 22012
SELECT n + 1 FROM t;
--> error 22003
SELECT n * n FROM t;
--> error 22003
SELECT -(-2147483648);
--> bigint
--> 2147483648
SELECT abs(-2147483648);
--> error 22003
SELECT 9223372036854775807 + i FROM t;
--> error 22003
SELECT x * 10 FROM t;
--> error 22003
SELECT x * x FROM t;
--> error 22003
SELECT 1e-200::double precision * 1e-200::double precision;
--> error 22003
SELECT exp(10000::double precision);
--> error 22003
SELECT exp(-10000::double precision);
--> error 22003
SELECT ln(0);
--> error 2201E
SELECT ln(-1::double precision);
--> error 2201E
SELECT log(0);
--> error 2201E
SELECT log(1::numeric, 2);
--> error 22012
SELECT sqrt(-1);
--> error 2201F
SELECT sqrt(-1::double precision);
--> error 2201F
SELECT power(0, -1);
--> error 2201F
SELECT power(-1, 0.5);
--> error 2201F
SELECT power(0::double precision, -1);
--> error 2201F
SELECT power(-1::double precision, 0.5);
--> error 2201F
SELECT power(1e10::double precision, 1000);
--> error 22003
SELECT acos(2);
--> error 22003
SELECT asin(2);
--> error 22003
SELECT atanh(2);
--> error 22003
SELECT acosh(0);
--> error 22003
SELECT sind('inf'::double precision);
--> error 22003
SELECT factorial(-1);
--> error 22003
SELECT width_bucket(1, 1, 1, 3);
--> error 2201G
SELECT width_bucket(1, 1, 2, 0);
--> error 2201G
SELECT width_bucket('nan'::double precision, 1, 2, 3);
--> error 2201G
SELECT width_bucket(1, 'inf'::double precision, 2, 3);
--> error 2201G
SELECT gcd(-2147483648, 0);
--> error 22003
SELECT lcm(2147483647, 2147483646);
--> error 22003
SELECT CAST(s AS integer) FROM t;
--> error 22P02
SELECT CAST('1.5' AS integer);
--> error 22P02
SELECT CAST('99999999999' AS integer);
--> error 22003
SELECT CAST('99999' AS smallint);
--> error 22003
SELECT CAST('99999999999999999999' AS bigint);
--> error 22003
SELECT 99999999999::integer;
--> error 22003
SELECT 99999::smallint;
--> error 22003
SELECT 1e30::bigint;
--> error 22003
SELECT 1e30::double precision::bigint;
--> error 22003
SELECT 'nan'::double precision::integer;
--> error 22003
SELECT 1e300::double precision::real;
--> error 22003
SELECT 1e-300::double precision::real;
--> error 22003
SELECT CAST('x' AS double precision);
--> error 22P02
SELECT CAST('1e400' AS double precision);
--> error 22003
SELECT CAST('1e50' AS real);
--> error 22003
SELECT CAST('x' AS numeric);
--> error 22P02
SELECT CAST('x' AS boolean);
--> error 22P02
SELECT CAST('x' AS date);
--> error 22007
SELECT CAST('2026-13-01' AS date);
--> error 22008
SELECT CAST('2026-02-30' AS date);
--> error 22008
SELECT CAST('99999999-01-01' AS date);
--> error 22008
SELECT CAST('x' AS timestamp);
--> error 22007
SELECT CAST('2026-01-01 25:00:00' AS timestamp);
--> error 22008
SELECT CAST('999999-01-01' AS timestamp);
--> error 22008
SELECT CAST('x' AS interval);
--> error 22007
SELECT CAST('99999999999 years' AS interval);
--> error 22015
SELECT 12345.678::numeric(4, 2);
--> error 22003
SELECT CAST(s || 'x' AS date) FROM t;
--> error 22007
SELECT CAST(s || 'x' AS timestamp) FROM t;
--> error 22007
SELECT CAST(s || 'x' AS interval) FROM t;
--> error 22007
SELECT CAST(s || 'x' AS boolean) FROM t;
--> error 22P02
SELECT CAST(s || 'x' AS numeric) FROM t;
--> error 22P02
SELECT CAST(s || 'x' AS double precision) FROM t;
--> error 22P02
SELECT d + 2147483647 FROM t;
--> error 22008
SELECT ts + '300000 years'::interval FROM t;
--> error 22008
SELECT '2147483647 months'::interval * 100;
--> error 22008
SELECT '2147483647 months'::interval / 0;
--> error 22012
SELECT make_date(2026, 13, 1);
--> error 22008
SELECT make_timestamp(2026, 1, 1, 25, 0, 0);
--> error 22008
SELECT to_date('x', 'YYYY-MM-DD');
--> error 22007
SELECT to_date('2026-13-01', 'YYYY-MM-DD');
--> error 22008
SELECT to_timestamp('2026-01-01 25', 'YYYY-MM-DD HH24');
--> error 22008
SELECT to_timestamp('13', 'HH12');
--> error 22007
SELECT to_timestamp(1e30);
--> error 22008
SELECT to_number('x', '999');
--> error 22P02
SELECT to_number('1', '9.9.9');
--> error 42601
SELECT to_char(1, '9.9.9');
--> error 42601
SELECT ts AT TIME ZONE 'nothing' FROM t;
--> error 22023
SELECT substring(s FROM 1 FOR -1) FROM t;
--> error 22011
SELECT left(s, -2147483648), repeat(s, 2147483647) FROM t;
--> error 54000
SELECT chr(0);
--> error 54000
SELECT chr(-1);
--> error 22023
SELECT chr(2000000);
--> error 54000
SELECT lpad(s, 2147483647) FROM t;
--> error 54000
SELECT split_part(s, ',', 0) FROM t;
--> error 22023
SELECT overlay(s PLACING 'x' FROM 0) FROM t;
--> error 22011
SELECT encode(s, 'hex') FROM t;
--> error 42883
SELECT s ~ '(' FROM t;
--> error 2201B
SELECT s ~ '[b-a]' FROM t;
--> error 2201B
SELECT s ~ 'a{2,1}' FROM t;
--> error 2201B
SELECT s ~ '*' FROM t;
--> error 2201B
SELECT regexp_replace(s, '(', '') FROM t;
--> error 2201B
SELECT regexp_replace(s, 'a', 'b', 'q') FROM t;
--> text
--> 1
--> x
SELECT regexp_count(s, 'a', 0) FROM t;
--> error 22023
SELECT regexp_instr(s, 'a', 1, 0) FROM t;
--> error 22023
SELECT regexp_substr(s, 'a', 1, 1, 'g') FROM t;
--> error 22023
SELECT s LIKE 'x' ESCAPE 'ab' FROM t;
--> error 22025
SELECT s SIMILAR TO '(' FROM t;
--> error 2201B
SELECT s SIMILAR TO 'x' ESCAPE 'ab' FROM t;
--> error 22025
SELECT format('%d', 1);
--> error 22023
SELECT format('%s');
--> error 22023
SELECT format('%0$s', 1);
--> error 22023
SELECT format('%');
--> error 22023
SELECT translate(s, 1, 2) FROM t;
--> error 42883
SELECT sum(x * 10) FROM t;
--> error 22003
SELECT sum(i::bigint * 9223372036854775807) FROM t;
--> error 22003

-- rows against rules
INSERT INTO t (i, n) VALUES (1, 1);
--> error 23505
INSERT INTO t (i, n) VALUES (3, NULL);
--> error 23502
INSERT INTO t (i) VALUES (3);
--> error 23502
INSERT INTO t (i, n, s) VALUES (3, 3, 'no');
--> error 23514
INSERT INTO t (i, n, c) VALUES (3, 3, 'abcd');
--> error 22001
INSERT INTO t (i, n, m) VALUES (3, 3, 12345);
--> error 22003
INSERT INTO t (i, n) VALUES (3, 99999999999);
--> error 22003
INSERT INTO t (i, n, d) VALUES (3, 3, 'x');
--> error 22007
UPDATE t SET i = 1;
--> error 23505
UPDATE t SET n = NULL;
--> error 23502
UPDATE t SET s = 'no';
--> error 23514
UPDATE t SET c = 'abcd';
--> error 22001
CREATE TABLE g (i integer GENERATED ALWAYS AS IDENTITY, j integer);
INSERT INTO g (i, j) VALUES (1, 1);
--> error 428C9
UPDATE g SET i = 3;
--> error 428C9

-- more clauses
COPY t FROM STDIN (FORMAT text, QUOTE '"');
--> error 0A000
COPY t FROM STDIN (FORMAT csv, DELIMITER 'ab');
--> error 0A000
COPY t FROM STDIN (FORMAT nothing);
--> error 22023
COPY t FROM STDIN (NOTHING 1);
--> error 42601
COPY t FROM STDIN (FORMAT csv, FORMAT csv);
--> error 42601
COPY nothing FROM STDIN;
--> error 42P01
COPY t (j) FROM STDIN;
--> error 42703
COPY t (i, i) FROM STDIN;
--> error 42701
COPY t FROM '/nothing/x.csv' (FORMAT csv);
--> error 58P01
CREATE TABLE w (a varchar(2), a1 nothing);
--> error 42704
CREATE TABLE nothing.w (a integer);
--> error 3F000
CREATE TABLE w (a integer GENERATED ALWAYS AS IDENTITY (INCREMENT 0));
--> error 22023
CREATE TABLE w (a text GENERATED ALWAYS AS IDENTITY);
--> error 22023
CREATE TABLE w (a integer GENERATED ALWAYS AS IDENTITY (START 5 MAXVALUE 4));
--> error 22023
ALTER TABLE g ALTER COLUMN i ADD GENERATED ALWAYS AS IDENTITY;
--> error 55000
ALTER TABLE g ALTER COLUMN j ADD GENERATED ALWAYS AS IDENTITY;
--> error 55000
ALTER TABLE g ALTER COLUMN j DROP IDENTITY;
--> error 55000
ALTER TABLE g ALTER COLUMN i SET DEFAULT 1;
--> error 42601
ALTER TABLE g ALTER COLUMN i TYPE text;
--> error 22023
SELECT * FROM t TABLESAMPLE nothing (1);
--> error 42704
SELECT * FROM t TABLESAMPLE bernoulli (200);
--> error 2202H
SELECT * FROM t TABLESAMPLE bernoulli (1, 2);
--> error 2202H
SELECT i = ANY (1) FROM t;
--> error 42809
SELECT make_date(nothing => 1);
--> error 42883
SELECT make_interval(years => 1, years => 2);
--> error 42601
SELECT * FROM (SELECT 1 AS a, 2 AS a) x JOIN (SELECT 1 AS a) y USING (a);
--> error 42702
SELECT *;
--> error 42601
SELECT extract(month FROM '1 day'::interval), extract(week FROM '1 day'::interval);
--> error 0A000
SELECT date_trunc('dow', ts) FROM t;
--> error 22023
SELECT U&'\00';
--> error 42601
INSERT INTO t (t.i) VALUES (1);
--> error 42703
CREATE UNIQUE INDEX w ON u USING hash (i);
--> error 0A000
SET statement_timeout = 1, 2;
--> error 22023

-- statements
PREPARE p AS SELECT $1::integer;
PREPARE p AS SELECT 1;
--> error 42P05
EXECUTE nothing;
--> error 26000
EXECUTE p;
--> error 42601
EXECUTE p (1, 2);
--> error 42601
EXECUTE p ('x');
--> error 22P02
DEALLOCATE nothing;
--> error 26000
SAVEPOINT a;
--> error 25P01
ROLLBACK TO a;
--> error 25P01
RELEASE a;
--> error 25P01
VACUUM nothing;
--> error 42P01
ANALYZE nothing;
--> error 42P01
SHOW nothing;
--> error 42704
SET nothing = 1;
--> error 42704
RESET nothing;
--> error 42704
BEGIN;
SELECT 1 / 0;
--> error 22012
SELECT 1;
--> error 25P02
SAVEPOINT a;
--> error 25P02
ROLLBACK;
BEGIN;
SAVEPOINT a;
ROLLBACK TO b;
--> error 3B001
SELECT 1;
--> error 25P02
ROLLBACK TO a;
RELEASE a;
VACUUM;
--> error 25001
ROLLBACK;
BEGIN READ ONLY;
INSERT INTO u VALUES (1, 1);
--> error 25006
ROLLBACK;
