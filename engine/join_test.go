package engine

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// openStar opens a fact table of several chunks, and three tables that it may be joined to. A key of dim
// is there once, and not for every fact; twice has a key in two rows.
func openStar(t *testing.T, o Options) *DB { return openStarOf(t, o, 20) }

// openStarOf is openStar where the chunks of dim have so many rows, 0 for all: a device builds the arms of tables of one chunk.
func openStarOf(t *testing.T, o Options, chunk int) *DB {
	t.Helper()
	db := open(t, o)
	r := rand.New(rand.NewPCG(1, 2))
	whole, text := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Varchar}
	add := func(name string, rows, chunk int, fields []table.Field, row func(b *table.Builder, i int)) {
		b := table.NewBuilder(name, fields, chunk)
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
	orNull := func(b *table.ColumnBuilder, v int64) {
		if r.IntN(10) == 0 {
			b.Null()
		} else {
			b.Int(v)
		}
	}
	add("fact", 5000, 1700, []table.Field{{Name: "a", Type: whole}, {Name: "b", Type: whole}, {Name: "n", Type: whole}, {Name: "m", Type: whole}}, func(b *table.Builder, i int) {
		orNull(b.Column(0), int64(r.IntN(60))+int64(i/1700)*5) // other codes in each chunk
		b.Column(1).Int(int64(r.IntN(2000)))
		orNull(b.Column(2), int64(r.IntN(1000))-500)
		b.Column(3).Int(int64(r.IntN(7)))
	})
	names := []string{"red", "green", "blue"}
	add("dim", 50, chunk, []table.Field{{Name: "key", Type: whole}, {Name: "name", Type: text}, {Name: "size", Type: whole}, {Name: "edge", Type: whole}}, func(b *table.Builder, i int) {
		b.Column(0).Int(int64(2*i - 20))
		if i%11 == 0 {
			b.Column(1).Null()
		} else {
			b.Column(1).String(names[i%3])
		}
		b.Column(2).Int(int64(i % 4))
		b.Column(3).Int([]int64{math.MinInt64, math.MaxInt64, 7}[i%3]) // as far apart as codes may be
	})
	add("far", 1500, 0, []table.Field{{Name: "key", Type: whole}, {Name: "name", Type: text}}, func(b *table.Builder, i int) {
		b.Column(0).Int(int64(i))
		b.Column(1).String(fmt.Sprint("group ", i%40))
	})
	add("twice", 20, 0, []table.Field{{Name: "key", Type: whole}, {Name: "name", Type: text}}, func(b *table.Builder, i int) {
		b.Column(0).Int(int64(i / 2))
		b.Column(1).String(names[i%3])
	})
	return db
}

