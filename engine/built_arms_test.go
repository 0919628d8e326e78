package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// openSnowflake opens a fact table that is joined to wide. The columns of wide have more combinations than a build tells apart. It is
// joined to leaf and tag. A key of leaf is that of its last two rows.
func openSnowflake(t *testing.T, backend string) *DB {
	t.Helper()
	db := open(t, Options{Backend: backend})
	whole, text := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Varchar}
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
	add("fact", 6000, []table.Field{{Name: "w", Type: whole}, {Name: "n", Type: whole}}, func(b *table.Builder, i int) {
		b.Column(0).Int(int64(i * 7 % 450)) // some have no partner
		b.Column(1).Int(int64(i % 13))
	})
	add("wide", 400, []table.Field{{Name: "id", Type: whole}, {Name: "v", Type: whole}, {Name: "u", Type: whole}, {Name: "l", Type: whole}, {Name: "t", Type: whole}}, func(b *table.Builder, i int) {
		b.Column(0).Int(int64(399 - i))
		b.Column(1).Int(int64(i * 3 % 400))
		b.Column(2).Int(int64(i * 11 % 400))
		b.Column(3).Int(int64(i % 20))
		b.Column(4).Int(int64(i % 7))
	})
	add("leaf", 21, []table.Field{{Name: "key", Type: whole}, {Name: "name", Type: text}}, func(b *table.Builder, i int) {
		b.Column(0).Int(int64(min(i, 19)))
		b.Column(1).String(fmt.Sprint("leaf ", i))
	})
	add("tag", 7, []table.Field{{Name: "key", Type: whole}, {Name: "name", Type: text}}, func(b *table.Builder, i int) {
		b.Column(0).Int(int64(i))
		b.Column(1).String(fmt.Sprint("tag ", i%4))
	})
	return db
}

// TestBuiltArms compares the builds of snowflakes with joins on cpu. Rows are told apart by row, or by combinations of several tables.
// Two rows have the same key, of which one is deleted, and groups have to be merged.
func TestBuiltArms(t *testing.T) {
	const joins = " FROM fact, wide, leaf, tag WHERE w = id AND l = leaf.key AND t = tag.key"
	dbs := map[string]*DB{"cpu": openSnowflake(t, "cpu"), "compute": openSnowflake(t, "compute")}
	check := func(twice bool) {
		t.Helper()
		for _, c := range []struct {
			sql  string
			slot string // what EXPLAIN ANALYZE says of the build
		}{
			{"SELECT id, v, u, leaf.name, COUNT(*), SUM(n)" + joins + " GROUP BY 1, 2, 3, 4 ORDER BY 1", "each has its own slot"},
			{"SELECT v, u, COUNT(*)" + joins + " AND leaf.name <> 'leaf 3' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 5", "each has its own slot"},
			{"SELECT leaf.name, tag.name, COUNT(*), SUM(n)" + joins + " GROUP BY 1, 2 ORDER BY 1, 2", "combinations of codes"},
			{"SELECT u % 4, tag.name, COUNT(*)" + joins + " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 3", "combinations of codes"},
			{"SELECT v, u, COUNT(*), SUM(n) FROM fact, wide WHERE w = id AND l IN (SELECT key FROM tag WHERE name <> 'tag 1') GROUP BY 1, 2 ORDER BY 1, 2", "Build(semi tag"},
			{"SELECT v % 9, COUNT(*), SUM(n)" + joins + " AND NOT EXISTS (SELECT 1 FROM leaf x WHERE x.key = v) AND t IN (SELECT key FROM leaf WHERE name LIKE '%1%') GROUP BY 1 ORDER BY 1", "Build(anti "},
			{"SELECT length(tag.name) + n % 3, COUNT(*)" + joins + " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 2", "combinations of codes"},
		} {
			want := answerText(dbs["cpu"], c.sql)
			if got := answerText(dbs["compute"], c.sql); got != want || strings.HasPrefix(got, "error") {
				t.Errorf("%s:\n got %.300s\nwant %.300s", c.sql, got, want)
			}
			if twice { // a device finds out
				continue
			}
			x, err := dbs["compute"].Explain(t.Context(), c.sql, ExplainOptions{Analyze: true})
			if err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"), c.slot) {
				t.Errorf("%s: %v, want %q in %v", c.sql, err, c.slot, x.Lines())
			}
		}
	}
	check(true)
	for _, db := range dbs {
		tab := db.entry("leaf").Table.Load()
		c, err := tab.Chunks[0].Delete([]int{19})
		if err == nil {
			err = db.replace(tab.With(c))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	check(false)
}
