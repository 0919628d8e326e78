-- generate_series that reads columns to its left and of queries around.
CREATE TABLE o(k int, s text, n numeric(8,2), ts timestamp);
INSERT INTO o VALUES (1,'a',1.5,'2020-01-30'),(2,'b',3,'2020-01-31'),(3,NULL,NULL,NULL),(NULL,'x',0,'2019-12-31');
SELECT o.k, g FROM o, generate_series(1, o.k) g ORDER BY 1, 2;
--> integer, integer
--> 1, 1
--> 2, 1
--> 2, 2
--> 3, 1
--> 3, 2
--> 3, 3
SELECT o.k, g FROM o LEFT JOIN LATERAL generate_series(2, o.k) AS t(g) ON true ORDER BY 1, 2;
--> integer, integer
--> 1, NULL
--> 2, 2
--> 3, 2
--> 3, 3
--> NULL, NULL
SELECT o.n, g FROM o, generate_series(0.5, o.n, 0.75) g ORDER BY 1, 2;
--> numeric, numeric
--> 1.50, 0.5
--> 1.50, 1.25
--> 3.00, 0.5
--> 3.00, 1.25
--> 3.00, 2.00
--> 3.00, 2.75
SELECT o.k, (SELECT count(*) FROM generate_series(1, o.k)) FROM o ORDER BY 1;
--> integer, bigint
--> 1, 1
--> 2, 2
--> 3, 3
--> NULL, 0
SELECT o.k, (SELECT sum(g*o.k) FROM generate_series(-o.k, o.k) g WHERE g > (SELECT min(k) FROM o p WHERE p.k = o.k) - 3) FROM o ORDER BY 1;
--> integer, bigint
--> 1, 0
--> 2, 6
--> 3, 18
--> NULL, NULL
SELECT k, g FROM o, generate_series(ts, ts + INTERVAL '3 months', '1 month') g ORDER BY 1, 2;
--> integer, timestamp
--> 1, 2020-01-30 00:00:00
--> 1, 2020-02-29 00:00:00
--> 1, 2020-03-29 00:00:00
--> 1, 2020-04-29 00:00:00
--> 2, 2020-01-31 00:00:00
--> 2, 2020-02-29 00:00:00
--> 2, 2020-03-29 00:00:00
--> 2, 2020-04-29 00:00:00
--> NULL, 2019-12-31 00:00:00
--> NULL, 2020-01-31 00:00:00
--> NULL, 2020-02-29 00:00:00
--> NULL, 2020-03-29 00:00:00
SELECT k, g, h FROM o, generate_series(1, k) g, generate_series(g, k) h ORDER BY 1, 2,3;
--> integer, integer, integer
--> 1, 1, 1
--> 2, 1, 1
--> 2, 1, 2
--> 2, 2, 2
--> 3, 1, 1
--> 3, 1, 2
--> 3, 1, 3
--> 3, 2, 2
--> 3, 2, 3
--> 3, 3, 3
SELECT k, g FROM o, generate_series(k, 1, -1) g ORDER BY 1, 2;
--> integer, integer
--> 1, 1
--> 2, 1
--> 2, 2
--> 3, 1
--> 3, 2
--> 3, 3
SELECT k, g FROM o, generate_series(1, k, 0) g;
--> error 22023
SELECT k, g FROM o RIGHT JOIN generate_series(1, o.k) g ON true;
--> error 42P10
SELECT k FROM o WHERE EXISTS (SELECT 1 FROM generate_series(2, o.k) g WHERE g = 3);
--> integer
--> 3
SELECT k, (SELECT count(*) FROM generate_series(1, (SELECT count(*) FROM o p WHERE p.k <= o.k))) FROM o ORDER BY 1;
--> integer, bigint
--> 1, 1
--> 2, 2
--> 3, 3
--> NULL, 0
SELECT k, x FROM o, LATERAL (SELECT g FROM generate_series(1, o.k) g ORDER BY g DESC LIMIT 1) q(x) ORDER BY 1;
--> integer, integer
--> 1, 1
--> 2, 2
--> 3, 3
SELECT k, sum(g), count(*) FROM o, generate_series(1, o.k*1000) g GROUP BY k ORDER BY 1;
--> integer, bigint, bigint
--> 1, 500500, 1000
--> 2, 2001000, 2000
--> 3, 4501500, 3000
SELECT g FROM generate_series(1, g) g;
--> error 42703
