package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/table"
)

// FunctionsSource is one table of values that hardly repeat. It has integers i and k and one of few values j. Doubles x and y are from -1
// to 1, and z to 1,000. d is a DECIMAL and e a whole one. It has timestamps ts and ts2, dates dt, and a text s of three words. In texts it
// has an integer ni, a number nx, and a timestamp nt.
func FunctionsSource() Source {
	const seed = 1
	fields := []table.Field{}
	for _, f := range []struct {
		names string
		table.Type
	}{
		{"i k j", table.Type{Kind: table.BigInt}}, {"x y z", table.Type{Kind: table.Double}},
		{"d e", table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}}, {"ts ts2", table.Type{Kind: table.Timestamp}},
		{"dt", table.Type{Kind: table.Date}}, {"s ni nx nt nd", table.Type{Kind: table.Varchar}},
	} {
		for _, name := range strings.Fields(f.names) {
			fields = append(fields, table.Field{Name: name, Type: f.Type})
		}
	}
	words := strings.Fields("Amber birch Cedar delta Ember frost Grove haven Iris juniper Karst linden Maple north Onyx pine Quartz river Sable thorn Umber violet Willow yarrow Zinnia")
	return Source{Data: report.Data{Name: "functions", Seed: seed}, RowBytes: 8 * 24, Table: func(ctx context.Context, rows int) (*table.Table, error) {
		b, r := table.NewBuilder("f", fields, 0), rand.New(rand.NewPCG(seed, 3))
		for i := range rows {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			c := 0
			next := func() *table.ColumnBuilder { c++; return b.Column(c - 1) }
			ts := table.Value{Type: table.Type{Kind: table.Timestamp}, I: r.Int64N(30*365*table.MicrosPerDay) + 315_532_800_000_000}
			dt := table.Value{Type: table.Type{Kind: table.Date}, I: r.Int64N(1_000_000) - 300_000}
			word := func() string { return words[r.IntN(len(words))] }
			next().Int(r.Int64N(2_000_000_000) - 1_000_000_000)
			next().Int(r.Int64N(2_000_000_000) + 1)
			next().Int(r.Int64N(1000) + 1)
			next().Float(2*r.Float64() - 1)
			next().Float(2*r.Float64() - 1)
			next().Float(1000*r.Float64() + 0.001)
			next().Int(r.Int64N(2_000_000_00) - 1_000_000_00)
			next().Int(r.Int64N(1_000_000_00) + 1)
			next().Int(ts.I)
			next().Int(r.Int64N(30*365*table.MicrosPerDay) + 315_532_800_000_000)
			next().Int(dt.I)
			next().String(word() + " " + word() + " " + strconv.Itoa(r.IntN(100_000_000)))
			next().String(strconv.FormatInt(r.Int64N(2_000_000_000), 10))
			next().String(strconv.FormatFloat(float64(r.Int64N(1_000_000_000))/1000, 'f', -1, 64))
			next().String(ts.String())
			next().String(dt.String())
			if err := b.EndRow(); err != nil {
				return nil, err
			}
		}
		return b.Table(), nil
	}}
}

// scalarFunction is an expression over the table f, how DuckDB says it where that differs, and a constant to compare it with.
type scalarFunction struct {
	name, sql, duck, is string
	few                 bool // it has few values: it is grouped by, too
}