// TestStars compares aggregates over stars of joins, in one sweep of a device, with those over the rows of the
// joins. passes says that compute does all of it.
func TestStars(t *testing.T) {
	onCPU, onCompute, onTwo := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "compute"}), openStar(t, Options{Backend: "compute", Device: "0,1"})
	built, builtOnTwo := openStarOf(t, Options{Backend: "compute"}, 0), openStarOf(t, Options{Backend: "compute", Device: "0,1"}, 0)
	for _, c := range []struct {
		sql    string
		passes bool
	}{
		{"SELECT COUNT(*), SUM(n), MIN(n), MAX(m), AVG(n) FROM fact, dim WHERE a = key", true},
		{"SELECT COUNT(*), SUM(n) FROM fact, dim WHERE a = key AND size = 9", true}, // nothing
		{"SELECT SUM(n * m), COUNT(n) FROM fact JOIN dim ON a = key WHERE name = 'red' AND n > 0", true},
		{"SELECT name, COUNT(*), SUM(n - m) FROM fact, dim WHERE a = key GROUP BY name ORDER BY name", true},
		{"SELECT name, m, size, MAX(n), COUNT(n) FROM fact, dim WHERE a = key AND size < 3 GROUP BY name, m, size ORDER BY 1, 2, 3", true},
		{"SELECT edge, COUNT(*), SUM(n) FROM fact, dim WHERE a = key GROUP BY edge ORDER BY edge", true},
		{"SELECT dim.name, far.name, COUNT(*), SUM(n) FROM fact, dim, far WHERE a = dim.key AND b = far.key AND dim.name <> 'blue' GROUP BY 1, 2 ORDER BY 1, 2", true},
		{"SELECT far.name || '!', a % 2, SUM(m) FROM fact, far WHERE b = far.key AND far.name LIKE '%1%' GROUP BY 1, 2 HAVING SUM(m) > 10 ORDER BY 1, 2", true},
		{"SELECT x.name, y.name, COUNT(*) FROM fact, dim x, dim y WHERE a = x.key AND b = y.key GROUP BY 1, 2 ORDER BY 1, 2", true},
		{"SELECT x.name, y.size, COUNT(*) FROM fact, dim x, dim y WHERE a = x.key AND a = y.key GROUP BY 1, 2 ORDER BY 1, 2", true},
		{"SELECT name, SUM(size), AVG(size), COUNT(size), COUNT(name) FROM fact, dim WHERE a = key GROUP BY 1 ORDER BY 1", true},
		{"SELECT SUM(CASE WHEN name = 'red' THEN n ELSE 0 END), SUM(CASE WHEN size > 4 THEN n * m WHEN name = 'blue' THEN size END), COUNT(CASE size WHEN 3 THEN n END) FROM fact, dim WHERE a = key", true},
		// A snowflake, of which the second table is joined to the first.
		{"SELECT dim.name, far.name, COUNT(*), SUM(n) FROM fact, dim, far WHERE a = dim.key AND size = far.key GROUP BY 1, 2 ORDER BY 1, 2", true},
		{"SELECT COUNT(*), SUM(n) FROM fact, dim, far WHERE a = dim.key AND size = far.key AND far.name LIKE '%1%'", true},
		// Conditions between arms, and between an arm and the fact table.
		{"SELECT x.name, COUNT(*), SUM(m) FROM fact, dim x, dim y WHERE a = x.key AND m = y.key AND x.name = y.name GROUP BY 1 ORDER BY 1", true},
		{"SELECT COUNT(*), SUM(m), MAX(n) FROM fact, dim WHERE a = dim.key AND size < m", true},
		// Sets of keys.
		{"SELECT m, COUNT(*), SUM(n) FROM fact WHERE EXISTS (SELECT * FROM dim WHERE a = key AND size > 3) GROUP BY m ORDER BY m", true},
		{"SELECT m, COUNT(*), SUM(n) FROM fact WHERE EXISTS (SELECT * FROM twice WHERE b = key) GROUP BY m ORDER BY m", true},
		{"SELECT COUNT(*), SUM(n) FROM fact, dim WHERE a = dim.key AND NOT EXISTS (SELECT * FROM twice WHERE size = twice.key)", true},
		{"SELECT m, COUNT(*) FROM fact WHERE NOT EXISTS (SELECT * FROM far WHERE b = key AND name LIKE '%3%') GROUP BY m ORDER BY m", true},
		{"SELECT name, m, COUNT(*) FROM fact, dim WHERE a = key AND b IN (SELECT far.key FROM far, dim WHERE far.key = dim.key) GROUP BY 1, 2 ORDER BY 1, 2", true},
		// Not in one sweep: two partners, a product of columns of two tables, an outer join, a median, too many groups.
		{"SELECT twice.name, COUNT(*) FROM fact, twice WHERE a = key GROUP BY 1 ORDER BY 1", false},
		{"SELECT name, SUM(size * n) FROM fact, dim WHERE a = key GROUP BY 1 ORDER BY 1", false},
		{"SELECT name, COUNT(*) FROM fact LEFT JOIN dim ON a = key GROUP BY 1 ORDER BY 1", false},
		{"SELECT name, MEDIAN(n) FROM fact, dim WHERE a = key GROUP BY 1 ORDER BY 1", false},
		{"SELECT b, n, far.key, COUNT(*) FROM fact, far WHERE b = far.key GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 50", false},
	} {
		want := answerText(onCPU, c.sql)
		for _, db := range []*DB{onCompute, onCompute, onTwo, built, built, builtOnTwo} { // the second time with what was kept
			if got := answerText(db, c.sql); got != want || strings.HasPrefix(got, "error") {
				t.Errorf("%s:\n got %.300s\nwant %.300s", c.sql, got, want)
			}
		}
		for _, db := range []*DB{onCompute, built} {
			stats, err := db.Exec(context.Background(), c.sql)
			if err != nil {
				t.Fatal(err)
			}
			x, err := db.Explain(context.Background(), c.sql, ExplainOptions{Analyze: true})
			if err != nil {
				t.Fatal(err)
			}
			swept := slices.ContainsFunc(x.Steps, func(s Step) bool { _, ok := s.Op.(compute.Group); return ok })
			joined := slices.ContainsFunc(x.Steps, func(s Step) bool { return strings.HasPrefix(s.Pass, "Join(") })
			if star := stats.Passes > 0 && swept && !joined; star != c.passes {
				t.Errorf("%s: in one sweep %v, want %v: %d passes, %v", c.sql, star, c.passes, stats.Passes, x.Lines())
			}
		}
	}
}

// A statement over a star that ran before sees the tables as they are now.
func TestStarOfChangedTables(t *testing.T) {
	for _, chunk := range []int{20, 0} {
		db := openStarOf(t, Options{Backend: "compute"}, chunk)
		const text = "SELECT COUNT(*), SUM(m) FROM fact, dim WHERE a = key AND size = 2"
		before := answerText(db, text)
		for _, name := range []string{"dim", "fact"} {
			tab := db.entry(name).Table.Load()
			rows := make([]int, tab.Chunks[0].Rows/3)
			for i := range rows {
				rows[i] = 3*i + 1
			}
			c, err := tab.Chunks[0].Delete(rows)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.replace(tab.With(append([]*table.Chunk{c}, tab.Chunks[1:]...)...)); err != nil {
				t.Fatal(err)
			}
			now := answerText(db, text)
			db.SetBackend("cpu")
			want := answerText(db, text)
			db.SetBackend("compute")
			if now != want || now == before {
				t.Errorf("after a change of %s: %s, want %s (before %s)", name, now, want, before)
			}
			before = now
		}
	}
}

// What joins put on a device goes when their statement is over.
func TestJoinedRowsAreReleased(t *testing.T) {
	db := openStar(t, Options{Backend: "fused"})
	for range 3 {
		if got := answerText(db, "SELECT COUNT(*), SUM(size) FROM fact LEFT JOIN dim ON a = key WHERE n > 0"); strings.HasPrefix(got, "error") {
			t.Fatal(got)
		}
	}
	db.backends.Release()
	if r := db.resident(); r == nil || len(r.Columns) > 0 {
		t.Errorf("resident after the statements: %+v", r)
	}
}

// What devices have of the arrays of a star goes when others have taken its place, or a table has changed.
func TestArraysOfStarsAreReleased(t *testing.T) {
	db := openStar(t, Options{Backend: "compute"})
	used := func() int64 {
		db.backends.Release()
		return db.resident().Used - db.resident().Working
	}
	query := func(i int) string {
		return fmt.Sprintf("SELECT COUNT(*), SUM(m) FROM fact, dim WHERE a = key AND size < %d", i)
	}
	var most int64
	for i := range 3 * maxStars {
		if got := answerText(db, query(i)); strings.HasPrefix(got, "error") {
			t.Fatal(got)
		}
		if i == maxStars {
			most = used()
		}
	}
	if now := used(); now > most {
		t.Errorf("%d bytes after %d stars, %d after %d", now, 3*maxStars, most, maxStars)
	}
	dim := db.entry("dim").Table.Load()
	if err := db.replace(dim.With(dim.Chunks[:2]...)); err != nil {
		t.Fatal(err)
	}
	if now := used(); now >= most {
		t.Errorf("%d bytes after a table has changed, %d before", now, most)
	}
}

