package engine

import (
	"context"
	"strings"
	"testing"
)

// A number of a narrow type is compared with one that its type does not hold, as it is written, by a key and in a join:
// that is no error. Where it is to be a value of the narrow type, it is one.
func TestNarrowIntegersBesideWideOnes(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t (k smallint PRIMARY KEY, s smallint, i int, j bigint)")
		do(t, db, "INSERT INTO t VALUES (1, 32767, 65534, 65534), (2, -32768, 2147483647, 4294967296), (3, 0, -2147483648, -9223372036854775808), (4, NULL, NULL, NULL), (5, 7, 7, 7)")
		do(t, db, "CREATE TABLE u AS SELECT * FROM (VALUES (1, 4294967303), (65537, 7), (7, 7), (32767, 1)) v(a, b)")
		for _, c := range [][2]string{
			{"s = 7", "1"},
			{"s = 65534", "0"}, // the statement before, with another constant
			{"s = 65543", "0"}, // 7 in 16 bits
			{"s = 4294967303", "0"},
			{"s <> 65534", "4"},
			{"s < 65534", "4"},
			{"s < -65534", "0"},
			{"s >= 46148", "0"},
			{"46148 > s", "4"},
			{"s > -3000000000", "4"},
			{"i = 4294967303", "0"},
			{"i <= 2147483648", "4"},
			{"i >= -2147483649", "4"},
			{"j = 9223372036854775808", "0"},
			{"s IN (65543, 7, 4294967303)", "1"},
			{"s NOT IN (65543, 7, 4294967303)", "3"},
			{"s BETWEEN -65536 AND 65536", "4"},
			{"s NOT BETWEEN -65536 AND 65536", "0"},
			{"(s = 65534) IS UNKNOWN", "1"},
			{"s IS DISTINCT FROM 65534", "5"},
			{"k = 65537", "0"},
			{"k = 4294967297", "0"},
			{"k IN (65537, 1)", "1"},
			{"s + 1 > 32767", "1"},
			{"s * 2 = 65534", "1"},
			{"s < i", "2"},
			{"i < j", "1"},
			{"-(j / 2) > -115810103", "3"},
			{"s IN (SELECT a FROM u)", "2"},
			{"s IN (SELECT b FROM u)", "1"},
			{"k IN (SELECT a FROM u)", "1"},
			{"EXISTS (SELECT FROM u WHERE b = s)", "1"},
			{"s = CAST(65534 AS smallint)", "smallint out of range (line 1, column 34)"},
			{"i = CAST(4294967303 AS int)", "integer out of range (line 1, column 34)"},
			{"s + CAST(1 AS smallint) > 0", "smallint out of range (line 1, column 32)"},
			{"-s > 0", "smallint out of range (line 1, column 30)"},
		} {
			if got := said(Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM t WHERE "+c[0]))); got != c[1] && got != "!"+c[1] {
				t.Errorf("%s: %s, not %s", c[0], got, c[1])
			}
		}
		if got := said(Collect(db.Query(context.Background(), "SELECT t.k, u.a FROM t JOIN u ON t.s = u.b ORDER BY 1, 2"))); got != "5|7;5|65537" {
			t.Errorf("joined: %s", got)
		}
	})
}

// EXPLAIN writes the integers that passes and look-ups compare columns with as digits, whatever the columns' types.
func TestExplainedIntegersAreDigits(t *testing.T) {
	everyBackend(t, func(t *testing.T, db *DB) {
		do(t, db, "CREATE TABLE t (k bigint PRIMARY KEY, s smallint)")
		do(t, db, "INSERT INTO t VALUES (1, 3), (2, 5), (3, 9)")
		for _, text := range []string{"SELECT s FROM t WHERE k = 2", "SELECT COUNT(*) FROM t WHERE s < 5 AND k < 3", "SELECT MEDIAN(k) FROM t WHERE s > 3"} {
			if got := said(Collect(db.Query(context.Background(), "EXPLAIN "+text))); strings.HasPrefix(got, "!") || strings.Contains(got, "CAST(") {
				t.Errorf("%s: %s", text, got)
			}
		}
	})
}
