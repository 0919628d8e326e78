package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// openGrouped opens tables whose rows may be grouped before they are joined. Most keys of big have many rows, few of them none, and
// some no partner; a key of small has up to three rows.
func openGrouped(t *testing.T, backend string) *DB {
	t.Helper()
	db := open(t, Options{Backend: backend})
	for _, text := range []string{
		`CREATE TABLE big AS SELECT CASE WHEN i % 17 = 0 THEN NULL ELSE (i * 31 % 11)::int END AS k, i * 7 % 5 AS g, CASE WHEN i % 13 = 0 THEN NULL ELSE (i * 37 % 101 - 50)::int END AS v,
			i * 1000003::bigint % 100003 AS w, (i % 41 * 1.25)::decimal(18, 2) AS m, (i % 29) / 4.0::double precision AS d, chr((97 + i % 5)::int) AS s, i % 3 = 0 AS flag, DATE '2024-01-01' + (i % 9)::int AS day,
			(i % 6)::smallint AS tiny FROM generate_series(1, 600) AS x(i)`,
		"INSERT INTO big SELECT k, g, v, 4611686018427387904 + w, m, d, s, flag, day, tiny FROM big WHERE k = 9",
		"CREATE TABLE small AS SELECT CASE WHEN i = 5 THEN NULL ELSE i / 2 END AS k, i % 4 AS x, chr((98 + i % 3)::int) AS s FROM generate_series(0, 15) AS x(i)",
		"INSERT INTO small VALUES (3, 1, NULL), (12, 2, 'a')",
		"CREATE TABLE other AS SELECT i % 4 AS k, CASE WHEN i % 3 = 0 THEN NULL ELSE i END AS y FROM generate_series(0, 5) AS x(i)",
	} {
		if got := answerText(db, text); strings.HasPrefix(got, "error") {
			t.Fatal(text, got)
		}
	}
	return db
}

// Aggregates of groups that are joined are those of the rows that are joined: on each backend, to the last digit, with the same types.
func TestPushedAggregates(t *testing.T) {
	plain := openGrouped(t, "cpu")
	if got := answerText(plain, "SET disable_rule = 'push aggregate'"); strings.HasPrefix(got, "error") {
		t.Fatal(got)
	}
	var others []*DB
	for _, name := range []string{"cpu", "compute", "classic"} {
		others = append(others, openGrouped(t, name))
		Inspect(others[len(others)-1]).PushAggregates(true)
	}
	answer := func(db *DB, text string) []string {
		r, err := Collect(db.Query(context.Background(), text))
		if errors.Is(err, ErrUnsupported) {
			return nil
		}
		if err != nil {
			return []string{err.Error()}
		}
		var rows []string
		for _, row := range r.Rows {
			rows = append(rows, fmt.Sprint(row))
		}
		slices.Sort(rows)
		return append(rows, fmt.Sprint(r.Columns))
	}
	totals := []string{"COUNT(*)", "COUNT(b.v)", "SUM(b.v)", "SUM(b.w)", "SUM(b.m)", "SUM(b.tiny)", "AVG(b.v)", "AVG(b.m)", "AVG(b.w)", "AVG(b.tiny)", "MIN(b.d)", "MAX(b.s)", "MIN(b.day)", "SUM(b.v * 2 + 1)",
		"bool_and(b.flag)", "bool_or(b.flag)", "bit_or(b.v)", "any_value(b.s)", "COUNT(s.x)", "MIN(s.x)", "MAX(s.s)", "COUNT(*) FILTER (WHERE b.v > 1)", "SUM(b.v) FILTER (WHERE b.g > 2)",
		"AVG(b.m) FILTER (WHERE b.flag)", "COUNT(*) FILTER (WHERE s.x > 1)", "COUNT(s.s) FILTER (WHERE s.x > 1)", "SUM(1000 / b.v)", "SUM(2)", "COUNT(DISTINCT b.v)", "SUM(b.d)"}
	ran, fired := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		pick := func(what string, list ...string) string { return rapid.SampledFrom(list).Draw(r, what) }
		items := rapid.SliceOfN(rapid.SampledFrom(totals), 1, 4).Draw(r, "totals")
		keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"s.x", "b.g", "b.v % 3", "s.s", "b.g + s.x", "b.day", "b.flag"}), 0, 2, rapid.ID[string]).Draw(r, "keys")
		text := "SELECT " + strings.Join(append(slices.Clone(keys), items...), ", ") + " FROM " +
			pick("from", "big b JOIN small s ON b.k = s.k", "small s JOIN big b ON b.k = s.k", "big b LEFT JOIN small s ON b.k = s.k AND s.x > 0", "small s RIGHT JOIN big b ON b.k = s.k",
				"small s LEFT JOIN big b ON b.k = s.k", "big b FULL JOIN small s ON b.k = s.k", "big b JOIN small s ON b.k % 4 = s.k AND b.g <= s.x", "other o JOIN (big b JOIN small s ON b.k = s.k) ON o.k = s.x",
				"big b JOIN small s ON b.s = s.s JOIN other o ON o.k = b.g", "big b CROSS JOIN small s", "(SELECT * FROM big WHERE v > 0) b JOIN small s ON b.k = s.k", "big b JOIN small s ON b.k = s.k AND b.w < 100003") +
			pick("where", "", "", " WHERE b.v > s.x", " WHERE b.w < 50000 AND s.x <> 2", " WHERE b.w < 200000", " WHERE EXISTS (SELECT 1 FROM other WHERE other.k = b.g)", " WHERE b.g NOT IN (SELECT k FROM other WHERE y > 1)", " WHERE b.k > 100")
		if len(keys) > 0 {
			text += " GROUP BY " + strings.Join(keys, ", ")
		}
		text += pick("having", "", "", " HAVING COUNT(*) > 20", " HAVING SUM(b.v) > 0")
		want := answer(plain, text)
		ran++
		db := rapid.SampledFrom([]*DB{others[0], others[0], others[1], others[0], others[2]}).Draw(r, "backend") // devices are slower
		got := answer(db, text)
		if got == nil { // nor does the backend do it otherwise
			for _, off := range []string{"push aggregate", ""} {
				if got := answerText(db, "SET disable_rule = '"+off+"'"); strings.HasPrefix(got, "error") {
					r.Fatal(got)
				}
				if got := answer(db, text); got != nil {
					r.Fatalf("%s: %s, which it does without the rule %q: %q", db.Backend(), text, off, got)
				}
			}
			return
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%s: %s:\n got %.600q\nwant %.600q", db.Backend(), text, got, want)
		}
		if x, err := db.Explain(context.Background(), text, ExplainOptions{}); err == nil && strings.Contains(strings.Join(x.Lines(), "\n"), "  Derived(b)") {
			fired++
		}
	})
	if 4*fired < ran {
		t.Errorf("%d of %d statements group rows before they join them", fired, ran)
	}
	for _, text := range []string{ // the same row's error
		"SELECT s.x, SUM(1000 / b.v) FROM big b JOIN small s ON b.k = s.k GROUP BY s.x",
		"SELECT COUNT(*) FILTER (WHERE 10 / (s.x - 1) > 1), SUM(b.v) FROM big b JOIN small s ON b.k = s.k",
		"SELECT SUM(b.w * 4) FROM big b JOIN small s ON b.k % 4 = s.k WHERE b.w > 4611686018427387904",
	} {
		want := answerText(plain, text)
		for _, db := range others {
			if got := answerText(db, text); got != want || !strings.HasPrefix(got, "error") {
				t.Errorf("%s: %s: %s, without the rule %s", db.Backend(), text, got, want)
			}
		}
	}
}

