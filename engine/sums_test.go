package engine

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// Sums of expressions are the same whichever backend adds them up: compute itself, cpu above the
// rows of the others and where a record of some chunk might leave 64 bits.
func TestSumsOfExpressions(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute", "cpu", "auto"} {
		db := openSales(t, backend)
		for _, c := range []struct{ in, want string }{
			{"SELECT SUM(units * price), COUNT(*) FROM sales", "424.04 9"},
			{"SELECT SUM(price * (1 - share)), SUM(units), COUNT(share - 1) FROM sales", "116.8325 30 8"},
			{"SELECT SUM(price * (1 - share)) AS net FROM sales WHERE region = 'north' AND units > 2 HAVING SUM(units * units) > 98", "21.9000"},
			{"SELECT AVG(units * 2 - price), AVG(-units) FROM sales WHERE units < 4", "-41.9 -2"},
			{"SELECT SUM(units * share * price) FROM sales WHERE units = 9", "42.3000"},
			{"SELECT SUM(units::numeric(3, 1) * price), SUM(units + price) FROM sales WHERE region = 'south'", "200.000 202.00"},
			{"SELECT SUM(units * price), AVG(units * price), COUNT(units * price) FROM sales WHERE units > 100", "NULL NULL 0"},
			{"SELECT SUM(units * 4611686018427387904) FROM sales WHERE paid", "error: bigint out of range (line 1, column 18)"},
			{"SELECT SUM(units * 4611686018427387904) FROM sales WHERE units = 1", "9223372036854775808"},
		} {
			if got := answerText(db, c.in); got != c.want {
				t.Errorf("%s: %s gives %s, want %s", backend, c.in, got, c.want)
			}
		}
	}
}

// An operand is computed where the other one is NULL in every record of the chunk.
func TestSumsBesideNulls(t *testing.T) {
	for _, backend := range []string{"classic", "compute", "cpu"} {
		db := open(t, Options{Backend: backend, ChunkRows: 2})
		text := []byte("a,b\n9223372036854775807,\n1,\n2,3\n4,5\n")
		if err := db.Load(context.Background(), "t", ingest.Source{Path: "t.csv", Data: text}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ in, want string }{
			{"SELECT SUM((a + 1) * b) FROM t", "error: bigint out of range (line 1, column 15)"},
			{"SELECT SUM((a - 1) * b) FROM t", "18"},
		} {
			if got := answerText(db, c.in); got != c.want {
				t.Errorf("%s: %s gives %s, want %s", backend, c.in, got, c.want)
			}
		}
	}
}

// Sums have PostgreSQL's types: of SMALLINT and INTEGER they are BIGINT, of BIGINT NUMERIC, and of REAL and DOUBLE their own; an
// operation on them is that of the type.
func TestTypesOfSums(t *testing.T) {
	for _, backend := range []string{"classic", "fused", "compute", "cpu", "auto"} {
		db := open(t, Options{Backend: backend})
		do(t, db, "CREATE TABLE q (s smallint, i integer, b bigint, r real, d double precision, n numeric(5,2))")
		do(t, db, "INSERT INTO q SELECT x, x, x, x, x, x FROM generate_series(1, 10) AS g(x)")
		do(t, db, "INSERT INTO q (i) VALUES (2147483647)")
		for _, c := range []struct{ in, want string }{
			{"SELECT pg_typeof(SUM(s)), pg_typeof(SUM(i)), pg_typeof(SUM(b)), pg_typeof(SUM(n)) FROM q", "bigint bigint numeric numeric"},
			{"SELECT pg_typeof(SUM(r)), pg_typeof(SUM(d)), pg_typeof(SUM(i::smallint)), pg_typeof(SUM(DISTINCT s)) FROM (SELECT * FROM q LIMIT 3) AS f", "real double precision bigint bigint"},
			{"SELECT SUM(s), SUM(i), SUM(b), SUM(s) / 2, SUM(i) / 2 FROM q", "55 2147483702 55 27 1073741851"},
			{"SELECT SUM(i) FROM q WHERE i < 0", "NULL"},
			{"SELECT SUM(s) * 1000000000000000000 FROM q", "error: bigint out of range (line 1, column 15)"},
			{"SELECT s % 2, SUM(i), pg_typeof(SUM(i)) FROM q GROUP BY s, i HAVING SUM(i) > 9 ORDER BY SUM(i) DESC LIMIT 2", "NULL 2147483647 bigint; 0 10 bigint"},
			{"SELECT SUM(i) OVER (ORDER BY s ROWS 1 PRECEDING), pg_typeof(SUM(i) OVER ()) FROM q ORDER BY s DESC LIMIT 2", "2147483657 bigint; 19 bigint"},
			{"SELECT SUM(x), pg_typeof(SUM(x)) FROM (SELECT SUM(i) AS x FROM q GROUP BY s) AS f", "2147483702 numeric"},
			{"SELECT SUM(i) FROM q UNION ALL SELECT SUM(b) FROM q ORDER BY 1", "55; 2147483702"},
		} {
			if got := answerText(db, c.in); got != c.want {
				t.Errorf("%s: %s gives %s, want %s", backend, c.in, got, c.want)
			}
		}
	}
}

