-- After public reports of wrong answers in other engines: groups, DISTINCT and set operations.
CREATE TABLE f (k int, v int, mark boolean);
INSERT INTO f VALUES (1, 2, false), (3, 4, true), (5, NULL, true), (6, 2, true), (7, 2, true), (8, 4, true), (NULL, 4, true);
CREATE TABLE tab0 (col0 int, col1 int, col2 int);
INSERT INTO tab0 VALUES (83, 0, 38), (26, 0, 79), (43, 81, 24);
CREATE TABLE w (i int PRIMARY KEY, y double precision, x double precision);
INSERT INTO w VALUES (1, 1, 1), (2, 2, 2), (3, 1, 2), (4, 1, 2), (5, 3, 2);

-- cockroachdb/cockroach#131087: the same argument with different filters
SELECT count(DISTINCT id), count(DISTINCT id) FILTER (WHERE v IS TRUE), count(DISTINCT id) FILTER (WHERE v IS FALSE) FROM (VALUES (1, true), (2, true), (3, true), (4, true), (1, false)) AS t(id, v);
--> bigint, bigint, bigint
--> 4, 4, 1

-- duckdb/duckdb#5070: DISTINCT with FILTER where the first row of a group is filtered out
SELECT id, count(DISTINCT value) FILTER (WHERE type = '456') FROM (VALUES ('1', '123', '7'), ('1', '456', '7')) AS t(id, type, value) GROUP BY id;
--> text, bigint
--> 1, 1

-- cockroachdb/cockroach#10146: FILTER takes no groups away
SELECT v, count(*) FILTER (WHERE k > 5) FROM f GROUP BY v;
--> integer, bigint
--> NULL, 0
--> 4, 1
--> 2, 2

-- StarRocks/starrocks#1395, apache/doris#12273: a grouping set twice; a key that is an aggregate's argument
SELECT v, sum(k) FROM f GROUP BY GROUPING SETS ((v), (v));
--> integer, bigint
--> NULL, 5
--> 4, 11
--> 2, 14
--> NULL, 5
--> 4, 11
--> 2, 14
SELECT count(v), k % 2 AS odd, mark FROM f GROUP BY GROUPING SETS ((k % 2), (mark), (v), ());
--> bigint, integer, boolean
--> 6, NULL, NULL
--> 1, NULL, NULL
--> 2, 0, NULL
--> 3, 1, NULL
--> 1, NULL, f
--> 5, NULL, t
--> 0, NULL, NULL
--> 3, NULL, NULL
--> 3, NULL, NULL
SELECT v, mark, count(*), grouping(v, mark) FROM f GROUP BY CUBE (v, mark);
--> integer, boolean, bigint, integer
--> NULL, NULL, 7, 3
--> 2, f, 1, 0
--> NULL, t, 1, 0
--> 4, t, 3, 0
--> 2, t, 2, 0
--> NULL, NULL, 1, 1
--> 4, NULL, 3, 1
--> 2, NULL, 3, 1
--> NULL, f, 1, 2
--> NULL, t, 6, 2
SELECT mark, v, sum(k) FROM f GROUP BY ROLLUP (mark, v) HAVING sum(k) > 5;
--> boolean, integer, bigint
--> NULL, NULL, 30
--> t, 4, 11
--> t, 2, 13
--> t, NULL, 29

-- MonetDB/MonetDB#6603: HAVING of a constant
SELECT DISTINCT + + col1, col1 FROM tab0 GROUP BY col0, col1 HAVING NOT NULL IS NOT NULL;
--> integer, integer
--> 81, 81
--> 0, 0
SELECT DISTINCT col1 FROM tab0 GROUP BY col0, col1 HAVING NULL;
--> integer

-- MonetDB/MonetDB-old#1898: DISTINCT above groups and above a set operation
SELECT DISTINCT v FROM f GROUP BY v, mark HAVING count(*) >= 1;
--> integer
--> NULL
--> 4
--> 2
SELECT DISTINCT a FROM (SELECT 10 AS a UNION ALL SELECT 10) AS b;
--> integer
--> 10
SELECT DISTINCT (SELECT max(a) FROM (SELECT 10 AS a UNION ALL SELECT 10) AS b) FROM f;
--> integer
--> 10

-- MonetDB/MonetDB#179, #7318: UNION ALL keeps rows, aggregates above DISTINCT above it count once
SELECT * FROM (SELECT col1 FROM tab0 UNION ALL SELECT col1 FROM tab0) AS a;
--> integer
--> 0
--> 0
--> 81
--> 0
--> 0
--> 81
SELECT count(*), sum(col1) FROM (SELECT DISTINCT col1 FROM (SELECT col1 FROM tab0 UNION ALL SELECT col1 FROM tab0) AS a) AS b;
--> bigint, bigint
--> 2, 81

-- cockroachdb/cockroach#7034: no aggregates in GROUP BY
SELECT v, count(DISTINCT k) FROM f GROUP BY v, count(DISTINCT k);
--> error 42803

-- cockroachdb/cockroach#55776: DISTINCT of one aggregate beside another that has it too
SELECT count(DISTINCT y), sum(DISTINCT x), avg(y) FROM w;
--> bigint, double precision, double precision
--> 3, 3, 1.6

-- oceanbase/oceanbase#1753: zero is zero
SELECT 0 AS c UNION SELECT - 0 UNION SELECT 0 * -1;
--> integer
--> 0

-- EXCEPT ALL and INTERSECT ALL count; set operations take NULLs for equal
SELECT v FROM f EXCEPT ALL SELECT v FROM f WHERE k > 5;
--> integer
--> NULL
--> 4
--> 4
--> 2
SELECT v FROM f INTERSECT ALL SELECT v FROM f WHERE mark;
--> integer
--> NULL
--> 4
--> 4
--> 4
--> 2
--> 2
SELECT v FROM f EXCEPT SELECT NULL::int;
--> integer
--> 4
--> 2

-- aggregates of no rows
SELECT count(*), sum(v), max(v), bool_and(mark), string_agg(v::text, ',') FROM f WHERE k > 100;
--> bigint, bigint, integer, boolean, text
--> 0, NULL, NULL, NULL, NULL
SELECT v, count(*) FROM f WHERE k > 100 GROUP BY v;
--> integer, bigint
SELECT count(*) FROM f WHERE k > 100 GROUP BY GROUPING SETS ((), (v));
--> bigint
--> 0