// Joins whose pairs compute finds have the rows that cpu's have, by each algorithm. There are filters on
// both sides, several chunks, NULLs, other conditions besides, empty selections, joins below another one,
// and joins that are counted alone.
func TestPairsFoundByCompute(t *testing.T) {
	onCPU, onCompute, onTwo := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "compute"}), openStar(t, Options{Backend: "compute", Device: "0,1"})
	for _, c := range []struct {
		sql     string
		way, by string // by "": cpu joins
	}{
		{"SELECT COUNT(*) FROM fact, twice WHERE a = key", "hash", "HJ: count the matches"},
		{"SELECT COUNT(*) FROM fact, twice WHERE a = key", "merge", "SMJ: count the matches"},
		{"SELECT COUNT(*), SUM(n), MIN(name) FROM fact, twice WHERE a = key", "index", "by indexed nested loops (INLJ) on compute"},
		{"SELECT COUNT(*) FROM twice, fact WHERE a > key", "loops", "NINLJ: count the matches"},
		{"SELECT COUNT(*), SUM(n) FROM fact, twice WHERE key <= a AND b < 300", "loops", "NINLJ: emit the pairs"},
		{"SELECT name, COUNT(*), SUM(n), MEDIAN(m) FROM twice JOIN fact ON a = key GROUP BY name ORDER BY name", "auto", "Join: emit the pairs"},
		{"SELECT a, n, name FROM fact JOIN dim ON a = key WHERE b < 200 AND name <> 'red' ORDER BY n, a, name, m LIMIT 40", "merge", "Join: emit the pairs"},
		{"SELECT x.n, y.m FROM fact x JOIN fact y ON x.b = y.b AND x.n < y.n WHERE x.m = 2 ORDER BY 1, 2 LIMIT 50", "hash", "Join: emit the pairs"},
		{"SELECT COUNT(*), SUM(n) FROM fact, dim WHERE a = key AND size = 9", "hash", "Select(a IS NOT NULL)"},
		{"SELECT COUNT(*), SUM(m), COUNT(z.name) FROM (fact JOIN twice ON a = key) LEFT JOIN dim z ON z.key = m", "merge", "Join: emit the pairs"},
		{"SELECT COUNT(*) FROM fact, twice WHERE a = key", "perfect", "by hash join (HJ) on compute"},
		{"SELECT COUNT(*) FROM dim JOIN fact ON a = key AND n <> key", "perfect", "by perfect hash join (PHJ) on compute"},
		{"SELECT COUNT(*), COUNT(size), SUM(n) FROM fact LEFT JOIN dim ON a = key", "perfect", "by left join perfect hash join (PHJ) on compute"},
		{"SELECT COUNT(*) FROM twice x JOIN dim y ON x.name = y.name", "hash", "HJ: count the matches"}, // texts of other dictionaries
		{"SELECT x.key, y.key, x.name FROM twice x JOIN dim y ON x.name > y.name ORDER BY 1, 2, 3 LIMIT 50", "loops", "NINLJ: emit"},
		{"SELECT COUNT(*) FROM twice JOIN dim ON twice.key + 1 = dim.key", "hash", "HJ: count the matches"},
		{"SELECT COUNT(*), COUNT(key), SUM(n) FROM fact LEFT JOIN twice ON a = key WHERE n > 0", "hash", "by left join hash join (HJ) on compute"},
		{"SELECT COUNT(*), COUNT(key), SUM(n) FROM fact RIGHT JOIN dim ON a = key AND n > 400", "merge", "by right join sort-merge join (SMJ) on compute"},
		{"SELECT key, n, name FROM fact FULL JOIN twice ON b = key ORDER BY 2, 1, 3, m LIMIT 60", "hash", "by full join"},
		{"SELECT x.m, x.n, y.name FROM fact x LEFT JOIN dim y ON x.n > y.key WHERE x.b < 40 ORDER BY x.n, y.key, 1", "loops", "NINLJ: emit"},
		{"SELECT COUNT(*), COUNT(key) FROM fact LEFT JOIN twice ON a = key AND n < 0", "hash", "by left join hash join (HJ) on compute"},
		{"SELECT b, n FROM fact WHERE n > 100 AND EXISTS (SELECT * FROM twice WHERE a = key AND name <> 'red') LIMIT 40", "auto", "by semi join perfect hash join (PHJ) on compute"},
		{"SELECT COUNT(*), SUM(n) FROM fact WHERE b IN (SELECT key FROM twice)", "hash", "by semi join hash join (HJ) on compute"},
		{"SELECT COUNT(*) FROM fact WHERE a IN (SELECT key FROM dim WHERE size > 1)", "merge", "by semi join sort-merge join (SMJ) on compute"},
		{"SELECT a, n FROM fact WHERE m = 3 AND NOT EXISTS (SELECT 1 FROM dim WHERE a = key) LIMIT 60", "perfect", "by anti join perfect hash join (PHJ) on compute"},
		{"SELECT COUNT(*) FROM fact WHERE NOT EXISTS (SELECT 1 FROM dim WHERE a > key)", "loops", ""},
		{"SELECT COUNT(*) FROM fact, twice, far WHERE a = twice.key AND b = far.key", "hash", "Join(far: fact.b = far.key) by hash join (HJ) on compute"},
		// Rows of semi, anti and left joins stay on the device, and so do those for which other conditions hold.
		{"SELECT COUNT(*), SUM(n) FROM fact x WHERE EXISTS (SELECT 1 FROM fact y WHERE y.b = x.b AND y.n <> x.n)", "auto", "by semi join hash join (HJ) on compute"},
		{"SELECT COUNT(*), SUM(n) FROM fact x WHERE x.m > 2 AND NOT EXISTS (SELECT 1 FROM fact y WHERE y.b = x.b AND y.n > x.n AND y.m <> 1)", "merge", "by anti join sort-merge join (SMJ) on compute"},
		{"SELECT a, n, m FROM fact WHERE NOT EXISTS (SELECT 1 FROM twice WHERE key = a AND key + 1 < m) ORDER BY 2, 1, 3 LIMIT 60", "hash", "by anti join hash join (HJ) on compute"},
		{"SELECT COUNT(*), SUM(x.n), MAX(y.m) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n WHERE EXISTS (SELECT 1 FROM twice WHERE key = y.m AND key <> x.m) AND NOT EXISTS (SELECT 1 FROM dim WHERE key = x.a AND size < y.m)", "auto", "by anti join"},
		{"SELECT x.n, x.m, y.key, y.name FROM fact x LEFT JOIN dim y ON x.a = y.key AND x.m < y.size WHERE x.b < 60 ORDER BY 1, 2, 3", "auto", "by left join perfect hash join (PHJ) on compute"},
		{"SELECT COUNT(*), COUNT(key) FROM fact LEFT JOIN twice ON a = key AND n > 1000000", "hash", "by left join"}, // no pair
		// Several keys are one.
		{"SELECT COUNT(*), SUM(x.n) FROM fact x JOIN fact y ON x.a = y.a AND x.b = y.b", "hash", "HJ: count the matches"},
		{"SELECT x.n, y.m, x.a FROM fact x JOIN fact y ON x.m = y.m AND x.n = y.n AND x.a <> y.a AND y.a = x.m ORDER BY 1, 2, 3 LIMIT 50", "merge", "Join(y: x.m = y.m AND x.n = y.n AND y.a = x.m) by sort-merge"},
		{"SELECT COUNT(*), COUNT(y.size) FROM dim x LEFT JOIN dim y ON x.name = y.name AND x.edge = y.edge", "auto", "by left join hash join (HJ) on compute"}, // 66 bits
		{"SELECT COUNT(*), SUM(y.size) FROM dim x JOIN dim y ON x.name = y.name AND x.edge = y.edge AND x.size = y.size", "hash", "Join(y: x.name = y.name AND x.size = y.size) by hash"},
		{"SELECT COUNT(*), COUNT(y.name) FROM dim x FULL JOIN twice y ON x.key = y.key AND x.name = y.name", "index", "by full join indexed nested loops (INLJ) on compute"},
		{"SELECT COUNT(*), SUM(n) FROM fact WHERE (b, m) IN (SELECT key, size FROM dim)", "perfect", "by semi join perfect hash join (PHJ) on compute"},
		{"SELECT COUNT(*), SUM(n) FROM fact WHERE NOT EXISTS (SELECT 1 FROM dim WHERE key = b AND m = size)", "merge", "by anti join sort-merge join (SMJ) on compute"},
		{"SELECT COUNT(*) FROM twice x JOIN dim y ON x.key = y.size AND x.name = y.name", "loops", "NINLJ: count the matches"},
		// Keys that are computed.
		{"SELECT COUNT(*), SUM(n), COUNT(y.name) FROM fact LEFT JOIN dim y ON a * 2 - 7 = key - size", "perfect", "Make((fact.a * 2) - 7)"},
		{"SELECT COUNT(*), SUM(x.n), MIN(y.n) FROM fact x JOIN fact y ON x.a + x.m = y.a - y.m AND x.b % 40 = y.b % 50 AND x.n < y.n", "hash", "Make(y.b % 50)"},
		{"SELECT x.n, y.edge FROM fact x JOIN dim y ON x.m * 1317624576693539401 = y.edge / 7 ORDER BY 1, 2 LIMIT 50", "merge", "Make(y.edge / 7)"}, // 64 bits
		{"SELECT COUNT(*), SUM(n) FROM fact JOIN far ON length(name) = m + 1 AND b = far.key", "index", "Make(length("},
		{"SELECT COUNT(*), SUM(n) FROM fact JOIN dim ON CASE name WHEN 'red' THEN 3 WHEN 'blue' THEN -1 END = m - 2", "hash", "Make("},
		{"SELECT COUNT(*), SUM(n) FROM fact JOIN dim ON m / 2.0 = size * 0.5 AND a * 1.00 = key", "auto", "Make(CAST("},
		{"SELECT COUNT(*), SUM(n) FROM fact JOIN dim ON CAST(n AS double precision) / 4 = key", "hash", "Make("},
		{"SELECT COUNT(*), SUM(n) FROM fact WHERE b % 90 IN (SELECT key * 3 FROM twice)", "auto", "by semi join"},
		{"SELECT COUNT(*), SUM(n) FROM fact WHERE NOT EXISTS (SELECT 1 FROM dim WHERE key + size = a)", "merge", "by anti join"},
		// The pairs of one join are the rows of the next.
		{"SELECT COUNT(*), SUM(x.n), MIN(z.name), MAX(y.m) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n JOIN twice z ON y.a = z.key WHERE x.m < 5", "auto", "Join(Filter(x.m < 5) of x: x.b = y.b AND x.n = y.n) by hash join (HJ) on compute"},
		{"SELECT COUNT(*) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n JOIN twice z ON y.a = z.key + 1", "merge", "SMJ: count the matches"},
		{"SELECT z.name, COUNT(*), SUM(x.n) FROM fact x, fact y, twice z, dim w WHERE x.b = y.b AND x.n = y.n AND y.a = z.key AND x.a = w.key AND w.size <> z.key AND x.m <> y.m + z.key GROUP BY 1 ORDER BY 1", "hash", "Join(z: y.a = z.key) by hash join (HJ) on compute"},
		{"SELECT x.n, y.a, z.m FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n JOIN fact z ON z.b = y.b AND z.n = x.n AND z.a = y.m ORDER BY 1, 2, 3 LIMIT 30", "auto", "by hash join (HJ) on compute"}, // a cycle
		{"SELECT COUNT(*) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n JOIN dim z ON y.a = z.key WHERE x.m < 5 AND y.m > 1 AND z.name <> 'red'", "auto", "Popcount(x.m < 5)"},                        // filters on the device
		{"SELECT COUNT(*) FROM fact x JOIN fact y ON x.a = y.a AND x.b = y.b JOIN dim z ON y.a = z.key WHERE x.m < 0 AND y.n / 7 > 3", "hash", "Filter(x.m < 0) of x"},                                     // no row
		{"SELECT x.n, y.m, z.edge, w.name FROM fact x, fact y, dim z, far w WHERE x.b = y.b AND x.n = y.n AND y.a = z.key AND w.key = x.b AND x.n > 0 AND w.name LIKE '%7' AND sqrt(y.n) > 9 ORDER BY 1, 2, 3, 4 LIMIT 30", "auto", "by hash join (HJ) on compute"},
		{"SELECT x.n, y.m, z.name FROM fact x, fact y, dim z WHERE x.b = y.b AND x.n = y.n AND y.a = z.key AND x.n > 0 ORDER BY x.n, y.m, z.name, z.edge LIMIT 100000", "perfect", "by perfect hash join (PHJ) on compute"},
		{"SELECT COUNT(*), COUNT(z.key), SUM(x.n) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n LEFT JOIN twice z ON y.m = z.key", "index", "by left join indexed nested loops (INLJ) on compute"},
		{"SELECT COUNT(*), COUNT(x.n), COUNT(y.a), COUNT(z.key) FROM fact x LEFT JOIN fact y ON x.b = y.b AND x.n = y.n FULL JOIN dim z ON y.a = z.key", "perfect", "by full join perfect hash join (PHJ) on compute"},
		{"SELECT COUNT(*), SUM(n) FROM fact WHERE EXISTS (SELECT 1 FROM twice JOIN dim ON twice.name = dim.name WHERE twice.key = a)", "hash", "by semi join hash join (HJ) on compute"},
		{"SELECT COUNT(*), SUM(x.n) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n WHERE NOT EXISTS (SELECT 1 FROM twice WHERE key = y.m)", "merge", "by anti join sort-merge join (SMJ) on compute"},
		{"SELECT COUNT(*) FROM fact x, dim b, twice z, dim d WHERE x.a = z.key AND d.size = x.m AND x.n < 9 AND b.size = 1", "hash", "by hash join (HJ) on compute"}, // b has no key: nothing of the rows before is read
		{"SELECT COUNT(*), SUM(x.n), MIN(d.name) FROM fact x LEFT JOIN twice z ON x.b = z.key JOIN dim d ON coalesce(z.key, 0) + 2 = d.key", "hash", "by left join"}, // a key that is a value where there is no row
		{"SELECT COUNT(*) FROM twice x JOIN dim y ON lower(x.name) = y.name", "hash", ""},                                                                            // texts
		{"SELECT COUNT(*) FROM fact x JOIN dim y ON x.m = y.edge - 9223372036854775800 WHERE y.size = 9", "hash", ""},                                                // of no row
	} {
		for _, db := range []*DB{onCPU, onCompute, onTwo} {
			if got := answerText(db, "SET join = '"+c.way+"'"); strings.HasPrefix(got, "error") {
				t.Fatal(got)
			}
		}
		want := answerText(onCPU, c.sql)
		for _, db := range []*DB{onCompute, onCompute, onTwo} {
			if got := answerText(db, c.sql); got != want || strings.HasPrefix(got, "error") {
				t.Errorf("%s by %s:\n got %.300s\nwant %.300s", c.sql, c.way, got, want)
			}
		}
		x, err := onCompute.Explain(context.Background(), c.sql, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if c.by != "" && x.Stats.Passes < len(x.Steps)/2 {
			t.Errorf("%s by %s: %d passes, %d are listed", c.sql, c.way, x.Stats.Passes, len(x.Steps))
		}
		lines := strings.Join(x.Lines(), "\n")
		if found := strings.Contains(lines, c.by) && strings.Contains(lines, "on compute"); c.by != "" && !found || c.by == "" && strings.Contains(lines, "on compute  ") {
			t.Errorf("%s by %s: no %q in\n%s", c.sql, c.way, c.by, lines)
		}
	}
	onCompute.backends.Release()
	if r := onCompute.resident(); r == nil || r.Working == 0 || r.Used > 64<<20 {
		t.Errorf("resident after the statements: %+v", r)
	}
}