// EXPLAIN says who adds expressions up.
func TestExplainSumsOfExpressions(t *testing.T) {
	for _, c := range []struct{ backend, in, want string }{
		{"compute", "SELECT SUM(units * (1 - units)) FROM sales", "Accumulate(units, units * units)"},
		{"compute", "SELECT SUM(units * (1 - units)) FROM sales WHERE price > 7", "Aggregate(SUM(units * (1 - units)))\n"},
		{"compute", "SELECT SUM(units * units * units) FROM sales", "Accumulate(units, units * units, units * units * units)"},
		{"compute", "SELECT SUM(units * units * units * units) FROM sales", "Aggregate(SUM(((units * units) * units) * units)) on cpu"},
		{"compute", "SELECT SUM(units / 2) FROM sales", "Aggregate(SUM(units / 2)) on cpu"},
		{"compute", "SELECT SUM(units * NULL) FROM sales", "Aggregate(SUM(NULL)) on cpu"},
		{"compute", "SELECT SUM(1 + 1) FROM sales", "Aggregate(SUM(2)) on cpu"},
		{"compute", "SELECT SUM(DISTINCT units * 2) FROM sales", "Aggregate(SUM(DISTINCT units * 2)) on cpu"},
		{"compute", "SELECT MAX(units * 2) FROM sales", "Aggregate(MAX(units * 2)) on cpu"},
		{"compute", "SELECT SUM(units * 2) FILTER (WHERE paid) FROM sales", "Aggregate(SUM(units * 2) FILTER (WHERE paid)) on compute"},
		{"fused", "SELECT SUM(units * 2) FILTER (WHERE paid) FROM sales", "Aggregate(SUM(units * 2) FILTER (WHERE paid)) on cpu"},
		{"compute", "SELECT SUM(units * 2) FROM sales GROUP BY region", "Aggregate(SUM(units * 2) GROUP BY region) on compute"},
		{"compute", "SELECT SUM(units / 2) FROM sales GROUP BY region", "Aggregate(SUM(units / 2) GROUP BY region) on cpu"},
		{"fused", "SELECT SUM(units * 2) FROM sales GROUP BY region", "Aggregate(SUM(units * 2) GROUP BY region) on cpu"},
		{"classic", "SELECT SUM(units * units) FROM sales", "Aggregate(SUM(units * units)) on cpu"},
		{"cpu", "SELECT SUM(units * units) FROM sales", "Rows(units)"},
	} {
		for _, analyze := range []bool{false, true} {
			x, err := openSales(t, c.backend).Explain(context.Background(), c.in, ExplainOptions{Analyze: analyze})
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(x.Lines(), "\n"); !strings.Contains(text, c.want) {
				t.Errorf("%s: %s: no %q in\n%s", c.backend, c.in, c.want, text)
			}
		}
	}
}

// A statement that has been prepared takes the rows once a snapshot has values whose products
// may leave 64 bits, and adds up again when they have gone.
func TestSumsFollowTheSnapshot(t *testing.T) {
	db, tab := open(t, Options{Backend: "compute"}), small(t)
	if err := db.Add(tab); err != nil {
		t.Fatal(err)
	}
	s, err := db.Prepare(context.Background(), "SELECT SUM(i * i), COUNT(*) FROM small")
	if err != nil {
		t.Fatal(err)
	}
	large, err := tab.Chunks[1].Assign(0, []int{0}, table.SegmentOf(tab.Fields[0].Type, table.Int(math.MaxInt64)), 0)
	if err != nil {
		t.Fatal(err)
	}
	first := inWords(Collect(s.Query(context.Background())))
	for _, c := range []struct {
		tab  *table.Table
		want string
	}{{changed(t, tab), "[[1604 3]]"}, {tab.With(tab.Chunks[0], large), "bigint out of range (line 1, column 14)"}, {tab, first}} {
		if err := db.replace(c.tab); err != nil {
			t.Fatal(err)
		}
		if got := inWords(Collect(s.Query(context.Background()))); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Two sums of a column whose passes are the same program are two sums.
func TestSumsOfOneColumn(t *testing.T) {
	const text = "SELECT SUM(2 * n), SUM(n), SUM(b), SUM(b + 1) FROM fact WHERE m > 2"
	want := answerText(openStar(t, Options{Backend: "cpu"}), text)
	if got := answerText(openStar(t, Options{Backend: "compute"}), text); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
