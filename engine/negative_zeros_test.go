package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// signedRows is a statement that makes a table of n rows, in which -0, 0, other values, NaN and NULL take turns.
func signedRows(name string, n int) string {
	return fmt.Sprintf(`CREATE TABLE %s AS SELECT i::int AS i, i %% 7 AS k, CASE i %% 5 WHEN 0 THEN '-0'::float8 WHEN 1 THEN 0 WHEN 2 THEN i / 8.0::float8 WHEN 3 THEN NULL ELSE 'NaN' END AS x,
		CASE i %% 3 WHEN 0 THEN '-0'::real WHEN 1 THEN 0::real ELSE (-2.5)::real END AS r FROM generate_series(1, %d) AS g(i)`, name, n)
}

// wantSigned are the rows of that table as they print.
func wantSigned(n int) string {
	var rows []string
	for i := 1; i <= n; i++ {
		x := []string{"-0", "0", fmt.Sprint(float64(i) / 8), "NULL", "NaN"}[i%5]
		rows = append(rows, fmt.Sprint(i, i%7, " ", x, " ", []string{"-0", "0", "-2.5"}[i%3]))
	}
	return strings.Join(rows, "; ")
}

// The rows of a table with -0 are the same through files of each format and through another table. So they are in a folder after a
// clean end and after its process was killed, with and without a checkpoint.
func TestNegativeZerosComeBack(t *testing.T) {
	const n = 300
	want, dir := wantSigned(n), t.TempDir()
	folder := filepath.Join(dir, "db")
	db, err := Open(Options{Backend: "cpu", Folder: folder, Calibrations: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	check := func(db *DB, from string) {
		t.Helper()
		if got := answerText(db, "SELECT i, k, x, r FROM "+from+" ORDER BY i"); got != want {
			t.Errorf("%s: got %.300s\nwant %.300s", from, got, want)
		}
	}
	do(t, db, signedRows("t", n))
	check(db, "t")
	for _, format := range []string{"csv", "parquet", "arrow", "ndjson"} {
		file := filepath.Join(dir, "t."+format)
		do(t, db, "COPY t TO '"+file+"'")
		of := "of_" + format
		do(t, db, "CREATE TABLE "+of+" (i int, k bigint, x float8, r real)")
		do(t, db, "COPY "+of+" FROM '"+file+"'")
		check(db, of)
	}
	for _, text := range []string{
		"CREATE TABLE c AS SELECT * FROM t", "CREATE TABLE s (i int PRIMARY KEY, k bigint, x float8, r real)", "INSERT INTO s SELECT * FROM t ORDER BY i DESC",
		"CREATE TABLE u (i int, k bigint, x float8, r real)", "INSERT INTO u SELECT i, k, 5, 5 FROM t", "UPDATE u SET x = t.x, r = t.r FROM t WHERE t.i = u.i",
		"CREATE TABLE w AS SELECT i, k, x, r FROM t WHERE i < 200", "INSERT INTO w SELECT i, k, x, r FROM t WHERE i >= 200", "UPDATE w SET x = x, r = -r WHERE k < 3", "UPDATE w SET r = -r WHERE k < 3",
		"INSERT INTO w SELECT i + 1000, k, -x, -r FROM t", "DELETE FROM w WHERE i > 1000",
	} {
		do(t, db, text)
	}
	tables := []string{"t", "c", "s", "u", "w"}
	for _, name := range tables {
		check(db, name)
	}
	killed := func(as string) {
		t.Helper()
		copied := filepath.Join(dir, as)
		if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		db := open(t, Options{Backend: "cpu", Folder: copied})
		for _, name := range tables {
			check(db, name)
		}
	}
	killed("after the log")
	do(t, db, "CHECKPOINT")
	do(t, db, "UPDATE t SET x = '-0' WHERE i = 1")
	do(t, db, "UPDATE t SET x = 0 WHERE i = 1")
	killed("after a checkpoint")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, Options{Backend: "cpu", Folder: folder})
	for _, name := range tables {
		check(db, name)
	}
}

// Rows that are spilled by joins, sorts, windows and groups have their signs, and so have those that backends select.
func TestNegativeZerosBeyondHostMemory(t *testing.T) {
	whole := open(t, Options{Backend: "cpu"})
	do(t, whole, signedRows("t", 6_000))
	dir := t.TempDir()
	for i := range 10 {
		do(t, whole, fmt.Sprintf("COPY (SELECT * FROM t WHERE i %% 10 = %d) TO '%s/t-%d.parquet'", i, dir, i))
	}
	file := dir + "/t-*.parquet"
	small := open(t, Options{Backend: "cpu", HostMemory: 150_000})
	for _, db := range []*DB{whole, small} {
		do(t, db, "CREATE VIEW f AS SELECT * FROM '"+file+"'")
	}
	for _, text := range []string{
		"SELECT i, x, r FROM f ORDER BY r, x, i",
		"SELECT a.i, a.x, b.x, b.r FROM f a JOIN f b ON a.x = b.x AND a.k = b.k AND a.i = b.i ORDER BY a.i",
		"SELECT i, lag(x) OVER (PARTITION BY k ORDER BY i), first_value(r) OVER (PARTITION BY x ORDER BY i), min(r) OVER (ORDER BY i ROWS 1 PRECEDING) FROM f ORDER BY i",
		"SELECT i, x, min(r) FROM f GROUP BY i, x ORDER BY i",
		"SELECT min(abs(r)), min(r), max(r) FROM f", "SELECT max(r) FROM f WHERE i % 3 = 0", "SELECT max(r) FROM f WHERE i > 3 AND i % 3 < 1",
		"SELECT DISTINCT r, k FROM f WHERE k < 2 AND i % 3 = 0 ORDER BY k",
	} {
		got, want := answerText(small, text), answerText(whole, text)
		if got != want || !strings.Contains(want, "0") || strings.HasPrefix(want, "error") {
			t.Errorf("%s:\n got %.400s\nwant %.400s", text, got, want)
		}
	}
}

// Where rows of joins would stay on a device, a column with -0 is gathered in host memory, since a device has codes alone.
func TestNegativeZerosOfJoinsOnTheDevice(t *testing.T) {
	onCPU, onCompute := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "compute"})
	for _, db := range []*DB{onCPU, onCompute} {
		do(t, db, "CREATE TABLE mixed AS SELECT key AS k, CASE WHEN key % 3 = 0 THEN '-0'::float8 ELSE 0 END AS x FROM far WHERE key < 400")
	}
	const four = " FROM fact x, fact y, dim z, mixed w WHERE x.b = y.b AND x.m = y.m AND y.a = z.key AND x.b = w.k "
	for _, text := range []string{
		"SELECT count(*), min(w.x), sum(x.n)" + four + "AND w.k % 3 = 0",
		"SELECT z.name, max(w.x), count(*)" + four + "AND w.k % 3 = 0 GROUP BY 1 ORDER BY 1", "SELECT w.x, count(*)" + four + "AND w.k % 3 = 0 GROUP BY 1",
		"SELECT w.x, w.k, count(*)" + four + "GROUP BY 1, 2 ORDER BY 2 LIMIT 9", "SELECT w.x, x.n, y.n" + four + "ORDER BY 2, 3, w.k LIMIT 9",
	} {
		want := answerText(onCPU, text)
		if got := answerText(onCompute, text); got != want || strings.HasPrefix(want, "error") {
			t.Errorf("%s:\n got %.300s\nwant %.300s", text, got, want)
		}
	}
}
