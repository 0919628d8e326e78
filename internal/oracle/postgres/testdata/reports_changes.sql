-- After public reports of wrong answers in other engines: statements that change tables.
CREATE TABLE s (a int, b int);
INSERT INTO s VALUES (1, 10);
INSERT INTO s VALUES (3, 30);

-- all of SET reads the row as it was
UPDATE s SET a = b, b = a RETURNING a, b;
--> integer, integer
--> 10, 1
--> 30, 3
SELECT * FROM s;
--> integer, integer
--> 10, 1
--> 30, 3
UPDATE s SET (a, b) = (SELECT s.b, s.a);
SELECT * FROM s;
--> integer, integer
--> 1, 10
--> 3, 30

-- cockroachdb/cockroach#30786: RETURNING has the columns in their places
CREATE TABLE u (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, UNIQUE (a, b));
INSERT INTO u (b, a, id) VALUES (1, 1, 7), (2, 1, 8) ON CONFLICT (a, b) DO NOTHING RETURNING id, a, b;
--> integer, integer, integer
--> 7, 1, 1
--> 8, 1, 2
INSERT INTO u VALUES (9, 1, 2), (10, 5, 5) ON CONFLICT (a, b) DO UPDATE SET id = excluded.id + 100 RETURNING id, a, b;
--> integer, integer, integer
--> 109, 1, 2
--> 10, 5, 5
SELECT * FROM u;
--> integer, integer, integer
--> 7, 1, 1
--> 109, 1, 2
--> 10, 5, 5

-- databendlabs/databend#13295: a row that several rows of the source match is an error
CREATE TABLE t11 (a int, b text, c text);
INSERT INTO t11 VALUES (1, 'b1', 'c1'), (2, 'b2', 'c2');
CREATE TABLE t12 (a int, b text, c text);
INSERT INTO t12 VALUES (1, 'b_5', 'c_5'), (3, 'b_6', 'c_6');
MERGE INTO t11 USING (SELECT a, c FROM t12) AS x ON t11.a = t11.a WHEN MATCHED THEN UPDATE SET c = x.c;
--> error 21000
SELECT * FROM t11;
--> integer, text, text
--> 1, b1, c1
--> 2, b2, c2

-- citusdata/citus#8180: MERGE into a table that is its own source, and one that sets its key
MERGE INTO t11 USING t11 AS src ON t11.a = src.a WHEN MATCHED THEN UPDATE SET b = src.c, c = src.b;
SELECT * FROM t11;
--> integer, text, text
--> 1, c1, b1
--> 2, c2, b2
MERGE INTO t11 USING t12 ON t11.a = t12.a WHEN MATCHED THEN UPDATE SET a = t12.a + 10, b = t12.b WHEN NOT MATCHED THEN INSERT VALUES (t12.a, t12.c, t12.b);
SELECT * FROM t11;
--> integer, text, text
--> 2, c2, b2
--> 11, b_5, b1
--> 3, c_6, b_6

-- a DELETE and an UPDATE whose condition reads the table that they change
DELETE FROM t11 WHERE a < (SELECT avg(a) FROM t11) RETURNING a;
--> integer
--> 2
--> 3
UPDATE t12 SET a = (SELECT max(a) FROM t12) + 1, b = c, c = b WHERE a = (SELECT min(a) FROM t12);
SELECT * FROM t12;
--> integer, text, text
--> 3, b_6, c_6
--> 4, c_5, b_5

-- one column into another's place
CREATE TABLE p (x int, y int, z text);
INSERT INTO p VALUES (1, 2, 'a'), (NULL, 4, NULL);
ALTER TABLE p ALTER COLUMN x TYPE int USING y, ALTER COLUMN y TYPE int USING x;
SELECT * FROM p;
--> integer, integer, text
--> 2, 1, a
--> 4, NULL, NULL
-- A NULL of another type is no value for a column, and a NULL without a type is one for any.
CREATE TABLE typed (d date, b boolean, n numeric(5, 2), s text);
INSERT INTO typed VALUES (NULL::boolean, TRUE, 1, 'a');
--> error 42804
INSERT INTO typed VALUES (CASE WHEN FALSE THEN TRUE END, TRUE, 1, 'a');
--> error 42804
INSERT INTO typed SELECT '2020-01-01'::text, TRUE, 1, 'a';
--> error 42804
INSERT INTO typed SELECT '2020-01-01' || '', TRUE, 1, 'a';
--> error 42804
INSERT INTO typed (b) VALUES (NULL::int);
--> error 42804
INSERT INTO typed SELECT '2020-01-01', NULL, NULL, NULL RETURNING *;
--> date, boolean, numeric, text
--> 2020-01-01, NULL, NULL, NULL
INSERT INTO typed SELECT NULL::timestamp, NULL::boolean, NULL::int, NULL::int RETURNING *;
--> date, boolean, numeric, text
--> NULL, NULL, NULL, NULL
UPDATE typed SET d = CASE WHEN FALSE THEN TRUE END;
--> error 42804
UPDATE typed SET n = NULL, d = NULL, s = '1' RETURNING *;
--> date, boolean, numeric, text
--> NULL, NULL, NULL, 1
--> NULL, NULL, NULL, 1
INSERT INTO typed SELECT * FROM (SELECT '2021-01-01', NULL) x;
--> error 42804
INSERT INTO typed SELECT NULL UNION ALL SELECT '2021-01-01' RETURNING *;
--> error 42804
-- The conditions of a WHEN that does nothing are looked at, too.
CREATE TABLE merged (i int, s text);
INSERT INTO merged VALUES (1, 'x'), (3, 'z');
MERGE INTO merged USING (SELECT 1 AS c1, 2 AS c2) x ON merged.i = x.c1 WHEN MATCHED AND x.c2 < merged.c1 THEN DO NOTHING;
--> error 42703
MERGE INTO merged USING (SELECT 1 AS c1, 2 AS c2) x ON merged.i = x.c1 WHEN NOT MATCHED AND x.c2 < merged.i THEN DO NOTHING;
--> error 42P01
MERGE INTO merged USING (SELECT 1 AS c1, 2 AS c2) x ON merged.i = x.c1 WHEN MATCHED AND x.c2 THEN DO NOTHING;
--> error 42804
MERGE INTO merged USING (SELECT 4 AS c1, 2 AS c2) x ON merged.i = x.c1 WHEN NOT MATCHED AND x.c2 = 2 THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (9, 'n');
MERGE INTO merged USING (SELECT 1 AS c1, 2 AS c2) x ON merged.i = x.c1 WHEN MATCHED AND x.c2 = 2 THEN DO NOTHING WHEN MATCHED THEN DELETE;
SELECT * FROM merged ORDER BY 1;
--> integer, text
--> 1, x
--> 3, z
