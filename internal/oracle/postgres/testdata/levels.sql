-- Columns of queries two and more levels out, in every place of a FROM and inside WITH, VALUES and DISTINCT ON.
CREATE TABLE o (k int, s text);
INSERT INTO o VALUES (1, 'a'), (2, 'b'), (3, NULL);
CREATE TABLE a (i int, s text);
INSERT INTO a VALUES (1, 'a'), (2, 'b'), (5, 'b');
CREATE TABLE p (i int, nm text);
INSERT INTO p VALUES (1, 'one'), (2, 'two'), (5, 'five');
CREATE TABLE s (amt int, qty int);
INSERT INTO s VALUES (10, 1), (20, 2);
SELECT o.k, x.i, p.nm FROM o, LATERAL (SELECT a.i FROM a WHERE a.s = o.s) x JOIN p ON p.i = x.i;
--> integer, integer, text
--> 1, 1, one
--> 2, 2, two
--> 2, 5, five
SELECT o.k, x.i, p.nm FROM o, LATERAL (SELECT a.i FROM a WHERE a.i >= o.k) x JOIN p ON p.i = x.i;
--> integer, integer, text
--> 1, 1, one
--> 1, 2, two
--> 2, 2, two
--> 1, 5, five
--> 2, 5, five
--> 3, 5, five
SELECT o.k, x.i, p.nm FROM o, p JOIN LATERAL (SELECT a.i FROM a WHERE a.s = o.s) x ON p.i = x.i;
--> integer, integer, text
--> 1, 1, one
--> 2, 2, two
--> 2, 5, five
SELECT k FROM o WHERE EXISTS (SELECT 1 FROM a x CROSS JOIN LATERAL (SELECT w.i FROM a w WHERE w.s = o.s) z);
--> integer
--> 1
--> 2
BEGIN;
DELETE FROM o WHERE NOT EXISTS (SELECT 1 FROM a x CROSS JOIN LATERAL (SELECT w.i FROM a w WHERE w.s = o.s) z);
SELECT * FROM o;
--> integer, text
--> 1, a
--> 2, b
ROLLBACK;
SELECT k FROM o WHERE EXISTS (WITH q AS (SELECT i FROM a WHERE a.s = o.s) SELECT 1 FROM a x WHERE x.i IN (SELECT i FROM q));
--> integer
--> 1
--> 2
VALUES ((SELECT max(i) FROM a WHERE EXISTS (SELECT 1 FROM o WHERE o.s = a.s)));
--> integer
--> 5
CREATE TABLE made (i int);
INSERT INTO made VALUES ((SELECT max(i) FROM a WHERE EXISTS (SELECT 1 FROM o WHERE o.s = a.s)));
SELECT * FROM made;
--> integer
--> 5
SELECT o.k, x.c FROM o CROSS JOIN LATERAL (SELECT DISTINCT ON (y.i) y.i + o.k AS c FROM a y ORDER BY y.i) x;
--> integer, integer
--> 1, 2
--> 1, 3
--> 1, 6
--> 2, 3
--> 2, 4
--> 2, 7
--> 3, 4
--> 3, 5
--> 3, 8
SELECT k, (WITH q AS (SELECT i FROM a WHERE a.s = o.s) SELECT count(*) FROM q WHERE i > (SELECT min(i) FROM q)) FROM o;
--> integer, bigint
--> 1, 0
--> 2, 1
--> 3, 0
SELECT k, (WITH q AS (SELECT k FROM o w WHERE w.s = o.s) SELECT count(*) FROM q WHERE k >= (SELECT min(k) FROM q)) FROM o;
--> integer, bigint
--> 1, 1
--> 2, 1
--> 3, 0
SELECT v.k, v.x FROM s CROSS JOIN LATERAL (VALUES ('amt', s.amt), ('qty', s.qty)) v(k, x);
--> text, integer
--> amt, 10
--> qty, 1
--> amt, 20
--> qty, 2
SELECT o.k, (SELECT max(z.c) FROM a y JOIN LATERAL (SELECT count(*) AS c FROM a w WHERE w.s >= o.s) z ON y.i = z.c) FROM o;
--> integer, bigint
--> 1, NULL
--> 2, 2
--> 3, NULL
WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n IN (SELECT * FROM x)) SELECT * FROM x;
--> error 42P19
SELECT DISTINCT ON (1 + 1) i, s FROM a ORDER BY 1 + 1, i DESC;
--> integer, text
--> 5, b