// scalarFunctions are those that both have, by what they compute.
func scalarFunctions() (list []scalarFunction) {
	add := func(few bool, is string, lines ...string) {
		for _, l := range lines {
			part := strings.Split(l, " => ")
			f := scalarFunction{sql: part[0], duck: part[0], few: few, is: is}
			if len(part) > 1 {
				f.duck = part[1]
			}
			f.name = f.sql
			list = append(list, f)
		}
	}
	for _, unit := range strings.Fields("year month day hour minute quarter week dow isodow doy isoyear decade century millennium") {
		add(true, "{} % 4 + 1", fmt.Sprintf("extract(%s FROM ts)", unit))
	}
	add(true, "{} % 4 + 1", "date_part('hour', ts)", "date_part('year', dt)", "extract(month FROM dt)", "extract(dow FROM dt)")
	add(false, "{}", "extract(epoch FROM ts)", "extract(epoch FROM dt)")
	add(false, "{}", "extract(microsecond FROM ts)")
	for _, unit := range strings.Fields("second minute hour day") {
		add(false, "TIMESTAMP '20{}-01-01 00:00:00'", fmt.Sprintf("date_trunc('%s', ts)", unit))
	}
	for _, unit := range strings.Fields("week month quarter year decade") {
		add(true, "TIMESTAMP '20{}-01-01 00:00:00'", fmt.Sprintf("date_trunc('%s', ts)", unit))
	}
	add(true, "TIMESTAMP '20{}-01-01 00:00:00'", "date_trunc('month', dt)")
	add(false, "TIMESTAMP '20{}-01-01 00:00:00'", "date_bin(INTERVAL '15 minutes', ts, TIMESTAMP '2000-01-01') => time_bucket(INTERVAL '15 minutes', ts, TIMESTAMP '2000-01-01')",
		"ts + INTERVAL '1 day 3 hours'", "ts - INTERVAL '2 months'", "dt + INTERVAL '1 month'", "ts + j * INTERVAL '1 minute'", "CAST(dt AS timestamp)",
		"make_timestamp(2000 + j, 1, 2, 3, 4, 5.5) => make_timestamp(2000 + j, 1, 2, 3, 4, 5.5)", "to_timestamp(k) => make_timestamp(k * 1000000)", "CAST(nt AS timestamp)")
	add(false, "DATE '20{}-01-01'", "CAST(ts AS date)", "dt + 7 => dt + 7::INTEGER", "dt - 7 => dt - 7::INTEGER", "make_date(2000 + j, 1, 2)", "CAST(nd AS date)")
	add(false, "INTERVAL '{} days'", "age(ts, ts2)", "ts - ts2")
	add(false, "{}", "CAST(ts AS date) - dt")
	add(false, "'20{}-01-01'", "to_char(ts, 'YYYY-MM-DD') => strftime(ts, '%Y-%m-%d')", "to_char(ts, 'YYYY-MM-DD HH24:MI:SS') => strftime(ts, '%Y-%m-%d %H:%M:%S')",
		"to_char(ts, 'Mon DD, YYYY') => strftime(ts, '%b %d, %Y')", "CAST(ts AS text) => CAST(ts AS varchar)", "CAST(dt AS text) => CAST(dt AS varchar)")
	add(true, "'20{}-01'", "to_char(ts, 'YYYY-MM') => strftime(ts, '%Y-%m')", "to_char(ts, 'FMDay') => dayname(ts)", "to_char(ts, 'FMMonth') => monthname(ts)")
	add(false, "TIMESTAMP '20{}-01-01 00:00:00'", "to_timestamp(nt, 'YYYY-MM-DD HH24:MI:SS.US') => strptime(nt, '%Y-%m-%d %H:%M:%S.%f')")
	add(false, "DATE '20{}-01-01'", "to_date(nd, 'YYYY-MM-DD') => CAST(strptime(nd, '%Y-%m-%d') AS date)")

	add(false, "{}", "i + k", "i - k", "i * j", "i / j", "i % j", "-i", "abs(i)", "gcd(i, k)", "lcm(k, j)", "i & k", "i | k", "i # k => xor(i, k)", "~i", "k >> 3", "k << 3", "greatest(i, k)", "least(i, k)",
		"mod(i, j) => i % j", "sign(i) => sign(i)")
	add(false, "0.{}", "x + y", "x * y", "x - y", "x / z", "-x", "abs(x)", "ceil(z)", "floor(z)", "round(z)", "trunc(z)", "round(z, 2) => round(z, 2)", "sign(x)",
		"sqrt(z)", "cbrt(z)", "exp(x)", "ln(z)", "log10(z)", "log(2, z) => log2(z)", "power(z, x)", "sin(x)", "cos(x)", "tan(x)", "asin(x)", "acos(x)", "atan(x)", "atan2(x, y)", "cot(x)", "sinh(x)", "cosh(x)", "tanh(x)", "asinh(x)", "acosh(z + 1)", "atanh(x)",
		"degrees(x)", "radians(x)", "greatest(x, y)", "least(x, y)", "nullif(x, y)", "coalesce(x, y)", "CASE WHEN x > 0 THEN x ELSE y END", "CAST(i AS double precision)", "CAST(nx AS double precision)", "CAST(d AS double precision)")
	add(false, "{}.5", "d + e", "d - e", "d * 2", "d / e => CAST(d AS double) / CAST(e AS double)", "d % e", "-d", "abs(d)", "round(d)", "round(d, 1)", "ceil(d)", "floor(d)", "trunc(d)", "greatest(d, e)", "CAST(i AS numeric(18, 2))", "CAST(nx AS numeric(18, 3))")
	add(false, "{}", "sign(d)")
	add(false, "{}", "CAST(x AS bigint)", "CAST(z AS integer)", "CAST(d AS bigint)", "CAST(ni AS bigint)", "CAST(ni AS integer)", "CAST(nx AS real)", "CAST(i AS integer)",
		"CASE WHEN j < 100 THEN 1 WHEN j < 500 THEN k ELSE i END", "CASE j WHEN 1 THEN 10 WHEN 2 THEN 20 ELSE 30 END", "CASE WHEN s LIKE 'A%' THEN 1 ELSE 0 END", "coalesce(nullif(i, k), 0)")
	add(false, "'{}'", "CAST(i AS text) => CAST(i AS varchar)", "CAST(x AS text) => CAST(x AS varchar)", "CAST(d AS text) => CAST(d AS varchar)", "to_hex(k) => lower(to_hex(k))", "chr(j) => chr(j::INTEGER)", "s || ni", "s || '!'", "concat(s, ni)", "concat_ws('-', s, ni)", "lower(s)", "upper(s)", "left(s, 3)", "right(s, 3)", "substring(s, 2, 5)", "substring(s FROM 3)",
		"trim(s)", "ltrim(s, 'ABC')", "rtrim(s, '0123456789')", "lpad(s, 30, '*')", "rpad(s, 30, '*')", "repeat(s, 2)", "replace(s, 'e', 'EE')", "reverse(s)", "translate(s, 'aeiou', 'AEIOU')", "split_part(s, ' ', 2)", "md5(s)",
		"regexp_replace(s, '[0-9]+', '#')", "regexp_replace(s, '[aeiou]', '', 'g')", "regexp_substr(s, '[0-9]+') => regexp_extract(s, '[0-9]+')", "substring(s FROM '[a-z]+') => regexp_extract(s, '[a-z]+')", "CASE WHEN j < 500 THEN s ELSE ni END", "overlay(s PLACING '##' FROM 2 FOR 3) => left(s, 1) || '##' || substring(s, 5)", "greatest(s, ni)", "coalesce(s, ni)", "nullif(s, ni)")
	add(false, "{}", "length(s)", "octet_length(s) => strlen(s)", "bit_length(s)", "ascii(s)", "strpos(s, 'e')", "position('north' IN s)", "regexp_count(s, '[aeiou]') => len(regexp_extract_all(s, '[aeiou]'))", "length(lower(s))")
	return list
}

