package engine

import (
	"fmt"
	"strings"
	"testing"
)

// Long expressions take no more than some steps for each pair of their parts: what took more did not end.
func TestLongExpressions(t *testing.T) {
	var sums, want []string
	for i := range 700 {
		sums, want = append(sums, fmt.Sprintf("SUM(units + %d)", i)), append(want, fmt.Sprint(30+8*i))
	}
	for _, backend := range []string{"cpu", "compute", "classic", "fused"} {
		db := openSales(t, backend)
		for _, c := range [][2]string{
			{"SELECT COUNT(*) FROM sales WHERE " + strings.Repeat("units + ", 1000) + "units > 2002", "5"},
			{"SELECT SUM(" + strings.Repeat("units + ", 1000) + "units) FROM sales", "30030"},
			{"SELECT " + strings.Join(sums, ", ") + " FROM sales", strings.Join(want, " ")},
			{"SELECT MAX(" + strings.Repeat("abs(", 200) + "units" + strings.Repeat(")", 200) + ") FROM sales", "9"},
		} {
			if got := answerText(db, c[0]); got != c[1] {
				t.Errorf("%s: %.60s...\n got %.200s\nwant %.200s", backend, c[0], got, c[1])
			}
		}
	}
}

// A CHECK or DEFAULT that could not be read again is refused when its table is made.
func TestLongConstraints(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	const refused = "error: an expression of CHECK or DEFAULT is nested too deeply; at most some 490 operators may follow one another in it (line 1, column 1)"
	for _, c := range [][2]string{
		{"CREATE TABLE a (x int CHECK (" + strings.Repeat("x + ", 400) + "x > 400))", ""},
		{"INSERT INTO a VALUES (1)", ""},
		{"INSERT INTO a VALUES (0)", `error: new row for relation "a" violates check constraint "a_x_check`},
		{"CREATE TABLE b (x int CHECK (" + strings.Repeat("x + ", 600) + "x > 400))", refused},
		{"CREATE TABLE b (x int DEFAULT " + strings.Repeat("1 + ", 600) + "1)", refused},
	} {
		if got := answerText(db, c[0]); !strings.HasPrefix(got, c[1]) || c[1] == "" && got != "" {
			t.Errorf("%.60s...: %s", c[0], got)
		}
	}
}

// A series of integers that is too long, or takes more memory than there is, is refused before it is made.
func TestLongSeries(t *testing.T) {
	db := open(t, Options{Backend: "cpu", HostMemory: 1 << 20})
	for _, c := range [][2]string{
		{"SELECT COUNT(*) FROM generate_series(1, 9223372036854775807)", "error: generate_series gives more than 2,147,483,648 rows"},
		{"SELECT COUNT(*) FROM generate_series(9223372036854775807, -9223372036854775808, -3)", "error: generate_series gives more than 2,147,483,648 rows"},
		{"SELECT COUNT(*) FROM generate_series(1, 2000000000)", "error: the rows of a subquery take more than "},
		{"CREATE TABLE c AS SELECT x || ' is long enough' AS s FROM generate_series(1, 100000) AS g (x)", "error: the rows of table c take more than "},
		{"SELECT COUNT(*), MAX(generate_series) FROM generate_series(-9223372036854775808, 9223372036854775807, 9223372036854775807)", "3 9223372036854775806"},
		{"SELECT COUNT(*) FROM generate_series(5, 1)", "0"},
		{"SELECT COUNT(*), SUM(x), MIN(x) FROM generate_series(1000000, -1, -1) AS g (x)", "1000002 500000499999 -1"}, // 8 MB, spilled
		{"SELECT COUNT(*), MAX(x) FROM generate_series(TIMESTAMP '2020-01-01', '2021-01-01', '1 minute') AS g (x)", "527041 2021-01-01 00:00:00"},
	} {
		if got := answerText(db, c[0]); !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}
