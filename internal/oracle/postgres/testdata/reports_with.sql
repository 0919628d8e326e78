-- After public reports of wrong answers in other engines: WITH.
CREATE TABLE t1 (n bigint);
INSERT INTO t1 VALUES (1), (2);

-- MaterializeInc/materialize#37505: the nearest name is meant
WITH a AS (SELECT 10 AS v) SELECT * FROM (WITH a AS (SELECT 20 AS v) SELECT * FROM (WITH b AS (SELECT 30 AS v) SELECT v FROM a) t2) t1;
--> integer
--> 20

-- tiagolauer/OwlSQL#285: a name hides a table from the names behind it, too
WITH t1 AS (SELECT n AS m FROM t1), t2 AS (SELECT n FROM t1) SELECT n FROM t2;
--> error 42703
WITH t1 AS (SELECT n + 10 AS n FROM t1), t2 AS (SELECT n FROM t1) SELECT n FROM t2;
--> bigint
--> 11
--> 12

-- databendlabs/databend#15755: the table by its schema is the table
WITH t2 AS (SELECT * FROM t1 WHERE n = 2), t1 AS (SELECT * FROM t1 WHERE n = 1) SELECT * FROM t1 UNION ALL SELECT * FROM t2;
--> bigint
--> 1
--> 2

-- CUBRID/cubrid#492: one name on two levels
WITH c AS (SELECT 1 AS x) SELECT x FROM c WHERE x = (WITH c AS (SELECT 1 AS x UNION SELECT 2) SELECT min(x) FROM c);
--> integer
--> 1

-- cockroachdb/cockroach#93370: WITH RECURSIVE that is not recursive keeps the rows of UNION ALL
WITH RECURSIVE c AS (SELECT 1 AS x UNION ALL SELECT 1) SELECT * FROM c;
--> integer
--> 1
--> 1

-- databendlabs/databend#16921: a plain query beside a recursive one
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4), c(x) AS (SELECT 'abc') SELECT n, x FROM t, c;
--> integer, text
--> 1, abc
--> 2, abc
--> 3, abc
--> 4, abc

-- apache/datafusion#18956: a recursive query inside a recursive query, each with its own name
WITH RECURSIVE o(n) AS (SELECT 1 UNION ALL SELECT o.n + 1 FROM o WHERE o.n < 3) SELECT o.n, (WITH RECURSIVE i(m) AS (SELECT 1 UNION ALL SELECT m + 1 FROM i WHERE m < 3) SELECT sum(m) FROM i) FROM o;
--> integer, bigint
--> 1, 6
--> 2, 6
--> 3, 6

-- ClickHouse/ClickHouse#118510: both branches of a UNION read the recursive name
WITH RECURSIVE src AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM src WHERE id < 3) SELECT sum(id) AS s FROM src UNION ALL SELECT sum(id) AS s FROM src;
--> bigint
--> 6
--> 6

-- UNION ends a cycle
WITH RECURSIVE e(a, b) AS (VALUES (1, 2), (2, 3), (3, 1)), r(x) AS (SELECT 1 UNION SELECT e.b FROM r JOIN e ON e.a = r.x) SELECT x FROM r;
--> integer
--> 1
--> 2
--> 3
WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n NOT IN (SELECT n FROM x)) SELECT * FROM x;
--> error 42P19
