-- COUNT of a whole row counts rows: one is not NULL even where all of its columns are.
CREATE TABLE t (a int, b text);
INSERT INTO t VALUES (1, 'x'), (NULL, 'y'), (NULL, NULL), (2, 'z');
CREATE TABLE u (t int, c int);
INSERT INTO u VALUES (1, 10), (NULL, 20), (3, 30);
SELECT count(t.*) FROM t;
--> bigint
--> 4
SELECT count(t) FROM t;
--> bigint
--> 4
SELECT count(u.t), count(u.*), count(*) FROM u;
--> bigint, bigint, bigint
--> 2, 3, 3
SELECT count(t) FROM u;
--> bigint
--> 2
SELECT count(t.*), count(u.*) FROM t JOIN u ON u.t = t.a;
--> bigint, bigint
--> 1, 1
SELECT a, count(x.*) FROM t AS x GROUP BY a ORDER BY a;
--> integer, bigint
--> 1, 1
--> 2, 1
--> NULL, 2
SELECT count(s.*) FROM (SELECT a FROM t) s;
--> bigint
--> 4
SELECT count(t.*) FILTER (WHERE a = 1) FROM t;
--> bigint
--> 1
SELECT count(v.*) OVER () FROM (VALUES (1), (NULL)) v(x);
--> bigint
--> 2
--> 2
SELECT count(x.*) FROM t;
--> error 42P01
SELECT max(t.*) FROM t;
--> error 42883