// Rows are grouped first where a key has many of them, as the tables are when the statement runs, in subqueries, too. They are not
// where compute joins a star in one sweep. EXPLAIN has the plan, before the statement runs and after.
func TestWhereAggregatesArePushed(t *testing.T) {
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend})
		run := func(text string) {
			t.Helper()
			if got := answerText(db, text); strings.HasPrefix(got, "error") {
				t.Fatal(text, got)
			}
		}
		run("CREATE TABLE big AS SELECT i % 20 AS k, i AS v FROM generate_series(1, 20000) AS x(i)")
		run("CREATE TABLE twice AS SELECT i / 2 AS k, i % 3 AS x FROM generate_series(0, 39) AS x(i)")
		run("CREATE TABLE once AS SELECT i AS k, i % 3 AS x FROM generate_series(0, 19) AS x(i)")
		pushed := func(text string, want, before bool) {
			t.Helper()
			for _, analyze := range []bool{false, true} {
				x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: analyze})
				if err != nil {
					t.Fatal(err)
				}
				lines := strings.Join(x.Lines(), "\n")
				if got := strings.Contains(lines, `SUM("SUM(`); got != (want && (analyze || before)) {
					t.Errorf("%s: %s: %t, want %t:\n%s", backend, text, got, want, lines)
				}
			}
		}
		run("CREATE TABLE large AS SELECT k, v, 4611686018427387904 AS w, k - 20 AS zero FROM big")
		of := func(table string) string {
			return "SELECT s.x, SUM(b.v) AS total FROM big b JOIN " + table + " s ON b.k = s.k GROUP BY s.x"
		}
		pushed(of("twice"), true, true)
		pushed("SELECT MAX(total) FROM ("+of("twice")+") AS q", true, backend == "cpu")
		pushed(of("once"), backend == "cpu", true)
		for range 2 { // what groups cannot do is done without them: sums that take more than 64 bits, and errors of rows without partners
			if got := answerText(db, "SELECT SUM(b.w), SUM(100 / b.zero) FROM large b JOIN twice s ON b.k = s.k WHERE b.k < 19"); !strings.Contains(got, "175244068700240740352000 -508000") {
				t.Errorf("%s: %s", backend, got)
			}
		}
		run("INSERT INTO large VALUES (30, 1, 1, 0)")
		if got := answerText(db, "SELECT s.x, SUM(100 / b.zero) FROM large b JOIN twice s ON b.k = s.k GROUP BY s.x ORDER BY 1"); strings.Contains(got, "error") {
			t.Errorf("%s: %s", backend, got)
		}
		run("DELETE FROM big WHERE v > 1000")
		pushed(of("twice"), false, true)
	}
}
