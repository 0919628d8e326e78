package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A transaction and rows that are being read go on with the files that they began with. Others may change anything, and these files
// may be written anew, however often. When they have ended the files go.
func TestFilesOfASnapshotStay(t *testing.T) {
	ctx, dir := context.Background(), apartFolder(t)
	db := open(t, Options{Backend: "cpu", Folder: dir, HostMemory: 9_000})
	files := func() int {
		list, err := filepath.Glob(filepath.Join(dir, "k-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	few := files()
	s, prepared := db.Session(), db.Session()
	if _, err := prepared.Exec(ctx, "PREPARE of AS SELECT COUNT(*), SUM(v) FROM k WHERE p > 3"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exec(ctx, "BEGIN"); err != nil {
		t.Fatal(err)
	}
	var open []*Rows
	for range 3 {
		rows, err := db.Query(ctx, "SELECT p, q, r, v FROM k")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, rows)
		for i, text := range []string{"ALTER TABLE k ADD z int DEFAULT 7", "CHECKPOINT", "UPDATE k SET z = 8, p = p + 1 WHERE q = 3", "CHECKPOINT", "ALTER TABLE k DROP COLUMN z", "CHECKPOINT", "CHECKPOINT"} {
			do(t, db, text)
			if i == 1 {
				if _, err := prepared.Exec(ctx, "EXECUTE of"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if got := said(Collect(s.Query(ctx, "SELECT COUNT(*), SUM(p), COUNT(DISTINCT r) FROM k"))); got != "520|6500|520" {
		t.Errorf("in the transaction: %s", got)
	}
	for i, rows := range open {
		n, sum := 0, int64(0)
		for rows.Next() {
			n, sum = n+1, sum+rows.Values()[0].I
		}
		if err := rows.Err(); err != nil || n != apartRows || sum != int64(6500+26*i) {
			t.Errorf("rows that are read: %d, of which the sum is %d, %v", n, sum, err)
		}
	}
	if _, err := s.Exec(ctx, "UPDATE k SET v = 0 WHERE p = 3"); err != nil {
		t.Error(err)
	}
	if _, err := s.Exec(ctx, "COMMIT"); fmt.Sprintf("%.45s", err) != "could not serialize access due to concurrent " {
		t.Error(err)
	}
	do(t, db, "CHECKPOINT")
	do(t, db, "CHECKPOINT")
	if n := files(); n > few {
		t.Errorf("%d files are left, of %d", n, few)
	}
}

// A transaction keeps to what it began with where the log has changed rows of a table's files before. Their columns are read by then
// or not. Nothing is written to these in place.
func TestSnapshotOfATableThatTheLogChanges(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, Options{Backend: "cpu", Folder: filepath.Join(dir, "a")})
	do(t, db, "CREATE TABLE t (k bigint, v bigint)")
	do(t, db, "INSERT INTO t SELECT g, g FROM generate_series(1, 100) AS q (g)")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, Options{Backend: "cpu", Folder: filepath.Join(dir, "a")})
	for _, text := range []string{"DELETE FROM t WHERE k = 7", "UPDATE t SET v = 1 WHERE k = 8", "INSERT INTO t VALUES (201, 1)", "INSERT INTO t VALUES (202, 2)"} {
		do(t, db, text)
	}
	for i, first := range []string{"SELECT 1", "SELECT COUNT(k) FROM t", "SELECT COUNT(k), SUM(v) FROM t"} {
		at := filepath.Join(dir, fmt.Sprint("as it lies ", i))
		if err := os.CopyFS(at, os.DirFS(filepath.Join(dir, "a"))); err != nil {
			t.Fatal(err)
		}
		db := open(t, Options{Backend: "cpu", Folder: at})
		do(t, db, first)
		tx, err := db.Begin(ctx, TxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"DELETE FROM t WHERE k = 9", "UPDATE t SET v = v + 1 WHERE k = 10", "UPDATE t SET v = 0 WHERE k = 202"} {
			do(t, db, text)
			if got := said(Collect(tx.Query(ctx, "SELECT COUNT(k), COUNT(*), SUM(v) FROM t"))); got != "101|101|5039" {
				t.Errorf("after %s, and %s before: %s", text, first, got)
			}
		}
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