// conditions are those over the table f that both have; {} is a number of two digits.
var conditions = []string{
	"s LIKE 'Amber%{}'", "s LIKE '%river%{}%'", "s LIKE '%{}'", "s LIKE 'A_ber%{}%n%'", "s ILIKE '%RIVER%{}%'", "s NOT LIKE '%e%{}%'", "starts_with(s, 'Amber river {}')", "s ~ '^A.*{}$' => regexp_matches(s, '^A.*{}$')", "s ~ 'r[iv]+er {}' => regexp_matches(s, 'r[iv]+er {}')", "s ~* 'RIVER {}' => regexp_matches(s, 'RIVER {}', 'i')",
	"s SIMILAR TO 'A%({}|8)' => regexp_full_match(s, 'A.*({}|8)')",
	"i < k + {}", "x < y + 0.{}", "d < e + {}", "ts < ts2 + INTERVAL '{} days'", "s < ni || '{}'", "s = ni || '{}'", "i = {}", "x > 0.{}", "d BETWEEN 1 AND {}", "ts > TIMESTAMP '20{}-01-01'", "s > 'M{}'", "dt = CAST(ts AS date) + {} => dt = CAST(ts AS date) + {}::INTEGER", "i IN (1, 2, 3, {})", "s IN ('a', 'b', '{}')", "i + k > {}", "x * y > 0.{}", "nullif(i, {}) IS NULL",
	"i % {} = 0", "length(s) > {}", "lower(s) LIKE '%river%{}'", "extract(minute FROM ts) BETWEEN 9 AND {}", "ts + INTERVAL '{} month' > ts2", "extract(year FROM ts) = extract(year FROM ts2) + {}",
	"i IS DISTINCT FROM k + {}", "i = {} OR k = {} OR j = {}", "CASE WHEN x > 0.{} THEN y > 0 ELSE i > 0 END",
}

// FunctionOperations ask for the largest value of each function, and count the rows where it is a constant. They group by it where it has
// few values.
func FunctionOperations() (list []Operation) {
	add := func(name, ours, duck, text string) {
		said := func(text string) string { return strings.Replace(text, ours, duck, 1) }
		if strings.Contains(ours, "{}") {
			from, to := strings.Split(ours, "{}"), strings.Split(duck, "{}")
			said = func(text string) string { // with the number that was drawn
				at := strings.Index(text, from[0]) + len(from[0])
				return strings.Replace(text, strings.Join(from, text[at:at+2]), strings.Join(to, text[at:at+2]), 1)
			}
		}
		with := func(n int) string { return strings.ReplaceAll(text, "{}", strconv.Itoa(n)) }
		op := Operation{Name: name, Query: func(*TableProfile) meter.Query {
			return meter.Query{SQL: with(10), Peers: map[string]string{"duckdb": said(with(10))}, Said: map[string]func(string) string{"duckdb": said}}
		}}
		if strings.Contains(text, "{}") {
			op.Draws = func(_ *TableProfile, n int) []string {
				return draws(name, with(10), n, func(r *rand.Rand) string { return with(10 + r.IntN(90)) })
			}
		}
		list = append(list, op)
	}
	for _, f := range scalarFunctions() {
		add("max "+f.name, f.sql, f.duck, "SELECT MAX("+f.sql+") FROM f")
		add("where "+f.name, f.sql, f.duck, "SELECT COUNT(*) FROM f WHERE "+f.sql+" = "+f.is)
		if f.few {
			add("group "+f.name, f.sql, f.duck, "SELECT "+f.sql+" AS g, COUNT(*) FROM f GROUP BY g ORDER BY g LIMIT 10")
		}
	}
	for _, c := range conditions {
		part := strings.Split(c+" => "+c, " => ")
		add("where "+part[0], part[0], part[1], "SELECT COUNT(*) FROM f WHERE "+part[0])
	}
	return list
}
