package engine

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// A large table that a small one is joined to is narrowed to the rows that the small one asks for. The rows are those of nested
// loops, for every kind of join. There are NULLs and keys that the other side lacks on both sides.
func TestJoinsWithRowsThatFewAskFor(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	r := rand.New(rand.NewPCG(3, 4))
	for name, rows := range map[string]int{"few": 60, "many": 33_000} {
		b := table.NewBuilder(name, []table.Field{{Name: "k", Type: table.Type{Kind: table.BigInt}}, {Name: "v", Type: table.Type{Kind: table.Integer}}}, 20_000)
		for range rows {
			if r.IntN(20) == 0 {
				b.Column(0).Null()
			} else {
				b.Column(0).Int(int64(r.IntN(9000)) - 100)
			}
			b.Column(1).Int(int64(r.IntN(5)))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Add(b.Table()); err != nil {
			t.Fatal(err)
		}
	}
	texts := []string{
		"SELECT COUNT(*), SUM(f.k), SUM(m.v) FROM few f JOIN many m ON f.k = m.k",
		"SELECT COUNT(*), COUNT(m.k), SUM(m.v) FROM few f LEFT JOIN many m ON f.k = m.k AND f.v <> m.v",
		"SELECT COUNT(*), COUNT(f.k), SUM(m.v) FROM few f RIGHT JOIN many m ON f.k = m.k",
		"SELECT COUNT(*), COUNT(f.k), SUM(m.v) FROM few f FULL JOIN many m ON f.k = m.k AND f.v < m.v",
		"SELECT COUNT(*), SUM(k) FROM few f WHERE EXISTS (SELECT * FROM many m WHERE f.k = m.k)",
		"SELECT COUNT(*), SUM(k) FROM few f WHERE EXISTS (SELECT * FROM many m WHERE f.k = m.k AND m.v <> f.v)",
		"SELECT COUNT(*), SUM(k) FROM few f WHERE NOT EXISTS (SELECT * FROM many m WHERE f.k = m.k AND m.v > f.v)",
		"SELECT COUNT(*), SUM(k) FROM few f WHERE NOT EXISTS (SELECT * FROM many m WHERE f.k = m.k) AND EXISTS (SELECT * FROM many m WHERE f.k < m.k)",
	}
	var got []string
	for _, text := range texts {
		got = append(got, answerText(db, text))
	}
	if _, err := db.Exec(context.Background(), "SET join = loops"); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if want := answerText(db, text); got[i] != want || strings.HasPrefix(want, "error") {
			t.Errorf("%s: %s, nested loops %s", text, got[i], want)
		}
	}
}

