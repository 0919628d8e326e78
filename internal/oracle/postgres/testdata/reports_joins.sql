-- After public reports of wrong answers in other engines: joins.
CREATE TABLE i8 (q1 bigint, q2 bigint);
INSERT INTO i8 VALUES (123, 456), (123, 4567890123456789), (4567890123456789, 123), (4567890123456789, 4567890123456789), (4567890123456789, -4567890123456789);
CREATE TABLE t0 (c0 int);
INSERT INTO t0 VALUES (1);
CREATE TABLE t1 (c0 int);
INSERT INTO t1 VALUES (2);
CREATE TABLE t2 (c0 int);
INSERT INTO t2 VALUES (3);
CREATE TABLE l (a int, b text);
INSERT INTO l VALUES (1, 'x'), (2, 'y'), (3, NULL), (NULL, 'z');
CREATE TABLE r (a int, c text);
INSERT INTO r VALUES (1, 'p'), (1, 'q'), (2, NULL), (4, 's'), (NULL, 't');

-- duckdb/duckdb#16524: LATERAL below an outer join, and LATERAL that reads it
SELECT ss3.y FROM i8 c LEFT JOIN (i8 a LEFT JOIN (SELECT q1, coalesce(q2, 42) AS x FROM i8 b) ss1 ON a.q2 = ss1.q1 CROSS JOIN LATERAL (SELECT q1, coalesce(ss1.x, q2) AS y FROM i8 d) ss2) ON c.q2 = ss2.q1, LATERAL (SELECT ss2.y) ss3;
--> bigint
--> NULL
--> 456
--> 4567890123456789
--> 456
--> 456
--> 4567890123456789
--> 4567890123456789
--> 456
--> 4567890123456789
--> 123
--> 123
--> 4567890123456789
--> 4567890123456789
--> -4567890123456789
--> -4567890123456789
--> 123
--> 123
--> 4567890123456789
--> 4567890123456789
--> -4567890123456789
--> -4567890123456789
--> NULL
--> 123
--> 123
--> 123
--> 123
--> 123
--> -4567890123456789
--> -4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 123
--> 4567890123456789
--> -4567890123456789
--> -4567890123456789
--> -4567890123456789
--> 456
--> 456
--> 456
--> -4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> -4567890123456789
--> 123
--> 123
--> 4567890123456789
--> -4567890123456789
--> 123
--> 123
--> 123
--> 123
--> 123
--> -4567890123456789
--> -4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 123
--> 4567890123456789
--> -4567890123456789
--> -4567890123456789
--> -4567890123456789
--> 456
--> 456
--> 456
--> -4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> 4567890123456789
--> -4567890123456789
--> 123
--> 123
--> 4567890123456789
--> -4567890123456789

-- duckdb/duckdb#17372: LATERAL of two tables, and a RIGHT JOIN above all of it
SELECT * FROM t2, t0 INNER JOIN LATERAL (SELECT t0.c0 AS x, t2.c0 AS y) AS s ON s.x <= 0 RIGHT JOIN t1 ON true;
--> integer, integer, integer, integer, integer
--> 3, NULL, NULL, NULL, 2
SELECT * FROM (t2 CROSS JOIN t0) INNER JOIN LATERAL (SELECT t0.c0 AS x, t2.c0 AS y) AS s ON s.x <= 1 RIGHT JOIN t1 ON true;
--> integer, integer, integer, integer, integer
--> 3, 1, 1, 3, 2

-- databendlabs/databend#7886: a filter above an outer join that joins nothing
SELECT * FROM l LEFT JOIN r ON false WHERE c IS NOT NULL;
--> integer, text, integer, text
SELECT l.a, r.c FROM l LEFT JOIN r ON false WHERE c IS NULL;
--> integer, text
--> 1, NULL
--> 2, NULL
--> 3, NULL
--> NULL, NULL
SELECT l.a, r.c FROM l FULL JOIN r ON l.a = r.a WHERE l.a IS NULL OR r.a IS NULL;
--> integer, text
--> 3, NULL
--> NULL, NULL
--> NULL, s
--> NULL, t

