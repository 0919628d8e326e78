package engine

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
)

// likeQueries are queries of which # is a number, ? a text, and $ a number with a point. What they mean, give and refuse depends on these:
// on their signs, scales and lengths, and on what is folded, counted or read of them.
var likeQueries = []string{
	"SELECT a + #, m * $, $ AS x, # AS y, ? AS z FROM t WHERE a < # AND m >= $ AND s <> ? ORDER BY k LIMIT #", "SELECT s, count(*), sum(a + #), avg(m - $) FROM t WHERE k BETWEEN # AND # GROUP BY s ORDER BY #, s",
	"SELECT a, s FROM t WHERE s LIKE ? AND s IN (?, ?) OR a IN (#, #, -#) ORDER BY # DESC, k OFFSET #", "SELECT a / #, a % #, 10 / (a - #) FROM t ORDER BY k", "SELECT k FROM t WHERE d >= ? AND d < date ? + interval ? day ORDER BY k",
	"SELECT date ? - date ?, ?::date + #, date ? + interval ? month, extract(? FROM d) FROM t ORDER BY k LIMIT 3", "SELECT cast(m AS decimal(#, #)), $::decimal(#, #), s::varchar(#), ?::char(#) FROM t ORDER BY k",
	"SELECT k FROM t WHERE EXISTS (SELECT # FROM t AS o WHERE o.a = t.a AND o.k > # AND o.s = ?) AND k IN (SELECT a FROM t WHERE m < $) ORDER BY k", "SELECT count(*) FILTER (WHERE a > #), percentile_cont($) WITHIN GROUP (ORDER BY a), kth_largest(a, #) FROM t",
	"SELECT k, sum(a) OVER (ORDER BY k ROWS BETWEEN # PRECEDING AND # FOLLOWING), ntile(#) OVER (ORDER BY k) FROM t ORDER BY k", "SELECT CASE WHEN a > # THEN ? ELSE s END, coalesce(s, ?), round(m, #), left(s, #), -#, - -#, -$ FROM t ORDER BY k",
	"SELECT # UNION SELECT $ UNION ALL SELECT # ORDER BY #", "WITH w AS (SELECT a * # AS n FROM t) SELECT n, (SELECT max(n) FROM w WHERE n < #) FROM w WHERE n > # ORDER BY n LIMIT # OFFSET #", "SELECT * FROM (VALUES (#, ?), (#, ?)) v (n, s) WHERE n > # AND s < ?",
	"SELECT x.k, y.k FROM t x JOIN t y ON x.a = y.k + # WHERE x.s > ? AND (y.m < $ OR y.b = (? = ?)) ORDER BY 1, 2", "SELECT a FROM t GROUP BY a, # HAVING count(*) > # ORDER BY a + #", "SELECT ? || s, s || #, #::text || ? FROM t WHERE TRUE AND # = # ORDER BY k",
	"SELECT k FROM t WHERE a = ? OR m = ? OR d = ? OR b = ? ORDER BY k", "SELECT k FROM t WHERE f > # AND f < $ AND f <> ? ORDER BY k", "SELECT missing + # FROM t WHERE s = ? AND a = #",
	"SELECT DISTINCT ON (a % #) a % # FROM t ORDER BY a % #, k", "SELECT to_char(d, ?), date_trunc(?, d), split_part(s, ?, #), substring(s FROM # FOR #) FROM t ORDER BY k", "SELECT a FROM t ORDER BY k FETCH FIRST # ROWS ONLY",
}

// A query that is like one before but for its constants is no different from one in a fresh database. It gives, names, types and
// refuses the same.
func TestQueriesLikeOthers(t *testing.T) {
	numbers := []string{"0", "1", "2", "3", "7", "40", "100000", "999999999", "3000000000"}
	texts := []string{"''", "'a'", "'name 3'", "'name%'", "'_ame 4'", "'it''s'", "'2020-01-02'", "'2020-02-30'", "'1999-12-31'", "'3'", "'1.5'", "'true'", "'year'", "'YYYY'", "'é'"}
	points := []string{"0.5", "1.5", "1.50", "0.25", "12345.678", "99999999.5", ".5", "5."}
	rng := rand.New(rand.NewPCG(11, 12))
	made := func() *DB {
		db, err := Open(Options{Backend: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		do(t, db, "CREATE TABLE t (k BIGINT, a INTEGER, s VARCHAR, m DECIMAL(8,2), f DOUBLE PRECISION, d DATE, b BOOLEAN)")
		do(t, db, "INSERT INTO t SELECT g, g % 4, 'name ' || g % 5, g * 1.25, g / 4.0, DATE '2020-01-01' + g::integer, g % 2 = 0 FROM generate_series(1, 9) AS q (g)")
		do(t, db, "INSERT INTO t (k) VALUES (10)")
		return db
	}
	old := made()
	defer old.Close()
	given, refused := 0, 0
	for range 5 {
		for _, of := range likeQueries {
			var text strings.Builder
			for _, c := range of {
				switch c {
				case '#':
					text.WriteString(numbers[rng.IntN(len(numbers))])
				case '?':
					text.WriteString(texts[rng.IntN(len(texts))])
				case '$':
					text.WriteString(points[rng.IntN(len(points))])
				default:
					text.WriteRune(c)
				}
			}
			fresh := made()
			want, err := Collect(fresh.Query(context.Background(), text.String()))
			if err := fresh.Close(); err != nil {
				t.Fatal(err)
			}
			got, failed := Collect(old.Query(context.Background(), text.String()))
			if said2(want, err) != said2(got, failed) {
				t.Fatalf("%s:\n%s\nand in a new database:\n%s", text.String(), said2(got, failed), said2(want, err))
			}
			if err == nil {
				given++
			} else {
				refused++
			}
		}
	}
	if given < 30 || refused < 20 {
		t.Errorf("%d queries gave rows, %d were refused", given, refused)
	}
}
