package engine

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// A large table that a small one is joined to is narrowed to the rows that the small one asks for: the rows are those of nested
// loops, with NULLs and keys that the other side lacks on both sides, for every kind of join.
func TestJoinsWithRowsThatFewAskFor(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	r := rand.New(rand.NewPCG(3, 4))
	for name, rows := range map[string]int{"few": 150, "many": 33_000} {
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