-- apache/flink#22049: IS NULL of the inner side's key above a left join
SELECT l.a, l.b FROM l LEFT JOIN r ON l.a = r.a WHERE r.a IS NULL AND l.a < 10;
--> integer, text
--> 3, NULL

-- duckdb/duckdb#21609: LEFT JOIN LATERAL ON TRUE, and a filter of what it gives
SELECT l.a, x.k FROM l LEFT JOIN LATERAL (SELECT r.c AS k FROM r WHERE r.a = l.a) x ON TRUE WHERE x.k IS NOT NULL;
--> integer, text
--> 1, p
--> 1, q
SELECT l.a, x.k FROM l LEFT JOIN LATERAL (SELECT r.c AS k FROM r WHERE r.a = l.a) x ON x.k <> 'p';
--> integer, text
--> 1, q
--> 2, NULL
--> 3, NULL
--> NULL, NULL

-- mabel-dev/opteryx#1887, kuseman/payloadbuilder#48: a filter above a left join is no condition of the join
SELECT * FROM (SELECT l.a, r.c FROM l LEFT JOIN r ON l.a = r.a) AS m WHERE c <> 'p';
--> integer, text
--> 1, q

-- apache/datafusion#13184: a condition of the outer side in ON keeps its rows
SELECT l.a, l.b, r.c FROM l LEFT JOIN r ON l.a = r.a AND l.b = 'x';
--> integer, text, text
--> 1, x, p
--> 1, x, q
--> 2, y, NULL
--> 3, NULL, NULL
--> NULL, z, NULL
SELECT l.a, l.b, r.c FROM l RIGHT JOIN r ON l.a = r.a AND r.c = 'q';
--> integer, text, text
--> NULL, NULL, p
--> 1, x, q
--> NULL, NULL, NULL
--> NULL, NULL, s
--> NULL, NULL, t
SELECT l.a, l.b, r.c FROM l FULL JOIN r ON l.a = r.a AND l.b = 'y';
--> integer, text, text
--> 1, x, NULL
--> 2, y, NULL
--> 3, NULL, NULL
--> NULL, z, NULL
--> NULL, NULL, t
--> NULL, NULL, s
--> NULL, NULL, q
--> NULL, NULL, p

-- databendlabs/databend#9226: a comma, then a natural join; the three parts of a condition are the whole
SELECT count(*) FROM t0, l NATURAL LEFT JOIN r;
--> bigint
--> 5
SELECT count(*) FROM (SELECT l.a FROM t0, l NATURAL LEFT JOIN r WHERE c > 'p' UNION ALL SELECT l.a FROM t0, l NATURAL LEFT JOIN r WHERE NOT c > 'p' UNION ALL SELECT l.a FROM t0, l NATURAL LEFT JOIN r WHERE (c > 'p') IS NULL) q;
--> bigint
--> 5

-- USING: the joined column is that of either side, first the left one
SELECT a, b, c FROM l FULL JOIN r USING (a);
--> integer, text, text
--> 1, x, p
--> 1, x, q
--> 2, y, NULL
--> 3, NULL, NULL
--> NULL, z, NULL
--> 4, NULL, s
--> NULL, NULL, t
SELECT a, l.a, r.a FROM l RIGHT JOIN r USING (a);
--> integer, integer, integer
--> 1, 1, 1
--> 1, 1, 1
--> 2, 2, 2
--> 4, NULL, 4
--> NULL, NULL, NULL

-- joins of a series with what each of its rows gives
SELECT g, x.s FROM generate_series(1, 4) g LEFT JOIN LATERAL (SELECT count(*) AS s FROM r WHERE r.a < g) x ON true;
--> integer, bigint
--> 1, 0
--> 2, 2
--> 3, 3
--> 4, 3
