package engine

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// Subqueries whose rows the host memory budget has no room for, and window functions over such rows, give the answer of the whole table.
func TestSubqueriesBeyondHostMemory(t *testing.T) {
	whole, small := sizedPair(t, 3000, 40_000)
	for _, text := range []string{
		"SELECT SUM(s), COUNT(*) FROM (SELECT sum(w % 1000) OVER (PARTITION BY coalesce(a, id) ORDER BY id) AS s FROM f) d",
		"SELECT id, w, row_number() OVER (PARTITION BY day ORDER BY x, id), rank() OVER (PARTITION BY day, a ORDER BY w DESC), max(u) OVER (PARTITION BY day) FROM f",
		"SELECT id, lag(d, 2) OVER (PARTITION BY coalesce(a, id) ORDER BY w), avg(x) OVER (PARTITION BY coalesce(a, id) ORDER BY w ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM f ORDER BY id",
		"SELECT n, COUNT(*), SUM(w) FROM (SELECT a, w, ntile(4) OVER (PARTITION BY coalesce(a, id) ORDER BY w) AS n FROM f WHERE b) d WHERE n > 1 GROUP BY n",
		"SELECT u, COUNT(*) FROM (SELECT u, w FROM f UNION ALL SELECT upper(u), id FROM f WHERE id > 100) d GROUP BY u",
		"SELECT COUNT(s), SUM(s) FROM (SELECT id, w, sum(w % 10) OVER (PARTITION BY coalesce(a, id)) AS s FROM f UNION ALL SELECT id, w, id FROM f) d",
		"SELECT COUNT(*), SUM(w), MIN(u) FROM (SELECT u, w, id FROM f EXCEPT SELECT u, w, id FROM f WHERE id < 2000) d",
		"SELECT u, a FROM f EXCEPT ALL SELECT u, a FROM f WHERE id < 2000",
		"SELECT COUNT(*), SUM(w) FROM (SELECT w, b FROM f INTERSECT ALL SELECT w, b FROM f WHERE id > 1000) d",
		"SELECT SUM(w % 100), COUNT(u) FROM (SELECT DISTINCT w, u FROM f) d",
		"SELECT m, COUNT(*) FROM (SELECT u, MAX(w) % 7 AS m FROM f GROUP BY u) d GROUP BY m",
		"WITH c AS (SELECT id, w, u FROM f ORDER BY w LIMIT 2700) SELECT p.id, q.u FROM c p JOIN c q ON p.id = q.id WHERE p.w > 0",
		"SELECT COUNT(*), SUM(s.n) FROM (SELECT w, COUNT(*) AS n FROM f GROUP BY w) s JOIN f ON f.w = s.w",
		"SELECT id, d, v, day, b, x, u FROM (SELECT *, row_number() OVER (PARTITION BY coalesce(a, id) ORDER BY id) AS r FROM f) s WHERE r % 2 = 0 ORDER BY w",
		"SELECT MEDIAN(w), COUNT(*) FROM (SELECT DISTINCT w, id FROM f) d",
		"SELECT id, w, u, row_number() OVER () FROM f",
		"SELECT COUNT(*), SUM(n), MAX(m) FROM (SELECT row_number() OVER () AS n, u || v AS m FROM f WHERE b UNION ALL SELECT id, v FROM f) d",
		"SELECT id, u, w FROM f TABLESAMPLE BERNOULLI (30) REPEATABLE (7)",
		"SELECT COUNT(*), MIN(u), SUM(w) FROM f WHERE random() < 2",
		"SELECT 1 / (s - 1) FROM (SELECT count(*) OVER (PARTITION BY w) AS s FROM f) d",
	} {
		sameBeyond(t, whole, small, text)
	}
	unpruned := func() *DB { // whose subqueries give columns that nobody reads
		db := small()
		if _, err := Collect(db.Query(context.Background(), "SET disable_rule = 'prune'")); err != nil {
			t.Fatal(err)
		}
		return db
	}
	sameBeyond(t, whole, unpruned, "SELECT COUNT(u), MIN(u) FROM (SELECT w, u, id FROM f UNION ALL SELECT id, v, w FROM f) d")
	x, err := small().Explain(context.Background(), "SELECT SUM(s) FROM (SELECT sum(w % 1000) OVER (PARTITION BY coalesce(a, id) ORDER BY id) AS s FROM f) d", ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(x.Lines(), "\n"); !strings.Contains(lines, "spilled") || !strings.Contains(lines, "Derived (3,000 rows") {
		t.Errorf("%s", lines)
	}
	for text, of := range map[string]struct {
		want string
		read bool // before it is refused
	}{
		"SELECT id, string_agg(v, '') OVER (ORDER BY w) FROM f":                                     {"the rows of a partition take more than the host memory budget", false},
		"SELECT id, w, u, x, d, day, sum(w % 10) OVER (ORDER BY id RANGE 3 PRECEDING) AS s FROM f":  {"the rows of a partition take more than the host memory budget", false},
		"SELECT id, u, sum(w % 10) OVER (PARTITION BY b ORDER BY id RANGE 3 PRECEDING) AS s FROM f": {"the rows of a partition take more than the host memory budget", true},
		"SELECT id, u, lag(w, a) OVER (ORDER BY id) AS s FROM f":                                    {"needs many of them at once", false},
		"SELECT id, u, lag(w, 100000) OVER (ORDER BY id) AS s FROM f":                               {"needs many of them at once", true},
	} {
		db, read := small(), false
		db.temporary = func() (ingest.Temporary, error) {
			read = true
			return spill.CreateTemporary()
		}
		if _, err := Collect(db.Query(context.Background(), text)); err == nil || !strings.Contains(err.Error(), of.want) || !strings.Contains(err.Error(), "--host-memory") || read != of.read {
			t.Errorf("%s: %v, after rows were spilled: %t", text, err, read)
		}
	}
}

// So do window functions whose partitions are larger than the budget, or which have none in common.
func TestWindowsBeyondHostMemory(t *testing.T) {
	whole, small := sizedPair(t, 3000, 40_000)
	for _, text := range []string{
		"SELECT id, u, sum(w % 10) OVER (), count(a) OVER (), min(u) OVER (), avg(d) OVER (), max(x) FILTER (WHERE b) OVER (), first_value(id) OVER (), last_value(v) OVER (), nth_value(id, 2900) OVER () FROM f",
		"SELECT id, w, u, x, d, day, sum(w % 10) OVER (PARTITION BY id < 0 ORDER BY w) AS s FROM f",
		"SELECT id, v, row_number() OVER w, rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w, ntile(7) OVER w, sum(id) OVER w, first_value(u) OVER w, last_value(a) OVER w FROM f WINDOW w AS (PARTITION BY b ORDER BY a DESC, id)",
		"SELECT id, rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w, sum(id) OVER w, max(u) OVER w, count(*) OVER w, nth_value(a, 7) OVER w, stddev_pop(x) OVER w FROM f WINDOW w AS (ORDER BY a NULLS FIRST)",
		"SELECT id, w, u, lag(u) OVER w, lead(d, 3, 0.5) OVER w, lag(a, 2, id) OVER w, lead(w, 0) OVER w, sum(id) OVER (ORDER BY w ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING) FROM f WINDOW w AS (ORDER BY w)",
		"SELECT id, sum(w % 10) OVER (PARTITION BY a), max(w) OVER (PARTITION BY u), row_number() OVER (ORDER BY w), min(d) OVER () FROM f",
		"SELECT id, u, sum(id) OVER (ORDER BY w ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING), sum(id) OVER (ORDER BY w ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING), sum(id) OVER (ORDER BY w ROWS UNBOUNDED PRECEDING) FROM f",
		"SELECT id, u, string_agg(v, ',') OVER (PARTITION BY b ORDER BY w ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), median(x) OVER (PARTITION BY b ORDER BY w ROWS 3 PRECEDING), count(*) OVER (PARTITION BY b) FROM f",
		"SELECT id, u, 1 / (sum(id) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - 4500) FROM f ORDER BY id",
		"SELECT id, u, ntile(id - 7) OVER (ORDER BY w) FROM f",
		"SELECT id, u, sum(w) OVER (ORDER BY id) FROM f",
		"SELECT id, u, sum(abs(w) / 10) OVER () FROM f",
		"SELECT id, u, rank() OVER (PARTITION BY 1 ORDER BY 2), sum(id) OVER (PARTITION BY 'x' ORDER BY 1.5), lag(v) OVER (PARTITION BY 1 ORDER BY w), ntile(NULL) OVER (ORDER BY w), lag(u, NULL) OVER (ORDER BY w) FROM f",
		"SELECT COUNT(*), SUM(s) FROM (SELECT u, avg(a) OVER (PARTITION BY b, day < DATE '1998-01-01' ORDER BY v, x) AS s, u || v AS t FROM f) q WHERE t <> ''",
		"SELECT id, u, max(i) OVER (ORDER BY id), first_value(i) OVER (), lag(i, 2) OVER (ORDER BY id) FROM (SELECT id, u, CAST(a || ' days' AS interval) AS i FROM f) q",
	} {
		sameBeyond(t, whole, small, text)
	}
	x, err := small().Explain(context.Background(), "SELECT SUM(s) FROM (SELECT sum(w % 1000) OVER (ORDER BY id) AS s, u FROM f) d WHERE u <> 'x'", ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(x.Lines(), "\n"); !strings.Contains(lines, "spilled") || !strings.Contains(lines, "on cpu") {
		t.Errorf("%s", lines)
	}
}

// So do drawn ones, of any frames.
func TestAnyWindowBeyondHostMemory(t *testing.T) {
	whole, small := sizedPair(t, 3000, 40_000)
	rapid.Check(t, func(r *rapid.T) {
		one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(r, label) }
		var items []string
		for range rapid.IntRange(1, 3).Draw(r, "functions") {
			over := one("PARTITION BY", "", "", "PARTITION BY b", "PARTITION BY v", "PARTITION BY a < 50, b", "PARTITION BY id / 1100", "PARTITION BY a")
			order := one("ORDER BY", " ORDER BY w", " ORDER BY id DESC", " ORDER BY a NULLS FIRST, id", " ORDER BY u, w", " ORDER BY x DESC, w")
			function := one("function", "row_number()", "ntile(5)", "lag(u)", "lead(a, 2)", "lag(d, 12, 1.5)", "first_value(u)", "last_value(w)", "nth_value(id, 3)",
				"sum(w % 1000)", "count(*)", "count(u)", "min(u)", "max(d)", "avg(a)", "bool_or(b)", "sum(x)", "stddev_pop(a)", "sum(a) FILTER (WHERE x > 20)", "any_value(v)", "corr(a, x)", "bit_xor(id)",
				"rank()", "dense_rank()", "percent_rank()", "cume_dist()")
			frame := ""
			switch {
			case strings.Contains(function, "rank") || strings.Contains(function, "dist"):
				order = one("ORDER BY with peers", order, " ORDER BY a", " ORDER BY v DESC", " ORDER BY b, a NULLS FIRST", "")
			case !strings.Contains("row_number ntile lag lead", strings.Split(function, "(")[0]):
				frame = one("frame", "", "", " ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING", " ROWS UNBOUNDED PRECEDING", " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " GROUPS UNBOUNDED PRECEDING",
					" ROWS BETWEEN UNBOUNDED PRECEDING AND 5 FOLLOWING", " ROWS BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING", " ROWS BETWEEN 7 PRECEDING AND 3 PRECEDING EXCLUDE TIES", " ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING")
				if !strings.Contains(frame, "ROWS") && !strings.Contains(function, "value") {
					order = one("ORDER BY with peers", order, " ORDER BY a", " ORDER BY v DESC", " ORDER BY b, a NULLS FIRST")
				}
			}
			items = append(items, function+" OVER ("+over+order+frame+")")
		}
		text := "SELECT id, a, w, u, " + strings.Join(items, ", ") + " FROM f" + one("WHERE", "", " WHERE a > 30 OR a IS NULL", " WHERE id > 300 AND v <> 'red'")
		sameBeyond(r, whole, small, text)
	})
}

// EXPLAIN ANALYZE of subqueries reads what it runs, with a budget and without.
func TestExplainOfSubqueriesOverFiles(t *testing.T) {
	_, path := beyondTable(t, 3000)
	for _, budget := range []int64{0, 40_000} {
		for _, text := range []string{"SELECT a FROM f UNION SELECT id FROM f", "SELECT COUNT(*) FROM f WHERE w > (SELECT AVG(w) FROM f)", "WITH s AS (SELECT a, COUNT(*) AS n FROM f GROUP BY a) SELECT SUM(p.n) FROM s p JOIN s q ON p.a = q.a"} {
			db := open(t, Options{Backend: "cpu", HostMemory: budget})
			if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true}); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// So do drawn ones: any window functions, what is asked of their rows, and rows put together.
func TestAnySubqueryBeyondHostMemory(t *testing.T) {
	whole, small := sizedPair(t, 3000, 40_000)
	rapid.Check(t, func(r *rapid.T) {
		one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(r, label) }
		where := one("WHERE", "", "", " WHERE a > 30", " WHERE x < 31.5 OR b", " WHERE id > 300 AND v <> 'red'")
		inner := "SELECT DISTINCT id, a, w, u, d, " + one("text", "v", "upper(v)", "u || v") + " AS s FROM f" + where
		switch rapid.IntRange(0, 3).Draw(r, "kind") {
		case 0:
			inner = "SELECT id, a, w, u, d, v AS s FROM f" + where + " UNION ALL SELECT a, id, a * 3, v, d, u FROM f" + one("WHERE", "", " WHERE b")
		case 1:
			inner = "SELECT MAX(id) AS id, MIN(a) AS a, w, u, d, MAX(v) AS s FROM f" + where + " GROUP BY w, u, d"
		case 2:
			function := one("function", "row_number()", "dense_rank()", "count(*)", "sum(w % 1000)", "first_value(u)", "lead(d)", "percent_rank()")
			partition := one("PARTITION BY", "coalesce(a, id)", "coalesce(u, v || id)", "day", "w", "day, b", "abs(id % 200 - 50), v")
			frame := one("frame", "", "", " ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING")
			if strings.Contains(function, "rank") || strings.Contains(function, "number") || strings.Contains(function, "lead") {
				frame = ""
			}
			inner = "SELECT id, a, w, u, d, " + function + " OVER (PARTITION BY " + partition + " ORDER BY " + one("ORDER BY", "w", "x DESC, id", "u, w") + frame + ") AS s FROM f" + where
		}
		outer := one("outer", "SELECT a, COUNT(*), MIN(s), MAX(u), SUM(d) FROM (I) q GROUP BY a", "SELECT * FROM (I) q WHERE id % 3 = 1", "SELECT id, s FROM (I) q ORDER BY d, w, id, s, u LIMIT 700",
			"SELECT COUNT(*), COUNT(s), SUM(w % 97), MIN(d) FROM (I) q WHERE a < 90", "SELECT q.s, f.x FROM (I) q JOIN f ON f.id = q.id WHERE q.a > 5")
		sameBeyond(r, whole, small, strings.Replace(outer, "I", inner, 1))
	})
}

// What reads spilled rows while their statement is cancelled, and has given the file back, fails.
func TestSpilledRowsAreReadTooLate(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	of := spill.NewFile(db.newTemporary)
	gone := &spilled{name: "t", fields: []table.Field{{Name: "n", Type: table.Type{Kind: table.BigInt}}}, columns: []int{0}, of: of}
	if err := gone.add(valueRows{{table.Int(7)}, {table.Int(8)}}, 1); err != nil {
		t.Fatal(err)
	}
	rows, err := gone.Read(context.Background(), []int{0}, ingest.Options{})
	if err != nil || rows.Rows() != 2 {
		t.Fatal(rows, err)
	}
	of.Close()
	if _, err := gone.Read(context.Background(), []int{0}, ingest.Options{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v, want that the file is closed", err)
	}
}

// Where only the number of rows is asked for, texts are not read.
func TestCountsOfUnionsReadNoTexts(t *testing.T) {
	_, path := beyondTable(t, 600)
	db := open(t, Options{Backend: "cpu"})
	if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM (SELECT u, w FROM f UNION ALL SELECT v, id FROM f WHERE id < 100) q":                       "[[700]]",
		"SELECT COUNT(*) FROM (SELECT u, w FROM f UNION ALL SELECT u, w FROM f LIMIT 7) q":                               "[[7]]",
		"SELECT COUNT(*) FROM (SELECT u, w, row_number() OVER (ORDER BY id) AS r FROM f WHERE id < 10) q":                "[[10]]",
		"SELECT COUNT(*) FROM (SELECT u, w FROM f WHERE id < 5 UNION ALL SELECT 'x', NULL) q, (SELECT u FROM f LIMIT 2)": "[[12]]",
	} {
		if got := inWords(Collect(db.Query(context.Background(), text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	db = open(t, Options{Backend: "cpu"})
	if err := db.Attach("f", ingest.Source{Path: path}); err != nil {
		t.Fatal(err)
	}
	do(t, db, "SELECT COUNT(*) FROM (SELECT u, w FROM f UNION ALL SELECT v, id FROM f WHERE id < 100) q")
	if read := db.entry("f").Table.Load(); read.Has([]int{8}) || read.Has([]int{4}) {
		t.Error("a text has been read")
	}
}
