package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// Groups of which HAVING or ORDER BY with LIMIT wants few are picked by compute. They are of a table and of a star of joins. The
// answers are cpu's, and EXPLAIN ANALYZE says how many groups there were.
func TestWantedGroups(t *testing.T) {
	open := func(backend string) *DB {
		db := open(t, Options{Backend: backend})
		r := rand.New(rand.NewPCG(5, 6))
		whole, money := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Decimal, Precision: 15, Scale: 2}
		add := func(name string, rows int, fields []table.Field, row func(b *table.Builder, i int)) {
			b := table.NewBuilder(name, fields, 0)
			for i := range rows {
				row(b, i)
				if err := b.EndRow(); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Add(b.Table()); err != nil {
				t.Fatal(err)
			}
		}
		add("lines", 6000, []table.Field{{Name: "o", Type: whole}, {Name: "price", Type: money}, {Name: "n", Type: whole}}, func(b *table.Builder, i int) {
			b.Column(0).Int(int64(r.IntN(2500)))
			b.Column(1).Value(table.Value{Type: money, I: int64(r.IntN(100_000) - 50_000)})
			if i%5 == 0 {
				b.Column(2).Null()
			} else {
				b.Column(2).Int(int64(r.IntN(20)))
			}
		})
		add("orders", 2000, []table.Field{{Name: "k", Type: whole}, {Name: "day", Type: whole}}, func(b *table.Builder, i int) {
			b.Column(0).Int(int64(i))
			b.Column(1).Int(int64(r.IntN(90)))
		})
		add("kinds", 19, []table.Field{{Name: "kind", Type: whole}, {Name: "title", Type: whole}}, func(b *table.Builder, i int) {
			b.Column(0).Int(int64(i))
			b.Column(1).Int(int64(i % 13))
		})
		return db
	}
	onCPU, onCompute := open("cpu"), open("compute")
	for text, picks := range map[string]bool{
		"SELECT o, SUM(n) FROM lines GROUP BY o HAVING SUM(n) > 55 ORDER BY o":                                                                                    true,
		"SELECT o, SUM(price) FROM lines GROUP BY o HAVING SUM(price) > 1000.005 ORDER BY o":                                                                      true,
		"SELECT o, SUM(price * (1 - n)), COUNT(*) FROM lines GROUP BY o ORDER BY 2 DESC, o LIMIT 10":                                                              true,
		"SELECT o, SUM(n), COUNT(n) FROM lines GROUP BY o ORDER BY 2, o LIMIT 30":                                                                                 true,
		"SELECT o, SUM(n), COUNT(n) FROM lines GROUP BY o ORDER BY 2 NULLS FIRST, o LIMIT 30":                                                                     true,
		"SELECT o, COUNT(n) FROM lines GROUP BY o ORDER BY COUNT(n), o LIMIT 5 OFFSET 3":                                                                          true,
		"SELECT o, COUNT(*) FROM lines WHERE n > 3 GROUP BY o HAVING COUNT(*) = 1 AND SUM(price) < 0 ORDER BY o":                                                  true,
		"SELECT o, day, SUM(price * (1 - n)) FROM lines, orders WHERE o = k AND day < 50 GROUP BY o, day ORDER BY 3 DESC, day, o LIMIT 10":                        true,
		"SELECT o, COUNT(*), SUM(price * n) FROM lines, orders WHERE o = k AND day > 20 GROUP BY o HAVING SUM(price * n) > (SELECT MAX(n) FROM lines) ORDER BY o": true,
		"SELECT o, SUM(n), MAX(price) FROM lines GROUP BY o ORDER BY o LIMIT 10":                                                                                  true,
		"SELECT o, MIN(n) FROM lines WHERE n > 17 GROUP BY o ORDER BY o DESC LIMIT 5 OFFSET 2":                                                                    true,
		"SELECT n, o, COUNT(*) FROM lines GROUP BY n, o ORDER BY n DESC, o LIMIT 9":                                                                               true, // NULL is the first
		"SELECT o, n, COUNT(*) FROM lines GROUP BY o, n ORDER BY n, o DESC LIMIT 700":                                                                             true,
		"SELECT n, o, COUNT(*) FROM lines GROUP BY n, o ORDER BY n NULLS FIRST, o LIMIT 9":                                                                        false,
		"SELECT o, day, SUM(n) FROM lines, orders WHERE o = k GROUP BY o, day ORDER BY o, 2 LIMIT 3":                                                              false,
		"SELECT o, MAX(n) FROM lines GROUP BY o HAVING MAX(n) > 18 ORDER BY o":                                                                                    false,
		"SELECT o, AVG(n) FROM lines GROUP BY o ORDER BY 2 DESC, o LIMIT 4":                                                                                       false,
		"SELECT o % 7, n > 3, COUNT(*) FROM lines GROUP BY 1, 2 HAVING COUNT(*) > 2 ORDER BY 1, 2":                                                                false,
		"SELECT abs(o - 9), o % 3 = 1, SUM(n) FROM lines GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 7":                                                             false,
		"SELECT o, price, n, COUNT(*) FROM lines WHERE o * n = 7919 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3":                                                            false, // of no record
		"SELECT o % 7, o, COUNT(*) FROM lines GROUP BY 1, 2 HAVING COUNT(*) > 2 ORDER BY 1, 2":                                                                    true,
		"SELECT o, kind, SUM(price), COUNT(*) FROM lines, orders, kinds WHERE o = k AND n = kind GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10":                    true,
		"SELECT o, title, SUM(price) FROM lines, orders, kinds WHERE o = k AND n = kind GROUP BY 1, 2 HAVING SUM(price) > 1200 ORDER BY 1, 2":                     true,
		"SELECT day, title, o, SUM(n) FROM lines, orders, kinds WHERE o = k AND n = kind GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 20":                      true,
		"SELECT o, title % 5, SUM(price) FROM lines, orders, kinds WHERE o = k AND n = kind GROUP BY 1, 2 ORDER BY 3, 1, 2 LIMIT 10":                              false, // of title alone a number may be of several
		"SELECT day / 10, SUM(n) FROM lines, orders WHERE o = k GROUP BY 1 HAVING SUM(n) > 40 ORDER BY 1":                                                         false, // several groups of the device are one
	} {
		want, got := answerText(onCPU, text), answerText(onCompute, text)
		if got != want || strings.HasPrefix(got, "error") {
			t.Errorf("%s:\n got %.300s\nwant %.300s", text, got, want)
		}
		x, err := onCompute.Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if picked := slices.ContainsFunc(x.Steps, func(s Step) bool { return strings.HasPrefix(s.Pass, "GROUPS: pick") }); picked != picks {
			t.Errorf("%s: picked %v, want %v: %v", text, picked, picks, x.Lines())
		}
		alone, err := onCPU.Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := rowsOfGroups(alone), rowsOfGroups(x); a != b {
			t.Errorf("%s: compute has %s groups, cpu %s", text, b, a)
		}
	}
}

// rowsOfGroups is what EXPLAIN ANALYZE says of how many groups there are.
func rowsOfGroups(x *Explanation) string {
	for _, line := range x.Lines() {
		if strings.Contains(line, "Aggregate(") {
			_, of, _ := strings.Cut(line[strings.LastIndex(line, "("):], "(")
			rows, _, _ := strings.Cut(of, " rows")
			return fmt.Sprint(rows)
		}
	}
	return ""
}
