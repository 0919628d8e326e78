package engine

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

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

// A prepared statement takes the rows once a snapshot has values whose products may leave 64 bits. It
// adds up again when they have gone.
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