// auto has compute find the pairs of a join where that is predicted to be faster than cpu is, and says why. It does
// once enough joins would have gained from the columns being there. On software it never does.
func TestAutoChoosesWhoJoins(t *testing.T) {
	db := openStar(t, Options{Backend: "auto", Calibrations: t.TempDir()})
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	caps := devicesOf(db).GPUs[0].Context.Caps()
	defer func(soft bool) { caps.Software = soft }(caps.Software)
	curve := func(fixed, row float64) cost.Curves {
		return cost.Curves{cost.NewCurve(8, []cost.Point{{Rows: 1000, Seconds: fixed}, {Rows: 1_000_000, Seconds: fixed + row*999_000}})}
	}
	const text = "SELECT x.n, name FROM fact x JOIN twice ON x.b = key WHERE x.m < 5 ORDER BY 1, 2 LIMIT 30"
	for _, c := range []struct {
		software   bool
		fixed, row float64 // of compute; cpu takes 1 ms and 1 µs
		upload     float64 // seconds that the columns take
		way        string
		want       []string
	}{
		{false, 1e-5, 1e-9, 1, "auto", []string{"uploading b, key"}},
		{false, 1e-5, 1e-9, 0, "auto", []string{"Choice(join on compute)  auto predicted compute 0.1"}},
		{false, 1e-5, 1e-9, 0, "merge", []string{"by sort-merge join (SMJ) on compute", "Choice(join on compute)"}},
		{false, 5e-2, 1e-9, 0, "auto", []string{"Choice(join on cpu)  auto predicted cpu "}},
		{false, 1e-5, 1e-5, 0, "auto", []string{"Choice(join on cpu)  auto predicted cpu "}},
		{false, 1e-5, 1e-9, 0, "loops", []string{"Choice(join on cpu)  nested loops have no costs"}},
		{true, 1e-5, 1e-9, 0, "auto", []string{"by perfect hash"}},
	} {
		caps.Software = c.software
		p, err := cost.Default(true, 2)
		if err != nil {
			t.Fatal(err)
		}
		host, there := p.Backends["cpu"], p.Backends["compute"]
		host.Costs[cost.Join], host.Costs[cost.Pairs] = curve(1e-3, 1e-6), curve(0, 1e-6)
		there.Costs[cost.Join], there.Costs[cost.Pairs] = curve(c.fixed, c.row), curve(0, c.row)
		there.Upload = cost.Transfer{T0: c.upload, Band: 1e9}
		p.Backends["cpu"], p.Backends["compute"] = host, there
		db.backends.Costs.Now = cost.Costs{Profile: p}
		if got := answerText(db, "SET join = '"+c.way+"'"); strings.HasPrefix(got, "error") {
			t.Fatal(got)
		}
		for _, want := range c.want {
			x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Join(x.Lines(), "\n")
			if squeezed := strings.Join(strings.Fields(lines), " "); !strings.Contains(squeezed, strings.Join(strings.Fields(want), " ")) || c.software && strings.Contains(lines, "auto predicted") {
				t.Errorf("%+v: no %q in\n%s", c, want, lines)
			}
		}
	}
}

