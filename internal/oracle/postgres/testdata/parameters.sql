-- Arguments of EXECUTE are assigned to the types of the parameters, which are declared or inferred.
PREPARE p(int) AS SELECT $1, pg_typeof($1)::text;
EXECUTE p(1.5);
--> integer, text
--> 2, integer
EXECUTE p(2.5);
--> integer, text
--> 3, integer
EXECUTE p(-2.5);
--> integer, text
--> -3, integer
EXECUTE p(2.5::double precision);
--> integer, text
--> 2, integer
EXECUTE p(3.5::real);
--> integer, text
--> 4, integer
EXECUTE p(2147483647.5);
--> error 22003
EXECUTE p(-2147483648.4);
--> integer, text
--> -2147483648, integer
EXECUTE p(3e9::float8);
--> error 22003
EXECUTE p('NaN'::float8);
--> error 22003
EXECUTE p('4');
--> integer, text
--> 4, integer
EXECUTE p('4.5');
--> error 22P02
EXECUTE p(NULL);
--> integer, text
--> NULL, integer
EXECUTE p(true);
--> error 42804
EXECUTE p('4'::text);
--> error 42804
EXECUTE p(NULL::text);
--> error 42804
EXECUTE p(date '2020-01-01');
--> error 42804
PREPARE q(smallint, numeric(5,1), text, date, boolean, double precision, varchar(2)) AS SELECT $1, $2, $3, $4, $5, $6, $7;
EXECUTE q(1.5, 12345.678, 12, timestamp '2020-01-01 10:00', 't', 1, 'abc');
--> smallint, numeric, text, date, boolean, double precision, text
--> 2, 12345.678, 12, 2020-01-01, t, 1, abc
EXECUTE q(32767.5, 1, 'a', '2020-01-01', 't', 1, 'abc');
--> error 22003
EXECUTE q(1, 1, 'a', '2020-01-01', 1, 1, 'abc');
--> error 42804
-- The type that is inferred is that of what the parameter stands beside first.
CREATE TABLE n (s smallint, i int, b bigint, d numeric(5,2), r real, f double precision);
INSERT INTO n VALUES (1, 1, 1, 1.5, 0.1, 0.1), (2, 2, 2, 2.5, 2.5, 2.5), (3, 3, 3, 3.5, 3.5, 3.5);
PREPARE t1 AS SELECT i, i > $1, i + $1, pg_typeof(i + $1)::text FROM n WHERE i >= $1 ORDER BY 1;
EXECUTE t1(1.5);
--> integer, boolean, integer, text
--> 2, f, 4, integer
--> 3, t, 5, integer
EXECUTE t1(2.5::double precision);
--> integer, boolean, integer, text
--> 2, f, 4, integer
--> 3, t, 5, integer
EXECUTE t1(3000000000);
--> error 22003
PREPARE t2 AS SELECT left('abcdef', $1), CASE WHEN true THEN 1 ELSE $2 END, coalesce($3, 5), $4 IN (1, 2, 3), 2 BETWEEN $5 AND $6;
EXECUTE t2(2.5, 1.5, 1.5, 1.5, 1.6, 2.4);
--> text, integer, integer, boolean, boolean
--> abc, 1, 2, t, t
PREPARE t3 AS SELECT * FROM generate_series(1, $1) g ORDER BY 1;
EXECUTE t3(2.5);
--> integer
--> 1
--> 2
--> 3
PREPARE t4 AS SELECT 1 UNION ALL SELECT $1;
EXECUTE t4(2.5);
--> integer
--> 1
--> 3
PREPARE t5 AS SELECT a, pg_typeof(a)::text FROM (VALUES (1::smallint), ($1)) v(a);
EXECUTE t5(2.5);
--> smallint, text
--> 1, smallint
--> 3, smallint
EXECUTE t5(40000);
--> error 22003
PREPARE t6 AS SELECT r, r = $1, r + $1, pg_typeof(r + $1)::text FROM n ORDER BY 1;
EXECUTE t6(0.1);
--> real, boolean, real, text
--> 0.1, t, 0.2, real
--> 2.5, f, 2.6, real
--> 3.5, f, 3.6, real
EXECUTE t6(0.1::float8);
--> real, boolean, real, text
--> 0.1, t, 0.2, real
--> 2.5, f, 2.6, real
--> 3.5, f, 3.6, real
PREPARE t7 AS SELECT d, d = $1, d + $1 FROM n ORDER BY 1;
EXECUTE t7(1.5);
--> numeric, boolean, numeric
--> 1.50, t, 3.00
--> 2.50, f, 4.00
--> 3.50, f, 5.00
EXECUTE t7(1.5::float8);
--> numeric, boolean, numeric
--> 1.50, t, 3.00
--> 2.50, f, 4.00
--> 3.50, f, 5.00
PREPARE t8 AS SELECT i FROM n WHERE i >= $1 AND r > $1 ORDER BY 1;
EXECUTE t8(2.4);
--> integer
--> 2
--> 3
PREPARE t9 AS SELECT lag(i, $1) OVER (ORDER BY i), ntile($2) OVER (ORDER BY i) FROM n ORDER BY i;
EXECUTE t9(1.4, 1.6);
--> integer, integer
--> NULL, 1
--> 1, 1
--> 2, 2
PREPARE t10 AS SELECT nullif(1, $1), greatest(1, $2), 7 % $3, 7 / $4, 1 << $5;
EXECUTE t10(1.4, 1.6, 3.5, 2.5, 1.5);
--> integer, integer, integer, integer, integer
--> NULL, 2, 3, 2, 4
PREPARE t11 AS SELECT i FROM n ORDER BY i LIMIT $1 OFFSET $2;
EXECUTE t11(1.5, 0.5);
--> integer
--> 2
--> 3
PREPARE t12 AS SELECT i FROM n WHERE i = ANY (ARRAY[$1, 1]) AND (i, i) <> ($2, 4) ORDER BY 1;
EXECUTE t12(1.5, 2.5);
--> integer
--> 1
--> 2
PREPARE t13 AS UPDATE n SET i = $1, d = $2, s = s + $3 WHERE b = $4 RETURNING i, d, s;
EXECUTE t13(1.5, 1.005, 1.5, 0.6);
--> integer, numeric, smallint
--> 2, 1.01, 3
EXECUTE t13(2.5, 2.005, 2.5, 1.6);
--> integer, numeric, smallint
--> 3, 2.01, 5
EXECUTE t13(1.5::float8, 1.5::float8, 2.5::float8, 2.5::float8);
--> integer, numeric, smallint
--> 2, 1.50, 7
PREPARE t14 AS INSERT INTO n (i, s) VALUES ($1, $2) RETURNING i, s;
EXECUTE t14(2.5, 2.5);
--> integer, smallint
--> 3, 3
EXECUTE t14(2.5::float8, 2.5::float8);
--> integer, smallint
--> 2, 2
EXECUTE t14(2, 32767.5);
--> error 22003
