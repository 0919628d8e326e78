package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/storage"
)

// A table of a folder that is larger than the host memory budget is read from its files as a file is. What the log changes of it is
// added. It stays so when the folder's other tables change; and where there is room for it the log becomes files.
func TestFolderBeyondHostMemory(t *testing.T) {
	const rows, budget = 6000, 150_000
	ctx, dir, rng := context.Background(), t.TempDir(), plantest.Random(t)
	_, path := beyondTable(t, rows)
	whole := open(t, Options{Backend: "cpu", Folder: filepath.Join(dir, "whole")})
	do(t, whole, fmt.Sprintf("CREATE TABLE f AS SELECT * FROM '%s' WHERE id < 0", path))
	for at, n := 0, 790; at < rows; at, n = at+n, n-10 { // a file each, for it is smaller than the one before
		do(t, whole, fmt.Sprintf("INSERT INTO f SELECT * FROM '%s' WHERE id >= %d AND id < %d", path, at, at+n))
		do(t, whole, "CHECKPOINT")
	}
	do(t, whole, "ALTER TABLE f ADD PRIMARY KEY (id), ADD CHECK (id <> 1000000)")
	at, added := "", 0
	more := func() string { // rows, of new keys
		added++
		return fmt.Sprintf("INSERT INTO f SELECT id + %d, a, w, x, v, d, day, b, u || '+' FROM f WHERE id %% %d = 6 AND id < 100000", 100000*added, 50+rng.IntN(20))
	}
	change := func() string {
		n := 50 + rng.IntN(20)
		return []string{
			fmt.Sprintf("UPDATE f SET w = -w, u = 'new ' || id, a = a + 1000 WHERE id %% %d = 3", n),
			fmt.Sprintf("UPDATE f SET a = NULL, v = 'pink', day = NULL WHERE id %% %d = 4", n),
			fmt.Sprintf("UPDATE f SET x = x + id WHERE id < %d", n),
			fmt.Sprintf("DELETE FROM f WHERE id %% %d = 5", n),
			fmt.Sprintf("DELETE FROM f WHERE id BETWEEN %d AND %d", 30*n, 30*n+rng.IntN(800)), // a whole file, perhaps
			more(),
		}[rng.IntN(6)]
	}
	opened := func(budget int64) *DB {
		db, err := Open(Options{Backend: "cpu", Folder: at, HostMemory: budget, Calibrations: dir})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	closed := func(db *DB) {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	same := func(db *DB, drawn int) {
		t.Helper()
		small := func() *DB { // which has read nothing yet
			old := db.entry("f")
			e := catalog.NewEntry("f", old.Open)
			e.Definition, e.DeltaBytes = old.Definition, old.DeltaBytes
			db.tables.Put("f", e)
			return db
		}
		asked := []string{
			"SELECT COUNT(*), SUM(w), MIN(w), MAX(a), COUNT(u), selectivity() FROM f WHERE a > 30",
			"SELECT MEDIAN(w), kth_largest(a, 3), MAX(x) FROM f",
			"SELECT COUNT(*) FROM f",
			"SELECT MIN(id), MAX(id), MIN(day) FROM f",
			"SELECT COUNT(*) FROM f WHERE id < 3000",
			"SELECT id, u FROM f WHERE id BETWEEN 2500 AND 2600",
			"SELECT * FROM f WHERE id = 97 OR id > 200000",
			"SELECT id, u, x FROM f WHERE id = 97",
			"SELECT p.id, q.u FROM f p JOIN f q ON p.id = q.id + 100000",
			"SELECT COUNT(*), SUM(q.w) FROM f p LEFT JOIN f q ON p.a = q.id",
		}
		if drawn == 0 {
			asked = asked[:2]
		}
		for _, text := range asked {
			sameBeyond(t, whole, small, text)
		}
		for range drawn {
			sameBeyond(t, whole, small, rapid.Custom(anyOfBeyond).Example(rng.Int()))
		}
		small() // columns that were read take no memory any more
	}
	for round := range 2 {
		for range 1 + rng.IntN(5) {
			do(t, whole, change())
		}
		at = t.TempDir() // as it lies, after a crash
		if err := os.CopyFS(at, os.DirFS(filepath.Join(dir, "whole"))); err != nil {
			t.Fatal(err)
		}
		db := opened(budget)
		same(db, 4)
		for _, backend := range []string{"compute", "fused", "classic"}[:3*round] { // in batches on a device, too
			do(t, db, "SET backend = '"+backend+"'")
			sameBeyond(t, whole, func() *DB { return db }, "SELECT COUNT(*), SUM(a), MIN(w), MAX(a), kth_largest(w, 5), COUNT(u) FROM f WHERE a > 30 AND d <> 7")
		}
		closed(db)
	}
	db := opened(budget)
	if x, err := db.Explain(ctx, "SELECT * FROM f ORDER BY w", ExplainOptions{}); err != nil || !strings.Contains(strings.Join(x.Lines(), "\n"), "ReadGroups(batches") {
		t.Error(x, err)
	}
	if _, err := db.Exec(ctx, "UPDATE f SET a = 1"); err == nil || !strings.Contains(err.Error(), "host memory budget") {
		t.Errorf("%v, want that it does not fit into memory", err)
	}
	do(t, db, "CREATE TABLE g AS SELECT 1 AS x")
	closed(db)
	db = opened(budget)
	tx, err := db.Begin(ctx, TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before := do(t, whole, "SELECT COUNT(*), SUM(w) FROM f")
	files := func() []string {
		list, _ := filepath.Glob(filepath.Join(at, "f-*"))
		return list
	}
	filesBefore := files()
	grown := func() bool { // by a file; all rows of one before may be deleted
		return slices.ContainsFunc(files(), func(file string) bool { return !slices.Contains(filesBefore, file) })
	}
	for i := range 15 { // they go to the log, and new rows become files
		text := more()
		switch i % 3 {
		case 1:
			text = change()
		case 2:
			text = fmt.Sprintf("INSERT INTO f (id, u, w) VALUES (%d, 'one', %d)", -i-1, i)
		}
		do(t, whole, text)
		do(t, db, text)
		if i%3 == 1 {
			sameBeyond(t, whole, func() *DB { return db }, "SELECT COUNT(*), SUM(w), MAX(id), MIN(u), SUM(x) FROM f")
		}
		if e := db.entry("f"); e.Open == nil || e.DeltaBytes > budget/2 {
			t.Errorf("f is in memory, or %d bytes are kept apart from its files", e.DeltaBytes)
		}
		if i == 8 {
			do(t, db, "CHECKPOINT")
		}
	}
	for i := 0; !grown(); i++ { // the rows drawn so far were few
		if i == 10 {
			t.Fatalf("rows that were added are in no new file: %v", files())
		}
		text := more()
		do(t, whole, text)
		do(t, db, text)
	}
	for _, to := range []*DB{whole, db} {
		a, err := to.Appender(ctx, "f", "id", "a")
		if err != nil {
			t.Fatal(err)
		}
		a.Ints(0, -200, -201)
		a.Ints(1, 8, 9)
		if err := errors.Join(a.EndRows(ctx, 2), a.Close(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"INSERT INTO f (id) VALUES (-3)":                `duplicate key value violates unique constraint "f_pkey": key (id)=(-3) already exists`,
		"INSERT INTO f (id) VALUES (-70), (-71), (-70)": `key (id)=(-70) already exists`,
		"INSERT INTO f (id) SELECT MAX(id) FROM f":      `duplicate key`,
		"INSERT INTO f (id) VALUES (1000000)":           `check constraint "f_id_check"`,
		"INSERT INTO f (id) VALUES (NULL)":              `not-null constraint`,
	} {
		if _, err := db.Exec(ctx, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"UPDATE f SET w = w + id, x = x + 1, d = d + 1", "ALTER TABLE f ADD z serial"} {
		if _, err := db.Exec(ctx, text); err == nil || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s: %v, want that it does not fit into memory", text, err)
		}
	}
	do(t, db, "CHECKPOINT") // which makes room
	for _, to := range []*DB{whole, db} {
		do(t, to, "UPDATE f SET id = -id - 1000, u = 'key ' || id WHERE id BETWEEN 8 AND 30")
		do(t, to, "INSERT INTO f (id, a, w, u) SELECT id + 3, 1, 2, 'new' FROM f WHERE id % 61 = 7 AND id < 100000 ON CONFLICT (id) DO UPDATE SET w = f.w % 1000 + excluded.w, u = excluded.u")
		do(t, to, "MERGE INTO f USING generate_series(3000, 8000, 7) AS g(x) ON f.id = g.x WHEN MATCHED AND a > 50 THEN DELETE WHEN NOT MATCHED AND g.x % 9 = 0 THEN INSERT (id, u) VALUES (g.x + 5000000, 'merged')")
		do(t, to, "UPDATE f SET u = k.s, x = k.x FROM (VALUES (9, 'nine', 1.5), (-200, 'more', 2.5), (100, 'joined', 3.5)) AS k(id, s, x) WHERE f.id = k.id AND f.id <> 100 RETURNING f.id, f.u, f.a")
		do(t, to, "DELETE FROM f USING (VALUES (11), (-201)) AS k(id) WHERE f.id = k.id")
	}
	if got := inWords(Collect(tx.Query(ctx, "SELECT COUNT(*), SUM(w) FROM f"))); got != fmt.Sprint(before.Rows) {
		t.Errorf("a transaction that began before reads %s, want %v", got, before.Rows)
	}
	if _, err := tx.Exec(ctx, "UPDATE f SET w = 0 WHERE id = 9"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); !errors.Is(err, ErrConflict) { // others have changed the row since
		t.Errorf("%v, want a conflict", err)
	}
	if tx, err = db.Begin(ctx, TxOptions{}); err != nil {
		t.Fatal(err)
	}
	changes := []string{"INSERT INTO f (id, w) VALUES (-300, 7), (-301, 8)", "UPDATE f SET w = w + 1, u = 'tx' WHERE id = -300 OR id = 20", "DELETE FROM f WHERE id = -301 OR id = 21"}
	for _, text := range changes {
		if _, err := tx.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range append(changes, "INSERT INTO f (id, w) VALUES (-302, 9)") {
		do(t, whole, text)
	}
	do(t, db, "INSERT INTO f (id, w) VALUES (-302, 9)") // behind which the transaction's rows are
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	same(db, 2)
	closed(db)
	db = opened(budget)
	same(db, 0)
	closed(db)
	for _, budget := range []int64{budget, 0} { // what the log has stays there, and becomes a file
		db = opened(budget)
		if kept := db.entry("f").DeltaBytes; kept == 0 {
			t.Error("the log has nothing of f any more")
		}
		same(db, 0)
		do(t, db, "UPDATE g SET x = x + 1")
		closed(db)
	}
	db = opened(0)
	do(t, db, "DELETE FROM f WHERE id < 0")
	do(t, whole, "DELETE FROM f WHERE id < 0")
	closed(db)
	db = opened(0)
	if kept := db.entry("f").DeltaBytes; kept > 0 {
		t.Errorf("%d bytes of f are still in the log", kept)
	}
	same(db, 0)
	do(t, db, "DROP TABLE f")
	closed(db)
	if found, err := storage.Verify(ctx, at); err != nil || len(found.Problems) > 0 {
		t.Fatal(found, err)
	}
}

// Statements read a table that does not fit the host memory while rows are added to it, all of a statement or none.
func TestReadersOfATableThatGrowsBeyondHostMemory(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	const rows, added, budget = 20_000, 50, 60_000
	db := open(t, Options{Backend: "cpu", Folder: dir})
	for at, n := 0, 2600; at < rows; at, n = at+n, n-10 {
		text := "INSERT INTO f"
		if at == 0 {
			text = "CREATE TABLE f AS"
		}
		do(t, db, fmt.Sprintf("%s SELECT x AS id, (x::bigint * 7919) %% 10007 * 1000003 AS v FROM generate_series(%d, %d) g(x)", text, at, at+n-1))
		do(t, db, "CHECKPOINT")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, Options{Backend: "cpu", Folder: dir, HostMemory: budget})
	first := do(t, db, "SELECT COUNT(*) FROM f").Rows[0][0].I
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for last := first; last < first+20*added; {
				r, err := Collect(db.Query(ctx, "SELECT COUNT(*), MAX(v), SUM(CASE WHEN id < 0 THEN 1 ELSE 0 END) FROM f WHERE v >= 0"))
				if err != nil {
					t.Error(err)
					return
				}
				n := r.Rows[0][0].I
				if n < last || (n-first)%added != 0 || r.Rows[0][2].I != n-first {
					t.Errorf("%v after %d rows", r.Rows, last)
					return
				}
				last = n
			}
		})
	}
	for i := range 20 {
		do(t, db, fmt.Sprintf("INSERT INTO f SELECT -x, x FROM generate_series(%d, %d) g(x)", i*added+1, (i+1)*added))
		if i == 9 {
			do(t, db, "CHECKPOINT")
		}
	}
	wg.Wait()
	if e := db.entry("f"); e.Open == nil {
		t.Error("the table is in memory")
	}
}

// Who reads a folder has what it held, also of files that a writer has taken away since, whether the log changed them or not.
func TestReadersKeepTheirFiles(t *testing.T) {
	dir := t.TempDir()
	writer := open(t, Options{Backend: "cpu", Folder: dir})
	do(t, writer, "CREATE TABLE t AS SELECT g AS x, g % 7 AS y, 'a' || g % 9 AS s FROM generate_series(1, 100000) q(g)")
	do(t, writer, "CREATE TABLE u AS TABLE t")
	do(t, writer, "CREATE TABLE gone AS TABLE t")
	do(t, writer, "CHECKPOINT")
	do(t, writer, "UPDATE u SET y = 1, s = 'b' WHERE x <= 10")
	do(t, writer, "DELETE FROM u WHERE x > 99990")
	for _, memory := range []int64{0, 2 << 20} {
		reader := open(t, Options{Backend: "cpu", Folder: dir, HostMemory: memory})
		is := func(query, want string) {
			t.Helper()
			if got := inWords(Collect(reader.Query(context.Background(), query))); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		is("SELECT SUM(x) FROM t", "[[5000050000]]")
		for range 3 {
			do(t, writer, "UPDATE t SET y = y + 1")
			do(t, writer, "UPDATE u SET s = 'c' WHERE x % 2 = 0")
			do(t, writer, "CHECKPOINT")
		}
		is("SELECT SUM(x), SUM(y), COUNT(DISTINCT s) FROM t", map[int64]string{0: "[[5000050000 300000 9]]", 2 << 20: "[[5000050000 600000 9]]"}[memory])
		if memory == 0 {
			is("SELECT COUNT(*), SUM(y), COUNT(*) FILTER (WHERE s = 'b') FROM u", "[[99990 299950 10]]")
			is("SELECT SUM(x) FROM gone", "[[5000050000]]")
			do(t, writer, "DROP TABLE gone")
			do(t, writer, "CHECKPOINT")
			do(t, writer, "CHECKPOINT")
			is("SELECT SUM(y), MAX(s) FROM gone", "[[300000 a8]]")
		}
	}
}

// Changes go on while a checkpoint that they have made due writes files. What they change is there after a crash at any moment, and after the DB is closed.
func TestChangesBesideCheckpoints(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	do(t, db, "CREATE TABLE t (k bigint PRIMARY KEY, v bigint, s text)")
	do(t, db, "CREATE TABLE u (k bigint, v bigint, big text)")
	do(t, db, "INSERT INTO t SELECT g, 0, 's' || g % 100 FROM generate_series(1, 20000) q(g)")
	sums := func(db *DB) string {
		return inWords(Collect(db.Query(ctx, "SELECT (SELECT SUM(v) FROM t), (SELECT COUNT(*) FROM t), (SELECT SUM(v) FROM u), (SELECT COUNT(*) FROM u), (SELECT COUNT(*) FROM t WHERE s LIKE 'new%')")))
	}
	change := func(i int) {
		do(t, db, fmt.Sprintf("UPDATE t SET v = v + 1, s = CASE WHEN k %% 1000 = 7 THEN 'new%d' ELSE s END WHERE k > %d", i, 19000+i%7*100))
		do(t, db, fmt.Sprintf("DELETE FROM t WHERE k = %d", 9*i+1))
		do(t, db, fmt.Sprintf("INSERT INTO u VALUES (%d, %d, 'small')", i, i))
	}
	during := 0 // changes while files were written
	db.store.DueBytes = 16 << 20
	for i := 0; i < 3 || during == 0 && i < 30; i++ {
		for k := 0; !db.later.Load() && k < 100; k++ {
			do(t, db, fmt.Sprintf("INSERT INTO u VALUES (0, 1, repeat('%d', 3000000))", k))
			change(200 * i)
		}
		for k := 1; db.later.Load() && k < 200; k++ {
			change(200*i + k)
			during++
		}
	}
	db.writing.Wait()
	if during == 0 {
		t.Error("no statement ended while files were written")
	}
	want := sums(db)
	crashed := filepath.Join(t.TempDir(), "crashed")
	if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if got := sums(open(t, Options{Backend: "cpu", Folder: crashed})); got != want {
		t.Errorf("after a crash %s, want %s", got, want)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{dir, crashed} {
		if found, err := storage.Verify(ctx, folder); err != nil || len(found.Problems) > 0 {
			t.Error(found, err)
		}
	}
	if got := sums(open(t, Options{Backend: "cpu", Folder: dir})); got != want {
		t.Errorf("opened again %s, want %s", got, want)
	}
}

// Short texts that differ take more memory than their file tells: the first statement finds that out, and goes on in smaller batches.
func TestTextsThatTakeMoreThanTheirFileTells(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: dir})
	for _, text := range []string{"CREATE TABLE t (id integer, f text)", "INSERT INTO t SELECT g, 'f' || g FROM generate_series(1, 250000) AS q (g)"} {
		do(t, db, text)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"SELECT COUNT(*) FROM t WHERE f = 'f77'": "1", "SELECT MIN(f) FROM t": "f1", "SELECT MAX(f) FROM t WHERE id < 1000": "f999"} {
		db := open(t, Options{Backend: "cpu", Folder: dir, HostMemory: 1_500_000})
		for range 2 {
			if got := said(Collect(db.Query(ctx, query))); got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
