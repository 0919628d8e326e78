-- FROM and USING do not read the table that the statement changes; a query of WITH RECURSIVE may read those behind it.
CREATE TABLE t (x int, y int);
INSERT INTO t VALUES (1, 10), (2, 20);
UPDATE t SET y = l.v FROM LATERAL (SELECT t.x + 1 AS v) l RETURNING t.x, t.y;
--> error 42P10
UPDATE t SET y = l.v FROM t AS q, LATERAL (SELECT t.x + 1 AS v) l WHERE q.x = t.x RETURNING t.x, t.y;
--> error 42P10
UPDATE t SET y = l.v FROM t AS q, LATERAL (SELECT q.x + 1 AS v) l WHERE q.x = t.x RETURNING t.x, t.y;
--> integer, integer
--> 1, 2
--> 2, 3
DELETE FROM t USING LATERAL (SELECT t.x + 1 AS v) l WHERE l.v = 2 RETURNING t.x;
--> error 42P10
UPDATE t SET y = l.v FROM t AS q JOIN LATERAL (SELECT t.x AS v) l ON true WHERE q.x = t.x RETURNING t.x, t.y;
--> error 42P10
UPDATE t SET y = g FROM generate_series(1, t.x) g RETURNING t.x, t.y;
--> error 42P10
UPDATE t SET y = q.x FROM t AS q JOIN t AS r ON r.x = t.x RETURNING t.x;
--> error 42P01
MERGE INTO t USING LATERAL (SELECT t.x AS v) l ON t.x = l.v WHEN MATCHED THEN DELETE;
--> error 42P01
UPDATE t SET y = (SELECT t.x + 5) RETURNING x, y;
--> integer, integer
--> 1, 6
--> 2, 7
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a;
--> integer
--> 1
WITH RECURSIVE a(n) AS (SELECT x FROM b UNION ALL SELECT n + 1 FROM a WHERE n < 3), b AS (SELECT 1 AS x) SELECT * FROM a;
--> integer
--> 1
--> 2
--> 3
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a;
--> error 0A000
WITH RECURSIVE a AS (SELECT * FROM b), b(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM b WHERE n < 3) SELECT * FROM a;
--> integer
--> 1
--> 2
--> 3
WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM c), c AS (SELECT 7 AS z) SELECT * FROM a, c;
--> integer, integer
--> 7, 7
WITH a AS (SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a;
--> error 42P01
WITH RECURSIVE a AS (SELECT 1 WHERE 1 IN (SELECT x FROM b)), b AS (SELECT 1 AS x) SELECT * FROM a;
--> integer
--> 1
WITH RECURSIVE t AS (SELECT 5 AS w), u AS (SELECT * FROM t) SELECT * FROM u;
--> integer
--> 5
WITH RECURSIVE u AS (SELECT * FROM t), t AS (SELECT 5 AS w) SELECT * FROM u;
--> integer
--> 5
WITH RECURSIVE a AS (WITH b AS (SELECT 9 AS x) SELECT * FROM b), b AS (SELECT 1 AS x) SELECT * FROM a, b;
--> integer, integer
--> 9, 1
WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a;
--> error 42P19
WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + b.k FROM a, b WHERE n < 5), b(k) AS (SELECT 2) SELECT * FROM a ORDER BY 1;
--> integer
--> 1
--> 3
--> 5
WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < (SELECT max(k) FROM b)), b(k) AS (SELECT n FROM a) SELECT * FROM a;
--> error 0A000
WITH RECURSIVE a AS (SELECT count(*) AS c FROM b), b(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM b WHERE k < (SELECT m FROM c)), c(m) AS (SELECT 4) SELECT * FROM a, c;
--> bigint, integer
--> 4, 4
UPDATE t SET y = l.v FROM t AS q, LATERAL (SELECT x + 1 AS v) l WHERE q.x = t.x RETURNING t.x, t.y;
--> error 42P10
UPDATE t SET y = (SELECT l.v FROM LATERAL (SELECT t.x + 7 AS v) l) RETURNING x, y;
--> integer, integer
--> 1, 8
--> 2, 9
