-- -0 of a column is equal to 0, and prints as itself wherever its row goes.
CREATE TABLE l (k int, x double precision, r real, n numeric(6,1));
INSERT INTO l VALUES (1, '-0', '-0', 0), (2, 0, 0, 1.5), (3, 1.5, 1.5, 2), (4, NULL, NULL, NULL), (5, 'NaN', 'NaN', 7);
CREATE TABLE r (k int, x double precision, r real, n numeric(8,3));
INSERT INTO r VALUES (1, 0, 0, 0), (2, '-0', '-0', 1.5), (3, 1.5, 1.5, 2), (4, NULL, NULL, NULL), (6, 'NaN', 'NaN', 8);
SELECT '-0'::float8, -0.0::float8, '-0'::real, '-0'::float8 = 0, ('-0'::float8)::text, -0.0, ('-0'::float8)::int FROM l WHERE k = 1 ORDER BY 1;
--> double precision, double precision, real, boolean, text, numeric, integer
--> -0, -0, -0, t, -0, 0.0, 0
SELECT * FROM l ORDER BY k;
--> integer, double precision, real, numeric
--> 1, -0, -0, 0.0
--> 2, 0, 0, 1.5
--> 3, 1.5, 1.5, 2.0
--> 4, NULL, NULL, NULL
--> 5, NaN, NaN, 7.0
SELECT k, -x, -r, abs(x), x * 3, x::real, r::float8, x || 'm', round(x) FROM l ORDER BY k;
--> integer, double precision, real, double precision, double precision, real, double precision, text, double precision
--> 1, 0, 0, 0, -0, -0, -0, -0m, -0
--> 2, -0, -0, 0, 0, 0, 0, 0m, 0
--> 3, -1.5, -1.5, 1.5, 4.5, 1.5, 1.5, 1.5m, 2
--> 4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
--> 5, NaN, NaN, NaN, NaN, NaN, NaN, NaNm, NaN
SELECT l.k, l.x, r.k, r.x FROM l JOIN r ON l.x = r.x ORDER BY 1, 3;
--> integer, double precision, integer, double precision
--> 1, -0, 1, 0
--> 1, -0, 2, -0
--> 2, 0, 1, 0
--> 2, 0, 2, -0
--> 3, 1.5, 3, 1.5
--> 5, NaN, 6, NaN
SELECT l.k, l.x, r.k, r.x FROM l LEFT JOIN r ON l.x = r.x ORDER BY 1, 3;
--> integer, double precision, integer, double precision
--> 1, -0, 1, 0
--> 1, -0, 2, -0
--> 2, 0, 1, 0
--> 2, 0, 2, -0
--> 3, 1.5, 3, 1.5
--> 4, NULL, NULL, NULL
--> 5, NaN, 6, NaN
SELECT l.k, l.x, r.k, r.x FROM l RIGHT JOIN r ON l.x = r.r ORDER BY 1, 3;
--> integer, double precision, integer, double precision
--> 1, -0, 1, 0
--> 1, -0, 2, -0
--> 2, 0, 1, 0
--> 2, 0, 2, -0
--> 3, 1.5, 3, 1.5
--> 5, NaN, 6, NaN
--> NULL, NULL, 4, NULL
SELECT l.k, l.x, r.k, r.x FROM l FULL JOIN r ON l.x = r.x ORDER BY 1, 3;
--> integer, double precision, integer, double precision
--> 1, -0, 1, 0
--> 1, -0, 2, -0
--> 2, 0, 1, 0
--> 2, 0, 2, -0
--> 3, 1.5, 3, 1.5
--> 4, NULL, NULL, NULL
--> 5, NaN, 6, NaN
--> NULL, NULL, 4, NULL
SELECT x, l.x, r.x, l.k, r.k FROM l JOIN r USING (x) ORDER BY l.k, r.k;
--> double precision, double precision, double precision, integer, integer
--> -0, -0, 0, 1, 1
--> -0, -0, -0, 1, 2
--> 0, 0, 0, 2, 1
--> 0, 0, -0, 2, 2
--> 1.5, 1.5, 1.5, 3, 3
--> NaN, NaN, NaN, 5, 6
SELECT x, l.x, r.x, l.k, r.k FROM l LEFT JOIN r USING (x) ORDER BY l.k, r.k;
--> double precision, double precision, double precision, integer, integer
--> -0, -0, 0, 1, 1
--> -0, -0, -0, 1, 2
--> 0, 0, 0, 2, 1
--> 0, 0, -0, 2, 2
--> 1.5, 1.5, 1.5, 3, 3
--> NULL, NULL, NULL, 4, NULL
--> NaN, NaN, NaN, 5, 6
SELECT x, l.x, r.x, l.k, r.k FROM l RIGHT JOIN r USING (x) ORDER BY l.k, r.k;
--> double precision, double precision, double precision, integer, integer
--> 0, -0, 0, 1, 1
--> -0, -0, -0, 1, 2
--> 0, 0, 0, 2, 1
--> -0, 0, -0, 2, 2
--> 1.5, 1.5, 1.5, 3, 3
--> NaN, NaN, NaN, 5, 6
--> NULL, NULL, NULL, NULL, 4
SELECT x, l.x, r.x, l.k, r.k FROM l FULL JOIN r USING (x) ORDER BY l.k, r.k;
--> double precision, double precision, double precision, integer, integer
--> -0, -0, 0, 1, 1
--> -0, -0, -0, 1, 2
--> 0, 0, 0, 2, 1
--> 0, 0, -0, 2, 2
--> 1.5, 1.5, 1.5, 3, 3
--> NULL, NULL, NULL, 4, NULL
--> NaN, NaN, NaN, 5, 6
--> NULL, NULL, NULL, NULL, 4
SELECT n::text, l.n::text, r.n::text FROM l JOIN r USING (n) ORDER BY l.k, r.k;
--> text, text, text
--> 0.0, 0.0, 0.000
--> 1.5, 1.5, 1.500
--> 2.0, 2.0, 2.000
SELECT n::text, l.n::text, r.n::text FROM l LEFT JOIN r USING (n) ORDER BY l.k, r.k;
--> text, text, text
--> 0.0, 0.0, 0.000
--> 1.5, 1.5, 1.500
--> 2.0, 2.0, 2.000
--> NULL, NULL, NULL
--> 7.0, 7.0, NULL
SELECT n::text, l.n::text, r.n::text FROM l RIGHT JOIN r USING (n) ORDER BY l.k, r.k;
--> text, text, text
--> 0.000, 0.0, 0.000
--> 1.500, 1.5, 1.500
--> 2.000, 2.0, 2.000
--> NULL, NULL, NULL
--> 8.000, NULL, 8.000
SELECT n::text FROM r NATURAL JOIN (SELECT n FROM l) s ORDER BY 1;
--> text
--> 0.000
--> 1.500
--> 2.000
SELECT k, x FROM l WHERE x IN (SELECT x FROM r) ORDER BY k;
--> integer, double precision
--> 1, -0
--> 2, 0
--> 3, 1.5
--> 5, NaN
SELECT k, x FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.x = l.x) ORDER BY k;
--> integer, double precision
--> 1, -0
--> 2, 0
--> 3, 1.5
--> 5, NaN
SELECT k, x FROM l WHERE x = 0 ORDER BY k;
--> integer, double precision
--> 1, -0
--> 2, 0
SELECT k, x FROM l WHERE x = '-0' AND x IN (0, 7) AND x <= 0 ORDER BY k;
--> integer, double precision
--> 1, -0
--> 2, 0
SELECT k, x FROM l WHERE x = 0 AND x::text = '-0' ORDER BY k;
--> integer, double precision
--> 1, -0
SELECT k, x FROM l WHERE x < 0 OR x::text LIKE '-%' ORDER BY k;
--> integer, double precision
--> 1, -0
SELECT k FROM l WHERE atan2(x, -1) > 0 ORDER BY k;
--> integer
--> 2
--> 3
--> 5
SELECT k, (SELECT l.x::text || s.k FROM r s WHERE s.k = 1), (SELECT s.x FROM r s WHERE s.k = l.k) FROM l ORDER BY k;
--> integer, text, double precision
--> 1, -01, 0
--> 2, 01, -0
--> 3, 1.51, 1.5
--> 4, NULL, NULL
--> 5, NaN1, NULL
SELECT l.k, v.y, v.t FROM l, LATERAL (SELECT l.x AS y, l.x::text || s.k AS t FROM r s WHERE s.x = l.x) v ORDER BY l.k, v.t;
--> integer, double precision, text
--> 1, -0, -01
--> 1, -0, -02
--> 2, 0, 01
--> 2, 0, 02
--> 3, 1.5, 1.53
--> 5, NaN, NaN6
SELECT k, x, r FROM l ORDER BY x DESC, k DESC;
--> integer, double precision, real
--> 4, NULL, NULL
--> 5, NaN, NaN
--> 3, 1.5, 1.5
--> 2, 0, 0
--> 1, -0, -0
SELECT DISTINCT ON (x) x, k FROM l ORDER BY x, k;
--> double precision, integer
--> -0, 1
--> 1.5, 3
--> NaN, 5
--> NULL, 4
SELECT DISTINCT ON (x) x, k FROM l ORDER BY x, k DESC;
--> double precision, integer
--> 0, 2
--> 1.5, 3
--> NaN, 5
--> NULL, 4
SELECT k, lag(x) OVER w, lead(x, 1, '-0'::float8) OVER w, first_value(x) OVER w, last_value(r) OVER w, nth_value(x, 2) OVER w FROM l WINDOW w AS (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ORDER BY k;
--> integer, double precision, double precision, double precision, real, double precision
--> 1, NULL, 0, -0, 0, 0
--> 2, -0, 1.5, -0, 1.5, 0
--> 3, 0, NULL, 0, NULL, 1.5
--> 4, 1.5, NaN, 1.5, NaN, NULL
--> 5, NULL, -0, NULL, NaN, NaN
SELECT k, rank() OVER (ORDER BY x), count(*) OVER (PARTITION BY r), x FROM l ORDER BY k;
--> integer, bigint, bigint, double precision
--> 1, 1, 2, -0
--> 2, 1, 2, 0
--> 3, 3, 1, 1.5
--> 4, 5, 1, NULL
--> 5, 4, 1, NaN
SELECT count(*), count(DISTINCT x) FROM l ORDER BY 1;
--> bigint, bigint
--> 5, 3
SELECT count(*) FROM l GROUP BY x ORDER BY x;
--> bigint
--> 2
--> 1
--> 1
--> 1
SELECT min(x), max(r), count(*) FROM l WHERE k = 1 ORDER BY 1;
--> double precision, real, bigint
--> -0, -0, 1
SELECT k, min(x), max(r) FROM l GROUP BY k ORDER BY k;
--> integer, double precision, real
--> 1, -0, -0
--> 2, 0, 0
--> 3, 1.5, 1.5
--> 4, NULL, NULL
--> 5, NaN, NaN
SELECT x, count(*) FROM l WHERE k <> 2 GROUP BY x ORDER BY x;
--> double precision, bigint
--> -0, 1
--> 1.5, 1
--> NaN, 1
--> NULL, 1
SELECT x FROM l WHERE k = 1 UNION SELECT r FROM r WHERE k = 2 ORDER BY 1;
--> double precision
--> -0
CREATE TABLE c AS SELECT l.k AS a, r.k AS b, l.x, r.x AS y, -r.r AS z FROM l JOIN r ON l.x = r.x;
SELECT * FROM c ORDER BY a, b;
--> integer, integer, double precision, double precision, real
--> 1, 1, -0, 0, -0
--> 1, 2, -0, -0, 0
--> 2, 1, 0, 0, -0
--> 2, 2, 0, -0, 0
--> 3, 3, 1.5, 1.5, -1.5
--> 5, 6, NaN, NaN, NaN
CREATE TABLE u (x double precision UNIQUE, t text);
INSERT INTO u VALUES ('-0', 'a');
INSERT INTO u VALUES (0, 'b');
--> error 23505
INSERT INTO u VALUES (0, 'c') ON CONFLICT (x) DO UPDATE SET t = u.x::text || excluded.x::text RETURNING *;
--> double precision, text
--> -0, -00
INSERT INTO u VALUES (1, 'd') ON CONFLICT (x) DO NOTHING;
UPDATE u SET x = -x RETURNING x::text, t;
--> text, text
--> 0, -00
--> -1, d
SELECT * FROM u ORDER BY x;
--> double precision, text
--> -1, d
--> 0, -00
UPDATE l SET r = x, x = r * -1 WHERE k < 3;
SELECT * FROM l ORDER BY k;
--> integer, double precision, real, numeric
--> 1, 0, -0, 0.0
--> 2, -0, 0, 1.5
--> 3, 1.5, 1.5, 2.0
--> 4, NULL, NULL, NULL
--> 5, NaN, NaN, 7.0
UPDATE l SET x = r.x FROM r WHERE r.k = l.k;
DELETE FROM l WHERE x = 0 AND x::text = '0';
INSERT INTO l SELECT k + 10, x, -r FROM r WHERE x = 0;
SELECT * FROM l ORDER BY k;
--> integer, double precision, real, numeric
--> 2, -0, 0, 1.5
--> 3, 1.5, 1.5, 2.0
--> 4, NULL, NULL, NULL
--> 5, NaN, NaN, 7.0
--> 11, 0, -0, NULL
--> 12, -0, 0, NULL
MERGE INTO l USING r ON l.x = r.x AND l.k = r.k WHEN MATCHED THEN UPDATE SET r = -l.x WHEN NOT MATCHED THEN INSERT VALUES (r.k + 20, r.x, r.r);
SELECT * FROM l ORDER BY k;
--> integer, double precision, real, numeric
--> 2, -0, 0, 1.5
--> 3, 1.5, -1.5, 2.0
--> 4, NULL, NULL, NULL
--> 5, NaN, NaN, 7.0
--> 11, 0, -0, NULL
--> 12, -0, 0, NULL
--> 21, 0, 0, NULL
--> 24, NULL, NULL, NULL
--> 26, NaN, NaN, NULL
WITH RECURSIVE t AS (SELECT '-0'::float8 AS x UNION SELECT -x FROM t) SELECT count(*) FROM t ORDER BY 1;
--> bigint
--> 1