// A chain of joins whose first one is faster on cpu goes there at first, since the device lacks columns of the later ones. Once enough executions
// would have gained from these, the whole chain is the device's.
func TestAutoWeighsWholeChains(t *testing.T) {
	db := openStar(t, Options{Backend: "auto", Calibrations: t.TempDir()})
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	caps := devicesOf(db).GPUs[0].Context.Caps()
	defer func(soft bool) { caps.Software = soft }(caps.Software)
	caps.Software = false
	p, err := cost.Default(true, 2)
	if err != nil {
		t.Fatal(err)
	}
	curve := func(fixed, row float64) cost.Curves {
		return cost.Curves{cost.NewCurve(8, []cost.Point{{Rows: 1000, Seconds: fixed}, {Rows: 1_000_000, Seconds: fixed + row*999_000}})}
	}
	host, there := p.Backends["cpu"], p.Backends["compute"]
	host.Costs[cost.Join], host.Costs[cost.Pairs] = curve(1e-5, 1e-6), curve(0, 1e-6)
	there.Costs[cost.Join], there.Costs[cost.Pairs] = curve(1e-3, 1e-9), curve(0, 1e-9)
	there.Upload = cost.Transfer{T0: 3e-2, Band: 1e9}
	p.Backends["cpu"], p.Backends["compute"] = host, there
	db.backends.Costs.Now = cost.Costs{Profile: p}
	const text = "SELECT COUNT(*), SUM(x.n) FROM twice z JOIN dim w ON z.key = w.key JOIN fact x ON x.a = w.key JOIN fact y ON x.b = y.b AND x.n = y.n"
	var ways []string
	for range 120 {
		x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(x.Lines(), "\n")
		if ways = append(ways, map[bool]string{true: "compute", false: "cpu"}[strings.Contains(lines, "Choice(join on compute)")]); ways[len(ways)-1] == "compute" {
			break
		}
	}
	if ways[0] != "cpu" || ways[len(ways)-1] != "compute" {
		t.Errorf("joined on %v: want cpu first and compute in the end", ways)
	}
}

