-- A column of USING and NATURAL is one side's, in the type of both: a NUMERIC has the digits of its side.
CREATE TABLE l (d numeric(9,1), i int, s text, n int, f real, t date);
INSERT INTO l VALUES (1.5, 1, 'l0', 1, 1, '2020-01-01'), (2.0, 2, 'l1', 2, 2.5, '2020-01-02');
CREATE TABLE r (d numeric(9,3), i bigint, s text, n numeric(9,2), f double precision, t timestamp);
INSERT INTO r VALUES (1.500, 1, 'r0', 1.00, 1, '2020-01-01'), (3.250, 3, 'r1', 3.25, 2.5, '2020-01-03 10:00');
SELECT d FROM l JOIN r USING (d);
--> numeric
--> 1.5
SELECT d FROM l LEFT JOIN r USING (d) ORDER BY 1;
--> numeric
--> 1.5
--> 2.0
SELECT d FROM l RIGHT JOIN r USING (d) ORDER BY 1;
--> numeric
--> 1.500
--> 3.250
SELECT d FROM r RIGHT JOIN l USING (d) ORDER BY 1;
--> numeric
--> 1.5
--> 2.0
SELECT d FROM r JOIN l USING (d) ORDER BY 1;
--> numeric
--> 1.500
SELECT n FROM l JOIN r USING (n) ORDER BY 1;
--> numeric
--> 1
SELECT n FROM l LEFT JOIN r USING (n) ORDER BY 1;
--> numeric
--> 1
--> 2
SELECT n FROM l RIGHT JOIN r USING (n) ORDER BY 1;
--> numeric
--> 1.00
--> 3.25
SELECT n FROM r LEFT JOIN l USING (n) ORDER BY 1;
--> numeric
--> 1.00
--> 3.25
SELECT f FROM l JOIN r USING (f) ORDER BY 1;
--> double precision
--> 1
--> 2.5
SELECT f FROM l RIGHT JOIN r USING (f) ORDER BY 1;
--> double precision
--> 1
--> 2.5
SELECT f FROM l FULL JOIN r USING (f) ORDER BY 1;
--> double precision
--> 1
--> 2.5
SELECT t FROM l LEFT JOIN r USING (t) ORDER BY 1;
--> timestamp
--> 2020-01-01 00:00:00
--> 2020-01-02 00:00:00
SELECT t FROM l RIGHT JOIN r USING (t) ORDER BY 1;
--> timestamp
--> 2020-01-01 00:00:00
--> 2020-01-03 10:00:00
SELECT t FROM l FULL JOIN r USING (t) ORDER BY 1;
--> timestamp
--> 2020-01-01 00:00:00
--> 2020-01-02 00:00:00
--> 2020-01-03 10:00:00
SELECT i FROM l JOIN r USING (i) ORDER BY 1;
--> bigint
--> 1
SELECT i FROM l RIGHT JOIN r USING (i) ORDER BY 1;
--> bigint
--> 1
--> 3
SELECT i FROM l FULL JOIN r USING (i) ORDER BY 1;
--> bigint
--> 1
--> 2
--> 3
SELECT i FROM r LEFT JOIN l USING (i) ORDER BY 1;
--> bigint
--> 1
--> 3
SELECT d, l.d, r.d FROM l JOIN r USING (d);
--> numeric, numeric, numeric
--> 1.5, 1.5, 1.500
SELECT d, i, n FROM l NATURAL JOIN (SELECT d, i, n FROM r) x;
--> numeric, bigint, numeric
--> 1.5, 1, 1
SELECT i, d + 1, count(*) FROM l JOIN r USING (d, i) GROUP BY d, i HAVING d > 0 ORDER BY d;
--> bigint, numeric, bigint
--> 1, 2.5, 1
SELECT i, q.n FROM l JOIN r USING (i) JOIN (SELECT 1::numeric(5,2) AS i, 'x' AS n) q USING (i);
--> numeric, text
--> 1, x
SELECT i FROM (SELECT 1::numeric(5,2) AS i) q JOIN (l JOIN r USING (i)) USING (i);
--> numeric
--> 1.00
SELECT * FROM (SELECT n FROM l) a LEFT JOIN (SELECT n FROM r) b USING (n) ORDER BY 1;
--> numeric
--> 1
--> 2
SELECT f FROM l LEFT JOIN r USING (f) UNION SELECT f FROM r ORDER BY 1;
--> double precision
--> 1
--> 2.5
CREATE VIEW v AS SELECT * FROM (SELECT i, s FROM l) a JOIN (SELECT i, d FROM r) b USING (i);
SELECT * FROM v;
--> bigint, text, numeric
--> 1, l0, 1.500
