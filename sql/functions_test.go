package sql_test

import (
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// evaluate binds and computes "expression" without a table: its value as text, or its error.
func evaluate(t *testing.T, text string) string {
	t.Helper()
	q, err := bind(t, "SELECT "+text)
	if err != nil {
		return "error: " + err.Error()
	}
	v, err := expr.Eval(q.Items[0].E, &expr.Env{Agg: func(int) table.Value { return table.Value{} }})
	if err != nil {
		return "error: " + err.Error()
	}
	return v.String()
}

// TestFunctions has the results that PostgreSQL's manual gives of its functions, those at
// their edges, and what is an error.
func TestFunctions(t *testing.T) {
	for _, group := range strings.Split(functionCases, "\n") {
		text, want, ok := strings.Cut(group, " -> ")
		if !ok {
			continue
		}
		if got := evaluate(t, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

const functionCases = `
pg_typeof(1 + 2) -> bigint
pg_typeof(1.50) -> numeric
pg_typeof(1::real) -> real
pg_typeof(NULL) -> unknown
pg_typeof('a' || 'b') -> character varying
pg_typeof(DATE '2001-02-03') -> date
pg_typeof(1 < 2) -> boolean
pg_typeof(1, 2) -> error: pg_typeof takes one argument
pg_typeof() -> error: pg_typeof takes one argument
CASE WHEN true THEN 1 ELSE 2 END -> 1
CASE WHEN false THEN 1 END -> NULL
CASE WHEN NULL THEN 'a' WHEN 1 < 2 THEN 'b' ELSE 'c' END -> b
CASE 2 WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'other' END -> two
CASE NULL WHEN NULL THEN 1 ELSE 2 END -> 2
CASE WHEN 1 = 1 THEN 1 ELSE 1 / 0 END -> 1
CASE WHEN 1 = 2 THEN 1 ELSE 1 / 0 END -> error: division by zero
CASE WHEN true THEN 1 ELSE 2.50 END -> 1.00
CASE WHEN true THEN 1 ELSE 2::float8 END / 2 -> 0.5
COALESCE(NULL, NULL) -> NULL
COALESCE(NULL, 3, 1 / 0) -> 3
COALESCE(NULL, 'a') -> a
NULLIF(1, 1) -> NULL
NULLIF(1, 2) -> 1
NULLIF(1, NULL) -> 1
NULLIF(NULL, 1) -> NULL
NULLIF(1, 1.0) -> NULL
GREATEST(1, NULL, 3, 2) -> 3
LEAST(1, NULL, 3, 2) -> 1
GREATEST(NULL, NULL) -> NULL
GREATEST('a', 'B') -> a
GREATEST(1, 2.5) -> 2.5
LEAST(1, 2.5) -> 1.0
LEAST('NaN'::float8, 1) -> 1
GREATEST(DATE '2001-02-03', TIMESTAMP '2001-02-03 01:00:00') -> 2001-02-03 01:00:00
abs(-17.4) -> 17.4
abs(-5) -> 5
abs(-9223372036854775807 - 1) -> error: bigint out of range
abs(NULL::bigint) -> NULL
sign(-8.4) -> -1
sign(0) -> 0
sign('NaN'::float8) -> NaN
ceil(42.2) -> 43
ceil(-42.8) -> -42
ceiling(95.3) -> 96
ceil(-0.5::float8) -> 0
floor(42.8) -> 42
floor(-42.8) -> -43
round(42.4) -> 42
round(2.5) -> 3
round(-2.5) -> -3
round(2.5::float8) -> 2
round(3.5::float8) -> 4
round(-2.5::float8) -> -2
round(7) -> 7
round(42.4382, 2) -> 42.44
round(1234.56, -1) -> 1230
round(1235, -1) -> 1240
round(-1235, -1) -> -1240
round(1.5, 3) -> 1.500
round(2.675::float8, 2) -> 2.68
round(1e300::float8, -299) -> 1e+300
round(15::float8, -1) -> 20
round('-Infinity'::float8, 2) -> -Infinity
trunc(42.8) -> 42
trunc(-42.8) -> -42
trunc(42.4382, 2) -> 42.43
trunc(-1.999::float8, 1) -> -1.9
mod(9, 4) -> 1
mod(-9, 4) -> -1
mod(5.5, 2) -> 1.5
mod(1, 0) -> error: division by zero
div(9, 4) -> 2
div(-9, 4) -> -2
div(7.5, 2) -> 3
div(1, 0) -> error: division by zero
power(9, 3) -> 729
power(9.0, 3.0) -> 729
2 ^ -2 -> 0.25
0 ^ 0 -> 1
power(0, -1) -> error: zero raised to a negative power is undefined
power(-8, 1.0 / 3) -> error: a negative number raised to a non-integer power yields a complex result
power(10, 400) -> error: value out of range: overflow
power(10, -400) -> error: value out of range: underflow
power('Infinity'::float8, 2) -> Infinity
sqrt(2) -> 1.4142135623730951
sqrt(-1) -> error: cannot take square root of a negative number
sqrt('NaN'::float8) -> NaN
cbrt(64) -> 4
exp(1) -> 2.718281828459045
exp(1000) -> error: value out of range: overflow
exp(-1000) -> error: value out of range: underflow
exp('-Infinity'::float8) -> 0
ln(2) -> 0.6931471805599453
ln(0) -> error: cannot take logarithm of zero
ln(-1) -> error: cannot take logarithm of a negative number
log(100) -> 2
log10(1000) -> 3
log(2, 64) -> 6
log(1, 2) -> error: division by zero
pi() -> 3.141592653589793
degrees(0.5) -> 28.64788975654116
radians(45) -> 0.7853981633974483
sin(0) -> 0
cos(0) -> 1
tan(0) -> 0
sin('Infinity'::float8) -> error: input is out of range
asin(2) -> error: input is out of range
acos(1) -> 0
atan(1) -> 0.7853981633974483
atan2(1, 0) -> 1.5707963267948966
91 & 15 -> 11
32 | 3 -> 35
17 # 5 -> 20
~1 -> -2
1 << 4 -> 16
-8 >> 2 -> -2
NULL::bigint & 1 -> NULL
'Post' || 'greSQL' -> PostgreSQL
'Value: ' || 42 -> Value: 42
1.50 || '' -> 1.50
true || '!' -> true!
'a' || NULL -> NULL
1 || 2 -> error: operator does not exist: bigint || bigint
concat('abcde', 2, NULL, 22) -> abcde222
concat(true, NULL) -> t
concat_ws(',', 'abcde', 2, NULL, 22) -> abcde,2,22
concat_ws(NULL, 'a') -> NULL
length('jose') -> 4
char_length('josé') -> 4
octet_length('josé') -> 5
lower('TOM É') -> tom é
upper('tom é') -> TOM É
trim(both 'xyz' from 'yxTomxx') -> Tom
trim('  a b ') -> a b
trim(leading from '  a ') || '|' -> a |
btrim('xyxtrimyyx', 'xyz') -> trim
ltrim('zzzytest', 'xyz') -> test
rtrim('testxxzx', 'xyz') -> test
left('abcde', 2) -> ab
left('abcde', -2) -> abc
left('abcde', -9) || '|' -> |
left('éa', 1) -> é
right('abcde', 2) -> de
right('abcde', -2) -> cde
right('abcde', 99) -> abcde
substring('Thomas' from 2 for 3) -> hom
substring('Thomas' from 3) -> omas
substring('Thomas' for 2) -> Th
substr('alphabet', 3) -> phabet
substr('alphabet', 3, 2) -> ph
substring('abc', -1, 3) -> a
substring('abc', 2, 9223372036854775807) -> bc
substring('abc', 1, -1) -> error: negative substring length not allowed
position('om' in 'Thomas') -> 3
position('' in 'a') -> 1
strpos('high', 'ig') -> 2
strpos('éa', 'a') -> 2
strpos('high', 'x') -> 0
replace('abcdefabcdef', 'cd', 'XX') -> abXXefabXXef
replace('abc', '', 'x') -> abc
reverse('abcdé') -> édcba
repeat('Pg', 4) -> PgPgPgPg
repeat('Pg', -4) || '|' -> |
repeat('Pg', 1000000000) -> error: requested length too large
lpad('hi', 5, 'xy') -> xyxhi
lpad('hi', 4) || '|' ->   hi|
lpad('hello', 2) -> he
rpad('hi', 5, 'xy') -> hixyx
rpad('hi', 5, '') -> hi
split_part('abc~@~def~@~ghi', '~@~', 2) -> def
split_part('abc,def,ghi,jkl', ',', -2) -> ghi
split_part('abc', ',', 2) || '|' -> |
split_part('abc', '', 1) -> abc
split_part('abc', ',', 0) -> error: field position must not be zero
starts_with('alphabet', 'alph') -> true
ascii('x') -> 120
ascii('é') -> 233
ascii('') -> 0
chr(65) -> A
chr(0) -> error: null character not permitted
chr(55296) -> error: requested character not valid for encoding: 55296
chr(9999999) -> error: requested character too large for encoding: 9999999
'ÄB' ILIKE 'ä_' -> true
extract(century from TIMESTAMP '2000-12-16 12:21:13') -> 20
extract(century from TIMESTAMP '2001-02-16 20:38:40') -> 21
extract(century from DATE '0001-12-31 BC') -> -1
extract(day from TIMESTAMP '2001-02-16 20:38:40') -> 16
extract(decade from TIMESTAMP '2001-02-16 20:38:40') -> 200
extract(dow from TIMESTAMP '2001-02-16 20:38:40') -> 5
extract(doy from TIMESTAMP '2001-02-16 20:38:40') -> 47
extract(epoch from TIMESTAMP '2001-02-16 20:38:40.12') -> 982355920.120000
extract(hour from TIMESTAMP '2001-02-16 20:38:40') -> 20
extract(isodow from TIMESTAMP '2001-02-18 20:38:40') -> 7
extract(isoyear from DATE '2006-01-01') -> 2005
extract(isoyear from DATE '2006-01-02') -> 2006
extract(microseconds from TIMESTAMP '2001-02-16 17:12:28.5') -> 28500000
extract(millennium from TIMESTAMP '2001-02-16 20:38:40') -> 3
extract(milliseconds from TIMESTAMP '2001-02-16 17:12:28.5') -> 28500.000
extract(minute from TIMESTAMP '2001-02-16 20:38:40') -> 38
extract(month from TIMESTAMP '2001-02-16 20:38:40') -> 2
extract(quarter from TIMESTAMP '2001-02-16 20:38:40') -> 1
extract(second from TIMESTAMP '2001-02-16 17:12:28.5') -> 28.500000
extract(week from TIMESTAMP '2001-02-16 20:38:40') -> 7
extract(year from TIMESTAMP '2001-02-16 20:38:40') -> 2001
extract(year from DATE '0001-01-01 BC') -> -1
extract(hour from DATE '2001-02-16') -> error: unit "hour" not recognized for type date
extract(fortnight from DATE '2001-02-16') -> error: unit "fortnight" not recognized for type date
extract(day from TIMESTAMP '2001-02-03 04:00:00' - TIMESTAMP '2001-02-01') -> 2
extract(hour from TIMESTAMP '2001-02-03 04:00:00' - TIMESTAMP '2001-02-01') -> 4
extract(year from NULL::date) -> NULL
date_part('day', TIMESTAMP '2001-02-16 20:38:40') -> 16
date_part('second', TIMESTAMP '2001-02-16 20:38:40.25') -> 40.25
date_trunc('hour', TIMESTAMP '2001-02-16 20:38:40') -> 2001-02-16 20:00:00
date_trunc('year', TIMESTAMP '2001-02-16 20:38:40') -> 2001-01-01 00:00:00
date_trunc('quarter', DATE '2001-06-16') -> 2001-04-01 00:00:00
date_trunc('week', TIMESTAMP '2001-02-16 20:38:40') -> 2001-02-12 00:00:00
date_trunc('century', TIMESTAMP '2001-02-16 20:38:40') -> 2001-01-01 00:00:00
date_trunc('second', TIMESTAMP '1969-12-31 23:59:59.5') -> 1969-12-31 23:59:59
date_trunc('eon', TIMESTAMP '2001-02-16 20:38:40') -> error: unit "eon" not recognized for type timestamp without time zone
make_date(2013, 7, 15) -> 2013-07-15
make_date(-44, 3, 15) -> 0044-03-15 BC
make_date(2013, 2, 29) -> error: date field value out of range: 2013-02-29
make_date(0, 1, 1) -> error: date field value out of range: 0-01-01
'thomas' ~ 't.*ma' -> true
'thomas' ~* 'T.*ma' -> true
'thomas' !~ 't.*max' -> true
'thomas' !~* 'T.*ma' -> false
'abcd' ~ 'a.c' -> true
'abcd' ~ '(b|x)' -> true
'abcd' ~ '^(b|c)' -> false
'a b' ~ '\yb$' -> true
'a' ~ '(a)\1' -> error: invalid regular expression: \1 is not supported
NULL ~ 'a' -> NULL
`

// TestFunctionsPrintThemselves binds conditions and what they print as: the same.
func TestFunctionsPrintThemselves(t *testing.T) {
	for _, text := range []string{
		"CASE WHEN x = 1 THEN y WHEN b THEN 2 ELSE x + y END > 3",
		"coalesce(v, 'x') = 'x'",
		"lower(v || x) || 'a' = 'b' AND starts_with(v, 'a') AND substring(v, 1, 2) = btrim(v)",
		"extract(year FROM day) = 2001 AND date_trunc('month', ts) = day AND v ~ 'a' AND v !~* 'b'",
		"greatest(x, y, 3) < least(x, 5)",
		"(x & 3) = 1 AND ((~x) # y) > 0 AND ((x << 2) | 1) = 5",
		"round(d) = 2 AND trunc(d, 1) > 0.5 AND (d ^ 2) < sqrt(d)",
	} {
		q, err := bind(t, "SELECT 1 FROM t WHERE "+text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := bind(t, "SELECT 1 FROM t WHERE "+q.Where.String())
		if err != nil {
			t.Errorf("%s: printed as %s: %v", text, q.Where, err)
		} else if got := again.Where.String(); got != q.Where.String() {
			t.Errorf("%s: printed as %s, read again as %s", text, q.Where, got)
		}
	}
}