// Where a device has no room for a join, the sides are dealt to buckets; where it has none for these, cpu joins.
func TestPairsThatDoNotFitAreLeftToCPU(t *testing.T) {
	db := openStar(t, Options{Backend: "compute", GPUMemory: 1 << 10})
	const text = "SELECT COUNT(*) FROM fact x JOIN fact y ON x.a = y.a"
	const two = "SELECT COUNT(*), SUM(x.n) FROM fact x JOIN fact y ON x.b = y.b AND x.m = y.m"
	x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(x.Lines(), "\n"); !strings.Contains(lines, "by perfect hash") || !strings.Contains(lines, "Choice(Join(inner, x.a = y.a) on cpu)") {
		t.Error(lines)
	}
	const chain = "SELECT COUNT(*), SUM(x.n), SUM(z.m) FROM fact x JOIN fact y ON x.b = y.b AND x.m = y.m JOIN fact z ON y.a = z.a AND y.n = z.n"
	dealt, onCPU := map[string]bool{}, openStar(t, Options{Backend: "cpu"})
	for _, budget := range []int64{192 << 10, 256 << 10, 384 << 10} {
		db := openStar(t, Options{Backend: "compute", GPUMemory: budget})
		texts := []string{text, two}
		if budget == 256<<10 {
			texts = append(texts, chain)
		}
		for _, text := range texts {
			if x, err = db.Explain(context.Background(), text, ExplainOptions{Analyze: true}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Join(x.Lines(), "\n")
			dealt[text] = dealt[text] || strings.Contains(lines, "in buckets on compute")
			if got, want := answerText(db, text), answerText(onCPU, text); got != want {
				t.Errorf("%d bytes: %s, cpu has %s", budget, got, want)
			}
		}
	}
	for _, text := range []string{text, two, chain} {
		if !dealt[text] {
			t.Errorf("%s: nothing was joined in buckets", text)
		}
	}
}

// What a join leaves on a device for the next one goes with the statement, after an error and a cancellation too. There is room for
// the next statement, as often as one runs.
func TestRowsBetweenJoinsAreReleased(t *testing.T) {
	db := openStar(t, Options{Backend: "compute", GPUMemory: 1 << 20})
	const chain = "SELECT COUNT(*), SUM(x.n), MIN(z.name) FROM fact x JOIN fact y ON x.b = y.b JOIN twice z ON y.a = z.key WHERE x.m < 6"
	for i := range 30 {
		if _, err := Collect(db.Query(context.Background(), "SELECT SUM(1 / (x.m - z.key)) FROM fact x JOIN fact y ON x.b = y.b JOIN twice z ON y.a = z.key")); err == nil {
			t.Fatal("no error")
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
		_, _ = Collect(db.Query(ctx, chain))
		cancel()
	}
	db.backends.Release()
	x, err := db.Explain(context.Background(), chain, ExplainOptions{Analyze: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(x.Lines(), "\n")
	if strings.Contains(lines, "on cpu)") || !strings.Contains(lines, "by hash join (HJ) on compute") {
		t.Error(lines)
	}
}

// A join by an inequality, or without a condition, ends where LIMIT has its rows: all pairs would not fit.
func TestLimitEndsAJoin(t *testing.T) {
	for _, backend := range []string{"cpu", "compute"} {
		db := openStar(t, Options{Backend: backend, HostMemory: 4 << 20})
		for _, way := range []string{"auto", "loops"} {
			if _, err := Collect(db.Query(context.Background(), "SET join = "+way)); err != nil {
				t.Fatal(err)
			}
			for _, on := range []string{"JOIN fact y ON x.a < y.a", "CROSS JOIN fact y", "LEFT JOIN fact y ON x.a < y.a", "JOIN fact y ON x.a < y.a JOIN fact z ON y.a < z.a"} {
				text := "SELECT x.a, y.a FROM fact x " + on
				if _, err := Collect(db.Query(context.Background(), text)); err == nil || !strings.Contains(err.Error(), "the join has") {
					t.Errorf("%s, join by %s: %s: got %v, want that it does not fit", backend, way, text, err)
				}
				r, err := Collect(db.Query(context.Background(), text+" LIMIT 10 OFFSET 5"))
				if err != nil || len(r.Rows) != 10 {
					t.Errorf("%s, join by %s: %s LIMIT 10: %v, %v", backend, way, text, r, err)
					continue
				}
				for _, row := range r.Rows {
					if strings.Contains(on, "<") && !row[1].Null && row[0].I >= row[1].I {
						t.Errorf("%s, join by %s: %s gives %v", backend, way, text, row)
					}
				}
			}
		}
	}
}

// What is found to be no star is not looked at again by the next statement of the same text, and keeps no rows.
func TestWhatIsNoStarIsRemembered(t *testing.T) {
	db := openStar(t, Options{Backend: "compute"})
	const text = "SELECT COUNT(*), SUM(n) FROM fact, twice, far WHERE b = twice.key AND twice.key = far.key"
	var first *joinorder.Star
	for i := range 3 {
		for r, err := range db.Each(t.Context(), text+"; SELECT COUNT(*) FROM far") { // a session plans it anew
			if _, err := Collect(r, err); err != nil {
				t.Fatal(err)
			}
		}
		kept := db.stars.Values()
		if len(kept) != 1 || i > 0 && kept[0] != first {
			t.Fatalf("after %d scripts %d stars are kept, the first of them %v", i+1, len(kept), kept)
		}
		if first = kept[0]; !plan.IsDeclined(first.Prepare(t.Context())) || len(first.Arrays()) > 0 {
			t.Errorf("rows of the same key are a star with %d arrays", len(first.Arrays()))
		}
	}
}

// On auto the rows of joins stay on the device that finds their pairs, and are aggregated there, where that is predicted to pay. Where
// the device fails meanwhile, at any call, cpu answers.
func TestAutoLeavesJoinedRowsOnTheDevice(t *testing.T) {
	onCPU, folder := openStar(t, Options{Backend: "cpu"}), t.TempDir()
	p, err := cost.Default(true, 2)
	if err != nil {
		t.Fatal(err)
	}
	curve := func(fixed, row float64) cost.Curves {
		return cost.Curves{cost.NewCurve(8, []cost.Point{{Rows: 1000, Seconds: fixed}, {Rows: 1_000_000, Seconds: fixed + row*999_000}})}
	}
	for name, takes := range map[string][2]float64{"cpu": {1e-3, 1e-5}, "compute": {1e-5, 1e-9}} {
		b := p.Backends[name]
		b.Costs = maps.Clone(b.Costs)
		for _, class := range append(slices.Collect(maps.Keys(b.Costs)), cost.Join, cost.Pairs) {
			b.Costs[class] = curve(takes[0], takes[1])
		}
		if b.Upload.Band > 0 {
			b.Upload = cost.Transfer{T0: 1e-6, Band: 1e9}
		}
		b.Overhead, p.Backends[name], p.Opening = 1e-5, b, 1e-6
	}
	even, device := *p, p.Backends["compute"] // both together would be faster than either
	device.Costs = p.Backends["cpu"].Costs
	even.Backends = map[string]cost.Backend{"cpu": p.Backends["cpu"], "compute": device}
	opened := func(failer *pass.Failer) *DB {
		db := openStar(t, Options{Backend: "auto", Calibrations: folder}) // on what passes for hardware
		failingDevices(db, 0, func(r pass.Runner) pass.Runner {
			failer.Runner = r
			return lost{failer}
		})
		opener := db.backends.Opener
		db.backends.Opener = func(o glctx.Options) (*backends.Devices, error) {
			d, err := opener(o)
			if err == nil {
				d.GPUs[0].Context.Caps().Software, d.Key.Software = false, false
			}
			return d, err
		}
		if err := Inspect(db).Ready(); err != nil {
			t.Fatal(err)
		}
		db.backends.Costs.Now = cost.Costs{Profile: p}
		return db
	}
	rng, losses := rand.New(rand.NewPCG(4, 5)), 2
	if os.Getenv("STENCILDB_SOAK") != "" {
		losses = 40
	}
	for _, text := range []string{
		"SELECT COUNT(*), SUM(x.n), MIN(y.m), MAX(z.size) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n JOIN dim z ON y.a = z.key WHERE x.m < 5 AND y.m > 1 AND x.m + z.size < 7",
		"SELECT y.m, z.name, COUNT(*), SUM(x.n) FROM fact x JOIN fact y ON x.b = y.b JOIN dim z ON y.a = z.key WHERE x.m < 5 GROUP BY 1, 2 ORDER BY 1, 2",
		"SELECT name, COUNT(*), SUM(n) FROM twice JOIN fact ON a = key GROUP BY name ORDER BY name",
		"SELECT COUNT(*), MEDIAN(n), COUNT(DISTINCT m) FROM twice JOIN fact ON a = key WHERE name <> 'red'",
	} {
		want, whole := answerText(onCPU, text), &pass.Failer{At: math.MaxInt}
		db := opened(whole)
		for range 2 { // a first time to find out that it is no star
			if got := answerText(db, text); got != want || strings.HasPrefix(got, "error") {
				t.Fatalf("%s:\n got %.300s\nwant %.300s", text, got, want)
			}
		}
		calls := whole.Calls
		x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Join(x.Lines(), "\n"); strings.Contains(text, "DISTINCT") {
			if strings.Contains(lines, "columns) on compute") {
				t.Errorf("%s: gathered for who does not read them there:\n%s", text, lines)
			}
		} else if !strings.Contains(lines, "columns) on compute") || !regexp.MustCompile(`Choice\(gather on compute\) +auto predicted compute `).MatchString(lines) || !strings.Contains(lines, "the rows of the joins are there") || x.Backend != "compute" {
			t.Errorf("%s: not left on the device:\n%s", text, lines)
		}
		db.SetBackend("compute")
		db.backends.Costs.Now = cost.Costs{Profile: &even}
		if _, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true}); err != nil {
			t.Errorf("%s on compute: %v", text, err)
		}
		for range losses {
			failer := &pass.Failer{At: rng.IntN(calls), Err: &glctx.GLError{Where: "a pass", Code: gl.CONTEXT_LOST}}
			db := opened(failer)
			for i := range 3 {
				if got := answerText(db, text); got != want {
					t.Errorf("%s, call %d lost, execution %d:\n got %.300s\nwant %.300s", text, failer.At, i, got, want)
				}
			}
			if failer.Calls <= failer.At {
				t.Errorf("%s: %d calls, none of %d", text, failer.Calls, failer.At)
			}
		}
	}
	// Where the columns are not on the device, and dear to bring there, they are gathered in host memory.
	db := opened(&pass.Failer{At: math.MaxInt})
	const text = "SELECT SUM(x.m) FROM fact x JOIN fact y ON x.b = y.b JOIN dim z ON y.a + 0 = z.key WHERE x.n BETWEEN 3 AND 12" // no star
	db.SetBackend("compute")
	counted := answerText(db, strings.Replace(text, "SUM(x.m)", "COUNT(*)", 1)) // the keys are there
	db.SetBackend("auto")
	for _, band := range []float64{1e3, 1e9} {
		b := p.Backends["compute"]
		b.Upload.Band = band
		p.Backends["compute"] = b
		x, err := db.Explain(context.Background(), text, ExplainOptions{Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Join(x.Lines(), "\n"); !strings.Contains(lines, "Choice(join on compute)") || strings.Contains(lines, "columns) on compute") != (band > 1e3) || strings.Contains(lines, "Choice(gather on cpu)") != (band == 1e3) {
			t.Errorf("uploads of %v bytes/s, after %s:\n%s", band, counted, lines)
		}
	}
}

// Pairs that are only counted are not kept, however many rows of one table meet a row of the other.
func TestCountedPairsAreNotKept(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	if _, err := db.Exec(context.Background(), "CREATE TABLE t AS SELECT i AS a FROM generate_series(1, 7000) s(i)"); err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most, done := heap(), make(chan int64), make(chan struct{})
	go func() {
		var peak int64
		for {
			select {
			case <-done:
				most <- peak
				return
			default:
				peak = max(peak, heap())
			}
		}
	}()
	r, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM t x, t y WHERE x.a < y.a"))
	close(done)
	peak := <-most
	if err != nil || r.Rows[0][0].I != 7000*6999/2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if kept := peak - before; kept > 100<<20 { // 24.5 million pairs of 8 bytes
		t.Errorf("%d MiB were kept", kept>>20)
	}
}
