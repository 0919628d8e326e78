-- After public reports of wrong answers in other engines: subqueries that read columns of the queries around them.
CREATE TABLE t (sid text, d date);
INSERT INTO t VALUES ('a', '2020-01-01'), ('a', '2020-01-02'), ('b', NULL), (NULL, '2020-01-03');
CREATE TABLE n (v1 int, v2 int, v3 int);
INSERT INTO n VALUES (1, 1, NULL), (2, 2, NULL), (NULL, 3, 2);
CREATE TABLE posts (id int, views int, likes int);
INSERT INTO posts VALUES (1, 100, 10), (2, 150, 20), (3, NULL, 5), (4, 200, NULL), (5, 10, 30);

-- duckdb/duckdb#24921: a correlated subquery over a WITH that is correlated to the same LATERAL
SELECT o.sid, x.h FROM t o, LATERAL (WITH scope AS (SELECT sid, d FROM t WHERE sid = o.sid) SELECT EXISTS (SELECT 1 FROM scope i WHERE i.sid = c.sid AND i.d <= c.d) AS h FROM scope c) x;
--> text, boolean
--> a, t
--> a, t
--> a, t
--> a, t
--> b, f
SELECT o.sid, x.h FROM t o, LATERAL (WITH scope AS (SELECT sid, d FROM t WHERE sid = o.sid) SELECT (SELECT max(i.d) FROM scope i WHERE i.d <= c.d) AS h FROM scope c) x;
--> text, date
--> a, 2020-01-01
--> a, 2020-01-02
--> a, 2020-01-01
--> a, 2020-01-02
--> b, NULL

-- duckdb/duckdb#10463, #6060: a subquery of more than one row is an error
SELECT c.v1 FROM n c WHERE c.v1 = (SELECT b.v1 FROM n b WHERE b.v2 > 0 ORDER BY b.v2 LIMIT 2);
--> error 21000
SELECT y, (SELECT x FROM (VALUES (1), (1), (2)) s(x) WHERE x = y) FROM (VALUES (1), (2), (3)) r(y);
--> error 21000

-- duckdb/duckdb#15752, #12733: a name that is wrong inside is an error; a name of the query around is not
SELECT v1 FROM n WHERE v1 IN (SELECT nosuch FROM posts);
--> error 42703
SELECT v1 FROM n WHERE v1 IN (SELECT v2 FROM posts);
--> integer
--> 1
--> 2

-- duckdb/duckdb#22267: EXISTS over a derived table that reads the query around
SELECT count(*) FROM posts AS r WHERE EXISTS (SELECT 1 FROM (SELECT r.id AS c0, q.views AS c1 FROM posts AS q WHERE r.likes > q.likes) AS s WHERE s.c1 <> r.likes);
--> bigint
--> 2

-- rjwalters/vibesql#6109, dolthub/dolt#5954: NOT IN with a NULL among the values
SELECT id FROM posts WHERE id NOT IN (SELECT likes FROM posts);
--> integer
SELECT id FROM posts WHERE likes NOT IN (SELECT views FROM posts WHERE views > 1000);
--> integer
--> 1
--> 2
--> 3
--> 4
--> 5
SELECT id FROM posts WHERE likes NOT IN (1, NULL);
--> integer

-- StarRocks/starrocks#30641: NOT IN that is correlated, with NULLs on both sides
SELECT v2 FROM n x WHERE x.v3 NOT IN (SELECT y.v2 FROM n y);
--> integer
SELECT v2 FROM n x WHERE x.v3 NOT IN (SELECT y.v2 FROM n y WHERE x.v2 = y.v2);
--> integer
--> 3
SELECT v2 FROM n x WHERE x.v1 NOT IN (SELECT y.v1 FROM n y WHERE x.v2 <> y.v2);
--> integer

-- duckdb/duckdb#16803: an anti join whose condition is NULL
SELECT count(*) FROM n WHERE NOT EXISTS (SELECT 1 FROM posts WHERE NULL);
--> bigint
--> 3
SELECT v2 FROM n WHERE NOT EXISTS (SELECT 1 FROM posts WHERE posts.id <> n.v1);
--> integer
--> 3

-- pgsql-bugs, January 2025: a condition on the inner side in ON is none in WHERE
SELECT p.id, n.v1 FROM posts p LEFT JOIN n ON n.v1 = p.id WHERE n.v1 IS NULL;
--> integer, integer
--> 3, NULL
--> 4, NULL
--> 5, NULL
SELECT p.id, n.v1 FROM posts p LEFT JOIN n ON n.v1 = p.id AND n.v1 IS NULL;
--> integer, integer
--> 1, NULL
--> 2, NULL
--> 3, NULL
--> 4, NULL
--> 5, NULL

-- duckdb/duckdb#17011: a subquery that reads a row is made for the row
SELECT count(DISTINCT x) FROM (SELECT (SELECT r * 10 + count(*) FROM n) AS x FROM (VALUES (1), (1), (2)) s(r)) q;
--> bigint
--> 2

-- quantified comparisons: ALL of nothing is true, ANY of nothing is false, NULL in between
SELECT id, likes > ALL (SELECT views FROM posts WHERE views < 0), likes > ANY (SELECT views FROM posts WHERE views < 0), likes >= ALL (SELECT likes FROM posts), likes = ANY (SELECT likes FROM posts) FROM posts;
--> integer, boolean, boolean, boolean, boolean
--> 1, t, f, f, t
--> 2, t, f, f, t
--> 3, t, f, f, t
--> 4, t, f, NULL, NULL
--> 5, t, f, NULL, t
SELECT id FROM posts p WHERE (id, likes) IN (SELECT id, likes FROM posts) ORDER BY id;
--> integer
--> 1
--> 2
--> 3
--> 5
SELECT id FROM posts p WHERE (id, likes) NOT IN (SELECT id, likes FROM posts WHERE id > 3) ORDER BY id;
--> integer
--> 1
--> 2
--> 3
