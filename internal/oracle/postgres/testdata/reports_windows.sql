-- After public reports of wrong answers in other engines: window functions.
CREATE TABLE agg (p int NOT NULL, o int NOT NULL, v int NOT NULL);
INSERT INTO agg VALUES (0, 0, 1), (1, 1, 2), (1, 2, 3), (1, 3, 4), (2, 5, 6), (2, 6, 7), (2, 9, 10), (3, 10, 11), (3, 13, 12), (3, 13, 13);
CREATE TABLE t (id int PRIMARY KEY, k int, v int NOT NULL);
INSERT INTO t VALUES (1, NULL, 10), (2, NULL, 20), (3, 1, 30), (4, 2, 40), (5, 4, 50);

-- apache/datafusion#5275: RANGE with several keys, and with none
SELECT id, count(*) OVER (ORDER BY k, v RANGE BETWEEN CURRENT ROW AND CURRENT ROW), count(*) OVER (ORDER BY k, v RANGE UNBOUNDED PRECEDING), count(*) OVER (RANGE BETWEEN CURRENT ROW AND CURRENT ROW), count(*) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t ORDER BY id;
--> integer, bigint, bigint, bigint, bigint
--> 1, 1, 4, 5, 5
--> 2, 1, 5, 5, 5
--> 3, 1, 1, 5, 5
--> 4, 1, 2, 5, 5
--> 5, 1, 3, 5, 5

-- pingcap/tiflash#7930: frames that lie outside of the partition
SELECT p, o, v, first_value(v) OVER (PARTITION BY p ORDER BY o, v ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING), last_value(v) OVER (PARTITION BY p ORDER BY o, v ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING) FROM agg ORDER BY 1, 2, 3;
--> integer, integer, integer, integer, integer
--> 0, 0, 1, NULL, NULL
--> 1, 1, 2, 4, NULL
--> 1, 2, 3, NULL, NULL
--> 1, 3, 4, NULL, 2
--> 2, 5, 6, 10, NULL
--> 2, 6, 7, NULL, NULL
--> 2, 9, 10, NULL, 6
--> 3, 10, 11, 13, NULL
--> 3, 13, 12, NULL, NULL
--> 3, 13, 13, NULL, 11

-- dolthub/dolt#11858: RANGE with an offset where the key is NULL
SELECT id, k, sum(v) OVER (ORDER BY k NULLS FIRST RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY id;
--> integer, integer, bigint
--> 1, NULL, 30
--> 2, NULL, 30
--> 3, 1, 30
--> 4, 2, 70
--> 5, 4, 50
SELECT id, k, sum(v) OVER (ORDER BY k DESC RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM t ORDER BY id;
--> integer, integer, bigint
--> 1, NULL, 30
--> 2, NULL, 30
--> 3, 1, 70
--> 4, 2, 70
--> 5, 4, 90

-- apache/datafusion#1194, #8444: PARTITION BY and ORDER BY of NULL
SELECT id, percent_rank() OVER (PARTITION BY NULL), rank() OVER (ORDER BY NULL) FROM t ORDER BY id;
--> integer, double precision, bigint
--> 1, 0, 1
--> 2, 0, 1
--> 3, 0, 1
--> 4, 0, 1
--> 5, 0, 1

-- apache/datafusion#15714: GROUPS, ROWS and RANGE side by side
SELECT p, o, v, sum(v) OVER (PARTITION BY p ORDER BY o ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW), sum(v) OVER (PARTITION BY p ORDER BY o RANGE BETWEEN 1 PRECEDING AND CURRENT ROW), sum(v) OVER (PARTITION BY p ORDER BY o GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM agg WHERE v < 13 ORDER BY 1, 2, 3;
--> integer, integer, integer, bigint, bigint, bigint
--> 0, 0, 1, NULL, 1, 1
--> 1, 1, 2, NULL, 2, 2
--> 1, 2, 3, 2, 5, 5
--> 1, 3, 4, 3, 7, 7
--> 2, 5, 6, NULL, 6, 6
--> 2, 6, 7, 6, 13, 13
--> 2, 9, 10, 7, 10, 17
--> 3, 10, 11, NULL, 11, 11
--> 3, 13, 12, 11, 12, 23

-- a frame that ends before it begins has no rows; windows above groups
SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 3 PRECEDING), count(v) OVER (ORDER BY id ROWS BETWEEN 3 FOLLOWING AND 2 FOLLOWING) FROM t ORDER BY id;
--> integer, bigint, bigint
--> 1, NULL, 0
--> 2, NULL, 0
--> 3, NULL, 0
--> 4, NULL, 0
--> 5, NULL, 0
SELECT p, sum(v), rank() OVER (ORDER BY sum(v) DESC), sum(sum(v)) OVER (ORDER BY p) FROM agg GROUP BY p ORDER BY p;
--> integer, bigint, bigint, numeric
--> 0, 1, 4, 1
--> 1, 9, 3, 10
--> 2, 23, 2, 33
--> 3, 36, 1, 69
SELECT id FROM (SELECT id, row_number() OVER (ORDER BY v DESC) AS n FROM t) s WHERE n <= 2 AND id <> 5 ORDER BY id;
--> integer
--> 4