// Keys that are computed are made once for each side, and partners are found by them. The rows, and the errors, are those of nested
// loops, for every kind of join. Keys are of all types, with NULLs, -0, NaN, DECIMALs that 64 bits do not hold, texts, and rows that
// raise an error.
func TestJoinsByKeysThatAreComputed(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	for _, text := range []string{
		"CREATE TABLE l (k int, j bigint, x double precision, d numeric(18,2), s varchar, day date, z int)",
		"CREATE TABLE r (k int, j bigint, x real, d numeric(12,1), s varchar, at timestamp, z int)",
		"INSERT INTO l SELECT n % 40, n * 7 % 50, (n % 9 - 4) / 2.0, (n % 30) / 4.0, 'w' || n % 11, DATE '2024-01-01' + (n % 20)::int, n % 6 + 1 FROM generate_series(1, 120) g(n)",
		"INSERT INTO r SELECT n % 25, n * 3 % 60, (n % 7 - 3) / 2.0, (n % 20) / 2.0, 'W' || n % 17, TIMESTAMP '2024-01-03' + (n % 9) * INTERVAL '12 hours', n % 4 + 2 FROM generate_series(1, 90) g(n)",
		"INSERT INTO l VALUES (NULL, NULL, NULL, NULL, NULL, NULL, 1), (5, 5, 'NaN', 9999999999999999.99, '', DATE '2024-01-04', 1), (7, 9, '-0', 0, 'w', DATE '2024-01-05', 1)",
		"INSERT INTO r VALUES (NULL, NULL, NULL, NULL, NULL, NULL, 2), (5, 5, 'NaN', 99999999999.9, '', TIMESTAMP '2024-01-05', 2)",
		"CREATE TABLE empty (k int, z int)",
	} {
		if got := answerText(db, text); strings.HasPrefix(got, "error") {
			t.Fatal(text, got)
		}
	}
	kinds := []string{
		"SELECT COUNT(*), COUNT(l.z), COUNT(r.z), SUM(l.j * 3 + r.j), SUM(r.k) FROM l %s r ON ",
		"SELECT COUNT(*), SUM(j), MAX(s) FROM l WHERE %s (SELECT 1 FROM r WHERE ",
	}
	type asked struct {
		text   string
		hashed bool
	}
	var texts []asked
	for i, on := range []string{
		"l.k = r.k % 10 + r.j % 3", "l.k * 2 = r.j AND l.j + 1 = r.k * 2", "l.k = r.k AND l.j % 5 = r.j % 5 AND l.z <> r.z",
		"l.x * 2 = r.x + r.x", "-l.x = r.x * -1", "l.k / 2.0 = r.d", "l.d * 2 = r.k", "l.d * 9 = r.d * 4 + r.k",
		"upper(l.s) = r.s", "l.s || 'x' = lower(r.s) || 'x' AND l.k % 3 = r.z % 3", "l.day + 1 = r.at", "l.k + l.j = r.k + r.j",
		// A row raises an error, or may.
		"l.k / (l.z - 1) = r.k", "l.k = r.k % (r.z - 2)", "l.z > 1 AND l.k / (l.z - 1) = r.k", "l.k = r.j AND l.z > 1 AND r.k = l.j / (l.z - 1)", "CAST(substring(l.s, 2) AS int) = r.k",
	} {
		for k, kind := range []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "EXISTS", "NOT EXISTS"} {
			head, tail := kinds[k/4], ""
			if k >= 4 {
				tail = ")"
			}
			texts = append(texts, asked{strings.Replace(head, "%s", kind, 1) + on + tail, i < 12})
		}
		texts = append(texts, asked{"SELECT COUNT(*), SUM(l.j * r.j) FROM l, r WHERE l.j > 3 AND " + on, i < 12})
	}
	texts = append(texts, asked{"SELECT COUNT(*) FROM l JOIN empty e ON l.k / (l.z - 1) = e.k", false},
		asked{"SELECT COUNT(*), SUM(l.k) FROM l, r, l m WHERE l.k % 7 + r.k = m.j * 2 AND l.z = r.z", true},
		asked{"SELECT COUNT(*) FROM l LEFT JOIN r ON l.k = r.k + 1 JOIN l m ON r.j - 1 = m.j", true})
	squares := strings.Replace(kinds[0], "%s", "FULL JOIN", 1)
	if got, want := answerText(db, squares+"l.d * l.d = r.d * r.d"), answerText(db, squares+"l.d = r.d"); got != want || strings.HasPrefix(want, "error") {
		t.Errorf("by squares of more than 64 bits: %s, by what is squared %s", got, want)
	}
	var got, ways []string
	for _, q := range texts {
		got = append(got, answerText(db, q.text))
		if !q.hashed {
			ways = append(ways, "")
			continue
		}
		x, err := db.Explain(context.Background(), q.text, ExplainOptions{Analyze: true})
		if err != nil {
			ways = append(ways, "")
			continue
		}
		ways = append(ways, strings.Join(x.Lines(), "\n"))
	}
	if _, err := db.Exec(context.Background(), "SET join = loops"); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for i, q := range texts {
		want := answerText(db, q.text)
		if got[i] != want || q.hashed && strings.HasPrefix(want, "error") {
			t.Errorf("%s: %s, nested loops %s", q.text, got[i], want)
		}
		if q.hashed && strings.Contains(ways[i], "nested loops") {
			t.Errorf("%s: nested loops in\n%s", q.text, ways[i])
		}
		failed += strings.Count(want, "error: division by zero")
	}
	if failed < 12 {
		t.Errorf("%d statements raise an error", failed)
	}
}
