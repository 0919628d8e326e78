-- What drawn statements found.
CREATE TABLE a (i integer, s text, x double precision);
INSERT INTO a VALUES (-1, 'B', 2.0::float8), (-1, NULL, 0.25::float8), (-1, 'B', 4.75::float8), (3, 'ab', 2.0::float8), (4, 'é', -1.5::float8), (-1, 'a', 4.75::float8);
CREATE TABLE o (k integer, l bigint, s text, d date);
INSERT INTO o VALUES (3, 5, 'é', DATE '2020-03-01');
CREATE TABLE p (i integer, h smallint, n numeric(8,2), b boolean, ts timestamp);
INSERT INTO p VALUES (-1, -1, 3.10, FALSE, TIMESTAMP '2021-03-01 00:00:00'), (2, -1, 10.5, TRUE, TIMESTAMP '1999-12-31 23:59:59.5'), (-1, NULL, NULL, TRUE, TIMESTAMP '2021-03-01 00:00:00');
SELECT * FROM ((SELECT DISTINCT coalesce(t1.c1, t1.c1) AS c1, abs(t1.c1) AS c2 FROM LATERAL (SELECT coalesce(extract(hour FROM TIMESTAMP '2021-03-01 00:00:00')::int, (SELECT sum(t3.c1) FROM (SELECT sum(t4.l) FILTER (WHERE t4.k < -2) AS c1, CASE WHEN (SELECT bool_or(t5.c2) FROM LATERAL (SELECT abs(t4.l) AS c1, coalesce(CASE WHEN TRUE THEN bool_and(CASE WHEN t7.s IS NOT NULL THEN FALSE END) END, FALSE) AS c2 FROM o AS t6 FULL JOIN a AS t7 ON t6.l = t7.i WHERE (greatest(3.10, -2.00) >= greatest(1.25, 10.5)) HAVING (t2.s LIKE 'a%')) AS t5(c1, c2) LEFT JOIN o AS t2 ON t5.c1 = t2.l AND (0.25::float8 = 0.25::float8) WHERE (t4.l IS NOT NULL)) THEN (avg(coalesce(l, (t2.x)::int)))::float8 ELSE (avg(t4.k))::float8 END AS c2 FROM o AS t4 GROUP BY t4.l) AS t3(c1, c2) WHERE (t2.s IN (t2.s, 'b')))) AS c1 FROM a AS t2 ORDER BY 1 NULLS FIRST LIMIT 3 OFFSET 1) AS t1(c1)) EXCEPT ALL ((VALUES ((5 + 4), (4.75::float8)::int), (least(-2, 1), nullif(2, 6)), (-3, coalesce(1, -1))) EXCEPT (SELECT coalesce((t8.i + t8.i), t8.h) AS c1, CASE WHEN CASE WHEN t8.b THEN t8.b ELSE b END THEN h ELSE (t8.h - i) END AS c2 FROM p AS t8))) AS q ORDER BY 1, 2;;
--> numeric, numeric
--> 0, 0
SELECT DISTINCT ON ((SELECT max(k) FROM o WHERE o.k = a.i)) (SELECT max(k) FROM o WHERE o.k = a.i) AS m, s FROM a ORDER BY 1, 2;
--> integer, text
--> 3, ab
--> NULL, B
SELECT DISTINCT ON (CASE WHEN i NOT IN (VALUES (3)) THEN i END) CASE WHEN i NOT IN (VALUES (3)) THEN i END AS m, s FROM a ORDER BY 1, 2;
--> integer, text
--> -1, B
--> 4, é
--> NULL, ab
SELECT DISTINCT (SELECT max(k) FROM o WHERE o.k = a.i) AS m FROM a ORDER BY (SELECT max(k) FROM o WHERE o.k = a.i);
--> integer
--> 3
--> NULL
SELECT DISTINCT ON ((SELECT max(k) FROM o WHERE o.k = a.i)) s FROM a ORDER BY (SELECT max(k) FROM o WHERE o.k = a.i), s;
--> text
--> ab
--> B
SELECT (SELECT max(k) FROM o WHERE o.k = a.i), count(*) FROM a GROUP BY 1 ORDER BY (SELECT max(k) FROM o WHERE o.k = a.i), 2;
--> integer, bigint
--> 3, 1
--> NULL, 5
SELECT count(*), (SELECT max(k) FROM o) FROM a ORDER BY (SELECT max(k) FROM o);
--> bigint, integer
--> 6, 3
SELECT DISTINCT ON (c2) k AS c1, 2 AS c2 FROM o ORDER BY 1, 2;
--> error 42P10
SELECT DISTINCT ON (c2) k AS c1, 2 AS c2 FROM o ORDER BY 2, 1;
--> integer, integer
--> 3, 2
SELECT DISTINCT ON (c2, c1) k AS c1, 2 AS c2 FROM o ORDER BY c1, c2;
--> integer, integer
--> 3, 2
SELECT DISTINCT k AS c1, 2 AS c2 FROM o ORDER BY 2, 1;
--> integer, integer
--> 3, 2
