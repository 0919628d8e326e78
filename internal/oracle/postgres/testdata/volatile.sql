-- A volatile function in a query that reads columns of the rows around it has a value for each of them; one that reads none runs once.
CREATE TABLE o (k int, g int);
INSERT INTO o SELECT g, g % 2 FROM generate_series(1, 200) g;
CREATE TABLE a (i int);
INSERT INTO a VALUES (1), (2), (3);
SELECT count(DISTINCT r) > 1 FROM (SELECT (SELECT random()) r FROM o) x;
--> boolean
--> f
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT random() + o.k * 0) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT random() FROM a WHERE a.i = o.g + 1) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT random() FROM a WHERE a.i > o.g LIMIT 1) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT random() WHERE o.k > 0) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM o, LATERAL (SELECT random() + o.g AS r) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM o, LATERAL (SELECT random() AS r FROM a WHERE a.i = o.g + 1) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 1 FROM o, LATERAL (SELECT random() AS r) x;
--> boolean
--> f
SELECT count(DISTINCT r) > 1 FROM o, (SELECT random() AS r) x;
--> boolean
--> f
SELECT count(*) BETWEEN 1 AND 199 FROM o WHERE 0.5 > (SELECT random() FROM a WHERE a.i = o.g + 1);
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT CASE WHEN o.k > 0 THEN (SELECT random() + o.g) END r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT (SELECT random() + o.g) ) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 1 FROM (SELECT (SELECT (SELECT random()) + o.g*0 ) r FROM o) x;
--> boolean
--> f
WITH w AS (SELECT random() r) SELECT count(DISTINCT r + o.g * 0) FROM o, w;
--> bigint
--> 1
SELECT count(DISTINCT r) > 150 FROM (SELECT (WITH w AS (SELECT random() + o.g r) SELECT r FROM w) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 1 FROM (SELECT now() r FROM o, generate_series(1, 1000)) x;
--> boolean
--> f
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT random() UNION ALL SELECT o.k WHERE false) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT count(*) * random() FROM a WHERE a.i = o.g + 1) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT max(i) * random() FROM a WHERE a.i = o.g + 1) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT random() FROM a WHERE a.i = o.g + 1 ORDER BY 1 LIMIT 1) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT max(r) FROM (SELECT random() r, i FROM a) y WHERE y.i = o.g + 1) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT y.r FROM (SELECT random() r, i FROM a) y WHERE y.i = o.g + 1) r FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT i) > 1 FROM (SELECT (SELECT i FROM a WHERE o.k > 0 ORDER BY random() LIMIT 1) i FROM o) x;
--> boolean
--> t
SELECT count(DISTINCT i) > 1 FROM o, LATERAL (SELECT i FROM a WHERE o.k > 0 ORDER BY random() LIMIT 1) x;
--> boolean
--> t
SELECT count(DISTINCT r) > 150 FROM (SELECT x + 0 r FROM (SELECT random() x FROM o) y) z;
--> boolean
--> t
SELECT bool_and(r = s) FROM (SELECT x r, x s FROM (SELECT random() x FROM o) y) z;
--> boolean
--> t
SELECT count(*) FROM (SELECT x FROM (SELECT random() x FROM o OFFSET 0) y WHERE x < 0.5 AND x >= 0.5) z;
--> bigint
--> 0
SELECT count(*) FROM (SELECT x FROM (SELECT random() x FROM o) y WHERE x < 0.5 AND x >= 0.5) z;
--> bigint
--> 0
UPDATE o SET g = (SELECT (random() * 1000000)::int + o.g * 0);
SELECT count(DISTINCT g) > 150 FROM o;
--> boolean
--> t
UPDATE o SET g = (SELECT i FROM a WHERE o.k > 0 ORDER BY random() LIMIT 1);
SELECT count(DISTINCT g) > 1 FROM o;
--> boolean
--> t
SELECT count(*), count(DISTINCT r) > 500, count(*) - count(o.k) FROM o LEFT JOIN LATERAL (SELECT random() + o.g AS r, i FROM a) x ON x.i <> o.k;
--> bigint, boolean, bigint
--> 597, t, 0
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT random() * o.g + y.i FROM a y WHERE y.i = (SELECT max(z.i) FROM a z WHERE z.i <= o.g + 1 + y.i * 0)) r FROM o WHERE g = 1) x;
--> boolean
--> f
SELECT count(DISTINCT r) > 90 FROM (SELECT g, (SELECT random() + o.g) r FROM o GROUP BY k, g) x WHERE g = 1;
--> boolean
--> f
SELECT count(DISTINCT r) FROM (SELECT g, (SELECT random() + o.g) r FROM o GROUP BY g) x;
--> bigint
--> 3
SELECT count(DISTINCT r) > 150 FROM (SELECT row_number() OVER (ORDER BY k) n, (SELECT random() + o.g) r FROM o) x;
--> boolean
--> t
SELECT count(*) BETWEEN 1 AND 199 FROM o WHERE 0.5 > (SELECT random() + 0 * o.g);
--> boolean
--> t
SELECT count(*) BETWEEN 1 AND 199 FROM o WHERE EXISTS (SELECT 1 FROM (SELECT random() + 0 * o.g AS r) y WHERE r < 0.5);
--> boolean
--> t
SELECT count(*) BETWEEN 1 AND 199 FROM o WHERE 1 IN (SELECT CASE WHEN random() < 0.5 THEN 1 ELSE o.k * 0 END);
--> boolean
--> t
SELECT count(*) BETWEEN 1 AND 199 FROM o WHERE 0.5 > ANY (SELECT random() + 0 * o.k);
--> boolean
--> t
SELECT count(*) IN (0, 200) FROM o WHERE 0.5 > ANY (SELECT random());
--> boolean
--> t
SELECT count(*) IN (0, 200) FROM o WHERE 0.5 > (SELECT random());
--> boolean
--> t
SELECT count(*) IN (0, 200) FROM o WHERE EXISTS (SELECT 1 FROM (SELECT random() AS r) y WHERE r < 0.5);
--> boolean
--> t
SELECT count(DISTINCT r) FROM (SELECT (WITH w AS (SELECT random() AS r) SELECT r + 0 * o.g FROM w) AS r FROM o) x;
--> bigint
--> 1
SELECT count(DISTINCT r) > 150 FROM (SELECT (SELECT x.r + y.r FROM (SELECT random() r) x, LATERAL (SELECT random() + x.r + o.g AS r) y) AS r FROM o) z;
--> boolean
--> t
SELECT sum(CASE WHEN (SELECT random() + 0 * o.k) < 0.5 THEN 1 ELSE 0 END) BETWEEN 1 AND 199 FROM o;
--> boolean
--> t
DELETE FROM o WHERE (SELECT random() + 0 * o.g) < 0.5;
SELECT count(*) BETWEEN 1 AND 199 FROM o;
--> boolean
--> t
INSERT INTO a SELECT (SELECT (random() * 1000000)::int + o.g * 0) FROM o;
SELECT count(DISTINCT i) > 30 FROM a;
--> boolean
--> t
